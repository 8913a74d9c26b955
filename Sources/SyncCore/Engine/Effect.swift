/// What the engine is told, and what it wants done. Data alone: the shell (DaemonCore) does it, the
/// simulation pretends to.

/// Names one read that the store was asked for.
public struct FetchID: Hashable, Sendable {
    public let number: UInt64

    /// The fetch of that number.
    public init(_ number: UInt64) {
        self.number = number
    }
}

/// An event from outside. Bytes of a connection come by `Engine.received`, which borrows them.
public enum Input: Sendable {
    /// A connection was accepted and its peer's names were looked up.
    case connected(ConnectionID, Peer)
    /// The peer is gone, or the shell closed the connection: nothing more is sent to it.
    case disconnected(ConnectionID)
    /// The peer will send no more (it shut down its writing side); it still reads.
    case endOfStream(ConnectionID)
    /// The write that `Engine.nextOutput` gave has left; the next may be asked for.
    case wrote(ConnectionID)
    /// The batch is durable, but for what it does to the forms in `failures`: of those nothing is.
    case committed(batch: UInt64, failures: [FormFailure] = [])
    /// The batch may or may not be durable: a failed fsync means unknown. One line for the log.
    case commitFailed(batch: UInt64, reason: String)
    /// The store was written anew from `Effect.rebuild` under a new replica epoch.
    case rebuilt(ReplicaID)
    /// It could not be written anew; `Effect.rebuild` comes again after a while.
    case rebuildFailed(reason: String)
    /// The store answers a fetch.
    case fetched(FetchID, StoreAnswer)
    /// `Engine.nextDeadline` has passed.
    case deadline
    /// Everybody's share of the daemon's time begins anew: once an iteration of the loop, before
    /// `iterationEnded`, where `Engine.wantsTurn`.
    case turn
    /// The last step of an iteration of the loop: gathers edits into a batch.
    case iterationEnded
    /// The daemon stops: goodbye to everybody, and a last batch. `Effect.drained` follows.
    case stop(GoodbyeReason)
    /// Applies a form file as the daemon's own uid (`--form`, SIGHUP); `file` is for the log.
    case apply(definition: JSON, file: String)
    /// New bounds and choices after a reload.
    case configure(EngineConfiguration)
}

/// What is to be done, in order.
public enum Effect: Sendable {
    /// Commit, then `Input.committed` or `.commitFailed`. At most one is under way. What one form
    /// asks for must not fail another's: a form whose part the store refuses is left out, whole.
    case persist(Batch)
    /// Write the whole store anew under a new epoch (ARCHITECTURE.md, The life of an edit),
    /// then `Input.rebuilt` or `.rebuildFailed`.
    case rebuild(StoreImage)
    /// Read, then `Input.fetched`.
    case fetch(FetchID, StoreQuery)
    /// Take no more bytes from this connection until told.
    case pauseReading(ConnectionID)
    case resumeReading(ConnectionID)
    /// Close once everything that `nextOutput` gives has left.
    case closeAfterOutput(ConnectionID)
    /// Close at once.
    case close(ConnectionID)
    /// A line for the log.
    case log(LogEntry)
    /// After `stop`: every edit is durable and every goodbye stands in `nextOutput`.
    case drained
}

/// Why the daemon says goodbye (PROTOCOL.md, All notifications).
public enum GoodbyeReason: String, Sendable, Hashable {
    case restart, shutdown, slow, policy
}

/// How durable an edit is before anybody hears of it (PROTOCOL.md, What you can rely on, 4).
public enum Durability: String, Sendable, Hashable, CaseIterable {
    /// Answered and broadcast after fsync.
    case commit
    /// Answered and broadcast at once, written every 100 ms.
    case interval
    /// Answered and broadcast at once, written at a clean stop and from time to time.
    case memory
}

/// What the core cannot have of its own: randomness, patterns, the sealing of secrets, the shell's
/// figures.
///
/// Each is called on the loop, must not block, and is replaced by a deterministic one in tests.
public struct Environment: Sendable {
    /// 64 random bits: log names and the like.
    public var random: @Sendable () -> UInt64
    /// Compiles a `pattern` attribute.
    public var compile: PatternCompiler
    /// Seals a secret; `nil` where no key is to be had. `associated` binds it to its place.
    public var seal: @Sendable (_ plaintext: [UInt8], _ associated: [UInt8]) -> [UInt8]?
    /// Opens what `seal` made; `nil` where the key is another or the bytes were altered.
    public var open: @Sendable (_ sealed: [UInt8], _ associated: [UInt8]) -> [UInt8]?
    /// A digest of a request, the same in every run, that the store keeps beside its idempotency
    /// key. Requests carry secrets, and the digest must not tell whether a guess of one is right:
    /// the shell's depends on a key that is not in the store.
    public var digest: @Sendable (_ request: [UInt8]) -> UInt64
    /// The uid that a uid's use is counted to: of a subordinate uid (subuid(5)) that of the user
    /// whose range it is in, of every other itself.
    public var accountUID: @Sendable (_ uid: UInt32) -> UInt32
    /// Called once, before the first secret can come: from then on nothing that is freed may keep
    /// its bytes.
    public var keepMemoryClean: @Sendable () -> Void
    /// Writes an audit line at once, and says whether it is written: the act that it tells of is
    /// done after it, or refused. Neither the level of the log nor its bounds hold it back.
    public var audit: @Sendable (LogEntry) -> Bool
    /// The members of `server.status` that the shell knows: `memory`, `store`, `descriptors`.
    public var shellStatus: @Sendable () -> JSONObject

    /// The given functions.
    public init(
        random: @escaping @Sendable () -> UInt64, compile: @escaping PatternCompiler,
        seal: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]?,
        open: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8]?,
        digest: @escaping @Sendable ([UInt8]) -> UInt64,
        audit: @escaping @Sendable (LogEntry) -> Bool,
        accountUID: @escaping @Sendable (UInt32) -> UInt32 = { $0 },
        keepMemoryClean: @escaping @Sendable () -> Void = {},
        shellStatus: @escaping @Sendable () -> JSONObject = { JSONObject() }
    ) {
        self.random = random
        self.compile = compile
        self.seal = seal
        self.open = open
        self.digest = digest
        self.audit = audit
        self.accountUID = accountUID
        self.keepMemoryClean = keepMemoryClean
        self.shellStatus = shellStatus
    }
}

/// What an administrator chose.
public struct EngineConfiguration: Sendable {
    public var durability: Durability
    public var limits: Limits
    /// Shown by `hello` and `server.status`: `pickersyncd/1.0.0`.
    public var serverName: String
    /// The daemon's own uid: may create forms and administer all of them, as root may.
    public var daemonUID: UInt32
    /// Members of this group (`--group`) may create forms too.
    public var creatorsGID: UInt32?

    /// The given choices.
    public init(
        durability: Durability = .commit, limits: Limits = Limits(), serverName: String,
        daemonUID: UInt32, creatorsGID: UInt32? = nil
    ) {
        self.durability = durability
        self.limits = limits
        self.serverName = serverName
        self.daemonUID = daemonUID
        self.creatorsGID = creatorsGID
    }
}
