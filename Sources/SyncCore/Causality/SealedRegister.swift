// dot -> encrypted value, for secure fields. Only the value with the greatest (timestamp, dot) is
// kept. Losers are erased at once, because siblings must not keep secrets.
//
// Invariants: there is at most one value, and each write has a greater rank than the one that it
// replaced.

/// A register that never contains more than one secret.
///
/// The join is the maximum of two ranks and ignores contexts. A causal join that drops losers would
/// depend on the order of joins: a late removal of the winner would bring a loser back. A reset is
/// therefore a write too.
public struct SealedRegister: DotStore {
    /// The current value.
    public struct Secret: Hashable, Sendable {
        /// The write.
        public let dot: Dot
        /// When it was written.
        public let stamp: HybridTimestamp
        /// The bytes from the shell, encrypted or not; `nil` for a reset.
        public let bytes: [UInt8]?

        var rank: SiblingRank { SiblingRank(stamp: stamp, dot: dot) }
    }

    /// The current value; `nil` if nobody has written.
    public private(set) var secret: Secret?

    /// A register that nobody has written to.
    public init() {
        secret = nil
    }

    /// A register with `secret`.
    public init(_ secret: Secret) {
        self.secret = secret
    }

    public var isEmpty: Bool { secret == nil }

    public var dots: [Dot] { secret.map { [$0.dot] } ?? [] }

    /// Whether there is a secret, which is what readers see.
    public var isSet: Bool { secret?.bytes != nil }

    /// Replaces the secret with the new `dot`; `nil` resets it.
    ///
    /// The timestamp is raised above that of the earlier secret, so that a write wins over what it
    /// replaces, even if the earlier one came from a store whose clock is ahead.
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
