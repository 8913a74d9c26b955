// The event loop: one thread, one `uv_loop_t`, one read buffer.
//
// Invariants: code that has a `Loop` runs on its thread, because only `withLoop` provides one, and
// neither it nor a handle is Sendable. Only `Waker` and `Work` communicate with other threads. When
// `withLoop` returns, each handle is closed and `uv_loop_close` has returned 0.

internal import CUV
internal import Glibc

/// One libuv event loop, confined to the thread that made it.
///
/// An iteration of the loop consists of timers, the hook `onIterationEnd`, wait for and deliver
/// I/O, close callbacks. The hook runs last before each wait, so it sees all effects of the
/// iteration.
@safe public final class Loop {
    /// `open` between runs, `running` inside `uv_run`, `settling` in the hook after it.
    private enum Phase { case open, running, settling, closed }

    /// Bytes that one read may deliver. Each pipe of the loop reads into the same buffer, so a
    /// callback must not keep the bytes after it returns.
    static let readBufferBytes = 65_536

    let raw: UnsafeMutablePointer<uv_loop_t>
    let readBuffer: UnsafeMutableRawBufferPointer
    private var phase = Phase.open
    private var hasStopRequest = false
    private var hook: IterationHook?

    /// Called once for each iteration, after its I/O and timers and before the loop waits, and once
    /// more before `run` returns, so that the effects of the last callbacks are handled too.
    ///
    /// It does not keep the loop alive and does not wake it: an idle loop still sleeps.
    public var onIterationEnd: (() -> Void)?

    /// Runs `body` with a new loop, then closes every handle that is still open, waits for the work
    /// in progress and closes the loop.
    ///
    /// A scope instead of an initializer, because the handles must be closed on return and on an
    /// error. SIGPIPE is ignored in the whole process from here on. Calls `uv_loop_init` and
    /// `uv_loop_close`.
    @discardableResult
    public static func withLoop<Success>(_ body: (Loop) throws -> Success) throws -> Success {
        let loop = try Loop()
        defer { loop.finish() }
        return try body(loop)
    }

    private init() throws(UVError) {
        let ignored = cuv_ignore_sigpipe()
        precondition(ignored == 0, "SIGPIPE can always be ignored")
        unsafe raw = .allocate(capacity: 1)
        unsafe raw.initialize(to: uv_loop_t())
        unsafe readBuffer = .allocate(byteCount: Self.readBufferBytes, alignment: 16)
        let status = unsafe uv_loop_init(raw)
        guard status == 0 else {
            phase = .closed
            throw UVError(status: status, "uv_loop_init")
        }
        hook = IterationHook(loop: self)
    }

    deinit {
        precondition(phase == .closed, "a loop is closed before it is let go")
        unsafe readBuffer.deallocate()
        unsafe raw.deallocate()
    }

    // MARK: Running

    /// Runs until nothing keeps the loop alive or `stop` was called: `uv_run`, `UV_RUN_DEFAULT`.
    public func run() {
        while !hasStopRequest {
            turn(UV_RUN_DEFAULT)
            // The hook may have started new work in its last call.
            guard isAlive else { break }
        }
        hasStopRequest = false
    }

    /// Makes `run` return after this iteration, or at once if it is called before: `uv_stop`.
    public func stop() {
        precondition(phase != .closed, "the loop is closed")
        hasStopRequest = true
        // Outside uv_run the flag would stay set and end a later run.
        if phase == .running { unsafe uv_stop(raw) }
    }

    /// Whether an active handle or a request in progress keeps the loop alive: `uv_loop_alive`.
    public var isAlive: Bool { unsafe phase != .closed && uv_loop_alive(raw) != 0 }

    private func turn(_ mode: uv_run_mode) {
        precondition(phase == .open, "a loop runs once at a time, and not after its scope")
        phase = .running
        _ = unsafe uv_run(raw, mode)
        phase = .settling
        onIterationEnd?()
        phase = .open
    }

    // MARK: Time

    /// Nanoseconds on a monotonic clock, read now: `uv_hrtime`.
    public static var hrtimeNanoseconds: UInt64 { uv_hrtime() }

    /// Nanoseconds of processor time that this thread has taken: clock_gettime(2),
    /// CLOCK_THREAD_CPUTIME_ID. Unlike the other clocks, reading it is a system call.
    public static var threadNanoseconds: UInt64 {
        var time = timespec()
        let status = unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        precondition(status == 0, "the clocks can always be read")
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// Milliseconds since 1970 in UTC, which may be set back: clock_gettime(2), CLOCK_REALTIME.
    public static var wallMilliseconds: Int64 { milliseconds(CLOCK_REALTIME) }

    /// Milliseconds on a monotonic clock that also counts while the machine is suspended:
    /// clock_gettime(2), CLOCK_BOOTTIME.
    public static var bootMilliseconds: Int64 { milliseconds(CLOCK_BOOTTIME) }

    private static func milliseconds(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        let status = unsafe clock_gettime(clock, &time)
        precondition(status == 0, "the clocks can always be read")
        return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
    }

    // MARK: The end

    private func finish() {
        onIterationEnd = nil
        closeHandles()
        // A close callback may open another handle: close handles and run the loop until none is
        // left.
        while isAlive {
            turn(UV_RUN_ONCE)
            closeHandles()
        }
        hook = nil
        let status = unsafe uv_loop_close(raw)
        precondition(status == 0, "a loop is closed when all its handles are")
        phase = .closed
    }

    private func closeHandles() { unsafe uv_walk(raw, closeHandle, nil) }
}

/// The `uv_prepare_t` behind `Loop.onIterationEnd`. It does not keep the loop alive.
@safe final class IterationHook: Handle {
    fileprivate init(loop: Loop) {
        let prepare = UnsafeMutablePointer<uv_prepare_t>.allocate(capacity: 1)
        unsafe prepare.initialize(to: uv_prepare_t())
        unsafe super.init(loop: loop, storage: UnsafeMutableRawPointer(prepare))
        // Neither call can fail: both only touch the loop's lists.
        let status = unsafe uv_prepare_init(loop.raw, prepare)
        precondition(status == 0, "uv_prepare_init does not fail")
        activate()
        let started = unsafe uv_prepare_start(prepare) { prepare in
            guard let data = unsafe prepare?.pointee.data else { return }
            unsafe Unmanaged<IterationHook>.fromOpaque(data).takeUnretainedValue()
                .loop.onIterationEnd?()
        }
        precondition(started == 0, "uv_prepare_start does not fail with a callback")
        keepsLoopAlive = false
    }
}

private func closeHandle(_ raw: UnsafeMutablePointer<uv_handle_t>?, _: UnsafeMutableRawPointer?) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<Handle>.fromOpaque(data).takeUnretainedValue().close()
}
