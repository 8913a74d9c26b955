// One form that a program has open: what it shows, what is on its way, who listens.
//
// What always holds:
// - a field is taken only when it is newer than the one there (docs/PROTOCOL.md, the stream);
// - a write carries the token of the moment when this program last read that field; one that was
//   never read goes over what is there;
// - what was written shows until the daemon has answered; then what the daemon tells does;
// - listeners are told of each revision once, in order, by notifications alone.

internal import SyncCore
internal import Synchronization

/// An open form. It stays open until ``close()`` or the end of its client.
public final class FormSession: Sendable {
    /// The form's name.
    public let name: String
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
        var readers: [ObjectIdentifier: WeakQueue] = [:]
        var readerOrder: [ObjectIdentifier] = []
        var peers: [FormPeer] = []
        var isOpen = false
        var isOnline = true
        var opening: [@Sendable (Result<FormSession, FormError>) -> Void] = []
        var redeclare: (@Sendable () throws(FormIssues) -> JSON)?
    }

    struct WeakQueue { weak var queue: EventQueue? }

    let state = Mutex(State())

    init(name: String, machine: FormMachine) {
        self.name = name
        self.machine = machine
    }

    /// The newest revision that was told.
    public var revision: Int64 { state.withLock { $0.revision } }

    /// Whether the daemon is there; without it the form shows what it was last and takes edits.
    public var isOnline: Bool { state.withLock { $0.isOnline && $0.isOpen } }

    /// Who has the form open, where presence was asked for.
    public var peers: [FormPeer] { state.withLock { $0.peers } }

    /// The revisions of the form from now on.
    public var changes: FormChanges { FormChanges(session: self) }

    /// Everything that the form tells from now on.
    public var events: FormEvents { FormEvents(session: self) }

    /// Follows the form no longer; its properties keep what they show.
    public func close() {
        machine.close(self)
        ended(nil)
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
        let session: FormSession
        let edits = Mutex<[(change: Change, draft: UInt64?)]>([])

        init(_ session: FormSession) {
            self.session = session
        }
    }

    @TaskLocal static var gathering: Gathering?

    /// Sends an edit, or puts it to the others of the transaction under way.
    func write(_ id: String, _ action: Change.Action) {
        let (change, draft) = prepared(id, action)
        if let gathering = Self.gathering, gathering.session === self {
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
    func perform(_ id: String, _ action: Change.Action) async throws(FormError) {
        machine.checkThatAnotherThreadDrives()
        try await withAnswer { done in
            send([prepared(id, action)], requireCurrent: false, then: done)
        }
    }

    /// Waits for an error or nil that is handed to a closure.
    func withAnswer(
        _ body: (@escaping @Sendable (FormError?) -> Void) -> Void
    ) async throws(FormError) {
        let failure = await withCheckedContinuation { continuation in
            body { continuation.resume(returning: $0) }
        }
        if let failure { throw failure }
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
        _ edits: [(change: Change, draft: UInt64?)], requireCurrent: Bool,
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
        machine.ask(.stateSet(edit)) { [weak self, machine] outcome in
            self?.answered(edit.changes, drafts, outcome)
            done(machine.failure(of: outcome))
        }
    }

    private func answered(
        _ changes: [Change], _ drafts: [(field: String, draft: UInt64?)], _ outcome: RequestOutcome
    ) {
        state.withLock { state in
            for (field, draft) in drafts {
                guard let draft else { continue }
                state.drafts[field]?.removeAll { $0.number == draft }
                if state.drafts[field]?.isEmpty == true { state.drafts[field] = nil }
            }
            guard case .result(let json) = outcome else { return }
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
