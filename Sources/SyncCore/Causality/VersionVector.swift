// All writes up to a counter, for each replica.
//
// Invariants: entries are sorted by replica, no replica occurs twice, and no counter is 0. So two
// vectors are equal exactly if they contain the same writes.

/// A map from a replica to a counter: it contains all the replica's writes up to the counter.
///
/// A small sorted list, because a form has a handful of replicas, and a search touches one cache
/// line. Fidge 1988 and Mattern 1989, with stores instead of clients as keys.
public struct VersionVector: Hashable, Sendable {
    /// The writes of one replica.
    public struct Entry: Hashable, Sendable {
        /// The replica.
        public let replica: ReplicaID
        /// The last of its writes; all from 1 to this one are contained.
        public let counter: UInt64

        /// All writes of `replica` up to `counter`.
        public init(_ replica: ReplicaID, _ counter: UInt64) {
            self.replica = replica
            self.counter = counter
        }
    }

    /// The entries, sorted by replica; none has counter 0.
    public private(set) var entries: Entries

    /// The empty vector.
    public init() {
        entries = Entries()
    }

    /// A vector with these entries. Of two for one replica, the greater counts.
    public init(_ entries: some Sequence<Entry>) {
        self.init()
        for entry in entries { raise(entry.replica, to: entry.counter) }
    }

    /// Whether the vector is empty.
    public var isEmpty: Bool { entries.isEmpty }

    /// The counter of `replica`; 0 for none.
    public subscript(replica: ReplicaID) -> UInt64 {
        // Nearly always there is only one. An empty vector has the counter 0 here.
        if entries.head.replica == replica { return entries.head.counter }
        let index = position(of: replica)
        return index < entries.count && entries[index].replica == replica
            ? entries[index].counter : 0
    }

    /// Whether the vector contains the write `dot`. There is no write 0.
    public func contains(_ dot: Dot) -> Bool {
        dot.counter > 0 && dot.counter <= self[dot.replica]
    }

    /// Adds all writes of `replica` up to `counter`.
    public mutating func raise(_ replica: ReplicaID, to counter: UInt64) {
        guard counter > 0 else { return }
        if entries.head.replica == replica, entries.head.counter > 0 {
            if entries.head.counter < counter { entries.head = Entry(replica, counter) }
            return
        }
        let index = position(of: replica)
        if index < entries.count, entries[index].replica == replica {
            if entries[index].counter < counter { entries[index] = Entry(replica, counter) }
        } else {
            entries.insert(Entry(replica, counter), at: index)
        }
    }

    /// The index of the entry of `replica`, or where it would be inserted.
    private func position(of replica: ReplicaID) -> Int {
        entries.partitionIndex { !($0.replica < replica) }
    }
}

extension VersionVector {
    /// A list of entries with the first one stored inline. Nearly every vector has only one, and
    /// each edit changes a copy or two, which need no allocation.
    public struct Entries: RandomAccessCollection, Hashable, Sendable {
        /// The first entry. If its counter is 0, the list is empty.
        fileprivate var head = Entry(ReplicaID(id: 0, epoch: 0), 0)
        /// `nil` instead of an empty array, which each copy would retain.
        private var others: [Entry]?

        /// The only entry; `nil` unless there is exactly one.
        @inline(__always) var only: Entry? { head.counter > 0 && others == nil ? head : nil }

        public var startIndex: Int { 0 }

        public var endIndex: Int { head.counter == 0 ? 0 : 1 + (others?.count ?? 0) }

        public fileprivate(set) subscript(index: Int) -> Entry {
            get {
                precondition(index < endIndex, "there are no more entries")
                return index == 0 ? head : others![index - 1]
            }
            set {
                if index == 0 { head = newValue } else { others![index - 1] = newValue }
            }
        }

        fileprivate mutating func insert(_ entry: Entry, at index: Int) {
            if head.counter == 0 {
                head = entry
                return
            }
            var rest = others ?? []
            if index == 0 {
                rest.insert(head, at: 0)
                head = entry
            } else {
                rest.insert(entry, at: index - 1)
            }
            others = rest
        }
    }
}
