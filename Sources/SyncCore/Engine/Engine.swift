/// The daemon's mind: sessions, transactions, subscriptions, undo, presence, quotas, access.
///
/// A deterministic machine without I/O: events come in (`handle`, `received`), effects go out,
/// bytes are asked for (`takeReady`, `nextOutput`). The same events at the same moments with the
/// same environment give the same effects and bytes, so that a simulation replays from its seed.
///
/// Always holds:
/// - nobody is told of an edit before its batch is committed (`durability = commit`);
/// - requests of one connection are answered in order, and a read sees that connection's earlier
///   edits and nothing that is not committed;
/// - what a peer sends is an effect on that peer alone, never a trap.
///
/// Confined to the loop: not `Sendable`, one owner.
public final class Engine {
    var configuration: EngineConfiguration
    let environment: Environment
    /// The store incarnation that writes are named by.
    var replica: ReplicaID
    var clock: HybridLogicalClock

    private var registry = FormRegistry()
    /// Forms in the order in which they were created.
    var forms: [LiveForm] { registry.inOrder }
    var nextFormKey: FormKey = 1
    /// Definitions that changed, for those who watch the list of forms.
    var catalog = Catalog()
    var catalogWatchers: [Connection] = []

    var connections = ConnectionTable<Connection>()
    /// By uid; of those who are connected, and of those who went and owe something.
    var accounts: [UInt32: Account] = [:]
    /// Accounts with a connection.
    var usersConnected = 0
    /// Whose request was done last, and until when more than one uid counts as at work (monotonic
    /// nanoseconds). Let go of as its last connection ends: a weak reference would make every
    /// retain of an account a slow one.
    var atWork: Account?
    var contendedUntil: UInt64 = 0
    /// Accounts that have spent of this turn or are in debt, in the order in which they began to.
    var spenders: [Account] = []
    /// Those whose turn it is; empty between turns, and kept for its room.
    var takingTurns: [Account] = []
    /// Nanoseconds on the clock of `Moment.monotonicNanoseconds`, read at each call: what work
    /// took. Without one, as in a simulation, nobody's time is measured and units alone count.
    public var stopwatch: (() -> UInt64)?
    /// Called for each transaction of silent writes alone, with its author, the newest revision and
    /// its dots. It is for simulations: such a transaction makes no revision, so its place among
    /// the others is seen nowhere else.
    package var onAffirmation: ((Author, UInt64, [Dot]) -> Void)?
    /// Accounts with edits in the batch that gathers.
    var editors: [Account] = []
    /// Those of the batch under way, each with its part of it in thousandths.
    var committers: [(account: Account, part: UInt64)] = []
    /// Those who were in the last commit and may soon be back, and until when the batch that
    /// gathers waits for them (monotonic nanoseconds).
    var awaited: [Account] = []
    var awaitedUntil: UInt64 = 0
    /// How long a commit takes, on the average of late, while more than one uid is at work.
    var commitNanoseconds: UInt64 = 0
    /// Whether some form has, or had, a secure control.
    public internal(set) var keepsSecrets = false
    /// Accounts that hold more of the memory than they may.
    var overfull: [Account] = []
    /// What stalled writes hold of the change logs.
    let retained = RetainedBytes()
    /// Forms with changes whose subscribers have not been marked as ready.
    var news: [LiveForm] = []
    /// Accounts with connections that have something to be written, in the order in which they
    /// got it.
    var readyAccounts: [Account] = []

    /// Steps that patterns take, and what the definitions of forms are compiled with to count them.
    let patternMeter = PatternMeter()
    let compile: PatternCompiler
    var decoder: MessageDecoder
    var writer = JSONWriter()
    var keys: KeyIndex
    var batches = BatchQueue()
    var health = StoreHealth.healthy
    /// What was told of batches that failed, until the store is written anew.
    var unwritten = Unwritten()
    /// The store that is to be written anew, while it could not be.
    var rewriting: Rewriting?
    /// When a batch was sent last (monotonic nanoseconds).
    var lastWriteNanoseconds: UInt64 = 0
    /// When to look for what has expired (monotonic nanoseconds).
    var choresAt: UInt64 = 0
    /// When that was done last (milliseconds of the steady clock).
    var choresSteady: Int64 = 0
    /// The number of the newest internal error that the log tells of (`data.report`).
    var lastReport: Int64 = 0
    var fetches: [FetchID: Fetch] = [:]
    /// Whom the time of a fetch is charged to.
    var fetchers: [FetchID: Account] = [:]
    var nextFetch: UInt64 = 1
    /// Connections whose next request waits for a commit.
    var awaitingCommit: [Connection] = []
    /// Connections that are let go because keeping up with them would cost without bound.
    var tooSlow: [Connection] = []
    /// Connections that hold what nobody else needs any more; cut off at the iteration's end.
    var stalledOff: [Connection] = []
    /// Lines for the log from where no effects can be given out.
    var pendingLog: [LogEntry] = []
    var counters = Counters()
    var lifecycle = ServiceLifecycle.serving
    let startedAt: Moment
    var now: Moment
    /// How late it is for what is kept by age.
    var steady: SteadyClock

    /// Whether the daemon serves, or is on its way out.
    enum ServiceLifecycle: Equatable {
        case serving
        /// `stop` came: no edit is taken any more; `drained` follows the last commit.
        case stopping(GoodbyeReason)
        case stopped(GoodbyeReason)

        /// What a client is told that comes, or edits, while the daemon goes.
        var reasonToLeave: GoodbyeReason? {
            switch self {
            case .serving: nil
            case .stopping(let reason), .stopped(let reason): reason
            }
        }
    }

    /// What the engine is for, counted since the start.
    struct Counters {
        var connections: UInt64 = 0
        var requests: UInt64 = 0
        var transactions: UInt64 = 0
        var refused: UInt64 = 0
        var coalesced: UInt64 = 0
        var commits: UInt64 = 0
        var commitFailures: UInt64 = 0
        /// How long commits took in all, from the batch's leaving to its being durable.
        var commitNanoseconds: UInt64 = 0
    }

    /// An engine over what a store holds.
    ///
    /// - Parameter newLogs: Every form begins a new line of revisions: revisions that somebody saw
    ///   may be missing from this store.
    /// - Throws: where a row cannot be decoded: form and field are named.
    public init(
        configuration: EngineConfiguration, environment: Environment, replica: ReplicaID,
        image: StoreImage, newLogs: Bool, at now: Moment
    ) throws(EngineStartError) {
        self.configuration = configuration
        self.environment = environment
        self.replica = replica
        self.now = now
        startedAt = now
        clock = HybridLogicalClock(after: SteadyClock.stamp(in: image.clock))
        steady = SteadyClock(
            at: now, kept: image.clock, notBefore: image.keys.lazy.map(\.at).max() ?? .min)
        keys = KeyIndex(
            image.keys,
            secret: KeyHash.Secret(first: environment.random(), second: environment.random()),
            accountUID: environment.accountUID)
        let (meter, compilePattern) = (patternMeter, environment.compile)
        compile = { pattern in compilePattern(pattern).map { $0.metered(meter) } }
        decoder = MessageDecoder(bounds: RequestBounds(configuration.limits))
        try restore(image, newLogs: newLogs)
    }

    /// A form and its subscriptions hold each other, so that a deleted form lives until its last
    /// revisions are written, and so do a user and the connections that wait for a turn; an engine
    /// that is given up cuts them apart.
    deinit {
        for connection in connections.inOrder {
            connection.subscriptions.forEach { $0.form.removeSubscriptions() }
            connection.subscriptions = .none
        }
        for form in forms { form.removeSubscriptions() }
        // Of those who are connected, and of those who went since the last turn.
        for account in accounts.values { account.letGo() }
        for account in readyAccounts + spenders { account.letGo() }
    }

    // MARK: - Events

    /// Takes an event and appends what is to be done.
    public func handle(_ input: Input, at now: Moment, into effects: inout [Effect]) {
        self.now = now
        switch input {
        case .connected(let id, let peer): connect(id, peer, &effects)
        case .disconnected(let id): disconnect(id, &effects)
        case .endOfStream(let id): endOfStream(id, &effects)
        case .wrote(let id): if let connection = connections[id] { wrote(connection, &effects) }
        case .committed(let batch, let failures): committed(batch, failures, &effects)
        case .commitFailed(let batch, let reason): commitFailed(batch, reason, &effects)
        case .rebuilt(let replica): rebuilt(replica, &effects)
        case .rebuildFailed(let reason): rebuildFailed(reason, &effects)
        case .fetched(let id, let answer): fetched(id, answer, &effects)
        case .deadline: break
        case .turn: takeTurns(&effects)
        case .iterationEnded: endIteration(&effects)
        case .stop(let reason): stop(reason, &effects)
        case .apply(let definition, let file): apply(definition, file: file, &effects)
        case .configure(let configuration): configure(configuration, &effects)
        }
    }

    // MARK: - Forms by name

    /// The form of that name as edits see it, committed or not.
    func form(named name: String) -> LiveForm? { registry.look(up: name) }

    /// Takes a form in.
    func insert(_ form: LiveForm) {
        registry.insert(form)
        expectSecrets(of: form.working.definition)
    }

    /// Takes a form out.
    func remove(_ form: LiveForm) { registry.remove(form) }

    // MARK: - Log

    /// Appends a line for the log.
    func log(
        _ priority: LogEntry.Priority, _ message: String, _ effects: inout [Effect],
        _ fields: [LogEntry.Field] = []
    ) {
        effects.append(.log(LogEntry(priority, message, fields)))
    }

    /// Writes the audit line of an act that is about to be done.
    /// - Throws: `unavailable` where it cannot be written; the act must not be done then.
    func audit(_ form: String, _ entry: LogEntry) throws(WireError) {
        guard environment.audit(entry) else {
            throw WireError(
                .unavailable,
                "this leaves a line in the log, and the log takes none; mend the daemon's standard "
                    + "error or journal", form: form)
        }
    }
}

/// Why an engine cannot start from a store's rows.
public struct EngineStartError: Error, Hashable, Sendable, CustomStringConvertible {
    /// One line for a person: which row, what is wrong with it.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}

extension RequestBounds {
    /// The decoder's bounds out of the daemon's.
    init(_ limits: Limits) {
        self.init()
        changesMax = limits.changesMax
        draftBytesMax = limits.draftBytesMax
        requestBatchMax = limits.requestBatchMax
    }
}
