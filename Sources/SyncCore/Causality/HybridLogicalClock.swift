// The clock for the timestamps of writes.
//
// Invariant: each result of `now` is greater than the one before and than every observed timestamp,
// within the limit on how far a remote timestamp may advance this clock.

/// A clock that never goes back, stays near physical time, and is ahead of what it has observed.
///
/// Kulkarni et al., "Logical Physical Clocks", OPODIS 2014, figure 5; with the limit on remote
/// clocks of their section 5, so that one store with a wrong clock cannot advance the others.
public struct HybridLogicalClock: Hashable, Sendable {
    /// The greatest timestamp returned or observed.
    public private(set) var last: HybridTimestamp

    /// The most milliseconds by which a remote timestamp may advance this clock beyond physical
    /// time.
    public static let aheadMillisecondsMax: Int64 = 1000

    /// A clock that continues after `last`: after a restart, the greatest timestamp in the store.
    public init(after last: HybridTimestamp = HybridTimestamp(milliseconds: 0)) {
        self.last = last
    }

    /// The timestamp of an event at the physical time `milliseconds` (since 1970).
    public mutating func now(at milliseconds: Int64) -> HybridTimestamp {
        let physical = HybridTimestamp(milliseconds: milliseconds)
        last = physical > last ? physical : last.next
        return last
    }

    /// Observes a timestamp from another store, at the physical time `milliseconds`.
    ///
    /// The stored timestamp itself is not changed; only its effect on this clock is limited.
    public mutating func observe(_ remote: HybridTimestamp, at milliseconds: Int64) {
        let (limit, overflow) = milliseconds.addingReportingOverflow(Self.aheadMillisecondsMax)
        let bound = HybridTimestamp(milliseconds: overflow ? .max : limit)
        last = max(last, min(remote, bound))
    }
}
