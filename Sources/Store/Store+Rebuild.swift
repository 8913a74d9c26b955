/// Rebuilds a store.

internal import Glibc
public import SyncCore

extension Store {
    /// Writes the state of `image` to the store, with a new epoch.
    ///
    /// After a commit that failed because the disk was full, the contents are certain, so the state
    /// is written over them, which needs no space for a second store. Otherwise it is written to a
    /// new file, which replaces the store. This is needed after a commit with an unknown result:
    /// the page cache may not show what is on disk (Rebello et al., "Can Applications Recover from
    /// fsync Failures?", USENIX ATC 2020). History and the answers of the image's keys are copied
    /// as far as the old file can be read. The old file is kept as `pickersync.db.failed-<time>`.
    ///
    /// - Returns: the new replica.
    /// - Throws: the store is unchanged or `.closed`. In both cases, call it again later.
    public func rebuild(_ image: StoreImage) throws(StoreError) -> ReplicaID {
        try exclusively { () throws(StoreError) in
            do throws(StoreError) {
                try keepKey()
                try files.removeBuilding()
                // Detects a full disk before anything is written.
                try files.requireSpace(image.leastBytes)
                guard isDiskFull, case .open(let database) = databaseState else {
                    return try replace(with: image)
                }
                return try rewrite(image, in: database)
            } catch {
                // The next attempt can use the space of preserved copies whose content is in the
                // store. Damaged files are not removed.
                if case .full = error { try? files.prunePreserved([StoreFiles.failed], max: 0) }
                throw error
            }
        }
    }

    /// Replaces the store with a new file that contains the state.
    private func replace(with image: StoreImage) throws(StoreError) -> ReplicaID {
        let builder = Builder(files: files, options: options, schema: schema)
        // Space for the new file is more important than files that failed earlier.
        try? files.prunePreserved(max: options.preservedMax - 1)
        let source = historySource(builder)
        let built = try builder.build(image, historyFrom: source) { file throws(StoreError) in
            var next = try Meta(
                newIn: file, generation: meta.generation + 1,
                everyEditDurable: meta.everyEditDurable)
            next.replica = Meta.replica(after: meta.replica, isNew: image.takesNewReplicaID)
            return next
        }
        do throws(StoreError) {
            try files.adoptBuilding()
        } catch {
            // The new file may be the store already, so the old file is only read from now on.
            if case .open(let database) = databaseState { databaseState = .suspect(database) }
            throw error
        }
        source?.close(checkpointing: false)
        databaseState = .closed
        try files.finishReplacement()
        let database = try builder.connect()
        try lock.write(RunMark(generation: built.generation, closed: false))
        databaseState = .open(database)
        unfinishedOpening = nil
        meta = built
        hasLostEdits = false
        unfolded = 0
        pagesToFree = 0
        return built.replica
    }

    /// Writes the state over the contents of the file, in one transaction.
    private func rewrite(
        _ image: StoreImage, in database: Database
    ) throws(StoreError) -> ReplicaID {
        try finishOpening()
        var next = meta
        next.replica = Meta.replica(after: meta.replica, isNew: image.takesNewReplicaID)
        do throws(StoreError) {
            try database.transaction { () throws(StoreError) in
                try next.write(to: database)
                try database.overwrite(with: image)
                try database.markFolded()
            }
        } catch {
            distrust(database, after: error)
            throw error
        }
        isDiskFull = false
        hasLostEdits = false
        unfolded = 0
        meta = next
        return next.replica
    }

    /// The source of history: the connection that failed, or else the file that an earlier attempt
    /// left. If it cannot be read, that is not an error.
    private func historySource(_ builder: Builder) -> Database? {
        switch databaseState {
        case .open(let database), .suspect(let database): return database
        case .closed: break
        }
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
}

extension StoreImage {
    fileprivate var leastBytes: Int {
        forms.reduce(0) { $0 + $1.definition.count + $1.applied.count + $1.context.count }
            + fields.reduce(0) { $0 + $1.state.count }
            + ongoing.reduce(0) { $0 + $1.state.count }
            + answers.reduce(0) { $0 + $1.result.count }
            + revisions.reduce(0) { $0 + $1.told.count + $1.record.count }
    }
}
