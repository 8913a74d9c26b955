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
    public struct Sibling: Hashable, Sendable, Concurrent {
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

    private struct Content: Hashable, Sendable {
        let stamp: HybridTimestamp
        let payload: Payload
    }

    private var content: DotFunction<Content>

    /// The register that nobody has written.
    public init() {
        content = DotFunction()
    }

    /// The register of these siblings; `nil` unless they are sorted by dot and distinct.
    public init?(sorted siblings: [Sibling]) {
        let entries = siblings.map {
            DotFunction<Content>.Entry(
                dot: $0.dot, value: Content(stamp: $0.stamp, payload: $0.payload))
        }
        guard let content = DotFunction(sorted: entries) else { return nil }
        self.content = content
    }

    /// The siblings, sorted by dot.
    public var siblings: [Sibling] {
        content.entries.map {
            Sibling(dot: $0.dot, stamp: $0.value.stamp, payload: $0.value.payload)
        }
    }

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
        let fate = policy.fate(of: siblings, seen: seen)
        content.removeAll { entry in !fate.concurrent.contains { $0.dot == entry.dot } }
        content.insert(dot, Content(stamp: stamp, payload: payload))
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
