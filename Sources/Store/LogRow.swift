/// A row of the table `log`: the revisions that one batch appends to a form.
///
/// To SQLite a row and its entry in an index cost several times what their bytes cost. So a row has
/// many revisions, and an edit of a large batch costs little more than its bytes. `heads` has what
/// retention and undo look for; `content` has notifications and records, and is read in parts.

internal import SyncCore

/// One row, whose columns agree with each other.
struct LogRow {
    /// A row has at most about this many bytes of content, except for one revision that is longer.
    static let bytesMax = 1 << 16

    /// What is known of a revision without its content.
    struct Head {
        var revision: UInt64
        var at: Int64 = 0
        var uid: UInt32?
        /// The revision that it undid.
        var undoes: UInt64?
        var isPartialUndo: Bool
        /// Its notification in the content.
        var frame = 0..<0
        /// Its record in the content.
        var record: Range<Int>
    }

    /// The row's number in the table.
    let number: Int64
    /// The first and the last revision.
    let first: UInt64
    let last: UInt64
    /// The revisions, ascending.
    let heads: [Head]

    /// Reads the columns; `nil` if they are damaged.
    init?(number: Int64, first: UInt64, last: UInt64, heads bytes: [UInt8], contentBytes: Int) {
        var reader = CausalityReader(bytes)
        var heads: [Head] = []
        var end = 0
        while reader.offset < bytes.count {
            guard let head = try? Head(&reader, contentAt: end),
                head.revision > heads.last?.revision ?? 0, head.revision < .max,
                head.record.upperBound <= contentBytes
            else { return nil }
            end = head.record.upperBound
            heads.append(head)
        }
        guard heads.first?.revision == first, heads.last?.revision == last, end == contentBytes
        else { return nil }
        self.number = number
        self.first = first
        self.last = last
        self.heads = heads
    }

    /// The columns `heads` and `content` of these revisions.
    static func columns(
        of rows: some Collection<RevisionRow>
    ) -> (heads: [UInt8], content: [UInt8]) {
        var heads = CausalityWriter()
        var content: [UInt8] = []
        content.reserveCapacity(rows.reduce(0) { $0 + $1.bytesEstimate })
        for row in rows {
            let record = row.record
            heads.unsigned(row.revision)
            heads.signed(row.at)
            heads.unsigned(row.uid.map { UInt64($0) + 1 } ?? 0)
            heads.unsigned(row.undoes.map { ($0 << 1) + (row.isPartialUndo ? 1 : 0) } ?? 0)
            heads.count(row.told.count)
            heads.count(record.count)
            row.told.withBytes { content += $0 }
            content += record
        }
        return (heads.bytes, content)
    }
}

extension LogRow.Head {
    fileprivate init(
        _ reader: inout CausalityReader, contentAt start: Int
    ) throws(CausalityDecodeError) {
        revision = try reader.unsigned()
        at = try reader.signed()
        let uid = try reader.unsigned()
        self.uid = uid == 0 ? nil : UInt32(truncatingIfNeeded: uid - 1)
        let back = try reader.unsigned()
        undoes = back == 0 ? nil : back >> 1
        isPartialUndo = back & 1 == 1
        let frameBytes = Int(try reader.unsigned32())
        let recordBytes = Int(try reader.unsigned32())
        frame = start..<start + frameBytes
        record = frame.upperBound..<frame.upperBound + recordBytes
    }
}
