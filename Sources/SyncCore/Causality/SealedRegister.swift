// dot -> sealed value: secure fields. The greatest (clock, dot) alone; losers are wiped at once,
// because siblings must not keep secrets.
//
// Always holds: there is at most one value, and each write outranks the one that it replaced.

/// A register that keeps one secret and never two.
///
/// The join is the greater of two ranks, contexts left aside: a causal join with a drop of losers
/// would depend on its order (a removal of the winner, met late, would bring a loser back). A reset
/// is therefore a write too.
public struct SealedRegister: DotStore {
    /// The value that stands.
    public struct Secret: Hashable, Sendable {
        /// The write.
        public let dot: Dot
        /// When it was written.
        public let stamp: HybridTimestamp
        /// The bytes as the shell gave them, sealed or not; `nil` for a reset.
        public let bytes: [UInt8]?

        /// `bytes` as the write `dot`, made at `stamp`.
        public init(dot: Dot, stamp: HybridTimestamp, bytes: [UInt8]?) {
            self.dot = dot
            self.stamp = stamp
            self.bytes = bytes
        }

        var rank: SiblingRank { SiblingRank(stamp: stamp, dot: dot) }
    }

    /// The value that stands; `nil` where nobody has written.
    public private(set) var secret: Secret?

    /// The register that nobody has written.
    public init() {
        secret = nil
    }

    /// The register that holds `secret`.
    public init(_ secret: Secret) {
        self.secret = secret
    }

    public var isEmpty: Bool { secret == nil }

    public var dots: [Dot] { secret.map { [$0.dot] } ?? [] }

    /// Whether there is a secret: what readers are told.
    public var isSet: Bool { secret?.bytes != nil }

    /// Replaces the secret as the fresh `dot`; `nil` resets it.
    ///
    /// The stamp is raised above that of the secret that goes, so that a write outranks what it
    /// replaces even where that came from a store whose clock is ahead.
    public mutating func write(_ bytes: [UInt8]?, dot: Dot, stamp: HybridTimestamp) {
        var raised = stamp
        if let old = secret, raised <= old.stamp { raised = old.stamp.next }
        secret = Secret(dot: dot, stamp: raised, bytes: bytes)
    }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        guard let theirs = other.secret else { return }
        if let own = secret, own.rank >= theirs.rank { return }
        secret = theirs
    }

    public func restricted(to context: CausalContext) -> Self {
        guard let secret, context.contains(secret.dot) else { return SealedRegister() }
        return self
    }
}
