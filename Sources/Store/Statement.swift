/// A compiled statement: values in, rows out.
///
/// It can be used again after `run`, and after `step` returned false or threw. To stop before the
/// last row, call `reset`.

internal import CSQLite
internal import SyncCore

/// One compiled statement of one connection.
@safe
final class Statement {
    private let handle: OpaquePointer
    /// Not retained: the connection owns its prepared statements, and other statements have a
    /// shorter life.
    private unowned let database: Database

    init(_ handle: OpaquePointer, of database: Database) {
        unsafe self.handle = handle
        self.database = database
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    // MARK: Values, the first has index 1

    /// Binds all values, in their order.
    func bind<each Value: StatementValue>(_ values: repeat each Value) throws(StoreError) {
        var index: Int32 = 0
        for value in repeat each values {
            index += 1
            try check(value.bind(to: self, at: index))
        }
    }

    fileprivate func bindNull(_ index: Int32) -> Int32 {
        unsafe sqlite3_bind_null(handle, index)
    }

    fileprivate func bind(_ index: Int32, _ value: Int64) -> Int32 {
        unsafe sqlite3_bind_int64(handle, index, value)
    }

    fileprivate func bind(_ index: Int32, _ value: String) -> Int32 {
        var value = value
        return value.withUTF8 { text in
            unsafe text.withMemoryRebound(to: CChar.self) { text in
                unsafe sqlite3_bind_text64(
                    handle, index, text.baseAddress ?? Self.nothing, UInt64(text.count),
                    pickersync_sqlite_transient(), UInt8(SQLITE_UTF8))
            }
        }
    }

    fileprivate func bind(_ index: Int32, _ bytes: UnsafeBufferPointer<UInt8>) -> Int32 {
        if bytes.isEmpty {
            // A null pointer would bind NULL.
            unsafe sqlite3_bind_zeroblob(handle, index, 0)
        } else {
            unsafe sqlite3_bind_blob64(
                handle, index, bytes.baseAddress, UInt64(bytes.count),
                pickersync_sqlite_transient())
        }
    }

    /// The address of the empty string, because a null pointer would bind NULL. Never written,
    /// never freed.
    private static nonisolated(unsafe) let nothing: UnsafePointer<CChar> = {
        let byte = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
        unsafe byte.initialize(to: 0)
        return unsafe UnsafePointer(byte)
    }()

    // MARK: Running

    /// Runs a statement and ignores its rows.
    func run() throws(StoreError) {
        while try step() {}
    }

    /// Moves to the next row; false after the last one.
    func step() throws(StoreError) -> Bool {
        let code = unsafe sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        // The error is read before the reset, because the reset of another statement would
        // overwrite it.
        let error = code == SQLITE_DONE ? nil : database.failure(code)
        reset()
        if let error { throw error }
        return false
    }

    /// Drops unread rows and the bound values.
    func reset() {
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    // MARK: Columns of the present row, the first has index 0

    func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(handle, column)
    }

    /// `nil` if the column is NULL.
    func optionalInteger(_ column: Int32) -> Int64? {
        let isNull = unsafe sqlite3_column_type(handle, column) == SQLITE_NULL
        return isNull ? nil : integer(column)
    }

    func count(_ column: Int32) -> UInt64 {
        UInt64(clamping: integer(column))
    }

    func text(_ column: Int32) -> String {
        guard let base = unsafe sqlite3_column_text(handle, column) else { return "" }
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe String(
            decoding: UnsafeBufferPointer(start: base, count: count), as: UTF8.self)
    }

    func blob(_ column: Int32) -> [UInt8] {
        unsafe withBlob(column) { unsafe [UInt8]($0) }
    }

    /// Passes the bytes of a blob to `body`.
    func withBlob<Result>(
        _ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        // The count comes after the bytes (sqlite3_column_blob).
        let base = unsafe sqlite3_column_blob(handle, column)
        let count = unsafe Int(sqlite3_column_bytes(handle, column))
        return unsafe body(UnsafeRawBufferPointer(start: base, count: base == nil ? 0 : count))
    }

    private func check(_ code: Int32) throws(StoreError) {
        guard code == SQLITE_OK else {
            let error = database.failure(code)
            reset()
            throw error
        }
    }
}

/// What a statement takes as a value.
protocol StatementValue {
    /// Returns SQLite's result.
    func bind(to statement: Statement, at index: Int32) -> Int32
}

extension Int64: StatementValue {
    func bind(to statement: Statement, at index: Int32) -> Int32 { statement.bind(index, self) }
}

/// A count, which always fits in SQLite's 63 bits in practice.
extension UInt64: StatementValue {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        statement.bind(index, Int64(clamping: self))
    }
}

extension String: StatementValue {
    func bind(to statement: Statement, at index: Int32) -> Int32 { statement.bind(index, self) }
}

extension [UInt8]: StatementValue {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        unsafe withUnsafeBufferPointer { unsafe statement.bind(index, $0) }
    }
}

extension SharedBytes: StatementValue {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        unsafe withBytes { unsafe statement.bind(index, $0) }
    }
}

extension Optional: StatementValue where Wrapped: StatementValue {
    func bind(to statement: Statement, at index: Int32) -> Int32 {
        map { $0.bind(to: statement, at: index) } ?? statement.bindNull(index)
    }
}
