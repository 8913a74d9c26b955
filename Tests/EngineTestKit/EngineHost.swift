public import SyncCore

/// An engine with a store in memory, clients whose bytes are decoded, and time as a plain number.
///
/// Nothing happens by itself: `send` hands bytes in, `settle` runs iterations until nothing is left
/// to do. With `holdsCommits` a batch stays under way until `commit` or `failCommit`.
public final class EngineHost {
    public private(set) var engine: Engine
    public private(set) var store = ModelStore()
    public private(set) var configuration: EngineConfiguration
    public let environment: Environment
    /// Milliseconds since 1970 and since the start.
    public var milliseconds: Int64 = 1_795_000_000_000
    public private(set) var replica = ReplicaID(id: 0x3f9a, epoch: 1)
    /// Batches stay under way until the test says how they end.
    public var holdsCommits = false
    /// Reads of the store wait until `answerFetches`.
    public var holdsFetches = false
    private var heldFetches: [(FetchID, StoreQuery)] = []
    /// Connections that take no bytes.
    public var stopped: Set<ConnectionID> = []
    public private(set) var batchUnderWay: Batch?
    public private(set) var log: [LogEntry] = []
    public private(set) var closed: [ConnectionID] = []
    public private(set) var paused: Set<ConnectionID> = []
    public private(set) var isDrained = false
    public private(set) var rebuildAsked = false
    /// Whether a rebuild succeeds.
    public var rebuildWorks = true

    private var inboxes: [ConnectionID: FrameDecoder] = [:]
    /// Frames that each client got, as JSON text, oldest first.
    public private(set) var received: [ConnectionID: [String]] = [:]
    private var closing: Set<ConnectionID> = []
    private var nextConnection: UInt64 = 1

    /// A host with an empty store.
    public init(
        durability: Durability = .commit, limits: Limits = Limits(), seed: UInt64 = 1,
        compile: @escaping PatternCompiler = { _ in .success(PatternMatcher { _ in true }) }
    ) throws {
        configuration = EngineConfiguration(
            durability: durability, limits: limits, serverName: "pickersyncd/test", daemonUID: 900)
        environment = .forTests(seed: seed, compile: compile)
        engine = try Engine(
            configuration: configuration, environment: environment, replica: replica,
            image: StoreImage(), newLogs: false, at: Self.moment(milliseconds))
    }

    private static func moment(_ milliseconds: Int64) -> Moment {
        Moment(
            wallMilliseconds: milliseconds,
            monotonicNanoseconds: UInt64(milliseconds - 1_790_000_000_000) * 1_000_000)
    }

    private var now: Moment { Self.moment(milliseconds) }

    // MARK: - Life

    /// The daemon is killed: what was not committed is lost, every client is cut off; then it is
    /// started again over what the store has.
    public func crash(newEpoch: Bool = false, newLogs: Bool = false) throws {
        batchUnderWay = nil
        heldFetches = []
        inboxes = [:]
        closing = []
        paused = []
        stopped = []
        if newEpoch { replica = replica.nextEpoch ?? replica }
        engine = try Engine(
            configuration: configuration, environment: environment, replica: replica,
            image: store.image(), newLogs: newLogs, at: now)
    }

    /// A client connects.
    public func connect(
        uid: UInt32 = 1000, user: String = "alice", groups: [UInt32] = [],
        groupNames: [String] = []
    ) -> ConnectionID {
        let id = ConnectionID(nextConnection)
        nextConnection += 1
        inboxes[id] = FrameDecoder()
        received[id] = []
        run(
            .connected(
                id,
                Peer(
                    pid: Int32(1000 + id.number), uid: uid, gid: uid, groups: groups, user: user,
                    groupNames: groupNames)))
        return id
    }

    /// A client vanishes.
    public func disconnect(_ id: ConnectionID) {
        inboxes[id] = nil
        run(.disconnected(id))
    }

    // MARK: - Bytes

    /// Hands a JSON text in as one frame.
    public func send(_ id: ConnectionID, _ text: String) {
        sendBytes(id, Frame.encode(text: Array(text.utf8)))
    }

    /// Hands raw bytes in.
    public func sendBytes(_ id: ConnectionID, _ bytes: [UInt8]) {
        var effects: [Effect] = []
        bytes.withUnsafeBytes { engine.received(id, $0, at: now, into: &effects) }
        carryOut(effects)
    }

    /// Sends a request and gives what the client has got when nothing is left to do.
    @discardableResult
    public func call(_ id: ConnectionID, _ request: Request, as number: Int64 = 1) -> [String] {
        let before = received[id]?.count ?? 0
        sendBytes(id, request.frame(id: RequestID(number)))
        settle()
        return Array((received[id] ?? []).dropFirst(before))
    }

    /// Sends a JSON-RPC request as text and gives the frames that came.
    @discardableResult
    public func ask(_ id: ConnectionID, _ text: String) -> [String] {
        let before = received[id]?.count ?? 0
        send(id, text)
        settle()
        return Array((received[id] ?? []).dropFirst(before))
    }

    /// Takes the frames that a client got so far.
    public func take(_ id: ConnectionID) -> [String] {
        defer { received[id] = [] }
        return received[id] ?? []
    }

    // MARK: - Steps

    /// Hands an event in and carries its effects out.
    public func run(_ input: Input) {
        var effects: [Effect] = []
        engine.handle(input, at: now, into: &effects)
        carryOut(effects)
    }

    /// One iteration of the loop; whether anything happened.
    @discardableResult
    public func iterate() -> Bool {
        run(.iterationEnded)
        var didWrite = false
        for id in engine.takeReady() where !stopped.contains(id) {
            didWrite = write(id) || didWrite
        }
        return didWrite
    }

    /// Runs until nothing is left to do but what the test holds back.
    public func settle() {
        for _ in 0..<10_000 where !iterate() && (batchUnderWay == nil || holdsCommits) { return }
    }

    /// Lets time pass.
    public func pass(milliseconds: Int64) {
        self.milliseconds += milliseconds
        run(.deadline)
        settle()
    }

    /// The batch under way is durable.
    public func commit() {
        guard let batch = batchUnderWay else { return }
        batchUnderWay = nil
        store.commit(batch)
        run(.committed(batch: batch.number))
    }

    /// The batch under way may or may not be durable.
    public func failCommit(isWritten: Bool = false, reason: String = "disk full") {
        guard let batch = batchUnderWay else { return }
        batchUnderWay = nil
        if isWritten { store.commit(batch) }
        run(.commitFailed(batch: batch.number, reason: reason))
    }

    /// A client that had stopped reading takes bytes again.
    public func resumeReading(_ id: ConnectionID) {
        stopped.remove(id)
        while write(id) {}
        settle()
    }

    /// The store answers what it was asked so far.
    public func answerFetches() {
        let held = heldFetches
        heldFetches = []
        for (id, query) in held { run(.fetched(id, store.answer(query))) }
    }

    private func write(_ id: ConnectionID) -> Bool {
        guard let output = engine.nextOutput(id) else {
            if closing.remove(id) != nil { finishClosing(id) }
            return false
        }
        var bytes: [UInt8] = []
        for segment in output.segments {
            bytes += UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count)
        }
        for frame in inboxes[id]?.feed(bytes).frames ?? [] {
            received[id, default: []].append(String(decoding: frame, as: UTF8.self))
        }
        run(.wrote(id))
        return true
    }

    private func finishClosing(_ id: ConnectionID) {
        closed.append(id)
        inboxes[id] = nil
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
                if rebuildWorks {
                    store.rebuild(image)
                    replica = replica.nextEpoch ?? replica
                    run(.rebuilt(replica))
                } else {
                    run(.rebuildFailed(reason: "still full"))
                }
            case .fetch(let id, let query):
                if holdsFetches {
                    heldFetches.append((id, query))
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

extension Environment {
    /// Deterministic randomness, and a seal that is none but checks its place.
    public static func forTests(
        seed: UInt64, compile: @escaping PatternCompiler
    ) -> Environment {
        let random = SharedRandom(seed: seed)
        return Environment(
            random: { random.next() }, compile: compile,
            seal: { plain, place in
                [UInt8(truncatingIfNeeded: place.count)] + place + plain.map { ~$0 }
            },
            open: { sealed, place in
                guard sealed.first == UInt8(truncatingIfNeeded: place.count),
                    sealed.dropFirst().starts(with: place)
                else { return nil }
                return sealed.dropFirst(1 + place.count).map { ~$0 }
            })
    }
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
public struct SplitMix64: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// A generator that gives the same numbers for the same seed.
    public init(seed: UInt64) {
        state = seed
    }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

/// Randomness that a `@Sendable` function may use.
// Confined to one test's host, which is used from one thread at a time.
private final class SharedRandom: @unchecked Sendable {
    private var generator: SplitMix64

    init(seed: UInt64) {
        generator = SplitMix64(seed: seed)
    }

    func next() -> UInt64 { generator.next() }
}
