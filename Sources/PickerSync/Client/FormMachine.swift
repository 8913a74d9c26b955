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
    /// A request that somebody waits for; `number` tells which of two was asked first.
    private struct Asked: Sendable {
        var number: UInt64
        var done: @Sendable (RequestOutcome) -> Void
    }

    private enum Outgoing {
        case ask(Request, Asked)
        case subscribe(StateSubscribe)
        case unsubscribe(String)
    }

    private struct State {
        var outbox: [Outgoing] = []
        var waiting: [Ticket: Asked] = [:]
        var sessions: [FormSession] = []
        var end: FormError?
        /// Why the last requests without an answer got none.
        var failure: FormError?
        /// The first refusal of an assignment that nobody has asked for yet.
        var refusal: FormError?
        /// Numbers of the requests that were asked and not answered.
        var unanswered: Set<UInt64> = []
        var lastNumber: UInt64 = 0
        /// Those who wait until everything that was asked before them is answered.
        var flushes: [Asked] = []

        /// Forgets what waits; gives it in the order in which it was asked.
        mutating func drain() -> [Asked] {
            let unsent = outbox.compactMap {
                if case .ask(_, let asked) = $0 { asked } else { nil }
            }
            defer { (outbox, waiting, flushes, unanswered) = ([], [:], [], []) }
            return (waiting.values + unsent + flushes).sorted { $0.number < $1.number }
        }
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
    public var isSettled: Bool { state.withLock { $0.unanswered.isEmpty && $0.outbox.isEmpty } }

    // MARK: Driving

    /// Hands what was asked since to a port.
    public func pump(into port: inout some RequestPort) {
        // Under the lock a request and its ticket are one step; answers come through `received`.
        state.withLock { state in
            for outgoing in state.outbox {
                switch outgoing {
                case .ask(let request, let asked): state.waiting[port.submit(request)] = asked
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
    ///
    /// A machine and its open forms hold each other, so that whoever drives one calls this at the
    /// end.
    public func stop(_ error: FormError) {
        let (waiting, sessions) = state.withLock { state in
            defer { state.sessions = [] }
            state.end = state.end ?? error
            state.failure = error
            return (state.drain(), state.sessions)
        }
        for asked in waiting { asked.done(.lost) }
        for session in sessions { session.ended(error) }
    }

    /// Tells everybody who waits that there is no daemon; later requests try anew.
    func failed(_ error: FormError) {
        let (waiting, sessions) = state.withLock { state in
            defer { state.sessions = [] }
            state.failure = error
            return (state.drain(), state.sessions)
        }
        for session in sessions { session.ended(error) }
        for asked in waiting { asked.done(.lost) }
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
        ask(request) { _ in done }
    }

    /// Waits until everything that was asked before is answered; `nil` where it was, whatever the
    /// answers are.
    ///
    /// An answer to a `ping` does not say so: a daemon on its way out answers it and leaves edits
    /// that it has not begun to the next one.
    public func flush(then done: @escaping @Sendable (FormError?) -> Void) {
        let finished: @Sendable (RequestOutcome) -> Void = { [self] in done(failure(of: $0)) }
        ask(.ping) { number in
            { [self] outcome in
                let isFirst = state.withLock { state in
                    guard state.unanswered.contains(where: { $0 < number }) else { return true }
                    state.flushes.append(Asked(number: number, done: finished))
                    return false
                }
                if isFirst { finished(outcome) }
            }
        }
    }

    private func ask(
        _ request: Request,
        then done: (_ number: UInt64) -> @Sendable (RequestOutcome) -> Void
    ) {
        let (asked, isEnded) = state.withLock { state in
            state.lastNumber += 1
            let asked = Asked(number: state.lastNumber, done: done(state.lastNumber))
            if state.end != nil { return (asked, true) }
            state.unanswered.insert(asked.number)
            state.outbox.append(.ask(request, asked))
            return (asked, false)
        }
        if isEnded { return asked.done(.lost) }
        wake()
    }

    private func answered(_ tickets: [Ticket], _ outcome: RequestOutcome) {
        let waiting = state.withLock { state in
            let found = tickets.compactMap { state.waiting.removeValue(forKey: $0) }
            for asked in found { state.unanswered.remove(asked.number) }
            return found
        }
        for asked in waiting { asked.done(outcome) }
        let flushed = state.withLock { state in
            let oldest = state.unanswered.min() ?? .max
            defer { state.flushes.removeAll { $0.number < oldest } }
            return state.flushes.filter { $0.number < oldest }
        }
        for asked in flushed { asked.done(.result([:])) }
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
