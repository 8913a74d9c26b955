// replica -> number of presses, for buttons. All presses count.
//
// Invariant: only the entry of each replica with the greatest counter is counted. If deltas arrive
// out of order, an earlier entry may exist until the others arrive. It stays, uncounted, if a
// restored backup has removed those from all copies.

/// The number of presses of a button. Each replica counts its own.
///
/// A grow-only counter whose entries have dots, so that it can be joined like any store.
public struct PressCounter: DotStore {
    /// The presses that one replica has counted.
    public struct Entry: Hashable, Sendable, Dotted {
        /// The last press.
        public let dot: Dot
        /// The number of presses.
        public let presses: UInt64

        /// `presses` of `dot.replica`; the last of them is the write `dot`.
        public init(dot: Dot, presses: UInt64) {
            self.dot = dot
            self.presses = presses
        }
    }

    private var content: DotFunction<Entry>

    /// A button that nobody has pressed.
    public init() {
        content = DotFunction()
    }

    /// A counter with these entries; `nil` unless they are sorted by dot and distinct.
    public init?(sorted entries: [Entry]) {
        guard let content = DotFunction(sorted: entries) else { return nil }
        self.content = content
    }

    /// The presses of each replica, sorted by dot.
    public var entries: [Entry] { content.entries }

    public var isEmpty: Bool { content.isEmpty }

    public var dots: [Dot] { content.dots }

    /// All presses, at most 2^64 - 1.
    public var presses: UInt64 {
        content.newestOfEachReplica.reduce(0) { Self.saturating($0, $1.presses) }
    }

    /// Counts a press with the new `dot` of this copy's replica.
    public mutating func press(dot: Dot) {
        var total: UInt64 = 1
        for entry in content.newestOfEachReplica where entry.dot.replica == dot.replica {
            total = Self.saturating(total, entry.presses)
        }
        content.removeAll { $0.dot.replica == dot.replica }
        content.insert(Entry(dot: dot, presses: total))
    }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        content.join(other.content, contexts: contexts)
    }

    public func restricted(to context: CausalContext) -> Self {
        var result = self
        result.content = content.restricted(to: context)
        return result
    }

    private static func saturating(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? .max : sum
    }
}
