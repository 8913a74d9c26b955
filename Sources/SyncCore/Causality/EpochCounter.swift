// dot -> set value, or dot -> (epoch, running sum of one replica's increments), for steppers,
// sliders and gauges. Every increment counts. A new set removes the increments that its author had
// seen.
//
// Invariants: increments are not kept after their epoch (the set that they add to) has been
// superseded. Increments of an epoch that has not arrived yet are kept until it does. For each
// replica and epoch, only the newest running sum is used, and only it remains when all deltas have
// arrived, so the store does not grow with presses.

/// A number that several replicas can set and increment concurrently.
///
/// A causal counter like that of Almeida et al., JPDC 2018, section 7.4 (`CCounter`), where
/// increments belong to the write that they add to.
public struct EpochCounter: DotStore {
    /// A set value, which increments add to.
    public struct Base: Hashable, Sendable, Concurrent {
        /// The write, which is the epoch of its increments.
        public let dot: Dot
        /// When it was written.
        public let stamp: HybridTimestamp
        /// The value; `nil` for a reset to the default, which is a write too.
        public let value: DecimalNumber?
        /// The author of the set.
        public let author: Author

        /// Always `nil`: a number is not a boolean.
        public var flag: Bool? { nil }
    }

    /// One replica's increments to one base.
    public struct Increments: Hashable, Sendable {
        /// The last increment.
        public let dot: Dot
        /// The set that they add to; `nil` for the default of a field that nobody had set.
        public let epoch: Dot?
        /// Their sum.
        public let sum: DecimalNumber

        /// The increments of `dot.replica` to `epoch`; the last of them is the write `dot`.
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

    /// A counter that nobody has edited.
    public init() {
        content = DotFunction()
    }

    /// A counter with these parts; `nil` if a dot occurs twice.
    public init?(bases: [Base], increments: [Increments]) {
        var entries = bases.map(Content.base) + increments.map(Content.increments)
        entries.sort { $0.dot < $1.dot }
        guard let content = DotFunction(sorted: entries) else { return nil }
        self.content = content
    }

    public var isEmpty: Bool { content.isEmpty }

    public var dots: [Dot] { content.dots }

    /// The set values, sorted by dot: siblings if there are several.
    public var bases: [Base] {
        content.entries.compactMap { if case .base(let base) = $0 { base } else { nil } }
    }

    /// The increments of each replica, sorted by dot.
    public var increments: [Increments] {
        content.entries.compactMap { entry in
            if case .increments(let increments) = entry { increments } else { nil }
        }
    }

    /// The value of `base` with its increments, before bounds are applied; `nil` if the exact sum
    /// does not fit in a `DecimalNumber`.
    ///
    /// - Parameters:
    ///   - base: One of `bases`, or `nil` for a field that nobody has set.
    ///   - initial: The default, which a reset or unset field starts from.
    public func value(of base: Base?, default initial: DecimalNumber) -> DecimalNumber? {
        let start = base?.value ?? initial
        var only: DecimalNumber?
        for case .increments(let one) in content.entries where one.epoch == base?.dot {
            if only != nil { return Self.sum([start] + sums(epoch: base?.dot)) }
            only = one.sum
        }
        // Nearly always one replica, or none, has incremented a base.
        return only.map(start.adding) ?? start
    }

    /// The number under `policy`, before bounds are applied; `nil` if it does not fit in a
    /// `DecimalNumber`.
    public func value(_ policy: ConflictPolicy, default initial: DecimalNumber) -> DecimalNumber? {
        value(of: policy.current(bases), default: initial)
    }

    /// Sets the number with the new `dot`, for an author who had seen `seen`; `nil` resets it.
    ///
    /// Increments to a removed base are removed with it, whether the author had seen them or not,
    /// because their epoch has ended. Increments to the default are removed if the author had seen
    /// them; the others are ignored as long as there is a base.
    ///
    /// - Returns: the fate of the earlier values.
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

    /// Adds `difference` to `base` with the new `dot` of this copy's replica.
    ///
    /// The daemon passes the difference between the bounded result and the current sum, so a press
    /// at a bound has no effect that would have to be undone. The replica's running sum includes
    /// it.
    ///
    /// - Parameter base: The current base, or `nil` for a field that nobody has set.
    /// - Returns: whether it was added; `false` if the running sum would not fit in a
    ///   `DecimalNumber`, and then nothing changes.
    public mutating func increment(by difference: DecimalNumber, base: Base?, dot: Dot) -> Bool {
        func isOwn(_ one: Increments) -> Bool {
            one.dot.replica == dot.replica && one.epoch == base?.dot
        }
        var before = DecimalNumber.zero
        for case .increments(let one) in content.entries where isOwn(one) { before = one.sum }
        guard let sum = before.adding(difference) else { return false }
        content.removeAll { if case .increments(let one) = $0 { isOwn(one) } else { false } }
        content.insert(.increments(Increments(dot: dot, epoch: base?.dot, sum: sum)))
        return true
    }

    /// Removes a set value with its increments, which count as superseded from then on.
    mutating func remove(base dot: Dot) {
        content.removeAll { entry in
            switch entry {
            case .base(let base): base.dot == dot
            case .increments(let increments): increments.epoch == dot
            }
        }
    }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        content.join(other.content, contexts: contexts)
        let living = bases.map(\.dot)
        // This only anticipates a later join: if a copy has seen an epoch and does not have it, the
        // epoch is removed by every join with that copy, in any order.
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

    /// The running sum of each replica: the entry with its greatest counter, which includes all
    /// before it. If deltas arrive out of order, an earlier entry may exist for a while.
    private func sums(epoch: Dot?) -> [DecimalNumber] {
        let all = increments.filter { $0.epoch == epoch }
        return all.indices.compactMap { index in
            let next = index + 1
            let isNewest = next == all.count || all[next].dot.replica != all[index].dot.replica
            return isNewest ? all[index].sum : nil
        }
    }

    /// The exact sum. The order of addition depends only on the values and keeps the running total
    /// small, so all copies get the same result.
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
