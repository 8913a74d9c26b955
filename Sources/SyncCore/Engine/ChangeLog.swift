/// The encoded changes of one form, newest last. Notifications to subscribers are read from here.
///
/// A subscriber is a cursor (the next revision that it needs), not a queue: its cost is the same
/// whether it is up to date or has stopped reading. The log is a ring of chunks with a bound in
/// bytes. A subscriber that falls behind the oldest entry gets one coalesced change instead
/// (PROTOCOL.md, What you can rely on, 2).
///
/// Invariants: revisions are contiguous from `first` to `next - 1`, with one frame each; the frames
/// of a chunk are contiguous.
struct ChangeLog {
    /// The frame of one revision.
    private struct Entry {
        var chunk: FrameChunk
        var start: Int
        var end: Int
        /// The fields that it touches, for subscribers with a filter; `nil` means all (a
        /// definition).
        var touched: FieldNumbers?
    }

    /// A chunk starts small, so that a thousand inactive forms are cheap, and grows up to this
    /// size.
    private static let chunkBytesMax = 64 << 10
    private static let chunkBytesMin = 2 << 10

    /// From revision `first` on.
    private var entries = Queue<Entry>()
    /// The chunk of the newest entry.
    private var newest: FrameChunk?
    private var bytes = 0
    /// The oldest revision in the log; `next` if there is none.
    private(set) var first: UInt64
    /// The next revision to be appended.
    private(set) var next: UInt64
    /// The last result that was read into an empty output since the last revision. Subscribers with
    /// the same cursor, which are most, share it.
    private var lastRead = (from: UInt64.max, bytesMax: 0, next: UInt64.max, output: Output())

    /// An empty log whose next revision is `next`.
    init(next: UInt64) {
        first = next
        self.next = next
    }

    /// Appends the frame of revision `next` and drops the oldest chunks beyond `bytesMax`.
    mutating func append(
        _ frame: [UInt8], touched: FieldNumbers?, bytesMax: Int, retained: RetainedBytes
    ) {
        if lastRead.from != .max { lastRead = (.max, 0, .max, Output()) }
        let chunk = chunkWithSpace(for: frame.count, bytesMax: bytesMax)
        let range = chunk.append(frame)
        entries.append(
            Entry(chunk: chunk, start: range.lowerBound, end: range.upperBound, touched: touched))
        bytes += frame.count
        next += 1
        trim(to: bytesMax, retained)
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

    /// Drops whole chunks from the old end while the log holds more than `bytesMax`, but never the
    /// newest frame.
    private mutating func trim(to bytesMax: Int, _ retained: RetainedBytes) {
        while bytes > bytesMax, let oldest = entries.first?.chunk, oldest !== newest {
            drop(oldest, retained)
        }
    }

    /// Drops all entries; the next revision stays the same.
    mutating func dropAll(_ retained: RetainedBytes) {
        lastRead = (.max, 0, .max, Output())
        newest = nil
        while let oldest = entries.first?.chunk { drop(oldest, retained) }
    }

    private mutating func drop(_ oldest: FrameChunk, _ retained: RetainedBytes) {
        while let entry = entries.first, entry.chunk === oldest {
            bytes -= entry.end - entry.start
            first += 1
            entries.takeFirst()
        }
        oldest.retire(retained)
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

    /// The last entry in the same chunk. It gallops from the newest entry, because subscribers are
    /// nearly always close to it.
    private func lastIndex(inChunkOf index: Int) -> Int {
        let chunk = entries[index].chunk
        if entries[entries.count - 1].chunk === chunk { return entries.count - 1 }
        return entries[index...].partitionIndex { $0.chunk !== chunk } - 1
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

    /// A set of these numbers.
    init(_ numbers: some Sequence<Int>) {
        var sorted = numbers.map(Int32.init)
        sorted.sort()
        var distinct: [Int32] = []
        distinct.reserveCapacity(sorted.count)
        for number in sorted where distinct.last != number { distinct.append(number) }
        single = distinct.count == 1 ? distinct[0] : nil
        self.numbers = single == nil ? distinct : []
    }

    /// A set of one number.
    init(single number: Int) {
        numbers = []
        single = Int32(number)
    }

    /// The union with greater numbers, which are ascending.
    func union(_ greater: [Int]) -> FieldNumbers {
        FieldNumbers((single.map { [$0] } ?? numbers).map(Int.init) + greater)
    }

    /// Whether the set contains the number.
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
