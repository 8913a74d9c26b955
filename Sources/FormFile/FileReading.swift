internal import Glibc

// Reads the bytes of a path without Foundation, because a command must start in two milliseconds.

/// Reads files whole.
public enum FileReading {
    /// The bytes of the regular file at `path`, at most `bytesMax`. A named pipe or a device could
    /// hold the caller for ever, and is refused. open(2), fstat(2), read(2).
    ///
    /// - Parameter alsoDescriptors: `/dev/stdin` and `/dev/fd/N`, which the caller's shell opened,
    ///   may be pipes and are read to their end, so that `form apply <(generate)` works.
    public static func bytes(
        ofFile path: String, bytesMax: Int = 1 << 20, alsoDescriptors: Bool = true
    ) throws(FileIssues) -> [UInt8] {
        func failure(_ message: String, expected: String? = nil) -> FileIssues {
            FileIssues(FileIssue(file: path, position: nil, message: message, expected: expected))
        }
        // A NUL would cut the path off silently.
        guard !path.utf8.contains(0) else { throw failure("a path with a NUL in it") }
        let isDescriptor = alsoDescriptors && namesDescriptor(path)
        // Opening a named pipe that nobody writes would wait: fifo(7).
        let flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (isDescriptor ? 0 : O_NONBLOCK)
        var descriptor = open(path, flags)
        while descriptor < 0, errno == EINTR { descriptor = open(path, flags) }
        guard descriptor >= 0 else { throw failure(reason(errno)) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure(reason(errno)) }
        let kind = status.st_mode & S_IFMT
        guard isDescriptor || kind == S_IFREG || kind == S_IFDIR else {
            throw failure("it is not a regular file")
        }
        var bytes: [UInt8] = []
        while true {
            let room = min(1 << 16, bytesMax - bytes.count + 1)
            var problem: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                var taken = read(descriptor, buffer.baseAddress, room)
                while taken < 0, errno == EINTR {
                    taken = read(descriptor, buffer.baseAddress, room)
                }
                if taken < 0 { problem = errno }
                count = max(0, taken)
            }
            guard problem == 0 else { throw failure(reason(problem)) }
            if chunk.isEmpty { return bytes }
            bytes += chunk
            guard bytes.count <= bytesMax else {
                throw failure("too large a file", expected: "at most \(bytesMax) bytes")
            }
        }
    }

    /// Whether a path means a descriptor of this process: proc_pid_fd(5).
    private static func namesDescriptor(_ path: String) -> Bool {
        path == "/dev/stdin" || path.hasPrefix("/dev/fd/") || path.hasPrefix("/proc/self/fd/")
    }

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT: "no such file"
        case EACCES: "permission denied"
        case EISDIR: "it is a directory"
        default: strerror(code).map { String(cString: $0) } ?? "error \(code)"
        }
    }
}
