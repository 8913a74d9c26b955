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
    /// Nobody waits for a request any more: one that was not sent must not be.
    ///
    /// - Returns: what became of it; `nil` where its answer is on its way to the machine.
    mutating func withdraw(_ ticket: Ticket) -> Withdrawal?
}

extension ClientMachine: RequestPort {}

extension BlockingClient: RequestPort {}

/// The heart of the library: see the file's head. Safe to use from any thread; `pump` and
/// `received` are called by one driver.
public final class FormMachine: Sendable {
    /// A request that somebody waits for; `number` tells which of two was asked first.
    struct Asked: Sendable {
        var number: UInt64
        var done: @Sendable (Result<JSON, FormError>) -> Void
        /// The call that waits for it, where it may stop waiting.
        var call: UInt64?
    }

    enum Outgoing {
        case ask(Request, Asked)
        case subscribe(StateSubscribe)
        case unsubscribe(String)
    }

    struct State {
        var outbox: [Outgoing] = []
        var waiting: [Ticket: Asked] = [:]
        var feeds: [FormFeed] = []
        var lastAttachment: UInt64 = 0
        var calls = PendingCalls()
        /// The store that answers now, and the one that answered before it.
        var store: String?
        var formerStore: String?
        /// Edits that were made for another store than the one that answers.
        var kept: [KeptRequest] = []
        var connection = ConnectionState.connecting
        var connectionReaders: [UInt64: AsyncStream<ConnectionState>.Continuation] = [:]
        var lastReader: UInt64 = 0
        var end: FormError?
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
            let kept = kept.flatMap(\.asked)
            defer { (outbox, waiting, flushes, unanswered, self.kept) = ([], [:], [], [], []) }
            return (waiting.values + unsent + kept + flushes).sorted { $0.number < $1.number }
        }
    }

    let state = Mutex(State())
    let wake: @Sendable () -> Void
    let clock: @Sendable () -> UInt64
    let answerSeconds: Double?
    let log: ClientLog?
    let isDrivenByCaller: Bool
    private let dispatch: @Sendable (@escaping @Sendable () -> Void) -> Void

    /// A machine without a connection.
    ///
    /// - Parameters:
    ///   - wake: called, on any thread, when there is something to `pump`.
    ///   - perform: runs a closure of the declaration (`onChange`, a button's action), one after
    ///     the other. By default at once, on the driver's thread.
    ///   - isDrivenByCaller: whether whoever waits for an answer is also the one who drives; the
    ///     asynchronous methods, which would then wait for ever, say so instead.
    ///   - answerSeconds: how long a call that names no timeout waits for its answer; for ever
    ///     where it is `nil`.
    ///   - clock: monotonic nanoseconds, as deadlines are counted in.
    ///   - log: told what no answer tells, such as a lost connection.
    public init(
        wake: @escaping @Sendable () -> Void,
        perform: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { $0() },
        isDrivenByCaller: Bool = false, answerSeconds: Double? = nil,
        clock: @escaping @Sendable () -> UInt64 = { MonotonicClock.now() }, log: ClientLog? = nil
    ) {
        self.wake = wake
        dispatch = perform
        self.isDrivenByCaller = isDrivenByCaller
        self.answerSeconds = answerSeconds
        self.clock = clock
        self.log = log
    }

    /// Whether every request was answered.
    public var isSettled: Bool { state.withLock { $0.unanswered.isEmpty && $0.outbox.isEmpty } }

    // MARK: Driving

    /// Hands what was asked since to a port, and takes back what nobody waits for any more.
    public func pump(into port: inout some RequestPort) {
        // Under the lock a request and its ticket are one step; answers come through `received`.
        let given = state.withLock { state in
            for outgoing in state.outbox {
                switch outgoing {
                case .ask(let request, let asked): state.waiting[port.submit(request)] = asked
                case .subscribe(let request): port.subscribe(request)
                case .unsubscribe(let form): port.unsubscribe(form: form)
                }
            }
            state.outbox = []
            return Self.giveUp(&state) { port.withdraw($0) }
        }
        for tell in given { tell() }
        if !given.isEmpty { finishFlushes() }
    }

    /// Takes an event of the port.
    public func received(_ event: ClientEvent) {
        switch event {
        case .answered(let tickets, let outcome): answered(tickets, outcome)
        case .snapshot(let result, _): feed(result.form)?.began(result)
        case .resumed(let result): feed(result.form)?.resumed()
        case .changed(let change): feed(change.form)?.changed(change)
        case .presence(let change): feed(change.form)?.presenceChanged(change)
        case .formChanged(let change):
            switch change.content {
            case .defined(let content):
                feed(change.form)?.redefined(content, revision: change.revision)
            case .deleted: leave(change.form, nil)
            }
        case .subscriptionRefused(let form, let error):
            // Another store has no such form: ours is where its own store is.
            if let feed = feed(form), error.kind == .notFound, let store = feed.store,
                store != presentStore
            {
                feed.isAway(kept: keptEdits(of: form))
            } else {
                leave(form, .refused(error))
            }
        case .greeted(let daemon):
            greeted(by: daemon.store)
            connected(to: daemon)
        case .disconnected(.some):
            for feed in feeds { feed.disconnected() }
            become(.disconnected(nil), .warning, "the connection to the daemon is lost")
        case .disconnected(nil): stop(.closed)
        case .incompatible(let error): stop(.incompatible(reason: error.message))
        case .violation(let reason): stop(.incompatible(reason: reason))
        case .goodbye(let goodbye):
            log?(.info, "the daemon says goodbye", ["reason": goodbye.reason.text])
        case .forms: break
        }
    }

    /// Ends it: everything that waits is told why, and so is every form.
    ///
    /// A machine and its open forms hold each other, so that whoever drives one calls this at the
    /// end.
    public func stop(_ error: FormError) {
        let isFirst = state.withLock { state in
            defer { state.end = state.end ?? error }
            return state.end == nil
        }
        drain(error)
        guard isFirst else { return }
        if case .closed = error {
            become(.closed(nil), .info, "the client is closed")
        } else {
            become(.closed(error), .error, "the client cannot continue")
        }
    }

    /// Tells everybody who waits that there is no daemon; later requests try again.
    func failed(_ error: FormError) {
        drain(error)
        become(.disconnected(error), .warning, "no daemon can be reached")
    }

    private func drain(_ error: FormError) {
        let (waiting, feeds) = state.withLock { state in
            defer { state.feeds = [] }
            return (state.drain(), state.feeds)
        }
        for asked in waiting { asked.done(.failure(error)) }
        for feed in feeds { feed.ended(error) }
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
        ask(request, call: nil) { result in
            switch result {
            case .success(let json): done(.result(json))
            case .failure(.refused(let error)): done(.refused(error))
            case .failure: done(.lost)
            }
        }
    }

    func ask(
        _ request: Request, call: UInt64?,
        then done: @escaping @Sendable (Result<JSON, FormError>) -> Void
    ) {
        ask(request, call: call) { _ in done }
    }

    /// Waits until everything that was asked before is answered; `nil` where it was, whatever the
    /// answers are.
    ///
    /// An answer to a `ping` does not say so: a daemon on its way out answers it and leaves edits
    /// that it has not begun to the next one.
    public func flush(then done: @escaping @Sendable (FormError?) -> Void) {
        flush(call: nil, then: done)
    }

    func flush(call: UInt64?, then done: @escaping @Sendable (FormError?) -> Void) {
        let finished: @Sendable (Result<JSON, FormError>) -> Void = { done($0.failure) }
        // Where nothing waits for an answer, no daemon has to be there. A caller that drives is
        // told what others wrote in here, so it asks.
        let idle = state.withLock { state in
            !isDrivenByCaller && state.end == nil && state.unanswered.isEmpty
                ? state.kept.flushed(.max) : nil
        }
        if let idle { return finished(idle) }
        ask(.ping, call: call, stage: PendingCalls.Stage.flush) { number in
            { [self] result in
                let kept = state.withLock { state -> [KeptRequest]? in
                    guard state.unanswered.contains(where: { $0 < number }) else {
                        return state.kept
                    }
                    state.flushes.append(Asked(number: number, done: finished, call: call))
                    return nil
                }
                guard let kept else { return }
                if case .success = result {
                    finished(kept.flushed(number))
                } else {
                    finished(result)
                }
            }
        }
    }

    private func ask(
        _ request: Request, call: UInt64?,
        stage: (UInt64) -> PendingCalls.Stage = PendingCalls.Stage.request,
        then done: (_ number: UInt64) -> @Sendable (Result<JSON, FormError>) -> Void
    ) {
        let (asked, end) = state.withLock { state -> (Asked, FormError?) in
            state.lastNumber += 1
            let asked = Asked(
                number: state.lastNumber, done: done(state.lastNumber), call: call)
            if let end = state.end { return (asked, end) }
            // Whoever waited for it stopped before it began.
            if let call, !state.calls.wait(for: stage(asked.number), call) {
                return (asked, .cancelled(.notSent))
            }
            state.unanswered.insert(asked.number)
            state.outbox.append(.ask(request, asked))
            return (asked, nil)
        }
        if let end { return asked.done(.failure(end)) }
        wake()
    }

    private func answered(_ tickets: [Ticket], _ outcome: RequestOutcome) {
        let result: Result<JSON, FormError>
        switch outcome {
        case .result(let json): result = .success(json)
        case .superseded: result = .success(.null)
        case .refused(let error): result = .failure(.refused(error))
        case .lost: result = .failure(state.withLock { $0.end } ?? .closed)
        case .otherReplica(let request): return keep(request, tickets)
        }
        let waiting = state.withLock { state in
            let found = tickets.compactMap { state.waiting.removeValue(forKey: $0) }
            for asked in found { state.unanswered.remove(asked.number) }
            return found
        }
        for asked in waiting { asked.done(result) }
        finishFlushes()
    }

    /// Tells those whose requests are all answered, or kept for another daemon.
    func finishFlushes() {
        let (flushed, kept) = state.withLock { state in
            let oldest = state.unanswered.min() ?? .max
            defer { state.flushes.removeAll { $0.number < oldest } }
            return (state.flushes.filter { $0.number < oldest }, state.kept)
        }
        for asked in flushed { asked.done(kept.flushed(asked.number)) }
    }

    // MARK: Forms

    var feeds: [FormFeed] { state.withLock { $0.feeds } }

    func feed(_ form: String) -> FormFeed? {
        state.withLock { $0.feeds.first { $0.name == form } }
    }

    private func leave(_ form: String, _ error: FormError?) {
        let feed = state.withLock { state in
            let feed = state.feeds.first { $0.name == form }
            state.feeds.removeAll { $0.name == form }
            return feed
        }
        feed?.ended(error)
    }

    /// An edit by assignment that nobody took.
    func dropped(_ field: String, of form: String, _ error: FormError) {
        refused(error)
        log?(
            .warning, "an edit was dropped: \(error)", ["form": form, "field": field])
    }
}

extension Result {
    /// The failure, if it is one.
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
