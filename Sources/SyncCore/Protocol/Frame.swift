/// A frame: a length of four bytes, big-endian, then so many bytes of JSON (PROTOCOL.md).
public enum Frame {
    /// Bytes of the length before each frame.
    public static let headerBytes = 4

    /// A frame whose JSON text `body` writes.
    public static func encode(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        // What most take; growing to it would copy four times.
        bytes.reserveCapacity(400)
        append(to: &bytes, body)
        return bytes
    }

    /// Appends a frame whose JSON text `body` writes: four bytes are kept free and filled in
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

    /// Keeps the place of a length free and gives the place where it stands, for `end`.
    public static func begin(_ bytes: inout [UInt8]) -> Int {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: headerBytes))
        return start
    }

    /// Fills in the length of the frame that began at `start` and ends with the bytes.
    public static func end(_ bytes: inout [UInt8], from start: Int) {
        let length = bytes.count - start - headerBytes
        precondition(length > 0 && length <= UInt32.max, "a frame holds a message")
        for (index, shift) in [24, 16, 8, 0].enumerated() {
            bytes[start + index] = UInt8(truncatingIfNeeded: length >> shift)
        }
    }

    /// Text that is JSON already as a frame.
    public static func encode(text: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerBytes + text.count)
        let start = begin(&bytes)
        bytes.append(contentsOf: text)
        end(&bytes, from: start)
        return bytes
    }
}
