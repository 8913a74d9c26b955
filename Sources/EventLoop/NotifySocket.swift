// Messages to the service manager: sd_notify(3), without its library.

internal import CUV
internal import Glibc

/// Where `NOTIFY_SOCKET` points: a datagram socket at a path or, after an `@`, in the abstract
/// space.
public struct NotifySocket: Sendable {
    private let name: String

    /// Takes the value of `NOTIFY_SOCKET`.
    /// - Throws: `EINVAL` if it begins with neither `/` nor `@`, `ENAMETOOLONG` if it does not fit.
    public init(_ name: String) throws(SystemError) {
        _ = try UnixAddress(pathOrAbstract: name)
        self.name = name
    }

    /// Sends one datagram, such as `READY=1` or lines joined by newlines, and never waits.
    /// - Throws: `EAGAIN` if the manager's queue is full: send it again later.
    public func send(_ message: String) throws(SystemError) {
        let address = try UnixAddress(pathOrAbstract: name)
        let socket = try UnixSocket.open(SOCK_DGRAM, blocking: false)
        var message = message
        let (sent, reason) = message.withUTF8 { text in
            unsafe address.withSockaddr { pointer, length in
                let sent = unsafe sendto(
                    socket.rawValue, text.baseAddress, text.count, CInt(MSG_NOSIGNAL),
                    pointer, length)
                return (sent, errno)
            }
        }
        guard sent >= 0 else { throw SystemError(errno: reason, operation: "sendto", path: name) }
    }
}
