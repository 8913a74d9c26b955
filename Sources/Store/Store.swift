/// Keeps forms, fields, revisions and idempotency keys in one SQLite file.

public import SyncCore

/// One store, used from one thread at a time.
public final class Store: @unchecked Sendable {
    init() {}

    /// Opens the store of a state directory, and makes it when there is none.
    public static func open(
        directory: String, options: StoreOptions = StoreOptions()
    ) throws(StoreError) -> (store: Store, opening: Opening) {
        throw .closed(file: directory)
    }

    /// Reads what the engine starts from.
    public func loadImage(
        revisionsPerForm: Int, keysNotBefore: Int64
    ) throws(StoreError) -> StoreImage {
        throw .closed(file: "")
    }

    /// Makes a batch durable: all of it, or nothing. Blocks for an fsync.
    public func commit(_ batch: Batch) throws(StoreError) {}

    /// Reads committed rows.
    public func answer(_ query: StoreQuery) -> StoreAnswer { .key(nil) }

    /// Writes the whole state to a new file, which takes the store's place.
    public func rebuild(_ image: StoreImage) throws(StoreError) -> ReplicaID {
        throw .closed(file: "")
    }

    /// Says whether every edit is durable before anybody hears of it, when that changes at run time.
    public func setEveryEditDurable(_ durable: Bool) throws(StoreError) {}

    /// Whether `maintain` has something to do. Ask after a commit.
    public var maintenanceDue: Bool { false }

    /// Moves the write-ahead log into the file, and gives free pages back, for some milliseconds.
    public func maintain() throws(StoreError) {}

    /// Copies the store, while it is in use, to a file that is not there yet.
    public func backup(to path: String) throws(StoreError) {}

    /// The store's figures.
    public func statistics() throws(StoreError) -> StoreStatistics { throw .closed(file: "") }

    /// Ends the use of the store and gives its lock back.
    public func close(clean: Bool = true) throws(StoreError) {}
}
