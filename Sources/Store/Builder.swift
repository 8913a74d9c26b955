/// Connects to a store's file as this house wants it, and writes a whole state to a new file.

internal import SyncCore

/// Makes connections and new files of one state directory.
struct Builder {
    let files: StoreFiles
    let options: StoreOptions
    let schema: Schema

    /// Opens the database file, which `StoreFiles.inspect` found to be ours.
    func connect() throws(StoreError) -> Database {
        let file = files.database
        let database = try Database(opening: file, vfs: options.vfs)
        // First of all: from the first access on, the log's index is in our own memory.
        try database.execute("PRAGMA locking_mode = EXCLUSIVE")
        _ = try schema.check(database)
        guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
            throw .failed(file: file, reason: "no write-ahead log can be kept on this file system")
        }
        try database.execute(
            """
            PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = FAST;
            PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;
            """)
        guard try database.integer("PRAGMA synchronous") == 2 else {
            throw .failed(file: file, reason: "SQLite does not take synchronous = FULL")
        }
        if let pagesMax = options.pagesMax {
            try database.execute("PRAGMA max_page_count = \(pagesMax)")
        }
        database.countWALFrames()
        return database
    }

    /// Writes an image to the file `.building`, with what `source` still gives of its history.
    ///
    /// Nothing of it is durable yet (`StoreFiles.adoptBuilding` sees to that): the file is of no
    /// use to anybody before it is whole, so neither journal nor sync is needed.
    /// - Parameter meta: what the new file, whose path it is given, says about itself.
    func build(
        _ image: StoreImage, carryingFrom source: Database?,
        meta makeMeta: (_ file: String) throws(StoreError) -> Meta
    ) throws(StoreError) -> Meta {
        let file = files.building
        try POSIX.create(file)
        do throws(StoreError) {
            let meta = try makeMeta(file)
            let database = try Database(opening: file, vfs: options.vfs)
            defer { database.close(checkpointing: true) }
            try database.execute(
                """
                PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY;
                PRAGMA synchronous = OFF; PRAGMA auto_vacuum = INCREMENTAL;
                PRAGMA application_id = \(Schema.applicationID);
                """)
            try schema.migrate(database, from: 0)
            try database.transaction { () throws(StoreError) in
                try meta.write(to: database)
                try database.put(image)
                if let source { try Carrying(from: source, to: database).carry(image) }
                for answer in image.answers { try database.apply(.putKey(answer)) }
            }
            guard try database.text("PRAGMA journal_mode = WAL") == "wal" else {
                throw .failed(file: file, reason: "no write-ahead log can be kept here")
            }
            return meta
        } catch {
            try? files.removeBuilding()
            throw error
        }
    }
}

/// Takes history and answers of idempotency keys over from an old file, as far as it can be read.
///
/// Only what stands: a revision or a key of a batch that failed may be in the old file, and must
/// not come back with an edit that the state does not have.
struct Carrying {
    let source: Database
    let target: Database

    init(from source: Database, to target: Database) {
        self.source = source
        self.target = target
    }

    /// What cannot be read stays behind: history is worth less than a store that works.
    ///
    /// - Throws: where it cannot be written, which is no reason to leave it behind.
    func carry(_ image: StoreImage) throws(StoreError) {
        for table in ["revision", "older"] {
            for form in image.forms {
                guard let read = try? revisions(of: form, in: table) else { continue }
                // The image may bring some itself.
                let write = try target.prepare(
                    "INSERT OR IGNORE INTO \(table) (\(Query.columns)) "
                        + "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")
                while (try? read.step()) == true {
                    try write.bind(read.revisionRow)
                    try write.run()
                }
            }
        }
        try carryKeys(but: Set(image.failedKeys.map { KeyName(uid: $0.uid, key: $0.key) }))
    }

    private func revisions(
        of form: FormRow, in table: String
    ) throws(StoreError) -> Statement {
        let read = try source.prepare(
            """
            SELECT \(Query.columns) FROM \(table) \
            WHERE form = ?1 AND revision <= ?2 ORDER BY revision DESC
            """)
        try read.bind(1, form.key)
        try read.bind(2, count: form.revision)
        return read
    }

    private struct KeyName: Hashable {
        let uid: UInt32
        let key: String
    }

    private func carryKeys(but failed: Set<KeyName>) throws(StoreError) {
        guard let read = try? source.statement(.allKeys) else { return }
        defer { read.reset() }
        while (try? read.step()) == true {
            let row = read.keyRow
            guard !failed.contains(KeyName(uid: row.uid, key: row.key)) else { continue }
            try target.apply(.putKey(row))
        }
    }
}
