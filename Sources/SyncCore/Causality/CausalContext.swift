// A set of writes that have been seen: a version vector and a few loose dots above it.
//
// Invariants: loose dots are sorted and distinct. Each is above its replica's vector entry with a
// gap in between; a dot without a gap is folded into the entry at once. So two contexts are equal
// exactly if they contain the same writes. The cost of an operation depends on the number of
// entries, not on the counters.

/// A set of dots, stored as a version vector and loose dots above it.
///
/// Loose dots come from deltas that arrive out of order, and from clients that have seen their own
/// write but not an earlier one. Almeida, Shoker, Baquero, "Delta State Replicated Data Types",
/// JPDC 2018, section 7.1 ("causal context compression").
public struct CausalContext: Hashable, Sendable {
    /// All writes up to these counters.
    public private(set) var vector: VersionVector
    /// Single writes above the vector, sorted, with gaps.
    public private(set) var loose: [Dot] {
        get { looseDots ?? [] }
        _modify {
            var dots = looseDots ?? []
            looseDots = nil
            defer { looseDots = dots.isEmpty ? nil : dots }
            yield &dots
        }
    }
    /// `nil` instead of an empty array, because nearly every context has none, and a copy would
    /// retain the array.
    private var looseDots: [Dot]?

    /// The empty context.
    public init() { vector = VersionVector() }

    /// The context of `vector` and the dots of `loose`, in any order.
    public init(_ vector: VersionVector, loose: some Sequence<Dot> = EmptyCollection()) {
        self.vector = vector
        for dot in loose { insert(dot) }
    }

    /// The context of exactly these dots.
    public init(dots: some Sequence<Dot>) {
        self.init(VersionVector(), loose: dots)
    }

    /// Whether the context is empty.
    public var isEmpty: Bool { vector.isEmpty && !hasLoose }

    @inline(__always) var hasLoose: Bool { looseDots != nil }

    /// The only entry of the vector, if the context has nothing else.
    @inline(__always) var only: VersionVector.Entry? { hasLoose ? nil : vector.entries.only }

    /// Whether the context contains the write `dot`.
    public func contains(_ dot: Dot) -> Bool {
        if vector.contains(dot) { return true }
        if !hasLoose { return false }
        let index = position(of: dot)
        return index < loose.count && loose[index] == dot
    }

    /// Whether `other` contains every write of this context.
    public func isSubset(of other: CausalContext) -> Bool {
        for entry in vector.entries where other.vector[entry.replica] < entry.counter {
            return false
        }
        return loose.allSatisfy(other.contains)
    }

    /// The highest counter of `replica`, loose dots included; 0 for none.
    ///
    /// If a peer knows a higher counter of our own id than we do, this store has lost writes and
    /// needs a new epoch.
    @inline(__always)
    public func highestCounter(of replica: ReplicaID) -> UInt64 {
        // Nearly always, and then nothing is copied.
        if !hasLoose, let only = vector.entries.only, only.replica == replica {
            return only.counter
        }
        return searchedCounter(of: replica)
    }

    private func searchedCounter(of replica: ReplicaID) -> UInt64 {
        let last = position(of: Dot(replica, .max))
        if last < loose.count, loose[last].replica == replica { return loose[last].counter }
        if last > 0, loose[last - 1].replica == replica { return loose[last - 1].counter }
        return vector[replica]
    }

    /// The next dot of `replica`; `nil` after 2^64 - 1 writes.
    ///
    /// Only the replica itself may use it, once, and only on its own stored context.
    @inline(__always)
    public func nextDot(for replica: ReplicaID) -> Dot? {
        let highest = highestCounter(of: replica)
        return highest == .max ? nil : Dot(replica, highest + 1)
    }

    /// Adds the write `dot`. There is no write 0.
    public mutating func insert(_ dot: Dot) {
        let known = vector[dot.replica]
        guard dot.counter > known else { return }
        if dot.counter - 1 == known {
            vector.raise(dot.replica, to: dot.counter)
            fold(dot.replica)
        } else if !hasLoose {
            // The token of each answer is one such dot, and this is faster than an insertion.
            looseDots = [dot]
        } else {
            let index = position(of: dot)
            if index == loose.count || loose[index] != dot { loose.insert(dot, at: index) }
        }
    }

    /// Adds every write of `other`.
    public mutating func formUnion(_ other: CausalContext) {
        if other.isEmpty { return }
        for entry in other.vector.entries where vector[entry.replica] < entry.counter {
            vector.raise(entry.replica, to: entry.counter)
            fold(entry.replica)
        }
        for dot in other.looseDots ?? [] { insert(dot) }
    }

    /// The union of both contexts.
    public func union(_ other: CausalContext) -> CausalContext {
        var result = self
        result.formUnion(other)
        return result
    }

    /// The intersection of both contexts.
    ///
    /// A client's token is clipped to the writes that the store knows. Whatever the client forged,
    /// the result contains only committed writes.
    public func clipped(to known: CausalContext) -> CausalContext {
        var result = CausalContext()
        for entry in vector.entries {
            let counter = min(entry.counter, known.vector[entry.replica])
            result.vector.raise(entry.replica, to: counter)
        }
        for dot in loose where known.contains(dot) { result.insert(dot) }
        for dot in known.loose where contains(dot) { result.insert(dot) }
        return result
    }

    /// This context without the loose dots that are in no store, as `isHeld` reports.
    ///
    /// They have no effect, because a dot that is in no store cannot be superseded. Without this,
    /// the token of a user who types while another one types would grow with every key.
    public func prunedLoose(where isHeld: (Dot) -> Bool) -> CausalContext {
        var result = self
        result.loose.removeAll { !isHeld($0) }
        return result
    }

    /// Folds the loose dots of `replica` that are next to its entry, and removes those below it.
    private mutating func fold(_ replica: ReplicaID) {
        if !hasLoose { return }
        let start = position(of: Dot(replica, 0))
        var end = start
        var counter = vector[replica]
        while end < loose.count, loose[end].replica == replica {
            let next = loose[end].counter
            // `next - 1` cannot wrap: there is no loose dot with counter 0.
            guard next - 1 <= counter else { break }
            counter = max(counter, next)
            end += 1
        }
        guard end > start else { return }
        loose.removeSubrange(start..<end)
        vector.raise(replica, to: counter)
    }

    /// The index of `dot` in the loose dots, or where it would be inserted.
    private func position(of dot: Dot) -> Int {
        loose.partitionIndex { !($0 < dot) }
    }
}

extension CausalContext: CustomStringConvertible {
    /// The token form, for test failures and logs.
    public var description: String { ContextToken.render(self) }
}
