public import Foundation

/// Frames of the protocol over a socket: a length of four bytes, most significant first, and so
/// many bytes.
public final class FrameStream {
    private let descriptor: CInt
    private var buffer = Data()

    /// Takes over a connected socket and closes it in the end.
    public init(owning descriptor: CInt) { self.descriptor = descriptor }

    /// Connects to a Unix socket.
    public convenience init(connecting path: String) throws {
        let descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        guard withSocketAddress(path, { connect(descriptor, $0, $1) }) == 0 else {
            let reason = errno
            close(descriptor)
            throw POSIXError(POSIXErrorCode(rawValue: reason) ?? .EIO)
        }
        // Only a test that fails waits so long.
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(
            descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        self.init(owning: descriptor)
    }

    deinit { close(descriptor) }

    /// A frame around a body.
    public static func frame(_ body: Data) -> [UInt8] {
        withUnsafeBytes(of: UInt32(body.count).bigEndian, Array.init) + Array(body)
    }

    /// Sends bytes, all of them or, where it does not wait, what the kernel takes at once. A peer
    /// that has gone is not an error here.
    ///
    /// - Returns: `false` when it has gone, or does not take more at once.
    @discardableResult
    public func send(_ bytes: [UInt8], waits: Bool = true) -> Bool {
        let flags = Int32(MSG_NOSIGNAL) | (waits ? 0 : Int32(MSG_DONTWAIT))
        var sent = 0
        repeat {
            let count = bytes.withUnsafeBytes {
                Foundation.send(descriptor, $0.baseAddress! + sent, bytes.count - sent, flags)
            }
            guard count > 0 else { return false }
            sent += count
        } while waits && sent < bytes.count
        return true
    }

    /// Closes the side that writes.
    public func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The body of the next frame; `nil` at the end of the stream.
    public func next() throws -> Data? {
        while true {
            if buffer.count >= 4 {
                let length = Int(buffer.prefix(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
                if buffer.count >= 4 + length {
                    let body = Data(buffer.dropFirst(4).prefix(length))
                    buffer = Data(buffer.dropFirst(4 + length))
                    return body
                }
            }
            var chunk = [UInt8](repeating: 0, count: 65_536)
            let count = recv(descriptor, &chunk, chunk.count, 0)
            if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
            guard count > 0 else { throw GaveUp("nothing came for five minutes") }
            buffer.append(contentsOf: chunk.prefix(count))
        }
    }
}
