/// One client: what it said of itself, what it waits for, what it is owed.
///
/// Confined to the loop. A connection does one thing at a time: a request that has to wait for the
/// store holds back those behind it, so that each sees what the ones before it did.
///
///     idle ──edit──▶ idle (its answer waits in a slot)
///     idle ──read behind an edit of its own──▶ awaitingCommit ──committed──▶ idle
///     idle ──history, old `since`, old key──▶ awaitingFetch ──fetched──▶ idle
///     any ──frame too large, other protocol──▶ ending (nothing more is read)
final class Connection: ConnectionKeeper {
    /// What keeps the next request from being looked at.
    enum Progress {
        case idle
        /// Until the connection's own edits are committed.
        case awaitingCommit
        /// Until the store has answered `awaitedFetch`.
        case awaitingFetch
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

    // What a write looks at comes first, side by side: a fan-out finds none of it in the cache. The
    // order leaves no room between the members: there may be ten thousand (IdleConnectionTests).

    /// What its uid costs, all its connections together.
    let account: Account
    /// See `Outbox.owner`.
    var owner: AnyObject?
    var subscriptions = SubscriptionList.none
    var decoder: FrameDecoder
    private(set) var progress = Progress.idle
    /// Whether the log knows who this is.
    var isIntroduced = false
    private let pid: Int32
    var answers = AnswerQueue()
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
    /// Bytes of the write under way that no other connection shares.
    var writingBytes = 0
    /// What it holds of the daemon's memory, as charged to its account.
    var heldBytes = 0
    let id: ConnectionID
    private let identity: Peer.Identity
    var clientState: ClientState?

    init(_ id: ConnectionID, peer: Peer, account: Account, frameBytesMax: Int) {
        self.id = id
        self.account = account
        pid = peer.pid
        identity = peer.identity
        decoder = FrameDecoder(frameBytesMax: frameBytesMax)
    }

    /// Who is at the other end.
    var peer: Peer { Peer(pid: pid, identity) }

    /// What it waits for is there, or it begins to wait for another thing.
    func advance(to next: Progress) {
        progress = next
        clientState?.activity?.awaitedFetch = nil
    }

    /// The next request waits for the store.
    func await(_ fetch: FetchID) {
        progress = .awaitingFetch
        activity.awaitedFetch = fetch
    }

    /// The answer of the store that its next request waits for.
    var awaitedFetch: FetchID? { clientState?.activity?.awaitedFetch }

    /// The subscription to a form, if there is one.
    func subscription(to form: LiveForm) -> Subscription? {
        subscriptions.first { $0.form === form }
    }

    /// Whether nothing waits, nothing is held for it and nothing is to be done but to tell it what
    /// it watches: a fan-out to thousands asks no more.
    var isAtRest: Bool {
        writingBytes | heldBytes == 0 && answers.isEmpty && !isReadingPaused && !isAtEnd
            && clientState?.activity == nil
    }

    /// Whether requests wait.
    @inline(__always) var hasWork: Bool { clientState?.activity?.inbox.isEmpty == false }

    /// Whether a request whose turn it is may be looked at.
    var takesTurns: Bool { progress == .idle && !hasWork }

    /// Bytes of requests that wait.
    @inline(__always) var inboxBytes: Int { clientState?.activity?.inbox.bytes ?? 0 }

    /// Bytes of answers that the client has not taken, or that are still to become durable.
    @inline(__always) var owedBytes: Int {
        answers.bytes + (clientState?.activity?.pendingBytes ?? 0)
    }

    /// Puts a frame behind everything that waits.
    func enqueue(frame: [UInt8]) {
        activity.inbox.append(.frame(frame))
    }

    /// Puts work that is no frame behind everything that waits.
    func enqueueLast(_ work: Work) {
        activity.inbox.append(work)
    }

    /// Puts work before everything that waits.
    func enqueueFirst(_ work: [Work]) {
        activity.inbox.prepend(work)
    }

    /// Takes the work whose turn it is.
    func dequeue() -> Work? {
        guard let activity = clientState?.activity else { return nil }
        let work = activity.inbox.takeFirst()
        if activity.inbox.isEmpty { tidy() }
        return work
    }

    /// Forgets all that waits; gives the calls among it, next first.
    func dropInbox() -> [Work] {
        guard let activity = clientState?.activity else { return [] }
        defer {
            activity.inbox = Inbox()
            tidy()
        }
        return activity.inbox.nextCalls
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
