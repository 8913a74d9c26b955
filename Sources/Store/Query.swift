/// Every statement that the store keeps compiled, in one place.

/// Names a kept statement.
enum Query: Int, CaseIterable {
    case begin, commit
    case putForm, putHead, moveHead, deleteForm, deleteHead, deleteFields, deleteRevisions
    case deleteRevisionsAfter, deleteRevision, deleteKey
    case putField, removeField
    case appendRevision, pruneRevisionsThrough, pruneRevisionsBefore
    case putKey, pruneKeys, putMeta
    case allForms, allFields, newestRevisions, keysSince
    case revisionsFrom, history, key, allKeys, meta, metaAll, nameLog

    private static let revision =
        "SELECT form, revision, at, frame, record FROM revision WHERE form = ?1"

    /// The SQL text. A table: it has as many lines as there are queries.
    var sql: String {
        switch self {
        // IMMEDIATE: the write lock is taken once, not upgraded half-way.
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
        case .deleteKey: "DELETE FROM idempotency WHERE uid = ?1 AND key = ?2"
        case .putField:
            """
            INSERT INTO field (form, field, state) VALUES (?1, ?2, ?3) \
            ON CONFLICT (form, field) DO UPDATE SET state = ?3
            """
        case .removeField: "DELETE FROM field WHERE form = ?1 AND field = ?2"
        case .appendRevision:
            """
            INSERT INTO revision (form, revision, at, frame, record) \
            VALUES (?1, ?2, ?3, ?4, ?5)
            """
        case .pruneRevisionsThrough: "DELETE FROM revision WHERE form = ?1 AND revision <= ?2"
        // Up to the first that is young enough: a clock that went back must not make a gap.
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
        case .allForms:
            """
            SELECT key, name, log, owner, version, revision, definition, applied, context \
            FROM form JOIN head ON head.form = form.key ORDER BY key
            """
        case .allFields: "SELECT form, field, state FROM field ORDER BY form, field"
        case .newestRevisions: Self.revision + " ORDER BY revision DESC LIMIT ?2"
        case .keysSince: "SELECT uid, key, at FROM idempotency WHERE at >= ?1 ORDER BY number"
        case .revisionsFrom: Self.revision + " AND revision >= ?2 ORDER BY revision LIMIT ?3"
        case .history: Self.revision + " AND revision < ?2 ORDER BY revision DESC LIMIT ?3"
        case .key:
            "SELECT uid, key, at, digest, result FROM idempotency WHERE uid = ?1 AND key = ?2"
        case .allKeys: "SELECT uid, key, at, digest, result FROM idempotency ORDER BY number"
        case .meta: "SELECT value FROM meta WHERE name = ?1"
        case .metaAll: "SELECT name, value FROM meta"
        case .nameLog: "UPDATE form SET log = ?2 WHERE key = ?1"
        }
    }
}
