/// When to try again: exponential back-off with equal jitter, so that a thousand clients do not
/// reconnect at the same moment after a restart of the daemon.
///
/// Brooker, "Exponential Backoff and Jitter" (AWS Architecture Blog, 2015). The random numbers come
/// from a seed, so that tests get the same delays.
public struct Backoff: Sendable {
    /// The first delay and the longest one, in nanoseconds.
    public var first: UInt64
    public var longest: UInt64
    private var attempt: UInt64 = 0
    private var last: UInt64 = 0
    private var state: UInt64

    /// Delays from about `first` up to `longest` nanoseconds.
    public init(seed: UInt64, first: UInt64 = 20_000_000, longest: UInt64 = 5_000_000_000) {
        self.first = first
        self.longest = longest
        state = seed
    }

    /// The next delay in nanoseconds: between half of the exponential delay and all of it.
    public mutating func next() -> UInt64 {
        let ceiling = min(longest, first << min(attempt, 20))
        attempt += 1
        last = ceiling / 2 + random() % (ceiling / 2 + 1)
        return last
    }

    /// A connection on which the daemon answered was lost after that many nanoseconds. Resets the
    /// back-off if that is as long as the delay before it, or a second. So a daemon that accepts
    /// connections and ends them at once is tried less and less often.
    public mutating func connectionEnded(after nanoseconds: UInt64) {
        if nanoseconds >= min(last, Self.steady) { attempt = 0 }
    }

    private static let steady: UInt64 = 1_000_000_000

    /// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
    private mutating func random() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
