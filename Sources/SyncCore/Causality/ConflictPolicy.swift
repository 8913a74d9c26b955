// Conflict policies: which sibling is the current value, who is told, and when siblings are
// removed.
//
// Invariants: the current value is a function of the siblings alone, so all copies agree. Siblings
// are removed by writes, never by a join; otherwise the result would depend on the order of joins.

/// The order of siblings: timestamp, then replica, then counter.
public struct SiblingRank: Hashable, Sendable, Comparable {
    /// When it was written.
    public let stamp: HybridTimestamp
    /// The write.
    public let dot: Dot

    /// The rank of the write `dot` with the timestamp `stamp`.
    public init(stamp: HybridTimestamp, dot: Dot) {
        self.stamp = stamp
        self.dot = dot
    }

    /// Earlier timestamps first. The dot decides between equal timestamps.
    public static func < (left: SiblingRank, right: SiblingRank) -> Bool {
        left.stamp != right.stamp ? left.stamp < right.stamp : left.dot < right.dot
    }
}

/// A value that can have concurrent values: a register's sibling, a counter's base.
public protocol Concurrent: Hashable, Sendable {
    /// The dot of its write.
    var dot: Dot { get }
    /// When it was written.
    var stamp: HybridTimestamp { get }
    /// The value for a toggle's policy; `nil` if it is not a boolean.
    var flag: Bool? { get }
}

extension Concurrent {
    /// Its rank among the siblings.
    public var rank: SiblingRank { SiblingRank(stamp: stamp, dot: dot) }
}

/// How a control handles concurrent edits: `onConflict` in a form's definition.
public enum ConflictPolicy: String, Hashable, Sendable, CaseIterable {
    /// The sibling with the greatest timestamp is current; the next write removes the others.
    case latest
    /// The sibling with the greatest timestamp is current; the others are shown until somebody who
    /// has seen them chooses.
    case ask
    /// The first sibling is current; a sender who has not seen it is rejected.
    case first
    /// True if any sibling is true: for an emergency stop.
    case trueWins
    /// False if any sibling is false: for consent.
    case falseWins

    /// The most siblings that remain after a write under `ask`; the oldest ones beyond are removed.
    /// Enough for every member of a team to disagree, and a limit for a client that always claims
    /// to have seen nothing.
    public static let siblingsMax = 16

    /// The current sibling; `nil` if there is none.
    public func current<S: Concurrent>(_ siblings: [S]) -> S? {
        if siblings.count < 2 { return siblings.first }
        return switch self {
        case .latest, .ask: Self.greatest(siblings)
        case .first: siblings.min { $0.rank < $1.rank }
        case .trueWins:
            Self.greatest(siblings.filter { $0.flag == true }) ?? Self.greatest(siblings)
        case .falseWins:
            Self.greatest(siblings.filter { $0.flag == false }) ?? Self.greatest(siblings)
        }
    }

    /// The siblings in `conflict` of `state.get`, greatest rank first: all except the current one
    /// under `ask`, none under other policies.
    public func listed<S: Concurrent>(_ siblings: [S]) -> [S] {
        self == .ask ? others(siblings) : []
    }

    /// All siblings except the current one, greatest rank first: `conflict` in the notification of
    /// a concurrent edit.
    public func others<S: Concurrent>(_ siblings: [S]) -> [S] {
        guard siblings.count > 1, let current = current(siblings) else { return [] }
        return siblings.filter { $0.dot != current.dot }.sorted { $0.rank > $1.rank }
    }

    /// The fate of the siblings when an author who had seen `seen` writes.
    ///
    /// Under `latest`, `trueWins` and `falseWins`, siblings that were not current are removed too;
    /// their authors were told when they lost. Under `ask` and `first`, the oldest are removed if
    /// there would be more than `siblingsMax`, including the new one.
    public func fate<S: Concurrent>(of siblings: [S], seen: Seen) -> SiblingFate<S> {
        var fate = SiblingFate<S>()
        if siblings.allSatisfy({ seen.covers($0.dot) }) {
            fate.covered = siblings
            return fate
        }
        let current = current(siblings)
        for sibling in siblings {
            if seen.covers(sibling.dot) {
                fate.covered.append(sibling)
            } else if dropsLosers, sibling.dot != current?.dot {
                fate.collapsed.append(sibling)
            } else {
                fate.concurrent.append(sibling)
            }
        }
        let excess = fate.concurrent.count - (Self.siblingsMax - 1)
        if excess > 0 {
            let oldest = fate.concurrent.sorted { $0.rank < $1.rank }.prefix(excess)
            fate.collapsed += oldest
            fate.concurrent.removeAll { one in oldest.contains { $0.dot == one.dot } }
        }
        return fate
    }

    private var dropsLosers: Bool {
        switch self {
        case .latest, .trueWins, .falseWins: true
        case .ask, .first: false
        }
    }

    private static func greatest<S: Concurrent>(_ siblings: [S]) -> S? {
        siblings.max { $0.rank < $1.rank }
    }
}

/// The effect of a write on the existing siblings. Each list is in order of dots, except
/// `collapsed`.
public struct SiblingFate<Sibling: Concurrent>: Hashable, Sendable {
    /// The author had seen them: superseded, not a conflict.
    public internal(set) var covered: [Sibling] = []
    /// The author had not seen them. Removed because they had lost before, or because they are the
    /// oldest.
    public internal(set) var collapsed: [Sibling] = []
    /// The author had not seen them. They stay beside the new value.
    public internal(set) var concurrent: [Sibling] = []

    /// A write without siblings.
    public init() {}
}
