/// Splits a stream of bytes into frames, however the stream is cut into pieces.
///
/// A frame that is complete in a piece is passed on without a copy. Only a frame that is split is
/// buffered, and the buffer grows with the bytes that have arrived, not with the announced length.
/// A length of 0 or beyond the limit ends the stream, because nothing after it can be interpreted.
///
///     length ──4 bytes──> text ──all of it──> length
///        └──0, or over frameBytesMax──> rejected (permanently)
public struct FrameDecoder: Sendable {
    /// The result of a piece.
    public enum Outcome: Hashable, Sendable {
        /// All bytes were consumed.
        case needsMore
        /// The receiver asked to stop after this many bytes of the piece. The rest must be passed
        /// again later.
        case stopped(consumed: Int)
        /// An invalid length. All later pieces have the same result.
        case frameTooLarge(length: UInt32)
    }

    private enum State: Sendable {
        case length
        case text(UInt32)
        case refused(UInt32)
    }

    // Each of ten thousand connections has one, so it is as small as a length in the protocol.

    /// The bytes of a split frame so far, with its length.
    private var gathered: [UInt8] = []
    private var lengthMax: UInt32
    private var state = State.length
    /// A larger buffer is freed when its frame is complete.
    private static let keptBytesMax = 1024

    /// A decoder at the start of a stream.
    public init(frameBytesMax: Int = 1 << 20) {
        lengthMax = UInt32(clamping: frameBytesMax)
    }

    /// The most bytes of text that a frame may have. A new value applies to frames whose length has
    /// not arrived yet.
    public var frameBytesMax: Int {
        get { Int(lengthMax) }
        set { lengthMax = UInt32(clamping: newValue) }
    }

    /// Bytes of an incomplete frame in the buffer.
    public var gatheredBytes: Int { gathered.count }

    /// Whether the stream may end here, because no frame is incomplete.
    public var isBetweenFrames: Bool {
        if case .length = state { gathered.isEmpty } else { false }
    }

    /// Consumes a piece and passes the text of each complete frame to `receive`, in order.
    ///
    /// The bytes are valid only during that call. `receive` returns whether to continue; after
    /// `false`, the caller keeps the rest of the piece.
    public mutating func feed(
        _ piece: UnsafeRawBufferPointer, _ receive: (UnsafeRawBufferPointer) -> Bool
    ) -> Outcome {
        var position = 0
        while true {
            switch state {
            case .refused(let length):
                return .frameTooLarge(length: length)
            case .length:
                guard let length = takeLength(piece, &position) else { return .needsMore }
                if length == 0 || length > lengthMax {
                    gathered = []
                    state = .refused(length)
                } else {
                    state = .text(length)
                }
            case .text(let length):
                guard let shouldContinue = takeText(Int(length), piece, &position, receive) else {
                    return .needsMore
                }
                if !shouldContinue { return .stopped(consumed: position) }
            }
        }
    }

    /// The four bytes of the next length; `nil` if they are incomplete.
    private mutating func takeLength(
        _ piece: UnsafeRawBufferPointer, _ position: inout Int
    ) -> UInt32? {
        if gathered.isEmpty, piece.count - position >= Frame.headerBytes {
            defer { position += Frame.headerBytes }
            return UInt32(
                bigEndian: piece.loadUnaligned(fromByteOffset: position, as: UInt32.self))
        }
        while gathered.count < Frame.headerBytes {
            guard position < piece.count else { return nil }
            gathered.append(piece[position])
            position += 1
        }
        let length = gathered.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        gathered.removeAll(keepingCapacity: true)
        return length
    }

    /// Passes the text on if it is complete and returns the receiver's result; `nil` if it is
    /// incomplete.
    private mutating func takeText(
        _ length: Int, _ piece: UnsafeRawBufferPointer, _ position: inout Int,
        _ receive: (UnsafeRawBufferPointer) -> Bool
    ) -> Bool? {
        let taken = min(length - gathered.count, piece.count - position)
        let part = UnsafeRawBufferPointer(rebasing: piece[position..<position + taken])
        position += taken
        if taken == length {
            state = .length
            return receive(part)
        }
        gathered.append(contentsOf: part)
        guard gathered.count == length else { return nil }
        state = .length
        var text: [UInt8] = []
        swap(&text, &gathered)
        let shouldContinue = text.withUnsafeBytes { receive($0) }
        if text.capacity <= Self.keptBytesMax {
            // The frame may have contained a secret, and the buffer is reused.
            for index in text.indices { text[index] = 0 }
            text.removeAll(keepingCapacity: true)
            swap(&text, &gathered)
        }
        return shouldContinue
    }
}

extension FrameDecoder {
    /// Consumes a piece and returns the text of each complete frame as a copy, for tests and simple
    /// clients.
    public mutating func feed(_ piece: [UInt8]) -> (frames: [[UInt8]], outcome: Outcome) {
        var frames: [[UInt8]] = []
        let outcome = piece.withUnsafeBytes { bytes in
            feed(bytes) { frame in
                frames.append(Array(frame))
                return true
            }
        }
        return (frames, outcome)
    }
}
