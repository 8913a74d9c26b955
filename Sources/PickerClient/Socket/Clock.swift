#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The monotonic clock of the blocking client. The machine has no clock; it receives the time as a
/// parameter.
public enum MonotonicClock {
    /// Nanoseconds since an arbitrary start (clock_gettime(2), CLOCK_MONOTONIC).
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension UInt64 {
    /// Nanoseconds as whole milliseconds for poll(2), rounded up so that a wait is never too short,
    /// and at most `Int32.max`.
    public func pollMilliseconds(since now: UInt64) -> Int32 {
        guard self > now else { return 0 }
        return Int32(clamping: (self - now + 999_999) / 1_000_000)
    }

    /// Now plus a number of seconds; clamped if it overflows.
    public func adding(seconds: Double) -> UInt64 {
        let nanoseconds = seconds * 1e9
        guard nanoseconds > 0 else { return self }
        guard nanoseconds < 9e18 else { return .max }
        let (sum, overflow) = addingReportingOverflow(UInt64(nanoseconds))
        return overflow ? .max : sum
    }
}
