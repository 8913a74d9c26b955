// The asynchronous client: one thread runs the machine, tasks wait for it.
//
// The thread sleeps in poll(2) on the daemon's socket and on one end of a socket pair, whose other
// end is written to when a property was set or a request was asked. Closures of declarations run
// one after another in a task of their own, so a slow one delays no answer.

internal import PickerClient
public import SyncCore
internal import Synchronization

/// A connection to the daemon for programs with Swift concurrency.
///
///     let client = FormClient()
///     let order = IceCream()
///     let session = try await client.open(order)
///     order.flavor = .vanilla
///     for await change in session.changes { print(change.revision, order.flavor) }
///
/// If the connection is lost, the client reconnects. Edits made meanwhile are queued and merged,
/// and sent with the causal context of what the program had read. A client lives until ``close()``,
/// or until its last reference is gone.
public final class FormClient: Sendable {
    private let machine: FormMachine
    private let transport: ClientTransport
    private let isBegun = Mutex(false)
    private let actions: AsyncStream<@Sendable () -> Void>.Continuation

    /// A client that connects at its first request.
    ///
    /// - Parameters:
    ///   - options: how it finds the daemon, and the timeout of calls.
    ///   - log: receives what no call reports, such as a lost connection; on any thread.
    public convenience init(
        _ options: ConnectionOptions = ConnectionOptions(), log: ClientLog? = nil
    ) {
        self.init(.thread(options), answerSeconds: options.answerSeconds, log: log)
    }

    /// A client that another thread or loop runs.
    package init(_ transport: ClientTransport, answerSeconds: Double?, log: ClientLog?) {
        let (stream, actions) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        self.transport = transport
        self.actions = actions
        machine = FormMachine(
            wake: transport.wake, perform: { actions.yield($0) }, answerSeconds: answerSeconds,
            clock: transport.clock, log: log)
        Task { for await action in stream { action() } }
    }

    deinit {
        close()
        actions.finish()
    }

    /// Closes the connection and every form, and ends every call. Edits that were not answered may
    /// or may not be applied: ``shutdown(flushingFor:)`` waits for them first.
    ///
    /// After that every method throws ``FormError/closed``.
    public func close() {
        machine.stop(.closed)
        transport.stop()
    }

    /// Waits until all edits are answered, but no longer than `limit`, and closes the client in any
    /// case, also if the task is cancelled.
    ///
    /// - Throws: the errors of ``flush(timeout:)``; with ``RequestFate/pending(edits:)`` if edits
    ///   were not answered in time.
    public func shutdown(flushingFor limit: Duration) async throws(FormError) {
        defer { close() }
        try await flush(timeout: limit)
    }

    /// The states of the connection: the present one, then each new one.
    public var connectionStates: ConnectionStates { ConnectionStates(machine: machine) }

    // MARK: Forms

    /// Opens a form: declares it on the daemon and follows it.
    ///
    /// - Parameters:
    ///   - form: the declaration, whose properties are bound.
    ///   - applying: whether to replace the definition of an existing form.
    ///   - presence: whether to receive the list of users who have the form open.
    ///   - timeout: how long to wait; by default ``ConnectionOptions/answerSeconds``.
    /// - Returns: the open form, whose properties show the daemon's values.
    public func open(
        _ form: some SharedForm, applying: Applying = .always, presence: Bool = false,
        timeout: Duration? = nil
    ) async throws(FormError) -> FormSession {
        try await session(timeout) { id, done in
            machine.open(form, applying: applying, presence: presence, call: id, then: done)
        }
    }

    /// Follows an existing form. It may have been declared by any program.
    ///
    /// - Parameters:
    ///   - values: the properties to be bound.
    ///   - presence: whether to receive the list of users who have the form open.
    ///   - timeout: how long to wait; by default ``ConnectionOptions/answerSeconds``.
    public func follow(
        _ values: some SharedState, presence: Bool = false, timeout: Duration? = nil
    ) async throws(FormError) -> FormSession {
        try await session(timeout) { id, done in
            machine.follow(values, presence: presence, call: id, then: done)
        }
    }

    private func session(
        _ timeout: Duration?,
        _ begin: (
            UInt64, @escaping @Sendable (Result<FormAttachment, FormError>) -> Void
        ) -> Void
    ) async throws(FormError) -> FormSession {
        start()
        let attachment = try await machine.answer(timeout: timeout) { call in
            begin(call.id) { result in
                // The caller has stopped waiting, so it is closed.
                if !call.finish(result), case .success(let attachment) = result {
                    attachment.close()
                }
            }
        }
        return FormSession(attachment, client: self)
    }

    // MARK: Transactions

    /// Sends everything that `edits` writes to the form as one transaction: see
    /// ``FormSession/transaction(_:requireCurrent:ends:timeout:_:)``.
    @discardableResult
    public func transaction<Value>(
        _ session: FormSession, message: String? = nil, requireCurrent: Bool = false,
        ends end: ValueEnd? = nil, timeout: Duration? = nil, _ edits: () throws -> Value
    ) async throws -> Value {
        try await session.transaction(
            message, requireCurrent: requireCurrent, ends: end, timeout: timeout, edits)
    }

    /// Waits until all edits are answered. It does not report refusals: each is a
    /// ``FormEvent/refused(fields:_:)``.
    ///
    /// - Parameter timeout: how long to wait; by default ``ConnectionOptions/answerSeconds``. Edits
    ///   without an answer are kept, and sent as soon as possible.
    public func flush(timeout: Duration? = nil) async throws(FormError) {
        start()
        try await machine.answer(timeout: timeout) { call in
            machine.flush(call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Finds the outcome of a request that was sent and not answered: it is sent again with its
    /// idempotency key, so it is applied once.
    ///
    /// - Returns: the answer as JSON.
    /// - Throws: ``FormError/refused(_:)`` if the daemon refuses it.
    @discardableResult
    public func settle(
        _ request: UnansweredRequest, timeout: Duration? = nil
    ) async throws(FormError) -> JSON {
        try await ask(request.request, timeout: timeout)
    }

    // MARK: Asking

    /// Undoes the last transaction of this program's user: see ``FormSession/undo(scope:)``.
    @discardableResult
    public func undo(
        _ session: FormSession, scope: UndoScope = .mine
    ) async throws(FormError) -> [String] {
        try await session.undo(scope: scope)
    }

    /// Redoes what an undo reverted: see ``FormSession/redo(scope:)``.
    @discardableResult
    public func redo(
        _ session: FormSession, scope: UndoScope = .mine
    ) async throws(FormError) -> [String] {
        try await session.redo(scope: scope)
    }

    /// Who changed what, newest first: see ``FormSession/history(of:before:limit:)``.
    public func history(
        of session: FormSession, before: Int64? = nil, limit: Int = 50
    ) async throws(FormError) -> HistoryPage {
        try await session.history(before: before, limit: limit)
    }

    /// Why a field of a form has its value: see ``FormSession/explain(_:at:)``.
    public func explain(
        _ field: String, of session: FormSession, at revision: Int64? = nil
    ) async throws(FormError) -> Explanation {
        try await session.explain(field, at: revision)
    }

    /// The content of a secure field. Only permitted users may read it, and each reading is
    /// audited.
    public func reveal(_ secret: Binding<Secret>) async throws(FormError) -> String? {
        guard let attachment = secret.field.attachment, let id = secret.id else {
            throw .notOpen
        }
        let answer = try await ask(.stateReveal(StateReveal(form: attachment.name, field: id)))
        return answer["value"]?.stringValue
    }

    /// Shows to others which control has the focus of this program's user, and the value being
    /// entered.
    public func showFocus<Value>(on binding: Binding<Value>, draft: Value? = nil) {
        guard let attachment = binding.field.attachment else { return }
        let update = PresenceUpdate(
            form: attachment.name, focus: binding.id, draft: draft?.fieldValue)
        machine.ask(.presenceUpdate(update)) { _ in }
    }

    /// Shows to others that no control of the form has the focus of this program's user.
    public func clearFocus(in session: FormSession) {
        machine.ask(.presenceUpdate(PresenceUpdate(form: session.name, focus: nil))) { _ in }
    }

    /// Sends any request of the protocol and returns its result as JSON.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - timeout: how long to wait; by default ``ConnectionOptions/answerSeconds``.
    public func ask(_ request: Request, timeout: Duration? = nil) async throws(FormError) -> JSON {
        start()
        return try await machine.ask(request, timeout: timeout)
    }

    // MARK: The thread

    private func start() {
        let isFirst = isBegun.withLock { isBegun in
            defer { isBegun = true }
            return !isBegun
        }
        if isFirst { transport.begin(machine) }
    }
}

/// Whose transactions an undo reverts.
public enum UndoScope: Hashable, Sendable {
    /// Those of this program's user.
    case mine
    /// Anybody's.
    case anyone

    func request(_ form: String) -> StateUndo {
        StateUndo(form: form, scope: self == .mine ? .mine : .anyone)
    }
}

/// An answer of the daemon as what `read` makes of it.
func decoded<Result>(
    _ answer: JSON, _ read: (JSON) throws(DecodeError) -> Result
) throws(FormError) -> Result {
    do throws(DecodeError) {
        return try read(answer)
    } catch {
        throw .incompatible(reason: "\(error)")
    }
}
