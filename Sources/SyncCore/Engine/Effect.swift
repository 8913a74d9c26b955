/// The inputs and outputs of the engine: data only. The shell (DaemonCore) performs the effects,
/// the simulation imitates them.

/// The number of one read from the store.
public struct FetchID: Hashable, Sendable {
    public let number: UInt64

    /// The fetch with that number.
    public init(_ number: UInt64) { self.number = number }
}

/// Work outside of the engine whose time is charged to a user.
public enum TimedWork: Hashable, Sendable {
    /// Reading from or writing to a connection.
    case connection(ConnectionID)
    /// Reading from the store.
    case fetch(FetchID)
}

/// An event from outside. Bytes of a connection do not come as an event but through
/// `Engine.received`, which borrows them.
public enum Input: Sendable {
    /// A connection was accepted and its peer's names were looked up.
    case connected(ConnectionID, Peer)
    /// The peer is gone, or the shell closed the connection. Nothing more is sent to it.
    case disconnected(ConnectionID)
    /// The peer has shut down its writing side. It still reads.
    case endOfStream(ConnectionID)
    /// The write from `Engine.nextOutput` is complete. The next one can start.
    case wrote(ConnectionID)
    /// The batch is durable, except its changes to the forms in `failures`: none of those is.
    case committed(batch: UInt64, failures: [FormFailure] = [])
    /// The batch may or may not be durable, because the result of a failed fsync is unknown.
    /// `reason` is one line for the log.
    case commitFailed(batch: UInt64, reason: String)
    /// The store was rebuilt (`Effect.rebuild`) with a new replica.
    case rebuilt(ReplicaID)
    /// The store could not be rebuilt. The engine tries again later (`Effect.rebuild`).
    case rebuildFailed(reason: String)
    /// The result of a fetch.
    case fetched(FetchID, StoreAnswer)
    /// `Schedule.deadline` has passed.
    case deadline
    /// Starts the next turn of all accounts: once per iteration of the loop, before
    /// `iterationEnded`, if `Schedule.wantsTurn`.
    case turn
    /// Work for a user took this long.
    case worked(TimedWork, nanoseconds: UInt64)
    /// The last step of an iteration of the loop: starts a commit if possible.
    case iterationEnded
    /// The daemon stops: goodbye to all clients and a last batch. `Effect.drained` follows.
    case stop(GoodbyeReason)
    /// Applies a form file as the daemon's own uid (`--form`, SIGHUP). `file` is for the log.
    case apply(definition: JSON, file: String)
    /// New limits and options after a reload.
    case configure(EngineConfiguration)
}

/// Effects are performed in order.
public enum Effect: Sendable {
    /// Commit a batch, then send `Input.committed` or `.commitFailed`. At most one is in progress.
    /// An error in one form must not affect another: the store leaves a form out if it rejects any
    /// of its operations.
    case persist(Batch)
    /// Write the whole store again with a new replica (ARCHITECTURE.md, The life of an edit), then
    /// send `Input.rebuilt` or `.rebuildFailed`.
    case rebuild(StoreImage)
    /// Read from the store for the account of this uid, then send `Input.fetched`.
    case fetch(FetchID, StoreQuery, uid: UInt32)
    /// Stop reading this connection until `resumeReading`.
    case pauseReading(ConnectionID)
    case resumeReading(ConnectionID)
    /// Close the connection when everything from `nextOutput` is written.
    case closeAfterOutput(ConnectionID)
    /// Close at once.
    case close(ConnectionID)
    /// Write a log entry.
    case log(LogEntry)
    /// After `stop`: every edit is durable, and every goodbye is in `nextOutput`.
    case drained
}

/// Why the daemon says goodbye (PROTOCOL.md, All notifications).
public enum GoodbyeReason: String, Sendable, Hashable { case restart, shutdown, slow, policy }

/// When an edit is answered and published (PROTOCOL.md, What you can rely on, 4).
public enum Durability: String, Sendable, Hashable, CaseIterable {
    /// After fsync.
    case commit
    /// At once; written every 100 ms.
    case interval
    /// At once; written at a clean stop and from time to time.
    case memory
}

/// What the core needs from outside: randomness, patterns, encryption of secrets, figures of the
/// shell.
///
/// The engine calls these functions on the loop, so they must not block. Tests replace them with
/// deterministic ones.
public struct Environment: Sendable {
    /// 64 random bits, for example for log names.
    public var random: @Sendable () -> UInt64
    /// Compiles a `pattern` attribute.
    public var compile: PatternCompiler
    /// Encrypts a secret; `nil` if there is no key. `associated` binds the result to its field.
    public var seal: @Sendable (_ plaintext: [UInt8], _ associated: [UInt8]) -> [UInt8]?
    /// Decrypts the result of `seal`; `nil` if the key is another one or the bytes were changed.
    public var open: @Sendable (_ sealed: [UInt8], _ associated: [UInt8]) -> [UInt8]?
    /// A digest of a request, the same in every run, which the store keeps with its idempotency
    /// key. Requests contain secrets, and nobody must be able to test a guess with the digest, so
    /// the shell's function uses a key that is not in the store.
    public var digest: @Sendable (_ request: [UInt8]) -> UInt64
    /// The uid whose account a uid is charged to: for a subordinate uid (subuid(5)) the owner of
    /// its range, otherwise the uid itself.
    public var accountUID: @Sendable (_ uid: UInt32) -> UInt32
    /// Called once, before the first secret can arrive. From then on, freed memory must be cleared.
    public var keepMemoryClean: @Sendable () -> Void
    /// Writes an audit entry at once and returns whether it is written. If it is not, the action is
    /// rejected. The level and the limits of the log do not apply.
    public var audit: @Sendable (LogEntry) -> Bool
    /// The members of `server.status` that come from the shell: `memory`, `store`, `descriptors`.
    public var shellStatus: @Sendable () -> JSONObject
    /// Seals and opens what is sent to the daemons of other hosts; `nil` without a link.
    package var fleetKeys: LinkKeys?

    /// An environment of these functions.
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

/// The administrator's configuration of the engine.
public struct EngineConfiguration: Sendable {
    public var durability: Durability
    public var limits: Limits
    /// The name in `hello` and `server.status`: `pickersyncd/1.0.0`.
    public var serverName: String
    /// The daemon's own uid. Like root, it may create and administer all forms.
    public var daemonUID: UInt32
    /// Members of this group (`--group`) may also create forms.
    public var creatorsGID: UInt32?
    /// The forms that are shared with other hosts; `nil` for none.
    public var link: LinkConfiguration?

    /// A configuration of these options.
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
