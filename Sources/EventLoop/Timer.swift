// Timers. Invariants: a timer counts from the loop's cached time and in whole milliseconds, rounded
// up.

internal import CUV

/// Calls back once or repeatedly: `uv_timer_t`.
@safe public final class Timer: Handle {
    private let timer: UnsafeMutablePointer<uv_timer_t>

    /// Called each time the timer fires.
    public var onFire: (() -> Void)?

    /// A timer that is not running yet: `uv_timer_init`.
    public init(loop: Loop, onFire: (() -> Void)? = nil) {
        unsafe timer = .allocate(capacity: 1)
        unsafe timer.initialize(to: uv_timer_t())
        self.onFire = onFire
        unsafe super.init(loop: loop, storage: UnsafeMutableRawPointer(timer))
        let status = unsafe uv_timer_init(loop.raw, timer)
        precondition(status == 0, "uv_timer_init does not fail")
        activate()
    }

    /// Starts or restarts the timer; a closing timer does nothing.
    ///
    /// The delay counts from the start of the iteration (`uv_now`), so after a long callback it is
    /// shorter by the duration of that callback. Calls `uv_timer_start`.
    /// - Parameters:
    ///   - delay: until the first call; nothing or less means the next iteration.
    ///   - interval: between the calls after it, above zero; nil for a single call.
    public func start(after delay: Duration, repeating interval: Duration? = nil) {
        guard phase == .active else { return }
        var intervalMilliseconds: UInt64 = 0
        if let interval {
            precondition(interval > .zero, "a timer repeats after some time")
            intervalMilliseconds = Self.milliseconds(interval)
        }
        let status = unsafe uv_timer_start(
            timer, timerFired, Self.milliseconds(delay), intervalMilliseconds)
        precondition(status == 0, "uv_timer_start does not fail on an open timer")
    }

    /// Stops the timer; it may be started again: `uv_timer_stop`.
    public func stop() {
        guard phase == .active else { return }
        unsafe uv_timer_stop(timer)
    }

    /// Whether the timer is going to fire: `uv_is_active`.
    public var isRunning: Bool { unsafe phase == .active && uv_is_active(raw) != 0 }

    override func dropCallbacks() { onFire = nil }

    /// Whole milliseconds, rounded up so that a timer is never early, and clamped at both ends.
    static func milliseconds(_ duration: Duration) -> UInt64 {
        let (seconds, attoseconds) = duration.components
        guard duration > .zero else { return 0 }
        let attosecondsInMillisecond: Int64 = 1_000_000_000_000_000
        let fraction = (attoseconds + attosecondsInMillisecond - 1) / attosecondsInMillisecond
        let (whole, isTooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000)
        let (sum, isTooLongInSum) = whole.addingReportingOverflow(UInt64(fraction))
        return isTooLong || isTooLongInSum ? .max : sum
    }
}

private func timerFired(_ raw: UnsafeMutablePointer<uv_timer_t>?) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<Timer>.fromOpaque(data).takeUnretainedValue().onFire?()
}
