/// What an administrator chooses for the store, what opening it found, and its figures.

public import SyncCore

/// How a store is opened.
public struct StoreOptions: Sendable {
    /// `--new-replica`: act as if the file were a copy. For restores that leave no trace, such as
    /// a snapshot of the whole disk.
    public var newReplica = false
    /// Whether an edit is durable before anybody hears of it (`durability = commit`). Kept in the
    /// file, so that the next start knows what an unclean stop may have cost.
    public var everyEditDurable = true
    /// Leaves what waits for the disk to the first write or the first `Store.maintain`: a start
    /// that has nothing to say yet need not wait for syncs. Only with `everyEditDurable`, since
    /// nobody is told anything then before the first commit, which comes after all that was left.
    /// A daemon that is killed meanwhile has not touched the store.
    public var settlesLater = false
    /// Looks through the whole file after an unclean stop (`PRAGMA quick_check`).
    public var checksAfterUncleanStop = true
    /// Pages of 4096 bytes in the write-ahead log from which `Store.maintain` moves them into the
    /// file. Small enough that moving them takes milliseconds.
    public var checkpointPages = 1_000
    /// How many failed and how many damaged files are kept beside the store.
    public var preservedMax = 2
    /// Bounds the file, for tests of a full disk.
    var pagesMax: Int?
    /// Another SQLite file system, for tests of failing ones.
    var vfs: String?

    /// The choices as shipped.
    public init() {}
}

/// What `Store.open` found.
public struct Opening: Sendable, Hashable {
    /// How the store was left.
    public enum Condition: Sendable, Hashable {
        /// There was none; it is new and empty.
        case created
        /// The last daemon closed it.
        case clean
        /// The last daemon was killed, or the machine lost power.
        case unclean
    }

    /// Why this run writes as another replica than the one before.
    public enum ReplicaChange: Sendable, Hashable {
        /// The store is new.
        case created
        /// `StoreOptions.newReplica`.
        case requested
        /// The file is not the one that was last open: another inode, birth or machine.
        case copied
        /// The file is older than the last run says: a backup was put back.
        case restored
        /// The last run told of edits before they were durable, and was killed.
        case editsLost
    }

    public var condition: Condition
    /// Who writes dots in this run. It never wrote one before unless `replicaChange` is `nil`.
    public var replica: ReplicaID
    /// `nil` where the replica goes on as it was.
    public var replicaChange: ReplicaChange?

    /// Whether revisions that somebody saw may be missing, so that each form's log must be new
    /// (PROTOCOL.md, What you can rely on, 3).
    public var newLogs: Bool { replicaChange != nil }
}

/// The store's figures for `server.status`.
public struct StoreStatistics: Sendable, Hashable {
    /// Bytes of the file.
    public var bytes: Int
    /// Pages of the file, and how many of them are free.
    public var pages: Int
    public var freePages: Int
    /// Bytes of the write-ahead log.
    public var walBytes: Int
    /// Revisions of all forms.
    public var revisions: Int
}
