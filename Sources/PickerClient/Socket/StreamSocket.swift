// A stream Unix socket for clients: non-blocking, without SIGPIPE.
//
// A call that would block reports this, and the caller polls. So one thread can wait for the
// socket, a child process and a deadline. Writes use MSG_NOSIGNAL, so a closed connection is an
// error instead of a SIGPIPE that ends the process.

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Why a socket could not be reached.
public enum ConnectError: Error, Hashable, Sendable {
    /// The path does not exist: ENOENT or ENOTDIR.
    case missing(path: String)
    /// The socket exists, but nobody listens: ECONNREFUSED. It is the stale file of a stopped
    /// daemon.
    case refused(path: String)
    /// It may not be used: EACCES or EPERM.
    case forbidden(path: String)
    /// A path longer than the 107 bytes that unix(7) allows.
    case nameTooLong(path: String)
    /// The daemon did not accept the connection in time.
    case timedOut(path: String)
    /// Somebody else could have planted or can replace the socket: nothing was connected.
    case unsafeFolder(UnsafeFolder)
    /// The process that listens belongs to another user than the daemon would. Nothing was sent.
    case stranger(path: String, uid: UInt32)
    /// ssh, or the relay on the other machine, ended before it was connected with a daemon: its
    /// exit status and the last line of its standard error.
    case remote(host: String, status: Int32, lastLine: String?)
    /// Anything else, by its errno.
    case failed(path: String, errno: Int32)

    /// Whether waiting for a daemon to start can help.
    public var mayPass: Bool {
        switch self {
        case .missing, .refused, .timedOut, .remote: true
        case .forbidden, .nameTooLong, .unsafeFolder, .stranger, .failed: false
        }
    }
}

/// A connected stream socket.
public struct StreamSocket: ~Copyable {
    let descriptor: Descriptor

    /// Takes over a connected stream socket, which must be non-blocking.
    package init(_ descriptor: consuming Descriptor) {
        self.descriptor = descriptor
    }

    /// Gives up ownership: the caller must close the descriptor.
    consuming func release() -> Int32 { descriptor.release() }

    /// The descriptor, for poll(2).
    public var number: Int32 { descriptor.number }

    /// The process that listens at the other end: SO_PEERCRED, unix(7). `nil` if it is in another
    /// PID namespace.
    public var peerProcess: Int32? {
        peerCredentials.flatMap { $0[0] > 0 ? $0[0] : nil }
    }

    /// The uid that listens at the other end: SO_PEERCRED, the one that called listen(2).
    public var peerUser: UInt32? {
        peerCredentials.map { UInt32(bitPattern: $0[1]) }
    }

    /// `struct ucred`: pid, uid, gid. The headers declare it only for GNU programs.
    private var peerCredentials: [Int32]? {
        var credentials: [Int32] = [0, 0, 0]
        var length = socklen_t(12)
        let status = getsockopt(number, SOL_SOCKET, SO_PEERCRED, &credentials, &length)
        return status == 0 ? credentials : nil
    }

    /// The longest path that `sun_path` holds with its terminating zero, in bytes.
    public static let pathBytesMax = 107

    /// Connects once, to any process that listens (see `SocketResolution.connect`). If the backlog
    /// is full, it tries again until the deadline (monotonic nanoseconds).
    ///
    /// socket(2), connect(2); a non-blocking Unix connect fails with EAGAIN if the backlog is full.
    public static func connect(
        path: String, deadline: UInt64
    ) throws(ConnectError) -> StreamSocket {
        let bytes = Array(path.utf8)
        guard bytes.count <= pathBytesMax, !bytes.isEmpty, !bytes.contains(0) else {
            throw .nameTooLong(path: path)
        }
        let number = socket(AF_UNIX, streamSocketKind, 0)
        guard number >= 0 else { throw .failed(path: path, errno: errno) }
        let descriptor = Descriptor(number)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        while true {
            let status = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connectSocket(number, $0, MemoryLayout<sockaddr_un>.size)
                }
            }
            if status == 0 { return StreamSocket(descriptor) }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                guard MonotonicClock.now() < deadline else { throw .timedOut(path: path) }
                usleep(2_000)
            case ENOENT, ENOTDIR: throw .missing(path: path)
            case ECONNREFUSED: throw .refused(path: path)
            case EACCES, EPERM: throw .forbidden(path: path)
            case let other: throw .failed(path: path, errno: other)
            }
        }
    }

    /// The result of a write.
    public enum Sent: Hashable, Sendable {
        /// This many bytes were written.
        case bytes(Int)
        /// The peer cannot take more at the moment.
        case wouldBlock
        /// The connection is closed.
        case closed
    }

    /// Writes as much as possible: send(2) with MSG_NOSIGNAL.
    public borrowing func send(_ bytes: ArraySlice<UInt8>) -> Sent {
        while true {
            let count = bytes.withUnsafeBytes { sendBytes(number, $0) }
            if count >= 0 { return .bytes(count) }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .closed
        }
    }

    /// The result of a read.
    public enum Received: Sendable {
        /// Bytes were received.
        case bytes([UInt8])
        /// No bytes are available at the moment.
        case wouldBlock
        /// The connection is closed.
        case closed
    }

    /// Reads the available bytes, at most 64 KiB: recv(2).
    public borrowing func receive() -> Received {
        while true {
            var count = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, initialized in
                count = recv(number, buffer.baseAddress, buffer.count, 0)
                initialized = max(0, count)
            }
            if count > 0 { return .bytes(bytes) }
            if count == 0 { return .closed }
            if errno == EINTR { continue }
            return errno == EAGAIN ? .wouldBlock : .closed
        }
    }
}
