/// The answers of one connection, in the order of its requests.
///
/// An answer may have to wait (for a commit, for the store); those behind it wait with it, so that
/// requests are answered in order (PROTOCOL.md, What you can rely on, 5). Bytes that may leave
/// stand in chunks that are taken when the connection is written to and given back to nobody: an
/// idle connection holds no buffer.
struct AnswerQueue {
    /// Names the place of one answer.
    struct Slot: Hashable {
        fileprivate let number: UInt64

        /// Where no answer is owed: it counts as given.
        static let unowed = Slot(number: 0)
    }

    private enum State {
        case waiting
        case ready([UInt8])
    }

    /// What more than one answer needs: there while it is needed, and let go of with the last.
    private final class Line {
        /// Places whose answers have not been moved to the chunks, from `head` on; the first one of
        /// them is still waited for.
        var places: [State] = []
        var head = 0
        /// Behind the first chunk.
        var chunks: [FrameChunk] = []
        /// Bytes of answers in places and in chunks.
        var bytes = 0

        var waitingCount: Int { places.count - head }
        var isEmpty: Bool { waitingCount == 0 && chunks.isEmpty }
    }

    /// The number of the next place whose answer has not been moved to the chunks.
    private var firstNumber: UInt64 = 1
    /// What may leave: nearly always one chunk.
    private var chunk: FrameChunk?
    private var line: Line?
    /// Whether the place `firstNumber` is kept and no other: what a request needs that is answered
    /// at once, and the only one that takes no memory.
    private var hasSingle = false

    private static let chunkBytes = 16 << 10

    /// Bytes that wait to be written or to be allowed to.
    var bytes: Int { (chunk?.count ?? 0) + (line?.bytes ?? 0) }

    /// Whether nothing is owed and nothing waits to be written.
    var isEmpty: Bool { chunk == nil && line == nil && !hasSingle }

    /// Whether something may be written.
    var hasOutput: Bool { chunk != nil }

    /// Whether an answer is still waited for.
    var isWaiting: Bool { hasSingle || line.map { $0.waitingCount > 0 } ?? false }

    /// Whether the answer of a place may be written, or was.
    func isAnswered(_ slot: Slot) -> Bool { slot.number < firstNumber }

    /// Keeps the next place for an answer that comes later.
    mutating func reserve() -> Slot {
        guard isWaiting else {
            hasSingle = true
            return Slot(number: firstNumber)
        }
        let line = spread()
        line.places.append(.waiting)
        return Slot(number: firstNumber + UInt64(line.waitingCount) - 1)
    }

    /// Puts an answer in its place; an empty one says that nothing is answered there.
    mutating func fill(_ slot: Slot, with frame: [UInt8]) {
        guard slot.number >= firstNumber else { return }
        let line = spread()
        let index = line.head + Int(slot.number - firstNumber)
        line.bytes += frame.count
        line.places[index] = .ready(frame)
        guard index == line.head else { return }
        while line.head < line.places.count, case .ready(let frame) = line.places[line.head] {
            line.bytes -= frame.count
            write(frame)
            line.places[line.head] = .waiting
            line.head += 1
            firstNumber += 1
        }
        if line.head == line.places.count {
            line.places = []
            line.head = 0
            if line.isEmpty { self.line = nil }
        } else if line.head > 1024 {
            line.places.removeFirst(line.head)
            line.head = 0
        }
    }

    /// Puts a response (JSON text) in its place as a frame; where it may leave, nearly always, it
    /// is copied once, to where it leaves from.
    mutating func fill(_ slot: Slot, text: [UInt8]) {
        guard hasSingle, slot.number == firstNumber else {
            return fill(slot, with: Frame.encode(text: text))
        }
        hasSingle = false
        firstNumber += 1
        let count = Frame.headerBytes + text.count
        withRoom(for: count) { $0.append(frameOf: text) }
    }

    /// Answers at once, behind what is there already.
    mutating func append(_ frame: [UInt8]) {
        guard isWaiting else { return write(frame) }
        let line = spread()
        line.bytes += frame.count
        line.places.append(.ready(frame))
    }

    /// Moves what may be written to `output`.
    mutating func take(into output: inout Output) {
        guard let chunk else { return }
        output.append(own: chunk)
        self.chunk = nil
        guard let line else { return }
        for chunk in line.chunks {
            output.append(own: chunk)
            line.bytes -= chunk.count
        }
        line.chunks = []
        if line.isEmpty { self.line = nil }
    }

    /// Several places stand in the line, the first of them too.
    private mutating func spread() -> Line {
        let line = line ?? Line()
        self.line = line
        if hasSingle {
            hasSingle = false
            line.places.append(.waiting)
        }
        return line
    }

    private mutating func write(_ frame: [UInt8]) {
        guard !frame.isEmpty else { return }
        withRoom(for: frame.count) { _ = $0.append(frame) }
    }

    /// Appends so many bytes to the last chunk, or to a new one where it has no room.
    private mutating func withRoom(for count: Int, _ append: (FrameChunk) -> Void) {
        guard let chunk else {
            // The first chunk of a quiet connection is as small as its one answer.
            let chunk = FrameChunk(capacity: count)
            self.chunk = chunk
            return append(chunk)
        }
        if line?.chunks.isEmpty ?? true, chunk.room >= count { return append(chunk) }
        let line = line ?? Line()
        self.line = line
        line.bytes += count
        if let last = line.chunks.last, last.room >= count { return append(last) }
        let next = FrameChunk(capacity: max(Self.chunkBytes, count))
        line.chunks.append(next)
        append(next)
    }
}
