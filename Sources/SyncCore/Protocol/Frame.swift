/// A frame: a length of four bytes, big-endian, then that many bytes of JSON (PROTOCOL.md).
public enum Frame {
    /// Bytes of the length.
    public static let headerBytes = 4

    /// A frame with JSON text that `body` writes.
    @inline(__always)
    public static func encode(_ body: (inout JSONWriter) -> Void) -> [UInt8] {
        JSONWriter.bytes { writer in
            writer.beginFrame()
            body(&writer)
            writer.endFrame()
        }
    }

    /// JSON text as a frame.
    public static func encode(text: some Collection<UInt8>) -> [UInt8] {
        let count = text.count
        precondition(count > 0 && count <= UInt32.max, "a frame holds a message")
        return [UInt8](unsafeUninitializedCapacity: headerBytes + count) { bytes, filled in
            UnsafeMutableRawBufferPointer(bytes).storeBytes(
                of: UInt32(count).bigEndian, as: UInt32.self)
            filled = headerBytes + count
            let rest = UnsafeMutableBufferPointer(rebasing: bytes[headerBytes..<filled])
            _ = rest.initialize(fromContentsOf: text)
        }
    }
}
