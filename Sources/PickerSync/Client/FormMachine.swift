// Forms without any I/O: what properties write goes out as requests, what the daemon tells comes in
// as events. Whoever drives it brings the connection, the thread and the clock.
//
//     properties --write--> FormMachine --pump--> ClientMachine --bytes--> any transport
//     properties <--read--- FormMachine <-events- ClientMachine <-bytes--- any transport
//
// ``FormClient`` drives it on a thread of its own for Swift concurrency, ``BlockingFormClient`` on
// the caller's, and a program with a loop of its own — libuv, epoll, a plain poll(2) — in a few
// lines: after `wake`, and after each event that was handed in, `pump` and write what the
// ClientMachine has to send.

internal import PickerClient
public import SyncCore
internal import Synchronization

/// Who takes the requests of a ``FormMachine``: the machine of the protocol, or a client around it.
public protocol RequestPort {
    /// Sends a request; its answer comes as an event under this ticket.
    mutating func submit(_ request: Request) -> Ticket
    /// Follows a form.
    mutating func subscribe(_ request: StateSubscribe)
    /// Follows a form no longer.
    mutating func unsubscribe(form: String)
}

extension ClientMachine: RequestPort {}

extension BlockingClient: RequestPort {}

/// The heart of the library: see the file's head. Safe to use from any thread; `pump` and
/// `received` are called by one driver.
public final class FormMachine: Sendable {
    private enum Outgoing {
        case ask(Request, @Sendable (RequestOutcome) -> Void)
        case subscribe(StateSubscribe)
        case unsubscribe(String)
    }

    private struct State {
        var outbox: [Outgoing] = []
        var waiting: [Ticket: @Sendable (RequestOutcome) -> Void] = [:]
        var sessions: [FormSession] = []
        var end: FormError?
        /// Why the last requests without an answer got none.
        var failure: FormError?
        /// The first refusal of an assignment that nobody has asked for yet.
        var refusal: FormError?
        /// Requests that were asked and not answered.
        var unanswered = 0
    }

    private let state = Mutex(State())
    private let wake: @Sendable () -> Void
    private let dispatch: @Sendable (@escaping @Sendable () -> Void) -> Void
    private let isDrivenByCaller: Bool

    /// A machine without a connection.
    ///
    /// - Parameters:
    ///   - wake: called, on any thread, when there is something to `pump`.
    ///   - perform: runs a closure of the declaration (`onChange`, a button's action), one after
    ///     the other. By default at once, on the driver's thread.
    ///   - isDrivenByCaller: whether whoever waits for an answer is also the one who drives; the
    ///     asynchronous methods, which would then wait for ever, say so instead.
    public init(
        wake: @escaping @Sendable () -> Void,
        perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() },
        isDrivenByCaller: Bool = false
    ) {
        self.wake = wake
        dispatch = perform
        self.isDrivenByCaller = isDrivenByCaller
    }

    /// Whether every request was answered.
    public var isSettled: Bool { state.withLock { $0.unanswered == 0 && $0.outbox.isEmpty } }

    // MARK: Driving

    /// Hands what was asked since to a port.
    public func pump(into port: inout some RequestPort) {
        // Under the lock a request and its ticket are one step; answers come through `received`.
        state.withLock { state in
            for outgoing in state.outbox {
                switch outgoing {
                case .ask(let request, let done): state.waiting[port.submit(request)] = done
                case .subscribe(let request): port.subscribe(request)
                case .unsubscribe(let form): port.unsubscribe(form: form)
                }
            }
            state.outbox = []
        }
    }

    /// Takes an event of the port.
    public func received(_ event: ClientEvent) {
        switch event {
        case .answered(let tickets, let outcome): answered(tickets, outcome)
        case .snapshot(let result, _): session(result.form)?.began(result)
        case .resumed(let result): session(result.form)?.resumed()
        case .changed(let change): session(change.form)?.changed(change)
        case .presence(let change): session(change.form)?.presenceChanged(change)
        case .formChanged(let change):
            switch change.content {
            case .defined(let content):
                session(change.form)?.redefined(content, revision: change.revision)
            case .deleted: leave(change.form, nil)
            }
        case .subscriptionRefused(let form, let error): leave(form, .refused(error))
        case .disconnected(.some): for session in sessions { session.disconnected() }
        case .disconnected(nil): stop(.closed)
        case .incompatible(let error): stop(.incompatible(reason: error.message))
        case .violation(let reason): stop(.incompatible(reason: reason))
        case .greeted, .forms, .goodbye: break
        }
    }

    /// Ends it: everything that waits is told why, and so is every form.
    public func stop(_ error: FormError) {
        let (waiting, sessions) = state.withLock { state in
            defer {
                state.outbox = []
                state.waiting = [:]
                state.sessions = []
                state.unanswered = 0
            }
            state.end = state.end ?? error
            state.failure = error
            return (Self.unanswered(state), state.sessions)
        }
        for done in waiting { done(.lost) }
        for session in sessions { session.ended(error) }
    }

    /// Tells everybody who waits that there is no daemon; later requests try anew.
    func failed(_ error: FormError) {
        let (waiting, sessions) = state.withLock { state in
            defer {
                state.outbox = []
                state.waiting = [:]
                state.sessions = []
                state.unanswered = 0
            }
            state.failure = error
            return (Self.unanswered(state), state.sessions)
        }
        for session in sessions { session.ended(error) }
        for done in waiting { done(.lost) }
    }

    /// What waits for an answer, in the order of the tickets, then of the outbox.
    private static func unanswered(
        _ state: borrowing State
    ) -> [@Sendable (RequestOutcome) -> Void] {
        let sent = state.waiting.sorted { $0.key.number < $1.key.number }.map(\.value)
        return sent
            + state.outbox.compactMap { if case .ask(_, let done) = $0 { done } else { nil } }
    }

    func checkThatAnotherThreadDrives() {
        precondition(
            !isDrivenByCaller,
            "a BlockingFormClient's own methods wait for answers; await would hang")
    }

    /// An assignment was refused.
    func refused(_ error: FormError) {
        state.withLock { $0.refusal = $0.refusal ?? error }
    }

    /// The first refusal of an assignment since the last time.
    func takeRefusal() -> FormError? {
        state.withLock { state in
            defer { state.refusal = nil }
            return state.refusal
        }
    }

    /// Runs a closure of the declaration in its turn.
    func perform(_ action: @escaping @Sendable () -> Void) {
        dispatch(action)
    }

    // MARK: Asking

    /// Asks the daemon for something that is about no property.
    public func ask(_ request: Request, then done: @escaping @Sendable (RequestOutcome) -> Void) {
        let isEnded = state.withLock { state in
            if state.end != nil { return true }
            state.unanswered += 1
            state.outbox.append(.ask(request, done))
            return false
        }
        if isEnded { return done(.lost) }
        wake()
    }

    private func answered(_ tickets: [Ticket], _ outcome: RequestOutcome) {
        let waiting = state.withLock { state in
            let found = tickets.compactMap { state.waiting.removeValue(forKey: $0) }
            state.unanswered -= found.count
            return found
        }
        for done in waiting { done(outcome) }
    }

    private var sessions: [FormSession] { state.withLock { $0.sessions } }

    private func session(_ form: String) -> FormSession? {
        state.withLock { $0.sessions.first { $0.name == form } }
    }

    private func leave(_ form: String, _ error: FormError?) {
        let session = state.withLock { state in
            let session = state.sessions.first { $0.name == form }
            state.sessions.removeAll { $0.name == form }
            return session
        }
        session?.ended(error)
    }

    func close(_ session: FormSession) {
        let isOpen = state.withLock { state in
            let isOpen = state.sessions.contains { $0 === session }
            state.sessions.removeAll { $0 === session }
            if isOpen { state.outbox.append(.unsubscribe(session.name)) }
            return isOpen
        }
        if isOpen { wake() }
    }

    func follow(_ session: FormSession, presence: Bool) {
        state.withLock { state in
            state.sessions.append(session)
            state.outbox.append(
                .subscribe(StateSubscribe(form: session.name, presence: presence)))
        }
        wake()
    }

    /// The session of a form that is open already, or one that has yet to be followed.
    func existing(_ form: String) -> FormSession? { session(form) }

    /// Why a request was not done; `nil` where it was.
    func failure(of outcome: RequestOutcome) -> FormError? {
        switch outcome {
        case .result, .superseded: nil
        case .refused(let error): .refused(error)
        case .lost: state.withLock { $0.failure } ?? .closed
        }
    }
}
