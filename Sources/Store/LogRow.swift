/// A row of the table `log`: the revisions that one batch appends to a form.
///
/// To SQLite a row and its entry in an index cost several times what their bytes cost. So a row has
/// many revisions, and an edit of a large batch costs little more than its bytes. `heads` has what
/// retention and undo look for; `content` has notifications and records, and is read in parts.

internal import SyncCore

/// One row, whose columns agree with each other.
struct LogRow {
    /// A row has at most about this many bytes of notifications and records, except for one
    /// revision that is longer.
    static let bytesMax = 1 << 16

    /// Bytes in the content of a row.
    struct Piece {
        var count = 0
        /// Where they are, or their difference from the same piece of the first revision.
        var place = 0..<0
        var isPacked = false
    }

    /// What is known of a revision without its content.
    struct Head {
        var revision: UInt64
        var at: Int64 = 0
        var uid: UInt32?
        /// The revision that it undid.
        var undoes: UInt64?
        var isPartialUndo: Bool
        /// Its notification.
        var frame = Piece()
        var record: Piece
    }

    let number: Int64
    /// The first and the last revision.
    let first: UInt64
    let last: UInt64
    /// The revisions, ascending.
    let heads: [Head]

    /// Reads the columns; `nil` if they are damaged.
    init?(number: Int64, first: UInt64, last: UInt64, heads bytes: [UInt8], contentBytes: Int) {
        var reader = CausalityReader(bytes)
        // Rows of schema 6 begin with a revision.
        let isPacked = bytes.first == 0
        if isPacked { _ = try? reader.byte() }
        var heads: [Head] = []
        var end = 0
        while reader.offset < bytes.count {
            let before = isPacked ? heads.last : nil
            guard let head = try? Head(&reader, after: before, contentAt: end, isPacked: isPacked),
                head.revision > heads.last?.revision ?? 0, head.revision < .max,
                head.record.place.upperBound <= contentBytes
            else { return nil }
            end = head.record.place.upperBound
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
        heads.byte(0)
        var content: [UInt8] = []
        var (frame, record): (Range<Int>?, Range<Int>?)
        var (revision, at): (UInt64, Int64) = (0, 0)
        for row in rows {
            heads.unsigned(row.revision - revision)
            heads.signed(row.at &- at)
            (revision, at) = (row.revision, row.at)
            heads.unsigned(row.uid.map { UInt64($0) + 1 } ?? 0)
            heads.unsigned(row.undoes.map { ($0 << 1) + (row.isPartialUndo ? 1 : 0) } ?? 0)
            unsafe row.told.withBytes { unsafe append($0, &frame, to: &content) }
                .write(to: &heads)
            unsafe row.withRecord { unsafe append($0, &record, to: &content) }
                .write(to: &heads)
        }
        return (heads.bytes, content)
    }

    /// Appends a piece to a content.
    ///
    /// - Parameter first: where the same piece of the first revision is; `nil`: this is the first.
    private static func append(
        _ piece: UnsafeBufferPointer<UInt8>, _ first: inout Range<Int>?, to content: inout [UInt8]
    ) -> Piece {
        let (start, count) = (content.count, piece.count)
        guard let base = first else {
            unsafe content.append(contentsOf: piece)
            first = start..<content.count
            return Piece(count: count, place: start..<content.count)
        }
        let isPacked = unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: count) {
            out in
            let packed = unsafe content.withUnsafeBufferPointer {
                unsafe LogDelta.pack(
                    piece, from: UnsafeBufferPointer(rebasing: $0[base]), into: out)
            }
            unsafe content.append(
                contentsOf: packed.map { unsafe UnsafeBufferPointer(rebasing: out[..<$0]) }
                    ?? piece)
            return packed != nil
        }
        return Piece(count: count, place: start..<content.count, isPacked: isPacked)
    }
}

extension LogRow.Head {
    fileprivate init(
        _ reader: inout CausalityReader, after before: Self?, contentAt start: Int, isPacked: Bool
    ) throws(CausalityDecodeError) {
        let place = reader.offset
        let (number, isTooGreat) =
            (before?.revision ?? 0).addingReportingOverflow(try reader.unsigned())
        if isTooGreat { throw .invalid(offset: place, what: "a revision") }
        revision = number
        at = (before?.at ?? 0) &+ (try reader.signed())
        let uid = try reader.unsigned()
        self.uid = uid == 0 ? nil : UInt32(truncatingIfNeeded: uid - 1)
        let back = try reader.unsigned()
        undoes = back == 0 ? nil : back >> 1
        isPartialUndo = back & 1 == 1
        frame = try LogRow.Piece(&reader, at: start, isPacked: isPacked)
        record = try LogRow.Piece(&reader, at: frame.place.upperBound, isPacked: isPacked)
    }
}

extension LogRow.Piece {
    fileprivate init(
        _ reader: inout CausalityReader, at start: Int, isPacked mayBePacked: Bool
    ) throws(CausalityDecodeError) {
        let number = Int(try reader.unsigned32())
        count = mayBePacked ? number >> 1 : number
        isPacked = mayBePacked && number & 1 == 1
        let stored = isPacked ? Int(try reader.unsigned32()) : count
        place = start..<start + stored
    }

    fileprivate func write(to writer: inout CausalityWriter) {
        writer.count(count << 1 | (isPacked ? 1 : 0))
        if isPacked { writer.count(place.count) }
    }

    /// The bytes in the content of a row; `nil` if they are damaged.
    ///
    /// - Parameter first: the same piece of the first revision of the row.
    func bytes(in content: UnsafeRawBufferPointer, from first: Self) -> [UInt8]? {
        guard place.upperBound <= content.count else { return nil }
        let piece = unsafe UnsafeRawBufferPointer(rebasing: content[place])
        guard isPacked else { return unsafe [UInt8](piece) }
        guard !first.isPacked, first.place.upperBound <= content.count else { return nil }
        return unsafe LogDelta.unpacked(
            piece, from: UnsafeRawBufferPointer(rebasing: content[first.place]), count: count)
    }
}
