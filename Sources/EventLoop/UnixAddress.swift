// The address of a Unix socket. Invariants: a name that does not fit is refused, never truncated.

internal import Glibc

/// A `sockaddr_un` with its length: unix(7).
struct UnixAddress {
    /// Bytes in `sun_path`, the terminating NUL of a path included.
    static let pathBytesMax = 108

    private var storage = sockaddr_un()
    private let length: socklen_t

    /// A path in the file system, not empty and at most 107 bytes.
    init(path: String) throws(SystemError) {
        try self.init(name: Array(path.utf8), isAbstract: false, shownAs: path)
    }

    /// What `NOTIFY_SOCKET` holds: a path from the root, or `@` and an abstract name.
    init(pathOrAbstract name: String) throws(SystemError) {
        let bytes = Array(name.utf8)
        guard bytes.count > 1, bytes[0] == UInt8(ascii: "@") || bytes[0] == UInt8(ascii: "/") else {
            throw SystemError(errno: EINVAL, operation: "socket address", path: name)
        }
        let isAbstract = bytes[0] == UInt8(ascii: "@")
        try self.init(
            name: isAbstract ? Array(bytes.dropFirst()) : bytes, isAbstract: isAbstract,
            shownAs: name)
    }

    private init(name: [UInt8], isAbstract: Bool, shownAs path: String) throws(SystemError) {
        guard !name.isEmpty, !name.contains(0) else {
            throw SystemError(errno: EINVAL, operation: "socket address", path: path)
        }
        guard name.count < Self.pathBytesMax else {
            throw SystemError(errno: ENAMETOOLONG, operation: "socket address", path: path)
        }
        guard let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) else {
            preconditionFailure("sun_path is stored")
        }
        // An abstract name has its NUL before it, a path after it: one byte more either way.
        length = socklen_t(start + name.count + 1)
        storage.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &storage.sun_path) { field in
            for (index, byte) in name.enumerated() {
                unsafe field[index + (isAbstract ? 1 : 0)] = byte
            }
        }
    }

    /// Passes the address to a system call that takes a `sockaddr`.
    func withSockaddr<Success>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) -> Success
    ) -> Success {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, length)
            }
        }
    }
}
