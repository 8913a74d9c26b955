// The face for Swift concurrency: one thread drives the machine, tasks wait for it.
//
// The thread sleeps in poll(2) on the daemon's socket and on one end of a socket pair, whose other
// end is written to when a property was set or a request was asked. Closures of declarations run in
// a task of their own, one after the other, so that a slow one keeps nobody's answer waiting.

internal import Glibc
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
    private let waker: Waker
    private let options: ConnectionOptions
    private let thread: Mutex<Bool>
    private let actions: AsyncStream<@Sendable () -> Void>.Continuation

    /// A client that connects when it is first asked for something.
    public init(_ options: ConnectionOptions = ConnectionOptions()) {
        let waker = Waker()
        let (stream, actions) = AsyncStream.makeStream(of: (@Sendable () -> Void).self)
        self.options = options
        self.waker = waker
        self.actions = actions
        thread = Mutex(false)
        machine = FormMachine(wake: { waker.wake() }, perform: { actions.yield($0) })
        Task { for await action in stream { action() } }
    }

    deinit {
        actions.finish()
        waker.stop()
    }

    /// Ends the connection, every form and everything that waits.
    public func close() {
        machine.stop(.closed)
        waker.stop()
    }

    // MARK: Forms

    /// Opens a form: declares it on the daemon and follows it.
    ///
    /// - Parameters:
    ///   - form: the declaration, whose properties are bound.
    ///   - applying: whether the daemon takes the declaration where it has such a form.
    ///   - presence: whether to be told who has the form open.
    /// - Returns: the open form, whose properties show what the daemon has.
    public func open(
        _ form: some SharedForm, applying: Applying = .always, presence: Bool = false
    ) async throws(FormError) -> FormSession {
        start()
        return try await withCheckedContinuation { continuation in
            machine.open(form, applying: applying, presence: presence) {
                continuation.resume(returning: $0)
            }
        }.get()
    }

    /// Follows a form that is there, whoever declared it.
    public func follow(
        _ values: some SharedState, presence: Bool = false
    ) async throws(FormError) -> FormSession {
        start()
        return try await withCheckedContinuation { continuation in
            machine.follow(values, presence: presence) { continuation.resume(returning: $0) }
        }.get()
    }

    // MARK: Transactions

    /// Sends everything that `edits` writes to the form as one revision: all of it is done, or
    /// none.
    ///
    /// - Parameters:
    ///   - session: the form.
    ///   - requireCurrent: refuse it where somebody changed one of the fields unseen by this
    ///     program.
    ///   - edits: writes to properties of the form; what it writes to others goes as always.
    public func transaction(
        _ session: FormSession, requireCurrent: Bool = false, _ edits: () -> Void
    ) async throws(FormError) {
        let gathered = session.gather(edits)
        try await session.withAnswer { done in
            session.send(gathered, requireCurrent: requireCurrent, then: done)
        }
    }

    /// Waits until everything that was written is answered, without telling what was refused: that
    /// comes as ``FormEvent/refused(fields:_:)``.
    public func flush() async {
        start()
        await withCheckedContinuation { continuation in
            machine.flush { _ in continuation.resume() }
        }
    }

    // MARK: Asking

    /// Takes back this program's user's last transaction.
    ///
    /// - Parameters:
    ///   - session: the form.
    ///   - scope: whose transactions count.
    /// - Returns: fields that were left alone since somebody has changed them again.
    @discardableResult
    public func undo(
        _ session: FormSession, scope: UndoScope = .mine
    ) async throws(FormError) -> [String] {
        try session.take(await ask(.stateUndo(scope.request(session.name))))
    }

    /// Does again what ``undo(_:scope:)`` took back.
    @discardableResult
    public func redo(
        _ session: FormSession, scope: UndoScope = .mine
    ) async throws(FormError) -> [String] {
        try session.take(await ask(.stateRedo(scope.request(session.name))))
    }

    /// Who changed what, newest first.
    ///
    /// - Parameters:
    ///   - session: the form.
    ///   - before: only revisions below this one.
    ///   - limit: how many entries at most.
    public func history(
        of session: FormSession, before: Int64? = nil, limit: Int = 50
    ) async throws(FormError) -> HistoryPage {
        let request = StateHistory(form: session.name, before: before, limit: Int64(limit))
        return try HistoryPage(answer: await ask(.stateHistory(request)))
    }

    /// What a secure field holds, for those who may know; the reading is audited.
    public func reveal(_ secret: Binding<Secret>) async throws(FormError) -> String? {
        guard let session = secret.field.session, let id = secret.id else { throw .notOpen }
        let answer = try await ask(.stateReveal(StateReveal(form: session.name, field: id)))
        return answer["value"]?.stringValue
    }

    /// Tells others which control is in this program's user's hand, and what they are about to set.
    public func showFocus<Value>(on binding: Binding<Value>, draft: Value? = nil) {
        guard let session = binding.field.session else { return }
        let update = PresenceUpdate(
            form: session.name, focus: binding.id, draft: draft?.fieldValue)
        machine.ask(.presenceUpdate(update)) { _ in }
    }

    /// Tells others that this program's user has no control of the form in their hand.
    public func clearFocus(in session: FormSession) {
        machine.ask(.presenceUpdate(PresenceUpdate(form: session.name, focus: nil))) { _ in }
    }

    /// Asks anything of the protocol, and gives its result as JSON.
    public func ask(_ request: Request) async throws(FormError) -> JSON {
        start()
        let outcome = await withCheckedContinuation { continuation in
            machine.ask(request) { continuation.resume(returning: $0) }
        }
        if case .result(let json) = outcome { return json }
        throw machine.failure(of: outcome) ?? .closed
    }

    // MARK: The thread

    private func start() {
        let isFirst = thread.withLock { isStarted in
            defer { isStarted = true }
            return !isStarted
        }
        guard isFirst else { return }
        let driver = Driver(machine: machine, waker: waker, options: options)
        driver.detach()
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

extension FormSession {
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

    /// What a closure writes to this form.
    func gather(_ edits: () -> Void) -> [(change: Change, draft: UInt64?)] {
        let gathering = Gathering(self)
        Self.$gathering.withValue(gathering, operation: edits)
        return gathering.edits.withLock { $0 }
    }
}
