// The face for scripts: one thread, which waits for what it asks.

internal import PickerClient
public import SyncCore
internal import Synchronization

/// A connection to the daemon for programs that do one thing after another.
///
///     let client = BlockingFormClient()
///     let settings = ServiceSettings()
///     try client.follow(settings)
///     settings.workers += 1
///     try client.flush()
///
/// Nothing happens behind the program's back: what it writes goes, and what others wrote comes, in
/// ``flush(timeout:)``, ``wait(seconds:)``, ``transaction(_:requireCurrent:_:)`` and the like.
public final class BlockingFormClient {
    private var client: BlockingClient
    private let machine: FormMachine

    /// A client that connects when it is first asked for something.
    ///
    /// - Parameters:
    ///   - options: how it finds the daemon, and how long calls wait.
    ///   - log: told what no answer tells, such as a lost connection.
    public init(_ options: ConnectionOptions = ConnectionOptions(), log: ClientLog? = nil) {
        client = BlockingClient(options.blocking)
        machine = FormMachine(
            wake: {}, isDrivenByCaller: true, answerSeconds: options.answerSeconds, log: log)
    }

    deinit { close() }

    /// Ends the connection; what was written and not flushed is not sent.
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

    /// Follows a form that is there, whoever declared it.
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

    /// Sends what was written and waits until it is durable.
    ///
    /// - Parameter timeout: how long to wait; by default as long as the options say.
    /// - Throws: the first refusal; the other edits are done all the same.
    public func flush(timeout: Duration? = nil) throws(FormError) {
        try answer(timeout: timeout) { call in
            machine.flush(call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
        if let refusal = machine.takeRefusal() { throw refusal }
    }

    /// Sends everything that `edits` writes to the form as one revision and waits until it is
    /// durable: all of it is done, or none.
    ///
    /// - Parameters:
    ///   - session: the form.
    ///   - requireCurrent: refuse it where somebody changed one of the fields unseen by
    ///     this program.
    ///   - edits: writes to properties of the form; what it writes to others goes as always. Where
    ///     it throws, nothing is sent and its error is thrown.
    /// - Returns: what `edits` returns.
    @discardableResult
    public func transaction<Value>(
        _ session: FormSession, requireCurrent: Bool = false, _ edits: () throws -> Value
    ) throws -> Value {
        if let end = session.attachment.end { throw end }
        let (value, gathered) = try session.feed.gather(edits)
        try answer { call in
            session.feed.send(gathered, requireCurrent: requireCurrent, call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
        return value
    }

    // MARK: Waiting

    /// Waits until something happens, and lets it: properties show what came, actions run.
    ///
    /// - Parameter seconds: how long at most; for ever where it is `nil`.
    /// - Returns: whether something happened.
    @discardableResult
    public func wait(seconds: Double? = nil) throws(FormError) -> Bool {
        try turn(until: seconds.map { MonotonicClock.now().adding(seconds: $0) })
    }

    /// Waits until a condition on the properties holds.
    ///
    /// - Returns: whether it holds; `false` when so many seconds have passed.
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

    /// The next revision of a form, as a loop takes them: `while let change = try changes.next()`.
    public func changes(of session: FormSession) -> BlockingChanges {
        BlockingChanges(client: self, queue: session.attachment.observe())
    }

    // MARK: Asking

    /// What a secure field holds, for those who may know; the reading is audited.
    public func reveal(_ secret: Binding<Secret>) throws(FormError) -> String? {
        guard let attachment = secret.field.attachment, let id = secret.id else {
            throw .notOpen
        }
        let request = Request.stateReveal(StateReveal(form: attachment.name, field: id))
        return try ask(request)["value"]?.stringValue
    }

    /// Takes back this program's user's last transaction.
    ///
    /// - Returns: fields that were left alone since somebody has changed them again.
    @discardableResult
    public func undo(
        _ session: FormSession, scope: UndoScope = .mine
    ) throws(FormError) -> [String] {
        try session.feed.take(ask(.stateUndo(scope.request(session.name))))
    }

    /// Asks anything of the protocol, and gives its result as JSON.
    public func ask(_ request: Request) throws(FormError) -> JSON {
        try answer { call in machine.ask(request, call: call.id) { call.finish($0) } }
    }

    // MARK: The loop

    /// Drives until an answer is there or its deadline has passed.
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
        machine.pump(into: &client)
        do throws(ClientFailure) {
            switch try client.wait(until: deadline) {
            case .event(let event):
                machine.received(event)
                machine.pump(into: &client)
                return true
            case .readable, .deadline: return false
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

    /// The next revision; `nil` when the form is gone, or when so many seconds have passed.
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
