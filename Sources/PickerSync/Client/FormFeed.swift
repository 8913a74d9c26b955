// One form that a client follows: its values, the edits that are not answered, its listeners and
// readers. All sessions of the form share it.
//
// Invariants:
// - an edit has the causal context of the time when this program last read the field; without one
//   it overwrites the current value;
// - a property shows what was written until the daemon has answered, and then the daemon's value;
// - listeners get each revision once and in order, from notifications only.

internal import PickerClient
internal import SyncCore
internal import Synchronization

/// A form that a client follows. Each time that the program opens it, there is one more
/// `FormAttachment`.
final class FormFeed: Sendable {
    let name: String
    let machine: FormMachine
    let runner: PressRunner

    struct State {
        var replica = FormReplica()
        /// The form as the notifications describe it, without answers: what listeners know.
        var told = FormReplica()
        /// The causal context of the snapshot.
        var opened: String?
        /// The causal context of the time when this program last read each field.
        var seen: [String: String] = [:]
        var lastDraft = 0
        var listeners: [FieldListener] = []
        var readers: [ObjectIdentifier: Reader] = [:]
        var readerOrder: [ObjectIdentifier] = []
        var isOpen = false
        var isOnline = true
        /// Whether the daemon that answers now has another store, without this form.
        var isAway = false
        /// Why the form is not followed any more; `nil` while it is.
        var end: FormError?
        var hasPresence = false
        /// The proposals that wait for approval, oldest first.
        var proposals: [FormProposal] = []
        /// Whether this program has asked the daemon for presses.
        var handlesPresses = false
        /// Numbers of the attachments that are not closed.
        var attachments: Set<UInt64> = []
        var opening: [@Sendable (FormError?) -> Void] = []
    }

    struct Reader {
        weak var queue: EventQueue?
        let owner: UInt64
    }

    let state = Mutex(State())

    init(name: String, machine: FormMachine) {
        self.name = name
        self.machine = machine
        runner = PressRunner(form: name, machine: machine)
    }

    // MARK: Reading

    /// The state of a field. From then on this program counts as having seen it.
    func read(_ id: String) -> FieldState? {
        state.withLock { state in
            guard let field = state.replica[id] else { return nil }
            state.seen[id] = state.replica.context
            return field
        }
    }

    /// The value of a field with the edits that are not answered; `nil` without such an edit.
    func draft(of id: String) -> JSON? {
        state.withLock { $0.replica.isPending(id) ? $0.replica.value(of: id) : nil }
    }

    // MARK: Writing

    /// Edits of this program that are sent as one transaction.
    final class Gathering: Sendable {
        let feed: FormFeed
        let edits = Mutex<[(change: Change, draft: Int?)]>([])

        init(_ feed: FormFeed) {
            self.feed = feed
        }
    }

    @TaskLocal static var gathering: Gathering?

    /// Sends an edit, or adds it to the current transaction.
    func write(_ id: String, _ action: Change.Action) {
        let (change, draft) = prepared(id, action)
        if let gathering = Self.gathering, gathering.feed === self {
            gathering.edits.withLock { $0.append((change, draft)) }
            return
        }
        send([(change, draft)], requireCurrent: false) { [weak self] error in
            guard let self, let error else { return }
            machine.refused(error)
            tell(.refused(fields: [id], error))
        }
    }

    /// Sends an edit and waits for its answer.
    func perform(
        _ id: String, _ action: Change.Action, timeout: Duration?
    ) async throws(FormError) {
        try await machine.answer(timeout: timeout) { call in
            send([prepared(id, action)], requireCurrent: false, call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Collects the edits that a closure makes in this form. If it throws, they are undone.
    func gather<Value, Failure: Error>(
        _ edits: () throws(Failure) -> Value
    ) throws(Failure) -> (value: Value, edits: [(change: Change, draft: Int?)]) {
        let gathering = Gathering(self)
        let result = Self.$gathering.withValue(gathering) {
            Result { () throws(Failure) in try edits() }
        }
        let gathered = gathering.edits.withLock { $0 }
        switch result {
        case .success(let value): return (value, gathered)
        case .failure(let error):
            discard(gathered.compactMap(\.draft))
            throw error
        }
    }

    /// The change with its causal context, and the number of the edit that is shown until the
    /// answer.
    private func prepared(_ id: String, _ action: Change.Action) -> (Change, Int?) {
        state.withLock { state in
            guard case .value(let value) = action else {
                let isRelative =
                    switch action {
                    case .reset, .remove: false
                    default: true
                    }
                return (Change(field: id, context: isRelative ? nil : state.seen[id], action), nil)
            }
            let write = Self.write(value, over: state.replica.value(of: id))
            state.lastDraft += 1
            state.replica.write(write, to: id, number: state.lastDraft)
            let sent = if case .setRows(let rows) = write { JSON.object(rows) } else { value }
            return (
                Change(field: id, context: state.seen[id], .value(sent)), state.lastDraft
            )
        }
    }

    /// The write of a value. Of wheels it has only those that were turned, so that what others turn
    /// stays; all of them if none was.
    private static func write(_ value: JSON, over shown: JSON?) -> StoredEdit {
        guard case .object(let new) = value, case .object(let old)? = shown else {
            return .set(value)
        }
        let turned = new.members.filter { old[$0.name] != $0.value }.map { ($0.name, $0.value) }
        return .setRows(turned.isEmpty ? new : JSONObject(turned))
    }

    /// Sends edits as one transaction.
    func send(
        _ edits: [(change: Change, draft: Int?)], requireCurrent: Bool = false,
        _ terms: EditTerms = EditTerms(), call: UInt64? = nil,
        then done: @escaping @Sendable (FormError?) -> Void
    ) {
        guard !edits.isEmpty else { return done(nil) }
        send(edits, requireCurrent: requireCurrent, terms, call: call) { done($0.failure) }
    }

    /// Sends edits as one transaction; the answer may be a proposal.
    func send(
        _ edits: [(change: Change, draft: Int?)], requireCurrent: Bool = false,
        _ terms: EditTerms, call: UInt64?,
        answered: @escaping @Sendable (Result<JSON, FormError>) -> Void
    ) {
        var changes = edits.map(\.change)
        if requireCurrent {
            // A field that was never read counts as seen when the form was opened.
            let context = state.withLock { $0.opened }
            for index in changes.indices where changes[index].context == nil {
                changes[index].context = context
            }
        }
        var edit = StateSet(
            form: name, changes: changes, requireCurrent: requireCurrent,
            lease: terms.end?.lease, message: terms.message)
        edit.guarded = terms.guarded
        let (sent, drafts) = (edit, edits.compactMap(\.draft))
        let done: @Sendable (Result<JSON, FormError>) -> Void = { [weak self] result in
            self?.answered(sent.changes, drafts, result)
            answered(result)
        }
        if let store = awayStore {
            machine.keep(sent, for: store, call: call, then: done)
        } else {
            machine.ask(.stateSet(sent), call: call, then: done)
        }
    }

    private func discard(_ drafts: [Int]) {
        state.withLock { _ = $0.replica.answered(drafts) }
    }

    private func answered(
        _ changes: [Change], _ drafts: [Int], _ result: Result<JSON, FormError>
    ) {
        discard(drafts)
        // Without a result, later edits cancelled this one before it was sent.
        guard case .success(let json) = result, let answer = try? take(json) else { return }
        state.withLock { state in
            // The answer's context includes what this program had seen, and its own edit.
            for change in changes where state.seen[change.field] == change.context {
                state.seen[change.field] = answer.context
            }
        }
    }

    /// Takes the fields of the answer to an edit, undo or redo.
    func take(_ answer: JSON) throws(FormError) -> SetResult {
        do throws(DecodeError) {
            let result = try SetResult(decoding: answer)
            state.withLock { $0.replica.take(result.fields) }
            return result
        } catch {
            throw .incompatible(reason: "\(error)")
        }
    }
}
