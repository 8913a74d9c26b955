// Connections that arrive on a Unix socket.
//
//     paused --resume--> accepting --pause--> paused
//     accepting --no descriptor left--> backingOff --after a while, or resume--> accepting
//     backingOff --pause--> paused
//     any --close--> closed
//
// Invariants: each descriptor from accept(2) is passed to `onConnection`; if descriptors run out,
// there is one accept for each back-off and never a busy loop; the path of the socket is never
// changed.

internal import CUV
internal import Glibc

/// Accepts connections on a listening socket that the daemon bound or systemd passed.
///
/// It polls the descriptor and calls accept4(2) itself. Without free descriptors, `uv_listen` would
/// close the waiting connections, or spin. This class leaves them in the kernel's queue until
/// descriptors are free. Calls `uv_poll_start`.
@safe public final class UnixListener: Handle {
    private enum Accepting { case paused, accepting, backingOff, closed }

    /// Connections accepted in one iteration; the limit leaves time for connected clients.
    public static let acceptsInIterationMax = 64
    /// Connections accepted in each of the next iterations.
    public var acceptsInIteration = UnixListener.acceptsInIterationMax
    /// How long accepting pauses when the process or the machine has no free descriptors.
    static let backOff: Duration = .milliseconds(100)

    private let poll: UnsafeMutablePointer<uv_poll_t>
    private let backOffTimer: Timer
    private var descriptor: OwnedDescriptor?
    private var state = Accepting.paused

    /// Gets each connection: non-blocking and close-on-exec.
    public var onConnection: ((consuming OwnedDescriptor) -> Void)?
    /// Called once for each back-off, for the log.
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
        // uv_close on a poll handle ends the watching at once, so the descriptor may be closed.
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

    /// Readable or failed: accept(2) reports which, so `status` is ignored.
    fileprivate func accept() {
        for count in 0..<acceptsInIteration {
            // The callback may have paused or closed the listener.
            guard state == .accepting, let number = descriptor?.rawValue else { return }
            let accepted = cuv_accept(number)
            guard accepted < 0 else {
                onConnection?(OwnedDescriptor(adopting: accepted))
                continue
            }
            switch -accepted {
            case EAGAIN:
                if count == 0, isShutDown(number) {
                    startBackOff(SystemError(errno: ESHUTDOWN, operation: "accept4"))
                }
                return
            case EINTR, ECONNABORTED, EPROTO: continue
            default: return startBackOff(SystemError(errno: -accepted, operation: "accept4"))
            }
        }
    }

    /// Whether another process that has the socket has shut it down: shutdown(2). Then it stays
    /// readable, and accept4(2) has nothing.
    private func isShutDown(_ number: CInt) -> Bool {
        var entry = pollfd(fd: number, events: Self.pollReadHangUp, revents: 0)
        let hungUp = Self.pollReadHangUp | Int16(POLLHUP)
        return unsafe Glibc.poll(&entry, 1, 0) == 1 && entry.revents & hungUp != 0
    }

    /// POLLRDHUP, poll(2), which the headers declare only for GNU programs.
    private static let pollReadHangUp: Int16 = 0x2000

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
