// What the other hosts hear last of forms that are not shared any more.

/// Wholes of forms that have left a fleet, until its log has them: each in a row of the store that
/// belongs to no form, so that a kill keeps no edit that was answered before from the others.
struct PartingForms {
    private static let rowKind = "parting"

    /// By the id of the row, which begins with the fleet.
    private var wholes: [String: WholeForm] = [:]

    /// No form has left.
    init() {}

    /// What the store has, in rows that belong to no form.
    init(_ rows: [OngoingRow]) throws(CausalityDecodeError) {
        for row in rows where row.name.kind == Self.rowKind {
            wholes[row.name.id] = try WholeForm(decoding: row.state)
        }
    }

    /// All rows.
    var rows: [OngoingRow] {
        wholes.sorted { $0.key < $1.key }.map { Self.row($0, $1) }
    }

    /// What the log of a fleet does not have.
    func wholes(for fleet: String) -> [WholeForm] {
        wholes.filter { $0.key.hasPrefix(fleet + "/") }.sorted { $0.key < $1.key }.map(\.value)
    }

    /// A form leaves a fleet. Returns what its batch writes.
    mutating func keep(_ whole: WholeForm, for fleet: String) -> StoreOperation {
        let id = "\(fleet)/\(whole.form)/\(whole.lives.present.hexDigits)"
        wholes[id] = whole
        return .putOngoing(Self.row(id, whole))
    }

    /// The log has a whole of a form. Returns what a batch removes.
    mutating func told(_ form: String, covering context: CausalContext) -> [StoreOperation] {
        let told = wholes.filter { $1.form == form && $1.context.isSubset(of: context) }.keys
        for id in told { wholes[id] = nil }
        return told.sorted().map {
            .removeOngoing(form: 0, name: OngoingName(kind: Self.rowKind, id: $0))
        }
    }

    /// Changes of a form are rolled back: nobody is told of more than this. Returns what a batch
    /// writes.
    ///
    /// - Parameter whole: what is durable of it; `nil`: it is not there.
    mutating func cut(
        _ form: String, _ lives: FormLives, to whole: WholeForm?
    ) -> [StoreOperation] {
        var steps: [StoreOperation] = []
        for (id, kept) in wholes.sorted(by: { $0.key < $1.key })
        where kept.form == form && !kept.isDeleted && kept.lives.isSame(as: lives) {
            if let whole, kept.context.isSubset(of: whole.context) { continue }
            wholes[id] = whole
            if let whole {
                steps.append(.putOngoing(Self.row(id, whole)))
            } else {
                let name = OngoingName(kind: Self.rowKind, id: id)
                steps.append(.removeOngoing(form: 0, name: name))
            }
        }
        return steps
    }

    private static func row(_ id: String, _ whole: WholeForm) -> OngoingRow {
        OngoingRow(form: 0, name: OngoingName(kind: rowKind, id: id), state: whole.encoded)
    }
}
