public import Foundation

/// Calls bind(2) or connect(2) with the address of a Unix socket; the status of the call.
public func withSocketAddress(
    _ path: String, _ call: (UnsafePointer<sockaddr>, socklen_t) -> CInt
) -> CInt {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

/// A socket that is bound without any lock: the service manager's, the journal's, or that of a
/// program that is not ours.
public final class ListeningSocket {
    /// What it takes.
    public enum Kind: Sendable { case stream, datagrams, packets }

    /// The number of the socket; -1 once it is closed.
    public private(set) var descriptor: CInt

    /// Binds `path`, and listens unless it takes datagrams.
    public init(_ path: String, _ kind: Kind = .stream) throws {
        let type =
            switch kind {
            case .stream: SOCK_STREAM
            case .datagrams: SOCK_DGRAM
            case .packets: SOCK_SEQPACKET
            }
        let descriptor = socket(AF_UNIX, CInt(type.rawValue), 0)
        self.descriptor = descriptor
        guard withSocketAddress(path, { bind(descriptor, $0, $1) }) == 0,
            kind == .datagrams || listen(descriptor, 1_024) == 0
        else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { closeSocket() }

    /// The next datagram; `nil` where none has come.
    public func datagram() -> String? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, CInt(MSG_DONTWAIT))
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }

    /// Closes it; its name stays.
    public func closeSocket() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }
}
