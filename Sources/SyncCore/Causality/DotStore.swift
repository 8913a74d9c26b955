// The contents of a form beside its causal context: stores of dots.
//
// Invariants: a store is canonical (equal contents are equal values). Every dot in it is in the
// form's context. A dot that is in the context but in no store has been seen and superseded, which
// is why a removal leaves no data.

/// A part of a form's state that consists of dots.
///
/// Together with a context, a store is a join semilattice: `join` is commutative, associative,
/// idempotent and monotone. Almeida, Shoker, Baquero, "Delta State Replicated Data Types", JPDC
/// 2018, section 7 (figure 4).
public protocol DotStore: Hashable, Sendable {
    /// The empty store.
    init()

    /// Whether the store is empty.
    var isEmpty: Bool { get }

    /// The dots in the store, sorted and distinct.
    var dots: [Dot] { get }

    /// Joins another copy into this one.
    ///
    /// A dot stays if both copies have it, or if one has it and the other's context does not
    /// contain it.
    mutating func join(_ other: Self, contexts: JoinContexts)

    /// This store with only the dots in `context`: the content of a delta.
    func restricted(to context: CausalContext) -> Self

    /// The dots that were removed from any place in the store since `before`.
    ///
    /// Two keys can share a dot, so it may be removed from one and remain under the other. A delta
    /// must then contain it, so this is more than a difference of `dots`.
    func dropped(since before: Self) -> [Dot]
}

/// The contexts of two copies that are joined.
public struct JoinContexts: Sendable {
    /// The context of the copy that is changed.
    public let own: CausalContext
    /// The context of the other copy.
    public let other: CausalContext

    /// These contexts.
    public init(own: CausalContext, other: CausalContext) {
        self.own = own
        self.other = other
    }

    /// Whether either copy has seen `dot`.
    public func eitherContains(_ dot: Dot) -> Bool { own.contains(dot) || other.contains(dot) }
}

/// What the author of an edit had seen.
public enum Seen: Hashable, Sendable {
    /// Everything that is there now: an edit without a token.
    case present
    /// The writes of the token and of the connection, clipped to those that the store knows.
    case context(CausalContext)

    /// Whether the author had seen a write that is in the store.
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

    /// Whether an author who had seen `seen` has seen all of the store: `require: "current"`.
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

protocol Dotted: Hashable, Sendable {
    var dot: Dot { get }
}

/// The paper's `DotFun`: a map from dots to values, sorted by dot. An entry contains its dot.
struct DotFunction<Entry: Dotted>: DotStore {
    /// Sorted by dot, distinct.
    private(set) var entries: [Entry]

    init() {
        entries = []
    }

    /// A map with these entries; `nil` unless they are sorted and distinct.
    init?(sorted entries: [Entry]) {
        for index in entries.indices.dropFirst() {
            guard entries[index - 1].dot < entries[index].dot else { return nil }
        }
        self.entries = entries
    }

    var isEmpty: Bool { entries.isEmpty }

    var dots: [Dot] { entries.map(\.dot) }

    /// Inserts `entry`, or replaces the one with the same dot.
    mutating func insert(_ entry: Entry) {
        let index = position(of: entry.dot)
        if index < entries.count, entries[index].dot == entry.dot {
            entries[index] = entry
        } else {
            entries.insert(entry, at: index)
        }
    }

    /// Removes all entries except `entry`.
    mutating func replaceAll(with entry: consuming Entry) {
        entries = [entry]
    }

    mutating func remove(_ dot: Dot) {
        entries.removeAll { $0.dot == dot }
    }

    mutating func removeAll(where isGone: (Entry) -> Bool) {
        entries.removeAll(where: isGone)
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

    /// The entry of each replica with the greatest counter.
    ///
    /// Only these contain the running sums: each one includes all before it, even if deltas arrive
    /// out of order.
    var newestOfEachReplica: [Entry] {
        entries.indices.compactMap { index in
            let next = index + 1
            let isNewest =
                next == entries.count || entries[next].dot.replica != entries[index].dot.replica
            return isNewest ? entries[index] : nil
        }
    }

    private func position(of dot: Dot) -> Int {
        entries.partitionIndex { !($0.dot < dot) }
    }
}
