/// The tables, and the numbered steps by which an older file comes to the present ones.
///
/// `user_version` says how many steps a file has taken. Each step is one transaction, so that a
/// file is always at exactly one version. Steps are only ever added at the end.

internal import CSQLite

/// The steps that a file goes through.
struct Schema {
    /// Marks the file as ours: "PKSY" (SQLite file format, section 1.3.17). `StoreFiles.inspect`
    /// looks at it.
    static let applicationID: Int64 = 0x504b_5359

    /// SQL of each step; the first makes the tables of version 1.
    var steps: [String]

    /// The version after all steps.
    var version: Int { steps.count }

    static let current = Schema(steps: [version1, version2, version3, version4])

    /// The row of `meta` that says which program wrote the file, for who cannot read it: it stays
    /// what it is in every version.
    static let writer = "writer"

    /// - `head` is apart from `form` because it changes with each revision, and a definition may
    ///   fill many pages.
    /// - `field` is clustered by its key: an edit touches one page of it.
    /// - `idempotency` has a row number, so that rows are appended and only the thin index is
    ///   touched at random places; so has `revision` from version 4 on.
    /// - No foreign keys: `deleteForm` removes what belongs to a form, and edits pay no look-ups.
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

    /// From version 2 on a file says which program wrote it last.
    private static let version2 = """
        INSERT INTO meta (name, value) VALUES ('\(writer)', '');
        """

    /// From version 3 on a revision says whose it is and what it took back, and `older` has what
    /// is kept of each user beyond the newest revisions of a form. Rows of before say neither:
    /// they are nobody's until they expire. `back` is negative where only some fields of the other
    /// were taken back.
    private static let version3 = """
        ALTER TABLE revision ADD COLUMN uid INTEGER;
        ALTER TABLE revision ADD COLUMN back INTEGER;
        CREATE TABLE older (
            form INTEGER NOT NULL, revision INTEGER NOT NULL, at INTEGER NOT NULL,
            frame BLOB NOT NULL, record BLOB NOT NULL, uid INTEGER, back INTEGER,
            PRIMARY KEY (form, revision)
        ) STRICT, WITHOUT ROWID;
        """

    /// From version 4 on revisions of all forms are appended to one end, where a page is split
    /// without looking at its neighbours (SQLite's `balance_quick`), and have a thin index; rows
    /// clustered by form and revision stood in the inner pages of the tree, too. The clock stands
    /// among the heads, as the head of no form: a page of its own went to the disk with each
    /// commit. Together a commit writes a quarter fewer pages, with many forms half as many.
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

    /// Refuses a file of a newer version; changes nothing.
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

    /// Takes the steps that a file of version `found` has not taken yet.
    func migrate(_ database: Database, from found: Int) throws(StoreError) {
        for number in max(0, found)..<version {
            try database.transaction { () throws(StoreError) in
                try database.execute(steps[number])
                try database.execute("PRAGMA user_version = \(number + 1)")
            }
        }
    }
}
