/// The answers of one connection, in the order of its requests.
///
/// An answer may have to wait (for a commit, for the store); those behind it wait with it, so that
/// requests are answered in order (PROTOCOL.md, Promises of the stream, 5). Bytes that may leave
/// stand in chunks that are taken when the connection is written to and given back to nobody: an
/// idle connection holds no buffer.
struct AnswerQueue {
    /// Names the place of one answer.
    struct Slot: Hashable {
        fileprivate let number: UInt64
    }

    private enum State {
        case waiting
        case ready([UInt8])
    }

    /// Whether the place `firstNumber` is kept and no other: what a request needs that is answered
    /// at once, and the only one that takes no memory.
    private var hasSingle = false
    /// Places whose answers have not been moved to `chunks`, from `head` on; the first one of them
    /// is still waited for.
    private var slots: [State] = []
    private var head = 0
    /// The number of the place at `head`.
    private var firstNumber: UInt64 = 0
    private var chunks: [FrameChunk] = []
    /// Bytes that wait to be written or to be allowed to.
    private(set) var bytes = 0

    private static let chunkBytes = 16 << 10

    /// Whether something may be written.
    var hasOutput: Bool { !chunks.isEmpty }

    /// Whether an answer is still waited for.
    var isWaiting: Bool { hasSingle || head < slots.count }

    /// Whether the answer of a place may be written, or was; so it is where none is owed.
    func isAnswered(_ slot: Slot?) -> Bool { slot.map { $0.number < firstNumber } ?? true }

    /// Keeps the next place for an answer that comes later.
    mutating func reserve() -> Slot {
        guard isWaiting else {
            hasSingle = true
            return Slot(number: firstNumber)
        }
        spread()
        slots.append(.waiting)
        return Slot(number: firstNumber + UInt64(slots.count - head) - 1)
    }

    /// Puts an answer in its place; an empty one says that nothing is answered there.
    mutating func fill(_ slot: Slot, with frame: [UInt8]) {
        guard slot.number >= firstNumber else { return }
        spread()
        let index = head + Int(slot.number - firstNumber)
        bytes += frame.count
        slots[index] = .ready(frame)
        guard index == head else { return }
        while head < slots.count, case .ready(let frame) = slots[head] {
            write(frame)
            slots[head] = .waiting
            head += 1
            firstNumber += 1
        }
        if head == slots.count {
            slots = []
            head = 0
        } else if head > 1024 {
            slots.removeFirst(head)
            head = 0
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
        bytes += Frame.headerBytes + text.count
        chunk(for: Frame.headerBytes + text.count).append(frameOf: text)
    }

    /// Several places stand in the list, the first of them too.
    private mutating func spread() {
        guard hasSingle else { return }
        hasSingle = false
        slots.append(.waiting)
    }

    /// Answers at once, behind what is there already.
    mutating func append(_ frame: [UInt8]) {
        bytes += frame.count
        if !isWaiting {
            write(frame)
        } else {
            spread()
            slots.append(.ready(frame))
        }
    }

    /// Moves what may be written to `output`.
    mutating func take(into output: inout Output) {
        for chunk in chunks {
            output.append(own: chunk)
            bytes -= chunk.count
        }
        chunks = []
    }

    private mutating func write(_ frame: [UInt8]) {
        guard !frame.isEmpty else { return }
        _ = chunk(for: frame.count).append(frame)
    }

    /// The last chunk, or a new one where it has no room.
    private mutating func chunk(for count: Int) -> FrameChunk {
        if let last = chunks.last, last.room >= count { return last }
        // The first chunk of a quiet connection is as small as its one answer.
        let chunk = FrameChunk(capacity: chunks.isEmpty ? count : max(Self.chunkBytes, count))
        chunks.append(chunk)
        return chunk
    }
}
