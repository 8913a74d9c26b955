/// The tables, and the numbered migrations from older files.
///
/// `user_version` is the number of migrations of a file. Each migration is one transaction, so a
/// file always has exactly one version. New migrations are added only at the end.

internal import CSQLite
internal import SyncCore

struct Schema {
    /// Marks the file as ours: "PKSY" (SQLite file format, section 1.3.17). `StoreFiles.inspect`
    /// checks it.
    static let applicationID: Int64 = 0x504b_5359

    enum Step: Sendable {
        case sql(String)
        /// What SQL cannot say.
        case code(@Sendable (Database) throws(StoreError) -> Void)
    }

    /// The migrations; the first one creates the tables of version 1.
    var steps: [Step]

    /// The version after all migrations.
    var version: Int { steps.count }

    static let current = Schema(
        steps: [version1, version2, version3, version4, version5].map(Step.sql)
            + [.code(version6), .code(version7)])

    /// The row of `meta` with the program that wrote the file, for programs that cannot read the
    /// rest. It is the same in every version.
    static let writer = "writer"

    /// - `head` is separate from `form` because it changes with each revision, and a definition may
    ///   fill many pages.
    /// - `field` is clustered by its key, so an edit changes one page of it.
    /// - `idempotency` has a row number, so that rows are appended and only the small index changes
    ///   at random places. So has `revision` since version 4.
    /// - No foreign keys: `deleteForm` removes the rows of a form, and edits need no look-ups.
    private static let version1 = """
        CREATE TABLE meta (
            name TEXT NOT NULL PRIMARY KEY, value ANY NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE form (
            key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, log TEXT NOT NULL,
            owner INTEGER NOT NULL, version INTEGER NOT NULL,
            definition BLOB NOT NULL, applied BLOB NOT NULL
        ) STRICT;
        CREATE TABLE head (
            form INTEGER PRIMARY KEY, revision INTEGER NOT NULL, context BLOB NOT NULL
        ) STRICT;
        CREATE TABLE field (
            form INTEGER NOT NULL, field TEXT NOT NULL, state BLOB NOT NULL,
            PRIMARY KEY (form, field)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE revision (
            form INTEGER NOT NULL, revision INTEGER NOT NULL, at INTEGER NOT NULL,
            frame BLOB NOT NULL, record BLOB NOT NULL,
            PRIMARY KEY (form, revision)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE idempotency (
            number INTEGER PRIMARY KEY, uid INTEGER NOT NULL, key TEXT NOT NULL,
            at INTEGER NOT NULL, digest INTEGER NOT NULL, result BLOB NOT NULL,
            UNIQUE (uid, key)
        ) STRICT;
        CREATE INDEX idempotency_at ON idempotency (at);
        """

    /// Since version 2, a file contains the program that wrote it last.
    private static let version2 = """
        INSERT INTO meta (name, value) VALUES ('\(writer)', '');
        """

    /// Since version 3, a revision has its author's uid and the revision that it undid, and `older`
    /// has the revisions of each user that are kept beyond the newest ones of a form. Older rows
    /// have neither and belong to nobody until they expire. `back` is negative if only some fields
    /// of the other revision were undone.
    private static let version3 = """
        ALTER TABLE revision ADD COLUMN uid INTEGER;
        ALTER TABLE revision ADD COLUMN back INTEGER;
        CREATE TABLE older (
            form INTEGER NOT NULL, revision INTEGER NOT NULL, at INTEGER NOT NULL,
            frame BLOB NOT NULL, record BLOB NOT NULL, uid INTEGER, back INTEGER,
            PRIMARY KEY (form, revision)
        ) STRICT, WITHOUT ROWID;
        """

    /// Since version 4, revisions of all forms are appended at one end, where a page is split
    /// without reading its neighbours (SQLite's `balance_quick`), and have a small index. Before,
    /// rows were clustered by form and revision, so they were in inner pages of the tree too. The
    /// clock is in `head`, as the head of no form; before, it had a page of its own that each
    /// commit wrote. A commit now writes fewer pages.
    private static let version4 = """
        CREATE TABLE appended (
            number INTEGER PRIMARY KEY, form INTEGER NOT NULL, revision INTEGER NOT NULL,
            at INTEGER NOT NULL, uid INTEGER, back INTEGER, frame BLOB NOT NULL,
            record BLOB NOT NULL, UNIQUE (form, revision)
        ) STRICT;
        INSERT INTO appended (form, revision, at, uid, back, frame, record)
            SELECT form, revision, at, uid, back, frame, record FROM revision
            ORDER BY form, revision;
        DROP TABLE revision;
        ALTER TABLE appended RENAME TO revision;
        INSERT INTO head (form, revision, context)
            SELECT 0, 0, value FROM meta WHERE name = 'clock';
        DELETE FROM meta WHERE name = 'clock';
        """

    /// Since version 5, what a form has under way beside its values (runs of buttons, for example)
    /// has rows of its own: it changes without the fields, and there is usually none.
    private static let version5 = """
        CREATE TABLE ongoing (
            form INTEGER NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, state BLOB NOT NULL,
            PRIMARY KEY (form, kind, id)
        ) STRICT, WITHOUT ROWID;
        """

    /// Since version 6, the revisions that a batch appends to a form are one row (`LogRow`).
    private static func version6(_ database: Database) throws(StoreError) {
        try database.execute(
            """
            CREATE TABLE log (
                number INTEGER PRIMARY KEY, form INTEGER NOT NULL, first INTEGER NOT NULL,
                last INTEGER NOT NULL, at INTEGER NOT NULL, heads BLOB NOT NULL,
                content BLOB NOT NULL, state BLOB, UNIQUE (form, first)
            ) STRICT;
            """)
        try database.packRevisions()
        try database.execute("DROP TABLE revision")
    }

    /// Since version 7, a row of the log also has what its batch changed in place (`Unfolded`), and
    /// revisions as differences from the first one. Rows of version 6 have neither.
    private static func version7(_ database: Database) throws(StoreError) {
        let columns = "SELECT count(*) FROM pragma_table_info('log') WHERE name = 'state'"
        if try database.integer(columns) == 0 {
            try database.execute("ALTER TABLE log ADD COLUMN state BLOB")
        }
        try database.markFolded()
    }

    /// Rejects a file of a newer version; changes nothing.
    /// - Returns: the version of the file.
    func check(_ database: Database) throws(StoreError) -> Int {
        let found = Int(try database.integer("PRAGMA user_version"))
        guard found <= version else {
            let writer = try? database.text("SELECT value FROM meta WHERE name = '\(Self.writer)'")
            throw .newer(
                file: database.file, found: found, known: version,
                writer: writer.flatMap { $0.isEmpty ? nil : $0 })
        }
        return found
    }

    /// Runs the migrations that a file of version `found` needs.
    func migrate(_ database: Database, from found: Int) throws(StoreError) {
        for number in max(0, found)..<version {
            try database.transaction { () throws(StoreError) in
                switch steps[number] {
                case .sql(let sql): try database.execute(sql)
                case .code(let body): try body(database)
                }
                try database.execute("PRAGMA user_version = \(number + 1)")
            }
        }
    }
}

extension Database {
    /// Appends all revisions of the schemas before 6 to the log.
    fileprivate func packRevisions() throws(StoreError) {
        let read = try prepare(
            "SELECT \(Query.columns) FROM revision ORDER BY form, revision")
        var rows: [RevisionRow] = []
        var bytes = 0
        while try read.step() {
            let row = read.revisionRow
            bytes += row.bytesEstimate
            if let last = rows.last, last.form != row.form || bytes > LogRow.bytesMax {
                try insert(rows[...])
                rows.removeAll(keepingCapacity: true)
                bytes = row.bytesEstimate
            }
            rows.append(row)
        }
        try insert(rows[...])
    }
}
