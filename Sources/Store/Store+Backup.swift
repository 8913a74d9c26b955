/// Backups of a store in use, and their restore.

internal import Glibc
internal import SyncCore

/// A copy that is being sent: a file without a name, which is deleted with its last descriptor.
final class BackupCopy {
    let number: Int64
    let bytes: Int64
    private let descriptor: Int32

    init(number: Int64, descriptor: Int32, bytes: Int64) {
        self.number = number
        self.descriptor = descriptor
        self.bytes = bytes
    }

    deinit { close(descriptor) }

    /// Bytes from an offset, fewer at the end: pread(2).
    func read(at offset: Int64, count: Int) -> [UInt8]? {
        guard offset >= 0, offset <= bytes else { return [] }
        var failed = false
        let read = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count {
                let got = unsafe pread(
                    descriptor, buffer.baseAddress! + initialized, count - initialized,
                    off_t(offset) + off_t(initialized))
                if got > 0 {
                    initialized += got
                } else if got == 0 {
                    break
                } else if errno != EINTR {
                    failed = true
                    break
                }
            }
        }
        return failed ? nil : read
    }
}

extension Store {
    /// Copies the store, while it is in use, to a new file (mode 0600).
    ///
    /// The copy is marked as one: any daemon that opens it takes a new replica. Blocks until the
    /// copy is complete.
    public func backup(to path: String) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            try copyOut(to: path)
            try POSIX.sync(path)
        }
    }

    /// Creates a copy without a name that is read piece by piece. It replaces an earlier copy.
    func beginBackup() throws(StoreError) -> BackupCopy {
        copy = nil
        let path = files.backup
        try files.removeBackup()
        try copyOut(to: path)
        let descriptor = try POSIX.open(path, O_RDONLY)
        lastCopy += 1
        let made = BackupCopy(
            number: lastCopy, descriptor: descriptor, bytes: Int64(try POSIX.size(path)))
        try POSIX.remove(path)
        copy = made
        return made
    }

    private func copyOut(to path: String) throws(StoreError) {
        let source = try readable()
        // SQLite interprets a name that begins with `file:` as a URI.
        let path = path.hasPrefix("/") ? path : "./" + path
        try POSIX.create(path)
        do throws(StoreError) {
            let copy = try Database(opening: try POSIX.resolve(path), vfs: options.vfs)
            defer { copy.close(checkpointing: true) }
            // An incomplete copy is removed, so its journal need not be on disk.
            try copy.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY;")
            try source.copy(into: copy)
            var marked = meta
            marked.identity = FileIdentity(inode: 0, birth: 0)
            try copy.transaction { () throws(StoreError) in try marked.write(to: copy) }
            try copy.checkpoint()
        } catch {
            for suffix in ["", "-wal", "-journal", "-shm"] { try? POSIX.remove(path + suffix) }
            throw error
        }
    }

    /// Replaces the store of a state directory with a backup. No daemon may use the directory.
    ///
    /// The backup is checked first and not changed. The earlier store is kept as
    /// `pickersync.db.failed-<time>`. The next daemon takes a new replica and new logs, as for
    /// every copy, so that no dot is issued twice.
    public static func restore(
        from backup: String, directory: String, options: StoreOptions = StoreOptions()
    ) throws(StoreError) -> StoreExamination {
        let files = try StoreFiles(preparing: directory)
        let lock = try LockFile(path: files.lock)
        defer { lock.release() }
        try files.removeBuilding()
        try files.finishReplacement()
        let backup = try POSIX.resolve(backup)
        try StoreFiles.checkHeader(of: backup)
        do throws(StoreError) {
            try POSIX.copy(backup, to: files.building)
            if try POSIX.size(backup + "-wal") > 0 {
                try POSIX.copy(backup + "-wal", to: files.building + "-wal")
            }
            let found = try prepare(files.building, of: backup, options)
            try files.adoptBuilding()
            try files.finishReplacement()
            try? files.prunePreserved(max: options.preservedMax)
            return found
        } catch {
            try? files.removeBuilding()
            throw error
        }
    }

    /// Migrates the copy of a backup to the current schema and marks it as a copy.
    private static func prepare(
        _ file: String, of backup: String, _ options: StoreOptions
    ) throws(StoreError) -> StoreExamination {
        let database = try Database(opening: file, vfs: options.vfs)
        defer { database.close(checkpointing: true) }
        do throws(StoreError) {
            try database.execute("PRAGMA locking_mode = EXCLUSIVE")
            let version = try Schema.current.check(database)
            let found = try StoreExamination(database, version: version)
            try Schema.current.migrate(database, from: version)
            var meta = try Meta(reading: database)
            meta.identity = FileIdentity(inode: 0, birth: 0)
            try database.transaction { () throws(StoreError) in try meta.write(to: database) }
            try database.checkpoint()
            return found
        } catch .damaged(_, let finding, _) {
            throw .damaged(file: backup, finding: finding, copy: nil)
        } catch .newer(_, let found, let known, let writer) {
            throw .newer(file: backup, found: found, known: known, writer: writer)
        }
    }
}
