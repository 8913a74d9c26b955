// Bytes to write to a peer. Invariants: the writer of bytes retains their owner until libuv no
// longer uses them, so nothing is copied and nothing is freed too early.

/// A run of bytes and the object that keeps them alive and in place.
///
/// A list of them is an iovec list: a notification for many peers is encoded once, and each write
/// references it.
@safe public struct WriteSegment {
    /// Retained until the write's completion, also when the connection is closed meanwhile.
    public let owner: AnyObject
    /// The first byte; it must not move or change while a write refers to it.
    public let base: UnsafeRawPointer
    /// How many bytes.
    public let count: Int

    /// Refers to bytes that `owner` keeps alive, in place and unchanged.
    @unsafe public init(owner: AnyObject, base: UnsafeRawPointer, count: Int) {
        precondition(count >= 0, "a segment has no fewer than 0 bytes")
        self.owner = owner
        unsafe self.base = base
        self.count = count
    }

    /// The same bytes without the first `byteCount`, which is at most `count`.
    public func droppingFirst(_ byteCount: Int) -> WriteSegment {
        precondition(byteCount >= 0 && byteCount <= count, "a segment drops its own bytes only")
        return unsafe WriteSegment(owner: owner, base: base + byteCount, count: count - byteCount)
    }
}

extension [WriteSegment] {
    /// How many bytes the list holds.
    public var byteCount: Int { reduce(0) { $0 + $1.count } }

    /// What is left to write after `Pipe.tryWrite` took the first `byteCount` bytes.
    public func droppingFirst(bytes byteCount: Int) -> [WriteSegment] {
        var left = byteCount
        var rest: [WriteSegment] = []
        for segment in self {
            let dropped = Swift.min(left, segment.count)
            left -= dropped
            if dropped < segment.count { rest.append(segment.droppingFirst(dropped)) }
        }
        precondition(left == 0, "no more bytes are dropped than there are")
        return rest
    }
}

/// Immutable bytes at an address that never changes, shared by reference.
@safe public final class SharedBytes: @unchecked Sendable {
    // Sendable because the memory is written before `init` returns and only read after it.
    private let base: UnsafeMutableRawPointer

    /// How many bytes.
    public let count: Int

    /// Copies the bytes once; every write of them after that copies nothing.
    public init(_ bytes: [UInt8]) {
        count = bytes.count
        unsafe base = .allocate(byteCount: max(bytes.count, 1), alignment: 1)
        unsafe bytes.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe base.copyMemory(from: start, byteCount: source.count)
        }
    }

    deinit { unsafe base.deallocate() }

    /// All bytes, as one segment.
    public var segment: WriteSegment { segment(0..<count) }

    /// Some of the bytes, as one segment.
    public func segment(_ range: Range<Int>) -> WriteSegment {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "a segment lies inside")
        return unsafe WriteSegment(
            owner: self, base: UnsafeRawPointer(base) + range.lowerBound, count: range.count)
    }

    /// Provides the bytes for the duration of the call.
    public func withUnsafeBytes<Success>(
        _ body: (UnsafeRawBufferPointer) throws -> Success
    ) rethrows -> Success {
        try unsafe body(UnsafeRawBufferPointer(start: base, count: count))
    }
}
