/// Opens a store's file with the right settings, and writes a whole state to a new file.

internal import SyncCore

/// Creates connections and new files in one state directory.
struct Builder {
    let files: StoreFiles
    let options: StoreOptions
    let schema: Schema

    /// Opens the database file, which `StoreFiles.inspect` has checked.
    func connect() throws(StoreError) -> Database {
        let file = files.database
        let database = try Database(opening: file, vfs: options.vfs)
        // This comes first: from the first access on, the index of the write-ahead log is in our
        // own memory.
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

    /// Writes an image to the file `.building`, with the history that can be read from `source`.
    ///
    /// None of it is durable yet; `StoreFiles.adoptBuilding` makes it so. An incomplete file is
    /// useless, so neither journal nor sync is needed.
    /// - Parameter meta: the `meta` rows of the new file, whose path it gets.
    func build(
        _ image: StoreImage, historyFrom source: Database?,
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
                if let source { try HistoryCopy(from: source, to: database).copy(image) }
                for answer in image.answers { try database.apply(.putKey(answer)) }
                try database.markFolded()
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

/// Copies history and answers of idempotency keys from an old file, as far as it can be read.
///
/// Revisions and keys of failed batches may be in the old file. They are not copied, because the
/// state does not contain their edits.
struct HistoryCopy {
    let source: Database
    let target: Database

    init(from source: Database, to target: Database) {
        self.source = source
        self.target = target
    }

    /// Copies what can be read, because a working store matters more than history.
    ///
    /// - Throws: if the copy cannot be written.
    func copy(_ image: StoreImage) throws(StoreError) {
        // The image may contain some revisions itself.
        let own = image.firstRevisions
        for form in image.forms {
            try copyLog(of: form.key, through: min(form.revision, (own[form.key] ?? .max) - 1))
            try copyOlder(of: form)
        }
        try copyKeys(but: Set(image.failedKeys.map { KeyName(uid: $0.uid, key: $0.key) }))
    }

    private func copyLog(of form: FormKey, through: UInt64) throws(StoreError) {
        guard let read = try? source.statement(.logBefore, form, through + 1) else { return }
        defer { read.reset() }
        // Watchers and history need a gapless log: what is older than a damaged row goes too.
        var next: UInt64?
        while (try? read.step()) == true, let row = read.logRow,
            row.last + 1 == next ?? row.last + 1
        {
            let heads = row.heads.prefix { $0.revision <= through }
            let revisions = heads.compactMap { read.revision($0, of: row, form) }
            guard revisions.count == heads.count else { break }
            next = row.first
            try target.insert(revisions[...])
        }
    }

    private func copyOlder(of form: FormRow) throws(StoreError) {
        guard let read = try? source.statement(.older, form.key, form.revision + 1)
        else { return }
        defer { read.reset() }
        while (try? read.step()) == true { try target.putOlder(read.revisionRow) }
    }

    private struct KeyName: Hashable {
        let uid: UInt32
        let key: String
    }

    private func copyKeys(but failed: Set<KeyName>) throws(StoreError) {
        guard let read = try? source.statement(.allKeys) else { return }
        defer { read.reset() }
        while (try? read.step()) == true {
            let row = read.keyRow
            guard !failed.contains(KeyName(uid: row.uid, key: row.key)) else { continue }
            try target.apply(.putKey(row))
        }
    }
}
