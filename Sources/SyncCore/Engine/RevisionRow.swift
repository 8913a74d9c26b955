/// A revision's row.
public struct RevisionRow: Sendable, Hashable {
    public var form: FormKey
    public var revision: UInt64
    /// The time of the commit on the steady clock, in milliseconds, for retention.
    public var at: Int64
    /// The notification as subscribers got it, including its 4-byte length.
    package private(set) var told: SharedBytes
    /// A copy of the notification.
    public var frame: [UInt8] {
        get { told.array }
        set { told = SharedBytes(newValue) }
    }
    private let content: RowBlob
    /// The approximate size of the row, without encoding its record.
    package let bytesEstimate: Int

    /// JSON text: author, kind, touched fields and undo steps. Encoded at each call.
    public var record: [UInt8] { content.bytes }

    /// The result of `body` for the bytes of `record`, which it must not keep.
    package func withRecord<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        guard case .record(let record) = content else {
            return content.bytes.withUnsafeBufferPointer(body)
        }
        return JSONWriter.write({ record.encode(into: &$0) }, body)
    }

    /// The author's uid; `nil` for one of another host, and in a row of an earlier schema.
    public var uid: UInt32? {
        switch content {
        case .stored(_, let uid, _, _): uid
        case .record(let record): record.quotaUID
        case .bytes, .cell: nil
        }
    }

    /// The revision that this undo or redo undid.
    public var undoes: UInt64? {
        switch content {
        case .stored(_, _, let undoes, _): undoes
        case .record(let record): record.undoes
        case .bytes, .cell: nil
        }
    }

    /// Whether it undid only some fields of that revision.
    public var isPartialUndo: Bool {
        switch content {
        case .stored(_, _, _, let isPartialUndo): isPartialUndo
        case .record(let record): record.isPartialUndo
        case .bytes, .cell: false
        }
    }

    /// A row with these columns.
    public init(
        form: FormKey, revision: UInt64, at: Int64, frame: [UInt8], record: [UInt8],
        uid: UInt32? = nil, undoes: UInt64? = nil, isPartialUndo: Bool = false
    ) {
        self.form = form
        self.revision = revision
        self.at = at
        told = SharedBytes(frame)
        content = .stored(record, uid: uid, undoes: undoes, isPartialUndo: isPartialUndo)
        bytesEstimate = frame.count + record.count
    }

    init(
        form: FormKey, revision: UInt64, at: Int64, frame: SharedBytes, record: RevisionRecord
    ) {
        self.form = form
        self.revision = revision
        self.at = at
        told = frame
        content = .record(record)
        bytesEstimate = frame.count + record.bytesEstimate
    }

    /// The same row with a notification of its own, so that it does not keep a whole chunk.
    var detached: RevisionRow {
        var row = self
        row.frame = frame
        return row
    }

    /// Equality of the columns.
    public static func == (left: RevisionRow, right: RevisionRow) -> Bool {
        left.form == right.form && left.revision == right.revision && left.at == right.at
            && left.frame == right.frame && left.content == right.content
            && left.uid == right.uid && left.undoes == right.undoes
            && left.isPartialUndo == right.isPartialUndo
    }

    /// Hashes the columns that distinguish rows.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(form)
        hasher.combine(revision)
    }
}
