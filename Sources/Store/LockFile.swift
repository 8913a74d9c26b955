/// Locks a store for one daemon, and records the last run outside of the database.
///
/// The file is locked with flock(2) as long as the daemon lives, and never removed: after a
/// removal, a second daemon could lock a second file. It contains three lines: the pid of the
/// daemon, the number of the last run (its *generation*), and whether that run is `open` or was
/// `closed`. The generation is also in the database. Together they distinguish a kill from a
/// restored backup, even if the backup has the same inode.
///
/// Each write is one pwrite(2) of `recordBytes` bytes at the start of the file, always within one
/// page: SIGKILL leaves the old record or the new one, never a mixture (the kernel checks for a
/// fatal signal only between pages).
///
/// **Order of writes** (L: the generation in the lock file, G: that in the database):
/// - A run that begins with a file that follows the lock file writes the database (G := max(L, G) +
///   1, not clean), then the lock file (L := G, open). No edit is committed before both are
///   written.
/// - A run that begins with a file that does *not* follow the lock file writes the lock file first,
///   and then the new identity to the database. A kill in between leaves G < L, so the file still
///   does not follow.
/// - For a new store, L := 0 is written if the lock file contains nothing, and then as in the first
///   case.
/// - A rebuilt file has G + 1. It is renamed, and then L := G.
/// - A clean stop marks the database clean, then the lock file closed.
///
/// **The meaning of each combination.** A file that does not follow gets a new replica and new
/// logs.
///
/// | lock file | database | cause | follows |
/// | --- | --- | --- | --- |
/// | empty | any | lost, damaged, or another store's | no |
/// | L | G < L | an older file was restored | no |
/// | L open | G = L, not clean | a run was killed | yes |
/// | L open | G = L, clean | a kill between the two marks of a clean stop | yes |
/// | L closed | G = L, clean | a clean stop | yes |
/// | L closed | G = L, not clean | a copy made during the run was restored after it | no |
/// | L | G > L, not clean | starts that were killed before the lock file | yes |
/// | L | G > L, clean | an older lock file was restored | no |
///
/// In the row before the last, G may be any number ahead: a run with G > L was killed before its
/// first commit, so all these files contain the same edits. In the last row: a run writes L := G
/// before it marks the database clean.
///
/// One case cannot be detected: a copy that was made during a run and restored after that run was
/// killed and before the next start. That would need a write to the lock file at each commit.

internal import Glibc

struct RunMark: Equatable {
    /// How often the store was opened or rebuilt.
    var generation: Int64
    var closed: Bool
}

/// The lock of one store, held until `release` or the end of the process.
final class LockFile {
    let path: String
    /// The record of the previous run; `nil` in a new directory.
    let last: RunMark?
    private var descriptor: Int32

    /// Takes the lock, or throws who has it.
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

    static func holder(of path: String) -> Int32? { lines(of: path).first.flatMap { Int32($0) } }

    func release() {
        guard descriptor >= 0 else { return }
        Self.unlock(descriptor)
        descriptor = -1
    }

    /// Unlocks and closes a descriptor.
    ///
    /// A child between fork and exec has a duplicate of it, with which the lock would remain after
    /// close(2) alone (flock(2)).
    static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Writes our pid and the run, if any.
    ///
    /// Not synced. After a power loss, an older record may be beside a newer database, which is the
    /// row G > L, or the file may be new and empty, which costs clients a snapshot.
    func write(_ mark: RunMark?) throws(StoreError) {
        var text = "\(getpid())\n"
        if let mark { text += "\(mark.generation)\n\(mark.closed ? "closed" : "open")\n" }
        // Empty lines overwrite the rest of a longer record; ftruncate(2) would be a second step.
        var record = Array(text.utf8)
        record += repeatElement(UInt8(ascii: "\n"), count: Self.recordBytes - record.count)
        let written = unsafe pwrite(descriptor, record, record.count, 0)
        guard written == record.count else {
            throw POSIX.failure("pwrite", path, written < 0 ? errno : EIO)
        }
    }

    /// More than the longest record: a pid, a generation of 20 digits, a word.
    private static let recordBytes = 64

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
