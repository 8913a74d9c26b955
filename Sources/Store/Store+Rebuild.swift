/// Writing the store anew.

internal import Glibc
public import SyncCore

extension Store {
    /// Makes the store say the state of `image`, under a new epoch.
    ///
    /// Where a commit found no room nothing is in doubt: the state is written over what is there,
    /// which takes no second store. Else it goes to a new file, which takes the store's place: the
    /// way out of a commit whose fate is unknown: what the old file holds cannot be told from
    /// what the page cache shows of it (Rebello et al., "Can Applications Recover from fsync
    /// Failures?", USENIX ATC 2020). History and the answers of the image's keys are carried over
    /// as far as the old file can be read; it is kept as `pickersync.db.failed-<time>`.
    ///
    /// - Returns: who writes dots from now on.
    /// - Throws: the store stays as it was, or is `.closed`; either way call again after a while.
    public func rebuild(_ image: StoreImage) throws(StoreError) -> ReplicaID {
        try exclusively { () throws(StoreError) in
            do throws(StoreError) {
                try keepKey()
                try files.removeBuilding()
                // A disk without room is found out before anything is written to it.
                try files.reserve(image.leastBytes)
                guard lacksRoom, case .open(let database) = databaseState else {
                    return try replace(with: image)
                }
                return try rewrite(image, in: database)
            } catch {
                // The next attempt has the room of copies whose content is in the store. What was
                // damaged is not ours to remove.
                if case .full = error { try? files.prunePreserved([StoreFiles.failed], max: 0) }
                throw error
            }
        }
    }

    /// Puts a new file that says the state into the store's place.
    private func replace(with image: StoreImage) throws(StoreError) -> ReplicaID {
        let builder = Builder(files: files, options: options, schema: schema)
        // Room for the new file matters more than what failed earlier.
        try? files.prunePreserved(max: options.preservedMax - 1)
        let source = historySource(builder)
        let built = try builder.build(image, carryingFrom: source) { file throws(StoreError) in
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
            if case .open(let database) = databaseState { databaseState = .suspect(database) }
            throw error
        }
        source?.close(checkpointing: false)
        databaseState = .closed
        try files.finishReplacement()
        let database = try builder.connect()
        try lock.write(RunMark(generation: built.generation, closed: false))
        databaseState = .open(database)
        unsettled = nil
        meta = built
        hasLostEdits = false
        pagesToFree = 0
        return built.replica
    }

    /// Writes the state over what the file has of it, in one transaction.
    private func rewrite(
        _ image: StoreImage, in database: Database
    ) throws(StoreError) -> ReplicaID {
        try settle()
        var next = meta
        next.replica = Meta.nextEpoch(of: meta.replica)
        do throws(StoreError) {
            try database.transaction { () throws(StoreError) in
                try next.write(to: database)
                try database.overwrite(with: image)
            }
        } catch {
            distrust(database, after: error)
            throw error
        }
        lacksRoom = false
        hasLostEdits = false
        meta = next
        return next.replica
    }

    /// Where history is read from: the connection that failed, else what an attempt before this
    /// one left. Not being readable is no error here.
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
    /// Bytes that its blobs alone take.
    fileprivate var leastBytes: Int {
        forms.reduce(0) { $0 + $1.definition.count + $1.applied.count + $1.context.count }
            + fields.reduce(0) { $0 + $1.state.count }
            + answers.reduce(0) { $0 + $1.result.count }
            + revisions.reduce(0) { $0 + $1.frame.count + $1.record.count }
    }
}
