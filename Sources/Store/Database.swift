/// One SQLite connection, and its statements, which are prepared once.
///
/// The connection has no mutex (SQLITE_OPEN_NOMUTEX): its owner must not use it from two threads at
/// once. Every error becomes a `StoreError` that names the file. Closing checkpoints only on
/// request, so that a suspect file stays as it is.

internal import CSQLite
internal import Glibc

/// A connection to one file.
@safe
final class Database {
    let file: String
    /// Frames in the write-ahead log that were not in the file at the last commit.
    private(set) var walFrames = 0
    private var handle: OpaquePointer?
    private var kept: [Statement?] = Array(repeating: nil, count: Query.allCases.count)

    /// Opens an existing file. Symbolic links in its path are rejected (sqlite3_open_v2).
    init(opening file: String, vfs: String? = nil) throws(StoreError) {
        pickersync_sqlite_configure()
        self.file = file
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code =
            if let vfs {
                unsafe sqlite3_open_v2(file, &handle, flags, vfs)
            } else {
                unsafe sqlite3_open_v2(file, &handle, flags, nil)
            }
        guard code == SQLITE_OK else {
            let error = failure(code)
            unsafe sqlite3_close_v2(handle)
            unsafe handle = nil
            throw error
        }
        unsafe sqlite3_extended_result_codes(handle, 1)
        unsafe _ = pickersync_sqlite_checkpoint_on_close(handle, 0)
        unsafe _ = pickersync_sqlite_defensive(handle)
    }

    deinit {
        close(checkpointing: false)
    }

    /// Finalizes all prepared statements and closes the connection; further calls do nothing.
    func close(checkpointing: Bool) {
        guard unsafe handle != nil else { return }
        kept.removeAll()
        unsafe _ = pickersync_sqlite_checkpoint_on_close(handle, checkpointing ? 1 : 0)
        let code = unsafe sqlite3_close(handle)
        precondition(code == SQLITE_OK, "a statement outlives its connection")
        unsafe handle = nil
    }

    /// Compiles a statement that is used rarely.
    func prepare(_ sql: String, flags: UInt32 = 0) throws(StoreError) -> Statement {
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, sql, -1, flags, &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else { throw failure(code) }
        return unsafe Statement(statement, of: self)
    }

    /// The statement of a query, compiled at the first use.
    func statement(_ query: Query) throws(StoreError) -> Statement {
        if let statement = kept[query.rawValue] { return statement }
        let statement = try prepare(query.sql, flags: UInt32(SQLITE_PREPARE_PERSISTENT))
        kept[query.rawValue] = statement
        return statement
    }

    /// The statement of a query with its values.
    func statement<each Value: StatementValue>(
        _ query: Query, _ values: repeat each Value
    ) throws(StoreError) -> Statement {
        let statement = try statement(query)
        try statement.bind(repeat each values)
        return statement
    }

    /// Runs a query with its values, and ignores its rows.
    func run<each Value: StatementValue>(
        _ query: Query, _ values: repeat each Value
    ) throws(StoreError) {
        let statement = try statement(query)
        try statement.bind(repeat each values)
        try statement.run()
    }

    /// Runs constant statements one after the other.
    func execute(_ sql: String) throws(StoreError) {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
    }

    /// The first column of the first row, as an integer.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    /// The first column of the first row, as text.
    func text(_ sql: String) throws(StoreError) -> String {
        let statement = try prepare(sql)
        return try statement.step() ? statement.text(0) : ""
    }

    /// The number of rows that the last statement changed.
    var changes: Int { unsafe Int(sqlite3_changes64(handle)) }

    /// Rolls back a failed transaction. An error of this has no effect: then SQLite has already
    /// rolled back.
    func rollBack() {
        if unsafe sqlite3_get_autocommit(handle) == 0 {
            unsafe sqlite3_exec(handle, "ROLLBACK", nil, nil, nil)
        }
    }

    /// Runs `body` as one transaction: all of it, or nothing.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try run(.begin)
        do throws(StoreError) {
            try body()
            try run(.commit)
        } catch {
            rollBack()
            throw error
        }
    }

    /// Updates `walFrames`; SQLite then leaves all checkpoints to us (sqlite3_wal_hook).
    func countWALFrames() {
        // Not retained: the hook ends with the connection, which this object closes.
        let this = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe _ = sqlite3_wal_hook(
            handle,
            { this, _, _, frames in
                if let this = unsafe this {
                    unsafe Unmanaged<Database>.fromOpaque(this).takeUnretainedValue().walFrames =
                        Int(frames)
                }
                return SQLITE_OK
            }, this)
    }

    /// Moves the write-ahead log to the file and syncs the file (SQLITE_CHECKPOINT_PASSIVE; nobody
    /// else reads the file, so it moves everything).
    func checkpoint() throws(StoreError) {
        var inLog: Int32 = 0
        var moved: Int32 = 0
        let code = unsafe sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_PASSIVE, &inLog, &moved)
        guard code == SQLITE_OK else { throw failure(code) }
        walFrames = max(0, Int(inLog) - Int(moved))
    }

    /// Moves the write-ahead log to the file, and empties it (SQLITE_CHECKPOINT_TRUNCATE).
    func truncateLog() throws(StoreError) {
        let code = unsafe sqlite3_wal_checkpoint_v2(
            handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        guard code == SQLITE_OK else { throw failure(code) }
        walFrames = 0
    }

    /// Copies the whole file to another connection's file (sqlite3_backup_init).
    func copy(into other: Database) throws(StoreError) {
        guard let backup = unsafe sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw other.failure(unsafe sqlite3_errcode(other.handle))
        }
        let code = unsafe sqlite3_backup_step(backup, -1)
        let finish = unsafe sqlite3_backup_finish(backup)
        guard code == SQLITE_DONE, finish == SQLITE_OK else {
            throw other.failure(code == SQLITE_DONE ? finish : code)
        }
    }

    /// SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC, macros that Swift does not import.
    private static let syncFailed = SQLITE_IOERR | (4 << 8)
    private static let directorySyncFailed = SQLITE_IOERR | (5 << 8)

    func failure(_ code: Int32) -> StoreError {
        let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? ""
        switch code & 0xff {
        case SQLITE_FULL: return .full(file: file)
        case SQLITE_READONLY, SQLITE_PERM: return .readOnly(file: file)
        case SQLITE_CORRUPT, SQLITE_NOTADB:
            return .damaged(file: file, finding: message, copy: nil)
        case SQLITE_BUSY, SQLITE_LOCKED: return .locked(file: file, pid: nil)
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            let number = unsafe sqlite3_system_errno(handle)
            // A sync that fails because the disk is full has written some pages and dropped others,
            // so the result is unknown, as after any other failed sync.
            let isSync = code == Self.syncFailed || code == Self.directorySyncFailed
            if !isSync, number == ENOSPC || number == EDQUOT { return .full(file: file) }
            let cause = number == 0 ? "" : ": " + POSIX.text(number)
            return .inputOutput(file: file, reason: "\(message) (SQLite \(code))\(cause)")
        default: return .failed(file: file, reason: "\(message) (SQLite \(code))")
        }
    }
}
