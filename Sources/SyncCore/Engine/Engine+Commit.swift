// Commits: when a batch is sent to the store, and what follows when it is durable.
// Engine+Failure.swift handles failed commits.

extension Engine {
    /// Nanoseconds between two writes with `durability = memory`.
    private static var memoryNanoseconds: UInt64 { 10_000_000_000 }

    /// The last step of a loop iteration: starts a commit if none is in progress.
    func endIteration() {
        if let image = link.retry(at: now.monotonicNanoseconds) { effects.append(.rebuild(image)) }
        forgetWritten()
        closeStalled()
        endFleetIteration()
        for cutOff in effects.takeCutOffs() { close(cutOff) }
        doChores()
        // What was not durable may have used dots that the other life of the store has used.
        if link.mustRebuild { rebuild(without: nil, link.trouble ?? "") }
        if link.canSend, isTimeToWrite, batchWaitsUntil == nil {
            let batch = link.send(clock: clocks.kept, at: now.monotonicNanoseconds)
            effects.append(.persist(batch))
            scheduler.commitBegan()
        }
        finishStopping()
    }

    /// With `commit` always; otherwise when the interval has passed or the daemon stops.
    private var isTimeToWrite: Bool {
        if lifecycle != .serving || !link.gathering.waiters.isEmpty { return true }
        if link.gathering.bytes > configuration.limits.unwrittenBytesMax { return true }
        return now.monotonicNanoseconds >= batchDueAt
    }

    /// When the gathering batch is to be written (monotonic nanoseconds).
    private var batchDueAt: UInt64 {
        // Before the call, which would copy the whole of `link` for an argument that reads it.
        let period = writePeriodNanoseconds
        return link.dueAt(period: period)
    }

    private var writePeriodNanoseconds: UInt64 {
        // Other hosts get what is durable, and somebody may look at it there.
        if link.gathering.isForFleet, fleet?.machine.phase == .live { return 0 }
        // No more is read while so much is not in the store.
        if fleet?.machine.waitsForStore == true { return 0 }
        return switch configuration.durability {
        case .commit: 0
        case .interval: UInt64(configuration.limits.intervalMilliseconds) * 1_000_000
        case .memory: Self.memoryNanoseconds
        }
    }

    /// Until when the gathering batch waits for somebody (monotonic nanoseconds); `nil` if it does
    /// not.
    private var batchWaitsUntil: UInt64? { lifecycle == .serving ? scheduler.batchWaitsUntil : nil }

    /// When the engine must be called next if no event arrives (monotonic nanoseconds).
    var nextDeadline: UInt64 {
        let deadline = min(link.deadline, meetsDeadlines ? clocks.nextDeadline ?? .max : .max)
        let earliest = min(deadline, fleetDeadline)
        guard link.canSend else { return earliest }
        return min(earliest, batchWaitsUntil ?? batchDueAt)
    }

    private func doChores() {
        let time = clocks.steadyMilliseconds()
        guard link.beginChores(at: now.monotonicNanoseconds, steady: time) else { return }
        let oldest = time &- Int64(configuration.limits.keyHours) * 3_600_000
        if link.keys.expire(before: oldest, now: time) {
            link.gathering.chores.append(.pruneKeys(before: oldest))
        }
        for form in forms where form.existence == .there && form.failureReport == nil {
            prune(form)
        }
    }

    /// Lets the store delete revisions beyond the retention.
    func prune(_ form: LiveForm, through dropped: UInt64 = 0) {
        form.revisionsSincePruning = 0
        let limits = configuration.limits
        let kept = UInt64(limits.historyRevisionsMax)
        let revision = form.working.revision
        let through = max(dropped, revision > kept ? revision - kept : 0)
        link.gathering.chores.append(
            .pruneRevisions(
                form: form.key, through: through,
                before: clocks.steadyMilliseconds() &- Int64(limits.historyDaysMax) * 86_400_000,
                keeping: KeptHistory(
                    revisionsPerUser: limits.historyRevisionsPerUser,
                    bytesPerUser: limits.historyBytesMax / 64, bytes: limits.historyBytesMax / 4,
                    busy: form.authors.busy(after: through))))
    }

    // MARK: - Durable

    /// A batch is durable, except the forms in `failures`.
    func committed(_ number: UInt64, _ failures: [FormFailure]) {
        guard var batch = link.take(number) else { return }
        counters.commits += 1
        link.committed(number)
        let took = now.monotonicNanoseconds &- link.sentAt
        counters.commitNanoseconds &+= took
        scheduler.commitEnded(took: took, waitsForCommits: waitsForCommits)
        let isJoinLost = failures.contains { registry.look(up: $0.form)?.link != nil }
        let refused = failures.isEmpty ? [] : leaveOut(failures, of: &batch)
        if configuration.durability == .commit {
            // Below `commit`, readers see these edits already, and perhaps later ones.
            for changes in batch.changes {
                changes.takeEffect()
                show(changes.form, upTo: changes.form.committed.revision)
            }
        }
        if isJoinLost {
            // The other hosts' log must be read again from where it was.
            link.gathering.cursor = link.cursor ?? []
        } else {
            link.cursor = batch.cursor ?? link.cursor
        }
        link.deletedForms.keep(batch.deletedForms)
        link.formFiles.committed(batch.number)
        for changes in batch.changes {
            changes.form.link?.committed(changes.shared?.items ?? [], in: batch.number)
        }
        for event in batch.events { makeVisible(event) }
        fleetCommitted(batch, isJoinLost: isJoinLost)
        link.keys.committed(batch.keys.map(\.id))
        // By index: a copy of a waiter retains each of its parts.
        for place in batch.waiters.indices { answerWaiter(batch.waiters[place]) }
        resumeAwaiting()
        for waiters in [batch.waiters, refused] {
            for place in waiters.indices {
                let connection = connections[waiters[place].connection]
                if let connection, connection.hasWork { resume(connection) }
            }
        }
    }

    /// Sends the answer of an edit that is not pending any more, or the error instead.
    func answerWaiter(_ waiter: OpenBatch.Waiter, refused error: WireError? = nil) {
        guard let connection = connections[waiter.connection] else { return }
        connection.editSettled(answerBytes: waiter.response.count)
        if error != nil { counters.refused += 1 }
        if let id = waiter.id {
            if let error {
                answer(connection, waiter.target, id) { Answer.encode(id, error, into: &$0) }
            } else {
                waiter.response.withBytes { deliver($0, to: waiter.target, connection) }
            }
        }
        closeOnceSettled(connection)
    }

    /// Resumes connections whose edits are all committed.
    func resumeAwaiting() {
        let settled = link.takeSettled()
        for connection in settled where connection.awaitsCommit {
            connection.advance(to: .idle)
            resume(connection)
        }
        for connection in settled where connection.editsPending == 0 { closeIfDone(connection) }
    }

    func makeVisible(_ event: OpenBatch.Event) {
        switch event {
        case .redefined(let form, let listing):
            form.forgetGoneNames()
            if let log = listing.newLog { begin(log, of: form) }
            for subscription in Array(form.subscriptions)
            where !mayRead(listing.readers, subscription.connection.peer) {
                revoke(subscription, at: listing.revision)
            }
            renewFilters(of: form)
            notifyListWatchers(listing.frame, for: listing.readers)
        case .created(let form, let listing):
            if form.existence == .creating { form.existence = .there }
            notifyListWatchers(listing.frame, for: listing.readers)
        case .told(_, let id, let frame): notify(id, frame)
        case .proposal(let form, let id):
            form.proposals?.tell(id)
            // `tell` writes revisions only.
            for subscription in form.subscriptions { scheduler.markReady(subscription.connection) }
        case .deleted(let form, let listing):
            form.existence = .gone
            registry.remove(form)
            show(form, upTo: listing.revision)
            notifyListWatchers(listing.frame, for: listing.readers)
        }
    }

    /// What was shown of a form is not enough for its subscribers: they come again, and get all.
    private func begin(_ log: String, of form: LiveForm) {
        form.log = log
        if form.nextLog == log { form.nextLog = nil }
        form.changeLog.dropShown(registry.retained)
        for subscription in Array(form.subscriptions) {
            sayGoodbye(subscription.connection, .restart)
        }
    }

    /// Adds the notification of a form's newest revision to its log.
    @discardableResult
    func append(_ frame: [UInt8], touched: FieldNumbers?, to form: LiveForm) -> SharedBytes {
        form.changeLog.append(
            frame, touched: touched, bytesMax: configuration.limits.changeLogBytesMax)
    }

    /// For a peer that may no longer read a form, the form is deleted.
    private func revoke(_ subscription: Subscription, at revision: UInt64) {
        let form = subscription.form
        let connection = subscription.connection
        end(subscription)
        connection.answers.append(form.changed(.deleted, at: revision))
        scheduler.markReady(connection)
    }
}

extension OpenBatch.FormChanges {
    /// Publishes the form as it was at the end of the batch.
    fileprivate func takeEffect() {
        switch end {
        case .cells(let cells, let revision, let context, let ongoing, let shared):
            form.committed.shared = shared
            for (index, cell) in cells { form.committed.cells[index] = cell }
            form.committed.revision = revision
            form.committed.context = context
            form.committed.ongoing = ongoing
        case .whole(let state): form.committed = state
        case nil: break
        }
    }
}
