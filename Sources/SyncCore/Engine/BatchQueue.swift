/// Edits on their way to the disk: one batch that gathers, at most one under way.
///
/// A batch is whatever arrived while the last commit was on its way: group commit without a timer
/// (DeWitt et al., "Implementation Techniques for Main Memory Database Systems", SIGMOD 1984).
struct BatchQueue {
    /// What happens, in order, when a batch is committed.
    enum Event {
        /// A revision becomes visible.
        case revision(LiveForm, frame: [UInt8], touched: FieldNumbers?)
        /// A definition changed: subscribers get the frame, those who watch the list another.
        case redefined(LiveForm, frame: [UInt8], listing: Listing)
        /// A form can be read from now on.
        case created(LiveForm, listing: Listing)
        /// A form is gone: subscribers get the same frame as those who watch the list.
        case deleted(LiveForm, listing: Listing)

        /// The form that it happens to.
        var form: LiveForm {
            switch self {
            case .revision(let form, _, _), .redefined(let form, _, _), .created(let form, _),
                .deleted(let form, _):
                form
            }
        }
    }

    /// A definition or a deletion as those are told who watch the list of forms, and who may read
    /// the form then: another definition of the same batch may say otherwise.
    struct Listing {
        let frame: [UInt8]
        let readers: FormReaders
        let revision: UInt64
    }

    /// A response that leaves when a batch is committed.
    struct Waiter {
        let connection: ConnectionID
        /// The form that the response is about.
        let form: FormKey?
        let target: AnswerTarget
        let id: RequestID?
        let response: [UInt8]
    }

    /// The answer to a request with an idempotency key, which edited a form.
    struct Key {
        let row: KeyRow
        let form: FormKey

        var id: KeyIndex.ID { KeyIndex.ID(uid: row.uid, key: row.key) }
    }

    /// What a batch changes of one form.
    struct FormChanges {
        let form: LiveForm
        /// The store refused an earlier batch's part of the form: nothing more is written of it.
        var isLeftOut = false
        /// Cells whose rows are to be written.
        var cells = CellSet()
        /// The definition changed: every row is to be written, and all cells move at once.
        var isWhole = false
        /// Fields whose rows are to be removed.
        var removed: [String] = []
        /// The revisions that were made, ascending.
        var revisions: [RevisionRow] = []
        /// The form is deleted at the end of the batch.
        var isDeleted = false
        /// How the form is at the end of the batch; taken when the batch is sealed.
        var end: FormSnapshot?
    }

    /// A form at the end of a batch, as readers will see it.
    enum FormSnapshot {
        case cells([(index: Int, cell: Cell)], revision: UInt64, context: CausalContext)
        case whole(FormState)
    }

    /// One batch.
    struct Open {
        let number: UInt64
        var changes: [FormChanges] = []
        var events: [Event] = []
        var waiters: [Waiter] = []
        /// Idempotency keys used in the batch.
        var keys: [Key] = []
        /// Steps beside those of forms: pruning.
        var chores: [StoreOperation] = []
        /// Bytes of all revisions, about.
        var bytes = 0

        init(number: UInt64) {
            self.number = number
        }

        var isEmpty: Bool { changes.isEmpty && keys.isEmpty && waiters.isEmpty && chores.isEmpty }

        /// What this batch changes of a form, to be added to.
        mutating func withChanges(_ form: LiveForm, _ body: (inout FormChanges) -> Void) {
            if let known = form.gathered, known.batch == number {
                return body(&changes[known.place])
            }
            form.gathered = (number, changes.count)
            changes.append(FormChanges(form: form))
            body(&changes[changes.count - 1])
        }

        /// Takes out what concerns a form, so that the rest of the batch goes on without it. The
        /// form keeps its place in the batch, as the places of others must stay what they are.
        ///
        /// - Returns: the responses and keys that concern it.
        mutating func leaveOut(_ form: LiveForm) -> (waiters: [Waiter], keys: [Key]) {
            if let place = changes.firstIndex(where: { $0.form === form }) {
                bytes -= changes[place].revisions.reduce(0) { $0 + $1.bytesEstimate }
                changes[place] = FormChanges(form: form, isLeftOut: true)
            }
            events.removeAll { $0.form === form }
            let taken = (
                waiters.filter { $0.form == form.key }, keys.filter { $0.form == form.key }
            )
            waiters.removeAll { $0.form == form.key }
            keys.removeAll { $0.form == form.key }
            return taken
        }
    }

    /// What edits are being added to.
    var gathering = Open(number: 1)
    /// What the store is writing.
    private(set) var underWay: Open?

    /// Whether the store can take another batch.
    var isIdle: Bool { underWay == nil }

    /// The newest batch that is to change something and has not; `nil` where all is durable.
    var newestPending: UInt64? {
        gathering.changes.isEmpty && gathering.keys.isEmpty ? underWay?.number : gathering.number
    }

    /// Looks through the revisions of a form that the store does not have, or may not have, between
    /// two others: newest first, until `body` gives false.
    func scanRevisions(
        of form: LiveForm, after: UInt64, before: UInt64, _ body: (RevisionRow) -> Bool
    ) {
        for changes in gathering.changes.reversed() + (underWay?.changes ?? []).reversed()
        where changes.form === form {
            guard let last = changes.revisions.lastIndex(where: { $0.revision < before }) else {
                continue
            }
            for row in changes.revisions[...last].reversed() {
                guard row.revision > after, body(row) else { return }
            }
        }
    }

    /// Seals the gathering batch, puts it under way, and gives the steps of the store.
    mutating func send(clock: [UInt8]) -> Batch {
        let operations = gathering.seal() + [.putClock(clock)]
        underWay = gathering
        gathering = Open(number: gathering.number + 1)
        return Batch(number: gathering.number - 1, operations: operations)
    }

    /// Takes the batch under way, which ended one way or the other; `nil` where `number` is
    /// another.
    mutating func take(_ number: UInt64) -> Open? {
        guard let batch = underWay, batch.number == number else { return nil }
        underWay = nil
        return batch
    }

    /// Takes what gathered meanwhile.
    mutating func takeGathering() -> Open {
        let taken = gathering
        gathering = Open(number: taken.number + 1)
        return taken
    }

    /// Adds a response to the batch of that number, if it is still on its way.
    mutating func wait(for number: UInt64, _ waiter: Waiter) -> Bool {
        if gathering.number == number {
            gathering.waiters.append(waiter)
            return true
        }
        guard underWay?.number == number else { return false }
        underWay?.waiters.append(waiter)
        return true
    }
}

/// A set of cells by their indexes, a bit each: an edit adds to it without hashing.
struct CellSet {
    private var words: [UInt64] = []

    mutating func insert(_ index: Int) {
        let word = index >> 6
        while words.count <= word { words.append(0) }
        words[word] |= 1 << UInt64(index & 63)
    }

    /// Ascending.
    var indexes: [Int] {
        var indexes: [Int] = []
        for (place, word) in words.enumerated() {
            var rest = word
            while rest != 0 {
                indexes.append(place << 6 + rest.trailingZeroBitCount)
                rest &= rest - 1
            }
        }
        return indexes
    }
}

// MARK: - Sealing

extension BatchQueue.Open {
    /// Takes the state of every form as it is now, and gives the steps that make it durable.
    fileprivate mutating func seal() -> [StoreOperation] {
        var steps: [StoreOperation] = []
        for index in changes.indices { changes[index].seal(into: &steps) }
        for key in keys { steps.append(.putKey(key.row, of: key.form)) }
        return steps + chores
    }
}

extension BatchQueue.FormChanges {
    fileprivate mutating func seal(into steps: inout [StoreOperation]) {
        if isDeleted {
            steps.append(.deleteForm(form.key))
            return
        }
        if isLeftOut { return }
        let state = form.working
        if isWhole {
            steps.append(.putForm(form.row(state)))
            for id in removed { steps.append(.removeField(form: form.key, field: id)) }
            for index in state.cells.indices { steps.append(row(state, index)) }
            end = .whole(state.copy())
        } else {
            steps.append(
                .putHead(
                    form: form.key, revision: state.revision, context: state.context.encoded))
            let changed = cells.indexes
            for index in changed { steps.append(row(state, index)) }
            end = .cells(
                changed.map { ($0, state.cells[$0]) }, revision: state.revision,
                context: state.context)
        }
        for revision in revisions { steps.append(.appendRevision(revision)) }
    }

    private func row(_ state: FormState, _ index: Int) -> StoreOperation {
        .putField(
            FieldRow(
                form: form.key, field: state.definition.controls[index].id,
                cell: CellRow(state.cells[index])))
    }
}

extension LiveForm {
    /// The form's row in a state.
    func row(_ state: FormState) -> FormRow {
        FormRow(
            key: key, name: name, log: log, owner: owner, version: state.version,
            revision: state.revision, definition: state.definition.json.encoded,
            applied: state.applied.encoded, context: state.context.encoded)
    }
}
