// dot -> value: pickers, dates, texts, toggles.
//
// Always holds: siblings are sorted by dot and distinct, and none had been seen by the writer of
// another.

/// A register that keeps concurrent values side by side.
///
/// `MVReg` of Almeida et al., JPDC 2018, figure 8; the sets of siblings are those of dotted version
/// vector sets (DAIS 2014, section 5).
public struct MultiValueRegister<Payload: Hashable & Sendable>: DotStore {
    /// A value in a register, with the write that it came from.
    public struct Sibling: Concurrent, Dotted {
        /// The write.
        public let dot: Dot
        /// When it was written; never altered.
        public let stamp: HybridTimestamp
        /// What was written.
        public let payload: Payload

        /// `payload` as the write `dot`, made at `stamp`.
        public init(dot: Dot, stamp: HybridTimestamp, payload: Payload) {
            self.dot = dot
            self.stamp = stamp
            self.payload = payload
        }

        /// The written boolean, where one was written.
        public var flag: Bool? { (payload as? Written)?.value?.boolValue }
    }

    private var content: DotFunction<Sibling>

    /// The register that nobody has written.
    public init() {
        content = DotFunction()
    }

    /// The register of these siblings; `nil` unless they are sorted by dot and distinct.
    public init?(sorted siblings: [Sibling]) {
        guard let content = DotFunction(sorted: siblings) else { return nil }
        self.content = content
    }

    /// The siblings, sorted by dot.
    public var siblings: [Sibling] { content.entries }

    public var isEmpty: Bool { content.isEmpty }

    public var dots: [Dot] { content.dots }

    /// Writes `payload` as the fresh `dot`, made at `stamp` by somebody who had seen `seen`.
    ///
    /// Whether `first` refuses it is asked before: `ConflictPolicy.refuses`.
    ///
    /// - Returns: what became of the siblings that were there.
    @discardableResult
    public mutating func write(
        _ payload: Payload, dot: Dot, stamp: HybridTimestamp, seen: Seen, policy: ConflictPolicy
    ) -> SiblingFate<Sibling> {
        let new = Sibling(dot: dot, stamp: stamp, payload: payload)
        let fate = policy.fate(of: siblings, seen: seen)
        if fate.concurrent.isEmpty {
            content.replaceAll(with: new)
        } else {
            content.removeAll { entry in !fate.concurrent.contains { $0.dot == entry.dot } }
            content.insert(new)
        }
        return fate
    }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        content.join(other.content, contexts: contexts)
    }

    public func restricted(to context: CausalContext) -> Self {
        var result = self
        result.content = content.restricted(to: context)
        return result
    }
}
