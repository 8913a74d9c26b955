// All writes up to a counter, for each replica.
//
// Always holds: entries are sorted by replica, no replica comes twice, no counter is 0. So two
// vectors are equal exactly when they name the same writes.

/// A map from replica to the counter up to which all its writes are meant.
///
/// A small sorted array: a form knows a handful of replicas, and a search in it touches one cache
/// line. Fidge 1988 and Mattern 1989, keyed by store and not by client.
public struct VersionVector: Hashable, Sendable {
    /// What is meant of one replica.
    public struct Entry: Hashable, Sendable {
        /// The replica.
        public let replica: ReplicaID
        /// Every write of it from 1 up to this one.
        public let counter: UInt64

        /// All writes of `replica` up to `counter`.
        public init(_ replica: ReplicaID, _ counter: UInt64) {
            self.replica = replica
            self.counter = counter
        }
    }

    /// The entries, sorted by replica; none has counter 0.
    public private(set) var entries: [Entry]

    /// The vector that names no write.
    public init() {
        entries = []
    }

    /// The vector of these entries; of two for one replica the greater counts.
    public init(_ entries: some Sequence<Entry>) {
        self.init()
        for entry in entries { raise(entry.replica, to: entry.counter) }
    }

    /// Whether it names no write.
    public var isEmpty: Bool { entries.isEmpty }

    /// The counter up to which all writes of `replica` are meant; 0 for none.
    public subscript(replica: ReplicaID) -> UInt64 {
        let index = position(of: replica)
        return index < entries.count && entries[index].replica == replica
            ? entries[index].counter : 0
    }

    /// Whether the write `dot` is meant; there is no write 0.
    public func contains(_ dot: Dot) -> Bool {
        dot.counter > 0 && dot.counter <= self[dot.replica]
    }

    /// Makes it mean all writes of `replica` up to `counter` too.
    public mutating func raise(_ replica: ReplicaID, to counter: UInt64) {
        guard counter > 0 else { return }
        let index = position(of: replica)
        if index < entries.count, entries[index].replica == replica {
            if entries[index].counter < counter { entries[index] = Entry(replica, counter) }
        } else {
            entries.insert(Entry(replica, counter), at: index)
        }
    }

    /// Where the entry of `replica` is, or would be inserted.
    private func position(of replica: ReplicaID) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].replica < replica { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
