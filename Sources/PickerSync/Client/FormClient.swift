// The face for Swift concurrency: one thread drives the machine, tasks wait for it.
//
// The thread sleeps in poll(2) on the daemon's socket and on one end of a socket pair, whose other
// end is written to when a property was set or a request was asked. Closures of declarations run in
// a task of their own, one after the other, so that a slow one keeps nobody's answer waiting.

internal import PickerClient
public import SyncCore
internal import Synchronization

/// A connection to the daemon for programs that await.
///
///     let client = FormClient()
///     let order = IceCream()
///     let session = try await client.open(order)
///     order.flavor = .vanilla
///     for await change in session.changes { print(change.revision, order.flavor) }
///
/// A daemon that goes away is waited for: what is written meanwhile is queued, merged as far as it
/// can be, and sent with what the program had seen when it wrote it. A client lives until
/// ``close()`` or until nobody holds it.
public final class FormClient: Sendable {
    private let machine: FormMachine
    private let transport: ClientTransport
    private let isBegun = Mutex(false)
    private let actions: AsyncStream<@Sendable () -> Void>.Continuation

    /// A client that connects when it is first asked for something.
    ///
    /// - Parameters:
    ///   - options: how it finds the daemon, and how long calls wait.
    ///   - log: told what no answer tells, such as a lost connection; on any thread.
    public convenience init(
        _ options: ConnectionOptions = ConnectionOptions(), log: ClientLog? = nil
    ) {
        self.init(.thread(options), answerSeconds: options.answerSeconds, log: log)
    }

    /// A client that something else drives.
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

    /// Ends the connection, every form and everything that waits. Edits that were not answered may
    /// or may not be done: ``shutdown(flushingFor:)`` waits for them first.
    ///
    /// After that every method throws ``FormError/closed``.
    public func close() {
        machine.stop(.closed)
        transport.stop()
    }

    /// Waits until everything that was written is answered, but no longer than `limit`, and closes
    /// the client in any case, also where the task is cancelled.
    ///
    /// - Throws: what ``flush(timeout:)`` throws: with ``RequestFate/pending(edits:)`` where edits
    ///   had no answer in time.
    public func shutdown(flushingFor limit: Duration) async throws(FormError) {
        defer { close() }
        try await flush(timeout: limit)
    }

    /// Whether the daemon is there: the present state, then each new one.
    public var connectionStates: ConnectionStates { ConnectionStates(machine: machine) }

    // MARK: Forms

    /// Opens a form: declares it on the daemon and follows it.
    ///
    /// - Parameters:
    ///   - form: the declaration, whose properties are bound.
    ///   - applying: whether the daemon takes the declaration where it has such a form.
    ///   - presence: whether to be told who has the form open.
    ///   - timeout: how long to wait; by default as long as the options say.
    /// - Returns: the open form, whose properties show what the daemon has.
    public func open(
        _ form: some SharedForm, applying: Applying = .always, presence: Bool = false,
        timeout: Duration? = nil
    ) async throws(FormError) -> FormSession {
        try await session(timeout) { id, done in
            machine.open(form, applying: applying, presence: presence, call: id, then: done)
        }
    }

    /// Follows a form that is there, whoever declared it.
    ///
    /// - Parameters:
    ///   - values: the properties to be bound.
    ///   - presence: whether to be told who has the form open.
    ///   - timeout: how long to wait; by default as long as the options say.
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
                // Nobody waits for it any more: it is not left open.
                if !call.finish(result), case .success(let attachment) = result {
                    attachment.close()
                }
            }
        }
        return FormSession(attachment, client: self)
    }

    // MARK: Transactions

    /// Sends everything that `edits` writes to the form as one revision: see
    /// ``FormSession/transaction(requireCurrent:timeout:_:)``.
    @discardableResult
    public func transaction<Value>(
        _ session: FormSession, requireCurrent: Bool = false, timeout: Duration? = nil,
        _ edits: () throws -> Value
    ) async throws -> Value {
        try await session.transaction(requireCurrent: requireCurrent, timeout: timeout, edits)
    }

    /// Waits until everything that was written is answered, without telling what was refused: that
    /// comes as ``FormEvent/refused(fields:_:)``.
    ///
    /// - Parameter timeout: how long to wait; by default as long as the options say. What has no
    ///   answer then is kept and sent as soon as the daemon takes it.
    public func flush(timeout: Duration? = nil) async throws(FormError) {
        start()
        try await machine.answer(timeout: timeout) { call in
            machine.flush(call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
    }

    /// Finds out what became of a request that was sent and not answered: it is sent again under
    /// its key, and done if it was not.
    ///
    /// - Returns: the answer as JSON, as if it had come the first time.
    /// - Throws: ``FormError/refused(_:)`` where the daemon has something against it.
    @discardableResult
    public func settle(
        _ request: UnansweredRequest, timeout: Duration? = nil
    ) async throws(FormError) -> JSON {
        try await ask(request.request, timeout: timeout)
    }

    // MARK: Asking

    /// Takes back this program's user's last transaction: see ``FormSession/undo(scope:)``.
    @discardableResult
    public func undo(
        _ session: FormSession, scope: UndoScope = .mine
    ) async throws(FormError) -> [String] {
        try await session.undo(scope: scope)
    }

    /// Does again what an undo took back: see ``FormSession/redo(scope:)``.
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

    /// What a secure field holds, for those who may know; the reading is audited.
    public func reveal(_ secret: Binding<Secret>) async throws(FormError) -> String? {
        guard let attachment = secret.field.attachment, let id = secret.id else {
            throw .notOpen
        }
        let answer = try await ask(.stateReveal(StateReveal(form: attachment.name, field: id)))
        return answer["value"]?.stringValue
    }

    /// Tells others which control is in this program's user's hand, and what they are about to set.
    public func showFocus<Value>(on binding: Binding<Value>, draft: Value? = nil) {
        guard let attachment = binding.field.attachment else { return }
        let update = PresenceUpdate(
            form: attachment.name, focus: binding.id, draft: draft?.fieldValue)
        machine.ask(.presenceUpdate(update)) { _ in }
    }

    /// Tells others that this program's user has no control of the form in their hand.
    public func clearFocus(in session: FormSession) {
        machine.ask(.presenceUpdate(PresenceUpdate(form: session.name, focus: nil))) { _ in }
    }

    /// Asks anything of the protocol, and gives its result as JSON.
    ///
    /// - Parameters:
    ///   - request: what is asked.
    ///   - timeout: how long to wait; by default as long as the options say.
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

/// Whose transactions an undo takes back.
public enum UndoScope: Hashable, Sendable {
    /// Those of this program's user.
    case mine
    /// Anybody's.
    case anyone

    func request(_ form: String) -> StateUndo {
        StateUndo(form: form, scope: self == .mine ? .mine : .anyone)
    }
}

extension HistoryPage {
    init(answer: JSON) throws(FormError) {
        do throws(DecodeError) {
            self = try HistoryPage(decoding: answer)
        } catch {
            throw .incompatible(reason: "\(error)")
        }
    }
}

extension FormFeed {
    /// Shows what an undo or a redo brought back.
    ///
    /// - Returns: fields that were left alone.
    func take(_ answer: JSON) throws(FormError) -> [String] {
        do throws(DecodeError) {
            let result = try SetResult(decoding: answer)
            state.withLock { state in
                for field in result.fields { Self.take(field.id, field.state, into: &state) }
            }
            return result.skipped ?? []
        } catch {
            throw .incompatible(reason: "\(error)")
        }
    }
}
