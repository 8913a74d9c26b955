/// The prepared statements.
enum Query: Int, CaseIterable {
    case begin, commit
    case putForm, putHead, moveHead, deleteForm, deleteHead, deleteFields, deleteRevisions
    case deleteRevisionsAfter, deleteRevision, deleteOlder, deleteKey
    case putField, removeField, putOngoing, removeOngoing, deleteOngoing
    case appendRevision, redactRevision, redactOlder, pruneRevisionsThrough, pruneRevisionsBefore
    case keepRevisions, dropUndone, pruneOlder, pruneOlderBefore
    case putKey, pruneKeys, putMeta, putClock
    case allForms, allFields, allOngoing, keysSince
    case revisionsFrom, history, older, journal, key, allKeys, meta, clock, renameLog

    /// All columns of a revision, both of the newest ones and of those kept beyond them.
    static let columns = "form, revision, at, frame, record, uid, back"
    private static let revision = "SELECT \(columns) FROM revision WHERE form = ?1"
    /// What was undone by revisions up to the second value.
    private static let undone =
        "SELECT abs(back) FROM revision WHERE form = ?1 AND revision <= ?2 AND back IS NOT NULL"

    /// The SQL text.
    var sql: String {
        switch self {
        // IMMEDIATE takes the write lock at once, so it never needs an upgrade.
        case .begin: "BEGIN IMMEDIATE"
        case .commit: "COMMIT"
        case .putForm:
            """
            INSERT INTO form (key, name, log, owner, version, definition, applied) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (key) DO UPDATE SET name = ?2, \
            log = ?3, owner = ?4, version = ?5, definition = ?6, applied = ?7
            """
        case .putHead:
            """
            INSERT INTO head (form, revision, context) VALUES (?1, ?2, ?3) \
            ON CONFLICT (form) DO UPDATE SET revision = ?2, context = ?3
            """
        case .moveHead: "UPDATE head SET revision = ?2, context = ?3 WHERE form = ?1"
        case .deleteForm: "DELETE FROM form WHERE key = ?1"
        case .deleteHead: "DELETE FROM head WHERE form = ?1"
        case .deleteFields: "DELETE FROM field WHERE form = ?1"
        case .deleteRevisions: "DELETE FROM revision WHERE form = ?1"
        case .deleteRevisionsAfter: "DELETE FROM revision WHERE form = ?1 AND revision > ?2"
        case .deleteRevision: "DELETE FROM revision WHERE form = ?1 AND revision = ?2"
        case .deleteOlder: "DELETE FROM older WHERE form = ?1"
        case .deleteKey: "DELETE FROM idempotency WHERE uid = ?1 AND key = ?2"
        case .putField:
            """
            INSERT INTO field (form, field, state) VALUES (?1, ?2, ?3) \
            ON CONFLICT (form, field) DO UPDATE SET state = ?3
            """
        case .removeField: "DELETE FROM field WHERE form = ?1 AND field = ?2"
        case .putOngoing:
            """
            INSERT INTO ongoing (form, kind, id, state) VALUES (?1, ?2, ?3, ?4) \
            ON CONFLICT (form, kind, id) DO UPDATE SET state = ?4
            """
        case .removeOngoing: "DELETE FROM ongoing WHERE form = ?1 AND kind = ?2 AND id = ?3"
        case .deleteOngoing: "DELETE FROM ongoing WHERE form = ?1"
        case .appendRevision:
            """
            INSERT INTO revision (\(Self.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        case .redactRevision:
            "UPDATE revision SET frame = ?3 WHERE form = ?1 AND revision = ?2"
        case .redactOlder: "UPDATE older SET frame = ?3 WHERE form = ?1 AND revision = ?2"
        case .keepRevisions:
            // The window functions visit only rows that are about to be deleted, which are read
            // anyway.
            """
            INSERT OR REPLACE INTO older (\(Self.columns)) SELECT \(Self.columns) FROM revision \
            WHERE form = ?1 AND revision IN (SELECT revision FROM (SELECT revision, \
            row_number() OVER (PARTITION BY uid ORDER BY revision DESC) AS place FROM revision \
            WHERE form = ?1 AND revision <= ?2 AND uid IS NOT NULL AND uid <> ?4) \
            WHERE place <= ?3) AND revision NOT IN (\(Self.undone))
            """
        case .dropUndone:
            "DELETE FROM older WHERE form = ?1 AND revision IN (\(Self.undone))"
        case .pruneOlder:
            """
            DELETE FROM older WHERE form = ?1 AND revision NOT IN (SELECT revision FROM (\
            SELECT revision, sum(bytes) OVER (ORDER BY place, revision DESC) AS together FROM (\
            SELECT revision, length(frame) + length(record) AS bytes, \
            row_number() OVER user AS place, \
            sum(length(frame) + length(record)) OVER user AS theirs \
            FROM older WHERE form = ?1 WINDOW user AS (PARTITION BY uid ORDER BY revision DESC)) \
            WHERE place <= ?2 AND theirs <= ?3) WHERE together <= ?4)
            """
        case .pruneOlderBefore: "DELETE FROM older WHERE form = ?1 AND at < ?2"
        case .pruneRevisionsThrough: "DELETE FROM revision WHERE form = ?1 AND revision <= ?2"
        // Only up to the first row that is recent enough, so that there is no gap after the clock
        // went back.
        case .pruneRevisionsBefore:
            """
            DELETE FROM revision WHERE form = ?1 AND revision < coalesce((SELECT revision \
            FROM revision WHERE form = ?1 AND at >= ?2 ORDER BY revision LIMIT 1), \
            \(Int64.max))
            """
        case .putKey:
            """
            INSERT INTO idempotency (uid, key, at, digest, result) VALUES (?1, ?2, ?3, ?4, ?5) \
            ON CONFLICT (uid, key) DO UPDATE SET at = ?3, digest = ?4, result = ?5
            """
        case .pruneKeys: "DELETE FROM idempotency WHERE at < ?1"
        case .putMeta:
            """
            INSERT INTO meta (name, value) VALUES (?1, ?2) \
            ON CONFLICT (name) DO UPDATE SET value = ?2
            """
        case .putClock:
            """
            INSERT INTO head (form, revision, context) VALUES (0, 0, ?1) \
            ON CONFLICT (form) DO UPDATE SET context = ?1
            """
        case .allForms:
            """
            SELECT key, name, log, owner, version, revision, definition, applied, context \
            FROM form JOIN head ON head.form = form.key ORDER BY key
            """
        case .allFields: "SELECT form, field, state FROM field ORDER BY form, field"
        case .allOngoing:
            "SELECT form, kind, id, state FROM ongoing ORDER BY form, kind, id"
        case .keysSince: "SELECT uid, key, at FROM idempotency WHERE at >= ?1 ORDER BY number"
        case .revisionsFrom: Self.revision + " AND revision >= ?2 ORDER BY revision LIMIT ?3"
        case .history: Self.revision + " AND revision < ?2 ORDER BY revision DESC LIMIT ?3"
        case .older:
            "SELECT \(Self.columns) FROM older WHERE form = ?1 AND revision < ?2 "
                + "ORDER BY revision DESC LIMIT ?3"
        case .journal:
            """
            WITH RECURSIVE kept AS MATERIALIZED (SELECT revision, uid, back FROM revision \
            WHERE form = ?1 UNION ALL SELECT revision, uid, back FROM older WHERE form = ?1), \
            undone AS (SELECT old.revision, old.back FROM kept AS new JOIN kept AS old \
            ON old.revision = new.back WHERE new.uid IS NOT old.uid UNION \
            SELECT kept.revision, kept.back FROM undone JOIN kept \
            ON kept.revision = undone.back), \
            ranked AS (SELECT revision, row_number() OVER (PARTITION BY uid \
            ORDER BY revision DESC) AS place FROM kept \
            WHERE revision NOT IN (SELECT revision FROM undone) \
            ORDER BY place, revision DESC LIMIT ?2), \
            found AS (SELECT revision, place, NULL AS back FROM ranked UNION ALL \
            SELECT revision, 0, back FROM kept WHERE back < 0 \
            AND -back IN (SELECT revision FROM ranked) \
            AND revision NOT IN (SELECT revision FROM ranked)) \
            SELECT ?1, revision, 0, x'', coalesce((SELECT record FROM revision WHERE form = ?1 \
            AND revision = found.revision), (SELECT record FROM older WHERE form = ?1 \
            AND revision = found.revision)), NULL, back FROM found \
            ORDER BY place, revision DESC
            """
        case .key:
            "SELECT uid, key, at, digest, result FROM idempotency WHERE uid = ?1 AND key = ?2"
        case .allKeys: "SELECT uid, key, at, digest, result FROM idempotency ORDER BY number"
        case .meta: "SELECT value FROM meta WHERE name = ?1"
        case .clock: "SELECT context FROM head WHERE form = 0"
        case .renameLog: "UPDATE form SET log = ?2 WHERE key = ?1"
        }
    }
}
