// From the result of a transaction to its notification, its row, and the gathering batch.

extension Engine {
    /// Adds the result of a transaction to the gathering batch, and sets deadlines of its leases.
    func publish(_ transaction: Transaction, _ message: String?) {
        let form = transaction.form
        if let shared = transaction.shared { gather(shared, transaction.record, of: form, message) }
        guard let record = transaction.record else {
            if transaction.silent.isEmpty { return }
            onSilentWrite?(transaction.author, transaction.revision, Array(transaction.dots))
            return gather(transaction.silent, of: form)
        }
        for place in transaction.touched.indices {
            armLeases(transaction.touched.element(place), of: form)
        }
        var frame = appendFrame(of: transaction, message, tellsWas: true)
        if frame.count - Frame.headerBytes > configuration.limits.maxFrame {
            // The new values fit in a frame, as every snapshot does, but not always with the
            // earlier values. No client accepts a larger frame, so every subscriber would be
            // disconnected.
            form.changeLog.remove(from: transaction.revision, registry.retained)
            frame = appendFrame(of: transaction, message, tellsWas: false)
        }
        var cells = transaction.touched
        for index in transaction.rare?.onlySilent ?? Few() { cells.append(index) }
        publish(record, frame, cells: cells, of: form)
    }

    /// Adds the newest revision of a form to the gathering batch.
    ///
    /// - Parameters:
    ///   - frame: its notification, in the form's log.
    ///   - cells: What the store must write.
    func publish(
        _ record: RevisionRecord, _ frame: SharedBytes, cells: Few<Int>, of form: LiveForm
    ) {
        let revision = form.working.revision
        let row = RevisionRow(
            form: form.key, revision: revision, at: clocks.steadyMilliseconds(),
            frame: frame, record: record)
        if !form.isUndoStored {
            form.undo.append(
                record, bytes: row.bytesEstimate - frame.count, revision: revision,
                depthMax: configuration.limits.undoDepthMax)
        }
        gather(.cells(cells), of: form, consume row)
    }

    /// Writes the notification of a transaction to the log of its form.
    private func appendFrame(
        of transaction: Transaction, _ message: String?, tellsWas: Bool
    ) -> SharedBytes {
        let (form, state) = (transaction.form, transaction.state)
        let numbers = form.numbers(ofControls: transaction.touched, in: state.definition)
        var ranges = Few<Range<Int>>()
        let frame = form.changeLog.append(
            touched: numbers, bytesMax: configuration.limits.changeLogBytesMax
        ) { writer in
            Answer.encodeNotification("state.changed", into: &writer) { writer in
                StateChanged.encode(
                    form.stateStart, revision: Revision(clamping: transaction.revision),
                    message: message, into: &writer
                ) {
                    state.writeToken(into: &$0)
                } changes: { writer in
                    for place in transaction.touched.indices {
                        let index = transaction.touched.element(place)
                        let hasWas = tellsWas && state.definition.types[index] != .secure
                        FieldChange.encode(
                            state.definition.controls[index].id,
                            was: hasWas ? transaction.before.element(place).shownValue : nil,
                            into: &writer
                        ) { writer in
                            let start = writer.nextValue
                            state.write(
                                index,
                                notifying: transaction.rare?.concurrent.contains(sorted: index)
                                    ?? false,
                                into: &writer)
                            ranges.append(start..<writer.count)
                        }
                    }
                }
            }
        }
        transaction.texts = ranges.mapped { frame[$0] }
        return frame
    }

    // MARK: - Gathering

    /// Revisions of a form between two checks of the retention.
    private static var pruningPeriod: Int { 250 }

    /// What a transaction changed in a form.
    enum Extent {
        case cells(Few<Int>)
        /// The definition, and with it every cell; these fields are gone.
        case whole(removed: [String])
        case deletion
    }

    /// Adds a change of a form itself to the gathering batch.
    func publish(
        _ event: OpenBatch.Event, of form: LiveForm, _ extent: Extent, _ row: RevisionRow?
    ) {
        gather(extent, of: form, row)
        if waitsForCommits { link.gathering.events.append(event) } else { makeVisible(event) }
    }

    /// Adds a transaction to the gathering batch, and publishes it at once if the durability
    /// allows. The form's log has its notification.
    func gather(_ extent: Extent, of form: LiveForm, _ row: consuming RevisionRow?) {
        let limits = configuration.limits
        let added = row.map { (revision: $0.revision, uid: $0.uid, bytes: $0.bytesEstimate) }
        var dropped: (through: UInt64, bytes: Int)?
        link.gathering.withChanges(form) { changes in
            switch extent {
            case .cells(let cells):
                for place in cells.indices { changes.cells.insert(cells.element(place)) }
            case .whole(let removed):
                changes.isWhole = true
                changes.removed += removed
            case .deletion: changes.isDeleted = true
            }
            if let row = row.take() { changes.revisions.append(row) }
            if changes.revisions.count > 2 * limits.historyRevisionsMax {
                dropped = changes.dropRevisions(
                    leaving: limits.historyRevisionsMax, perUser: limits.historyRevisionsPerUser)
            }
        }
        if let added { link.gathering.bytes += added.bytes }
        if let dropped {
            link.gathering.bytes -= dropped.bytes
            prune(form, through: dropped.through)
        }
        counters.transactions += 1
        form.revisionsSincePruning += 1
        if let added {
            form.authors.note(
                added.uid, of: added.revision, runLength: limits.historyRevisionsPerUser)
            let isPiece = form.historyBytes.append(
                added.revision, bytes: added.bytes, pieceBytes: limits.historyBytesMax / 64)
            if isPiece { boundHistory(of: form) }
        }
        if form.revisionsSincePruning >= Self.pruningPeriod { prune(form) }
        publishAtOnce(extent, of: form)
    }

    /// Limits the history of a form that has grown by a fixed number of revisions: per form, and
    /// per owner. The owner's form with the longest history is pruned.
    private func boundHistory(of form: LiveForm) {
        let limits = configuration.limits
        if let dropped = form.historyBytes.drop(to: limits.historyBytesMax) {
            prune(form, through: dropped)
        }
        let user = environment.accountUID(form.owner)
        let theirs = forms.filter { environment.accountUID($0.owner) == user }
        var bytes = theirs.reduce(0) { $0 + $1.historyBytes.bytes }
        while bytes > limits.historyBytesPerUserMax,
            let largest = theirs.max(by: { $0.historyBytes.bytes < $1.historyBytes.bytes }),
            let dropped = largest.historyBytes.dropOldest()
        {
            bytes -= dropped.bytes
            prune(largest, through: dropped.through)
        }
    }

    /// Adds silent writes of cells to the batch: they become durable, and nobody is notified.
    func gather(_ cells: Few<Int>, of form: LiveForm) {
        link.gathering.withChanges(form) { changes in
            for index in cells { changes.cells.insert(index) }
        }
        publishAtOnce(.cells(cells), of: form)
    }

    /// Publishes the newest changes of a form, if they need not be durable first.
    private func publishAtOnce(_ extent: Extent, of form: LiveForm) {
        if waitsForCommits { return }
        form.commitAtOnce(extent)
        show(form, upTo: form.working.revision)
    }

    /// Subscribers may read the changes of a form up to a revision.
    func show(_ form: LiveForm, upTo revision: UInt64) {
        let isNew = form.changeLog.show(
            upTo: revision, bytesMax: configuration.limits.changeLogBytesMax,
            retained: registry.retained)
        if isNew { scheduler.noteNews(of: form) }
    }
}

extension LiveForm {
    /// Publishes the changes at once.
    func commitAtOnce(_ extent: Engine.Extent) {
        let (working, committed) = (working, committed)
        switch extent {
        case .cells(let cells):
            for place in cells.indices {
                let index = cells.element(place)
                committed.cells[index] = working.cells[index]
            }
            committed.revision = working.revision
            committed.context = working.context
            committed.shared = working.shared
        case .whole: self.committed = working.copy()
        case .deletion: committed.revision = working.revision
        }
    }
}

extension OpenBatch.FormChanges {
    /// Drops revisions that the store would delete as soon as they were written. It keeps the
    /// newest revisions, the newest of each uid, and revisions that undo another, because the store
    /// must know of them.
    ///
    /// - Returns: the revision up to which the store must prune, so that there is no gap, and the
    ///   number of bytes dropped.
    fileprivate mutating func dropRevisions(
        leaving rowsMax: Int, perUser: Int
    ) -> (through: UInt64, bytes: Int) {
        let count = revisions.count - rowsMax
        let through = revisions[count - 1].revision
        var ofUser: [UInt32?: Int] = [:]
        var kept: [RevisionRow] = []
        var bytes = 0
        for row in revisions[..<count].reversed() {
            ofUser[row.uid, default: 0] += 1
            let isWanted =
                row.undoes != nil || row.uid != nil && ofUser[row.uid, default: 0] <= perUser
            if isWanted && kept.count < rowsMax / 2 {
                kept.append(row.detached)
            } else {
                bytes += row.bytesEstimate
            }
        }
        revisions.replaceSubrange(..<count, with: kept.reversed())
        return (through, bytes)
    }
}
