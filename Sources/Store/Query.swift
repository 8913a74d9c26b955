/// The prepared statements.
enum Query: Int, CaseIterable {
    case begin, commit
    case putForm, putHead, moveHead, deleteForm, deleteHead, deleteFields, deleteKey
    case putField, removeField, putOngoing, removeOngoing, deleteOngoing
    case unfolded, countUnfolded, oldestUnfolded, markFolded, hasForm
    case appendLog, replaceLog, logEnd, logBetween, logBefore, logHeads, logSince
    case deleteLog, deleteLogRow, deleteLogThrough
    case putOlder, older, olderHeads, olderRecord, redactOlder, deleteOlder, deleteOlderRevision
    case pruneOlder, pruneOlderBefore
    case putKey, pruneKeys, putMeta, putClock
    case allForms, allFields, allOngoing, keysSince, key, allKeys, meta, clock, renameLog

    /// All columns of a revision that is kept beyond the newest ones.
    static let columns = "form, revision, at, frame, record, uid, back"
    /// The columns of a row of the log without its content; `length` does not read it.
    private static let heads = "number, first, last, heads, length(content)"

    /// The newest row of the log that was folded. It may be gone, and no row gets its number again.
    private static let folded = "coalesce((SELECT revision FROM head WHERE form = 0), 0)"

    /// Whether the changes in a row of the log are in no table yet.
    private static let isUnfolded = "number > \(folded) AND state IS NOT NULL"

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
        case .appendLog:
            """
            INSERT INTO log (number, form, first, last, at, heads, content, state) VALUES (\
            max((SELECT coalesce(max(number), 0) FROM log), \(Self.folded)) + 1, \
            ?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        case .replaceLog:
            """
            UPDATE log SET form = ?1, first = ?2, last = ?3, at = ?4, heads = ?5, content = ?6, \
            state = NULL WHERE number = ?7
            """
        case .hasForm: "SELECT 1 FROM head WHERE form = ?1"
        case .unfolded:
            "SELECT form, state FROM log WHERE \(Self.isUnfolded) ORDER BY number DESC"
        case .countUnfolded:
            "SELECT CAST(total(last - first + 1) AS INTEGER) FROM log WHERE \(Self.isUnfolded)"
        case .oldestUnfolded:
            // By number: the index would give all rows of the form.
            """
            SELECT \(Self.heads) FROM log NOT INDEXED WHERE form = ?1 AND \(Self.isUnfolded) \
            ORDER BY number LIMIT 1
            """
        case .markFolded:
            """
            INSERT INTO head (form, revision, context) \
            VALUES (0, (SELECT coalesce(max(number), 0) FROM log), x'') \
            ON CONFLICT (form) DO UPDATE SET revision = excluded.revision
            """
        case .logEnd: "SELECT last FROM log WHERE form = ?1 ORDER BY first DESC LIMIT 1"
        // From the row that has the first bound, or would have it.
        case .logBetween:
            """
            SELECT \(Self.heads), content FROM log WHERE form = ?1 AND first >= \
            coalesce((SELECT max(first) FROM log WHERE form = ?1 AND first <= ?2), 0) \
            AND first <= ?3 ORDER BY first
            """
        case .logBefore:
            """
            SELECT \(Self.heads), content FROM log WHERE form = ?1 AND first < ?2 \
            ORDER BY first DESC
            """
        case .logHeads:
            "SELECT \(Self.heads) FROM log WHERE form = ?1 AND first <= ?2 ORDER BY first"
        case .logSince:
            "SELECT \(Self.heads) FROM log WHERE form = ?1 AND at >= ?2 ORDER BY first LIMIT 1"
        case .deleteLog: "DELETE FROM log WHERE form = ?1"
        case .deleteLogRow: "DELETE FROM log WHERE number = ?1"
        case .deleteLogThrough:
            "DELETE FROM log WHERE form = ?1 AND first <= ?2 AND last <= ?2"
        case .putOlder:
            """
            INSERT OR REPLACE INTO older (\(Self.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
            """
        case .older:
            """
            SELECT \(Self.columns) FROM older WHERE form = ?1 AND revision < ?2 \
            ORDER BY revision DESC
            """
        case .olderHeads:
            "SELECT revision, uid, back, length(record) FROM older WHERE form = ?1"
        case .olderRecord: "SELECT record FROM older WHERE form = ?1 AND revision = ?2"
        case .redactOlder: "UPDATE older SET frame = ?3 WHERE form = ?1 AND revision = ?2"
        case .deleteOlderRevision: "DELETE FROM older WHERE form = ?1 AND revision = ?2"
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
        case .key:
            "SELECT uid, key, at, digest, result FROM idempotency WHERE uid = ?1 AND key = ?2"
        case .allKeys: "SELECT uid, key, at, digest, result FROM idempotency ORDER BY number"
        case .meta: "SELECT value FROM meta WHERE name = ?1"
        case .clock: "SELECT context FROM head WHERE form = 0"
        case .renameLog: "UPDATE form SET log = ?2 WHERE key = ?1"
        }
    }
}
