// Failed commits, and the stop of the daemon.
//
// Invariants: no client has been told of an edit that a failed commit rolled back. A client gets
// `goodbye` only after everything that was committed.

extension Engine {
    /// Contents of failed batches for the rebuilt store.
    struct Unwritten {
        /// Answers that were sent below `commit` and are in no file.
        var answers: [KeyRow] = []
        var revisions: [RevisionRow] = []
        /// Keys that are unused again, although the old file may contain them.
        var failedKeys: [KeyDigest] = []
    }

    // MARK: - Failure

    /// A commit may or may not have succeeded. No client has been told of its edits; they are
    /// answered `unavailable`. The committed state is written to a new file with a new replica, so
    /// no dot of this batch can be issued twice (ARCHITECTURE.md, The life of an edit).
    func commitFailed(_ number: UInt64, _ reason: String) {
        guard let batch = link.take(number) else { return }
        counters.commitFailures += 1
        log(
            .error, "the store could not commit: \(reason); edits are refused meanwhile",
            [.event(.storeFailed)])
        rebuild(without: batch, reason)
    }

    /// Writes the store again without what is not durable: a failed batch, and the one that
    /// gathers.
    func rebuild(without batch: OpenBatch?, _ reason: String) {
        var unwritten = Unwritten()
        if let batch { rollBack(batch, reason, &unwritten) }
        rollBack(link.takeGathering(), reason, &unwritten)
        scheduler.commitFailed()
        fleetFailed()
        let image = image(with: unwritten)
        link.rebuild(image, at: now.monotonicNanoseconds)
        effects.append(.rebuild(image))
        resumeAwaiting()
    }

    func rollBack(_ batch: OpenBatch, _ reason: String, _ unwritten: inout Unwritten) {
        for changes in batch.changes { rollBack(changes.form) }
        if configuration.durability == .commit {
            link.keys.failed(batch.keys.map(\.row))
            unwritten.failedKeys += batch.keys.map {
                KeyDigest(uid: $0.row.uid, key: $0.row.key, at: $0.row.at)
            }
        } else {
            // These answers were sent, so they are written together with the state. If they were
            // written later, a kill in between would let a retry be executed twice.
            unwritten.answers += batch.keys.map(\.row)
            link.deletedForms.keep(batch.deletedForms)
            for changes in batch.changes where changes.form.existence == .there {
                unwritten.revisions += changes.revisions
            }
        }
        // Below `commit` the edits are still valid; their answers only waited for the slow disk.
        let error = waitsForCommits ? WireError.storeUnavailable(reason) : nil
        for waiter in batch.waiters { answerWaiter(waiter, refused: error) }
    }

    /// Restores the last committed state of a form.
    func rollBack(_ form: LiveForm) {
        let lives = form.working.shared?.lives
        switch form.existence {
        case .creating: form.existence = .gone
        case .deleting: form.existence = form.isReadable ? .there : .gone
        case .there, .gone: break
        }
        if form.existence == .gone { registry.remove(form) }
        form.working = form.committed.copy()
        form.nextLog = nil
        form.changeLog.remove(from: form.changeLog.next, registry.retained)
        form.link?.drop()
        if let lives {
            // The last that others hear of it may have what is rolled back.
            let whole = form.existence == .gone ? nil : form.whole(of: form.committed)
            link.gathering.chores += link.partingForms.cut(form.name, lives, to: whole)
        }
        restoreHolders(of: form)
        link.formFiles.rollBack(form.name)
        armLeases(of: form)
        if form.runs != nil { rollBackRuns(of: form) }
        armProposals(of: form)
        // Below `commit`, published edits remain, and so does their undo journal.
        if configuration.durability == .commit {
            form.undo = UndoJournal()
            form.isUndoStored = true
        }
    }

    /// The committed state, with new logs.
    func image(with unwritten: Unwritten) -> StoreImage {
        var image = StoreImage(
            revisions: unwritten.revisions, failedKeys: unwritten.failedKeys,
            answers: unwritten.answers, clock: clocks.kept)
        image.takesNewReplicaID = link.leavesReplica
        if let row = registry.proposalNumberRow { image.ongoing.append(row) }
        if let cursor = link.cursor { image.ongoing.append(.cursor(cursor)) }
        image.ongoing += link.deletedForms.rows + link.partingForms.rows + link.formFiles.rows
        if let shared = link.shared { image.ongoing.append(shared.row) }
        for form in forms where form.existence == .there || form.existence == .deleting {
            form.log = newLogName()
            image.forms.append(form.row(form.committed))
            for (control, cell) in zip(form.committed.definition.controls, form.committed.cells) {
                image.fields.append(
                    FieldRow(form: form.key, field: control.id, cell: CellRow(cell)))
            }
            image.fields += (form.committed.shared?.hidden ?? []).map(form.row(hidden:))
            image.ongoing += form.committed.ongoing.rows(of: form.key)
        }
        return image
    }

    func rebuilt(_ replica: ReplicaID) {
        self.replica = replica
        link.rebuilt()
        // The new file contains the state in memory, so no operation on a form can fail because of
        // old rows.
        for form in forms {
            if form.failureReport != nil {
                form.failureReport = nil
                // What was due meanwhile was passed over.
                armLeases(of: form)
                armProposals(of: form)
            }
            if form.runs != nil { serveRuns(of: form) }
            // The failed batch may have been the one with which it began to be shared.
            if form.existence == .there { connectLink(of: form) }
        }
        log(
            .notice, "the store was rebuilt as \(replica); edits are accepted again",
            [.event(.storeRestored)])
        fleetRebuilt()
    }

    func rebuildFailed(_ reason: String) {
        guard link.rebuildFailed(reason, at: now.monotonicNanoseconds) else { return }
        log(.error, "the store cannot be written: \(reason); trying again", [.event(.storeFailed)])
    }

    func newLogName() -> String { String(environment.random() >> 16, radix: 16) }

    // MARK: - Stopping

    /// Stops the daemon: pending edits are committed and answered, then all clients get `goodbye`.
    func stop(_ reason: GoodbyeReason) {
        guard lifecycle == .serving else { return }
        lifecycle = .stopping(reason)
        log(.info, "stopping: \(connections.count) connections")
    }

    func finishStopping() {
        guard case .stopping(let reason) = lifecycle, !link.isCommitting,
            link.gathering.isEmpty || !link.isHealthy
        else { return }
        lifecycle = .stopped(reason)
        leaveFleet()
        for connection in connections.inOrder { bidFarewell(connection, reason) }
        effects.append(.drained)
    }

    /// Sends `goodbye` after the pending notifications. A client that does not reconnect, or that
    /// reconnects without `since`, has then seen everything that was committed.
    private func bidFarewell(_ connection: Connection, _ reason: GoodbyeReason) {
        guard connection.progress == .idle, !connection.answers.isWaiting,
            hasUnsentNotifications(connection)
        else { return sayGoodbye(connection, reason) }
        connection.farewell = reason.frame
        scheduler.markReady(connection)
    }

    /// Whether there are notifications that can be sent without the store.
    func hasUnsentNotifications(_ connection: Connection) -> Bool {
        connection.subscriptions.contains {
            connection.answers.isAnswered($0.answer) && $0.hasOutput
        } || registry.catalog.hasOutput(for: connection)
    }
}
