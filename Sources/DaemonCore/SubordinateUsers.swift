internal import Glibc
internal import SyncCore
internal import Synchronization

// Whose a subordinate uid is: subuid(5). One account of the machine may act under thousands of uids
// in user namespaces, and is still one user to the daemon.

/// The ranges of `/etc/subuid`.
///
/// Read before an unknown uid is let in, on the thread that looks names up, where the file has
/// changed; asked on the loop.
final class SubordinateUsers: Sendable {
    /// Uids that belong to another.
    struct Range: Equatable {
        let first: UInt32
        let last: UInt32
        let owner: UInt32
    }

    private struct State {
        /// Ascending by `first`.
        var ranges: [Range] = []
        var seen: Stamp?
    }

    /// What tells one version of the file from another.
    private struct Stamp: Equatable {
        let device: UInt
        let inode: UInt
        let bytes: Int
        let seconds: Int
        let nanoseconds: Int
    }

    /// Bytes of the file that are read: some ten thousand users.
    private static let bytesMax = 1 << 20

    private let path: String
    private let numberOfName: @Sendable (String) -> UInt32?
    private let state = Mutex(State())

    /// The ranges of a file; `numberOfName` finds the uid of a login name.
    init(
        path: String = "/etc/subuid",
        numberOfName: @escaping @Sendable (String) -> UInt32? = SystemNames.userNumber
    ) {
        self.path = path
        self.numberOfName = numberOfName
    }

    /// Reads the file where it is another than before. It may block.
    func refresh() {
        var status = stat()
        let isThere = stat(path, &status) == 0
        let stamp =
            isThere
            ? Stamp(
                device: UInt(status.st_dev), inode: UInt(status.st_ino), bytes: Int(status.st_size),
                seconds: status.st_mtim.tv_sec, nanoseconds: status.st_mtim.tv_nsec) : nil
        if state.withLock({ $0.seen == stamp }) { return }
        let text = isThere ? read() : ""
        let ranges = Self.ranges(in: text, numberOfName)
        state.withLock { $0 = State(ranges: ranges, seen: stamp) }
    }

    /// The uid that the use of `uid` is counted to.
    func owner(of uid: UInt32) -> UInt32 {
        state.withLock { state in
            let after = state.ranges.partitionIndex { $0.first > uid }
            guard after > 0, state.ranges[after - 1].last >= uid else { return uid }
            return state.ranges[after - 1].owner
        }
    }

    /// The ranges of a file's lines, `name:first:count` each; what is not such a line is left out,
    /// as newuidmap(1) does. Root has all uids and lends them to nobody.
    static func ranges(in text: String, _ numberOfName: (String) -> UInt32?) -> [Range] {
        var known: [Substring: UInt32] = [:]
        var ranges: [Range] = []
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 3, let first = UInt32(parts[1]), let count = UInt32(parts[2]),
                count > 0, !first.addingReportingOverflow(count - 1).overflow
            else { continue }
            guard let owner = known[parts[0]] ?? numberOfName(String(parts[0])) else { continue }
            known[parts[0]] = owner
            ranges.append(Range(first: first, last: first + (count - 1), owner: owner))
        }
        return ranges.sorted { ($0.first, $0.owner) < ($1.first, $1.owner) }
    }

    private func read() -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        while bytes.count < Self.bytesMax {
            let more = [UInt8](unsafeUninitializedCapacity: 65_536) { room, count in
                count = max(0, Glibc.read(descriptor, room.baseAddress, room.count))
            }
            if more.isEmpty { break }
            bytes += more
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
