/// Keeps a store to one daemon, and remembers the last run outside of the database.
///
/// The file is locked with flock(2) for as long as the daemon lives, and never removed: whoever
/// removed it could lock a second one. It holds three lines: the pid of the holder, the number of
/// the last run (its *generation*), and whether that run is `open` or was `closed`. The generation
/// is also in the database. The two together tell a kill from a backup that was put back, even
/// where that kept the inode of the file.
///
/// Each write is one pwrite(2) of `recordBytes` bytes at the start of the file, always in one page:
/// SIGKILL leaves the old record or the new one, never a mixture (the kernel looks for a fatal
/// signal between pages alone).
///
/// **Order of writes** (L: the generation in the lock file, G: that in the database):
/// - A run that begins in a file that follows the lock file writes the database
///   (G := max(L, G) + 1, not clean), then the lock file (L := G, open). No edit is committed
///   before both are written.
/// - A run that begins in a file that does *not* follow writes the lock file first, and then the
///   new identity into the database. A kill between the two leaves G < L: the file still does not
///   follow.
/// - A new store writes L := 0 where the lock file says nothing, and then as the first case.
/// - A rebuilt file has G + 1; it takes its name, and then L := G.
/// - A clean stop marks the database clean, then the lock file closed.
///
/// **What each combination means.** A file that does not follow takes a new replica and new logs.
///
/// | lock file | database | how it came about | follows |
/// | --- | --- | --- | --- |
/// | says nothing | any | lost, damaged, or another store's | no |
/// | L | G < L | an older file was put back | no |
/// | L open | G = L, not clean | a run was killed | yes |
/// | L open | G = L, clean | a kill between the two marks of a clean stop | yes |
/// | L closed | G = L, clean | a clean stop | yes |
/// | L closed | G = L, not clean | a copy taken during the run was put back after it | no |
/// | L | G > L, not clean | starts that were killed before the lock file | yes |
/// | L | G > L, clean | an older lock file was put back | no |
///
/// The last row but one is safe however far G is ahead: a run with G > L was killed before its
/// first commit, so all these files hold the same edits. The last row: a run writes L := G before
/// it marks the database clean.
///
/// What cannot be told: a copy that was taken during a run, and is put back in place after that run
/// was killed and before the next start. Only a write to the lock file at each commit could tell.

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

    /// Writes our pid and, where there is one, the run.
    ///
    /// Not synced. A loss of power may leave an older record beside a newer database, which is the
    /// row G > L, or an empty new file, which costs the clients a snapshot.
    func write(_ mark: RunMark?) throws(StoreError) {
        var text = "\(getpid())\n"
        if let mark { text += "\(mark.generation)\n\(mark.closed ? "closed" : "open")\n" }
        // Empty lines cover what a longer record left; ftruncate(2) would be a second step.
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
