/// A fixed-capacity, append-only buffer of encoded frames with a stable address.
///
/// Appending never moves what is there, so the kernel may read a slice of it while more is
/// appended behind: one copy of a change serves every subscriber, and a write that is under way
/// holds the chunk by reference. Confined to the loop.
public final class FrameChunk {
    private let storage: UnsafeMutableRawBufferPointer
    /// Counts this chunk once its log has dropped it, for as long as a write holds it.
    private var counter: RetainedBytes?
    /// Bytes that have been appended.
    public private(set) var count = 0

    /// A chunk that takes `capacity` bytes.
    public init(capacity: Int) {
        storage = .allocate(byteCount: capacity, alignment: 1)
    }

    /// A chunk that is full of the given bytes.
    public convenience init(_ bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        _ = append(bytes)
    }

    deinit {
        counter?.bytes -= capacity
        storage.deallocate()
    }

    /// The log needs it no more.
    func retire(_ counter: RetainedBytes) {
        counter.bytes += capacity
        self.counter = counter
    }

    /// How many bytes it takes in all.
    public var capacity: Int { storage.count }

    /// How many bytes it still takes.
    public var room: Int { storage.count - count }

    /// Appends the bytes, for which there must be room; gives where they stand.
    func append(_ bytes: [UInt8]) -> Range<Int> {
        precondition(bytes.count <= room, "a frame must fit the chunk that it is appended to")
        let start = count
        bytes.withUnsafeBytes { source in
            guard let base = source.baseAddress, let target = storage.baseAddress else { return }
            (target + start).copyMemory(from: base, byteCount: source.count)
        }
        count += bytes.count
        return start..<count
    }

    /// Appends a frame of the text (JSON), for which there must be room.
    func append(frameOf text: [UInt8]) {
        precondition(!text.isEmpty && text.count <= UInt32.max, "a frame holds a message")
        let length = UInt32(text.count).bigEndian
        precondition(Frame.headerBytes + text.count <= room, "a frame must fit its chunk")
        storage.storeBytes(of: length, toByteOffset: count, as: UInt32.self)
        count += Frame.headerBytes
        _ = append(text)
    }

    /// The address of a byte: stable for as long as the chunk lives.
    public func address(of offset: Int) -> UnsafeRawPointer {
        precondition(offset <= count, "only bytes that were appended have an address")
        return UnsafeRawPointer(storage.baseAddress!) + offset
    }
}

/// A slice of a chunk, as a part of one write.
public struct OutputSegment {
    /// What keeps the bytes alive.
    public let chunk: FrameChunk
    /// Which of its bytes.
    public let range: Range<Int>

    /// The address of the first byte; valid while `chunk` is alive.
    public var baseAddress: UnsafeRawPointer { chunk.address(of: range.lowerBound) }

    /// How many bytes.
    public var count: Int { range.count }
}

/// What one write of a connection carries: one iovec list, in order.
public struct Output {
    public internal(set) var segments: [OutputSegment] = []
    public internal(set) var byteCount = 0
    /// Bytes that no other connection is written from.
    private(set) var privateBytes = 0

    /// Adds a slice of a chunk that is this connection's alone.
    mutating func append(own chunk: FrameChunk) {
        privateBytes += chunk.count
        append(chunk, 0..<chunk.count)
    }

    /// Adds a slice; one that continues the last is joined to it.
    mutating func append(_ chunk: FrameChunk, _ range: Range<Int>) {
        guard !range.isEmpty else { return }
        byteCount += range.count
        if let last = segments.last, last.chunk === chunk,
            last.range.upperBound == range.lowerBound
        {
            segments[segments.count - 1] = OutputSegment(
                chunk: chunk, range: last.range.lowerBound..<range.upperBound)
        } else {
            segments.append(OutputSegment(chunk: chunk, range: range))
        }
    }
}
