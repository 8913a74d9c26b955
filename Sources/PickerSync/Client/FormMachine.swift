// Forms without I/O. The machine makes requests from writes to properties, and updates the
// properties from events. The driver has the connection, the thread and the clock.
//
//     properties --write--> FormMachine --pump--> ClientMachine --bytes--> any transport
//     properties <--read--- FormMachine <-events- ClientMachine <-bytes--- any transport
//
// ``FormClient`` drives it on its own thread, ``BlockingFormClient`` on the caller's. A program
// with its own loop (libuv, epoll, poll(2)) needs a few lines: after `wake`, and after each event,
// call `pump` and write the output of the ClientMachine.

internal import PickerClient
public import SyncCore
internal import Synchronization

/// Sends the requests of a ``FormMachine``: a client machine, or a client that contains one.
public protocol RequestPort {
    /// Sends a request; its answer comes as an event under this ticket.
    mutating func submit(_ request: Request) -> Ticket
    /// Follows a form.
    mutating func subscribe(_ request: StateSubscribe)
    /// Stops following a form.
    mutating func unsubscribe(form: String)
    /// Withdraws a request: if it was not sent, it never will be.
    ///
    /// - Returns: its state; `nil` if its answer is already among the events.
    mutating func withdraw(_ ticket: Ticket) -> Withdrawal?
}

extension ClientMachine: RequestPort {}

extension BlockingClient: RequestPort {}

/// The core of the library: see the head of this file. It is safe to use from any thread; only one
/// driver may call `pump` and `received`.
public final class FormMachine: Sendable {
    /// A request that waits for its answer; later requests have greater numbers.
    struct Asked: Sendable {
        var number: UInt64
        var done: @Sendable (Result<JSON, FormError>) -> Void
        /// The call that waits for it. It may be cancelled or reach its deadline.
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
        /// Edits that were made for another store than the one that answers.
        var kept = KeptRequests()
        var connection = ConnectionState.connecting
        var connectionReaders: [UInt64: AsyncStream<ConnectionState>.Continuation] = [:]
        var lastReader: UInt64 = 0
        var end: FormError?
        /// The first refusal of an assignment since `takeRefusal`.
        var refusal: FormError?
        /// The numbers of the requests without an answer.
        var unanswered: Set<UInt64> = []
        var lastNumber: UInt64 = 0
        /// Flushes: each waits until all earlier requests are answered.
        var flushes: [Asked] = []

        /// Removes all waiting requests, and returns them in order.
        mutating func drain() -> [Asked] {
            let unsent = outbox.compactMap {
                if case .ask(_, let asked) = $0 { asked } else { nil }
            }
            let keepers = kept.take().flatMap(\.owner)
            defer { (outbox, waiting, flushes, unanswered) = ([], [:], [], []) }
            return (waiting.values + unsent + keepers + flushes).sorted { $0.number < $1.number }
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
    ///   - wake: called on any thread when `pump` has something to do.
    ///   - perform: runs the closures of the declaration (`onChange`, a button's action), one after
    ///     another. By default each runs at once on the driver's thread.
    ///   - isDrivenByCaller: whether callers run the machine themselves while they wait. Then the
    ///     asynchronous methods would wait for ever, so they trap.
    ///   - answerSeconds: the default timeout of a call in seconds; `nil` for none.
    ///   - clock: monotonic nanoseconds, for deadlines.
    ///   - log: receives what no call reports, such as a lost connection.
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

    /// Sends the new requests, and withdraws those whose callers have given up.
    public func pump(into port: inout some RequestPort) {
        // Under the lock, so that `received` finds the ticket of each request.
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

    /// Processes an event of the port.
    public func received(_ event: ClientEvent) {
        switch event {
        case .answered(let tickets, let outcome): answered(tickets, outcome)
        case .snapshot(let result, _): feed(result.form)?.began(result)
        case .resumed(let result): feed(result.form)?.resumed(result)
        case .changed(let change): feed(change.form)?.changed(change)
        case .presence(let change): feed(change.form)?.presenceChanged(change)
        case .assigned(let press): assigned(press)
        case .cancelled(let press): feed(press.form)?.runner.cancel(press.press)
        case .proposal(let proposal): feed(proposal.form)?.told(of: proposal)
        case .progress: break
        case .formChanged(let change):
            switch change.content {
            case .defined(let content):
                feed(change.form)?.redefined(content, revision: change.revision)
            case .deleted: leave(change.form, nil)
            }
        case .subscriptionRefused(let form, let error):
            // Another store does not have the form. It still exists in its own store.
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

    /// Stops the machine: all calls and forms end with this error.
    ///
    /// A machine and its open forms reference each other, so the driver must call this at the end.
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

    /// There is no daemon: all calls and forms end with this error. Later requests connect again.
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

    /// Runs a closure of the declaration after the ones before it.
    func perform(_ action: @escaping @Sendable () -> Void) {
        dispatch(action)
    }

    // MARK: Asking

    /// Sends a request that does not concern a property.
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

    /// Waits until all earlier requests are answered. The error is `nil` if they are, even if they
    /// were refused.
    ///
    /// The answer to a `ping` is not enough: a daemon that is stopping answers it, and leaves edits
    /// that it has not started to the next daemon.
    public func flush(then done: @escaping @Sendable (FormError?) -> Void) {
        flush(call: nil, then: done)
    }

    func flush(call: UInt64?, then done: @escaping @Sendable (FormError?) -> Void) {
        let finished: @Sendable (Result<JSON, FormError>) -> Void = { done($0.failure) }
        // If nothing waits for an answer, no connection is needed. A caller that drives also
        // receives changes of others here, so it asks the daemon.
        let idle = state.withLock { state in
            !isDrivenByCaller && state.end == nil && state.unanswered.isEmpty
                ? state.kept.flushed(.max) : nil
        }
        if let idle { return finished(idle) }
        ask(.ping, call: call, stage: PendingCalls.Stage.flush) { number in
            { [self] result in
                let kept = state.withLock { state -> KeptRequests? in
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
            // The caller gave up before the request was made.
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

    /// Ends the flushes whose requests are all answered, or kept for another daemon.
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

    /// An assignment after the form was closed.
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
