/// The engine's side of the store: the batch that gathers, the state of the store, reads in
/// progress, and the idempotency keys in it.
///
///            send
///     idle ────────▶ committing ──committed──▶ idle
///                        │
///                        └──failed──▶ rebuilding ──rebuilt──▶ idle
///                                     │        ▲
///                                  failed   retry, after a delay
///                                     ▼        │
///                                     broken ──┘
///
/// Invariants: at most one batch is in progress, and none while the store is rebuilt. Edits gather
/// in `idle` and `committing`.
struct StoreLink {
    enum State {
        /// Nothing: it can take a batch.
        case idle
        case committing(OpenBatch)
        /// It is unknown whether the last commit succeeded. The whole store is written again.
        case rebuilding(Rebuild)
        /// That failed. The next attempt starts at `retryAt` (monotonic nanoseconds).
        case broken(Rebuild, retryAt: UInt64)
    }

    /// A store that is written again. Nothing is edited in the meantime, so one image serves all
    /// attempts: the loop visits the state only once, however long the disk stays full.
    struct Rebuild {
        let image: StoreImage
        /// When the current attempt started (monotonic nanoseconds).
        fileprivate(set) var startedAt: UInt64
        /// Why the last attempt failed, which is in the log already.
        fileprivate(set) var reason: String?
    }

    /// The pause between two attempts to rebuild a store (nanoseconds): at least this, and a
    /// multiple of the last attempt's duration, so that a large store on a disk that fails late
    /// does not keep the disk and a core busy. At most `retryNanosecondsMax`.
    private static var retryNanoseconds: UInt64 { 500_000_000 }
    private static var retryNanosecondsMax: UInt64 { 30_000_000_000 }
    private static var retryFactor: UInt64 { 20 }
    /// Milliseconds of the wall clock between two searches for expired data. Ages use this clock,
    /// because it continues while the machine sleeps.
    private static var choresMilliseconds: Int64 { 600_000 }
    /// Nanoseconds between two searches for expired keys.
    private static var choresNanoseconds: UInt64 { 600_000_000_000 }

    private(set) var state = State.idle
    /// The batch that new edits are added to.
    var gathering = OpenBatch(number: 1)
    let keys: KeyIndex
    /// Notifications that are being overwritten.
    private(set) var redactions = Redactions()
    /// When a batch was last sent to the store (monotonic nanoseconds).
    private(set) var sentAt: UInt64 = 0
    /// When to search for expired data next (monotonic nanoseconds).
    private var choresAt: UInt64 = 0
    /// When that was last done (milliseconds of the steady clock).
    private var choresSteady: Int64 = 0
    private(set) var fetches: [FetchID: Fetch] = [:]
    private var nextFetch: UInt64 = 1
    /// Connections whose next request waits for a commit, in order. Those that have ended
    /// meanwhile stay in it until the commit.
    private(set) var awaitingCommit: [Connection] = []
    /// How far the log of the other hosts was read, as the store has it; `nil` before the first.
    var cursor: [UInt8]?
    /// What was shared when that log was read.
    var shared: SharedPatterns?
    var deletedForms = DeletedForms()
    /// Shared forms that have left the fleet.
    var partingForms = PartingForms()
    /// What was applied to shared forms from files.
    var formFiles = FormFileMarks()
    /// Another life of the store uses the id of the replica. No edit is taken until the store has
    /// another one.
    var leavesReplica = false
    /// Whether a batch from the daemon's start must be durable before any request is answered,
    /// because it contains the ends of leases whose time came while no daemon ran.
    var mustCommitFirst = false
    /// The number of the newest internal error in the log (`data.report`).
    private var lastReport: Int64 = 0

    init(keys: KeyIndex) { self.keys = keys }

    // MARK: - Health

    /// Whether the store can take edits.
    var isHealthy: Bool {
        switch state {
        case .idle, .committing: !leavesReplica
        case .rebuilding, .broken: false
        }
    }

    /// Why edits are refused; `nil` while the store takes them.
    var trouble: String? {
        switch state {
        case .idle, .committing: leavesReplica ? "it gets another replica id" : nil
        case .rebuilding: "it is being rebuilt"
        case .broken(let rebuild, _): rebuild.reason ?? ""
        }
    }

    /// Starts to write the store again.
    mutating func rebuild(_ image: StoreImage, at now: UInt64) {
        state = .rebuilding(Rebuild(image: image, startedAt: now, reason: nil))
    }

    /// The image for another attempt, if it is time for one.
    mutating func retry(at now: UInt64) -> StoreImage? {
        guard case .broken(var rebuild, let retryAt) = state, now >= retryAt else { return nil }
        rebuild.startedAt = now
        state = .rebuilding(rebuild)
        return rebuild.image
    }

    /// Whether the store must be written again because it leaves its replica.
    var mustRebuild: Bool { if case .idle = state { leavesReplica } else { false } }

    /// The store was written again.
    mutating func rebuilt() {
        if case .rebuilding(let rebuild) = state {
            keys.committed(rebuild.image.answers.map { keys.id($0.uid, $0.key) })
        }
        state = .idle
        leavesReplica = false
        gathering.chores += redactions.failed(next: gathering.number)
    }

    /// A batch is durable.
    mutating func committed(_ number: UInt64) {
        for place in redactions.committed(number) { redactGathered(place) }
    }

    /// The store could not be written. Returns whether the log does not have this reason yet: it is
    /// logged once, not at each attempt, because the log may be on the same full disk.
    mutating func rebuildFailed(_ reason: String, at now: UInt64) -> Bool {
        guard case .rebuilding(var rebuild) = state else { return false }
        let isNew = rebuild.reason != reason
        rebuild.reason = reason
        let taken = now &- rebuild.startedAt
        let wait = min(
            Self.retryNanosecondsMax, max(Self.retryNanoseconds, taken &* Self.retryFactor))
        state = .broken(rebuild, retryAt: now &+ wait)
        return isNew
    }

    /// A number for an internal error in the log.
    mutating func newReport() -> Int64 {
        lastReport += 1
        return lastReport
    }

    // MARK: - Batches

    var underWay: OpenBatch? { if case .committing(let batch) = state { batch } else { nil } }

    /// Whether a batch is being written.
    var isCommitting: Bool { if case .committing = state { true } else { false } }

    /// Whether the store can be sent the gathering batch, which has content.
    var canSend: Bool { if case .idle = state { !gathering.isEmpty } else { false } }

    /// When the gathering batch is to be sent, if it is sent once in `period` nanoseconds.
    func dueAt(period: UInt64) -> UInt64 { sentAt &+ period }

    /// When the engine must be called for the store (monotonic nanoseconds), apart from the
    /// gathering batch.
    var deadline: UInt64 {
        if case .broken(_, let retryAt) = state { min(choresAt, retryAt) } else { choresAt }
    }

    /// The newest batch that is not durable and contains changes; `nil` if everything is durable.
    var newestPending: UInt64? {
        guard gathering.changes.isEmpty && gathering.keys.isEmpty else { return gathering.number }
        return if case .committing(let batch) = state { batch.number } else { nil }
    }

    /// Seals the gathering batch and returns its operations for the store, which must be idle.
    mutating func send(clock: [UInt8], at now: UInt64) -> Batch {
        precondition(canSend, "a batch is sent to a store that is idle")
        sentAt = now
        let operations = gathering.seal(clock: clock)
        let number = gathering.number
        state = .committing(takeGathering())
        return Batch(number: number, operations: operations)
    }

    /// Removes the batch in progress when its commit has ended; `nil` if `number` names another
    /// batch.
    mutating func take(_ number: UInt64) -> OpenBatch? {
        guard case .committing(let batch) = state, batch.number == number else { return nil }
        state = .idle
        mustCommitFirst = false
        return batch
    }

    mutating func takeGathering() -> OpenBatch {
        let taken = gathering
        gathering = OpenBatch(number: taken.number + 1)
        // The next batch is often as large, and growing to this size would copy several times.
        gathering.reserve(as: taken)
        return taken
    }

    /// Overwrites the notification of a revision with the gathering batch.
    ///
    /// - Parameter isVisible: Readers see it before it is durable.
    mutating func redact(
        _ revision: UInt64, of form: FormKey, _ frame: [UInt8], isVisible: Bool
    ) {
        gathering.chores.append(.redactRevision(form: form, revision: revision, frame: frame))
        let place = Redactions.Place(form: form, revision: revision)
        redactions.add(place, frame, isVisible: isVisible, batch: gathering.number)
        if isVisible { redactGathered(place) }
    }

    /// A redaction can be seen: pages of history that are still being collected may have the
    /// earlier text.
    private mutating func redactGathered(_ place: Redactions.Place) {
        for (id, fetch) in fetches {
            guard case .history(let call, var search) = fetch, search.form.key == place.form,
                search.redact(place.revision)
            else { continue }
            fetches[id] = .history(call, search)
        }
    }

    /// Adds a response to the batch with this number, if it is not committed yet.
    mutating func wait(for number: UInt64, _ waiter: OpenBatch.Waiter) -> Bool {
        if gathering.number == number {
            gathering.waiters.append(waiter)
            return true
        }
        guard var batch = take(number) else { return false }
        batch.waiters.append(waiter)
        state = .committing(batch)
        return true
    }

    /// Visits the revisions of a form that may not be in the store, between `after` and `before`,
    /// newest first, until `body` returns false.
    func scanRevisions(
        of form: LiveForm, after: UInt64, before: UInt64, _ body: (RevisionRow) -> Bool
    ) {
        for changes in gathering.changes.reversed() + (underWay?.changes ?? []).reversed()
        where changes.form === form {
            guard let last = changes.revisions.lastIndex(where: { $0.revision < before }) else {
                continue
            }
            for row in changes.revisions[...last].reversed() {
                guard row.revision > after, body(redactions.applied(to: row)) else { return }
            }
        }
        for row in unwritten.reversed() where row.form == form.key && row.revision < before {
            guard row.revision > after, body(redactions.applied(to: row)) else { return }
        }
    }

    /// Revisions of failed batches that are published.
    private var unwritten: [RevisionRow] {
        switch state {
        case .idle, .committing: []
        case .rebuilding(let rebuild), .broken(let rebuild, _): rebuild.image.revisions
        }
    }

    /// Whether to search for expired data now.
    mutating func beginChores(at now: UInt64, steady: Int64) -> Bool {
        let isLater = steady &- choresSteady >= Self.choresMilliseconds
        guard isLater || now >= choresAt else { return false }
        choresAt = now &+ Self.choresNanoseconds
        choresSteady = steady
        return true
    }

    // MARK: - The link

    /// The log of the other hosts must be read from there: nothing that is on its way to the store
    /// says that it was read further.
    mutating func rewind(to cursor: [UInt8]) {
        self.cursor = cursor
        gathering.cursor = cursor
        guard case .committing(var batch) = state else { return }
        batch.cursor = nil
        state = .committing(batch)
    }

    /// The number of the newest batch that has changes of a form; `nil` if all are durable.
    func newestBatch(of form: LiveForm) -> UInt64? {
        [gathering, underWay].compactMap { $0 }
            .first { $0.changes.contains { $0.form === form } }?.number
    }

    // MARK: - Connections that wait

    /// A connection's next request waits until its edits are committed.
    mutating func await(_ connection: Connection) { awaitingCommit.append(connection) }

    /// Removes the connections whose edits are all committed, and those that have ended. An edit is
    /// in one of two batches, so each connection is looked at twice at most.
    mutating func takeSettled() -> [Connection] {
        var settled: [Connection] = []
        awaitingCommit.removeAll { connection in
            guard connection.awaitsCommit else { return true }
            if connection.editsPending == 0 { settled.append(connection) }
            return connection.editsPending == 0
        }
        return settled
    }

    // MARK: - Fetches

    /// A number for a read of the store.
    mutating func newFetch() -> FetchID {
        defer { nextFetch += 1 }
        return FetchID(nextFetch)
    }

    /// A read of the store starts or is queued.
    mutating func ask(_ purpose: Fetch) -> FetchID {
        let id = newFetch()
        fetches[id] = purpose
        return id
    }

    /// Removes a read that was answered or that nobody waits for any more.
    mutating func takeFetch(_ id: FetchID) -> Fetch? { fetches.removeValue(forKey: id) }
}
