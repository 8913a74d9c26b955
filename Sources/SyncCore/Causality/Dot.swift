// The identity of one write.

/// One write: the `counter`-th of `replica`, counted from 1.
///
/// Almeida et al., "Scalable and Accurate Causality Tracking for Eventually Consistent Stores",
/// DAIS 2014, section 3.
public struct Dot: Hashable, Sendable {
    /// The replica that committed the write.
    public let replica: ReplicaID
    /// The number of the write; the first one is 1.
    public let counter: UInt64

    /// The `counter`-th write of `replica`.
    public init(_ replica: ReplicaID, _ counter: UInt64) {
        self.replica = replica
        self.counter = counter
    }
}

extension Dot: Comparable {
    /// Order by replica, then by counter: the order in which dot stores keep their entries.
    public static func < (left: Dot, right: Dot) -> Bool {
        left.replica != right.replica
            ? left.replica < right.replica : left.counter < right.counter
    }
}

extension Dot: CustomStringConvertible {
    /// `3f9a.1:1042`.
    public var description: String { "\(replica):\(counter)" }
}
