internal import Glibc

// From a path to bytes, without Foundation: a command must start in two milliseconds.

/// Reads files whole.
public enum FileReading {
    /// The bytes of the file at `path`, at most `bytesMax`.
    ///
    /// Pipes are read to their end, so that `form apply <(generate)` works; the caller's thread
    /// waits meanwhile. open(2), read(2).
    public static func bytes(
        ofFile path: String, bytesMax: Int = 1 << 20
    ) throws(FileIssues) -> [UInt8] {
        func failure(_ message: String, expected: String? = nil) -> FileIssues {
            FileIssues(FileIssue(file: path, position: nil, message: message, expected: expected))
        }
        // A NUL would cut the path off silently.
        guard !path.utf8.contains(0) else { throw failure("a path with a NUL in it") }
        var descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        while descriptor < 0, errno == EINTR {
            descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        }
        guard descriptor >= 0 else { throw failure(reason(errno)) }
        defer { close(descriptor) }
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

    private static func reason(_ code: Int32) -> String {
        switch code {
        case ENOENT: "no such file"
        case EACCES: "permission denied"
        case EISDIR: "it is a directory"
        default: strerror(code).map { String(cString: $0) } ?? "error \(code)"
        }
    }
}
