// Connections that arrive on a Unix socket.
//
//     paused --resume--> accepting --pause--> paused
//     accepting --no descriptor left--> backingOff --after a while, or resume--> accepting
//     backingOff --pause--> paused
//     any --close--> closed
//
// Always holds: each descriptor that accept(2) gave goes to `onConnection`; a shortage of
// descriptors costs one accept for each back-off, never a busy loop; the path of the socket is
// never touched.

internal import CUV
internal import Glibc

/// Accepts on a socket that listens already, whether the daemon bound it or systemd passed it.
///
/// It polls the descriptor and calls accept4(2) itself. `uv_listen` would, out of descriptors,
/// close the connections that wait, or spin; this leaves them in the kernel's queue, where they are
/// answered as soon as descriptors are free. Calls `uv_poll_start`.
@safe public final class UnixListener: Handle {
    private enum Accepting { case paused, accepting, backingOff, closed }

    /// Connections taken in one iteration, so that those who are connected get their turn.
    public static let acceptsInIterationMax = 64
    /// Those that are taken in the iterations to come.
    public var acceptsInIteration = UnixListener.acceptsInIterationMax
    /// How long accepting rests when the process or the machine is out of descriptors.
    static let backOff: Duration = .milliseconds(100)

    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let backOffTimer: Timer
    private var descriptor: OwnedDescriptor?
    private var state = Accepting.paused

    /// Gets each connection: non-blocking and close-on-exec.
    public var onConnection: ((consuming OwnedDescriptor) -> Void)?
    /// Told once for each back-off, and after it accepting is tried again; for the log.
    public var onAcceptFailure: ((SystemError) -> Void)?

    /// Takes over a listening socket, or closes it when this throws; `resume` starts accepting.
    /// Calls `uv_poll_init`.
    public init(
        loop: Loop, adopting descriptor: consuming OwnedDescriptor,
        onConnection: ((consuming OwnedDescriptor) -> Void)? = nil
    ) throws(UVError) {
        let number = descriptor.rawValue
        unsafe poll = .allocate(capacity: 1)
        unsafe poll.initialize(to: uv_poll_t())
        backOffTimer = Timer(loop: loop)
        self.descriptor = consume descriptor
        self.onConnection = onConnection
        unsafe super.init(loop: loop, storage: UnsafeMutableRawPointer(poll))
        let status = unsafe uv_poll_init(loop.raw, poll, number)
        guard status == 0 else {
            backOffTimer.close()
            throw UVError(status: status, "uv_poll_init")
        }
        activate()
        backOffTimer.onFire = { [unowned self] in resume() }
    }

    /// Accepts from now on; during a back-off, tries again at once.
    ///
    /// Worth calling when a connection was closed and a descriptor is free again.
    public func resume() {
        switch state {
        case .accepting, .closed: return
        case .backingOff: backOffTimer.stop()
        case .paused: break
        }
        let status = unsafe uv_poll_start(poll, CInt(UV_READABLE.rawValue), connectionWaits)
        precondition(status == 0, "uv_poll_start does not fail on an open handle")
        state = .accepting
    }

    /// Leaves new connections in the kernel's queue until `resume`.
    public func pause() {
        switch state {
        case .paused, .closed: return
        case .backingOff: backOffTimer.stop()
        case .accepting: stopPolling()
        }
        state = .paused
    }

    override func closeBegan() {
        state = .closed
        backOffTimer.close()
        // uv_close on a poll handle ends the watching at once, so the descriptor is free to go.
        descriptor = nil
    }

    override func dropCallbacks() {
        onConnection = nil
        onAcceptFailure = nil
    }

    private func stopPolling() {
        let status = unsafe uv_poll_stop(poll)
        precondition(status == 0, "uv_poll_stop does not fail on an open handle")
    }

    /// Ready, or failed: accept(2) tells which, so `status` is not looked at.
    fileprivate func accept() {
        for _ in 0..<acceptsInIteration {
            // The callback may have paused or closed the listener.
            guard state == .accepting, let number = descriptor?.rawValue else { return }
            let accepted = cuv_accept(number)
            guard accepted < 0 else {
                onConnection?(OwnedDescriptor(adopting: accepted))
                continue
            }
            switch -accepted {
            case EAGAIN: return
            case EINTR, ECONNABORTED, EPROTO: continue
            default: return startBackOff(SystemError(errno: -accepted, operation: "accept4"))
            }
        }
    }

    private func startBackOff(_ error: SystemError) {
        stopPolling()
        state = .backingOff
        backOffTimer.start(after: Self.backOff)
        onAcceptFailure?(error)
    }
}

private func connectionWaits(_ raw: UnsafeMutablePointer<uv_poll_t>?, _: CInt, _: CInt) {
    guard let data = unsafe raw?.pointee.data else { return }
    unsafe Unmanaged<UnixListener>.fromOpaque(data).takeUnretainedValue().accept()
}
