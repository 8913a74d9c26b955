/// Opens a store: locks, files, migrations, and the replica of this run.

internal import Glibc
internal import SyncCore

extension Store {
    /// Opens the store of a state directory, and creates it if there is none.
    ///
    /// - Parameter directory: created with mode 0700 if it does not exist. Others must not own it
    ///   or be able to write to it.
    /// - Throws: `StoreError`, with `exitStatus` for the daemon.
    public static func open(
        directory: String, options: StoreOptions = StoreOptions()
    ) throws(StoreError) -> (store: Store, opening: Opening) {
        try open(directory: directory, options: options, schema: .current)
    }

    static func open(
        directory: String, options: StoreOptions, schema: Schema
    ) throws(StoreError) -> (store: Store, opening: Opening) {
        let files = try StoreFiles(preparing: directory)
        let lock = try LockFile(path: files.lock)
        try files.removeBuilding()
        try files.finishReplacement()
        let builder = Builder(files: files, options: options, schema: schema)
        do throws(StoreError) {
            guard try files.inspect() else { return try create(with: builder, lock: lock) }
            let database = try builder.connect()
            return try resume(database, with: builder, lock: lock)
        } catch .damaged(let file, let finding, _) {
            let copy = files.preserveDamaged()
            try? files.prunePreserved(max: options.preservedMax)
            throw .damaged(file: file, finding: finding, copy: copy)
        }
    }

    private static func create(
        with builder: Builder, lock: LockFile
    ) throws(StoreError) -> (store: Store, opening: Opening) {
        // Otherwise a kill before this run is in the lock file would look like a lost lock file.
        if lock.last == nil { try lock.write(RunMark(generation: 0, closed: false)) }
        let meta = try builder.build(StoreImage(), historyFrom: nil) {
            file throws(StoreError) in
            try Meta(
                newIn: file, generation: (lock.last?.generation ?? 0) + 1,
                everyEditDurable: builder.options.everyEditDurable)
        }
        let store = Store(
            files: builder.files, options: builder.options, schema: builder.schema, lock: lock,
            databaseState: .closed, unfinishedOpening: .adoption, meta: meta)
        if !builder.options.finishesOpeningLater { try store.finishOpening() }
        let opening = Opening(
            condition: .created, replica: meta.replica, replicaChange: .created,
            run: meta.generation)
        return (store, opening)
    }

    /// Continues with an existing store.
    private static func resume(
        _ database: Database, with builder: Builder, lock: LockFile
    ) throws(StoreError) -> (store: Store, opening: Opening) {
        var meta = try Meta(reading: database)
        let condition: Opening.Condition = meta.clean ? .clean : .unclean
        if !meta.clean && builder.options.checksAfterUncleanStop {
            let finding = try database.text("PRAGMA quick_check(1)")
            guard finding == "ok" else {
                throw .damaged(file: database.file, finding: finding, copy: nil)
            }
        }
        let found = try builder.schema.check(database)
        try builder.schema.migrate(database, from: found)
        let identity = try POSIX.identity(database.file)
        let machine = Meta.thisMachine()
        let change = meta.change(
            file: identity, machine: machine, last: lock.last,
            requested: builder.options.newReplica)
        let follows = meta.follows(lock.last)
        meta.begin(
            after: change, generation: max(meta.generation, lock.last?.generation ?? 0) + 1,
            everyEditDurable: builder.options.everyEditDurable, file: identity, machine: machine)
        let store = Store(
            files: builder.files, options: builder.options, schema: builder.schema, lock: lock,
            databaseState: .open(database), unfinishedOpening: .beginning, meta: meta)
        store.unfolded = try database.countUnfolded()
        if change != nil {
            // `LockFile` describes the order of these writes.
            if !follows { try lock.write(RunMark(generation: meta.generation, closed: false)) }
            // In the same transaction as the epoch.
            try database.transaction { () throws(StoreError) in
                try meta.write(to: database)
                try renameLogs(in: database)
            }
            try lock.write(RunMark(generation: meta.generation, closed: false))
            store.unfinishedOpening = nil
        } else if !builder.options.finishesOpeningLater {
            try store.finishOpening()
        }
        let opening = Opening(
            condition: condition, replica: meta.replica, replicaChange: change,
            run: meta.generation)
        return (store, opening)
    }

    /// Ends every log together with the epoch: if a daemon is killed before its engine has created
    /// new logs, the next one must not find the old ones.
    private static func renameLogs(in database: Database) throws(StoreError) {
        var keys: [Int64] = []
        let forms = try database.prepare("SELECT key FROM form ORDER BY key")
        while try forms.step() { keys.append(forms.integer(0)) }
        for key in keys { try database.run(.renameLog, key, String(randomBits(), radix: 16)) }
    }
}
