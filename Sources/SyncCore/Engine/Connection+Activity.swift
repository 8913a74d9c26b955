// What only some connections have.
//
// Always holds: each part is there only while it says something, and what says nothing any more is
// let go of, as ten thousand may only watch.

extension Connection {
    /// What those need who do more than watch.
    final class ClientState {
        fileprivate var client: String?
        fileprivate var tty: String?
        fileprivate var session: String?
        /// Who writes, made once for what was said last.
        fileprivate var author: Author?
        var activity: ActivityState?

        fileprivate var isBlank: Bool {
            client == nil && tty == nil && session == nil && author == nil && activity == nil
        }
    }

    /// What those need who edit, and those who wait for something.
    final class ActivityState {
        var inbox = Inbox()
        var awaitedFetch: FetchID?
        /// Bytes of answers that wait for a commit.
        var pendingBytes = 0
        /// Edits that are not committed yet.
        fileprivate var editsPending = 0
        /// Bytes of pages of the store that wait to be written to its subscriptions.
        fileprivate var pageBytes = 0
        fileprivate var catalogCursor: UInt64?
        fileprivate var farewell: [UInt8]?
        /// The dots that this connection wrote itself, by form: it has seen them, whatever its
        /// token says.
        fileprivate var ownDots: [FormKey: OwnDots] = [:]
        fileprivate var backup: Int64?
        fileprivate var draftRate = RateWindow()
        fileprivate var refusalRate = RateWindow()

        fileprivate var isBlank: Bool {
            inbox.isEmpty && awaitedFetch == nil && pendingBytes == 0 && editsPending == 0
                && pageBytes == 0 && catalogCursor == nil && farewell == nil && ownDots.isEmpty
                && backup == nil && draftRate.isBlank && refusalRate.isBlank
        }
    }

    private var active: ClientState {
        if let clientState { return clientState }
        let made = ClientState()
        clientState = made
        return made
    }

    var activity: ActivityState {
        let active = active
        if let activity = active.activity { return activity }
        let made = ActivityState()
        active.activity = made
        return made
    }

    /// Lets go of what says nothing any more.
    func tidy() {
        guard let clientState else { return }
        if let activity = clientState.activity, activity.isBlank { clientState.activity = nil }
        if clientState.isBlank { self.clientState = nil }
    }

    // MARK: - Who it is

    /// What the client calls itself (`hello`).
    var client: String? { clientState?.client }
    /// The terminal that it claims (`hello`).
    var tty: String? { clientState?.tty }
    /// Groups connections of one uid for undo (`hello`).
    var session: String? { clientState?.session }

    /// Takes what the client says of itself.
    func greet(client: String, tty: String?, session: String?) {
        let active = active
        active.client = client
        active.tty = tty
        active.session = session
        active.author = nil
    }

    /// Who writes, for the dots and the history; made once for what was said last.
    func author(replica: ReplicaID) -> Author {
        if let known = clientState?.author, known.replica == replica { return known }
        let author = Author(
            user: peer.user, uid: peer.uid, client: client, tty: tty, connection: id.number,
            replica: replica
        ).withText()
        active.author = author
        return author
    }

    // MARK: - What it does

    /// Edits of this connection that are not committed yet.
    var editsPending: Int { clientState?.activity?.editsPending ?? 0 }

    /// An edit waits for its commit, with an answer of so many bytes.
    func editBegan(answerBytes: Int) {
        let activity = activity
        activity.editsPending += 1
        activity.pendingBytes += answerBytes
    }

    /// It waits no more.
    func editSettled(answerBytes: Int) {
        let activity = activity
        activity.editsPending -= 1
        activity.pendingBytes -= answerBytes
    }

    /// What it wrote to a form itself.
    func ownContext(of form: FormKey) -> CausalContext? {
        clientState?.activity?.ownDots[form]?.context
    }

    /// Notes what it wrote to a form. `held` gives what the form's stores hold.
    func note(_ dots: [Dot], in form: FormKey, held: () -> Set<Dot>) {
        activity.ownDots[form, default: OwnDots()].insert(dots, held: held)
    }

    /// The copy of the store that it is being given (`server.backup`).
    var backup: Int64? {
        get { clientState?.activity?.backup }
        set { if newValue != nil || backup != nil { activity.backup = newValue } }
    }

    /// Whether one more draft stays within `max` a second.
    func admitsDraft(max: Int, at now: Moment) -> Bool {
        activity.draftRate.admits(max: max, at: now)
    }

    /// Whether one more refusal is told to the log, of `max` a second.
    func admitsRefusal(max: Int, at now: Moment) -> Bool {
        activity.refusalRate.admits(max: max, at: now)
    }

    // MARK: - What it is owed

    /// Bytes of pages of the store that wait to be written to its subscriptions.
    var pageBytes: Int { clientState?.activity?.pageBytes ?? 0 }

    /// So many bytes of pages more wait, or less.
    func addPageBytes(_ bytes: Int) {
        if bytes == 0 { return }
        activity.pageBytes += bytes
        if bytes < 0 { tidy() }
    }

    /// Where this connection stands in the log of the forms; `nil` unless it watches them.
    var catalogCursor: UInt64? {
        get { clientState?.activity?.catalogCursor }
        set { if newValue != nil || catalogCursor != nil { activity.catalogCursor = newValue } }
    }

    /// The goodbye that follows the last notification; nothing else is answered any more.
    var farewell: [UInt8]? {
        get { clientState?.activity?.farewell }
        set { if newValue != nil || farewell != nil { activity.farewell = newValue } }
    }
}

/// Requests that wait for their turn.
struct Inbox {
    /// Calls whose turn comes before that of `arrived`; the next one is last.
    private var calls: [Connection.Work] = []
    /// What stands behind the request that waits, oldest first; those before `arrivedHead` are
    /// gone.
    private var arrived: [Connection.Work] = []
    private var arrivedHead = 0
    /// Bytes of the frames among it.
    private(set) var bytes = 0

    var isEmpty: Bool { calls.isEmpty && arrivedHead == arrived.count }

    /// The calls among it whose turn comes first, next first.
    var nextCalls: [Connection.Work] { calls.reversed() }

    mutating func append(_ work: Connection.Work) {
        if case .frame(let text) = work { bytes += text.count }
        arrived.append(work)
    }

    mutating func prepend(_ work: [Connection.Work]) {
        calls += work.reversed()
    }

    mutating func takeFirst() -> Connection.Work? {
        if let call = calls.popLast() { return call }
        guard arrivedHead < arrived.count else { return nil }
        let work = arrived[arrivedHead]
        arrivedHead += 1
        if arrivedHead == arrived.count || arrivedHead > 1024 {
            arrived.removeFirst(arrivedHead)
            arrivedHead = 0
        }
        if case .frame(let text) = work { bytes -= text.count }
        return work
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

    /// Whether nothing was counted yet.
    var isBlank: Bool { count == 0 }

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
