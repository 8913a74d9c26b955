/// A listening socket that exists longer than the daemons that inherit it, as with a socket unit.

import Glibc

/// Makes one.
public enum ListeningSocket {
    /// Binds and listens: unix(7).
    public static func make(_ path: String) throws -> Int32 {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        unlink(path)
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard status == 0, listen(descriptor, 4096) == 0 else {
            throw Trouble("cannot listen on \(path): \(errno)")
        }
        return descriptor
    }
}
