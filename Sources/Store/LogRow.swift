/// A row of the table `log`: the revisions that one batch appends to a form.
///
/// To SQLite a row and its entry in an index cost several times what their bytes cost. So a row has
/// many revisions, and an edit of a large batch costs little more than its bytes. `heads` has what
/// retention and undo look for, so they need not read `content`.

internal import SyncCore

/// The encoded columns of one row.
struct LogRow {
    /// A row has at most this many bytes of content, except for one revision that is longer.
    static let bytesMax = 1 << 16

    /// What is known of a revision without its content.
    struct Head {
        var revision: UInt64
        var at: Int64
        var uid: UInt32?
        /// The revision that it undid.
        var undoes: UInt64?
        var isPartialUndo: Bool
        var frameBytes: Int
        var recordBytes: Int
    }

    let heads: [UInt8]
    let content: [UInt8]
}

extension LogRow {
    /// Encodes revisions.
    init(_ rows: some Collection<RevisionRow>) {
        var heads: [UInt8] = []
        var content: [UInt8] = []
        content.reserveCapacity(rows.reduce(0) { $0 + $1.told.count + 512 })
        for row in rows {
            let record = row.record
            heads.append(varint: row.revision)
            heads.append(varint: UInt64(bitPattern: row.at))
            heads.append(varint: row.uid.map { UInt64($0) + 1 } ?? 0)
            heads.append(varint: row.undoes.map { ($0 << 1) + (row.isPartialUndo ? 1 : 0) } ?? 0)
            heads.append(varint: UInt64(row.told.count))
            heads.append(varint: UInt64(record.count))
            row.told.withBytes { content += $0 }
            content += record
        }
        self.heads = heads
        self.content = content
    }

    /// The heads in a column; `nil` if it is damaged.
    static func heads(_ bytes: [UInt8]) -> [Head]? {
        var heads: [Head] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let revision = rest.takeVarint(), let at = rest.takeVarint(),
                let uid = rest.takeVarint(), let back = rest.takeVarint(),
                let frame = rest.takeVarint().flatMap(Int.init(exactly:)),
                let record = rest.takeVarint().flatMap(Int.init(exactly:))
            else { return nil }
            heads.append(
                Head(
                    revision: revision, at: Int64(bitPattern: at),
                    uid: uid == 0 ? nil : UInt32(truncatingIfNeeded: uid &- 1),
                    undoes: back == 0 ? nil : back >> 1, isPartialUndo: back & 1 == 1,
                    frameBytes: frame, recordBytes: record))
        }
        return heads
    }

    /// The revisions, ascending; `nil` if the row is damaged.
    func revisions(of form: FormKey) -> [RevisionRow]? {
        guard let heads = Self.heads(heads) else { return nil }
        var rest = content[...]
        var rows: [RevisionRow] = []
        for head in heads {
            guard rest.count >= head.frameBytes,
                rest.count - head.frameBytes >= head.recordBytes
            else { return nil }
            let frame = [UInt8](rest.prefix(head.frameBytes))
            rest = rest.dropFirst(head.frameBytes)
            rows.append(
                RevisionRow(
                    form: form, revision: head.revision, at: head.at, frame: frame,
                    record: [UInt8](rest.prefix(head.recordBytes)), uid: head.uid,
                    undoes: head.undoes, isPartialUndo: head.isPartialUndo))
            rest = rest.dropFirst(head.recordBytes)
        }
        return rest.isEmpty ? rows : nil
    }
}

extension [UInt8] {
    /// Appends a number in groups of seven bits, the lowest first (LEB128).
    fileprivate mutating func append(varint number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }
}

extension ArraySlice<UInt8> {
    /// Takes the number at the beginning; `nil` if there is none.
    fileprivate mutating func takeVarint() -> UInt64? {
        var number: UInt64 = 0
        var shift: UInt64 = 0
        while let byte = popFirst(), shift < 64 {
            number |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return number }
            shift += 7
        }
        return nil
    }
}
