/// Bytes that several may refer to: a frame in a chunk, or a field's text in a frame.
///
/// They never change and are freed with the last reference, so the store's thread may read them.
package struct SharedBytes: @unchecked Sendable {
    /// Memory of a fixed size. Bytes in use never change; others follow them.
    fileprivate typealias Memory = ManagedBuffer<Void, UInt8>

    private let memory: Memory
    private let start: UnsafePointer<UInt8>
    /// The number of bytes.
    package let count: Int

    fileprivate init(_ memory: Memory, _ start: UnsafePointer<UInt8>, count: Int) {
        self.memory = memory
        self.start = start
        self.count = count
    }

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        memory = .create(minimumCapacity: bytes.count) { _ in }
        let start = memory.withUnsafeMutablePointerToElements { $0 }
        if let base = bytes.baseAddress { start.initialize(from: base, count: bytes.count) }
        self.start = UnsafePointer(start)
        count = bytes.count
    }

    init(_ bytes: [UInt8]) { self = bytes.withUnsafeBufferPointer { SharedBytes($0) } }

    subscript(range: Range<Int>) -> SharedBytes {
        precondition(range.upperBound <= count, "only a part of the bytes can be shared")
        return SharedBytes(memory, start + range.lowerBound, count: range.count)
    }

    @inline(__always)
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        defer { withExtendedLifetime(memory) {} }
        return body(UnsafeBufferPointer(start: start, count: count))
    }

    var array: [UInt8] { withBytes { Array($0) } }
}

/// An append-only buffer of encoded frames with a fixed capacity and a stable address.
///
/// Appending never moves existing bytes, so the kernel can read a slice during an append. One copy
/// of a change serves all subscribers and the store, and a write in progress retains the chunk.
/// Confined to the loop, except for its memory (`SharedBytes`).
public final class FrameChunk {
    private let memory: SharedBytes.Memory
    private let start: UnsafeMutablePointer<UInt8>
    /// The most bytes that it can contain.
    public let capacity: Int
    /// Counts this chunk after its log has dropped it, as long as a write retains it.
    private var counter: RetainedBytes?
    /// The number of bytes in the chunk.
    public private(set) var count = 0

    /// An empty chunk of `capacity` bytes.
    public init(capacity: Int) {
        memory = .create(minimumCapacity: capacity) { _ in }
        start = memory.withUnsafeMutablePointerToElements { $0 }
        self.capacity = capacity
    }

    /// A chunk that contains exactly these bytes.
    public convenience init(_ bytes: [UInt8]) {
        self.init(capacity: bytes.count)
        _ = append(bytes)
    }

    deinit { counter?.bytes -= capacity }

    /// The log has dropped the chunk.
    func retire(_ counter: RetainedBytes) {
        counter.bytes += capacity
        self.counter = counter
    }

    /// The number of bytes that can still be appended.
    public var unusedBytes: Int { capacity - count }

    func append(_ bytes: [UInt8]) -> Range<Int> { bytes.withUnsafeBufferPointer { append($0) } }

    /// Appends the bytes, which must fit; returns their range.
    func append(_ bytes: UnsafeBufferPointer<UInt8>) -> Range<Int> {
        precondition(bytes.count <= unusedBytes, "a frame must fit its chunk")
        if let base = bytes.baseAddress {
            (start + count).initialize(from: base, count: bytes.count)
        }
        count += bytes.count
        return count - bytes.count..<count
    }

    /// A writer to the unused bytes.
    func writer() -> JSONWriter {
        JSONWriter(to: UnsafeMutableBufferPointer(start: start + count, count: unusedBytes))
    }

    /// Appends what such a writer has written, unless it needed more memory; returns the range.
    func append(writtenBy writer: borrowing JSONWriter) -> Range<Int>? {
        if writer.isOwner { return nil }
        count += writer.count
        return count - writer.count..<count
    }

    /// Bytes of the chunk for others.
    func share(_ range: Range<Int>) -> SharedBytes {
        precondition(range.upperBound <= count, "only bytes that were appended can be shared")
        return SharedBytes(memory, start + range.lowerBound, count: range.count)
    }

    /// Appends the text (JSON) as a frame, which must fit.
    func append(frameOf text: UnsafeBufferPointer<UInt8>) {
        precondition(!text.isEmpty && text.count <= UInt32.max, "a frame holds a message")
        let length = UInt32(text.count).bigEndian
        precondition(Frame.headerBytes + text.count <= unusedBytes, "a frame must fit its chunk")
        UnsafeMutableRawPointer(start + count).storeBytes(of: length, as: UInt32.self)
        count += Frame.headerBytes
        _ = append(text)
    }

    /// The address of a byte. It is stable as long as the chunk lives.
    public func address(of offset: Int) -> UnsafeRawPointer {
        precondition(offset <= count, "only bytes that were appended have an address")
        return UnsafeRawPointer(start) + offset
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
