/// A frame: a length of four bytes, big-endian, then that many bytes of JSON (PROTOCOL.md).
public enum Frame {
    /// Bytes of the length.
    public static let headerBytes = 4

    /// A frame with JSON text that `body` writes.
    public static func encode(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        // Enough for most frames. Growing to this size would copy four times.
        bytes.reserveCapacity(400)
        append(to: &bytes, body)
        return bytes
    }

    /// Appends a frame with JSON text that `body` writes. Four bytes are reserved and filled in
    /// afterwards, so that nothing is copied.
    public static func append(to bytes: inout [UInt8], _ body: (inout JSONWriter) -> Void) {
        var taken: [UInt8] = []
        swap(&taken, &bytes)
        let start = begin(&taken)
        var writer = JSONWriter(appendingTo: taken)
        taken = []
        body(&writer)
        bytes = writer.take()
        end(&bytes, from: start)
    }

    /// Reserves the bytes of a length and returns their position for `end`.
    public static func begin(_ bytes: inout [UInt8]) -> Int {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: headerBytes))
        return start
    }

    /// Fills in the length of the frame that began at `start` and ends at the end of the bytes.
    public static func end(_ bytes: inout [UInt8], from start: Int) {
        let length = bytes.count - start - headerBytes
        precondition(length > 0 && length <= UInt32.max, "a frame holds a message")
        for (index, shift) in [24, 16, 8, 0].enumerated() {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> shift)
        }
    }

    /// JSON text as a frame.
    public static func encode(text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerBytes + text.count)
        let start = begin(&bytes)
        bytes.append(contentsOf: text)
        end(&bytes, from: start)
        return bytes
    }
}
