// The parts of a connection that only some connections need.
//
// Invariant: each part exists only while it has content. Ten thousand connections may only watch,
// and they need none of it.

extension Connection {
    /// For connections that introduced themselves or do more than watch.
    final class ClientState {
        fileprivate var client: String?
        fileprivate var tty: String?
        fileprivate var session: String?
        /// The author of this connection's edits, cached after `hello`.
        fileprivate var author: Author?
        var activity: ActivityState?
        fileprivate var leaseHolder: LeaseHolder?

        fileprivate var isBlank: Bool {
            client == nil && tty == nil && session == nil && author == nil && activity == nil
                && leaseHolder == nil
        }
    }

    /// For connections that edit or wait for something.
    final class ActivityState {
        var inbox = Inbox()
        var awaitedFetch: FetchID?
        /// Bytes of answers that wait for a commit.
        var pendingBytes = 0
        /// Edits that are not committed yet.
        fileprivate var editsPending = 0
        /// Bytes of pages from the store that wait to be written to its subscriptions.
        fileprivate var pageBytes = 0
        fileprivate var catalogCursor: UInt64?
        fileprivate var catalogPlace = 0
        fileprivate var farewell: [UInt8]?
        /// The dots that this connection wrote, by form. The connection has seen them, whatever its
        /// token says.
        fileprivate var ownDots = OwnDotsByForm()
        fileprivate var backup: Int64?
        /// Forms with buttons that this connection handles, or did.
        fileprivate var handled: [LiveForm] = []
        fileprivate var draftRate = RateWindow()
        fileprivate var refusalRate = RateWindow()

        fileprivate var isBlank: Bool {
            inbox.isEmpty && awaitedFetch == nil && pendingBytes == 0 && editsPending == 0
                && pageBytes == 0 && catalogCursor == nil && farewell == nil && ownDots.isEmpty
                && backup == nil && handled.isEmpty && draftRate.isBlank && refusalRate.isBlank
        }
    }

    private var clientStateOrNew: ClientState {
        if let clientState { return clientState }
        let made = ClientState()
        clientState = made
        return made
    }

    var activity: ActivityState {
        if let activity = clientState?.activity { return activity }
        let state = clientStateOrNew
        let made = ActivityState()
        state.activity = made
        return made
    }

    /// Frees parts without content.
    func tidy() {
        guard let clientState else { return }
        if let activity = clientState.activity, activity.isBlank { clientState.activity = nil }
        if clientState.isBlank { self.clientState = nil }
    }

    var leaseHolder: LeaseHolder? { clientState?.leaseHolder }

    /// The same; created if it has held none so far.
    func makeLeaseHolder(at now: Int64) -> LeaseHolder {
        let state = clientStateOrNew
        let holder = state.leaseHolder ?? LeaseHolder(at: now)
        state.leaseHolder = holder
        return holder
    }

    // MARK: - Who it is

    /// The client's name (`hello`).
    var client: String? { clientState?.client }
    /// The client's terminal, as it claims (`hello`).
    var tty: String? { clientState?.tty }
    /// The session, which groups connections of one uid for undo (`hello`).
    var session: String? { clientState?.session }

    /// Stores the content of `hello`.
    func greet(client: String, tty: String?, session: String?) {
        let state = clientStateOrNew
        state.client = client
        state.tty = tty
        state.session = session
        state.author = nil
    }

    /// The author for dots and history of a form, cached until the next `hello`.
    func author(of form: LiveForm, replica: ReplicaID) -> Author {
        if let link = form.link {
            return Author(
                user: peer.user, uid: peer.uid, client: client, tty: tty, connection: id.number,
                replica: replica, host: link.host
            ).withText()
        }
        if let known = clientState?.author, known.replica == replica { return known }
        let author = Author(
            user: peer.user, uid: peer.uid, client: client, tty: tty, connection: id.number,
            replica: replica
        ).withText()
        clientStateOrNew.author = author
        return author
    }

    // MARK: - What it does

    /// Edits of this connection that are not committed yet.
    var editsPending: Int { clientState?.activity?.editsPending ?? 0 }

    /// An edit waits for its commit. `answerBytes` is the size of its answer.
    func editBegan(answerBytes: Int) {
        let activity = activity
        activity.editsPending += 1
        activity.pendingBytes += answerBytes
    }

    func editSettled(answerBytes: Int) {
        let activity = activity
        activity.editsPending -= 1
        activity.pendingBytes -= answerBytes
    }

    func ownContext(of form: FormKey) -> CausalContext? {
        clientState?.activity?.ownDots[form]
    }

    /// Records what it wrote in a transaction. `living` returns the forms that exist.
    func note(_ transaction: Transaction, living: () -> Set<FormKey>) {
        let form = transaction.form
        activity.ownDots.insert(in: form.key, held: { form.working.heldDots }, living: living) {
            for dot in transaction.dots { $0.insert(dot) }
        }
    }

    var backup: Int64? {
        get { clientState?.activity?.backup }
        set { if newValue != nil || backup != nil { activity.backup = newValue } }
    }

    func handles(_ form: LiveForm) {
        if !activity.handled.contains(where: { $0 === form }) { activity.handled.append(form) }
    }

    /// The forms with buttons that this connection handles; it handles none any more.
    func takeHandled() -> [LiveForm] {
        guard let activity = clientState?.activity, !activity.handled.isEmpty else { return [] }
        defer { tidy() }
        defer { activity.handled = [] }
        return activity.handled
    }

    /// Counts a draft; false if there are more than `max` in this second.
    func admitsDraft(max: Int, at now: Moment) -> Bool {
        activity.draftRate.admits(max: max, at: now)
    }

    /// Counts a rejected request; false if more than `max` in this second would be logged.
    func admitsRefusal(max: Int, at now: Moment) -> Bool {
        activity.refusalRate.admits(max: max, at: now)
    }

    // MARK: - What it is owed

    /// Bytes of pages from the store that wait to be written to its subscriptions.
    var pageBytes: Int { clientState?.activity?.pageBytes ?? 0 }

    /// Adds to `pageBytes`; negative to subtract.
    func addPageBytes(_ bytes: Int) {
        if bytes == 0 { return }
        activity.pageBytes += bytes
        if bytes < 0 { tidy() }
    }

    /// This connection's cursor in the catalog; `nil` unless it watches the list of forms.
    var catalogCursor: UInt64? {
        get { clientState?.activity?.catalogCursor }
        set { if newValue != nil || catalogCursor != nil { activity.catalogCursor = newValue } }
    }

    /// Its place among the watchers of the list of forms, while it has a cursor.
    var catalogPlace: Int {
        get { clientState?.activity?.catalogPlace ?? 0 }
        set { activity.catalogPlace = newValue }
    }

    /// The `goodbye` after the last notification. Nothing else is answered after it.
    var farewell: [UInt8]? {
        get { clientState?.activity?.farewell }
        set { if newValue != nil || farewell != nil { activity.farewell = newValue } }
    }
}

/// Requests that wait for their turn.
struct Inbox {
    /// Calls that come before `arrived`; the next one is last.
    private var calls: [Connection.Work] = []
    /// Later requests, oldest first.
    private var arrived = Queue<Connection.Work>()
    /// Bytes of the queued frames.
    private(set) var bytes = 0

    var isEmpty: Bool { calls.isEmpty && arrived.isEmpty }

    /// The queued calls, next first.
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
        guard let work = arrived.takeFirst() else { return nil }
        if case .frame(let text) = work { bytes -= text.count }
        return work
    }
}

/// The writes of one connection. Most connections write to one form, which needs no look-up.
struct OwnDotsByForm {
    private var latest: (form: FormKey, dots: OwnDots)?
    private var others: [FormKey: OwnDots] = [:]
    /// When there are this many other forms, those that are gone are removed. The threshold doubles
    /// with the number of forms that remain.
    private var pruneAt = 64

    var isEmpty: Bool { latest == nil }
    /// The number of forms whose writes are kept.
    var count: Int { others.count + (latest == nil ? 0 : 1) }

    subscript(form: FormKey) -> CausalContext? {
        guard let latest else { return nil }
        return latest.form == form ? latest.dots.context : others[form]?.context
    }

    /// Adds fresh writes to a form. `held` returns the dots in the form's stores, `living` the
    /// forms that exist, and `add` inserts the writes: a list of them would be copied.
    mutating func insert(
        in form: FormKey, held: () -> Set<Dot>, living: () -> Set<FormKey>,
        add: (inout CausalContext) -> Void
    ) {
        if latest?.form != form {
            if let latest { others[latest.form] = latest.dots }
            latest = (form, others.removeValue(forKey: form) ?? OwnDots())
            if others.count >= pruneAt { prune(living()) }
        }
        latest!.dots.insert(held: held, add: add)
    }

    private mutating func prune(_ living: Set<FormKey>) {
        others = others.filter { living.contains($0.key) }
        pruneAt = max(64, 2 * others.count)
    }
}

/// The writes of one connection to one form.
struct OwnDots {
    private(set) var context = CausalContext()
    /// When there are this many loose dots, those that no store holds are removed. This visits
    /// every field, so the threshold doubles with the number of dots that remain.
    private var pruneAt = 64

    /// Adds fresh writes: see `OwnDotsByForm`.
    mutating func insert(held: () -> Set<Dot>, add: (inout CausalContext) -> Void) {
        add(&context)
        guard context.hasLoose, context.loose.count >= pruneAt else { return }
        let held = held()
        context = context.prunedLoose(where: held.contains)
        pruneAt = max(64, 2 * context.loose.count)
    }
}

/// Counts events within a second of the monotonic clock.
struct RateWindow {
    private var startNanoseconds: UInt64 = 0
    private var count = 0

    var isBlank: Bool { count == 0 }

    /// Counts an event if there are fewer than `max` in this second; false otherwise.
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
