// The clock that stamps writes.
//
// Always holds: each stamp that `now` gives is greater than the one before and than every stamp
// observed, as far as a remote stamp may pull this clock ahead.

/// A clock that never goes back, stays near physical time, and is ahead of what it has observed.
///
/// Kulkarni et al., "Logical Physical Clocks", OPODIS 2014, figure 5; with the bound on remote
/// clocks of their section 5, so that one store with a wild clock cannot drag the others along.
public struct HybridLogicalClock: Hashable, Sendable {
    /// The greatest stamp given or observed.
    public private(set) var last: HybridTimestamp

    /// How many milliseconds ahead of physical time a remote stamp may pull this clock.
    public static let aheadMillisecondsMax: Int64 = 1000

    /// A clock that goes on after `last`: after a restart, the greatest stamp in the store.
    public init(after last: HybridTimestamp = HybridTimestamp(milliseconds: 0)) {
        self.last = last
    }

    /// The stamp of an event at the physical time `milliseconds` (since 1970).
    public mutating func now(at milliseconds: Int64) -> HybridTimestamp {
        let physical = HybridTimestamp(milliseconds: milliseconds)
        last = physical > last ? physical : last.next
        return last
    }

    /// Takes note of a stamp that came from another store, at the physical time `milliseconds`.
    ///
    /// The stamp itself stays as it is wherever it is stored; only the pull on this clock is
    /// bounded.
    public mutating func observe(_ remote: HybridTimestamp, at milliseconds: Int64) {
        let (limit, overflow) = milliseconds.addingReportingOverflow(Self.aheadMillisecondsMax)
        let bound = HybridTimestamp(milliseconds: overflow ? .max : limit)
        last = max(last, min(remote, bound))
    }
}
