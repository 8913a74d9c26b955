// The blocking client: for scripts, on one thread.

internal import PickerClient
public import SyncCore
internal import Synchronization

/// A connection to the daemon for sequential programs.
///
///     let client = BlockingFormClient()
///     let settings = ServiceSettings()
///     try client.follow(settings)
///     settings.workers += 1
///     try client.flush()
///
/// There is no background thread. Edits are sent and changes of others arrive in
/// ``flush(timeout:)``, ``wait(seconds:)``, ``transaction(_:message:requireCurrent:ends:_:)`` and
/// the like; so are the progress and the outcome of an ``AssignedPress``, whose action is a task.
public final class BlockingFormClient {
    private var client: BlockingClient
    private let machine: FormMachine
    /// Ends a wait when an action of a button has something to send.
    private let waker: Waker

    /// A client that connects at its first request.
    ///
    /// - Parameters:
    ///   - options: how it finds the daemon, and the timeout of calls.
    ///   - log: receives what no call reports, such as a lost connection.
    public init(_ options: ConnectionOptions = ConnectionOptions(), log: ClientLog? = nil) {
        client = BlockingClient(options.blocking)
        let waker = Waker()
        self.waker = waker
        machine = FormMachine(
            wake: { waker.wake() }, isDrivenByCaller: true, answerSeconds: options.answerSeconds,
            log: log)
    }

    deinit { close() }

    /// Closes the connection; edits that were not flushed are not sent.
    public func close() {
        machine.stop(.closed)
        client.close()
    }

    // MARK: Forms

    /// Opens a form: declares it on the daemon and follows it.
    @discardableResult
    public func open(
        _ form: some SharedForm, applying: Applying = .always, presence: Bool = false
    ) throws(FormError) -> FormSession {
        try session { id, done in
            machine.open(form, applying: applying, presence: presence, call: id, then: done)
        }
    }

    /// Follows an existing form. It may have been declared by any program.
    @discardableResult
    public func follow(
        _ values: some SharedState, presence: Bool = false
    ) throws(FormError) -> FormSession {
        try session { id, done in
            machine.follow(values, presence: presence, call: id, then: done)
        }
    }

    private func session(
        _ begin: (
            UInt64, @escaping @Sendable (Result<FormAttachment, FormError>) -> Void
        ) -> Void
    ) throws(FormError) -> FormSession {
        let attachment = try answer { call in
            begin(call.id) { result in
                if !call.finish(result), case .success(let attachment) = result {
                    attachment.close()
                }
            }
        }
        return FormSession(attachment)
    }

    // MARK: Writing

    /// Sends the pending edits and waits until they are durable.
    ///
    /// - Parameter timeout: how long to wait; by default ``ConnectionOptions/answerSeconds``.
    /// - Throws: the first refusal; the other edits are applied.
    public func flush(timeout: Duration? = nil) throws(FormError) {
        try answer(timeout: timeout) { call in
            machine.flush(call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
        if let refusal = machine.takeRefusal() { throw refusal }
    }

    /// Sends everything that `edits` writes to the form as one transaction and waits until it is
    /// durable: all edits are applied, or none.
    ///
    /// - Parameters:
    ///   - session: the form.
    ///   - message: why: one line, which everybody who may read the form sees.
    ///   - requireCurrent: refuse all edits if somebody has changed one of the fields and this
    ///     program has not read the change.
    ///   - end: when the values end by themselves.
    ///   - edits: writes to properties of the form; its writes to other forms are sent as always.
    ///     If it throws, nothing is sent and its error is thrown.
    /// - Returns: what `edits` returns.
    @discardableResult
    public func transaction<Value>(
        _ session: FormSession, message: String? = nil, requireCurrent: Bool = false,
        ends end: ValueEnd? = nil, _ edits: () throws -> Value
    ) throws -> Value {
        if let end = session.attachment.end { throw end }
        let (value, gathered) = try session.feed.gather(edits)
        let terms = EditTerms(message: message, end: end)
        try answer { call in
            session.feed.send(gathered, requireCurrent: requireCurrent, terms, call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
        return value
    }

    /// Proposes everything that `edits` writes to the form, as
    /// ``FormSession/propose(_:ends:timeout:_:)``. Vote with ``ask(_:)``.
    ///
    /// - Returns: the proposal; `nil` if nothing needs approval, and the edits were made.
    @discardableResult
    public func propose(
        _ session: FormSession, message: String? = nil, ends end: ValueEnd? = nil,
        _ edits: () throws -> Void
    ) throws -> FormProposal? {
        if let end = session.attachment.end { throw end }
        let gathered = try session.feed.gather(edits).edits
        if gathered.isEmpty { return nil }
        let terms = EditTerms(message: message, end: end, guarded: .proposed)
        let result: JSON = try answer { call in
            session.feed.send(gathered, terms, call: call.id) { call.finish($0) }
        }
        return try FormSession.proposal(in: result)
    }

    // MARK: Waiting

    /// Waits for one event and processes it: properties show the new values, actions run.
    ///
    /// - Parameter seconds: how long at most; `nil` for no limit.
    /// - Returns: whether there was an event.
    @discardableResult
    public func wait(seconds: Double? = nil) throws(FormError) -> Bool {
        try turn(until: seconds.map { MonotonicClock.now().adding(seconds: $0) })
    }

    /// Waits until a condition on the properties holds.
    ///
    /// - Returns: whether it holds; `false` after a timeout.
    @discardableResult
    public func wait(
        seconds: Double? = nil, until condition: () -> Bool
    ) throws(FormError) -> Bool {
        let deadline = seconds.map { MonotonicClock.now().adding(seconds: $0) }
        while !condition() {
            if let deadline, MonotonicClock.now() >= deadline { return false }
            try turn(until: deadline)
        }
        return true
    }

    /// The next revision of a form, for a loop: `while let change = try changes.next()`.
    public func changes(of session: FormSession) -> BlockingChanges {
        BlockingChanges(client: self, queue: session.attachment.observe())
    }

    // MARK: Asking

    /// The content of a secure field. Only permitted users may read it, and each reading is
    /// audited.
    public func reveal(_ secret: Binding<Secret>) throws(FormError) -> String? {
        guard let attachment = secret.field.attachment, let id = secret.id else {
            throw .notOpen
        }
        let request = Request.stateReveal(StateReveal(form: attachment.name, field: id))
        return try ask(request)["value"]?.stringValue
    }

    /// Undoes the last transaction of this program's user.
    ///
    /// - Returns: the fields that were not changed, because somebody has changed them since.
    @discardableResult
    public func undo(
        _ session: FormSession, scope: UndoScope = .mine
    ) throws(FormError) -> [String] {
        try session.feed.take(ask(.stateUndo(scope.request(session.name)))).skipped ?? []
    }

    /// Sends any request of the protocol and returns its result as JSON.
    public func ask(_ request: Request) throws(FormError) -> JSON {
        try answer { call in machine.ask(request, call: call.id) { call.finish($0) } }
    }

    // MARK: The loop

    /// Runs the machine until there is an answer or the deadline has passed.
    private func answer<Success: Sendable>(
        timeout: Duration? = nil, _ start: (PendingCall<Success>) -> Void
    ) throws(FormError) -> Success {
        let place = Place<Success>()
        let call = PendingCall<Success>(machine, timeout: timeout) { place.put($0) }
        start(call)
        while true {
            if let result = place.taken() { return try result.get() }
            machine.expire(at: MonotonicClock.now())
            machine.pump(into: &client)
            if let result = place.taken() { return try result.get() }
            try turn(until: machine.nextDeadline)
        }
    }

    /// A place for one answer.
    private final class Place<Success: Sendable>: Sendable {
        private let result = Mutex<Result<Success, FormError>?>(nil)

        func put(_ result: Result<Success, FormError>) {
            self.result.withLock { $0 = result }
        }

        func taken() -> Result<Success, FormError>? { result.withLock { $0 } }
    }

    @discardableResult
    fileprivate func turn(until deadline: UInt64?) throws(FormError) -> Bool {
        do throws(ClientFailure) {
            while true {
                machine.pump(into: &client)
                switch try client.wait(until: deadline, also: [waker.descriptor]) {
                case .event(let event):
                    machine.received(event)
                    machine.pump(into: &client)
                    return true
                case .readable: waker.drain()
                case .deadline: return false
                }
            }
        } catch {
            let error = FormError(error)
            machine.failed(error)
            throw error
        }
    }
}

/// The revisions of a form, for a loop that waits.
public struct BlockingChanges {
    let client: BlockingFormClient
    let queue: EventQueue

    /// The next revision; `nil` if the form was deleted, or after a timeout.
    public func next(seconds: Double? = nil) throws(FormError) -> FormChange? {
        let deadline = seconds.map { MonotonicClock.now().adding(seconds: $0) }
        while true {
            while let event = queue.poll() {
                switch event {
                case .changed(let change): return change
                case .ended(nil): return nil
                case .ended(.some(let error)): throw error
                default: continue
                }
            }
            if let deadline, MonotonicClock.now() >= deadline { return nil }
            try client.turn(until: deadline)
        }
    }
}
