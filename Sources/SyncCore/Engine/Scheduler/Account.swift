/// The resource account of one user: what the user's connections hold, and the user's share of the
/// loop's time.
///
/// Invariants: everything that is bounded by uid is counted here and nowhere else. The time of a
/// loop iteration is shared by uid, so neither many connections nor a flood of requests by one uid
/// takes time from another. An account lives from the first connection of its uid until the last
/// one has ended and no work for it is left.
///
/// There are two measures, because each alone can be cheated. *Units* are estimates of a few
/// microseconds. They bound the work of one turn: a uid that has used its units waits for the next
/// turn with all its connections, and a request that took more units is paid off in the following
/// turns (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995). *Credit* is measured time. It
/// bounds the work of many turns: while another uid is active, a uid gets at most half of the time.
/// This includes the time in the store and the time to read and write its sockets.
///
/// The link has an account of its own, whichever user runs its bridge (`isLink`). Nobody here waits
/// for it as for an answer, so it makes no user contended. While any user is active, the link has
/// short turns and a small share of the time.
final class Account {
    /// Units per turn while another uid is active. They take less time than a round trip of a
    /// client, so the others keep more than half of their time.
    static let contendedUnits = 16
    /// Units per turn of the only active uid: a few milliseconds, so timers and new connections get
    /// their turn, and turns are rare enough that they cost nothing.
    static let loneUnits = 16_384
    /// Connections written to in a turn while another uid is active. Each write takes a few
    /// microseconds.
    static let contendedWrites = 6
    /// Subscribers of a form that are marked in a turn while another uid is active.
    static let contendedMarks = 128
    /// Concurrent store reads of the only active uid: the store does one while the loop handles
    /// another. More would make a queue that a new uid has to wait for.
    static let fetchesMax = 2
    /// Bytes of notifications that are searched at once for a page of history while another uid is
    /// active. Others get their turns in between.
    static let contendedHistoryBytes = 1 << 10
    /// Bytes of one page while several uids are active. A commit of another uid waits for at most
    /// one page.
    static let contendedPageBytes = 16 << 10
    /// The most credit that a uid can save (nanoseconds), that is, how much it can use at once.
    static let creditMax: Int64 = 1_000_000
    /// Nanoseconds that one request can block the loop before its uid has to rest.
    static let freeNanoseconds: UInt64 = 5_000_000
    /// The longest that one piece of work can take by itself (nanoseconds). Nobody pays for more,
    /// and the rest after a request grows with its duration up to this.
    static let longNanoseconds: UInt64 = 100_000_000
    /// After this many nanoseconds, an iteration starts no further request.
    static let turnNanoseconds: UInt64 = 5_000_000
    /// The same while another uid is active.
    static let contendedTurnNanoseconds: UInt64 = 2_000_000
    /// The most edits of one uid in a batch while another uid is active, because everybody waits
    /// for a long commit (`Scheduler.batchEditsMax`).
    static let contendedEdits = 32
    /// Units per turn of the link while a user is active: some ten joined changes.
    static let linkUnits = 64

    /// The user. For a subordinate uid, the uid of its owner.
    let uid: UInt32
    /// Whether it is the account of the link. No user has it.
    let isLink: Bool
    var connections = 0
    var subscriptions = 0
    /// Bytes of incomplete frames.
    var unfinishedBytes = 0
    /// Bytes of queued requests, of answers that clients have not read, and of writes in progress,
    /// except bytes that other users share.
    var heldBytes = 0
    /// Units left in this turn; below 0 after a request that took more.
    var unitsLeft = Account.contendedUnits
    /// Whether the account has spent units in this turn.
    var hasSpent = false
    var gatheredEdits = 0
    /// When its last edits became durable with no other edit pending (monotonic nanoseconds); `nil`
    /// once it has edited again.
    var settledAt: UInt64?
    /// The moving average of the time until it edits again (nanoseconds).
    var returnNanoseconds: UInt64 = 0
    /// Writes left in this turn, while another uid is active.
    var writesLeft = Account.contendedWrites
    /// Nanoseconds that it can use before the others have used as many. It waits while this is
    /// below 0.
    var credit = Account.creditMax
    /// It gets at most one part in so many of the time while others are active. After a cut, the
    /// link has much to read at once, and where hosts share processors, that delays their edits.
    var shares: Int64 { isLink ? 8 : 2 }
    /// When credit was last added (monotonic nanoseconds).
    var creditAt: UInt64 = 0
    /// While others are connected, it is not served before this moment (monotonic nanoseconds).
    var restsUntil: UInt64 = 0
    /// Audiences whose members must be marked as ready.
    var audiences: [Audience] = []
    /// Subscriptions whose filters must be matched against new field names of their forms.
    var staleFilters = Queue<Subscription>()
    /// Store reads that wait for a turn, and the number of those in progress.
    var fetchesWaiting = Queue<(id: FetchID, query: StoreQuery)>()
    var fetchesUnderWay = 0
    var ready = Queue<Connection>()
    /// Connections with a request that waits for its turn, in order.
    private var waiting = Queue<Connection>()

    init(uid: UInt32, isLink: Bool = false) {
        self.uid = uid
        self.isLink = isLink
    }

    /// Whether a connection waits for the next turn.
    var hasWaitingRequests: Bool { !waiting.isEmpty }

    /// Whether anything of the account waits for a turn or for the store.
    var isWaiting: Bool {
        hasWaitingRequests || !ready.isEmpty || !audiences.isEmpty || !staleFilters.isEmpty
            || fetchesUnderWay > 0 || !fetchesWaiting.isEmpty
    }

    /// Adds a connection to the end of the queue.
    func enqueue(_ connection: Connection) {
        guard !connection.isAwaitingTurn else { return }
        connection.isAwaitingTurn = true
        waiting.append(connection)
    }

    /// Releases the connections in the queues, which hold references to the account. Called when
    /// the engine ends.
    func releaseConnections() {
        ready = Queue()
        waiting = Queue()
        staleFilters = Queue()
        audiences = []
    }

    /// Removes the connection whose turn it is from the queue.
    func dequeue() -> Connection? {
        let next = waiting.takeFirst()
        next?.isAwaitingTurn = false
        return next
    }
}
