// The time of a write, which orders siblings.
//
// Invariant: a stored timestamp never changes, or copies would order siblings differently. A
// timestamp only orders siblings; the causal context decides whether writes were concurrent.

/// A timestamp of the hybrid logical clock: physical milliseconds, and a logical part that
/// distinguishes events in the same millisecond.
///
/// Kulkarni et al., "Logical Physical Clocks", OPODIS 2014, section 4.
public struct HybridTimestamp: Hashable, Sendable {
    /// Milliseconds since 1970-01-01T00:00:00Z.
    public let milliseconds: Int64
    /// Distinguishes events in the same millisecond.
    public let logical: UInt32

    /// The time `milliseconds` since 1970, and `logical` within it.
    public init(milliseconds: Int64, logical: UInt32 = 0) {
        self.milliseconds = milliseconds
        self.logical = logical
    }

    /// The next greater timestamp; itself at the end of time.
    public var next: HybridTimestamp {
        if logical < .max {
            return HybridTimestamp(milliseconds: milliseconds, logical: logical + 1)
        }
        if milliseconds < .max { return HybridTimestamp(milliseconds: milliseconds + 1) }
        return self
    }
}

extension HybridTimestamp: Comparable {
    /// Order by milliseconds, then by the logical part.
    public static func < (left: HybridTimestamp, right: HybridTimestamp) -> Bool {
        left.milliseconds != right.milliseconds
            ? left.milliseconds < right.milliseconds : left.logical < right.logical
    }
}

extension HybridTimestamp: CustomStringConvertible {
    /// `1795256548123+2`, for logs and test failures.
    public var description: String { "\(milliseconds)+\(logical)" }
}
