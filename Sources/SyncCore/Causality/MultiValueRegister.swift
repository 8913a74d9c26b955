// dot -> value, for pickers, dates, texts and toggles.
//
// Invariants: siblings are sorted by dot and distinct, and no author had seen another sibling.

/// A register that keeps concurrent values as siblings.
///
/// `MVReg` of Almeida et al., JPDC 2018, figure 8; sets of siblings as in dotted version vector
/// sets (DAIS 2014, section 5).
public struct MultiValueRegister<Payload: Hashable & Sendable>: DotStore {
    /// A value in a register, with its write.
    public struct Sibling: Concurrent, Dotted {
        /// The write.
        public let dot: Dot
        /// The time of the write; never changed.
        public let stamp: HybridTimestamp
        /// The written value.
        public let payload: Payload

        /// `payload` as the write `dot`, made at `stamp`.
        public init(dot: Dot, stamp: HybridTimestamp, payload: Payload) {
            self.dot = dot
            self.stamp = stamp
            self.payload = payload
        }

        /// The written boolean, if it is one.
        public var flag: Bool? { (payload as? Written)?.value?.boolValue }
    }

    private var content: DotFunction<Sibling>

    /// A register that nobody has written to.
    public init() {
        content = DotFunction()
    }

    /// A register with these siblings; `nil` unless they are sorted by dot and distinct.
    public init?(sorted siblings: [Sibling]) {
        guard let content = DotFunction(sorted: siblings) else { return nil }
        self.content = content
    }

    /// The siblings, sorted by dot.
    public var siblings: [Sibling] { content.entries }

    public var isEmpty: Bool { content.isEmpty }

    public var dots: [Dot] { content.dots }

    /// Writes `payload` with the new `dot` and the timestamp `stamp`, for an author who had seen
    /// `seen`.
    ///
    /// The caller has checked the policy `first`.
    ///
    /// - Returns: the fate of the existing siblings.
    @discardableResult
    public mutating func write(
        _ payload: Payload, dot: Dot, stamp: HybridTimestamp, seen: Seen, policy: ConflictPolicy
    ) -> SiblingFate<Sibling> {
        let fate = policy.fate(of: siblings, seen: seen)
        if fate.concurrent.isEmpty {
            content.replaceAll(with: Sibling(dot: dot, stamp: stamp, payload: payload))
        } else {
            content.removeAll { entry in !fate.concurrent.contains { $0.dot == entry.dot } }
            content.insert(Sibling(dot: dot, stamp: stamp, payload: payload))
        }
        return fate
    }

    /// Removes the value of a write, which counts as superseded from then on.
    mutating func remove(_ dot: Dot) { content.remove(dot) }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        content.join(other.content, contexts: contexts)
    }

    public func restricted(to context: CausalContext) -> Self {
        var result = self
        result.content = content.restricted(to: context)
        return result
    }
}
