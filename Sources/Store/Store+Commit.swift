/// Committing batches, and keeping the write-ahead log and the file small.

internal import CSQLite
public import SyncCore

extension Store {
    /// Makes a batch durable: all of it, or nothing. Blocks for an fsync.
    ///
    /// - Throws: after `.inputOutput` and `.damaged` it is *unknown* whether the batch is durable,
    ///   and only `rebuild` makes the store writable again. After any other error it is not.
    public func commit(_ batch: Batch) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            let database = try writable()
            let superseded = Superseded(in: batch.operations)
            var prunes = false
            do throws(StoreError) {
                try database.transaction { () throws(StoreError) in
                    for (index, operation) in batch.operations.enumerated()
                    where !superseded.contains(index) {
                        try database.apply(operation)
                        prunes = prunes || operation.prunes
                    }
                }
            } catch {
                distrust(database, after: error)
                throw error
            }
            lacksRoom = false
            afterCommit(to: database, pruned: prunes)
        }
    }

    /// The batch is durable: nothing here may fail it.
    private func afterCommit(to database: Database, pruned: Bool) {
        do throws(StoreError) {
            if pruned { try countPagesToFree(database) }
            // The shell calls `maintain` in time; if it cannot, the log is bounded all the same.
            if database.walFrames >= 8 * options.checkpointPages { try database.checkpoint() }
        } catch {
            distrust(database, after: error)
        }
    }

    /// Whether `maintain` has something to do. Ask after a commit.
    public var maintenanceDue: Bool {
        exclusively {
            guard case .open(let database) = connection else { return false }
            return database.walFrames >= options.checkpointPages || pagesToFree > 0
        }
    }

    /// Moves the write-ahead log into the file, and gives free pages back; some milliseconds.
    ///
    /// Call it on the store's thread when no batch waits, so that no answer waits for it. It may be
    /// due again afterwards.
    /// - Throws: after `.inputOutput` and `.damaged` the next commit fails, and `rebuild` is due.
    public func maintain() throws(StoreError) {
        try exclusively { () throws(StoreError) in
            let database = try writable()
            do throws(StoreError) {
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

    private static let pagesFreedAtOnce = 256

    /// Free pages are used again; only a file that is mostly free is cut.
    private func countPagesToFree(_ database: Database) throws(StoreError) {
        let free = Int(try database.integer("PRAGMA freelist_count"))
        let pages = Int(try database.integer("PRAGMA page_count"))
        // Down to a quarter once it has grown past a half, so that it does not begin at every turn.
        let bound = pagesToFree > 0 ? pages / 4 : pages / 2
        pagesToFree = free > max(bound, Self.pagesFreedAtOnce) ? free - pages / 4 : 0
    }
}

extension StoreOperation {
    /// Whether it leaves free pages behind.
    fileprivate var prunes: Bool {
        switch self {
        case .pruneRevisions, .pruneKeys, .deleteForm: true
        default: false
        }
    }
}

/// Which steps of a batch a later one of it overwrites: a hot field need not be written for each of
/// the edits that came in meanwhile.
struct Superseded {
    private var steps: [Bool]

    private struct FieldName: Hashable {
        let form: FormKey
        let field: String
    }

    /// Looks from the end: the last one of each counts, up to a step that adds or removes forms.
    init(in operations: [StoreOperation]) {
        steps = Array(repeating: false, count: operations.count)
        var heads: Set<FormKey> = []
        // Bytes decide here as in SQLite; canonically equivalent names are ASCII and so equal.
        var fields: Set<FieldName> = []
        var clock = false
        for index in operations.indices.reversed() {
            switch operations[index] {
            case .putHead(let form, _, _):
                steps[index] = !heads.insert(form).inserted
            case .putField(let row):
                let name = FieldName(form: row.form, field: row.field)
                steps[index] = !fields.insert(name).inserted
            case .putClock:
                steps[index] = clock
                clock = true
            case .putForm, .deleteForm, .removeField:
                heads.removeAll()
                fields.removeAll()
            case .appendRevision, .pruneRevisions, .putKey, .pruneKeys: break
            }
        }
    }

    func contains(_ index: Int) -> Bool { steps[index] }
}
