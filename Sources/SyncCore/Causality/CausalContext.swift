// Which writes have been seen: a version vector and a few loose dots above it.
//
// Always holds: loose dots are sorted and distinct, and each lies above its replica's vector entry
// with a gap between; one that touches the entry is folded into it at once. So two contexts are
// equal exactly when they name the same writes. No operation costs more than the number of entries,
// whatever the counters are.

/// A set of dots, kept as a version vector plus loose dots above it.
///
/// Loose dots come from deltas that overtook others and from clients that saw their own write but
/// not a neighbour's. Almeida, Shoker, Baquero, "Delta State Replicated Data Types", JPDC 2018,
/// section 7.1 ("causal context compression").
public struct CausalContext: Hashable, Sendable {
    /// All writes up to these counters.
    public private(set) var vector: VersionVector
    /// Single writes above the vector, sorted, never touching it.
    public private(set) var loose: [Dot]

    /// The context that has seen nothing.
    public init() {
        vector = VersionVector()
        loose = []
    }

    /// The context that has seen `vector` and the dots of `loose`, in any order.
    public init(_ vector: VersionVector, loose: some Sequence<Dot> = EmptyCollection()) {
        self.vector = vector
        self.loose = []
        for dot in loose { insert(dot) }
    }

    /// The context that has seen exactly these dots.
    public init(dots: some Sequence<Dot>) {
        self.init(VersionVector(), loose: dots)
    }

    /// Whether nothing has been seen.
    public var isEmpty: Bool { vector.isEmpty && loose.isEmpty }

    /// Whether the write `dot` has been seen.
    public func contains(_ dot: Dot) -> Bool {
        if vector.contains(dot) { return true }
        if loose.isEmpty { return false }
        let index = position(of: dot)
        return index < loose.count && loose[index] == dot
    }

    /// Whether every write that this has seen is in `other`.
    public func isSubset(of other: CausalContext) -> Bool {
        for entry in vector.entries where other.vector[entry.replica] < entry.counter {
            return false
        }
        return loose.allSatisfy(other.contains)
    }

    /// The highest counter seen of `replica`, loose dots included; 0 for none.
    ///
    /// A peer that shows a higher one for our own id has seen writes that this store has lost: time
    /// for a new epoch.
    public func highestCounter(of replica: ReplicaID) -> UInt64 {
        let last = position(of: Dot(replica, .max))
        if last < loose.count, loose[last].replica == replica { return loose[last].counter }
        if last > 0, loose[last - 1].replica == replica { return loose[last - 1].counter }
        return vector[replica]
    }

    /// The dot that `replica` issues next; `nil` after 2^64 - 1 writes.
    ///
    /// Only the replica itself may use it, once, and only on its own stored context.
    public func nextDot(for replica: ReplicaID) -> Dot? {
        let highest = highestCounter(of: replica)
        return highest == .max ? nil : Dot(replica, highest + 1)
    }

    /// Notes that the write `dot` has been seen; there is no write 0.
    public mutating func insert(_ dot: Dot) {
        guard dot.counter > 0, !contains(dot) else { return }
        // The subtraction cannot wrap: the dot is above the entry, so its counter is at least 1.
        if dot.counter - 1 == vector[dot.replica] {
            vector.raise(dot.replica, to: dot.counter)
            fold(dot.replica)
        } else if loose.isEmpty {
            // The token of each answer is one such dot: a quarter of the work of an insertion.
            loose = [dot]
        } else {
            loose.insert(dot, at: position(of: dot))
        }
    }

    /// Notes every write that `other` has seen.
    public mutating func formUnion(_ other: CausalContext) {
        if other.isEmpty { return }
        for entry in other.vector.entries where vector[entry.replica] < entry.counter {
            vector.raise(entry.replica, to: entry.counter)
            fold(entry.replica)
        }
        for dot in other.loose { insert(dot) }
    }

    /// The writes that either has seen.
    public func union(_ other: CausalContext) -> CausalContext {
        var result = self
        result.formUnion(other)
        return result
    }

    /// The writes that both have seen.
    ///
    /// This is how a client's token is cut to what a store knows: what is left can name nothing
    /// that the store has not committed, however the token was forged.
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

    /// This context without the loose dots that `isHeld` says no store holds any more.
    ///
    /// They say nothing that matters: a dot that is in no store cannot be superseded. Without this
    /// the token of a person who types beside another would grow with every key.
    public func prunedLoose(where isHeld: (Dot) -> Bool) -> CausalContext {
        var result = self
        result.loose.removeAll { !isHeld($0) }
        return result
    }

    /// Folds the loose dots of `replica` that its entry has reached, and drops those it has passed.
    private mutating func fold(_ replica: ReplicaID) {
        if loose.isEmpty { return }
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

    /// Where `dot` is among the loose ones, or would be inserted.
    private func position(of dot: Dot) -> Int {
        var low = 0
        var high = loose.count
        while low < high {
            let middle = (low + high) / 2
            if loose[middle] < dot { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension CausalContext: CustomStringConvertible {
    /// The token form, for test failures and logs.
    public var description: String { ContextToken.render(self) }
}
