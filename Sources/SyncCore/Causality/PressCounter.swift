// replica -> number of presses: buttons. All count.
//
// Always holds: of one replica the entry with the greatest counter alone is counted. Deltas that
// overtook others may leave an earlier one beside it for a while; it goes when the others arrive.
// It stays, uncounted, where a backup that was put back has taken those from everybody.

/// How often a button was pressed, each replica counting its own.
///
/// A grow-only counter whose entries are dots, so that it joins as every store does.
public struct PressCounter: DotStore {
    /// The presses that one replica has counted.
    public struct Entry: Hashable, Sendable, Dotted {
        /// The last of them.
        public let dot: Dot
        /// How many they are.
        public let presses: UInt64

        /// `presses` of `dot.replica`, the last of them the write `dot`.
        public init(dot: Dot, presses: UInt64) {
            self.dot = dot
            self.presses = presses
        }
    }

    private var content: DotFunction<Entry>

    /// The button that nobody has pressed.
    public init() {
        content = DotFunction()
    }

    /// The counter of these entries; `nil` unless they are sorted by dot and distinct.
    public init?(sorted entries: [Entry]) {
        guard let content = DotFunction(sorted: entries) else { return nil }
        self.content = content
    }

    /// The presses of each replica, sorted by dot.
    public var entries: [Entry] { content.entries }

    public var isEmpty: Bool { content.isEmpty }

    public var dots: [Dot] { content.dots }

    /// All presses; 2^64 - 1 stands for more.
    public var presses: UInt64 {
        content.newestOfEachReplica.reduce(0) { Self.saturating($0, $1.presses) }
    }

    /// Counts a press as the fresh `dot` of the replica that holds this copy.
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
