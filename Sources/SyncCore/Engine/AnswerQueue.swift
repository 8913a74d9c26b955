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

    /// Places whose answers have not been moved to `chunks`, from `head` on; the first one of them
    /// is still waited for.
    private var slots: [State] = []
    private var head = 0
    /// The number of the place at `head`.
    private var firstNumber: UInt64 = 0
    private var chunks: [FrameChunk] = []
    /// Bytes that wait to be written or to be allowed to.
    private(set) var bytes = 0

    private static let chunkBytes = 4 << 10

    /// Whether something may be written.
    var hasOutput: Bool { !chunks.isEmpty }

    /// Whether an answer is still waited for.
    var isWaiting: Bool { head < slots.count }

    /// Whether the answer of a place may be written, or was.
    func isAnswered(_ slot: Slot) -> Bool { slot.number < firstNumber }

    /// Keeps the next place for an answer that comes later.
    mutating func reserve() -> Slot {
        slots.append(.waiting)
        return Slot(number: firstNumber + UInt64(slots.count - head) - 1)
    }

    /// Puts an answer in its place; an empty one says that nothing is answered there.
    mutating func fill(_ slot: Slot, with frame: [UInt8]) {
        guard slot.number >= firstNumber else { return }
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
        if head == slots.count || head > 1024 {
            slots.removeFirst(head)
            head = 0
        }
    }

    /// Answers at once, behind what is there already.
    mutating func append(_ frame: [UInt8]) {
        bytes += frame.count
        if !isWaiting {
            write(frame)
        } else {
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
        if let last = chunks.last, last.room >= frame.count {
            _ = last.append(frame)
            return
        }
        // The first chunk of a quiet connection is as small as its one answer.
        let capacity = chunks.isEmpty ? frame.count : max(Self.chunkBytes, frame.count)
        let chunk = FrameChunk(capacity: capacity)
        _ = chunk.append(frame)
        chunks.append(chunk)
    }
}
