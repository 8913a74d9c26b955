/// One client connection: who it is, what it waits for, and what it must be sent.
///
/// Confined to the loop. A connection processes one request at a time. A request that waits for the
/// store blocks the requests behind it, so each request sees the effects of those before it.
///
///     idle ──edit──▶ idle (its answer waits in a slot)
///     idle ──read after its own edit──▶ awaitingCommit ──committed──▶ idle
///     idle ──history, old `since`, old key──▶ awaitingFetch ──fetched──▶ idle
///     any ──frame too large, other protocol──▶ ending (nothing more is read)
final class Connection: ConnectionKeeper {
    /// What blocks the next request.
    enum Progress {
        case idle
        /// A commit of the connection's own edits.
        case awaitingCommit
        /// A read of the store, `awaitedFetch`.
        case awaitingFetch
        /// The connection is closed when the answers have been written.
        case ending
    }

    /// A queued request.
    enum Work {
        /// The JSON text of a frame, not decoded yet.
        case frame([UInt8])
        /// One element of a batch, or a request that had to wait.
        case call(Request, RequestID?, AnswerTarget)
        /// A frame that is too large. Requests before it are answered first.
        case frameTooLarge(UInt32)
        /// A part of what the log of the fleet brought: see `Engine.performJoins`.
        case joins
    }

    // The members that a write reads come first, so that a fan-out loads few cache lines. The order
    // avoids padding, because there may be ten thousand connections (IdleConnectionTests).

    /// The account of its uid, shared by all connections of the uid, or that of the link.
    var account: Account
    /// See `Outbox.owner`.
    var owner: AnyObject?
    var subscriptions = SubscriptionList.none
    var decoder: FrameDecoder
    private(set) var progress = Progress.idle
    /// Whether the log has an entry that introduces the client.
    var isIntroduced = false
    private let pid: Int32
    var answers = AnswerQueue()
    var isReady = false
    var isWriting = false
    /// The write in progress contains the `goodbye`. Nothing may follow it.
    var isWritingGoodbye = false
    var isGone = false
    /// The peer has shut down its side, or nothing more can be read.
    var isAtEnd = false
    var isReadingPaused = false
    /// Whether it is in its account's queue.
    var isAwaitingTurn = false
    /// Bytes of the write in progress that no other connection shares.
    var writingBytes = 0
    /// Bytes of memory that are charged to its account.
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

    /// The user at the other end.
    var peer: Peer { Peer(pid: pid, identity) }

    /// What it waited for has arrived, or it starts to wait for something else.
    func advance(to next: Progress) {
        progress = next
        clientState?.activity?.awaitedFetch = nil
    }

    /// The next request waits for this read of the store.
    func await(_ fetch: FetchID) {
        progress = .awaitingFetch
        activity.awaitedFetch = fetch
    }

    /// The read of the store that the next request waits for.
    var awaitedFetch: FetchID? { clientState?.activity?.awaitedFetch }

    func subscription(to form: LiveForm) -> Subscription? {
        subscriptions.first { $0.form === form }
    }

    /// Whether the connection only watches: it holds nothing, waits for nothing, and has no
    /// requests. A fan-out to thousands checks nothing else.
    var isAtRest: Bool {
        writingBytes | heldBytes == 0 && answers.isEmpty && !isReadingPaused && !isAtEnd
            && clientState?.activity == nil
    }

    /// Whether the connection only watches one form, and no output is noted or in progress.
    @inline(__always) var takesChangesOnly: Bool {
        guard case .one = subscriptions else { return false }
        return !isReady && !isWriting && !isGone && isAtRest
    }

    /// Whether the next request waits for a commit, and somebody still waits for its answer.
    var awaitsCommit: Bool { progress == .awaitingCommit && !isGone }

    /// Whether requests are queued.
    @inline(__always) var hasWork: Bool { clientState?.activity?.inbox.isEmpty == false }

    /// Whether a new request can be processed when its uid has a turn.
    var canStartRequest: Bool { progress == .idle && !hasWork }

    /// Bytes of queued requests.
    @inline(__always) var inboxBytes: Int { clientState?.activity?.inbox.bytes ?? 0 }

    /// Bytes of answers that the client has not read, or that wait for a commit.
    @inline(__always) var owedBytes: Int {
        answers.bytes + (clientState?.activity?.pendingBytes ?? 0)
    }

    func enqueue(frame: [UInt8]) {
        activity.inbox.append(.frame(frame))
    }

    /// Queues work that is not a frame.
    func enqueueLast(_ work: Work) {
        activity.inbox.append(work)
    }

    /// Queues work before everything else.
    func enqueueFirst(_ work: [Work]) {
        activity.inbox.prepend(work)
    }

    /// Removes the next work from the queue.
    func dequeue() -> Work? {
        guard let activity = clientState?.activity else { return nil }
        let work = activity.inbox.takeFirst()
        if activity.inbox.isEmpty { tidy() }
        return work
    }

    /// Empties the queue and returns the calls that were in it, next first.
    func dropInbox() -> [Work] {
        guard let activity = clientState?.activity else { return [] }
        defer {
            activity.inbox = Inbox()
            tidy()
        }
        return activity.inbox.nextCalls
    }
}

enum AnswerTarget {
    case slot(AnswerQueue.Slot)
    /// The array of a batch, which is sent when all elements are answered.
    case batch(BatchAnswer)
    /// Another host, whose daemon was asked: see `Engine+FleetVerbs`.
    case host(HostCall)
    /// None: a JSON-RPC notification gets no answer.
    case nowhere
}

/// The answer to a JSON-RPC batch, which is collected element by element.
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

    /// Adds a response (JSON text); returns the whole frame after the last one.
    func add(_ response: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        responses.append(Array(response))
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
