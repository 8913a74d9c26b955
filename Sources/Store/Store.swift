/// Keeps forms, fields, revisions and idempotency keys in one SQLite file.
///
/// What always holds:
/// - a batch is durable as a whole before `commit` returns, or none of it is visible;
/// - after a commit whose fate is unknown (a failed fsync) nothing is committed any more until
///   `rebuild` has written the state to a new file;
/// - one daemon has the store (a lock file), by one connection that writes and checkpoints;
/// - a damaged, foreign or newer file is refused and left as it is, never replaced by an empty one;
/// - who writes dots in this run wrote none before unless the file is provably the same.
///
/// The database is locked exclusively. So SQLite keeps the index of the write-ahead log in its own
/// memory: no mapped file that a full disk could turn into SIGBUS, and no lock calls per commit.

internal import CSQLite
public import SyncCore
internal import Synchronization

/// One store, used by one thread at a time.
///
/// `@unchecked Sendable` because the daemon's loop opens it, and hands each call to a worker thread
/// when the one before has come back, which orders them; a second call meanwhile is a programmer's
/// mistake and traps.
public final class Store: @unchecked Sendable {
    /// Where the connection stands.
    enum DatabaseState {
        case open(Database)
        /// A commit or checkpoint failed: read, but write no more.
        case suspect(Database)
        /// Closed, or a rebuild stopped after it had let go of the old file.
        case closed
    }

    /// What opening leaves to the first write, since it waits for the disk (`StoreOptions`).
    enum Unsettled {
        /// A new file is built and is not the store yet.
        case adoption
        /// The file does not say yet that a run has begun.
        case beginning
    }

    let files: StoreFiles
    let options: StoreOptions
    let schema: Schema
    let lock: LockFile
    var databaseState: DatabaseState
    var unsettled: Unsettled?
    /// Whether the last commit found no room: it left nothing behind, and what was there stands.
    var lacksRoom = false
    /// Whether edits that were told early were refused by `commit`: the next start must not go on
    /// in logs that somebody saw more of.
    var hasLostEdits = false
    /// Makes a new sealing key durable, which comes before everything that was sealed with it.
    private var unkeptKey: UnkeptKey?
    var meta: Meta
    /// Free pages that `maintain` gives back to the file system.
    var pagesToFree = 0
    /// The copy that is being given out, if there is one, and the number of the last.
    var copy: BackupCopy?
    var lastCopy: Int64 = 0
    private let busy = Atomic(false)

    init(
        files: StoreFiles, options: StoreOptions, schema: Schema, lock: LockFile,
        databaseState: DatabaseState, unsettled: Unsettled, meta: Meta
    ) {
        self.files = files
        self.options = options
        self.schema = schema
        self.lock = lock
        self.databaseState = databaseState
        self.unsettled = unsettled
        self.meta = meta
    }

    /// The file, for the log and `server.status`.
    public var path: String { files.database }

    /// The replica of this run.
    public var replica: ReplicaID { exclusively { meta.replica } }

    /// Runs one call, and traps when another is under way.
    func exclusively<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let free = busy.compareExchange(expected: false, desired: true, ordering: .acquiring)
        precondition(free.exchanged, "the store is used by two threads at once")
        defer { busy.store(false, ordering: .releasing) }
        return try body()
    }

    /// Leaves a key to be made durable before the first write, or by `rebuild`.
    public func keep(_ key: UnkeptKey) { exclusively { unkeptKey = key } }

    /// Makes a key durable that is not yet.
    func keepKey() throws(StoreError) {
        try unkeptKey?.keep()
        unkeptKey = nil
    }

    /// Does what opening left to do: a new file takes the store's name, or the file says that a run
    /// has begun. After a failure it is done by the next call, or `rebuild` is due.
    func settle() throws(StoreError) {
        try keepKey()
        switch unsettled {
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
        unsettled = nil
    }

    /// The connection for reading.
    func readable() throws(StoreError) -> Database {
        if case .adoption = unsettled { try settle() }
        switch databaseState {
        case .open(let database), .suspect(let database): return database
        case .closed: throw .closed(file: files.database)
        }
    }

    /// The connection for writing.
    func writable() throws(StoreError) -> Database {
        if case .open = databaseState { try settle() }
        if case .adoption = unsettled { try settle() }
        switch databaseState {
        case .open(let database): return database
        case .suspect: throw .suspect(file: files.database)
        case .closed: throw .closed(file: files.database)
        }
    }

    /// After an error that leaves open what is on the disk, nothing more is written to it.
    func distrust(_ database: Database, after error: StoreError) {
        lacksRoom = false
        switch error {
        case .inputOutput, .damaged: databaseState = .suspect(database)
        case .full: lacksRoom = true
        default: break
        }
    }

    /// Says whether every edit is durable before anybody hears of it, when a reload changes that.
    ///
    /// To `false` before the first edit that is told early; to `true` after the commit of the last.
    public func setEveryEditDurable(_ durable: Bool) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            guard durable != meta.everyEditDurable else { return }
            let database = try writable()
            var changed = meta
            changed.everyEditDurable = durable
            try database.transaction { () throws(StoreError) in try changed.write(to: database) }
            meta = changed
        }
    }

    /// Ends the use of the store and gives its lock back; further calls do nothing.
    ///
    /// - Parameter clean: every edit that was told is committed. Else the next start takes this for
    ///   an unclean stop.
    /// - Throws: where the mark of a clean stop could not be written. The store is closed anyway,
    ///   and the next start takes this for an unclean stop.
    public func close(clean: Bool = true) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            defer { lock.release() }
            // A store that is not closed as clean stays as it was found.
            var failure: StoreError?
            if clean {
                do throws(StoreError) { try settle() } catch { failure = error }
            }
            guard case .open(let database) = databaseState, clean, unsettled == nil, !hasLostEdits
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
            try database.transaction { () throws(StoreError) in try meta.write(to: database) }
            try database.checkpoint()
            database.close(checkpointing: true)
            try lock.write(RunMark(generation: meta.generation, closed: true))
        }
    }
}
