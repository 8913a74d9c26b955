// Unix stream sockets before the loop has them: bind, connect, probe, remove, adopt.
//
// Invariants: each descriptor is close-on-exec from its first moment; a socket file never has other
// permissions than requested, not even for a moment.

internal import CUV
internal import Glibc

/// Operations on the path of a daemon's socket: unix(7).
///
/// `uv_pipe_bind` would cut a long path silently and `uv_close` would unlink it, so binding is done
/// here and the loop gets a descriptor.
public enum UnixSocket {
    /// What `probe` found at a path.
    public enum Probe: Hashable, Sendable {
        /// Somebody listens.
        case answering
        /// There is a file, but nobody listens: what a daemon that crashed leaves behind.
        case abandoned
        /// There is nothing.
        case absent
    }

    /// Bytes that a path may have, without its terminating NUL.
    public static let pathBytesMax = UnixAddress.pathBytesMax - 1

    /// Creates a socket at a path that does not exist, and listens on it.
    ///
    /// The mode is set on the socket before the bind, so the file is created with it, minus the
    /// umask; bits that the umask removed are added afterwards (Linux makes the file's mode from
    /// that of the socket). Nothing is removed: probe and remove first, under a `LockFile`. Calls
    /// socket(2), fchmod(2), bind(2), `permit`, listen(2).
    /// - Parameters:
    ///   - mode: permission bits of the file; to connect is to write.
    ///   - backlog: connections that may wait to be accepted.
    /// - Throws: `ENAMETOOLONG` for a path above `pathBytesMax`, `EADDRINUSE` if the path exists.
    public static func listen(
        at path: String, mode: UInt32, backlog: CInt = 1_024
    ) throws(SystemError) -> OwnedDescriptor {
        let address = try UnixAddress(path: path)
        let socket = try open(SOCK_STREAM, blocking: false)
        let permissions = mode_t(mode & 0o777)
        guard fchmod(socket.rawValue, permissions) == 0 else {
            throw SystemError(errno: errno, operation: "fchmod", path: path)
        }
        guard unsafe address.withSockaddr({ unsafe bind(socket.rawValue, $0, $1) }) == 0 else {
            throw SystemError(errno: errno, operation: "bind", path: path)
        }
        do throws(SystemError) {
            try permit(path, mode: mode)
        } catch {
            throw removing(path, error)
        }
        guard Glibc.listen(socket.rawValue, backlog) == 0 else {
            throw removing(path, SystemError(errno: errno, operation: "listen", path: path))
        }
        return socket
    }

    /// Takes over a socket that the service manager passed, made close-on-exec.
    /// - Throws: `ENOTSOCK`, or `EINVAL` if it is not a listening Unix stream socket; then the
    ///   descriptor stays open, because it is something else than the caller expected.
    public static func adoptListening(_ number: CInt) throws(SystemError) -> OwnedDescriptor {
        let domain = try option(number, SO_DOMAIN)
        let kind = try option(number, SO_TYPE)
        let isListening = try option(number, SO_ACCEPTCONN) != 0
        guard domain == AF_UNIX, kind == CInt(SOCK_STREAM.rawValue), isListening else {
            throw SystemError(errno: EINVAL, operation: "listening socket")
        }
        let flags = fcntl(number, F_GETFD)
        guard flags >= 0, fcntl(number, F_SETFD, flags | FD_CLOEXEC) == 0 else {
            throw SystemError(errno: errno, operation: "fcntl")
        }
        return OwnedDescriptor(adopting: number)
    }

    /// Connects, and waits while the listener's queue is full: connect(2).
    public static func connect(to path: String) throws(SystemError) -> OwnedDescriptor {
        let address = try UnixAddress(path: path)
        let socket = try open(SOCK_STREAM, blocking: true)
        guard unsafe address.withSockaddr({ unsafe Glibc.connect(socket.rawValue, $0, $1) }) == 0
        else {
            throw SystemError(errno: errno, operation: "connect", path: path)
        }
        return socket
    }

    /// Whether anybody answers at a path, without waiting: connect(2).
    ///
    /// The connection is closed at once, so the listener sees a peer that sends nothing.
    public static func probe(_ path: String) throws(SystemError) -> Probe {
        let address = try UnixAddress(path: path)
        let socket = try open(SOCK_STREAM, blocking: false)
        guard unsafe address.withSockaddr({ unsafe Glibc.connect(socket.rawValue, $0, $1) }) != 0
        else {
            return .answering
        }
        switch errno {
        // The queue is full, so there is a listener.
        case EAGAIN: return .answering
        case ECONNREFUSED: return .abandoned
        case ENOENT: return .absent
        case let number: throw SystemError(errno: number, operation: "connect", path: path)
        }
    }

    /// Sets group and permissions of a socket file; refuses any other file.
    ///
    /// The file stays open while it is checked and changed, so that another user who may write the
    /// folder cannot replace it in between: open(2) with O_PATH and O_NOFOLLOW, fstat(2), chown(2)
    /// and chmod(2) by proc(5), because Linux before 6.6 has no other way for sockets.
    /// - Parameters:
    ///   - group: the file's group, where it is to have another than it has.
    ///   - mode: permission bits.
    /// - Throws: `ENOTSOCK` if the path is not a socket; a symbolic link is refused too.
    public static func permit(
        _ path: String, group: UInt32? = nil, mode: UInt32
    ) throws(SystemError) {
        let number = unsafe Glibc.open(path, __O_PATH | O_NOFOLLOW | O_CLOEXEC)
        guard number >= 0 else { throw SystemError(errno: errno, operation: "open", path: path) }
        let file = OwnedDescriptor(adopting: number)
        var status = stat()
        guard unsafe fstat(file.rawValue, &status) == 0 else {
            throw SystemError(errno: errno, operation: "fstat", path: path)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemError(errno: ENOTSOCK, operation: "chmod", path: path)
        }
        let held = "/proc/self/fd/\(file.rawValue)"
        if let group, status.st_gid != group, unsafe chown(held, uid_t.max, group) != 0 {
            throw SystemError(errno: errno, operation: "chgrp", path: path)
        }
        if status.st_mode & 0o7777 != mode, unsafe chmod(held, mode_t(mode)) != 0 {
            throw SystemError(errno: errno, operation: "chmod", path: path)
        }
    }

    /// Removes a socket file; refuses any other file: lstat(2), unlink(2).
    /// - Returns: false if there was nothing.
    /// - Throws: `ENOTSOCK` if the path is of something else.
    @discardableResult
    public static func remove(_ path: String) throws(SystemError) -> Bool {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT { return false }
            throw SystemError(errno: errno, operation: "lstat", path: path)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SystemError(errno: ENOTSOCK, operation: "unlink", path: path)
        }
        guard unsafe unlink(path) == 0 else {
            throw SystemError(errno: errno, operation: "unlink", path: path)
        }
        return true
    }

    static func open(
        _ kind: __socket_type, blocking: Bool
    ) throws(SystemError) -> OwnedDescriptor {
        let flags = SOCK_CLOEXEC.rawValue | (blocking ? 0 : SOCK_NONBLOCK.rawValue)
        let number = socket(AF_UNIX, CInt(kind.rawValue | flags), 0)
        guard number >= 0 else { throw SystemError(errno: errno, operation: "socket") }
        return OwnedDescriptor(adopting: number)
    }

    private static func option(_ number: CInt, _ name: CInt) throws(SystemError) -> CInt {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard unsafe getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 else {
            throw SystemError(errno: errno, operation: "getsockopt")
        }
        return value
    }

    /// Removes the new file if a later step fails.
    private static func removing(_ path: String, _ error: SystemError) -> SystemError {
        _ = unsafe unlink(path)
        return error
    }
}
