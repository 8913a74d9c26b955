// The output of a command, line by line.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// A pipe whose lines are read, and passed on to another descriptor.
struct LineReader {
    private(set) var reader: Int32
    private(set) var writer: Int32
    private let copy: Int32
    private var rest: [UInt8] = []

    /// The most bytes of a line that are kept.
    private static let lineBytesMax = 4096
    /// The most bytes that are read at once.
    static let bytesAtOnce = 64 << 10

    init(copiesTo copy: Int32) throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Failure(.unavailable, describe(errno: errno)) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        (reader, writer) = (ends[0], ends[1])
        self.copy = copy
    }

    mutating func closeWriter() {
        if writer >= 0 { Glibc.close(writer) }
        writer = -1
    }

    mutating func close() {
        closeWriter()
        if reader >= 0 { Glibc.close(reader) }
        reader = -1
    }

    /// The lines that have arrived; the last one without its end, when the pipe is at its end. A
    /// command that writes without end does not keep its caller from anything else.
    mutating func take(atMost bytesMax: Int = bytesAtOnce) -> [String] {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        var left = bytesMax
        while reader >= 0, left > 0 {
            let count = Glibc.read(reader, &buffer, buffer.count)
            if count > 0 {
                _ = write(copy, buffer, count)
                rest += buffer[..<count]
                left -= count
                continue
            }
            if count < 0, errno == EINTR { continue }
            if count == 0 {
                close()
                if !rest.isEmpty { rest.append(UInt8(ascii: "\n")) }
            }
            break
        }
        var lines: [String] = []
        var start = rest.startIndex
        for place in rest.indices where rest[place] == UInt8(ascii: "\n") {
            lines.append(
                String(decoding: rest[start..<place].prefix(Self.lineBytesMax), as: UTF8.self))
            start = place + 1
        }
        rest.removeFirst(start)
        if rest.count > Self.lineBytesMax { rest.removeFirst(rest.count - Self.lineBytesMax) }
        return lines
    }
}
