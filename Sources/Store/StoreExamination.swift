/// A report about a store that is not in use (`pickersyncd --check`).

internal import Glibc
public import SyncCore

/// A store on disk.
public struct StoreExamination: Sendable, Hashable {
    /// The schema version of the file, and that of this program.
    public var schema: Int
    public var currentSchema: Int
    /// The replica of the last run.
    public var replica: ReplicaID
    /// Whether the last daemon closed it.
    public var wasClosed: Bool
    public var forms: Int
    public var revisions: Int
    /// Bytes of the file.
    public var bytes: Int

    /// Checks a database; throws if it is damaged.
    init(_ database: Database, version: Int) throws(StoreError) {
        let finding = try database.text("PRAGMA quick_check(1)")
        guard finding == "ok" else {
            throw .damaged(file: database.file, finding: finding, copy: nil)
        }
        if version >= 7 { _ = try database.unfolded() }
        let meta = try Meta(reading: database)
        schema = version
        currentSchema = Schema.current.version
        replica = meta.replica
        wasClosed = meta.clean
        forms = Int(try database.integer("SELECT count(*) FROM form"))
        let newest =
            version < 6
            ? "SELECT count(*) FROM revision" : "SELECT total(last - first + 1) FROM log"
        revisions = Int(try database.integer(newest))
        if version >= 3 { revisions += Int(try database.integer("SELECT count(*) FROM older")) }
        bytes =
            Int(try database.integer("PRAGMA page_count"))
            * Int(try database.integer("PRAGMA page_size"))
    }
}

extension Store {
    /// Checks the store of a state directory without changing it; `nil` if there is none.
    ///
    /// - Throws: `.locked` if a daemon uses it.
    public static func examine(directory: String) throws(StoreError) -> StoreExamination? {
        let files = StoreFiles(at: try POSIX.resolve(directory))
        let locked = unsafe Glibc.open(files.lock, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        defer { if locked >= 0 { LockFile.unlock(locked) } }
        if locked >= 0, flock(locked, LOCK_SH | LOCK_NB) != 0, errno == EWOULDBLOCK {
            throw .locked(file: files.lock, pid: LockFile.holder(of: files.lock))
        }
        // A file that was declared as the store but does not have its name yet is the store.
        let isDeclared = try POSIX.exists(files.new)
        let file = isDeclared ? files.new : files.database
        guard try POSIX.exists(file) else { return nil }
        try StoreFiles.checkHeader(of: file)
        let database = try Database(opening: file)
        // The log is read into memory and not changed.
        defer { database.close(checkpointing: false) }
        try database.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA query_only = ON")
        return try StoreExamination(database, version: try Schema.current.check(database))
    }
}
