/// The engine: sessions, transactions, subscriptions, undo, presence, quotas, access control.
///
/// It is a deterministic state machine without I/O. Events come in (`handle`, `received`), effects
/// go out, and the shell asks for bytes (`takeReady`, `nextOutput`). The same events at the same
/// times in the same environment give the same effects and bytes, so a simulation can be replayed
/// from its seed.
///
/// Invariants:
/// - No client learns of an edit before its batch is committed (`durability = commit`).
/// - The requests of one connection are answered in order. A read sees that connection's earlier
///   edits, and otherwise only committed state.
/// - Input from a peer affects only that peer and never crashes the daemon.
///
/// Confined to the loop: not `Sendable`, one owner.
public final class Engine {
    var configuration: EngineConfiguration
    let environment: Environment
    /// The current replica of the store, which is part of every dot.
    var replica: ReplicaID
    var clocks: Clocks

    var registry = FormRegistry()

    var connections = ConnectionTable<Connection>()
    let scheduler = Scheduler()
    /// The current time on the clock of `Moment.monotonicNanoseconds`, for measuring work. Without
    /// it no time is measured and only units count.
    public var stopwatch: (() -> UInt64)? { didSet { scheduler.measuresTime = stopwatch != nil } }
    /// Called for each transaction of silent writes alone, with its author, the newest revision and
    /// its dots. It is for simulations: such a transaction makes no revision, so nothing else shows
    /// its place in the order of transactions.
    package var onSilentWrite: ((Author, UInt64, [Dot]) -> Void)? {
        get { workspace.onSilentWrite }
        set { workspace.onSilentWrite = newValue }
    }

    var decoder: MessageDecoder
    var workspace: Workspace
    var link: StoreLink
    /// The link to the daemons of other hosts; `nil` if there is none.
    package var fleet: FleetLink?
    var effects = Effects()
    var counters = Counters()
    var lifecycle = ServiceLifecycle.serving

    /// Whether the daemon serves or stops.
    enum ServiceLifecycle: Equatable {
        case serving
        /// After `stop`: edits are no longer accepted; `drained` follows the last commit.
        case stopping(GoodbyeReason)
        case stopped(GoodbyeReason)

        /// The reason for clients that connect or edit while the daemon stops.
        var reasonToLeave: GoodbyeReason? {
            switch self {
            case .serving: nil
            case .stopping(let reason), .stopped(let reason): reason
            }
        }
    }

    /// Counters since the start.
    struct Counters {
        var connections: UInt64 = 0
        var requests: UInt64 = 0
        var transactions: UInt64 = 0
        var refused: UInt64 = 0
        var coalesced: UInt64 = 0
        var commits: UInt64 = 0
        var commitFailures: UInt64 = 0
        /// The total duration of commits, from sending a batch until it is durable.
        var commitNanoseconds: UInt64 = 0
    }

    /// An engine with the contents of a store.
    ///
    /// - Parameter newLogs: Every form starts a new log of revisions, because revisions that a
    ///   client saw may be missing in this store.
    /// - Throws: if a row cannot be decoded. The error names form and field.
    public init(
        configuration: EngineConfiguration, environment: Environment, replica: ReplicaID,
        image: StoreImage, newLogs: Bool, at now: Moment
    ) throws(EngineStartError) {
        self.configuration = configuration
        self.environment = environment
        self.replica = replica
        clocks = Clocks(
            at: now, kept: image.clock, notBefore: image.keys.lazy.map(\.at).max() ?? .min)
        scheduler.now = now.monotonicNanoseconds
        link = StoreLink(
            keys: KeyIndex(
                image.keys,
                secret: KeyHash.Secret(first: environment.random(), second: environment.random()),
                accountUID: environment.accountUID))
        workspace = Workspace(compile: environment.compile)
        decoder = MessageDecoder(bounds: RequestBounds(configuration.limits))
        try restore(image, newLogs: newLogs)
        joinFleet()
        // What was due while the daemon was away comes before the first request.
        if clocks.isDue() { meetDeadlines(atMost: .max) }
        link.mustCommitFirst = waitsForCommits && !link.gathering.changes.isEmpty
    }

    /// Breaks reference cycles. A form and its subscriptions reference each other, so that a
    /// deleted form lives until its last revisions are sent. So do an account and its waiting
    /// connections.
    deinit {
        for connection in connections.inOrder {
            connection.subscriptions.forEach { $0.form.removeSubscriptions() }
            connection.subscriptions = .none
        }
        for form in forms { form.removeSubscriptions() }
        scheduler.releaseConnections()
    }

    // MARK: - Events

    /// Processes an event and appends its effects.
    public func handle(_ input: Input, at now: Moment, into shell: inout [Effect]) {
        defer { effects.drain(into: &shell) }
        setTime(now)
        // Many connections may end together. What is due then is done once, at the next event:
        // each iteration of the loop ends with one.
        switch input {
        case .disconnected, .endOfStream: break
        default: meetDeadlines()
        }
        switch input {
        case .connected(let id, let peer): connect(id, peer)
        case .disconnected(let id):
            disconnect(id)
            endLongIteration()
        case .endOfStream(let id): endOfStream(id)
        case .wrote(let id): if let connection = connections[id] { wrote(connection) }
        case .committed(let batch, let failures):
            committed(batch, failures)
            endLongIteration()
        case .commitFailed(let batch, let reason): commitFailed(batch, reason)
        case .rebuilt(let replica): rebuilt(replica)
        case .rebuildFailed(let reason): rebuildFailed(reason)
        case .fetched(let id, let answer): fetched(id, answer)
        case .deadline: endLongIteration()
        case .turn: takeTurns()
        case .worked(let work, let nanoseconds): worked(work, nanoseconds)
        case .iterationEnded: endIteration()
        case .stop(let reason): stop(reason)
        case .apply(let definition, let file): apply(definition, file: file)
        case .configure(let configuration): configure(configuration)
        }
    }

    /// The time of the current event.
    var now: Moment { clocks.now }

    /// An event arrived at this time.
    func advance(to now: Moment) {
        setTime(now)
        meetDeadlines()
    }

    private func setTime(_ now: Moment) {
        clocks.now = now
        scheduler.now = now.monotonicNanoseconds
    }

    // MARK: - Forms

    var forms: [LiveForm] { registry.inOrder }

    /// Whether a form has or had a secure control.
    public var keepsSecrets: Bool { registry.keepsSecrets }

    /// The form with that name as edits see it, committed or not.
    package func form(named name: String) -> LiveForm? { registry.look(up: name) }

    func insert(_ form: LiveForm) {
        registry.insert(form)
        expectSecrets(of: form.working.definition)
    }

    // MARK: - Log

    func log(_ priority: LogEntry.Priority, _ message: String, _ fields: [LogEntry.Field] = []) {
        effects.log(LogEntry(priority, message, fields))
    }

    /// Writes the audit entry of an action before the action.
    /// - Throws: `unavailable` if the entry cannot be written. The action must not be performed
    ///   then.
    func audit(_ form: String, _ entry: LogEntry) throws(WireError) {
        guard environment.audit(entry) else {
            throw WireError(
                .unavailable,
                "this action must be logged first, and the log cannot be written; repair the "
                    + "daemon's standard error or journal", form: form)
        }
    }
}

/// Why an engine cannot be created from a store's rows.
public struct EngineStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line for people: which row, and what is wrong with it.
    public let description: String

    init(_ description: String) { self.description = description }
}

extension RequestBounds {
    /// The decoder's limits, a part of the daemon's.
    init(_ limits: Limits) {
        self.init()
        changesMax = limits.changesMax
        draftBytesMax = limits.draftBytesMax
        valuesMax = limits.requestValuesMax
        requestBatchMax = limits.requestBatchMax
    }
}
