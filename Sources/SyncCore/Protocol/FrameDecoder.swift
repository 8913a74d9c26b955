/// Cuts a stream of bytes into frames, whatever the pieces in which it comes.
///
/// A frame that lies whole in a piece is handed out where it stands, without a copy; only a frame
/// that is split is gathered, and memory grows with the bytes that came, not with the length that
/// was announced. A length of 0 or over the largest is the end of the stream: nothing behind it can
/// be understood.
///
///     length ──4 bytes──> text ──all of it──> length
///        └──0, or over frameBytesMax──> refused (for ever)
public struct FrameDecoder: Sendable {
    /// What came of feeding a piece.
    public enum Outcome: Hashable, Sendable {
        /// All was taken in; the next piece may come.
        case needsMore
        /// The receiver asked to stop; this many bytes of the piece were taken in. The others are
        /// to be fed again when it goes on.
        case stopped(consumed: Int)
        /// A length that no frame may have. Every later piece gives the same.
        case frameTooLarge(length: UInt32)
    }

    private enum State: Sendable {
        case length
        case text(UInt32)
        case refused(UInt32)
    }

    // Of ten thousand connections each has one: no wider than a length on the wire.

    /// Of a frame that is split, the bytes of its length and text that came so far.
    private var gathered: [UInt8] = []
    private let lengthMax: UInt32
    private var state = State.length
    /// A buffer beyond this many bytes is given back when its frame is done.
    private static let keptBytesMax = 1024

    /// A decoder at the beginning of a stream.
    public init(frameBytesMax: Int = 1 << 20) {
        lengthMax = UInt32(clamping: frameBytesMax)
    }

    /// The most bytes of text that a frame may have.
    public var frameBytesMax: Int { Int(lengthMax) }

    /// How many bytes of an unfinished frame are kept.
    public var gatheredBytes: Int { gathered.count }

    /// Whether the stream may end here: no frame is unfinished.
    public var isBetweenFrames: Bool {
        if case .length = state { gathered.isEmpty } else { false }
    }

    /// Takes in a piece and hands out the text of each frame that it completes, in order.
    ///
    /// The bytes handed to `receive` are valid during that call alone. It returns whether to go on;
    /// after `false` the rest of the piece is the caller's to keep.
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
                guard let goesOn = takeText(Int(length), piece, &position, receive) else {
                    return .needsMore
                }
                if !goesOn { return .stopped(consumed: position) }
            }
        }
    }

    /// The four bytes of the next length; `nil` where they are not all there yet.
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

    /// Hands the text out where it is complete, and gives what the receiver answers; `nil` where
    /// it is not complete yet.
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
        let goesOn = text.withUnsafeBytes { receive($0) }
        if text.capacity <= Self.keptBytesMax {
            // It may have been a secret, and the buffer is kept.
            for index in text.indices { text[index] = 0 }
            text.removeAll(keepingCapacity: true)
            swap(&text, &gathered)
        }
        return goesOn
    }
}

extension FrameDecoder {
    /// Takes in a piece and gives the text of each frame that it completes as bytes of its own: for
    /// tests, and clients that are in no hurry.
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
