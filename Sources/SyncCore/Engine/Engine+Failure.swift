// What happens when the disk says no, and when the daemon is to end.
//
// Always holds: nobody has been told of an edit that a failed commit took back, and nobody is told
// goodbye before what was committed.

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
    /// every attempt: the loop goes through the state once, however long the disk stays full.
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

    // MARK: - Failure

    /// A commit may or may not have happened. Nobody has been told of its edits; they are answered
    /// `unavailable`, and what is there goes to a new file under a new epoch, so that no dot of
    /// this batch is ever issued twice (ARCHITECTURE.md, The life of an edit).
    func commitFailed(_ number: UInt64, _ reason: String, _ effects: inout [Effect]) {
        guard let batch = batches.take(number) else { return }
        counters.commitFailures += 1
        log(
            .error, "the store could not commit: \(reason); edits are refused meanwhile", &effects,
            [.event(.storeFailed)])
        rollBack(batch, reason, &effects)
        rollBack(batches.takeGathering(), reason, &effects)
        forgetEdits()
        committers.removeAll(keepingCapacity: true)
        awaited.removeAll(keepingCapacity: true)
        rebuild(&effects)
        resumeAwaiting(&effects)
    }

    private func rollBack(
        _ batch: BatchQueue.Open, _ reason: String, _ effects: inout [Effect]
    ) {
        for changes in batch.changes { rollBack(changes.form) }
        if configuration.durability == .commit {
            keys.failed(batch.keys.map(\.row))
            unwritten.failedKeys += batch.keys.lazy.map(\.row).map {
                KeyDigest(uid: $0.uid, key: $0.key, at: $0.at)
            }
        } else {
            // What was told and answered stands, so it goes where the state goes: were it written
            // later, a kill between the two would have a retry done twice.
            unwritten.answers += batch.keys.map(\.row)
            for changes in batch.changes where changes.form.existence == .there {
                unwritten.revisions += changes.revisions
            }
        }
        let error = unavailable(reason)
        for waiter in batch.waiters {
            guard let connection = settled(waiter) else { continue }
            if configuration.durability != .commit {
                // It stands, and waited for the disk to catch up alone.
                if waiter.id != nil { deliver(waiter.response, to: waiter.target, connection) }
                closeOnceSettled(connection, &effects)
                continue
            }
            refuse(waiter, connection, error, &effects)
        }
    }

    /// Makes a form again what it was when it was last committed.
    func rollBack(_ form: LiveForm) {
        switch form.existence {
        case .creating: form.existence = .gone
        case .deleting: form.existence = form.isReadable ? .there : .gone
        case .there, .gone: break
        }
        if form.existence == .gone { remove(form) }
        form.working = form.committed.copy()
        // Below `commit` what was told remains, and with it how it is undone.
        if configuration.durability == .commit {
            form.undo = UndoJournal()
            form.isUndoStored = true
        }
    }

    /// Answers an edit that was not made durable.
    func refuse(
        _ waiter: BatchQueue.Waiter, _ connection: Connection, _ error: WireError,
        _ effects: inout [Effect]
    ) {
        counters.refused += 1
        if let id = waiter.id {
            answer(connection, waiter.target, id) { Answer.encode(id, error, into: &$0) }
        }
        closeOnceSettled(connection, &effects)
    }

    /// What an edit is told while the store cannot write.
    func unavailable(_ reason: String) -> WireError {
        WireError(
            .unavailable,
            "the store cannot write: \(reason.escapedForDisplay()); "
                + "reading still works; try again later"
        )
    }

    func rebuild(_ effects: inout [Effect]) {
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
            answers: unwritten.answers, clock: steady.kept(with: clock.last))
        for form in forms where form.existence == .there || form.existence == .deleting {
            form.log = newLogName()
            image.forms.append(form.row(form.committed))
            for (control, cell) in zip(form.committed.definition.controls, form.committed.cells) {
                image.fields.append(
                    FieldRow(form: form.key, field: control.id, cell: CellRow(cell)))
            }
        }
        return image
    }

    func rebuilt(_ replica: ReplicaID, _ effects: inout [Effect]) {
        self.replica = replica
        health = .healthy
        unwritten = Unwritten()
        rewriting = nil
        // The new file has what is in memory: nothing in it can contradict a form's edits.
        for form in forms { form.failureReport = nil }
        log(
            .notice, "the store was rebuilt as \(replica); edits are accepted again", &effects,
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
        guard lifecycle == .serving else { return }
        lifecycle = .stopping(reason)
        log(.info, "stopping: \(connections.count) connections", &effects)
    }

    func finishStopping(_ effects: inout [Effect]) {
        guard case .stopping(let reason) = lifecycle, batches.isIdle,
            batches.gathering.isEmpty || health != .healthy
        else { return }
        lifecycle = .stopped(reason)
        for connection in connections.inOrder { bidFarewell(connection, reason, &effects) }
        effects.append(.drained)
    }

    /// Says goodbye behind the notifications that are still to be written: who does not come back,
    /// or comes back without `since`, has seen all that was committed.
    private func bidFarewell(
        _ connection: Connection, _ reason: GoodbyeReason, _ effects: inout [Effect]
    ) {
        let retry: Int64? = reason == .restart ? 200 : nil
        guard connection.progress == .idle, !connection.answers.isWaiting,
            hasUnsentNotifications(connection)
        else {
            return sayGoodbye(connection, reason, &effects)
        }
        connection.farewell = Answer.frame(
            .goodbye(Goodbye(reason: Goodbye.Reason(text: reason.rawValue), retryAfterMs: retry)))
        markReady(connection)
    }

    /// Whether notifications wait that can be written without the store.
    func hasUnsentNotifications(_ connection: Connection) -> Bool {
        connection.subscriptions.contains {
            connection.answers.isAnswered($0.answer) && $0.hasOutput
        } || connection.catalogCursor.map { $0 < catalog.next } ?? false
    }
}
