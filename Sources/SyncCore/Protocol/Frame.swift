/// A frame: a length of four bytes, big-endian, then that many bytes of JSON (PROTOCOL.md).
public enum Frame {
    /// Bytes of the length.
    public static let headerBytes = 4

    /// A frame with JSON text that `body` writes.
    public static func encode(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        JSONWriter.write(body) { encode(text: $0) }
    }

    /// JSON text as a frame.
    public static func encode(text: some Collection<UInt8>) -> [UInt8] {
        precondition(!text.isEmpty && text.count <= UInt32.max, "a frame holds a message")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerBytes + text.count)
        withUnsafeBytes(of: UInt32(text.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: text)
        return bytes
    }
}
