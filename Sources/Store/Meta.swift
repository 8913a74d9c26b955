/// The metadata of a store: its replica, its file, its last run.

internal import CSodium
internal import SyncCore

/// The rows of the table `meta`.
struct Meta {
    var replica: ReplicaID
    /// How often the store was opened or rebuilt.
    var generation: Int64
    /// Whether the run of that generation closed it.
    var clean: Bool
    /// Whether that run published edits only after they were durable.
    var everyEditDurable: Bool
    /// The identity of the file that contains these rows.
    var identity: FileIdentity
    /// A digest of /etc/machine-id, which must not be published (machine-id(5)).
    var machine: [UInt8]

    init(newIn file: String, generation: Int64, everyEditDurable: Bool) throws(StoreError) {
        replica = ReplicaID(id: randomBits() & ReplicaID.idMax, epoch: 1)
        self.generation = generation
        clean = false
        self.everyEditDurable = everyEditDurable
        identity = try POSIX.identity(file)
        machine = Self.thisMachine()
    }

    /// Reads the metadata of a file. A file without one of the rows is damaged.
    init(reading database: Database) throws(StoreError) {
        func number(_ name: String) throws(StoreError) -> Int64 {
            try Self.value(name, in: database) { $0.integer(0) }
        }
        replica = ReplicaID(
            id: UInt64(bitPattern: try number("replica.id")),
            epoch: UInt32(truncatingIfNeeded: try number("replica.epoch")))
        generation = try number("generation")
        clean = try number("clean") != 0
        everyEditDurable = try number("durable") != 0
        identity = FileIdentity(
            inode: UInt64(bitPattern: try number("file.inode")), birth: try number("file.birth"))
        machine = try Self.value("machine", in: database) { $0.blob(0) }
    }

    /// Writes all rows; within a transaction.
    func write(to database: Database) throws(StoreError) {
        let numbers = [
            ("replica.id", Int64(bitPattern: replica.id)), ("replica.epoch", Int64(replica.epoch)),
            ("generation", generation), ("clean", clean ? 1 : 0),
            ("durable", everyEditDurable ? 1 : 0),
            ("file.inode", Int64(bitPattern: identity.inode)), ("file.birth", identity.birth),
        ]
        for (name, number) in numbers { try database.run(.putMeta, name, number) }
        try database.run(.putMeta, Schema.writer, "pickersyncd \(Version.current)")
        try database.run(.putMeta, "machine", machine)
    }

    /// Why this file cannot continue as the same replica; `nil` if it can.
    func change(
        file: FileIdentity, machine: [UInt8], last: RunMark?, requested: Bool
    ) -> Opening.ReplicaChange? {
        if requested { return .requested }
        if file != identity || machine != self.machine { return .copied }
        if !follows(last) { return .restored }
        return clean || everyEditDurable ? nil : .editsLost
    }

    /// Whether the file follows the lock file: the table in `LockFile`.
    func follows(_ last: RunMark?) -> Bool {
        guard let last else { return false }
        if generation == last.generation { return clean || !last.closed }
        return generation > last.generation && !clean
    }

    /// Starts the next run: with the same replica, its next epoch, or a new identity.
    ///
    /// If there may be another copy of the file, the id is new too. Otherwise two copies of one
    /// file, or one backup that was restored twice, would get the same epoch and issue the same
    /// dots.
    mutating func begin(
        after change: Opening.ReplicaChange?, generation: Int64, everyEditDurable: Bool,
        file: FileIdentity, machine: [UInt8]
    ) {
        switch change {
        case nil: break
        case .editsLost: replica = Self.nextEpoch(of: replica)
        case .created, .requested, .copied, .restored:
            let epoch = Self.nextEpoch(of: replica).epoch
            replica = ReplicaID(id: randomBits() & ReplicaID.idMax, epoch: epoch)
        }
        self.generation = generation
        clean = false
        self.everyEditDurable = everyEditDurable
        identity = file
        self.machine = machine
    }

    /// The next epoch, or a new id after 2^32 epochs.
    static func nextEpoch(of replica: ReplicaID) -> ReplicaID {
        Self.replica(after: replica, isNew: false)
    }

    /// The next epoch of a replica, or a replica with a new random id.
    static func replica(after replica: ReplicaID, isNew: Bool) -> ReplicaID {
        let next = isNew ? nil : replica.nextEpoch
        return next ?? ReplicaID(id: randomBits() & ReplicaID.idMax, epoch: 1)
    }

    /// A digest of this machine's id; empty if it has none.
    static func thisMachine() -> [UInt8] {
        guard let id = POSIX.contents("/etc/machine-id", bytesMax: 256), !id.isEmpty else {
            return []
        }
        let purpose = Array("pickersync store".utf8)
        var digest = [UInt8](repeating: 0, count: 16)
        unsafe crypto_generichash(
            &digest, digest.count, id, UInt64(id.count), purpose, purpose.count)
        return digest
    }

    static func value<Value>(
        _ name: String, in database: Database, _ read: (Statement) -> Value
    ) throws(StoreError) -> Value {
        let statement = try database.statement(.meta, name)
        guard try statement.step() else {
            throw .damaged(file: database.file, finding: "it has no \(name)", copy: nil)
        }
        defer { statement.reset() }
        return read(statement)
    }
}
