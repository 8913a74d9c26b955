/// What the engine asks of the store, in the store's own words: rows of opaque bytes.
///
/// The core encodes and decodes every blob, so that the store knows SQLite and nothing of forms,
/// and a new kind of control needs no migration. Each row's meaning:
/// - a *form* is named by a dense `key` that is never used again within one store;
/// - a *field* is one control's dot store with the metadata of its last change;
/// - a *revision* is one transaction of one form: the notification as it went out, and a record of
///   who did it and how it is undone; whose it is and what it takes back stand beside them, since
///   retention and undo go by them;
/// - an *idempotency key* keeps the answer of one request of one uid.

/// Names a form inside one store.
public typealias FormKey = Int64

/// A form's row.
public struct FormRow: Sendable, Hashable {
    public var key: FormKey
    /// The form's name, unique in the store (compared by bytes).
    public var name: String
    /// Names one unbroken line of revisions (PROTOCOL.md, What you can rely on, 3).
    public var log: String
    /// The uid that created the form.
    public var owner: UInt32
    /// Grows by one with each change of the definition.
    public var version: UInt64
    /// The newest revision.
    public var revision: UInt64
    /// JSON text: the definition in force.
    public var definition: [UInt8]
    /// JSON text: the definition as it was last applied, before run-time options.
    public var applied: [UInt8]
    /// The form's causal context, encoded.
    public var context: [UInt8]

    /// A row of the given columns.
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
    private let content: Blob

    /// Dot store and metadata of the last change, encoded: work at each call.
    public var state: [UInt8] { content.bytes }

    /// A row of the given columns.
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

/// A row's bytes, or what they are made of: by the store's thread, which asks for them, rather
/// than on the loop, where the record alone was 8,400 of the 78,000 instructions of a set.
/// A row is handed on several times, so each case is one object: a copy is one retain.
private enum Blob: Sendable {
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
}

extension Blob: Hashable {
    static func == (left: Blob, right: Blob) -> Bool { left.bytes == right.bytes }

    func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

/// A revision's row.
public struct RevisionRow: Sendable, Hashable {
    public var form: FormKey
    public var revision: UInt64
    /// When it was committed, by the steady clock, which decides how long it is kept: milliseconds.
    public var at: Int64
    /// The notification as subscribers got it, its 4-byte length included.
    public var frame: [UInt8]
    private let content: Blob
    /// About how many bytes the row takes, known without encoding its record.
    let bytesEstimate: Int

    /// JSON text: author, kind, touched fields and how to undo it. Work at each call.
    public var record: [UInt8] { content.bytes }

    /// Whose it is; `nil` in a row that a store of an earlier schema has.
    public var uid: UInt32? {
        switch content {
        case .stored(_, let uid, _, _): uid
        case .record(let record): record.by.uid
        case .bytes, .cell: nil
        }
    }

    /// The revision that it took back, as an undo or redo does.
    public var undoes: UInt64? {
        switch content {
        case .stored(_, _, let undoes, _): undoes
        case .record(let record): record.undoes
        case .bytes, .cell: nil
        }
    }

    /// Whether it took back some fields of that one alone, whose others still stand.
    public var isPartialUndo: Bool {
        switch content {
        case .stored(_, _, _, let isPartialUndo): isPartialUndo
        case .record(let record): record.isPartialUndo
        case .bytes, .cell: false
        }
    }

    /// A row of the given columns.
    public init(
        form: FormKey, revision: UInt64, at: Int64, frame: [UInt8], record: [UInt8],
        uid: UInt32? = nil, undoes: UInt64? = nil, isPartialUndo: Bool = false
    ) {
        self.form = form
        self.revision = revision
        self.at = at
        self.frame = frame
        content = .stored(record, uid: uid, undoes: undoes, isPartialUndo: isPartialUndo)
        bytesEstimate = frame.count + record.count
    }

    init(
        form: FormKey, revision: UInt64, at: Int64, frame: [UInt8], record: RevisionRecord,
        recordBytes: Int? = nil
    ) {
        self.form = form
        self.revision = revision
        self.at = at
        self.frame = frame
        content = .record(record)
        bytesEstimate = frame.count + (recordBytes ?? record.bytesEstimate)
    }

    /// Equality of the columns.
    public static func == (left: RevisionRow, right: RevisionRow) -> Bool {
        left.form == right.form && left.revision == right.revision && left.at == right.at
            && left.frame == right.frame && left.content == right.content
            && left.uid == right.uid && left.undoes == right.undoes
            && left.isPartialUndo == right.isPartialUndo
    }

    /// Hashes what tells rows apart.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(form)
        hasher.combine(revision)
    }
}

/// An idempotency key's row; (uid, key) is unique.
public struct KeyRow: Sendable, Hashable {
    public var uid: UInt32
    public var key: String
    /// When it was used first, by the steady clock, which decides how long it is kept:
    /// milliseconds.
    public var at: Int64
    /// Digest of the method and its parameters: the same key with others is refused.
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

/// What the store keeps of the revisions of a form beyond its newest: of each uid the newest, so
/// that whoever writes much pushes nobody else out of the history, nor out of undo.
///
/// One that another took back is not kept beyond that other: it would look as if it still stood.
public struct KeptHistory: Sendable, Hashable {
    /// Revisions of each uid, and bytes that they take.
    public var revisionsPerUser: Int
    public var bytesPerUser: Int
    /// Bytes of all together: the newest of each come before the second newest of anybody.
    public var bytes: Int
    /// A uid that is known to have as many among the newest: none of its own need be kept.
    public var busy: UInt32?

    /// Bounds of what is kept.
    public init(revisionsPerUser: Int, bytesPerUser: Int, bytes: Int, busy: UInt32? = nil) {
        self.revisionsPerUser = revisionsPerUser
        self.bytesPerUser = bytesPerUser
        self.bytes = bytes
        self.busy = busy
    }

    /// Nothing.
    public static let none = KeptHistory(revisionsPerUser: 0, bytesPerUser: 0, bytes: 0)
}

/// One step of a batch. Steps apply in order.
public enum StoreOperation: Sendable, Hashable {
    /// Inserts a form, or replaces all columns of the one with that key.
    case putForm(FormRow)
    /// The common case: a revision moved revision and context alone.
    case putHead(form: FormKey, revision: UInt64, context: [UInt8])
    /// Removes a form with its fields and revisions.
    case deleteForm(FormKey)
    /// Inserts or replaces a field.
    case putField(FieldRow)
    /// Removes a field.
    case removeField(form: FormKey, field: String)
    /// Adds a revision.
    case appendRevision(RevisionRow)
    /// Drops revisions of a form up to `through` but for those that are kept, and all of it older
    /// than `before` (milliseconds). What is left of the others has no gap.
    case pruneRevisions(form: FormKey, through: UInt64, before: Int64, keeping: KeptHistory)
    /// Adds an idempotency key: of a request that edited a form, where that is told.
    case putKey(KeyRow, of: FormKey? = nil)
    /// Drops keys used before that moment (milliseconds).
    case pruneKeys(before: Int64)
    /// The hybrid logical clock's newest stamp, encoded: it never goes back over a restart.
    case putClock([UInt8])
}

extension StoreOperation {
    /// The form that the step belongs to; `nil` for a step of the whole store.
    public var form: FormKey? {
        switch self {
        case .putForm(let row): row.key
        case .putField(let row): row.form
        case .appendRevision(let row): row.form
        case .putHead(let form, _, _), .deleteForm(let form), .removeField(let form, _),
            .pruneRevisions(let form, _, _, _):
            form
        case .putKey(_, let form): form
        case .pruneKeys, .putClock: nil
        }
    }
}

/// Says that the store refused what a batch does to one form, and did nothing of it.
public struct FormFailure: Error, Sendable, Hashable {
    public var form: FormKey
    /// One line for the log.
    public var reason: String

    /// A failure of that form's steps.
    public init(form: FormKey, reason: String) {
        self.form = form
        self.reason = reason
    }
}

/// Everything that one SQLite transaction makes durable: all of it, or nothing; but for forms whose
/// steps the store refuses, which are left out of it.
public struct Batch: Sendable {
    /// Counts batches of one run; `Input.committed` names it.
    public var number: UInt64
    public var operations: [StoreOperation]

    /// A batch of the given steps.
    public init(number: UInt64, operations: [StoreOperation]) {
        self.number = number
        self.operations = operations
    }
}

/// The whole state: what the engine starts from, and what a store is written anew from after a
/// failed commit.
public struct StoreImage: Sendable, Hashable {
    public var forms: [FormRow]
    public var fields: [FieldRow]
    /// The newest revisions of each form, ascending by form and revision. At start: as many as
    /// were asked for. In a rebuild: those that were told and no file has, if any; the store
    /// carries over what else it can still read.
    public var revisions: [RevisionRow]
    /// At start: idempotency keys that have not expired, without their results. Empty in a rebuild:
    /// the store carries over those that it can still read, but for `failedKeys`.
    public var keys: [KeyDigest]
    /// In a rebuild: keys of batches that failed, which nobody was answered under.
    public var failedKeys: [KeyDigest]
    /// In a rebuild: answers that were given under keys and that no file has; empty at start.
    public var answers: [KeyRow]
    /// The hybrid logical clock's newest stamp, encoded; empty in a new store.
    public var clock: [UInt8]

    /// An image of the given rows.
    public init(
        forms: [FormRow] = [], fields: [FieldRow] = [], revisions: [RevisionRow] = [],
        keys: [KeyDigest] = [], failedKeys: [KeyDigest] = [], answers: [KeyRow] = [],
        clock: [UInt8] = []
    ) {
        self.forms = forms
        self.fields = fields
        self.revisions = revisions
        self.keys = keys
        self.failedKeys = failedKeys
        self.answers = answers
        self.clock = clock
    }
}

/// Says that a key exists in the store, without its result.
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

/// A read that needs the store: what the engine does not keep in memory.
public enum StoreQuery: Sendable, Hashable {
    /// Revisions from `from` on, ascending, until `rowsMax` rows or `bytesMax` bytes of frames
    /// (at least one row); never those that are kept beyond the newest.
    case revisions(form: FormKey, from: UInt64, rowsMax: Int, bytesMax: Int)
    /// Revisions below `before`, descending, until `rowsMax` rows or `bytesMax` bytes of frames (at
    /// least one row).
    case history(form: FormKey, before: UInt64, rowsMax: Int, bytesMax: Int = .max)
    /// What can be taken back: the newest of each uid, then the second newest of each, and so on,
    /// until `rowsMax` rows or `bytesMax` bytes of records (at least one row); without frames,
    /// without what another uid took back, and without what that had taken back itself: the other's
    /// own, which stands for all of it, may be too old to be among them. Before them, with
    /// `undoes`, what took back a part of one of these and is none of them.
    case journal(form: FormKey, rowsMax: Int, bytesMax: Int)
    /// The answer that was given under a key.
    case key(uid: UInt32, key: String)
    /// A copy of the whole store as it is now, which ends the one before it.
    case backup
    /// A piece of that copy.
    case backupPiece(Int64, offset: Int64, bytesMax: Int)
    /// The copy is not needed any more; answered by nothing of use.
    case backupEnd(Int64)
}

/// What the store found.
public enum StoreAnswer: Sendable, Hashable {
    case revisions([RevisionRow])
    case key(KeyRow?)
    /// A copy was made: its number and its length in bytes.
    case backup(Int64, bytes: Int64)
    /// Bytes of the copy, fewer at its end; `nil` where there is no such copy.
    case backupPiece([UInt8]?)
    /// It could not be read; one line for the log.
    case failed(String)
}
