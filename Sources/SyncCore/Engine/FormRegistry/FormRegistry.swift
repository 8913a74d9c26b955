/// The forms of a daemon: by name, in order of creation, and as a list that clients watch.
///
/// Two forms can briefly have the same name: one whose deletion is not durable yet, and its
/// replacement. The name refers to the newer one as long as it exists.
///
///     insert ──▶ named ──insert of the same name──▶ unnamed ──remove of the newer one──▶ named
///     named, unnamed ──remove──▶ (the form is gone)
struct FormRegistry {
    /// In order of creation, which is that of their keys.
    private(set) var inOrder: [LiveForm] = []
    private var byName = NameTable<LiveForm>()
    /// The key of the next form. The key of a form is never used again.
    private(set) var nextKey: FormKey = 1
    /// The newest number that a proposal got. It is never used again.
    private var proposalNumber: Int64 = 0
    /// Changed definitions, for those who watch the list of forms.
    var catalog = Catalog()
    /// Whether a form has or had a secure control.
    private(set) var keepsSecrets = false
    /// Memory of dropped entries of change logs that writes in progress still hold.
    let retained = RetainedBytes()

    /// The form with that name; the newer one of two.
    func look(up name: String) -> LiveForm? { byName[name] }

    /// The form whose name has these bytes; the newer one of two.
    func look(up name: UnsafeBufferPointer<UInt8>) -> LiveForm? { byName[name] }

    func look(up key: FormKey) -> LiveForm? {
        let place = inOrder.partitionIndex { !($0.key < key) }
        return place < inOrder.count && inOrder[place].key == key ? inOrder[place] : nil
    }

    mutating func newProposalNumber() -> Int64 {
        proposalNumber += 1
        return proposalNumber
    }

    /// The newest number of a proposal as a row, which belongs to no form; none before the first.
    var proposalNumberRow: OngoingRow? {
        guard proposalNumber > 0 else { return nil }
        return OngoingRow(
            form: 0, name: Proposal.numberName, state: Array(String(proposalNumber).utf8))
    }

    /// Proposals have had the numbers up to that in a row.
    mutating func noteProposalNumber(_ row: OngoingRow) {
        let text = String(decoding: row.state, as: UTF8.self)
        proposalNumber = max(proposalNumber, Int64(text) ?? 0)
    }

    /// Inserts a form. An older form of the same name loses the name.
    mutating func insert(_ form: LiveForm) {
        nextKey = max(nextKey, form.key + 1)
        inOrder.append(form)
        byName[form.name] = form
    }

    /// Removes a form. An older form of the same name gets the name back.
    mutating func remove(_ form: LiveForm) {
        inOrder.removeAll { $0 === form }
        guard byName[form.name] === form else { return }
        byName[form.name] = inOrder.last { $0.name.isSameBytes(as: form.name) }
    }

    /// Records that a definition is in use. Returns whether it has the first secure control of this
    /// run.
    mutating func noteSecrets(in definition: FormDefinition) -> Bool {
        noteSecrets(definition.types.contains(.secure))
    }

    /// The same where other things say whether secrets may arrive.
    mutating func noteSecrets(_ mayArrive: Bool) -> Bool {
        guard !keepsSecrets, mayArrive else {
            return false
        }
        keepsSecrets = true
        return true
    }
}
