/// What one user costs the daemon, and its share of the daemon's time.
///
/// Always holds: what is bounded by uid is counted here and nowhere else; the time of a loop
/// iteration is shared by uid, so that no number of connections and no flood of requests by one
/// takes it from another. An account lives from its first connection until the last has ended and
/// it owes nothing.
///
/// Two measures, since each alone can be fooled. *Units*, guesses of some microseconds, bound what
/// one turn does before others are looked at: whoever has used them up waits for the next turn with
/// all its connections; a request that took more than was left is paid off by the turns that follow
/// (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995). *Credit*, time as it was measured,
/// bounds what many turns take together: while somebody else is at work a uid has half of the time
/// at most, whatever its requests really cost, on the loop and in the store, and what reading and
/// writing its sockets costs with them.
final class Account {
    /// Units a turn while somebody else is at work: less than a round trip takes anyway, so that
    /// the others keep more than half of their time.
    static let contendedUnits = 16
    /// Units a turn for the only one at work: some milliseconds, so that timers and newcomers get
    /// their turn, and few enough turns that they cost nothing.
    static let loneUnits = 16_384
    /// Connections written to in a turn while somebody else is at work: each write takes some
    /// microseconds.
    static let contendedWrites = 6
    /// Subscribers of a form marked in a turn while somebody else is at work.
    static let contendedMarks = 128
    /// Reads of the store under way at once, for who is alone: one that the store does while the
    /// loop looks at another, and no queue that somebody who comes would have to wait for.
    static let fetchesMax = 2
    /// Bytes of notifications that are looked through for a page of history at once while somebody
    /// else is at work: reading them takes some fifty microseconds, as a turn does, and the others
    /// have theirs between.
    static let contendedHistoryBytes = 1 << 10
    /// Bytes of one page while several uids are at work: no commit of another waits for more.
    static let contendedPageBytes = 16 << 10
    /// Credit that a uid may save up (nanoseconds): what it may take at once, in turns.
    static let creditMax: Int64 = 1_000_000
    /// Nanoseconds that one request may hold the loop up without a rest.
    static let freeNanoseconds: UInt64 = 5_000_000
    /// Nanoseconds up to which a request makes the rest longer.
    static let longNanoseconds: UInt64 = 100_000_000
    /// Nanoseconds of an iteration after which no further request is begun in it.
    static let turnNanoseconds: UInt64 = 10_000_000
    /// The same while somebody else is at work.
    static let contendedTurnNanoseconds: UInt64 = 2_000_000
    /// Edits of one batch at most while somebody else is at work: a commit that is longer for them
    /// makes everybody wait (`Engine.batchEditsMax`).
    static let contendedEdits = 32

    /// The user; of subordinate uids the one whose they are.
    let uid: UInt32
    var connections = 0
    var subscriptions = 0
    /// Bytes of frames that have not come whole.
    var unfinishedBytes = 0
    /// Bytes of requests that wait, of answers that were not taken, and of writes under way that
    /// are nobody else's.
    var heldBytes = 0
    /// Units left of this turn; below 0 where a request took more.
    var unitsLeft = Account.contendedUnits
    /// Whether units of this turn were spent.
    var hasSpent = false
    /// Edits in the batch that gathers.
    var gatheredEdits = 0
    /// When its last edits were durable and it had no other on its way (monotonic nanoseconds);
    /// `nil` once it has edited again.
    var settledAt: UInt64?
    /// Nanoseconds after which it edited again then, on the average of late.
    var returnNanoseconds: UInt64 = 0
    /// Writes left of this turn, where somebody else is at work.
    var writesLeft = Account.contendedWrites
    /// Nanoseconds that it may take before others have had as many; below 0, it waits.
    var credit = Account.creditMax
    /// When credit was added last (monotonic nanoseconds).
    var creditAt: UInt64 = 0
    /// Until when nothing is done for it while others are connected (monotonic nanoseconds).
    var restsUntil: UInt64 = 0
    /// Audiences whose members are to be marked as ready.
    var audiences: [Audience] = []
    /// Subscriptions whose filters are to be tried on new names of their forms.
    var staleFilters = WaitingLine<Subscription>()
    /// Reads of the store that wait for a turn, and how many are under way.
    var fetchesWaiting = WaitingLine<(id: FetchID, query: StoreQuery)>()
    var fetchesUnderWay = 0
    /// Connections that have something to be written.
    var ready = WaitingLine<Connection>()
    /// Connections with a request whose turn it is not, in their order.
    private var waiting = WaitingLine<Connection>()

    init(uid: UInt32) {
        self.uid = uid
    }

    /// Whether a connection waits for the next turn.
    var hasWaitingRequests: Bool { !waiting.isEmpty }

    /// Whether something of it waits for a turn or for the store.
    var isWaiting: Bool {
        hasWaitingRequests || !ready.isEmpty || !audiences.isEmpty || !staleFilters.isEmpty
            || fetchesUnderWay > 0 || !fetchesWaiting.isEmpty
    }

    /// Puts a connection behind the others.
    func enqueue(_ connection: Connection) {
        guard !connection.isAwaitingTurn else { return }
        connection.isAwaitingTurn = true
        waiting.append(connection)
    }

    /// Lets go of the connections in its lines, which hold it: at the end of an engine.
    func letGo() {
        ready = WaitingLine()
        waiting = WaitingLine()
        staleFilters = WaitingLine()
        audiences = []
    }

    /// Takes the connection whose turn it is.
    func dequeue() -> Connection? {
        let next = waiting.takeFirst()
        next?.isAwaitingTurn = false
        return next
    }
}

/// What waits for its turn, in its order, taken from the front.
struct WaitingLine<Element> {
    private var elements: [Element] = []
    private var head = 0
    private static var keptMax: Int { 128 }

    var isEmpty: Bool { head == elements.count }

    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Takes so many from the front, or as many as there are, one after the other.
    mutating func take(_ wanted: Int, _ body: (Element) -> Void) {
        let end = min(head + wanted, elements.count)
        for place in head..<end { body(elements[place]) }
        head = end
        if head == elements.count {
            // Nearly every turn needs room for a few; that for thousands is given back.
            elements.removeAll(keepingCapacity: elements.capacity <= Self.keptMax)
            head = 0
        } else if head > 1024, head > elements.count / 2 {
            elements.removeFirst(head)
            head = 0
        }
    }

    /// Takes the first.
    mutating func takeFirst() -> Element? {
        var first: Element?
        take(1) { first = $0 }
        return first
    }
}

/// Bytes of chunks that a log has dropped, for as long as a write holds them.
final class RetainedBytes {
    var bytes = 0
}
