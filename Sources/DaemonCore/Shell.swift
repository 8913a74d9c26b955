internal import EventLoop
internal import Glibc
internal import SyncCore

// The engine's I/O: reads and writes sockets, runs effects, provides the time.
//
// Invariants: the engine receives all events in order, on this thread; each iteration of the loop
// ends with one `iterationEnded`, after all of its input; a connection has at most one write in
// progress, whose bytes live until it ends; a peer can at most cause its own connection to be
// closed.

/// The phases of the daemon, from the first accept to the end.
enum ShellPhase {
    case serving
    /// The goodbyes and the last batch are being written.
    case draining
    /// Everything is durable; connections close when their output is written.
    case drained
    /// The loop is stopping.
    case ended
}

/// Runs one engine on one loop.
final class Shell {
    /// Bytes of one write: slightly more than a Unix socket accepts at once.
    static let writeBytesMax = 256 << 10
    /// How many connections are written between two reads of the clock, and how long the writes of
    /// one iteration may take before the loop checks for requests.
    static let writesAtOnce = 64
    static let flushNanoseconds: UInt64 = 2_000_000
    /// How many subscribers are told of a change before its author has the answer.
    static let toldFirst = 4
    /// How long a closing connection may take to write its last bytes.
    static let finishNanoseconds: UInt64 = 5_000_000_000
    /// How long a connection beyond a limit waits for the end of another.
    static let crowdedNanoseconds: UInt64 = 100_000_000
    /// How long the daemon waits for goodbyes and the last batch.
    static let drainLimit: Duration = .seconds(5)
    /// Rounds within one iteration for work that a completed write enables; the rest waits for the
    /// next iteration.
    static let turnsMax = 16
    /// How many connections may end in one iteration, and how many that have half ended are looked
    /// at: one user may have thousands, which end at once when a process does.
    static let endsAtOnce = 256
    static let looksAtOnce = 1024

    let loop: Loop
    let engine: Engine
    let log: Log
    let manager: ServiceManager
    let names: NameDirectory
    let subordinates: SubordinateUsers
    let store: StoreQueue
    let figures: Figures
    private let clock: MachineClock

    var phase = ShellPhase.serving
    /// The maximum number of accepted connections, because descriptors are limited.
    var connectionsMax: Int
    /// Groups of a user that are looked at.
    var groupsMax: Int
    let descriptorsMax: Int
    var idleExit: Duration?

    var connections = ConnectionTable<ClientConnection>()
    /// The number of the connection that was accepted last.
    var lastConnection: UInt64
    var listeners: [UnixListener] = []
    var shares: [UInt32: Share] = [:]
    /// Shares with a closed gate or with connections that wait to be read.
    var watchedShares: [Share] = []
    /// Connections beyond a limit, in order.
    var crowded: [Crowded] = []
    /// Connections that close when their output is written.
    var finishing: [Finishing] = []
    /// Connections whose end the engine has not received, in order.
    var ended = Queue<ClientConnection>()
    /// Connections whose peer has shut down its side and may have closed the connection, and how
    /// many of them are still to be looked at in this round.
    var lingering = Queue<ClientConnection>()
    var lingeringLeft = 0

    private var effects: [Effect] = []
    private var spareEffects: [Effect] = []
    /// Whether the engine received an event since the last `iterationEnded`.
    var isDirty = false
    private var moment: Moment?
    private var turnClock = TurnClock()
    private var turnParts = TurnParts()
    private var armedDeadline: UInt64?
    /// Whether accepting has paused because there are `connectionsMax` connections.
    var isFull = false

    private let deadlineTimer: Timer
    private let turnTimer: Timer
    let lingerTimer: Timer
    let crowdTimer: Timer
    private let idleTimer: Timer
    private let statusTimer: Timer

    /// Called once when all events so far are processed, including commits.
    var whenSettled: (() -> Void)?
    /// Called once when the shell has nothing left to do; `isClean` if everything is durable.
    var onEnd: ((_ isClean: Bool) -> Void)?

    /// A shell that does not accept connections yet.
    ///
    /// - Parameter lastConnection: The first connection has the number after it.
    init(
        loop: Loop, engine: Engine, log: Log, manager: ServiceManager, store: StoreQueue,
        figures: Figures, subordinates: SubordinateUsers, clock: MachineClock,
        lastConnection: UInt64, connectionsMax: Int, groupsMax: Int, descriptorsMax: Int
    ) {
        self.loop = loop
        self.clock = clock
        self.lastConnection = lastConnection
        self.engine = engine
        self.log = log
        self.manager = manager
        self.store = store
        self.figures = figures
        self.connectionsMax = connectionsMax
        self.groupsMax = groupsMax
        self.descriptorsMax = descriptorsMax
        self.subordinates = subordinates
        names = NameDirectory(loop: loop, before: { subordinates.refresh() })
        deadlineTimer = Timer(loop: loop)
        turnTimer = Timer(loop: loop)
        lingerTimer = Timer(loop: loop)
        crowdTimer = Timer(loop: loop)
        idleTimer = Timer(loop: loop)
        statusTimer = Timer(loop: loop)
        engine.stopwatch = { Loop.hrtimeNanoseconds }
        store.deliver = { [unowned self] input in tell(input) }
        store.onRead = { [unowned self] fetch, took in charge(took, to: .fetch(fetch)) }
        store.report = { [unowned self] entry in self.log.write(entry) }
        loop.onIterationEnd = { [unowned self] in iterationEnded() }
        deadlineTimer.onFire = { [unowned self] in deadlineFired() }
        lingerTimer.onFire = { [unowned self] in lookAfterLingering() }
        idleTimer.onFire = { [unowned self] in idleFired() }
        statusTimer.onFire = { [unowned self] in self.manager.status(self.engine.statusLine) }
        // Only wakes the loop, as crowdTimer does; the end of the iteration does the work.
        turnTimer.onFire = { [unowned self] in isDirty = true }
    }

    // MARK: The engine

    /// Both clocks, read once for each iteration.
    var now: Moment {
        if let moment { return moment }
        let read = clock.now
        moment = read
        turnParts.begin(at: read.monotonicNanoseconds)
        return read
    }

    /// Passes an event to the engine and runs its effects.
    func tell(_ input: Input) {
        isDirty = true
        engine.handle(input, at: now, into: &effects)
        runEffects()
        turnParts.mark(TurnParts.Part(input), at: Loop.hrtimeNanoseconds)
    }

    /// Charges time to a user. This does not start an iteration.
    func charge(_ nanoseconds: UInt64, to work: TimedWork) {
        engine.handle(.worked(work, nanoseconds: nanoseconds), at: now, into: &effects)
    }

    /// Tells the engine that a write is complete, and runs its effects.
    func wrote(_ outbox: Outbox) {
        isDirty = true
        engine.wrote(outbox, at: now, into: &effects)
        runEffects()
    }

    /// Passes received bytes to the engine and runs its effects.
    func received(_ connection: ClientConnection, _ bytes: UnsafeRawBufferPointer) {
        isDirty = true
        chargeRead(connection)
        engine.received(connection.id, bytes, at: now, into: &effects)
        runEffects()
        turnParts.mark(.received, at: Loop.hrtimeNanoseconds)
        closeGateIfItMustWait(connection)
        if engine.keepsSecrets { Wiping.wipe(bytes) }
    }

    /// An effect may pass a new event to the engine, which causes more effects. The outermost call
    /// runs them all.
    private var isRunningEffects = false

    private func runEffects() {
        guard !isRunningEffects, !effects.isEmpty else { return }
        isRunningEffects = true
        while !effects.isEmpty {
            swap(&effects, &spareEffects)
            for effect in spareEffects { run(effect) }
            spareEffects.removeAll(keepingCapacity: true)
        }
        isRunningEffects = false
    }

    private func run(_ effect: Effect) {
        switch effect {
        case .persist(let batch): store.add(.commit(batch))
        case .rebuild(let image): store.add(.rebuild(image))
        case .fetch(let id, let query, let uid): store.add(.fetch(id, query), for: uid)
        case .pauseReading(let id): pauseReading(id)
        case .resumeReading(let id): resumeReading(id)
        case .closeAfterOutput(let id): finish(id)
        case .close(let id): if let connection = connections[id] { close(connection) }
        case .log(let entry): log.write(entry)
        case .drained: drained()
        }
    }

    private func iterationEnded() {
        guard phase != .ended else { return }
        passEnds()
        openCrowded()
        if engine.schedule.wantsTurn { tell(.turn) }
        var turns = 0
        while isDirty, turns < Self.turnsMax {
            isDirty = false
            turns += 1
            engine.handle(.iterationEnded, at: now, into: &effects)
            runEffects()
            turnParts.mark(.batches, at: Loop.hrtimeNanoseconds)
            flush()
            turnParts.mark(.writes, at: Loop.hrtimeNanoseconds)
        }
        let isUnfinished = openGates()
        follow(engine.schedule, isUnfinished: isUnfinished)
        if turns > 0 {
            if engine.keepsSecrets { Wiping.wipeStack() }
            noteFigures()
        }
        noteTurn()
        moment = nil
        watchIdleness()
        settleIfIdle()
        endIfDone()
    }

    private func settleIfIdle() {
        guard let settled = whenSettled, !isDirty, store.isIdle else { return }
        whenSettled = nil
        if phase == .serving { settled() }
    }

    /// Sets the timers to what the engine wants. `isUnfinished`: sockets wait for an iteration.
    private func follow(_ schedule: Schedule, isUnfinished: Bool) {
        if isDirty || isUnfinished || !ended.isEmpty || schedule.wantsIteration {
            turnTimer.start(after: .zero)
        } else if let wait = schedule.turnNanoseconds {
            turnTimer.start(after: .nanoseconds(wait))
        }
        for listener in listeners {
            listener.acceptsInIteration =
                schedule.isContended ? Share.contendedAccepts : UnixListener.acceptsInIterationMax
        }
        arm(schedule.deadline)
    }

    private func arm(_ deadline: UInt64) {
        guard deadline != armedDeadline else { return }
        armedDeadline = deadline
        let now = Loop.hrtimeNanoseconds
        deadlineTimer.start(
            after: .nanoseconds(Int64(clamping: deadline > now ? deadline - now : 0)))
    }

    /// The timer counts from the loop's cached time and may be early by the length of an iteration.
    private func deadlineFired() {
        armedDeadline = nil
        moment = nil
        let deadline = engine.schedule.deadline
        if deadline <= now.monotonicNanoseconds { tell(.deadline) } else { arm(deadline) }
    }

    private func noteFigures() {
        figures.note(
            descriptors: connections.count + ProcessLimits.reserve / 2, max: descriptorsMax)
        guard manager.isThere, !statusTimer.isRunning else { return }
        // At most one message per second; the timer sends the newest.
        statusTimer.start(after: .seconds(1))
    }

    /// How long the loop was at work without looking for what came, from the first event of the
    /// iteration on.
    private func noteTurn() {
        guard let moment else { return }
        let end = Loop.hrtimeNanoseconds
        turnParts.mark(.other, at: end)
        let turn = turnClock.turn(
            from: moment.monotonicNanoseconds, to: end, processor: Loop.threadNanoseconds)
        let report = TurnReport(
            turn: turn, parts: turnParts, longestRequest: engine.takeLongestRequest())
        if figures.note(report) { log.write(.info, report.line) }
    }

    // MARK: The end

    /// Sends goodbye and ends, within `drainLimit`.
    func stop(_ reason: GoodbyeReason) {
        guard phase == .serving else { return }
        phase = .draining
        manager.stopping()
        for listener in listeners { listener.close() }
        idleTimer.stop()
        statusTimer.stop()
        let limit = Timer(loop: loop)
        limit.onFire = { [unowned self] in drainLimitPassed() }
        limit.start(after: Self.drainLimit)
        // The engine does not know connections that are still in `naming`.
        for connection in connections.inOrder where !connection.isKnown { close(connection) }
        tell(.stop(reason))
    }

    private func drained() {
        guard phase == .draining else { return }
        phase = .drained
        for connection in connections.inOrder { finish(connection.id) }
        isDirty = true
    }

    private func endIfDone() {
        guard phase == .drained, connections.isEmpty, store.isIdle else { return }
        end(isClean: !store.isSuspect)
    }

    private func drainLimitPassed() {
        switch phase {
        case .serving, .ended: return
        case .drained:
            for connection in connections.inOrder { close(connection) }
            end(isClean: store.isIdle && !store.isSuspect)
        case .draining:
            log.write(.error, "not everything could be written within \(Self.drainLimit)")
            end(isClean: false)
        }
    }

    private func end(isClean: Bool) {
        guard phase != .ended else { return }
        phase = .ended
        // A job that is still in progress ends after this object is freed.
        store.deliver = nil
        store.report = nil
        onEnd?(isClean)
        loop.stop()
    }

    // MARK: Idleness

    private func watchIdleness() {
        guard let idleExit, phase == .serving else { return idleTimer.stop() }
        if !connections.isEmpty {
            idleTimer.stop()
        } else if !idleTimer.isRunning {
            idleTimer.start(after: idleExit)
        }
    }

    private func idleFired() {
        guard connections.isEmpty, phase == .serving else { return }
        log.write(.info, "no connection for a while: exiting")
        stop(.shutdown)
    }
}
