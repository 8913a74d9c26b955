/// The encoded changes of one form, newest last. Notifications to subscribers are read from here.
///
/// A subscriber is a cursor (the next revision that it needs), not a queue: its cost is the same
/// whether it is up to date or has stopped reading. The log is a ring of chunks with a bound in
/// bytes. A subscriber that falls behind the oldest entry gets one coalesced change instead
/// (PROTOCOL.md, What you can rely on, 2).
///
/// A frame is written once, into the log, when its revision is made. The row for the store refers
/// to it there. Subscribers may read it after `show`: when it is durable, with `commit`.
///
/// Invariants: revisions are contiguous from `first` to `end - 1`, with one frame each. Those from
/// `next` on are not shown yet. The frames of a chunk are contiguous.
struct ChangeLog {
    /// The frame of one revision.
    private struct Entry {
        var chunk: FrameChunk
        var start: Int
        var end: Int
        /// The fields that it touches, for subscribers with a filter; `nil` means all (a
        /// definition).
        var touched: FieldNumbers?

        var count: Int { end - start }
    }

    /// A chunk starts small, so that a thousand inactive forms are cheap, and grows up to this
    /// size.
    private static let chunkBytesMax = 64 << 10
    private static let chunkBytesMin = 2 << 10

    /// From revision `first` on.
    private var entries = Queue<Entry>()
    /// The chunk of the newest entry, if frames can be appended to it.
    private var newest: FrameChunk?
    /// The bytes of what is shown.
    private var bytes = 0
    /// The oldest revision in the log; `next` if none is shown.
    private(set) var first: UInt64
    /// The next revision to be shown.
    private(set) var next: UInt64
    /// The next revision to be appended.
    var end: UInt64 { first + UInt64(entries.count) }
    /// The last result that was read into an empty output since `show`. Subscribers with
    /// the same cursor, which are most, share it.
    private var lastRead = (from: UInt64.max, bytesMax: 0, next: UInt64.max, output: Output())

    init(next: UInt64) {
        first = next
        self.next = next
    }

    /// Appends the frame of revision `end`, which nobody sees yet.
    ///
    /// - Parameters:
    ///   - bytesMax: the bound of the log, for the size of a new chunk.
    ///   - body: writes the text of the frame.
    @inline(__always)
    mutating func append(
        touched: FieldNumbers?, bytesMax: Int, _ body: (inout JSONWriter) -> Void
    ) -> SharedBytes {
        var chunk = chunkWithSpace(for: Frame.headerBytes, bytesMax: bytesMax)
        var writer = chunk.writer()
        writer.beginFrame()
        body(&writer)
        writer.endFrame()
        if let range = chunk.append(writtenBy: writer) { return add(chunk, range, touched) }
        chunk = chunkWithSpace(for: writer.count, bytesMax: bytesMax)
        return add(chunk, chunk.append(writer.output), touched)
    }

    /// Appends the frame of revision `end`, which nobody sees yet.
    mutating func append(
        _ frame: [UInt8], touched: FieldNumbers?, bytesMax: Int
    ) -> SharedBytes {
        let chunk = chunkWithSpace(for: frame.count, bytesMax: bytesMax)
        return add(chunk, chunk.append(frame), touched)
    }

    private mutating func add(
        _ chunk: FrameChunk, _ range: Range<Int>, _ touched: FieldNumbers?
    ) -> SharedBytes {
        entries.append(
            Entry(chunk: chunk, start: range.lowerBound, end: range.upperBound, touched: touched))
        return chunk.share(range)
    }

    /// Shows the revisions up to `revision` and drops the oldest chunks beyond `bytesMax`. Returns
    /// whether any is new.
    mutating func show(upTo revision: UInt64, bytesMax: Int, retained: RetainedBytes) -> Bool {
        guard revision >= next else { return false }
        precondition(revision < end, "a revision is appended before it is shown")
        if lastRead.from != .max { lastRead = (.max, 0, .max, Output()) }
        while next <= revision {
            bytes += entries[index(of: next)].count
            next += 1
        }
        trim(to: bytesMax, retained)
        return true
    }

    /// Removes the revisions from `revision` on, which are not shown.
    mutating func remove(from revision: UInt64, _ retained: RetainedBytes) {
        precondition(revision >= next, "what was shown stays")
        guard revision < end else { return }
        let chunk = entries[index(of: revision)].chunk
        entries.removeLast(Int(end - revision))
        // What was shown of it may have been dropped before.
        if entries.last?.chunk !== chunk { chunk.retire(retained) }
        // Others may refer to the bytes, and frames of one chunk are contiguous.
        newest = nil
    }

    /// Replaces the numbers of fields.
    mutating func renumber(_ number: (Int) -> Int) {
        for place in entries.indices {
            entries[place].touched = entries[place].touched?.renumbered(number)
        }
    }

    /// Drops all entries and continues with revision `next` of another log.
    mutating func restart(next: UInt64) {
        self = ChangeLog(next: next)
    }

    private mutating func chunkWithSpace(for count: Int, bytesMax: Int) -> FrameChunk {
        var capacity = Self.chunkBytesMin
        if let newest {
            if newest.unusedBytes >= count { return newest }
            capacity = min(newest.capacity * 2, Self.chunkBytesMax, max(bytesMax / 4, 1))
        }
        let chunk = FrameChunk(capacity: max(capacity, count))
        newest = chunk
        return chunk
    }

    /// Drops whole chunks from the old end while more than `bytesMax` are shown, but never the
    /// newest frame that is shown.
    private mutating func trim(to bytesMax: Int, _ retained: RetainedBytes) {
        while bytes > bytesMax, let oldest = entries.first?.chunk,
            oldest !== entries[index(of: next - 1)].chunk
        {
            drop(oldest, retained)
        }
    }

    /// Drops everything that is shown; the next revision stays the same.
    mutating func dropShown(_ retained: RetainedBytes) {
        lastRead = (.max, 0, .max, Output())
        newest = nil
        while first < next, let oldest = entries.first?.chunk { drop(oldest, retained) }
    }

    private mutating func drop(_ oldest: FrameChunk, _ retained: RetainedBytes) {
        while first < next, let entry = entries.first, entry.chunk === oldest {
            bytes -= entry.count
            first += 1
            entries.takeFirst()
        }
        // What is not shown yet may still be in the chunk.
        if entries.first?.chunk !== oldest { oldest.retire(retained) }
    }

    /// Adds the changes after `cursor` to `output`, up to about `bytesMax` bytes in all, and moves
    /// the cursor. The cursor must not be older than `first`.
    mutating func read(
        from cursor: inout UInt64, filter: FieldNumbers?, into output: inout Output, bytesMax: Int
    ) {
        precondition(cursor >= first, "an entry before the cursor's was dropped; coalesce instead")
        if let filter {
            readFiltered(from: &cursor, filter: filter, into: &output, bytesMax: bytesMax)
            return
        }
        guard output.byteCount == 0 else {
            readAll(from: &cursor, into: &output, bytesMax: bytesMax)
            return
        }
        if lastRead.from == cursor, lastRead.bytesMax == bytesMax {
            output = lastRead.output
            cursor = lastRead.next
            return
        }
        let from = cursor
        readAll(from: &cursor, into: &output, bytesMax: bytesMax)
        lastRead = (from, bytesMax, cursor, output)
    }

    private func readAll(from cursor: inout UInt64, into output: inout Output, bytesMax: Int) {
        while cursor < next, output.byteCount < bytesMax {
            let entry = entries[index(of: cursor)]
            let end = lastIndex(inChunkOf: index(of: cursor))
            let lastEntry = entries[end]
            // Nearly always the rest of the chunk fits as one slice.
            if output.byteCount + lastEntry.end - entry.start <= bytesMax {
                output.append(entry.chunk, entry.start..<lastEntry.end)
                cursor += UInt64(end - index(of: cursor)) + 1
            } else {
                output.append(entry.chunk, entry.start..<entry.end)
                cursor += 1
            }
        }
    }

    private func readFiltered(
        from cursor: inout UInt64, filter: FieldNumbers, into output: inout Output, bytesMax: Int
    ) {
        while cursor < next, output.byteCount < bytesMax {
            let entry = entries[index(of: cursor)]
            if entry.touched?.intersects(filter) ?? true {
                output.append(entry.chunk, entry.start..<entry.end)
            }
            cursor += 1
        }
    }

    private func index(of revision: UInt64) -> Int { Int(revision - first) }

    /// The last shown entry in the same chunk. Subscribers are nearly always close to the newest.
    private func lastIndex(inChunkOf index: Int) -> Int {
        let (chunk, newest) = (entries[index].chunk, self.index(of: next - 1))
        if entries[newest].chunk === chunk { return newest }
        return entries[index...newest].partitionIndex { $0.chunk !== chunk } - 1
    }
}

/// A set of fields by their dense numbers in one form: sorted, and compared by merging.
///
/// The numbers are those of `FieldNames`.
struct FieldNumbers: Sendable, Hashable {
    /// Ascending and distinct. Empty for a set of one number, which is nearly every change and
    /// needs no allocation.
    private let numbers: [Int32]
    private let single: Int32?

    init(_ numbers: some Sequence<Int>) {
        var sorted = numbers.map(Int32.init)
        sorted.sort()
        var distinct: [Int32] = []
        distinct.reserveCapacity(sorted.count)
        for number in sorted where distinct.last != number { distinct.append(number) }
        single = distinct.count == 1 ? distinct[0] : nil
        self.numbers = single == nil ? distinct : []
    }

    init(single number: Int) {
        numbers = []
        single = Int32(number)
    }

    /// The union with greater numbers, which are ascending.
    func union(_ greater: [Int]) -> FieldNumbers {
        FieldNumbers(all + greater)
    }

    func renumbered(_ number: (Int) -> Int) -> FieldNumbers {
        if let single { return FieldNumbers(single: number(Int(single))) }
        return FieldNumbers(all.map(number))
    }

    /// The numbers, ascending.
    var all: [Int] { (single.map { [$0] } ?? numbers).map(Int.init) }

    func contains(_ number: Int) -> Bool { contains(Int32(number)) }

    /// Whether both sets have a number in common.
    func intersects(_ other: FieldNumbers) -> Bool {
        if let single { return other.contains(single) }
        if let single = other.single { return contains(single) }
        var left = 0
        var right = 0
        while left < numbers.count, right < other.numbers.count {
            if numbers[left] == other.numbers[right] { return true }
            if numbers[left] < other.numbers[right] { left += 1 } else { right += 1 }
        }
        return false
    }

    private func contains(_ number: Int32) -> Bool {
        if let single { return single == number }
        let place = numbers.partitionIndex { $0 >= number }
        return place < numbers.count && numbers[place] == number
    }
}

/// Bytes of chunks that a log has dropped and that a write in progress still holds.
final class RetainedBytes {
    var bytes = 0
}
