// One form that a client follows, whoever in the program has it open: what it shows, what is on its
// way, who listens.
//
// Invariant:
// - a field is taken only when it is newer (docs/PROTOCOL.md, What you can rely on);
// - a write carries the token of the moment when this program last read that field; one that was
//   never read goes over what is there;
// - what was written shows until the daemon has answered; then what the daemon tells does;
// - listeners are told of each revision once, in order, by notifications alone.

internal import SyncCore
internal import Synchronization

/// A form that a client follows; each time that the program opens it is a `FormAttachment`.
final class FormFeed: Sendable {
    let name: String
    let machine: FormMachine

    struct State {
        var fields: [String: FieldState] = [:]
        var context: String?
        /// The token of the snapshot: what this program was shown when the form was opened.
        var opened: String?
        var revision: Int64 = 0
        /// Each field as the notifications told it: what listeners have heard.
        var told: [String: FieldState] = [:]
        /// The token of the moment when this program read a field.
        var seen: [String: String] = [:]
        /// What was written and is not answered, the newest last.
        var drafts: [String: [(number: UInt64, value: JSON)]] = [:]
        var lastDraft: UInt64 = 0
        var listeners: [FieldListener] = []
        var readers: [ObjectIdentifier: Reader] = [:]
        var readerOrder: [ObjectIdentifier] = []
        var peers: [FormPeer] = []
        var isOpen = false
        var isOnline = true
        /// The store that the form is followed in, and whether the daemon that answers now is
        /// another one's, which has no such form.
        var store: String?
        var isAway = false
        /// Why the form is followed no longer.
        var end: FormError?
        /// The line of revisions that `revision` belongs to.
        var log: String?
        var hasPresence = false
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
    }

    // MARK: Reading

    /// What a field shows, which this program has seen from then on.
    func read(_ id: String) -> FieldState? {
        state.withLock { state in
            guard let field = state.fields[id] else { return nil }
            state.seen[id] = state.context
            return field
        }
    }

    func draft(of id: String) -> JSON? { state.withLock { $0.drafts[id]?.last?.value } }

    func hasDraft(of id: String) -> Bool { draft(of: id) != nil }

    // MARK: Writing

    /// Edits of this program that go as one transaction.
    final class Gathering: Sendable {
        let feed: FormFeed
        let edits = Mutex<[(change: Change, draft: UInt64?)]>([])

        init(_ feed: FormFeed) {
            self.feed = feed
        }
    }

    @TaskLocal static var gathering: Gathering?

    /// Sends an edit, or puts it to the others of the transaction under way.
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

    /// What a closure writes to this form, and what it returns. Where it throws, nothing shows of
    /// what it wrote.
    func gather<Value, Failure: Error>(
        _ edits: () throws(Failure) -> Value
    ) throws(Failure) -> (value: Value, edits: [(change: Change, draft: UInt64?)]) {
        let gathering = Gathering(self)
        let result = Self.$gathering.withValue(gathering) {
            Result { () throws(Failure) in try edits() }
        }
        let gathered = gathering.edits.withLock { $0 }
        switch result {
        case .success(let value): return (value, gathered)
        case .failure(let error):
            discard(gathered.map { ($0.change.field, $0.draft) })
            throw error
        }
    }

    /// The change with its context, and the draft that shows until it is answered.
    private func prepared(_ id: String, _ action: Change.Action) -> (Change, UInt64?) {
        state.withLock { state in
            guard case .value(let value) = action else {
                let isRelative =
                    switch action {
                    case .reset, .remove: false
                    default: true
                    }
                return (Change(field: id, context: isRelative ? nil : state.seen[id], action), nil)
            }
            let shown = state.drafts[id]?.last?.value ?? state.fields[id]?.value
            state.lastDraft += 1
            let (whole, sent) = Self.turned(value, over: shown)
            state.drafts[id, default: []].append((state.lastDraft, whole))
            return (
                Change(field: id, context: state.seen[id], .value(sent)), state.lastDraft
            )
        }
    }

    /// Of several wheels only those go that were turned, so that others' turns stay.
    private static func turned(_ value: JSON, over shown: JSON?) -> (whole: JSON, sent: JSON) {
        guard case .object(let new) = value, case .object(let old)? = shown else {
            return (value, value)
        }
        var whole = old
        var sent = JSONObject()
        for (name, tag) in new.members {
            whole[name] = tag
            if old[name] != tag { sent[name] = tag }
        }
        return (.object(whole), sent.isEmpty ? value : .object(sent))
    }

    /// Sends edits as one transaction.
    func send(
        _ edits: [(change: Change, draft: UInt64?)], requireCurrent: Bool, call: UInt64? = nil,
        then done: @escaping @Sendable (FormError?) -> Void
    ) {
        guard !edits.isEmpty else { return done(nil) }
        var changes = edits.map(\.change)
        if requireCurrent {
            // What was never read one by one was shown when the form was opened.
            let context = state.withLock { $0.opened }
            for index in changes.indices where changes[index].context == nil {
                changes[index].context = context
            }
        }
        let edit = StateSet(form: name, changes: changes, requireCurrent: requireCurrent)
        let drafts = edits.map { ($0.change.field, $0.draft) }
        let answered: @Sendable (Result<JSON, FormError>) -> Void = { [weak self] result in
            self?.answered(edit.changes, drafts, result)
            done(result.failure)
        }
        if let store = awayStore {
            machine.keep(edit, for: store, call: call, then: answered)
        } else {
            machine.ask(.stateSet(edit), call: call, then: answered)
        }
    }

    private func discard(_ drafts: [(field: String, draft: UInt64?)]) {
        state.withLock { state in
            for (field, draft) in drafts {
                guard let draft else { continue }
                state.drafts[field]?.removeAll { $0.number == draft }
                if state.drafts[field]?.isEmpty == true { state.drafts[field] = nil }
            }
        }
    }

    private func answered(
        _ changes: [Change], _ drafts: [(field: String, draft: UInt64?)],
        _ result: Result<JSON, FormError>
    ) {
        discard(drafts)
        // Nothing was left to send where later edits took this one back.
        guard case .success(let json) = result, !json.isNull else { return }
        state.withLock { state in
            do throws(DecodeError) {
                let result = try SetResult(decoding: json)
                for field in result.fields { Self.take(field.id, field.state, into: &state) }
                // The answer's token is what this program had seen and what it wrote itself.
                for change in changes where state.seen[change.field] == change.context {
                    state.seen[change.field] = result.context
                }
            } catch {
                // The machine below has decoded it already: it is a SetResult.
            }
        }
    }

    static func take(_ id: String, _ field: FieldState, into state: inout State) {
        if let known = state.fields[id], known.revision >= field.revision { return }
        state.fields[id] = field
    }
}
