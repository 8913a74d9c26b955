/// Stores forms, fields, revisions and idempotency keys in one SQLite file.
///
/// Invariants:
/// - A batch is durable as a whole before `commit` returns, or none of it is visible.
/// - After a commit with an unknown result (a failed fsync), nothing is committed until `rebuild`
///   has written the state to a new file.
/// - One daemon has the store (a lock file), with one connection that writes and checkpoints.
/// - A damaged, foreign or newer file is rejected and not changed, never replaced by an empty one.
/// - The replica of this run is new, unless the file is certainly the same one as in the last run.
///
/// The database is locked exclusively. So SQLite keeps the index of the write-ahead log in its own
/// memory: there is no mapped file for which a full disk could cause SIGBUS, and no lock calls per
/// commit.

internal import CSQLite
public import SyncCore
internal import Synchronization

/// One store, used by one thread at a time.
///
/// `@unchecked Sendable` because the daemon's loop opens it and passes each call to a worker thread
/// only after the one before has returned. A concurrent call is a programming error and traps.
public final class Store: @unchecked Sendable {
    enum DatabaseState {
        case open(Database)
        /// A commit or checkpoint failed. Only reads are allowed.
        case suspect(Database)
        /// Closed, or a rebuild stopped after it had closed the old file.
        case closed
    }

    /// The part of opening that is done before the first write, because it waits for the disk
    /// (`StoreOptions.finishesOpeningLater`).
    enum UnfinishedOpening {
        /// A new file is complete but does not have the store's name yet.
        case adoption
        /// The start of the run has not been written to the file.
        case beginning
    }

    let files: StoreFiles
    let options: StoreOptions
    let schema: Schema
    let lock: LockFile
    var databaseState: DatabaseState
    var unfinishedOpening: UnfinishedOpening?
    /// Whether the last commit failed because the disk was full. Then nothing was written and the
    /// earlier contents are valid.
    var isDiskFull = false
    /// Whether `commit` rejected edits that were already published. The next start must create new
    /// logs, because clients have seen more than the store contains.
    var hasLostEdits = false
    /// A new encryption key, which must be durable before anything that was encrypted with it.
    private var unkeptKey: UnkeptKey?
    var meta: Meta
    /// Whether pages may still have a message that was redacted.
    var hasOldPages = false
    /// The number of edits whose changes in place only the log has (`Unfolded`).
    var unfolded = 0
    /// Free pages that `maintain` returns to the file system.
    var pagesToFree = 0
    /// The copy that is being sent, if any, and the number of the last one.
    var copy: BackupCopy?
    var lastCopy: Int64 = 0
    private let busy = Atomic(false)

    init(
        files: StoreFiles, options: StoreOptions, schema: Schema, lock: LockFile,
        databaseState: DatabaseState, unfinishedOpening: UnfinishedOpening, meta: Meta
    ) {
        self.files = files
        self.options = options
        self.schema = schema
        self.lock = lock
        self.databaseState = databaseState
        self.unfinishedOpening = unfinishedOpening
        self.meta = meta
    }

    /// The path for the log and `server.status`.
    public var path: String { files.database }

    /// The replica of this run.
    public var replica: ReplicaID { exclusively { meta.replica } }

    /// Runs one call, and traps if another is in progress.
    func exclusively<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let free = busy.compareExchange(expected: false, desired: true, ordering: .acquiring)
        precondition(free.exchanged, "the store is used by two threads at once")
        defer { busy.store(false, ordering: .releasing) }
        return try body()
    }

    /// Sets a key that must be made durable before the first write, or by `rebuild`.
    public func keep(_ key: UnkeptKey) { exclusively { unkeptKey = key } }

    /// Makes the key durable if it is not yet.
    func keepKey() throws(StoreError) {
        try unkeptKey?.keep()
        unkeptKey = nil
    }

    /// Does the rest of opening: gives the new file the store's name, or writes the start of the
    /// run. After a failure the next call tries again, unless `rebuild` is needed.
    func finishOpening() throws(StoreError) {
        try keepKey()
        switch unfinishedOpening {
        case nil: return
        case .adoption:
            try files.adoptBuilding()
            try files.finishReplacement()
            let database = try Builder(files: files, options: options, schema: schema).connect()
            try lock.write(RunMark(generation: meta.generation, closed: false))
            databaseState = .open(database)
        case .beginning:
            guard case .open(let database) = databaseState else { return }
            do throws(StoreError) {
                try database.transaction { () throws(StoreError) in try meta.write(to: database) }
            } catch {
                distrust(database, after: error)
                throw error
            }
            try lock.write(RunMark(generation: meta.generation, closed: false))
        }
        unfinishedOpening = nil
    }

    func readable() throws(StoreError) -> Database {
        if case .adoption = unfinishedOpening { try finishOpening() }
        switch databaseState {
        case .open(let database), .suspect(let database): return database
        case .closed: throw .closed(file: files.database)
        }
    }

    func writable() throws(StoreError) -> Database {
        if case .open = databaseState { try finishOpening() }
        if case .adoption = unfinishedOpening { try finishOpening() }
        switch databaseState {
        case .open(let database): return database
        case .suspect: throw .suspect(file: files.database)
        case .closed: throw .closed(file: files.database)
        }
    }

    /// After an error with an unknown result, nothing more is written to the file.
    func distrust(_ database: Database, after error: StoreError) {
        isDiskFull = false
        switch error {
        case .inputOutput, .damaged: databaseState = .suspect(database)
        case .full: isDiskFull = true
        default: break
        }
    }

    /// Closes the store and releases its lock; further calls do nothing.
    ///
    /// - Parameter clean: every published edit is committed. Otherwise the next start treats this
    ///   as an unclean stop.
    /// - Throws: if the mark of a clean stop could not be written. The store is closed anyway, and
    ///   the next start treats this as an unclean stop.
    public func close(clean: Bool = true) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            defer { lock.release() }
            // A store that is not clean stays as it is.
            var failure: StoreError?
            if clean {
                do throws(StoreError) { try finishOpening() } catch { failure = error }
            }
            guard case .open(let database) = databaseState, clean, unfinishedOpening == nil,
                !hasLostEdits
            else {
                if case .suspect(let database) = databaseState {
                    database.close(checkpointing: false)
                }
                if case .open(let database) = databaseState { database.close(checkpointing: false) }
                databaseState = .closed
                if let failure { throw failure }
                return
            }
            databaseState = .closed
            defer { database.close(checkpointing: false) }
            meta.clean = true
            try database.transaction { () throws(StoreError) in
                try database.fold()
                try database.markFolded()
                try meta.write(to: database)
            }
            try database.checkpoint()
            database.close(checkpointing: true)
            try lock.write(RunMark(generation: meta.generation, closed: true))
        }
    }
}
