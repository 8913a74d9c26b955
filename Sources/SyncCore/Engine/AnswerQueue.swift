/// The answers of one connection, in the order of its requests.
///
/// An answer may have to wait for a commit or for the store. Later answers then wait too, because
/// requests are answered in order (PROTOCOL.md, What you can rely on, 5). Bytes that can be sent
/// are in chunks that are freed after the write, so an idle connection has no buffer.
struct AnswerQueue {
    struct Slot: Hashable {
        fileprivate let number: UInt64

        /// The slot of a request that gets no answer. It counts as answered.
        static let unowed = Slot(number: 0)
    }

    private enum State {
        case waiting
        case ready([UInt8])
    }

    /// The answers of a connection that owes several. Freed with the last of them.
    private final class Backlog {
        /// Slots whose answers have not been moved to the chunks. The first one is still pending.
        var places = Queue<State>()
        /// The chunks after the first one.
        var chunks: [FrameChunk] = []
        /// Bytes of answers in slots and in chunks.
        var bytes = 0

        var isEmpty: Bool { places.isEmpty && chunks.isEmpty }
    }

    /// The number of the next slot whose answer has not been moved to the chunks.
    private var firstNumber: UInt64 = 1
    /// What can be sent: nearly always one chunk.
    private var chunk: FrameChunk?
    private var backlog: Backlog?
    /// Whether exactly one slot, `firstNumber`, is reserved. A request that is answered at once
    /// needs no more, and this takes no memory.
    private var hasSingle = false

    private static let chunkBytes = 16 << 10

    /// Bytes of answers that are ready or pending.
    var bytes: Int { (chunk?.count ?? 0) + (backlog?.bytes ?? 0) }

    /// Whether no answer is pending or ready.
    var isEmpty: Bool { chunk == nil && backlog == nil && !hasSingle }

    var hasOutput: Bool { chunk != nil }

    /// Whether an answer is pending.
    var isWaiting: Bool { hasSingle || backlog.map { !$0.places.isEmpty } ?? false }

    /// Whether the answer of a slot is ready or has been sent.
    func isAnswered(_ slot: Slot) -> Bool { slot.number < firstNumber }

    /// Reserves the next slot for an answer that comes later.
    mutating func reserve() -> Slot {
        guard isWaiting else {
            hasSingle = true
            return Slot(number: firstNumber)
        }
        let backlog = backlogWithSingle()
        backlog.places.append(.waiting)
        return Slot(number: firstNumber + UInt64(backlog.places.count) - 1)
    }

    /// Fills a slot. An empty frame means that the request gets no answer.
    mutating func fill(_ slot: Slot, with frame: [UInt8]) {
        guard slot.number >= firstNumber else { return }
        let backlog = backlogWithSingle()
        let index = Int(slot.number - firstNumber)
        guard index == 0 else {
            backlog.bytes += frame.count
            backlog.places[index] = .ready(frame)
            return
        }
        backlog.places.takeFirst()
        firstNumber += 1
        write(frame)
        moveReady(backlog)
    }

    /// Moves answers to the chunks that waited only for the one before them.
    private mutating func moveReady(_ backlog: Backlog) {
        while case .ready(let frame)? = backlog.places.first {
            backlog.bytes -= frame.count
            write(frame)
            backlog.places.takeFirst()
            firstNumber += 1
        }
        if backlog.isEmpty { self.backlog = nil }
    }

    /// Fills a slot with a response (JSON text), as a frame. If it can be sent now, which is nearly
    /// always so, the text is copied only once, into its chunk.
    mutating func fill(_ slot: Slot, text: UnsafeBufferPointer<UInt8>) {
        guard slot.number == firstNumber, isWaiting else {
            return fill(slot, with: Frame.encode(text: text))
        }
        if !hasSingle { backlog?.places.takeFirst() }
        hasSingle = false
        firstNumber += 1
        let count = Frame.headerBytes + text.count
        withChunk(for: count) { $0.append(frameOf: text) }
        if let backlog { moveReady(backlog) }
    }

    /// Adds an answer after all others.
    mutating func append(_ frame: [UInt8]) {
        guard isWaiting else { return write(frame) }
        let backlog = backlogWithSingle()
        backlog.bytes += frame.count
        backlog.places.append(.ready(frame))
    }

    /// Moves what can be sent to `output`.
    mutating func take(into output: inout Output) {
        guard let chunk else { return }
        output.append(own: chunk)
        self.chunk = nil
        guard let backlog else { return }
        for chunk in backlog.chunks {
            output.append(own: chunk)
            backlog.bytes -= chunk.count
        }
        backlog.chunks = []
        if backlog.isEmpty { self.backlog = nil }
    }

    /// The backlog, which now contains the single slot too.
    private mutating func backlogWithSingle() -> Backlog {
        let backlog = backlog ?? Backlog()
        self.backlog = backlog
        if hasSingle {
            hasSingle = false
            backlog.places.append(.waiting)
        }
        return backlog
    }

    private mutating func write(_ frame: [UInt8]) {
        guard !frame.isEmpty else { return }
        withChunk(for: frame.count) { _ = $0.append(frame) }
    }

    /// Appends `count` bytes to the last chunk, or to a new chunk if they do not fit.
    private mutating func withChunk(for count: Int, _ append: (FrameChunk) -> Void) {
        guard let chunk else {
            // The first chunk of an idle connection is as small as its one answer.
            let chunk = FrameChunk(capacity: count)
            self.chunk = chunk
            return append(chunk)
        }
        if backlog?.chunks.isEmpty ?? true, chunk.unusedBytes >= count { return append(chunk) }
        let backlog = backlog ?? Backlog()
        self.backlog = backlog
        backlog.bytes += count
        if let last = backlog.chunks.last, last.unusedBytes >= count { return append(last) }
        let next = FrameChunk(capacity: max(Self.chunkBytes, count))
        backlog.chunks.append(next)
        append(next)
    }
}
