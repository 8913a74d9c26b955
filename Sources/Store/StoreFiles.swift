/// The files of a store, and how a new file replaces the old one.
///
/// `pickersync.db` is never incomplete. A new file is written as `.building`, synced, and renamed
/// to `.new`: from then on it *is* the store. Then the old file and its write-ahead log are renamed
/// (a log that remained would be applied to the new file), and the new one gets the name. After a
/// crash between any two steps, the next start does the remaining steps.

internal import Glibc

/// The paths in one state directory.
struct StoreFiles {
    /// Absolute and without symbolic links.
    let directory: String

    var database: String { directory + "/pickersync.db" }
    var wal: String { database + "-wal" }
    var sharedMemory: String { database + "-shm" }
    var building: String { database + ".building" }
    var new: String { database + ".new" }
    var backup: String { database + ".backup" }
    var lock: String { directory + "/lock" }

    /// The files of an existing directory, whose path is absolute and without symbolic links.
    init(at directory: String) { self.directory = directory }

    /// Creates the directory (mode 0700) if it does not exist; rejects one that others own or can
    /// write to.
    ///
    /// The directory itself may be a symbolic link, which systemd's DynamicUser= creates.
    init(preparing path: String) throws(StoreError) {
        if unsafe mkdir(path, 0o700) != 0 && errno != EEXIST {
            throw POSIX.failure("mkdir", path)
        }
        directory = try POSIX.resolve(path)
        guard let status = try POSIX.status(directory), status.st_mode & S_IFMT == S_IFDIR else {
            throw POSIX.failure("mkdir", path, ENOTDIR)
        }
        try Self.check(status, of: directory)
    }

    /// Rejects what another user owns or can write to.
    static func check(_ status: stat, of path: String) throws(StoreError) {
        let ours = geteuid()
        guard status.st_uid == ours else {
            throw .unsafe(
                file: path, finding: "owned by uid \(status.st_uid), not by \(ours)",
                remedy: "change its owner, or choose another --state-directory")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw .unsafe(
                file: path, finding: "others may write it",
                remedy: "remove this permission with chmod go-w")
        }
    }

    /// Checks the database file before SQLite opens it; false if it does not exist.
    ///
    /// If others can read the file, their permission is removed. We never write an empty file.
    func inspect() throws(StoreError) -> Bool {
        guard let status = try POSIX.status(database) else { return false }
        try Self.checkRegular(status, of: database)
        if status.st_mode & 0o077 != 0, unsafe chmod(database, 0o600) != 0 {
            throw POSIX.failure("chmod", database)
        }
        guard status.st_size > 0 else {
            throw .damaged(file: database, finding: "the file is empty", copy: nil)
        }
        try Self.checkHeader(of: database)
        return true
    }

    /// Checks the first bytes of the file (SQLite file format, section 1.3). Another program's file
    /// is not opened, so nothing in it changes.
    static func checkHeader(of database: String) throws(StoreError) {
        let count = 100
        let descriptor = try POSIX.open(database, O_RDONLY)
        defer { close(descriptor) }
        var header = [UInt8](repeating: 0, count: count)
        var got = 0
        // A closure cannot rethrow a typed error through this call.
        let result: Result<Int, StoreError> = unsafe header.withUnsafeMutableBytes { bytes in
            do throws(StoreError) {
                return .success(unsafe try POSIX.read(bytes, from: descriptor, of: database))
            } catch {
                return .failure(error)
            }
        }
        got = try result.get()
        guard got == count, header.starts(with: Array("SQLite format 3\0".utf8)) else {
            throw .damaged(file: database, finding: "it has no SQLite header", copy: nil)
        }
        let application = header[68..<72].reduce(0) { $0 << 8 | Int64($1) }
        guard application == Schema.applicationID else {
            throw .foreign(
                file: database,
                finding: "its application id is 0x\(String(application, radix: 16))")
        }
    }

    static func checkRegular(_ status: stat, of path: String) throws(StoreError) {
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .unsafe(
                file: path, finding: "a symbolic link or not a regular file",
                remedy: "put the file itself there")
        }
        try check(status, of: path)
    }

    /// Checks whether there is space for a file of this size: posix_fallocate(3). This detects a
    /// full or read-only disk with one call. The space is freed again at once.
    func requireSpace(_ bytes: Int) throws(StoreError) {
        let descriptor = try POSIX.open(building, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
        // The error number is returned, not in errno.
        let number = posix_fallocate(descriptor, 0, off_t(max(bytes, 1) + Self.overheadBytes))
        close(descriptor)
        try POSIX.remove(building)
        guard number != 0, number != EOPNOTSUPP, number != EINVAL, number != EINTR else { return }
        throw POSIX.failure("posix_fallocate", building, number)
    }

    /// Bytes of an empty store and its write-ahead log.
    private static let overheadBytes = 128 << 10

    /// Removes an interrupted backup copy.
    func removeBackup() throws(StoreError) {
        for suffix in ["", "-wal", "-journal", "-shm"] { try POSIX.remove(backup + suffix) }
    }

    /// Removes the files of an interrupted build or backup.
    func removeBuilding() throws(StoreError) {
        try removeBackup()
        for suffix in ["", "-wal", "-journal", "-shm"] { try POSIX.remove(building + suffix) }
        // For a declared file, only the files that reading it created.
        for suffix in ["-wal", "-shm"] { try POSIX.remove(new + suffix) }
    }

    /// Declares the built file to be the store. After a crash from now on, the next start uses it.
    func adoptBuilding() throws(StoreError) {
        try POSIX.sync(building)
        try POSIX.move(building, to: new)
        try POSIX.sync(directory)
    }

    /// Renames a declared file to the store's name, if there is one.
    ///
    /// The old file is kept as `pickersync.db.failed-<time>` with its log. Each step can be
    /// repeated, because the time is that of the new file.
    func finishReplacement() throws(StoreError) {
        guard let status = try POSIX.status(new) else { return }
        let kept = database + Self.failed + POSIX.stamp(status.st_mtim)
        var moved = false
        for suffix in ["-wal", "-journal", ""] where try POSIX.exists(database + suffix) {
            try POSIX.move(database + suffix, to: kept + suffix)
            moved = true
        }
        try POSIX.remove(sharedMemory)
        // The old log must be durably renamed before the new file gets the name.
        if moved { try POSIX.sync(directory) }
        try POSIX.remove(new + "-wal")
        try POSIX.move(new, to: database)
        try POSIX.sync(directory)
    }

    /// Copies a damaged file and its log to `pickersync.db.damaged-<time>`: once for each state of
    /// the file, however often the daemon starts.
    /// - Returns: the name of the copy; `nil` if it could not be made.
    func preserveDamaged() -> String? {
        guard let status = try? POSIX.status(database), status.st_size > 0 else { return nil }
        let copy = database + Self.damaged + POSIX.stamp(status.st_mtim)
        do throws(StoreError) {
            if try POSIX.exists(copy) { return copy }
            if try POSIX.size(wal) > 0 { try POSIX.copy(wal, to: copy + "-wal") }
            try POSIX.copy(database, to: copy)
            return copy
        } catch {
            try? POSIX.remove(copy + "-wal")
            return nil
        }
    }

    /// The suffixes of preserved files.
    static let failed = ".failed-"
    static let damaged = ".damaged-"

    /// Keeps the newest `max` preserved files of each kind, and removes the others.
    func prunePreserved(
        _ kinds: [String] = [failed, damaged], max: Int
    ) throws(StoreError) {
        for kind in kinds {
            let prefix = "pickersync.db" + kind
            // "20261121T102607.123Z": names sort by time, and a file before its log.
            let stampLength = 20
            var stamps: [String] = []
            let names = try POSIX.names(in: directory, prefix: prefix)
            for name in names {
                let stamp = String(name.dropFirst(prefix.count).prefix(stampLength))
                if stamps.last != stamp { stamps.append(stamp) }
            }
            let old = Set(stamps.dropLast(Swift.max(0, max)))
            for name in names
            where old.contains(String(name.dropFirst(prefix.count).prefix(stampLength))) {
                try POSIX.remove(directory + "/" + name)
            }
        }
    }
}
