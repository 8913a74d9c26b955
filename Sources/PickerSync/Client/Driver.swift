// The thread of FormClient.

internal import PickerClient
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Wakes a thread that sleeps in poll(2), from any thread.
final class Waker: Sendable {
    private struct Ends {
        var reading: Int32
        var writing: Int32
        var isStopped = false
    }

    private let ends: Mutex<Ends>

    init() {
        var pair: [Int32] = [-1, -1]
        // socketpair(2) fails only without free descriptors. Then the thread cannot connect either,
        // and reports that.
        _ = socketpair(AF_UNIX, streamSocketKind, 0, &pair)
        ends = Mutex(Ends(reading: pair[0], writing: pair[1]))
    }

    deinit {
        ends.withLock { ends in
            if ends.reading >= 0 { closeDescriptor(ends.reading) }
            if ends.writing >= 0 { closeDescriptor(ends.writing) }
        }
    }

    var descriptor: Int32 { ends.withLock { $0.reading } }

    var isStopped: Bool { ends.withLock { $0.isStopped } }

    func wake() {
        var byte: UInt8 = 1
        // A full buffer is not an error: the thread has bytes to read, so it wakes.
        ends.withLock { _ = send($0.writing, &byte, 1, Int32(MSG_NOSIGNAL)) }
    }

    func stop() {
        ends.withLock { $0.isStopped = true }
        wake()
    }

    func drain() {
        var bytes = [UInt8](repeating: 0, count: 256)
        ends.withLock { ends in while recv(ends.reading, &bytes, bytes.count, 0) > 0 {} }
    }

    /// Sleeps until `wake` is called.
    func sleep() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        poll(&entry, 1, -1)
        drain()
    }
}

/// Runs the machine of a ``FormClient``.
package struct ClientTransport: Sendable {
    /// There is something to pump.
    package let wake: @Sendable () -> Void
    /// Begins to drive a machine, once, when it is first asked for something.
    package let begin: @Sendable (FormMachine) -> Void
    /// Ends it.
    package let stop: @Sendable () -> Void
    /// Monotonic nanoseconds.
    package let clock: @Sendable () -> UInt64

    /// A transport of these.
    package init(
        wake: @escaping @Sendable () -> Void, begin: @escaping @Sendable (FormMachine) -> Void,
        stop: @escaping @Sendable () -> Void, clock: @escaping @Sendable () -> UInt64
    ) {
        self.wake = wake
        self.begin = begin
        self.stop = stop
        self.clock = clock
    }

    /// A thread of its own, with a socket.
    static func thread(_ options: ConnectionOptions) -> ClientTransport {
        let waker = Waker()
        return ClientTransport(
            wake: { waker.wake() },
            begin: { Driver(machine: $0, waker: waker, options: options).detach() },
            stop: { waker.stop() }, clock: { MonotonicClock.now() })
    }
}

/// The loop of the thread: sleep, pass events in, send requests.
struct Driver: Sendable {
    let machine: FormMachine
    let waker: Waker
    let options: ConnectionOptions

    /// Starts the thread, which ends with the waker.
    func detach() {
        let status = startThread { run() }
        if status != 0 {
            machine.stop(.unreachable(reason: "no thread: \(describe(errno: status))"))
        }
    }

    private func run() {
        while !waker.isStopped {
            // A client that never reached a daemon is discarded with its queue: each caller got an
            // error.
            let failure = drive(BlockingClient(options.background))
            guard let failure, !waker.isStopped else { return machine.stop(.closed) }
            guard case .unreachable = failure else { return machine.stop(failure) }
            machine.failed(failure)
            waker.sleep()
        }
    }

    /// Until the client fails or is stopped.
    private func drive(_ client: BlockingClient) -> FormError? {
        var client = client
        let descriptor = waker.descriptor
        while !waker.isStopped {
            machine.expire(at: MonotonicClock.now())
            machine.pump(into: &client)
            do throws(ClientFailure) {
                switch try client.wait(until: machine.nextDeadline, also: [descriptor]) {
                case .event(let event): machine.received(event)
                case .readable: waker.drain()
                case .deadline: break
                }
            } catch {
                return FormError(error)
            }
        }
        return nil
    }
}
