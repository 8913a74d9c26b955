/// Writing the store anew, and copying it.

internal import Glibc
public import SyncCore

extension Store {
    /// Writes the whole state to a new file, which takes the store's place under a new epoch.
    ///
    /// The way out of a commit whose fate is unknown: what the old file holds cannot be told from
    /// what the page cache shows of it (Rebello et al., "Can Applications Recover from fsync
    /// Failures?", USENIX ATC 2020). History and the answers of the image's keys are carried over
    /// as far as the old file can be read; it is kept as `pickersync.db.failed-<time>`.
    ///
    /// - Returns: who writes dots from now on.
    /// - Throws: the store stays as it was, or is `.closed`; either way call again after a while.
    public func rebuild(_ image: StoreImage) throws(StoreError) -> ReplicaID {
        try exclusively { () throws(StoreError) in
            let builder = Builder(files: files, options: options, schema: schema)
            try files.removeBuilding()
            // Room for the new file matters more than what failed earlier.
            try? files.prunePreserved(max: options.preservedMax - 1)
            let source = historySource(builder)
            let built = try builder.build(image, carryingFrom: source) {
                file throws(StoreError) in
                var next = try Meta(
                    newIn: file, generation: meta.generation + 1,
                    everyEditDurable: meta.everyEditDurable)
                next.replica = Meta.nextEpoch(of: meta.replica)
                return next
            }
            do throws(StoreError) {
                try files.adoptBuilding()
            } catch {
                // Perhaps declared already: the old file may be read, and written no more.
                if case .open(let database) = connection { connection = .suspect(database) }
                throw error
            }
            source?.close(checkpointing: false)
            connection = .closed
            try files.finishReplacement()
            let database = try builder.connect()
            try lock.write(RunMark(generation: built.generation, closed: false))
            connection = .open(database)
            meta = built
            pagesToFree = 0
            return built.replica
        }
    }

    /// Where history is read from: the connection that failed, else what an attempt before this
    /// one left. Not being readable is no error here.
    private func historySource(_ builder: Builder) -> Database? {
        if let database = try? readable() { return database }
        for file in [files.new, files.database] where (try? POSIX.exists(file)) == true {
            if let database = try? Database(opening: file, vfs: options.vfs),
                (try? database.execute("PRAGMA locking_mode = EXCLUSIVE")) != nil,
                (try? schema.check(database)) != nil
            {
                return database
            }
        }
        return nil
    }

    /// Copies the store, while it is in use, to a file that must not be there yet (mode 0600).
    ///
    /// The copy knows that it is one: wherever it is put, the daemon that opens it takes a new
    /// replica. Blocks for as long as the copy takes.
    public func backup(to path: String) throws(StoreError) {
        try exclusively { () throws(StoreError) in
            let source = try readable()
            // SQLite takes a name that begins with `file:` for a URI.
            let path = path.hasPrefix("/") ? path : "./" + path
            try POSIX.create(path)
            do throws(StoreError) {
                let copy = try Database(opening: try POSIX.resolve(path), vfs: options.vfs)
                defer { copy.close(checkpointing: true) }
                // A half-made copy is removed, so no journal of its making need reach the disk.
                try copy.execute("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY;")
                try source.copy(into: copy)
                var marked = meta
                marked.identity = FileIdentity(inode: 0, birth: 0)
                try copy.transaction { () throws(StoreError) in try marked.write(to: copy) }
                try copy.checkpoint()
            } catch {
                for suffix in ["", "-wal", "-journal", "-shm"] {
                    try? POSIX.remove(path + suffix)
                }
                throw error
            }
            try POSIX.sync(path)
        }
    }
}
