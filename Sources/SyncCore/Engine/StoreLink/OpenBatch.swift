/// Edits that become durable together: everything that arrived during the last commit.
///
/// This is group commit without a timer (DeWitt et al., "Implementation Techniques for Main Memory
/// Database Systems", SIGMOD 1984).
struct OpenBatch {
    /// What happens when a batch is committed, in order, after its revisions are shown.
    enum Event {
        /// A definition changed. Watchers of the form list get `listing`.
        case redefined(LiveForm, listing: Listing)
        /// A form can be read from now on.
        case created(LiveForm, listing: Listing)
        /// A form is gone: subscribers get the same frame as those who watch the list.
        case deleted(LiveForm, listing: Listing)
        /// One connection is told what the batch has made durable.
        case told(LiveForm, ConnectionID, frame: [UInt8])
        case proposal(LiveForm, Int64)

        var form: LiveForm {
            switch self {
            case .redefined(let form, _), .created(let form, _), .deleted(let form, _),
                .told(let form, _, _), .proposal(let form, _):
                form
            }
        }
    }

    /// The notification of a definition or a deletion for watchers of the form list, and who may
    /// read the form at that revision. A later definition in the same batch may change this.
    struct Listing {
        let frame: [UInt8]
        let readers: FormReaders
        let revision: UInt64
        /// The log that begins behind that revision, if its notification lacks values.
        var newLog: String?
    }

    /// A response that is sent when a batch is committed.
    struct Waiter {
        let connection: ConnectionID
        /// The form that the response is about.
        let form: FormKey?
        let target: AnswerTarget
        let id: RequestID?
        let response: SharedBytes
    }

    /// The stored answer to a request with an idempotency key, with the form that the request
    /// edited.
    struct Key {
        let id: KeyIndex.ID
        let row: KeyRow
        let form: FormKey
    }

    struct FormChanges {
        let form: LiveForm
        /// The store rejected the form's part of an earlier batch. No more of the form is written.
        var isLeftOut = false
        /// Cells whose rows must be written.
        var cells = CellSet()
        /// The definition changed: all rows must be written, and readers get all cells at once.
        var isWhole = false
        /// Fields whose rows are to be removed.
        var removed: [String] = []
        /// Rows of what the form has under way that must be written, or removed.
        var ongoing: Set<OngoingName> = []
        /// What only a shared form has; `nil` for others.
        var shared: SharedBatch?
        /// The new revisions, ascending.
        var revisions: [RevisionRow] = []
        var isDeleted = false
        /// The form at the end of the batch; set when the batch is sealed.
        var end: FormSnapshot?
    }

    /// A form at the end of a batch, which becomes its committed state.
    enum FormSnapshot {
        case cells(
            [(index: Int, cell: Cell)], revision: UInt64, context: CausalContext, ongoing: Ongoing,
            shared: SharedState?)
        case whole(FormState)
    }

    let number: UInt64
    var changes: [FormChanges] = []
    var events: [Event] = []
    var waiters: [Waiter] = []
    /// Idempotency keys used in the batch.
    var keys: [Key] = []
    /// Operations that belong to no form, such as pruning.
    var chores: [StoreOperation] = []
    /// How far the log of the other hosts was read; `nil` if that does not change.
    var cursor: [UInt8]?
    /// What is known of deleted shared forms, by name; `nil`: the name has a form.
    var deletedForms: [String: WholeForm?] = [:]
    /// Whether other hosts are told of it once it is durable.
    var isForFleet = false
    /// The estimated bytes of all revisions, and of those that were joined.
    var bytes = 0
    var joinedBytes = 0

    /// The newest responses that wait.
    private var responses: FrameChunk?
    private static var responseBytes: Int { 8 << 10 }

    init(number: UInt64) { self.number = number }

    /// The most entries that are reserved before they are needed.
    private static var reservedMax: Int { 64 }

    /// Reserves memory for as many entries as another batch has.
    mutating func reserve(as other: OpenBatch) {
        waiters.reserveCapacity(min(other.waiters.count, Self.reservedMax))
    }

    /// Stores a response that will wait, in memory that several share.
    mutating func keep(_ response: UnsafeBufferPointer<UInt8>) -> SharedBytes {
        if let responses, responses.unusedBytes >= response.count {
            return responses.share(responses.append(response))
        }
        // The only response of a batch takes no more memory than it has.
        let chunk = FrameChunk(
            capacity: max(waiters.isEmpty ? 0 : Self.responseBytes, response.count))
        responses = chunk
        return chunk.share(chunk.append(response))
    }

    var isEmpty: Bool {
        changes.isEmpty && keys.isEmpty && waiters.isEmpty && chores.isEmpty && cursor == nil
            && deletedForms.isEmpty
    }

    mutating func withChanges(_ form: LiveForm, _ body: (inout FormChanges) -> Void) {
        if let known = form.gathered, known.batch == number { return body(&changes[known.place]) }
        form.gathered = (number, changes.count)
        changes.append(FormChanges(form: form))
        body(&changes[changes.count - 1])
    }

    /// Removes the part of a form, so that the rest of the batch can be committed without it.
    /// The form keeps an entry, because other forms know their entries by index.
    ///
    /// - Returns: the responses and keys that belong to the form.
    mutating func leaveOut(_ form: LiveForm) -> (waiters: [Waiter], keys: [Key]) {
        if let place = changes.firstIndex(where: { $0.form === form }) {
            bytes -= changes[place].revisions.reduce(0) { $0 + $1.bytesEstimate }
            changes[place] = FormChanges(form: form, isLeftOut: true)
        }
        events.removeAll { $0.form === form }
        let taken = (waiters.filter { $0.form == form.key }, keys.filter { $0.form == form.key })
        waiters.removeAll { $0.form == form.key }
        keys.removeAll { $0.form == form.key }
        return taken
    }
}

/// A set of cell indexes, one bit each. Insertion needs no hash.
struct CellSet {
    private var words: [UInt64] = []

    mutating func insert(_ index: Int) {
        let word = index >> 6
        while words.count <= word { words.append(0) }
        words[word] |= 1 << UInt64(index & 63)
    }

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

extension OpenBatch {
    /// Takes the current state of each changed form and returns the operations that make it
    /// durable.
    mutating func seal(clock: [UInt8]) -> [StoreOperation] {
        var steps: [StoreOperation] = []
        for index in changes.indices { changes[index].seal(into: &steps) }
        for key in keys { steps.append(.putKey(key.row, of: key.form)) }
        if let cursor { steps.append(.putOngoing(.cursor(cursor))) }
        steps += chores
        steps += DeletedForms.steps(deletedForms)
        steps.append(.putClock(clock))
        return steps
    }
}

extension OpenBatch.FormChanges {
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
            ongoing.formUnion(state.ongoing.names)
            end = .whole(state.copy())
        } else {
            steps.append(
                .putHead(form: form.key, revision: state.revision, context: state.context.encoded))
            let changed = cells.indexes
            for index in changed { steps.append(row(state, index)) }
            end = .cells(
                changed.map { ($0, state.cells[$0]) }, revision: state.revision,
                context: state.context, ongoing: state.ongoing, shared: state.shared)
        }
        if let kept = state.shared {
            let changed = shared ?? SharedBatch()
            steps += kept.steps(changed.hidden, isWhole: isWhole, of: form)
            changed.items = form.link?.seal { form.whole(of: state) } ?? []
            steps += form.link?.outbox.seal(changed.items, of: form.key) ?? []
            shared = changed
        }
        if !ongoing.isEmpty {
            steps += ongoing.sorted().map { state.ongoing.step($0, of: form.key) }
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
    func row(_ state: FormState) -> FormRow {
        let definition = state.definition.text
        return FormRow(
            key: key, name: name, log: nextLog ?? log, owner: owner, version: state.version,
            revision: state.revision, definition: definition,
            applied: state.applied == state.definition.json ? definition : state.applied.encoded,
            context: state.context.encoded)
    }
}
