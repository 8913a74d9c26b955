/// SQLite's check of a store's file.

internal import CSQLite

/// Looks through a database.
public enum Integrity {
    /// The errors that `PRAGMA integrity_check` finds in a file and its write-ahead log; `nil` if
    /// there are none. Opening applies the log to the file, so pass a copy.
    public static func check(_ file: String) -> String? {
        first("PRAGMA integrity_check(3)", file).flatMap { $0 == "ok" ? nil : $0 }
    }

    /// The first column of the first row, or else the error.
    public static func first(_ sql: String, _ file: String) -> String? {
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(file, &handle, SQLITE_OPEN_READWRITE, nil)
        defer { sqlite3_close_v2(handle) }
        guard code == SQLITE_OK else { return "cannot be opened: \(code)" }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else {
            return String(cString: sqlite3_errmsg(handle))
        }
        defer { sqlite3_finalize(statement) }
        guard sqlite3_step(statement) == SQLITE_ROW else {
            return String(cString: sqlite3_errmsg(handle))
        }
        return sqlite3_column_text(statement, 0).map { String(cString: $0) }
    }
}
