// From an edit to everybody's eyes: gather, make durable, publish. And what happens when the disk
// says no.

extension Engine {
    /// Whether the store takes edits.
    enum StoreHealth: Equatable {
        case healthy
        /// A commit failed and may or may not have happened: the store is being written anew.
        /// `logged` is why the last attempt failed, which was said already.
        case rebuilding(logged: String?)
        /// It could not be written anew; tried again then (monotonic nanoseconds).
        case broken(retryAt: UInt64, reason: String)
    }

    /// What batches that failed leave to the store that is written anew.
    struct Unwritten {
        /// What was told below `commit` and no file has.
        var answers: [KeyRow] = []
        var revisions: [RevisionRow] = []
        /// Keys that are unused again, though the old file may have them.
        var failedKeys: [KeyDigest] = []
    }

    /// A store that could not be written anew yet. Nothing is edited meanwhile, so one image serves
    /// every attempt: the state is encoded once, however long the disk stays full.
    struct Rewriting {
        var image: StoreImage
        /// When the attempt under way began (monotonic nanoseconds).
        var startedAt: UInt64
    }

    /// Nanoseconds between two attempts to write a broken store anew: at least so many, and so many
    /// times as long as the last attempt took, so that a large store on a disk that fails late does
    /// not keep the disk and a core busy; at most `retryNanosecondsMax`.
    private static var retryNanoseconds: UInt64 { 500_000_000 }
    private static var retryNanosecondsMax: UInt64 { 30_000_000_000 }
    private static var retryFactor: UInt64 { 20 }
    /// Milliseconds of the wall clock between two looks for what has expired: what is kept by age
    /// goes by that clock, which moves on while a machine sleeps.
    private static var choresMilliseconds: Int64 { 600_000 }
    /// Nanoseconds between two writes with `durability = memory`.
    private static var memoryNanoseconds: UInt64 { 10_000_000_000 }
    /// Nanoseconds between two looks for keys that expired.
    private static var choresNanoseconds: UInt64 { 600_000_000_000 }

    /// Revisions of a form between two looks for what is beyond the retention.
    private static var pruningPeriod: Int { 1000 }

    // MARK: - Gathering

    /// The last step of a loop iteration: what gathered goes to the disk, if the disk is free.
    func endIteration(_ effects: inout [Effect]) {
        if case .broken(let retryAt, _) = health, now.monotonicNanoseconds >= retryAt {
            rebuild(&effects)
        }
        forgetWritten()
        letGoOfSlow(&effects)
        cutOffOverfull(&effects)
        flushRefusals(&effects)
        doChores()
        if batches.isIdle, health == .healthy, !batches.gathering.isEmpty, isTimeToWrite {
            lastWriteNanoseconds = now.monotonicNanoseconds
            effects.append(.persist(batches.send(clock: clock)))
            noteCommitters()
            forgetEdits()
        }
        finishStopping(&effects)
    }

    private func letGoOfSlow(_ effects: inout [Effect]) {
        letGoOfStalled()
        for connection in stalledOff where connections[connection.id] === connection {
            log(
                .notice,
                "connection \(connection.id.number) of \(connection.peer.whom) is too slow "
                    + "and was cut off: retainedBytesMax", &effects)
            effects.append(.close(connection.id))
        }
        stalledOff = []
        let slow = tooSlow
        tooSlow = []
        for connection in slow where connections[connection.id] === connection {
            log(
                .notice, "connection \(connection.id.number) is too slow; let go", &effects,
                [.event(.slow), .connection(connection.id)] + connection.peer.logFields)
            sayGoodbye(connection, .slow, retryAfterMilliseconds: 1000, &effects)
        }
    }

    /// With `commit` at once; otherwise when the time has come, or on the way out.
    private var isTimeToWrite: Bool {
        if life != .serving || !batches.gathering.waiters.isEmpty { return true }
        return now.monotonicNanoseconds &- lastWriteNanoseconds >= writePeriodNanoseconds
    }

    private var writePeriodNanoseconds: UInt64 {
        switch configuration.durability {
        case .commit: 0
        case .interval: UInt64(configuration.limits.intervalMilliseconds) * 1_000_000
        case .memory: Self.memoryNanoseconds
        }
    }

    /// When the engine wants to be called next though nothing happens (`Input.deadline`, monotonic
    /// nanoseconds); `nil` for never.
    public var nextDeadline: UInt64? {
        var deadline = choresAt
        if case .broken(let retryAt, _) = health { deadline = min(deadline, retryAt) }
        if batches.isIdle, health == .healthy, !batches.gathering.isEmpty {
            deadline = min(deadline, lastWriteNanoseconds &+ writePeriodNanoseconds)
        }
        return deadline
    }

    private func doChores() {
        let wall = now.wallMilliseconds
        let isLater = wall &- choresWall >= Self.choresMilliseconds || wall < choresWall
        guard isLater || now.monotonicNanoseconds >= choresAt else { return }
        choresAt = now.monotonicNanoseconds &+ Self.choresNanoseconds
        choresWall = wall
        let oldest = wall &- Int64(configuration.limits.keyHours) * 3_600_000
        if keys.expire(before: oldest, now: wall) {
            batches.gathering.chores.append(.pruneKeys(before: oldest))
        }
        for form in forms where form.existence == .there { prune(form) }
    }

    /// Asks the store to drop revisions beyond the retention.
    func prune(_ form: LiveForm, through dropped: UInt64 = 0) {
        form.revisionsSincePruning = 0
        let limits = configuration.limits
        let kept = UInt64(limits.historyRevisionsMax)
        let revision = form.working.revision
        batches.gathering.chores.append(
            .pruneRevisions(
                form: form.key, through: max(dropped, revision > kept ? revision - kept : 0),
                before: now.wallMilliseconds - Int64(limits.historyDaysMax) * 86_400_000))
    }

    // MARK: - Publishing

    /// What a transaction changed of a form.
    enum Extent {
        /// These cells.
        case cells([Int])
        /// The definition and with it every cell; these fields are gone.
        case whole(removed: [String])
        case deletion
    }

    /// Hands a transaction on: to the batch that gathers, and to everybody's eyes at once where the
    /// durability chosen allows it.
    func publish(
        _ event: BatchQueue.Event, of form: LiveForm, _ extent: Extent, _ row: RevisionRow?,
        _ effects: inout [Effect]
    ) {
        let rowsMax = configuration.limits.historyRevisionsMax
        batches.gathering.withDirty(form) { dirty in
            switch extent {
            case .cells(let cells): dirty.cells.formUnion(cells)
            case .whole(let removed):
                dirty.isWhole = true
                dirty.removed += removed
            case .deletion: dirty.isDeleted = true
            }
            if let row { dirty.revisions.append(row) }
            // Beyond the retention they would be dropped as soon as they were written.
            if dirty.revisions.count > 2 * rowsMax {
                dirty.revisions.removeFirst(dirty.revisions.count - rowsMax)
            }
        }
        counters.transactions += 1
        form.revisionsSincePruning += 1
        if let row {
            let dropped = form.historyBytes.append(
                row.revision, bytes: row.frame.count + row.record.count,
                max: configuration.limits.historyBytesMax)
            if let dropped { prune(form, through: dropped) }
        }
        if form.revisionsSincePruning >= Self.pruningPeriod { prune(form) }
        if configuration.durability == .commit {
            batches.gathering.events.append(event)
            return
        }
        form.commitAtOnce(extent)
        happen(event, &effects)
    }

    /// A batch is durable.
    func committed(_ number: UInt64, _ effects: inout [Effect]) {
        guard let batch = batches.take(number) else { return }
        counters.commits += 1
        let took = now.monotonicNanoseconds &- lastWriteNanoseconds
        counters.commitNanoseconds &+= took
        chargeCommitters(took)
        if configuration.durability == .commit {
            // Otherwise readers see these edits already, and perhaps later ones.
            for dirty in batch.dirty { dirty.takeEffect() }
        }
        for event in batch.events { happen(event, &effects) }
        keys.committed(batch.keys.map { KeyIndex.ID(uid: $0.uid, key: $0.key) })
        for waiter in batch.waiters {
            guard let connection = settled(waiter) else { continue }
            if waiter.id != nil { deliver(waiter.response, to: waiter.target, connection) }
            closeOnceSettled(connection, &effects)
        }
        resumeAwaiting(&effects)
        for waiter in batch.waiters {
            guard let connection = connections[waiter.connection], connection.hasWork else {
                continue
            }
            resume(connection, &effects)
        }
    }

    /// An edit is no longer on its way; its connection, where that is still there.
    private func settled(_ waiter: BatchQueue.Waiter) -> Connection? {
        guard let connection = connections[waiter.connection] else { return nil }
        connection.editsPending -= 1
        connection.pendingBytes -= waiter.response.count
        return connection
    }

    /// Connections whose edits are all settled go on.
    private func resumeAwaiting(_ effects: inout [Effect]) {
        var waiting: [Connection] = []
        swap(&waiting, &awaitingCommit)
        for connection in waiting {
            if connection.editsPending > 0 {
                awaitingCommit.append(connection)
            } else if connection.progress == .awaitingCommit {
                connection.progress = .idle
                resume(connection, &effects)
            }
        }
        for connection in waiting where connection.editsPending == 0 {
            closeIfDone(connection, &effects)
        }
    }

    private func happen(_ event: BatchQueue.Event, _ effects: inout [Effect]) {
        switch event {
        case .revision(let form, let frame, let touched):
            append(frame, touched, to: form)
        case .redefined(let form, let frame, let listing):
            append(frame, nil, to: form)
            for subscription in form.subscriptions {
                if mayRead(form, subscription.connection.peer) {
                    form.refreshFilter(of: subscription)
                } else {
                    revoke(subscription)
                }
            }
            list(listing, of: form)
        case .created(let form, let listing):
            if form.existence == .creating { form.existence = .there }
            // Creation is revision 1, whatever came behind it in the same batch.
            form.changeLog.restart(next: 2)
            list(listing, of: form)
        case .deleted(let form, let frame):
            form.existence = .gone
            remove(form)
            append(frame, nil, to: form)
            list(frame, of: form)
        }
    }

    private func append(_ frame: [UInt8], _ touched: FieldNumbers?, to form: LiveForm) {
        form.changeLog.append(
            frame, touched: touched, bytesMax: configuration.limits.changeLogBytesMax,
            retained: retained)
        noteNews(of: form)
    }

    /// To whom may not read a form any more it is gone.
    private func revoke(_ subscription: Subscription) {
        let form = subscription.form
        let connection = subscription.connection
        let gone = FormChanged(
            form: form.name, revision: Revision(clamping: form.committed.revision),
            content: .deleted)
        end(subscription)
        connection.answers.append(Answer.frame(.formChanged(gone)))
        markReady(connection)
    }

    // MARK: - Failure

    /// A commit may or may not have happened. Nobody has been told of its edits; they are answered
    /// `unavailable`, and what is there goes to a new file under a new epoch, so that no dot of
    /// this batch is ever issued twice (ARCHITECTURE.md, the one way of a change).
    func commitFailed(_ number: UInt64, _ reason: String, _ effects: inout [Effect]) {
        guard let batch = batches.take(number) else { return }
        counters.commitFailures += 1
        log(
            .error, "the store could not commit: \(reason); edits are refused meanwhile", &effects,
            [.event(.storeFailed)])
        rollBack(batch, reason, &effects)
        rollBack(batches.takeGathering(), reason, &effects)
        forgetEdits()
        rebuild(&effects)
        resumeAwaiting(&effects)
    }

    private func rollBack(
        _ batch: BatchQueue.Open, _ reason: String, _ effects: inout [Effect]
    ) {
        for dirty in batch.dirty {
            let form = dirty.form
            switch form.existence {
            case .creating: form.existence = .gone
            case .deleting: form.existence = form.isReadable ? .there : .gone
            case .there, .gone: break
            }
            if form.existence == .gone { remove(form) }
            form.working = form.committed
            // Otherwise what was told stands, and with it how it is taken back.
            if configuration.durability == .commit { form.undo = form.undoCommitted }
        }
        if configuration.durability == .commit {
            keys.failed(batch.keys)
            unwritten.failedKeys += batch.keys.map {
                KeyDigest(uid: $0.uid, key: $0.key, at: $0.at)
            }
        } else {
            // What was told and answered stands, so it goes where the state goes: were it written
            // later, a kill between the two would have a retry done twice.
            unwritten.answers += batch.keys
            for dirty in batch.dirty where dirty.form.existence == .there {
                unwritten.revisions += dirty.revisions
            }
        }
        let error = unavailable(reason)
        for waiter in batch.waiters {
            guard let connection = settled(waiter) else { continue }
            counters.refused += 1
            if let id = waiter.id {
                answer(connection, waiter.target, id) { Answer.encode(id, error, into: &$0) }
            }
            closeOnceSettled(connection, &effects)
        }
    }

    /// What an edit is told while the store cannot write.
    func unavailable(_ reason: String) -> WireError {
        WireError(
            .unavailable,
            "the store cannot write: \(reason.escapedForDisplay()); "
                + "reading goes on, try again later"
        )
    }

    private func rebuild(_ effects: inout [Effect]) {
        if case .broken(_, let reason) = health {
            health = .rebuilding(logged: reason)
        } else {
            health = .rebuilding(logged: nil)
        }
        let image = rewriting?.image ?? imageToRebuild()
        rewriting = Rewriting(image: image, startedAt: now.monotonicNanoseconds)
        effects.append(.rebuild(image))
    }

    /// The committed state, under new logs.
    private func imageToRebuild() -> StoreImage {
        var image = StoreImage(
            revisions: unwritten.revisions, failedKeys: unwritten.failedKeys,
            answers: unwritten.answers, clock: clock.last.encoded)
        for form in forms where form.existence == .there || form.existence == .deleting {
            form.log = newLogName()
            image.forms.append(form.row(form.committed))
            for (control, cell) in zip(form.committed.definition.controls, form.committed.cells) {
                image.fields.append(
                    FieldRow(form: form.key, field: control.id, state: cell.encoded()))
            }
        }
        return image
    }

    func rebuilt(_ replica: ReplicaID, _ effects: inout [Effect]) {
        self.replica = replica
        health = .healthy
        unwritten = Unwritten()
        rewriting = nil
        log(
            .notice, "the store was written anew as \(replica); edits are taken again", &effects,
            [.event(.storeRestored)])
    }

    func rebuildFailed(_ reason: String, _ effects: inout [Effect]) {
        // Said once, not at each attempt: the log may lie on the same full disk.
        if health != .rebuilding(logged: reason) {
            log(
                .error, "the store cannot be written: \(reason); trying again", &effects,
                [.event(.storeFailed)])
        }
        let now = now.monotonicNanoseconds
        let taken = now &- (rewriting?.startedAt ?? now)
        let wait = min(
            Self.retryNanosecondsMax, max(Self.retryNanoseconds, taken &* Self.retryFactor))
        health = .broken(retryAt: now &+ wait, reason: reason)
    }

    /// A name for a new line of revisions.
    func newLogName() -> String { String(environment.random() >> 16, radix: 16) }

    // MARK: - Stopping

    /// Edits on their way are still made durable and answered; then everybody is told goodbye.
    func stop(_ reason: GoodbyeReason, _ effects: inout [Effect]) {
        guard life == .serving else { return }
        life = .stopping(reason)
        log(.info, "stopping: \(connections.count) connections", &effects)
    }

    private func finishStopping(_ effects: inout [Effect]) {
        guard case .stopping(let reason) = life, batches.isIdle,
            batches.gathering.isEmpty || health != .healthy
        else { return }
        life = .stopped(reason)
        for id in connections.keys.sorted() {
            guard let connection = connections[id] else { continue }
            bidFarewell(connection, reason, &effects)
        }
        effects.append(.drained)
    }

    /// Says goodbye behind the notifications that are still to be written: who does not come back,
    /// or comes back without `since`, has seen all that was committed.
    private func bidFarewell(
        _ connection: Connection, _ reason: GoodbyeReason, _ effects: inout [Effect]
    ) {
        let retry: Int64? = reason == .restart ? 200 : nil
        guard connection.progress == .idle, !connection.answers.isWaiting, isBehind(connection)
        else {
            return sayGoodbye(connection, reason, &effects)
        }
        connection.farewell = Answer.frame(
            .goodbye(Goodbye(reason: Goodbye.Reason(text: reason.rawValue), retryAfterMs: retry)))
        markReady(connection)
    }

    /// Whether notifications wait that can be written without the store.
    func isBehind(_ connection: Connection) -> Bool {
        connection.subscriptions.contains { $0.isOpen && $0.hasOutput }
            || connection.catalogCursor.map { $0 < catalog.next } ?? false
    }
}

extension LiveForm {
    /// Readers see at once what was changed.
    fileprivate func commitAtOnce(_ extent: Engine.Extent) {
        switch extent {
        case .cells(let cells):
            for index in cells { committed.cells[index] = working.cells[index] }
            committed.revision = working.revision
            committed.context = working.context
        case .whole: committed = working
        case .deletion: committed.revision = working.revision
        }
    }
}

extension BatchQueue.Dirty {
    /// Readers see the form as it was at the end of the batch.
    fileprivate func takeEffect() {
        switch end {
        case .cells(let cells, let revision, let context, let undo):
            for (index, cell) in cells { form.committed.cells[index] = cell }
            form.committed.revision = revision
            form.committed.context = context
            form.undoCommitted = undo
        case .whole(let state, let undo):
            form.committed = state
            form.undoCommitted = undo
        case nil: break
        }
    }
}
