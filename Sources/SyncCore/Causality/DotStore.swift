// What a form keeps below its one causal context: stores of dots.
//
// Always holds: a store is canonical (equal contents are equal values), every dot in it is in the
// context that goes with it, and a dot that is in the context but in no store has been seen and
// superseded. That is why a removal leaves nothing behind.

/// A part of a form's state that is made of dots.
///
/// With a context beside it a store is a join semilattice: `join` is commutative, associative,
/// idempotent and monotone. Almeida, Shoker, Baquero, "Delta State Replicated Data Types", JPDC
/// 2018, section 7 (figure 4).
public protocol DotStore: Hashable, Sendable {
    /// The store that holds nothing.
    init()

    /// Whether it holds nothing.
    var isEmpty: Bool { get }

    /// The dots that it holds, sorted and distinct.
    var dots: [Dot] { get }

    /// Joins another copy into this one.
    ///
    /// A dot stays when both have it, or when one has it and the other's context has not seen it.
    mutating func join(_ other: Self, contexts: JoinContexts)

    /// This store with nothing but the dots that are in `context`: what a delta carries.
    func restricted(to context: CausalContext) -> Self

    /// The dots that `before` held somewhere where this store, changed from it, does not.
    ///
    /// A dot that two keys share may leave one and stay under the other: a delta must then speak of
    /// it, so this is more than a difference of `dots`.
    func dropped(since before: Self) -> [Dot]
}

/// The contexts of the two copies that are joined.
public struct JoinContexts: Sendable {
    /// What the copy that is joined into has seen.
    public let own: CausalContext
    /// What the other copy has seen.
    public let other: CausalContext

    /// The contexts of the copy that is joined into, and of the other.
    public init(own: CausalContext, other: CausalContext) {
        self.own = own
        self.other = other
    }

    /// Whether the joined copy has seen `dot`.
    public func eitherContains(_ dot: Dot) -> Bool { own.contains(dot) || other.contains(dot) }
}

/// What the writer of an edit had seen.
public enum Seen: Hashable, Sendable {
    /// Over what is there now: an edit without a token.
    case present
    /// The token's writes and the connection's own, clipped to what the store knows.
    case context(CausalContext)

    /// Whether the writer had seen a write that is in the store.
    public func covers(_ dot: Dot) -> Bool {
        switch self {
        case .present: true
        case .context(let context): context.contains(dot)
        }
    }
}

extension DotStore {
    /// For a store in which no two keys share a dot.
    public func dropped(since before: Self) -> [Dot] {
        let present = dots
        return before.dots.filter { !present.contains($0) }
    }

    /// Whether a writer who had seen `seen` knows all that is there: what `require: "current"`
    /// asks.
    public func isCurrent(for seen: Seen) -> Bool {
        switch seen {
        case .present: true
        case .context(let context): dots.allSatisfy(context.contains)
        }
    }

    /// The join of both copies.
    public func joined(_ other: Self, contexts: JoinContexts) -> Self {
        var result = self
        result.join(other, contexts: contexts)
        return result
    }
}

/// What is kept under a dot of its own.
protocol Dotted: Hashable, Sendable {
    var dot: Dot { get }
}

/// The paper's `DotFun`: a map from dots to values, sorted by dot; an entry knows its dot.
struct DotFunction<Entry: Dotted>: DotStore {
    /// Sorted by dot, distinct.
    private(set) var entries: [Entry]

    init() {
        entries = []
    }

    /// The map of these entries; `nil` unless they are sorted and distinct.
    init?(sorted entries: [Entry]) {
        for index in entries.indices.dropFirst() {
            guard entries[index - 1].dot < entries[index].dot else { return nil }
        }
        self.entries = entries
    }

    var isEmpty: Bool { entries.isEmpty }

    var dots: [Dot] { entries.map(\.dot) }

    /// Adds `entry`, in place of one of the same dot.
    mutating func insert(_ entry: Entry) {
        let index = position(of: entry.dot)
        if index < entries.count, entries[index].dot == entry.dot {
            entries[index] = entry
        } else {
            entries.insert(entry, at: index)
        }
    }

    /// Makes `entry` the only one.
    mutating func replaceAll(with entry: Entry) {
        entries = [entry]
    }

    mutating func remove(_ dot: Dot) {
        entries.removeAll { $0.dot == dot }
    }

    mutating func removeAll(where isOut: (Entry) -> Bool) {
        entries.removeAll(where: isOut)
    }

    mutating func join(_ other: Self, contexts: JoinContexts) {
        var kept: [Entry] = []
        kept.reserveCapacity(entries.count + other.entries.count)
        var left = entries[...]
        var right = other.entries[...]
        while let first = left.first ?? right.first {
            let dot = right.first.map { min(first.dot, $0.dot) } ?? first.dot
            let own = left.first.flatMap { $0.dot == dot ? $0 : nil }
            let theirs = right.first.flatMap { $0.dot == dot ? $0 : nil }
            if own != nil { left.removeFirst() }
            if theirs != nil { right.removeFirst() }
            switch (own, theirs) {
            case (let own?, .some): kept.append(own)
            case (let own?, nil): if !contexts.other.contains(dot) { kept.append(own) }
            case (nil, let theirs?): if !contexts.own.contains(dot) { kept.append(theirs) }
            case (nil, nil): break
            }
        }
        entries = kept
    }

    func restricted(to context: CausalContext) -> Self {
        var result = self
        result.entries.removeAll { !context.contains($0.dot) }
        return result
    }

    /// Of each replica the entry with the greatest counter.
    ///
    /// Running sums are read by these alone: each takes in all before it, though deltas that
    /// overtook others may not have said so yet.
    var newestOfEachReplica: [Entry] {
        entries.indices.compactMap { index in
            let next = index + 1
            let isNewest =
                next == entries.count || entries[next].dot.replica != entries[index].dot.replica
            return isNewest ? entries[index] : nil
        }
    }

    private func position(of dot: Dot) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].dot < dot { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
