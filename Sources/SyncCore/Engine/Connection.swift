/// One client: what it said of itself, what it waits for, what it is owed.
///
/// Confined to the loop. A connection does one thing at a time: a request that has to wait for the
/// store holds back those behind it, so that each sees what the ones before it did.
///
///     idle ──edit──▶ idle (its answer waits in a slot)
///     idle ──read behind an edit of its own──▶ awaitingCommit ──committed──▶ idle
///     idle ──history, old `since`, old key──▶ awaitingFetch ──fetched──▶ idle
///     any ──frame too large, other protocol──▶ ending (nothing more is read)
final class Connection {
    /// What keeps the next request from being looked at.
    enum Progress: Equatable {
        case idle
        /// Until the connection's own edits are committed.
        case awaitingCommit
        /// Until the store has answered.
        case awaitingFetch(FetchID)
        /// What was answered leaves, then the connection is closed.
        case ending
    }

    /// A request that waits for its turn.
    enum Work {
        /// A frame's JSON text, not looked at yet.
        case frame([UInt8])
        /// One element of a batch, or a request that had to wait.
        case call(Request, RequestID?, AnswerTarget)
        /// A frame that is too large to be taken: what came before it is answered first.
        case frameTooLarge(UInt32)
    }

    // What a write looks at comes first, side by side: a fan-out finds none of it in the cache.
    var isReady = false
    var isWriting = false
    /// The farewell stands in the write under way: nothing may follow it.
    var hasLeave = false
    /// Whether the engine has been told of its end.
    var isGone = false
    /// The peer will send no more, or nothing more can be read.
    var isAtEnd = false
    var isReadingPaused = false
    /// Whether it stands among those whose turn is to come.
    var isAwaitingTurn = false
    /// Whether the log knows who this is.
    var isIntroduced = false
    /// What its uid costs, all its connections together.
    let account: Account
    /// See `Outbox.owner`.
    var owner: AnyObject?
    var subscriptions: [Subscription] = []
    var progress = Progress.idle
    var answers = AnswerQueue()
    /// Bytes of the write under way that no other connection shares.
    var writingBytes = 0
    /// Bytes of pages of the store that wait to be written to its subscriptions.
    var pageBytes = 0
    /// What it holds of the daemon's memory, as charged to its account.
    var heldBytes = 0
    /// Bytes of answers that wait for a commit.
    var pendingBytes = 0
    private(set) var inboxBytes = 0
    /// Calls whose turn comes before that of `arrived`; the next one is last.
    private var calls: [Work] = []
    /// Frames behind the request that waits, oldest first; those before `arrivedHead` are gone.
    private var arrived: [Work] = []
    private var arrivedHead = 0
    /// Where this connection stands in the log of the forms; `nil` unless it watches them.
    var catalogCursor: UInt64?
    /// The goodbye that follows the last notification; nothing else is answered any more.
    var farewell: [UInt8]?

    let id: ConnectionID
    let peer: Peer
    private var doings: Doings?

    var decoder: FrameDecoder
    /// Bytes of a frame that has not come whole, as charged to the uid.
    var unfinishedBytes = 0
    /// Edits of this connection that are not committed yet.
    var editsPending = 0
    /// The dots that this connection wrote itself, by form: it has seen them, whatever its token
    /// says.
    var ownDots: [FormKey: OwnDots] = [:]

    /// What those need who do more than watch: apart from the connection, as ten thousand may only
    /// watch.
    private final class Doings {
        var client: String?
        var tty: String?
        var session: String?
        /// Who writes, made once for what was said last.
        var author: Author?
        var backup: Int64?
        var draftRate = RateWindow()
        var refusalRate = RateWindow()
    }

    init(_ id: ConnectionID, peer: Peer, account: Account, frameBytesMax: Int) {
        self.id = id
        self.peer = peer
        self.account = account
        decoder = FrameDecoder(frameBytesMax: frameBytesMax)
    }

    private var active: Doings {
        if let doings { return doings }
        let made = Doings()
        doings = made
        return made
    }

    /// What the client calls itself (`hello`).
    var client: String? { doings?.client }
    /// The terminal that it claims (`hello`).
    var tty: String? { doings?.tty }
    /// Groups connections of one uid for undo (`hello`).
    var session: String? { doings?.session }

    /// Takes what the client says of itself.
    func greet(client: String, tty: String?, session: String?) {
        active.client = client
        active.tty = tty
        active.session = session
        active.author = nil
    }

    /// The copy of the store that it is being given (`server.backup`).
    var backup: Int64? {
        get { doings?.backup }
        set { active.backup = newValue }
    }

    /// Drafts sent within the current second.
    var draftRate: RateWindow {
        get { active.draftRate }
        set { active.draftRate = newValue }
    }

    /// Refusals told to the log within the current second.
    var refusalRate: RateWindow {
        get { active.refusalRate }
        set { active.refusalRate = newValue }
    }

    /// The subscription to a form, if there is one.
    func subscription(to form: LiveForm) -> Subscription? {
        subscriptions.first { $0.form === form }
    }

    /// Whether requests wait.
    var hasWork: Bool { !calls.isEmpty || arrivedHead < arrived.count }

    /// Whether a request whose turn it is may be looked at.
    var takesTurns: Bool { progress == .idle && !hasWork }

    /// Bytes of answers that the client has not taken, or that are still to become durable.
    var owedBytes: Int { answers.bytes + pendingBytes }

    /// Puts a frame behind everything that waits.
    func enqueue(frame: [UInt8]) {
        inboxBytes += frame.count
        arrived.append(.frame(frame))
    }

    /// Puts work that is no frame behind everything that waits.
    func enqueueLast(_ work: Work) {
        arrived.append(work)
    }

    /// Puts work before everything that waits.
    func enqueueFirst(_ work: [Work]) {
        calls += work.reversed()
    }

    /// Takes the work whose turn it is.
    func dequeue() -> Work? {
        if let call = calls.popLast() { return call }
        guard arrivedHead < arrived.count else { return nil }
        let work = arrived[arrivedHead]
        arrivedHead += 1
        if arrivedHead == arrived.count || arrivedHead > 1024 {
            arrived.removeFirst(arrivedHead)
            arrivedHead = 0
        }
        if case .frame(let bytes) = work { inboxBytes -= bytes.count }
        return work
    }

    /// Forgets all that waits; gives the calls among it, next first.
    func dropInbox() -> [Work] {
        defer {
            calls = []
            arrived = []
            arrivedHead = 0
            inboxBytes = 0
        }
        return calls.reversed()
    }

    /// Who writes, for the dots and the history; made once for what was said last.
    func author(replica: ReplicaID) -> Author {
        if let known = doings?.author, known.replica == replica { return known }
        let author = Author(
            user: peer.user, uid: peer.uid, client: client, tty: tty, connection: id.number,
            replica: replica
        ).withText()
        active.author = author
        return author
    }
}

/// Where an answer goes.
enum AnswerTarget {
    /// To its place in the connection's order.
    case slot(AnswerQueue.Slot)
    /// Into a batch's array, which leaves when all its elements are answered.
    case batch(BatchAnswer)
    /// Nowhere: a notification of JSON-RPC is never answered.
    case nowhere
}

/// The answer to a JSON-RPC batch, as far as it is known.
final class BatchAnswer {
    let slot: AnswerQueue.Slot
    private var waiting: Int
    private var responses: [[UInt8]] = []
    /// Bytes of the responses so far.
    private(set) var bytes = 0

    init(slot: AnswerQueue.Slot, requests: Int) {
        self.slot = slot
        waiting = requests
    }

    /// Adds a response (JSON text); gives the whole frame once the last one is there.
    func add(_ response: [UInt8]) -> [UInt8]? {
        responses.append(response)
        bytes += response.count + 1
        waiting -= 1
        guard waiting == 0 else { return nil }
        var text: [UInt8] = [UInt8(ascii: "[")]
        for (index, response) in responses.enumerated() {
            if index > 0 { text.append(UInt8(ascii: ",")) }
            text += response
        }
        text.append(UInt8(ascii: "]"))
        return Frame.encode(text: text)
    }
}

/// The writes of one connection to one form.
struct OwnDots {
    private(set) var context = CausalContext()
    /// Loose dots from which on those that nothing holds any more are looked for: that look is work
    /// for every field, so it comes once in as many writes as were kept by the last.
    private var pruneAt = 64

    /// Adds fresh writes. `held` gives what the form's stores hold.
    mutating func insert(_ dots: [Dot], held: () -> Set<Dot>) {
        for dot in dots { context.insert(dot) }
        guard context.loose.count >= pruneAt else { return }
        let held = held()
        context = context.prunedLoose(where: held.contains)
        pruneAt = max(64, 2 * context.loose.count)
    }
}

/// Counts events within a second of the monotonic clock.
struct RateWindow {
    private var startNanoseconds: UInt64 = 0
    private var count = 0

    /// Whether one more event stays within `max` a second; counts it where it does.
    mutating func admits(max: Int, at now: Moment) -> Bool {
        if now.monotonicNanoseconds &- startNanoseconds >= 1_000_000_000 {
            startNanoseconds = now.monotonicNanoseconds
            count = 0
        }
        guard count < max else { return false }
        count += 1
        return true
    }
}
