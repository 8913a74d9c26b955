public import SyncCore

/// An engine with a store in memory, clients whose bytes are decoded, and a simulated clock.
///
/// Nothing happens by itself: `send` passes bytes in, and `settle` runs iterations until nothing is
/// left to do. With `holdsCommits` a batch stays in progress until `commit` or `failCommit`.
public final class EngineHost {
    public internal(set) var engine: Engine
    public internal(set) var store = ModelStore()
    public var configuration: EngineConfiguration
    public let environment: Environment
    /// Milliseconds since 1970 and since the start.
    public var milliseconds: Int64 = 1_795_000_000_000
    public internal(set) var replica: ReplicaID
    /// Batches stay in progress until the test ends them.
    public var holdsCommits = false
    /// Connections that accept no bytes.
    public var stopped: Set<ConnectionID> = []
    public internal(set) var batchUnderWay: Batch?
    public private(set) var log: [LogEntry] = []
    /// The audit entries of the engine.
    public let auditLog = AuditLog()
    public private(set) var closed: [ConnectionID] = []
    public internal(set) var paused: Set<ConnectionID> = []
    public internal(set) var isDrained = false
    public private(set) var rebuildAsked = false
    /// Whether a rebuild succeeds.
    public var rebuildWorks = true
    /// Whether each batch fails, and each rebuild.
    public var storeFails = false
    /// Whether a batch that fails because of `storeFails` has reached the disk. The store shows it
    /// only after a kill, if it is not rebuilt before.
    public var writesFailedBatches = false
    var lateBatch: Batch?
    /// Whether a batch failed and the store has not been rebuilt since.
    public internal(set) var isStoreBroken = false
    /// The offset of the wall clock, which may jump; the other clock may not.
    public var wallOffset: Int64 = 0
    /// What the next piece of work takes, in nanoseconds. Without it, no time is measured: all work
    /// takes none.
    public var workTakes: (() -> UInt64)? { didSet { observe() } }
    /// How often nobody could continue before time had passed.
    public private(set) var waits = 0
    /// Nanoseconds since the last whole millisecond that work took.
    private var worked: UInt64 = 0
    /// Connections whose writes stay in progress until `resumeReading`.
    public var slow: Set<ConnectionID> = []
    /// Reads of the store stay in progress until `answerFetches`.
    public var holdsFetches = false
    /// Intended errors of this host.
    public var faults: HostFaults = []
    /// Called for each durable batch, before the engine knows that it is durable.
    public var onCommit: (Batch) -> Void = { _ in }
    /// Called when a transaction takes dots and makes no revision: its author, the newest revision,
    /// its dots.
    public var onSilentWrite: (Author, UInt64, [Dot]) -> Void = { _, _, _ in }
    /// The bytes of writes in progress.
    var writing: [ConnectionID: Output] = [:]
    var fetchesUnderWay: [(FetchID, StoreQuery)] = []
    /// A batch that was reported as durable but is not (`HostFaults.answersBeforeCommit`).
    var unwritten: Batch?

    var inboxes: [ConnectionID: FrameDecoder] = [:]
    /// The frames that each client received, as JSON text, oldest first.
    public internal(set) var received: [ConnectionID: [String]] = [:]
    var closing: Set<ConnectionID> = []
    var nextConnection: UInt64 = 1

    /// A host with an empty store, or with a copy of another host's store, which has an id of its
    /// own and new logs.
    public init(
        durability: Durability = .commit, limits: Limits = Limits(), seed: UInt64 = 1,
        replica: ReplicaID = ReplicaID(id: 0x3f9a, epoch: 1), copyOf store: ModelStore? = nil,
        creatorsGID: UInt32? = nil, link: LinkConfiguration? = nil,
        compile: @escaping PatternCompiler = { _ in .success(PatternMatcher { _ in true }) },
        accountUID: @escaping @Sendable (UInt32) -> UInt32 = { $0 }
    ) throws {
        self.replica = replica
        self.store = store ?? ModelStore()
        configuration = EngineConfiguration(
            durability: durability, limits: limits, serverName: "pickersyncd/test", daemonUID: 900)
        configuration.creatorsGID = creatorsGID
        configuration.link = link
        // Each host of a fleet has a key of its own for its store.
        let isInFleet = link?.fleet.isEmpty == false
        let key = isInFleet ? link?.host.utf8.reduce(0) { $0 &* 31 &+ $1 } ?? 0 : 0
        var environment = Environment.forTests(seed: seed, compile: compile, key: key, auditLog)
        environment.accountUID = accountUID
        if isInFleet { environment.fleetKeys = .forTests() }
        self.environment = environment
        engine = try Engine(
            configuration: configuration, environment: environment, replica: replica,
            image: self.store.image(), newLogs: store != nil, at: Self.moment(milliseconds))
        observe()
    }

    func observe() {
        engine.onSilentWrite = { [unowned self] in onSilentWrite($0, $1, $2) }
        engine.stopwatch =
            workTakes == nil
            ? nil
            : { [unowned self] in
                worked += workTakes?() ?? 0
                return moment.monotonicNanoseconds
            }
    }

    private static func moment(_ milliseconds: Int64, wallOffset: Int64 = 0) -> Moment {
        Moment(
            wallMilliseconds: milliseconds + wallOffset,
            monotonicNanoseconds: UInt64(milliseconds - 1_790_000_000_000) * 1_000_000)
    }

    private var moment: Moment {
        var moment = Self.moment(milliseconds, wallOffset: wallOffset)
        moment.monotonicNanoseconds += worked
        return moment
    }

    /// The time of the next event.
    var now: Moment {
        milliseconds += Int64(worked / 1_000_000)
        worked %= 1_000_000
        return moment
    }

    // MARK: - Bytes

    /// Sends a JSON text as one frame.
    public func send(_ id: ConnectionID, _ text: String) {
        sendBytes(id, Frame.encode(text: Array(text.utf8)))
    }

    /// Sends raw bytes.
    public func sendBytes(_ id: ConnectionID, _ bytes: [UInt8]) {
        var effects: [Effect] = []
        bytes.withUnsafeBytes { engine.received(id, $0, at: now, into: &effects) }
        carryOut(effects)
    }

    /// Sends a request and returns what the client has received when nothing is left to do.
    @discardableResult
    public func call(_ id: ConnectionID, _ request: Request, as number: Int64 = 1) -> [String] {
        let before = received[id]?.count ?? 0
        sendBytes(id, request.frame(id: RequestID(number)))
        settle()
        return Array((received[id] ?? []).dropFirst(before))
    }

    /// Sends a JSON-RPC request as text and returns the frames that arrived.
    @discardableResult
    public func ask(_ id: ConnectionID, _ text: String) -> [String] {
        let before = received[id]?.count ?? 0
        send(id, text)
        settle()
        return Array((received[id] ?? []).dropFirst(before))
    }

    /// Removes and returns the frames that a client has received.
    public func take(_ id: ConnectionID) -> [String] {
        defer { received[id] = [] }
        return received[id] ?? []
    }

    // MARK: - Steps

    /// Passes an event to the engine and performs its effects.
    public func run(_ input: Input) {
        var effects: [Effect] = []
        engine.handle(input, at: now, into: &effects)
        carryOut(effects)
    }

    /// Joins what other hosts did, and returns what became of each item. `settle` follows.
    public func join(_ items: [SharedItem], cursor: [UInt8]? = nil) -> [JoinOutcome] {
        var effects: [Effect] = []
        let outcomes = engine.join(items, cursor: cursor, at: now, into: &effects)
        carryOut(effects)
        return outcomes
    }

    /// One iteration of the loop; returns whether anything happened.
    @discardableResult
    public func iterate() -> Bool {
        if engine.schedule.wantsTurn { run(.turn) }
        run(.iterationEnded)
        var didWrite = engine.schedule.wantsIteration
        let told = engine.tell { outbox, output in
            guard !stopped.contains(outbox.id) else { return .declined }
            guard !slow.contains(outbox.id) else {
                writing[outbox.id] = output
                return .underWay
            }
            deliver(output, to: outbox.id)
            return .written
        }
        didWrite = didWrite || told > 0
        for id in engine.takeReady().map(\.id) where !stopped.contains(id) {
            didWrite = write(id) || didWrite
        }
        // What takes its place may all be gone, and others behind it not.
        return didWrite || engine.schedule.wantsIteration
    }

    /// Runs until nothing is left to do except what the test holds back. If work takes time, time
    /// passes until everybody has had a turn.
    public func settle() {
        for _ in 0..<Self.iterationsMax where !iterate() && (batchUnderWay == nil || holdsCommits) {
            guard workTakes != nil, let wait = engine.schedule.turnNanoseconds else { return }
            worked += UInt64(wait)
            waits += 1
        }
        preconditionFailure(
            "the engine still wants to work after \(Self.iterationsMax) iterations: "
                + "\(engine.schedule)")
    }

    /// More iterations than the largest test needs.
    private static let iterationsMax = 10_000

    /// Lets time pass.
    public func pass(milliseconds: Int64) {
        self.milliseconds += milliseconds
        run(.deadline)
        settle()
    }

    /// The batch in progress becomes durable, or fails with `storeFails`.
    public func commit() {
        if storeFails {
            if writesFailedBatches { lateBatch = lateBatch ?? batchUnderWay }
            return failCommit()
        }
        guard let batch = batchUnderWay else { return }
        batchUnderWay = nil
        if let late = unwritten { store.commit(late) }
        unwritten = nil
        var failures: [FormFailure] = []
        if faults.contains(.answersBeforeCommit) {
            unwritten = batch
        } else {
            failures = store.commit(
                faults.contains(.losesIncrement) ? batch.withoutItsLastField : batch)
            onCommit(batch.without(failures))
        }
        run(.committed(batch: batch.number, failures: failures))
    }

    /// The store rejects all operations on these forms, except their deletion.
    public func refuseForms(_ names: Set<String>) { store.refusedForms = names }

    /// The store answers its fetches.
    public func answerFetches() {
        let fetches = fetchesUnderWay
        fetchesUnderWay = []
        for (id, query) in fetches { run(.fetched(id, store.answer(query))) }
    }

    /// The result of the batch in progress is unknown.
    public func failCommit(isWritten: Bool = false, reason: String = "disk full") {
        guard let batch = batchUnderWay else { return }
        batchUnderWay = nil
        if isWritten { store.commit(batch) }
        isStoreBroken = true
        run(.commitFailed(batch: batch.number, reason: reason))
    }

    /// A client that had stopped reading reads again.
    public func resumeReading(_ id: ConnectionID) {
        stopped.remove(id)
        slow.remove(id)
        if let output = writing.removeValue(forKey: id) {
            deliver(output, to: id)
            run(.wrote(id))
        }
        while write(id) {}
        settle()
    }

    private func write(_ id: ConnectionID) -> Bool {
        guard let output = engine.outbox(of: id).flatMap({ engine.nextOutput($0) }) else {
            if closing.remove(id) != nil { finishClosing(id) }
            return false
        }
        if slow.contains(id) {
            writing[id] = output
            return true
        }
        deliver(output, to: id)
        run(.wrote(id))
        return true
    }

    /// Passes a write's bytes to its client. They are read only now, as late as the kernel may.
    private func deliver(_ output: Output, to id: ConnectionID) {
        var bytes: [UInt8] = []
        for segment in output.segments {
            bytes += UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count)
        }
        for frame in inboxes[id]?.feed(bytes).frames ?? [] {
            let text = String(decoding: frame, as: UTF8.self)
            if faults.swallow(text, for: id) { continue }
            received[id, default: []].append(text)
        }
    }

    private func finishClosing(_ id: ConnectionID) {
        closed.append(id)
        inboxes[id] = nil
        writing[id] = nil
        run(.disconnected(id))
    }

    private func carryOut(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .persist(let batch):
                batchUnderWay = batch
                if !holdsCommits { commit() }
            case .rebuild(let image):
                rebuildAsked = true
                if rebuildWorks && !storeFails {
                    store.rebuild(image)
                    isStoreBroken = false
                    lateBatch = nil
                    replica =
                        image.takesNewReplicaID
                        ? ReplicaID(id: replica.id &+ 0x1000, epoch: 1)
                        : replica.nextEpoch ?? replica
                    run(.rebuilt(replica))
                } else {
                    run(.rebuildFailed(reason: "still full"))
                }
            case .fetch(let id, let query, _):
                if holdsFetches {
                    fetchesUnderWay.append((id, query))
                } else {
                    run(.fetched(id, store.answer(query)))
                }
            case .pauseReading(let id): paused.insert(id)
            case .resumeReading(let id): paused.remove(id)
            case .closeAfterOutput(let id):
                closing.insert(id)
                if !stopped.contains(id) { while write(id) {} }
            case .close(let id): finishClosing(id)
            case .log(let entry): log.append(entry)
            case .drained: isDrained = true
            }
        }
    }
}

extension Batch {
    /// The batch without the forms that failed.
    fileprivate func without(_ failures: [FormFailure]) -> Batch {
        if failures.isEmpty { return self }
        let failed = Set(failures.map(\.form))
        return Batch(
            number: number,
            operations: operations.filter { !($0.form.map(failed.contains) ?? false) })
    }
}

extension EngineHost {
    /// Changes the store behind the engine's back, which knows it after the next `crash`.
    public func edit(_ change: (inout ModelStore) -> Void) { change(&store) }
}
