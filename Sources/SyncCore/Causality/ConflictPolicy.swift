// Which value stands while there are siblings, who is told, and when siblings go.
//
// Always holds: what stands is a function of the siblings alone, so it is the same at every copy;
// siblings are dropped by writes, never by a join, or the order of joins would show.

/// The order of siblings: stamp, then replica, then counter.
public struct SiblingRank: Hashable, Sendable, Comparable {
    /// When it was written.
    public let stamp: HybridTimestamp
    /// The write.
    public let dot: Dot

    /// The rank of the write `dot`, made at `stamp`.
    public init(stamp: HybridTimestamp, dot: Dot) {
        self.stamp = stamp
        self.dot = dot
    }

    /// Earlier stamps first; the dot decides between equal ones.
    public static func < (left: SiblingRank, right: SiblingRank) -> Bool {
        left.stamp != right.stamp ? left.stamp < right.stamp : left.dot < right.dot
    }
}

/// A value that may have concurrent ones beside it: a register's sibling, a counter's base.
public protocol Concurrent: Hashable, Sendable {
    /// The write that it came from.
    var dot: Dot { get }
    /// When it was written.
    var stamp: HybridTimestamp { get }
    /// What a toggle's policy looks at; `nil` for what is no boolean.
    var flag: Bool? { get }
}

extension Concurrent {
    /// Its place in the order of siblings.
    public var rank: SiblingRank { SiblingRank(stamp: stamp, dot: dot) }
}

/// What a control does about concurrent edits: `onConflict` in a form's definition.
public enum ConflictPolicy: String, Hashable, Sendable, CaseIterable {
    /// The greatest stamp stands; the next write drops the others.
    case latest
    /// The greatest stamp stands; the others are shown until somebody who saw them chooses.
    case ask
    /// The first one stands; a stale sender is refused.
    case first
    /// True stands whenever any sibling has it: an emergency stop.
    case trueWins
    /// False stands whenever any sibling has it: consent.
    case falseWins

    /// Siblings that a write under `ask` leaves at most; the oldest beyond collapse. Enough for
    /// every person in a room to disagree, and a bound for a client that always says it has seen
    /// nothing.
    public static let siblingsMax = 16

    /// The sibling that readers see; `nil` where there is none.
    public func standing<S: Concurrent>(_ siblings: [S]) -> S? {
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

    /// The siblings that `state.get` lists as `conflict`, greatest rank first: all but the standing
    /// one under `ask`, none under the other policies.
    public func listed<S: Concurrent>(_ siblings: [S]) -> [S] {
        self == .ask ? others(siblings) : []
    }

    /// All siblings but the standing one, greatest rank first: what the one notification of a
    /// concurrent edit carries as `conflict`.
    public func others<S: Concurrent>(_ siblings: [S]) -> [S] {
        guard siblings.count > 1, let standing = standing(siblings) else { return [] }
        return siblings.filter { $0.dot != standing.dot }.sorted { $0.rank > $1.rank }
    }

    /// Whether a write of somebody who had seen `seen` is refused with `conflict`: under `first`,
    /// where a sibling is there that the writer has not seen.
    public func refuses<S: Concurrent>(_ siblings: [S], seen: Seen) -> Bool {
        self == .first && !siblings.allSatisfy { seen.covers($0.dot) }
    }

    /// What becomes of the siblings that are there when somebody who had seen `seen` writes.
    ///
    /// Under `latest`, `trueWins` and `falseWins` those that did not stand go too: their authors
    /// were told when they lost. Under `ask` and `first` the oldest go when more than
    /// `siblingsMax`, the new one counted, would be left.
    public func fate<S: Concurrent>(of siblings: [S], seen: Seen) -> SiblingFate<S> {
        var fate = SiblingFate<S>()
        if siblings.allSatisfy({ seen.covers($0.dot) }) {
            fate.covered = siblings
            return fate
        }
        let standing = standing(siblings)
        for sibling in siblings {
            if seen.covers(sibling.dot) {
                fate.covered.append(sibling)
            } else if dropsLosers, sibling.dot != standing?.dot {
                fate.collapsed.append(sibling)
            } else {
                fate.concurrent.append(sibling)
            }
        }
        let spare = fate.concurrent.count - (Self.siblingsMax - 1)
        if spare > 0 {
            let oldest = fate.concurrent.sorted { $0.rank < $1.rank }.prefix(spare)
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

/// What a write does to the siblings that were there, each list in order of dots but for collapsed
/// ones.
public struct SiblingFate<Sibling: Concurrent>: Hashable, Sendable {
    /// The writer had seen them: superseded, no conflict.
    public internal(set) var covered: [Sibling] = []
    /// The writer had not seen them; dropped as losers that were told before, or as the oldest.
    public internal(set) var collapsed: [Sibling] = []
    /// The writer had not seen them; they stay beside the new value.
    public internal(set) var concurrent: [Sibling] = []

    /// A write that met nothing.
    public init() {}
}
