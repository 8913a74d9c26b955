// Errors of system calls that are not made by libuv.

internal import CUV

/// A failed system call: the call, the path and the reason.
public struct SystemError: Error, Hashable, Sendable {
    /// The `errno` of the call, above zero, as in errno(3).
    public let errno: CInt

    /// The system call, such as `bind`.
    public let operation: String

    /// The path it was about, if it was about one.
    public let path: String?

    /// A failed call.
    public init(errno: CInt, operation: String, path: String? = nil) {
        self.errno = errno
        self.operation = operation
        self.path = path
    }
}

extension SystemError: CustomStringConvertible {
    /// What the number means, in one untranslated line: strerrordesc_np(3).
    public var reason: String {
        guard let text = unsafe cuv_describe_errno(errno) else { return "error \(errno)" }
        return unsafe String(cString: text)
    }

    /// One line for a log or a terminal, such as `bind /run/a.sock: Address already in use`.
    public var description: String {
        if let path { "\(operation) \(path): \(reason)" } else { "\(operation): \(reason)" }
    }
}
