// What the stories of this folder share: a loop that must end empty, socket pairs.

import CUV
import Glibc
import Testing

@testable import EventLoop

/// Runs a story to its end, where no handle may be left. `withLoop` itself ends with
/// `uv_loop_close() == 0` or traps.
func withTestLoop<Success>(_ story: (Loop) throws -> Success) throws -> Success {
    try Loop.withLoop { loop in
        let result = try story(loop)
        loop.run()
        #expect(loop.openHandleCount == 0, "the story leaves handles open")
        #expect(!loop.isAlive, "the story leaves requests under way")
        return result
    }
}

extension Loop {
    /// The number of handles that are open and not closing.
    var openHandleCount: Int {
        var count = 0
        uv_walk(raw, countOpenHandle, &count)
        return count
    }

    /// Runs until a condition holds or nothing keeps the loop alive.
    func run(until condition: @escaping () -> Bool) {
        if condition() { return }
        onIterationEnd = { [unowned self] in if condition() { stop() } }
        run()
        onIterationEnd = nil
    }

    /// Runs this many iterations, none of which waits.
    func runIterations(_ count: Int) {
        var left = count
        let timer = Timer(loop: self)
        timer.onFire = { [unowned self] in
            left -= 1
            if left >= 0 { return timer.start(after: .zero) }
            timer.close()
            stop()
        }
        timer.start(after: .zero)
        run()
    }
}

private func countOpenHandle(
    _ raw: UnsafeMutablePointer<uv_handle_t>?, _ count: UnsafeMutableRawPointer?
) {
    guard let data = raw?.pointee.data, let count else { return }
    let handle = Unmanaged<Handle>.fromOpaque(data).takeUnretainedValue()
    guard !handle.isClosing, !(handle is IterationHook) else { return }
    count.assumingMemoryBound(to: Int.self).pointee += 1
}

extension UVError.Code {
    static let brokenPipe = Self(rawValue: -EPIPE)
    static let connectionReset = Self(rawValue: -ECONNRESET)
    static let tryAgain = Self(rawValue: -EAGAIN)
    static let invalidArgument = Self(rawValue: -EINVAL)
}

struct SetupFailed: Error { let reason: String }

/// Two connected Unix stream sockets; the caller gives each to one owner.
func socketPair() throws -> (CInt, CInt) {
    var ends: [CInt] = [-1, -1]
    guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    else { throw SetupFailed(reason: "socketpair: \(errno)") }
    return (ends[0], ends[1])
}

func pipePair(_ loop: Loop) throws -> (Pipe, Pipe) {
    let (left, right) = try socketPair()
    return (
        try Pipe(loop: loop, adopting: OwnedDescriptor(adopting: left)),
        try Pipe(loop: loop, adopting: OwnedDescriptor(adopting: right))
    )
}

func isOpen(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) >= 0 }

func isCloseOnExec(_ descriptor: CInt) -> Bool { fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0 }

// A test elsewhere in this process that starts a child lends it, between fork and exec, a copy of
// every descriptor here. So a socket that was closed may be open for a moment longer, and a story
// that needs it gone waits until it is.

/// Waits until the peer of a socket has gone.
func waitForHangUp(_ descriptor: CInt) {
    var request = pollfd(fd: descriptor, events: 0, revents: 0)
    while request.revents & Int16(POLLHUP) == 0 { poll(&request, 1, -1) }
}

/// The number that the next open(2) would give.
func lowestFreeDescriptor() -> CInt {
    let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
    close(descriptor)
    return descriptor
}

/// Runs a closure on a thread of its own.
struct TestThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    private var thread = pthread_t()

    init(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run)).toOpaque()
        let status = pthread_create(&thread, nil, runTestThread, body)
        precondition(status == 0, "a thread starts")
    }

    func join() { pthread_join(thread, nil) }

    fileprivate static func run(_ body: UnsafeMutableRawPointer) {
        Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run()
    }
}

private nonisolated func runTestThread(_ body: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?
{
    if let body { TestThread.run(body) }
    return nil
}

/// A reader made of closures, as a test's story tells it.
final class PipeCallbacks: PipeReader {
    var onRead: ((UnsafeRawBufferPointer) -> Void)?
    var onEnd: (() -> Void)?
    var onHeldBack: (() -> Void)?
    var onError: ((UVError) -> Void)?

    func pipeRead(_ bytes: UnsafeRawBufferPointer) { onRead?(bytes) }
    func pipeEnded() { onEnd?() }
    func pipeHeldBack() { onHeldBack?() }
    func pipeFailed(_ error: UVError) { onError?(error) }
}

extension Pipe {
    private var callbacks: PipeCallbacks {
        if let callbacks = reader as? PipeCallbacks { return callbacks }
        let callbacks = PipeCallbacks()
        reader = callbacks
        return callbacks
    }

    var onRead: ((UnsafeRawBufferPointer) -> Void)? {
        get { callbacks.onRead }
        set { callbacks.onRead = newValue }
    }
    var onEnd: (() -> Void)? {
        get { callbacks.onEnd }
        set { callbacks.onEnd = newValue }
    }
    var onHeldBack: (() -> Void)? {
        get { callbacks.onHeldBack }
        set { callbacks.onHeldBack = newValue }
    }
    var onError: ((UVError) -> Void)? {
        get { callbacks.onError }
        set { callbacks.onError = newValue }
    }
}
