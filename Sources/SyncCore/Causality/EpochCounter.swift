// dot -> set value, or dot -> (epoch, running sum of one replica's increments): steppers, sliders,
// gauges. Every increment counts; a new set drops those that it had seen.
//
// Always holds: no increments are kept whose epoch (the set that they add to) has been superseded;
// an epoch that has not arrived yet keeps its increments waiting. Of one replica and epoch the
// newest running sum alone is read, and alone kept once all deltas are there: the store does not
// grow with presses.

/// A number that can be set and incremented at once by several replicas.
///
/// A causal counter in the manner of Almeida et al., JPDC 2018, section 7.4 (`CCounter`), whose
/// increments belong to the write that they add to.
public struct EpochCounter: DotStore {
    /// A value that was set: what increments add to.
    public struct Base: Hashable, Sendable, Concurrent {
        /// The write, which is the epoch of the increments that add to it.
        public let dot: Dot
        /// When it was written.
        public let stamp: HybridTimestamp
        /// The value set; `nil` for a reset to the default, which is a write too.
        public let value: DecimalNumber?
        /// Who set it.
        public let author: Author

        /// `value`, set by `author` as the write `dot` at `stamp`.
        public init(dot: Dot, stamp: HybridTimestamp, value: DecimalNumber?, author: Author) {
            self.dot = dot
            self.stamp = stamp
            self.value = value
            self.author = author
        }

        /// A number is no boolean.
        public var flag: Bool? { nil }
    }

    /// One replica's increments to one base.
    public struct Increments: Hashable, Sendable {
        /// The last of them.
        public let dot: Dot
        /// The set that they add to; `nil` for the default of a field that nobody had set.
        public let epoch: Dot?
        /// Their sum.
        public let sum: DecimalNumber

        /// The increments of `dot.replica` to `epoch`, the last of them the write `dot`.
        public init(dot: Dot, epoch: Dot?, sum: DecimalNumber) {
            self.dot = dot
            self.epoch = epoch
            self.sum = sum
        }
    }

    private enum Content: Dotted {
        case base(Base)
        case increments(Increments)

        var dot: Dot {
            switch self {
            case .base(let base): base.dot
            case .increments(let increments): increments.dot
            }
        }
    }

    private var content: DotFunction<Content>

    /// The counter that nobody has touched.
    public init() {
        content = DotFunction()
    }

    /// The counter of these parts; `nil` where a dot comes twice.
    public init?(bases: [Base], increments: [Increments]) {
        var entries = bases.map(Content.base) + increments.map(Content.increments)
        entries.sort { $0.dot < $1.dot }
        guard let content = DotFunction(sorted: entries) else { return nil }
        self.content = content
    }

    public var isEmpty: Bool { content.isEmpty }

    public var dots: [Dot] { content.dots }

    /// The values that were set, sorted by dot: siblings where there are several.
    public var bases: [Base] {
        content.entries.compactMap { if case .base(let base) = $0 { base } else { nil } }
    }

    /// The increments of each replica, sorted by dot.
    public var increments: [Increments] {
        content.entries.compactMap { entry in
            if case .increments(let increments) = entry { increments } else { nil }
        }
    }

    /// What `base` reads with its increments, bounds left aside; `nil` where the exact sum leaves
    /// what a `DecimalNumber` holds.
    ///
    /// - Parameters:
    ///   - base: One of `bases`, or `nil` for a field that nobody has set.
    ///   - initial: The default, which a reset and an unset field start from.
    public func value(of base: Base?, default initial: DecimalNumber) -> DecimalNumber? {
        Self.sum([base?.value ?? initial] + sums(epoch: base?.dot))
    }

    /// The number before bounds under `policy`; `nil` where it leaves what a `DecimalNumber` holds.
    public func value(_ policy: ConflictPolicy, default initial: DecimalNumber) -> DecimalNumber? {
        value(of: policy.standing(bases), default: initial)
    }

    /// Sets the number as the fresh `dot`, for somebody who had seen `seen`; `nil` resets it.
    ///
    /// The increments that add to a dropped base go with it, seen or not: their epoch is over.
    /// Those that were made on the default go where they were seen, and are not read beside a base.
    ///
    /// - Returns: what became of the values that were set before.
    @discardableResult
    public mutating func set(
        _ value: DecimalNumber?, author: Author, dot: Dot, stamp: HybridTimestamp, seen: Seen,
        policy: ConflictPolicy
    ) -> SiblingFate<Base> {
        let fate = policy.fate(of: bases, seen: seen)
        let ended = (fate.covered + fate.collapsed).map(\.dot)
        content.removeAll { entry in
            switch entry {
            case .base(let base): ended.contains(base.dot)
            case .increments(let increments):
                increments.epoch.map(ended.contains) ?? seen.covers(increments.dot)
            }
        }
        content.insert(.base(Base(dot: dot, stamp: stamp, value: value, author: author)))
        return fate
    }

    /// Adds `difference` to `base` as the fresh `dot` of the replica that holds this copy.
    ///
    /// A daemon gives the difference between the bounded result and the present sum, so that a
    /// press past an end leaves nothing to undo. The replica's own running sum takes it in.
    ///
    /// - Parameter base: The one that stands, or `nil` for a field that nobody has set.
    /// - Returns: whether it was added; `false` where the running sum would leave what a
    ///   `DecimalNumber` holds, and then nothing is changed.
    public mutating func increment(by difference: DecimalNumber, base: Base?, dot: Dot) -> Bool {
        let own = increments.filter { $0.dot.replica == dot.replica && $0.epoch == base?.dot }
        guard let sum = (own.last?.sum ?? .zero).adding(difference) else { return false }
        for one in own { content.remove(one.dot) }
        content.insert(.increments(Increments(dot: dot, epoch: base?.dot, sum: sum)))
        return true
    }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        content.join(other.content, contexts: contexts)
        let living = bases.map(\.dot)
        // This is lawful because it only anticipates: an epoch that one copy has seen and lacks is
        // dropped from every join with that copy, whatever comes first.
        content.removeAll { entry in
            guard case .increments(let one) = entry, let epoch = one.epoch else { return false }
            return contexts.eitherContains(epoch) && !living.contains(epoch)
        }
    }

    public func restricted(to context: CausalContext) -> Self {
        var result = self
        result.content = content.restricted(to: context)
        return result
    }

    /// The running sum of each replica: that of its greatest counter, which took in all before it
    /// (deltas that overtook others may have left an earlier one for a while).
    private func sums(epoch: Dot?) -> [DecimalNumber] {
        let all = increments.filter { $0.epoch == epoch }
        return all.indices.compactMap { index in
            let next = index + 1
            let isNewest = next == all.count || all[next].dot.replica != all[index].dot.replica
            return isNewest ? all[index].sum : nil
        }
    }

    /// The exact sum, in an order that keeps the running total small: that of the values alone, so
    /// every copy comes to the same answer.
    private static func sum(_ numbers: [DecimalNumber]) -> DecimalNumber? {
        var up = numbers.filter { $0 > .zero }.sorted()
        var down = numbers.filter { $0 < .zero }.sorted(by: >)
        var total = DecimalNumber.zero
        while !up.isEmpty || !down.isEmpty {
            let next =
                total > .zero && !down.isEmpty || up.isEmpty ? down.removeLast() : up.removeLast()
            guard let sum = total.adding(next) else { return nil }
            total = sum
        }
        return total
    }
}
