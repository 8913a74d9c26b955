/// The interface between the engine and the store: rows of opaque bytes.
///
/// The core encodes and decodes every blob. The store knows SQLite but not forms, and a new kind of
/// control needs no migration. The rows:
/// - a *form* has a dense `key` that is never used again in a store;
/// - a *field* is the dot store of a control and the metadata of its last change;
/// - a *revision* is one transaction of a form: its notification, and a record of its author and
///   undo steps. The store knows its uid and the revision that it undoes, because retention and
///   undo use them;
/// - an *ongoing* row is something that a form has under way beside its values, by kind and id;
/// - an *idempotency key* has the answer to one request of one uid.

/// The key of a form in a store.
public typealias FormKey = Int64

/// A form's row.
public struct FormRow: Sendable, Hashable {
    public var key: FormKey
    /// The form's name, unique in the store (compared by bytes).
    public var name: String
    /// The name of a contiguous log of revisions (PROTOCOL.md, What you can rely on, 3).
    public var log: String
    /// The uid that created the form.
    public var owner: UInt32
    /// Incremented by each change of the definition.
    public var version: UInt64
    /// The newest revision.
    public var revision: UInt64
    /// JSON text: the current definition.
    public var definition: [UInt8]
    /// JSON text: the definition as last applied, before run-time options.
    public var applied: [UInt8]
    /// The form's causal context, encoded.
    public var context: [UInt8]

    /// A row with these columns.
    public init(
        key: FormKey, name: String, log: String, owner: UInt32, version: UInt64,
        revision: UInt64, definition: [UInt8], applied: [UInt8], context: [UInt8]
    ) {
        self.key = key
        self.name = name
        self.log = log
        self.owner = owner
        self.version = version
        self.revision = revision
        self.definition = definition
        self.applied = applied
        self.context = context
    }
}

/// A field's row.
public struct FieldRow: Sendable, Hashable {
    public var form: FormKey
    public var field: String
    private let content: RowBlob

    /// The encoded dot store and metadata of the last change. Encoded at each call.
    public var state: [UInt8] { content.bytes }

    /// Whether it has a secret, if only encrypted.
    package var isSealed: Bool { content.isSealed }

    /// A row with these columns.
    public init(form: FormKey, field: String, state: [UInt8]) {
        self.form = form
        self.field = field
        content = .bytes(state)
    }

    init(form: FormKey, field: String, cell: CellRow) {
        self.form = form
        self.field = field
        content = .cell(cell)
    }
}

/// The bytes of a row or the value that they are encoded from. The store's thread encodes it, so
/// the loop does not have to. Each case is one object, because rows are copied several times and a
/// copy is then one retain.
enum RowBlob: Sendable {
    case bytes([UInt8])
    indirect case stored([UInt8], uid: UInt32?, undoes: UInt64?, isPartialUndo: Bool)
    indirect case cell(CellRow)
    case record(RevisionRecord)

    var bytes: [UInt8] {
        switch self {
        case .bytes(let bytes), .stored(let bytes, _, _, _): bytes
        case .cell(let cell): cell.encoded
        case .record(let record): record.encoded()
        }
    }

    var isSealed: Bool {
        if case .cell(let cell) = self { cell.store?.kind == .sealed } else { false }
    }
}

extension RowBlob: Hashable {
    static func == (left: RowBlob, right: RowBlob) -> Bool { left.bytes == right.bytes }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// An idempotency key's row; (uid, key) is unique.
public struct KeyRow: Sendable, Hashable {
    public var uid: UInt32
    public var key: String
    /// The time of the first use on the steady clock, in milliseconds, for retention.
    public var at: Int64
    /// A digest of the method and its parameters. The same key with another request is rejected.
    public var digest: UInt64
    /// JSON text: the `result` member of the first answer.
    public var result: [UInt8]

    /// A row of the given columns.
    public init(uid: UInt32, key: String, at: Int64, digest: UInt64, result: [UInt8]) {
        self.uid = uid
        self.key = key
        self.at = at
        self.digest = digest
        self.result = result
    }
}

/// The revisions of a form that the store keeps beyond its newest: the newest of each uid, so that
/// a user with many edits does not remove another's revisions from history and undo.
///
/// A revision that was undone is not kept longer than the revision that undid it. Otherwise it
/// would look as if it had not been undone.
public struct KeptHistory: Sendable, Hashable {
    /// The most revisions, and bytes of revisions, of each uid.
    public var revisionsPerUser: Int
    public var bytesPerUser: Int
    /// The most bytes of all uids together. The newest of each uid come before the second newest of
    /// any.
    public var bytes: Int
    /// Uids with so many of the newest revisions that none of their older ones need be kept.
    public var busy: Set<UInt32>

    /// These limits.
    public init(revisionsPerUser: Int, bytesPerUser: Int, bytes: Int, busy: Set<UInt32> = []) {
        self.revisionsPerUser = revisionsPerUser
        self.bytesPerUser = bytesPerUser
        self.bytes = bytes
        self.busy = busy
    }

    /// Keeps nothing beyond the newest.
    public static let none = KeptHistory(revisionsPerUser: 0, bytesPerUser: 0, bytes: 0)
}

/// One operation of a batch. Operations are applied in order.
public enum StoreOperation: Sendable, Hashable {
    /// Inserts a form, or replaces all columns of the form with that key.
    case putForm(FormRow)
    /// Changes only revision and context of a form: the usual case.
    case putHead(form: FormKey, revision: UInt64, context: [UInt8])
    /// Removes a form with its fields, revisions and everything that it has under way.
    case deleteForm(FormKey)
    /// Inserts or replaces a field.
    case putField(FieldRow)
    /// Removes a field.
    case removeField(form: FormKey, field: String)
    /// Inserts or replaces a row of what a form has under way.
    case putOngoing(OngoingRow)
    /// Removes such a row; nothing happens if there is none.
    case removeOngoing(form: FormKey, name: OngoingName)
    /// Adds a revision.
    case appendRevision(RevisionRow)
    /// Replaces the notification of a revision, wherever it is kept. No file contains the earlier
    /// bytes when the batch is durable.
    case redactRevision(form: FormKey, revision: UInt64, frame: [UInt8])
    /// Deletes revisions of a form up to `through`, except those in `keeping`, and all revisions
    /// older than `before` (milliseconds). The remaining newest revisions are contiguous.
    case pruneRevisions(form: FormKey, through: UInt64, before: Int64, keeping: KeptHistory)
    /// Adds an idempotency key, with the form that its request edited.
    case putKey(KeyRow, of: FormKey? = nil)
    /// Deletes keys used before that time (milliseconds).
    case pruneKeys(before: Int64)
    /// The newest timestamp of the hybrid logical clock, encoded. It never goes back after a
    /// restart.
    case putClock([UInt8])
}

extension StoreOperation {
    /// The form of the operation; `nil` if it concerns the whole store.
    public var form: FormKey? {
        switch self {
        case .putForm(let row): row.key
        case .putField(let row): row.form
        case .putOngoing(let row): row.form
        case .appendRevision(let row): row.form
        case .putHead(let form, _, _), .deleteForm(let form), .removeField(let form, _),
            .removeOngoing(let form, _), .pruneRevisions(let form, _, _, _),
            .redactRevision(let form, _, _):
            form
        case .putKey(_, let form): form
        case .pruneKeys, .putClock: nil
        }
    }
}

/// The store rejected an operation on one form, and has applied none of that form's operations.
public struct FormFailure: Error, Sendable, Hashable {
    public var form: FormKey
    /// One line for the log.
    public var reason: String

    /// A failure of that form's operations.
    public init(form: FormKey, reason: String) {
        self.form = form
        self.reason = reason
    }
}

/// The content of one SQLite transaction: all of it becomes durable, or nothing. Only forms with
/// rejected operations are left out.
public struct Batch: Sendable {
    /// The number of the batch in this run, as in `Input.committed`.
    public var number: UInt64
    public var operations: [StoreOperation]

    /// A batch of these operations.
    public init(number: UInt64, operations: [StoreOperation]) {
        self.number = number
        self.operations = operations
    }
}

/// The whole state, for the start of the engine and for a rebuild of the store after a failed
/// commit.
public struct StoreImage: Sendable, Hashable {
    public var forms: [FormRow]
    public var fields: [FieldRow]
    /// What the forms have under way.
    public var ongoing: [OngoingRow]
    /// Ascending by form and revision. Empty at start, because the engine reads revisions on
    /// demand. In a rebuild: revisions that were published but are in no file; the store copies the
    /// others as far as it can read them.
    public var revisions: [RevisionRow]
    /// At start: idempotency keys that have not expired, without results. Empty in a rebuild: the
    /// store copies the keys that it can read, except `failedKeys`.
    public var keys: [KeyDigest]
    /// In a rebuild: keys of failed batches, which have no answer.
    public var failedKeys: [KeyDigest]
    /// In a rebuild: answers that were sent but are in no file. Empty at start.
    public var answers: [KeyRow]
    /// The newest timestamp of the hybrid logical clock, encoded; empty in a new store.
    public var clock: [UInt8]
    /// In a rebuild: the replica gets a new id, because another life of the store uses this one.
    public var takesNewReplicaID = false

    /// An image of these rows.
    public init(
        forms: [FormRow] = [], fields: [FieldRow] = [], ongoing: [OngoingRow] = [],
        revisions: [RevisionRow] = [],
        keys: [KeyDigest] = [], failedKeys: [KeyDigest] = [], answers: [KeyRow] = [],
        clock: [UInt8] = []
    ) {
        self.forms = forms
        self.fields = fields
        self.ongoing = ongoing
        self.revisions = revisions
        self.keys = keys
        self.failedKeys = failedKeys
        self.answers = answers
        self.clock = clock
    }
}

/// A key in the store, without its answer.
public struct KeyDigest: Sendable, Hashable {
    public var uid: UInt32
    public var key: String
    public var at: Int64

    /// A key of that uid.
    public init(uid: UInt32, key: String, at: Int64) {
        self.uid = uid
        self.key = key
        self.at = at
    }
}

/// A read of data that is not in memory.
public enum StoreQuery: Sendable, Hashable {
    /// Revisions from `from`, ascending, up to `rowsMax` rows or `bytesMax` bytes of frames (at
    /// least one row). Not those that are kept beyond the newest.
    case revisions(form: FormKey, from: UInt64, rowsMax: Int, bytesMax: Int)
    /// Revisions before `before`, descending, up to `rowsMax` rows or `bytesMax` bytes of frames
    /// (at least one row).
    case history(form: FormKey, before: UInt64, rowsMax: Int, bytesMax: Int = .max)
    /// The rows of an undo journal: the newest revision of each uid, then the second newest of
    /// each, and so on, up to `rowsMax` rows or `bytesMax` bytes of records (at least one row).
    /// The rows have no frames. A revision that another uid undid is left out, and so is what that
    /// revision had undone itself.
    ///
    /// The first rows have `undoes` set. They undid a part of one of the other rows, and are not
    /// revisions of the journal themselves.
    case journal(form: FormKey, rowsMax: Int, bytesMax: Int)
    /// The answer under a key.
    case key(uid: UInt32, key: String)
    /// A snapshot of the whole store, which replaces an earlier snapshot.
    case backup
    /// A piece of that snapshot.
    case backupPiece(Int64, offset: Int64, bytesMax: Int)
    /// Deletes the snapshot. The answer has no meaning.
    case backupEnd(Int64)
}

/// The result of a query.
public enum StoreAnswer: Sendable, Hashable {
    case revisions([RevisionRow])
    case key(KeyRow?)
    /// The number of a new snapshot and its length in bytes.
    case backup(Int64, bytes: Int64)
    /// Bytes of the snapshot, fewer at its end; `nil` if it no longer exists.
    case backupPiece([UInt8]?)
    /// The read failed; one line for the log.
    case failed(String)
}
