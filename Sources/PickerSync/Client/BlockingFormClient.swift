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
/// ``flush()``, ``wait(seconds:)``, ``transaction(_:requireCurrent:_:)`` and the like.
public final class BlockingFormClient {
    private var client: BlockingClient
    private let machine: FormMachine
    private let answerSeconds: Double

    /// A client that connects when it is first asked for something.
    public init(_ options: ConnectionOptions = ConnectionOptions()) {
        client = BlockingClient(options.blocking)
        answerSeconds = options.answerSeconds
        machine = FormMachine(wake: {}, isDrivenByCaller: true)
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
        try answer { machine.open(form, applying: applying, presence: presence, then: $0) }
    }

    /// Follows a form that is there, whoever declared it.
    @discardableResult
    public func follow(
        _ values: some SharedState, presence: Bool = false
    ) throws(FormError) -> FormSession {
        try answer { machine.follow(values, presence: presence, then: $0) }
    }

    // MARK: Writing

    /// Sends what was written and waits until it is durable.
    ///
    /// - Throws: the first refusal; the other edits are done all the same.
    public func flush() throws(FormError) {
        try answer { done in
            machine.flush { error in done(error.map { .failure($0) } ?? .success(())) }
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
    ///   - edits: writes to properties of the form; what it writes to others goes as always.
    public func transaction(
        _ session: FormSession, requireCurrent: Bool = false, _ edits: () -> Void
    ) throws(FormError) {
        let gathered = session.gather(edits)
        try answer { done in
            session.send(gathered, requireCurrent: requireCurrent) { error in
                done(error.map { .failure($0) } ?? .success(()))
            }
        }
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
        BlockingChanges(client: self, queue: session.observe())
    }

    // MARK: Asking

    /// What a secure field holds, for those who may know; the reading is audited.
    public func reveal(_ secret: Binding<Secret>) throws(FormError) -> String? {
        guard let session = secret.field.session, let id = secret.id else { throw .notOpen }
        let request = Request.stateReveal(StateReveal(form: session.name, field: id))
        return try ask(request)["value"]?.stringValue
    }

    /// Takes back this program's user's last transaction.
    ///
    /// - Returns: fields that were left alone since somebody has changed them again.
    @discardableResult
    public func undo(
        _ session: FormSession, scope: UndoScope = .mine
    ) throws(FormError) -> [String] {
        try session.take(ask(.stateUndo(scope.request(session.name))))
    }

    /// Asks anything of the protocol, and gives its result as JSON.
    public func ask(_ request: Request) throws(FormError) -> JSON {
        try answer { done in
            machine.ask(request) { [machine] outcome in
                if case .result(let json) = outcome { return done(.success(json)) }
                done(.failure(machine.failure(of: outcome) ?? .closed))
            }
        }
    }

    // MARK: The loop

    /// Drives until an answer is there.
    private func answer<Success: Sendable>(
        _ body: (@escaping @Sendable (Result<Success, FormError>) -> Void) -> Void
    ) throws(FormError) -> Success {
        let place = Place<Success>()
        body { place.put($0) }
        let deadline = MonotonicClock.now().adding(seconds: answerSeconds)
        while true {
            if let result = place.taken() { return try result.get() }
            guard MonotonicClock.now() < deadline else { throw .timedOut }
            try turn(until: deadline)
        }
    }

    /// A place for one answer.
    private final class Place<Success: Sendable>: Sendable {
        private let result = Mutex<Result<Success, FormError>?>(nil)

        func put(_ result: Result<Success, FormError>) {
            self.result.withLock { $0 = $0 ?? result }
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
