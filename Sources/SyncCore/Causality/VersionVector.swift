// All writes up to a counter, for each replica.
//
// Always holds: entries are sorted by replica, no replica comes twice, no counter is 0. So two
// vectors are equal exactly when they name the same writes.

/// A map from replica to the counter up to which all its writes are meant.
///
/// A small sorted list: a form knows a handful of replicas, and a search in it touches one cache
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
    public private(set) var entries: Entries

    /// The vector that names no write.
    public init() {
        entries = Entries()
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

extension VersionVector {
    /// A list of entries of which the first stands in place: nearly every vector has one alone, and
    /// each edit changes a copy or two, which then allocate nothing.
    public struct Entries: RandomAccessCollection, Hashable, Sendable {
        /// The first one; with counter 0 there is none, and no others.
        private var head = Entry(ReplicaID(id: 0, epoch: 0), 0)
        private var others: [Entry] = []

        public var startIndex: Int { 0 }

        public var endIndex: Int { head.counter == 0 ? 0 : 1 + others.count }

        public fileprivate(set) subscript(index: Int) -> Entry {
            get {
                precondition(index < endIndex, "there are no more entries")
                return index == 0 ? head : others[index - 1]
            }
            set {
                if index == 0 { head = newValue } else { others[index - 1] = newValue }
            }
        }

        fileprivate mutating func insert(_ entry: Entry, at index: Int) {
            if head.counter == 0 {
                head = entry
            } else if index == 0 {
                others.insert(head, at: 0)
                head = entry
            } else {
                others.insert(entry, at: index - 1)
            }
        }
    }
}
