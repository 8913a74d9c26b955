// Signals as events of the loop: delivered outside the signal handler, where all functions may be
// called.

internal import CUV

/// Calls back on the loop when the process receives a signal: `uv_signal_t`.
///
/// While a signal is watched, its default action is disabled. Several equal signals may be
/// delivered as one.
@safe public final class SignalWatcher: Handle {
    private let signal: UnsafeMutablePointer<uv_signal_t>

    /// Called with the number of the signal.
    public var onSignal: ((CInt) -> Void)?

    /// A watcher that watches nothing yet: `uv_signal_init`.
    public init(loop: Loop, onSignal: ((CInt) -> Void)? = nil) throws(UVError) {
        unsafe signal = .allocate(capacity: 1)
        unsafe signal.initialize(to: uv_signal_t())
        self.onSignal = onSignal
        unsafe super.init(loop: loop, storage: UnsafeMutableRawPointer(signal))
        let status = unsafe uv_signal_init(loop.raw, signal)
        guard status == 0 else { throw UVError(status: status, "uv_signal_init") }
        activate()
    }

    /// Watches one signal, instead of the previous one: `uv_signal_start`.
    /// - Throws: `EINVAL` for a signal that cannot be caught; `ECANCELED` once closed.
    public func start(_ number: CInt) throws(UVError) {
        guard phase == .active else { throw UVError(code: .canceled, operation: "uv_signal_start") }
        let status = unsafe uv_signal_start(signal, signalArrived, number)
        guard status == 0 else { throw UVError(status: status, "uv_signal_start") }
    }

    /// Stops watching and restores the default action of the signal: `uv_signal_stop`.
    public func stop() {
        guard phase == .active else { return }
        unsafe uv_signal_stop(signal)
    }

    override func dropCallbacks() { onSignal = nil }
}

private func signalArrived(_ raw: UnsafeMutablePointer<uv_signal_t>?, _ number: CInt) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<SignalWatcher>.fromOpaque(data).takeUnretainedValue().onSignal?(number)
}
