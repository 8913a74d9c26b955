/// Sees to it that a store has one daemon, and remembers the last run outside of the database.
///
/// The file is locked with flock(2) for as long as the daemon lives, and never removed: whoever
/// removed it could lock a second one. It holds three lines: the pid of the holder, the number of
/// the last run, and whether that run is `open` or was `closed`. The number is also in the
/// database. A database that is behind its lock file was put back from a backup, even where that
/// kept its inode.

internal import Glibc

/// What one run left in the lock file.
struct RunMark: Equatable {
    /// Counts the times that the store was opened or written anew.
    var generation: Int64
    var closed: Bool
}

/// The lock of one store, held until `release` or the end of the process.
final class LockFile {
    let path: String
    /// What the run before this one left; `nil` in a new directory.
    let last: RunMark?
    private var descriptor: Int32

    /// Takes the lock, or says who has it.
    init(path: String) throws(StoreError) {
        self.path = path
        if let status = try POSIX.status(path) { try StoreFiles.checkRegular(status, of: path) }
        let descriptor = try POSIX.open(path, O_RDWR | O_CREAT, mode: 0o600)
        self.descriptor = descriptor
        let lines = Self.lines(of: path)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let number = errno
            self.last = nil
            release()
            if number != EWOULDBLOCK { throw POSIX.failure("flock", path, number) }
            throw .locked(file: path, pid: lines.first.flatMap { Int32($0) })
        }
        last = Self.mark(lines)
        try write(last)
    }

    deinit {
        release()
    }

    /// The pid that a lock file names, if it does.
    static func holder(of path: String) -> Int32? { lines(of: path).first.flatMap { Int32($0) } }

    /// Gives the lock back.
    func release() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    /// Writes our pid and, where there is one, the run. Not synced: after a loss of power the
    /// database merely looks as if it had been put back, which costs its clients a snapshot.
    func write(_ mark: RunMark?) throws(StoreError) {
        var text = "\(getpid())\n"
        if let mark { text += "\(mark.generation)\n\(mark.closed ? "closed" : "open")\n" }
        let count = text.utf8.count
        let written = text.withUTF8 {
            unsafe pwrite(descriptor, $0.baseAddress, $0.count, 0)
        }
        guard written == count else {
            throw POSIX.failure("pwrite", path, written < 0 ? errno : EIO)
        }
        guard ftruncate(descriptor, count) == 0 else { throw POSIX.failure("ftruncate", path) }
    }

    private static func lines(of path: String) -> [Substring] {
        let text = String(decoding: POSIX.contents(path, bytesMax: 256) ?? [], as: UTF8.self)
        return text.split(separator: "\n")
    }

    private static func mark(_ lines: [Substring]) -> RunMark? {
        guard lines.count == 3, let generation = Int64(lines[1]), generation >= 0 else {
            return nil
        }
        switch lines[2] {
        case "open": return RunMark(generation: generation, closed: false)
        case "closed": return RunMark(generation: generation, closed: true)
        default: return nil
        }
    }
}
