/// Commits batches, and keeps the write-ahead log and the file small.

internal import CSQLite
public import SyncCore

extension Store {
    /// Makes a batch durable in one transaction. Blocks for an fsync.
    ///
    /// - Returns: the forms with operations that contradict the stored rows or cannot be stored.
    ///   All operations of these forms and their answers were left out; everything else is durable.
    /// - Throws: after `.inputOutput` and `.damaged` it is *unknown* whether the batch is durable,
    ///   and only `rebuild` makes the store writable again. After any other error the batch is not
    ///   durable.
    public func commit(_ batch: Batch) throws(StoreError) -> [FormFailure] {
        try exclusively { () throws(StoreError) in
            let database = try writable()
            let steps = batch.operations
            let edits = steps.count(where: \.isEdit)
            var states = unfolded + edits <= options.unfoldedMax ? LogStates(of: steps) : nil
            var failures: [FormFailure] = []
            do throws(StoreError) {
                if states != nil, try database.prunesUnfolded(steps) { states = nil }
                if try !database.applied(steps, leaving: states) {
                    states = nil
                    failures = try database.applyFormByForm(steps)
                }
            } catch {
                distrust(database, after: error)
                throw error
            }
            unfolded = states == nil ? 0 : unfolded + edits
            isDiskFull = false
            // Below `commit`, clients already know of these edits.
            if !failures.isEmpty, !meta.everyEditDurable { hasLostEdits = true }
            if steps.contains(where: \.redacts) { hasOldPages = true }
            afterCommit(to: database, pruned: steps.contains(where: \.prunes))
            return failures
        }
    }

    /// The batch is durable, so no error here may make it fail.
    private func afterCommit(to database: Database, pruned: Bool) {
        do throws(StoreError) {
            if hasOldPages { try dropOldPages(of: database) }
            if pruned { try countPagesToFree(database) }
            // Normally the shell calls `maintain` before this. If it cannot, the log must still be
            // limited.
            if database.walFrames >= 8 * options.checkpointPages { try database.checkpoint() }
        } catch {
            distrust(database, after: error)
        }
    }

    /// Whether `maintain` has work. Call it after a commit.
    public var maintenanceDue: Bool {
        exclusively {
            guard case .open(let database) = databaseState else { return false }
            return database.walFrames >= options.checkpointPages || pagesToFree > 0 || hasOldPages
                || unfolded >= options.unfoldedMax / 2
        }
    }

    /// Folds, moves the write-ahead log to the file, and returns free pages to the file system;
    /// takes a few milliseconds.
    ///
    /// Call it on the store's thread when no batch waits, so that no answer is delayed. It may have
    /// more work afterwards.
    /// - Throws: after `.inputOutput` and `.damaged` the next commit fails, and `rebuild` is
    ///   needed.
    public func maintain() throws(StoreError) {
        try exclusively { () throws(StoreError) in
            let database = try writable()
            do throws(StoreError) {
                if hasOldPages { try dropOldPages(of: database) }
                if unfolded >= options.unfoldedMax / 2 {
                    try database.transaction { () throws(StoreError) in
                        try database.fold()
                        try database.markFolded()
                    }
                    unfolded = 0
                }
                if database.walFrames >= options.checkpointPages { try database.checkpoint() }
                if pagesToFree > 0 {
                    try database.execute("PRAGMA incremental_vacuum(\(Self.pagesFreedAtOnce))")
                    try countPagesToFree(database)
                }
            } catch {
                distrust(database, after: error)
                throw error
            }
        }
    }

    /// Removes what a redacted message has left in free pages and in the write-ahead log.
    private func dropOldPages(of database: Database) throws(StoreError) {
        try database.execute("PRAGMA incremental_vacuum")
        try database.truncateLog()
        hasOldPages = false
    }

    private static let pagesFreedAtOnce = 256

    /// Free pages are reused. The file is cut only if most of it is free.
    private func countPagesToFree(_ database: Database) throws(StoreError) {
        let free = Int(try database.integer("PRAGMA freelist_count"))
        let pages = Int(try database.integer("PRAGMA page_count"))
        // Starts when half of the pages are free and stops at a quarter, so that it does not start
        // each time.
        let bound = pagesToFree > 0 ? pages / 4 : pages / 2
        pagesToFree = free > max(bound, Self.pagesFreedAtOnce) ? free - pages / 4 : 0
    }
}

extension Database {
    /// Applies the operations in one transaction. Returns false, without any change, if an
    /// operation on a form failed.
    ///
    /// - Parameter states: what is left to the log; `nil`: everything is done in place.
    fileprivate func applied(
        _ steps: [StoreOperation], leaving states: LogStates?
    ) throws(StoreError) -> Bool {
        var isFormAtFault = false
        do throws(StoreError) {
            try transaction { () throws(StoreError) in
                if states == nil { try fold() }
                try apply(steps, leaving: states) { isFormAtFault = $0.form != nil }
                if states == nil { try markFolded() }
            }
        } catch {
            if isFormAtFault, error.concernsOneForm { return false }
            throw error
        }
        return true
    }

    /// Applies the operations in one transaction, with one savepoint per form. A savepoint needs a
    /// journal, so this is only for batches with a form that fails.
    ///
    /// - Returns: the forms that failed; none of their operations is applied.
    fileprivate func applyFormByForm(
        _ steps: [StoreOperation]
    ) throws(StoreError) -> [FormFailure] {
        var order: [FormKey?] = []
        var groups: [FormKey?: [StoreOperation]] = [:]
        for step in steps {
            if groups[step.form] == nil { order.append(step.form) }
            groups[step.form, default: []].append(step)
        }
        var failures: [FormFailure] = []
        try transaction { () throws(StoreError) in
            try fold()
            for form in order {
                let steps = groups[form] ?? []
                guard let form else {
                    try apply(steps)
                    continue
                }
                let failure = try savepoint { () throws(StoreError) in try apply(steps) }
                if let failure {
                    failures.append(FormFailure(form: form, reason: failure.reason))
                }
            }
            try markFolded()
        }
        return failures
    }

    /// Runs `body` as a part of a transaction that can be rolled back separately.
    ///
    /// - Returns: the error that rolled the part back, if it concerns one form.
    private func savepoint(
        _ body: () throws(StoreError) -> Void
    ) throws(StoreError) -> StoreError? {
        try execute("SAVEPOINT part")
        var failure: StoreError?
        do throws(StoreError) {
            try body()
        } catch {
            guard error.concernsOneForm else { throw error }
            failure = error
        }
        if failure != nil { try execute("ROLLBACK TO part") }
        try execute("RELEASE part")
        return failure
    }
}

extension StoreOperation {
    /// Whether no file may keep what the operation replaced.
    fileprivate var redacts: Bool { if case .redactRevision = self { true } else { false } }

    fileprivate var isEdit: Bool { if case .appendRevision = self { true } else { false } }

    /// Whether the operation leaves free pages.
    fileprivate var prunes: Bool {
        switch self {
        case .pruneRevisions, .pruneKeys, .deleteForm: true
        default: false
        }
    }
}
