internal import Glibc

/// The monotonic clock of the blocking face; the machine itself has none and is told the time.
public enum MonotonicClock {
    /// Nanoseconds since an arbitrary start (clock_gettime(2), CLOCK_MONOTONIC).
    public static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

extension UInt64 {
    /// So many nanoseconds as whole milliseconds for poll(2), rounded up so that a wait is never
    /// shorter than asked, and at most what an `Int32` holds.
    func pollMilliseconds(since now: UInt64) -> Int32 {
        guard self > now else { return 0 }
        return Int32(clamping: (self - now + 999_999) / 1_000_000)
    }

    /// This moment and a span of seconds later; what does not fit is as late as can be.
    public func adding(seconds: Double) -> UInt64 {
        let nanoseconds = seconds * 1e9
        guard nanoseconds > 0 else { return self }
        guard nanoseconds < 9e18 else { return .max }
        let (sum, overflow) = addingReportingOverflow(UInt64(nanoseconds))
        return overflow ? .max : sum
    }
}
