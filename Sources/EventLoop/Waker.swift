// Wakes the loop from other threads.
//
// Invariants: a `Waker` never accesses memory that libuv has freed. A lock serializes waking and
// closing, and after the close a waker returns false.

internal import CUV
internal import Synchronization

/// Wakes a loop from any thread: `uv_async_send`.
///
/// Several wakes before the next iteration become one callback, so the data must be stored where
/// both threads can access it.
public final class Waker: Sendable {
    /// Sendable because the pointer is used only under the lock, and is nil before libuv frees its
    /// target.
    @safe private struct Target: @unchecked Sendable {
        let async: UnsafeMutablePointer<uv_async_t>
    }

    private let target = Mutex<Target?>(nil)

    fileprivate init() {}

    /// Makes the loop call `WakeSource.onWake` soon, on its own thread.
    /// - Returns: false if the source was closed, and so nothing will be called.
    @discardableResult
    public func wake() -> Bool {
        target.withLock { target in
            guard let target else { return false }
            let status = unsafe uv_async_send(target.async)
            precondition(status == 0, "uv_async_send does not fail on an open handle")
            return true
        }
    }

    fileprivate func open(_ async: UnsafeMutablePointer<uv_async_t>) {
        let opened = unsafe Target(async: async)
        target.withLock { $0 = opened }
    }

    fileprivate func shut() { target.withLock { $0 = nil } }
}

/// The loop's end of a `Waker`: `uv_async_t`.
///
/// It keeps the loop alive until it is closed, since any thread may wake it at any time.
@safe public final class WakeSource: Handle {
    private let async: UnsafeMutablePointer<uv_async_t>

    /// What other threads get.
    public let waker = Waker()

    /// Called on the loop after one or more wakes.
    public var onWake: (() -> Void)?

    /// A source that is open at once: `uv_async_init`.
    public init(loop: Loop, onWake: (() -> Void)? = nil) throws(UVError) {
        unsafe async = .allocate(capacity: 1)
        unsafe async.initialize(to: uv_async_t())
        self.onWake = onWake
        unsafe super.init(loop: loop, storage: UnsafeMutableRawPointer(async))
        let status = unsafe uv_async_init(loop.raw, async, wakeArrived)
        guard status == 0 else { throw UVError(status: status, "uv_async_init") }
        activate()
        unsafe waker.open(async)
    }

    // The memory lives until the close callback, on this thread, and that comes after this.
    override func closeBegan() { waker.shut() }

    override func dropCallbacks() { onWake = nil }

    fileprivate func woken() {
        guard phase == .active else { return }
        onWake?()
    }
}

private func wakeArrived(_ raw: UnsafeMutablePointer<uv_async_t>?) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<WakeSource>.fromOpaque(data).takeUnretainedValue().woken()
}
