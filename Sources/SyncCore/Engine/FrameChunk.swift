/// An append-only buffer of encoded frames with a fixed capacity and a stable address.
///
/// Appending never moves existing bytes, so the kernel can read a slice during an append. One copy
/// of a change serves all subscribers, and a write in progress retains the chunk. Confined to the
/// loop.
public final class FrameChunk {
    private let storage: UnsafeMutableRawBufferPointer
    /// Counts this chunk after its log has dropped it, as long as a write retains it.
    private var counter: RetainedBytes?
    /// The number of bytes in the chunk.
    public private(set) var count = 0

    /// An empty chunk of `capacity` bytes.
    public init(capacity: Int) {
        storage = .allocate(byteCount: capacity, alignment: 1)
    }

    /// A chunk that contains exactly these bytes.
    public convenience init(_ bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        _ = append(bytes)
    }

    deinit {
        counter?.bytes -= capacity
        storage.deallocate()
    }

    /// The log has dropped the chunk.
    func retire(_ counter: RetainedBytes) {
        counter.bytes += capacity
        self.counter = counter
    }

    /// The most bytes that it can contain.
    public var capacity: Int { storage.count }

    /// The number of bytes that can still be appended.
    public var unusedBytes: Int { storage.count - count }

    /// Appends the bytes, which must fit; returns their range.
    func append(_ bytes: [UInt8]) -> Range<Int> { bytes.withUnsafeBufferPointer { append($0) } }

    /// Appends the bytes, which must fit; returns their range.
    func append(_ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        precondition(bytes.count <= unusedBytes, "a frame must fit its chunk")
        let start = count
        if let base = bytes.baseAddress, let target = storage.baseAddress {
            (target + start).copyMemory(from: base, byteCount: bytes.count)
        }
        count += bytes.count
        return start..<count
    }

    /// Appends the text (JSON) as a frame, which must fit.
    func append(frameOf text: UnsafeBufferPointer<UInt8>) {
        precondition(!text.isEmpty && text.count <= UInt32.max, "a frame holds a message")
        let length = UInt32(text.count).bigEndian
        precondition(Frame.headerBytes + text.count <= unusedBytes, "a frame must fit its chunk")
        storage.storeBytes(of: length, toByteOffset: count, as: UInt32.self)
        count += Frame.headerBytes
        _ = append(text)
    }

    /// The address of a byte. It is stable as long as the chunk lives.
    public func address(of offset: Int) -> UnsafeRawPointer {
        precondition(offset <= count, "only bytes that were appended have an address")
        return UnsafeRawPointer(storage.baseAddress!) + offset
    }
}

/// A slice of a chunk, as a part of one write.
public struct OutputSegment {
    /// Keeps the bytes alive.
    public let chunk: FrameChunk
    /// The range of its bytes.
    public let range: Range<Int>

    /// The address of the first byte; valid while `chunk` is alive.
    public var baseAddress: UnsafeRawPointer { chunk.address(of: range.lowerBound) }

    /// The number of bytes.
    public var count: Int { range.count }
}

/// The content of one write of a connection: one iovec list, in order.
public struct Output {
    public internal(set) var segments: [OutputSegment] = []
    public internal(set) var byteCount = 0
    /// Bytes that no other connection shares.
    private(set) var privateBytes = 0

    /// Adds a chunk that only this connection uses.
    mutating func append(own chunk: FrameChunk) {
        privateBytes += chunk.count
        append(chunk, 0..<chunk.count)
    }

    /// Adds a slice. If it continues the last one, they are merged.
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
