/// The administrator's options for the store, what opening found, and its figures.

public import SyncCore

/// How a store is opened.
public struct StoreOptions: Sendable {
    /// `--new-replica`: treat the file as a copy. For restores that cannot be detected, such as a
    /// snapshot of the whole disk.
    public var newReplica = false
    /// Whether edits are published only after they are durable (`durability = commit`). Stored in
    /// the file, so that the next start knows what an unclean stop may have lost.
    public var everyEditDurable = true
    /// Opening returns before its writes that wait for the disk. The first commit or the first
    /// `Store.maintain` does them, so a start does not wait for syncs. Only with
    /// `everyEditDurable`, because then nothing is published before the first commit. If the daemon
    /// is killed before that, the store is unchanged.
    public var finishesOpeningLater = false
    /// Checks the whole file after an unclean stop (`PRAGMA quick_check`).
    public var checksAfterUncleanStop = true
    /// When the write-ahead log has this many pages of 4096 bytes, `Store.maintain` moves them to
    /// the file. Few enough that this takes milliseconds.
    public var checkpointPages = 1_000
    /// The most failed and the most damaged files that are kept.
    public var preservedMax = 2
    /// The most edits that only the log has (`Unfolded`): a start after a kill reads so many.
    var unfoldedMax = 4_096
    /// The largest file in pages, for tests of a full disk.
    var pagesMax: Int?
    /// Another SQLite file system, for tests of failures.
    var vfs: String?

    /// The default options.
    public init() {}
}

/// The result of `Store.open`.
public struct Opening: Sendable, Hashable {
    /// The state in which the store was found.
    public enum Condition: Sendable, Hashable {
        /// A new, empty store.
        case created
        /// The last daemon closed it.
        case clean
        /// The last daemon was killed, or the machine lost power.
        case unclean
    }

    /// Why this run has another replica than the one before.
    public enum ReplicaChange: Sendable, Hashable {
        /// The store is new.
        case created
        /// `StoreOptions.newReplica`.
        case requested
        /// The file is not the one of the last run: it has another inode, birth time or machine.
        case copied
        /// The file is older than the last run: a backup was restored.
        case restored
        /// The last run published edits before they were durable, and was killed.
        case editsLost
    }

    public var condition: Condition
    /// The replica of this run. It is new unless `replicaChange` is `nil`.
    public var replica: ReplicaID
    /// `nil` if the replica is unchanged.
    public var replicaChange: ReplicaChange?
    /// The number of this run, greater than that of every earlier run of the store.
    public var run: Int64

    /// Whether revisions that a client has seen may be missing, so that each form needs a new log
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
