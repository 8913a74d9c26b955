// The other end of `RemoteHost`: copies bytes between standard input and output, which ssh carries,
// and the daemon of this machine.

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A relay between two descriptors and a daemon.
public struct Relay: ~Copyable {
    /// The daemon's connection.
    private let socket: StreamSocket
    private let input: Int32
    private let output: Int32

    /// Connects with the daemon that the rules of this machine choose. If they choose the user's
    /// own, it is started.
    ///
    /// - Parameters:
    ///   - option: the path of the socket, if it was named.
    ///   - input: what is read from it goes to the daemon.
    ///   - output: what the daemon says is written to it.
    public init(
        socket option: String?, autostart: Bool, input: Int32, output: Int32
    ) throws(ClientFailure) {
        let kept = KeptSocket()
        let resolution = SocketResolution(option: option, probe: .system(keeping: kept))
        let deadline = MonotonicClock.now().adding(seconds: BlockingClient.startSeconds)
        self.input = input
        self.output = output
        if let found = kept.take() {
            socket = consume found
            return
        }
        do throws(ConnectError) {
            socket = try resolution.connect(deadline: deadline)
        } catch {
            guard error.mayPass, autostart, resolution.mayStart else {
                throw .unreachable(error, resolution)
            }
            do throws(LaunchError) {
                socket = try DaemonLauncher(place: resolution.place).connect(deadline: deadline)
            } catch {
                throw .launch(error, resolution)
            }
        }
    }

    /// Bytes that a pipe takes without blocking when poll(2) says that it can be written: PIPE_BUF
    /// of pipe(7).
    private static let pieceBytes = 4_096

    /// Writes the greeting, and copies until either side has closed and everything that it sent
    /// has arrived.
    public consuming func run() {
        var toOutput = Array(RemoteHost.greeting.utf8)[...]
        var toDaemon: ArraySlice<UInt8> = []
        var inputIsOpen = true
        while true {
            var list = [
                // A side is read only when the other one has taken everything: a slow reader slows
                // its writer, and a relay holds one piece in each direction.
                pollfd(
                    fd: inputIsOpen && toDaemon.isEmpty ? input : -1, events: Int16(POLLIN),
                    revents: 0),
                pollfd(
                    fd: socket.number,
                    events: Int16(toOutput.isEmpty ? POLLIN : 0)
                        | Int16(toDaemon.isEmpty ? 0 : POLLOUT),
                    revents: 0),
                // Without data to write, poll(2) still says that the reader is gone.
                pollfd(fd: output, events: Int16(toOutput.isEmpty ? 0 : POLLOUT), revents: 0),
            ]
            guard pollDescriptors(&list, -1) > 0 else {
                if errno == EINTR { continue }
                return
            }
            if list[0].revents != 0 {
                if let bytes = Self.read(input) {
                    toDaemon = bytes[...]
                } else {
                    inputIsOpen = false
                    shutdown(socket.number, Int32(SHUT_WR))
                }
            }
            if !toDaemon.isEmpty {
                switch socket.send(toDaemon) {
                case .bytes(let count): toDaemon = toDaemon.dropFirst(count)
                case .wouldBlock: break
                case .closed: toDaemon = []
                }
            }
            if toOutput.isEmpty, list[1].revents & Int16(POLLIN | POLLHUP | POLLERR) != 0 {
                switch socket.receive() {
                case .bytes(let bytes): toOutput = bytes[...]
                case .wouldBlock: break
                case .closed: return
                }
            } else if list[2].revents != 0 {
                guard list[2].revents & Int16(POLLOUT) != 0, !toOutput.isEmpty,
                    let count = Self.write(output, toOutput.prefix(Self.pieceBytes))
                else { return }
                toOutput = toOutput.dropFirst(count)
            }
        }
    }

    /// What can be read; `nil` at the end.
    private static func read(_ descriptor: Int32) -> [UInt8]? {
        var count = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: 64 << 10) { buffer, initialized in
            repeat {
                count = readBytes(descriptor, buffer)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        return count > 0 ? bytes : nil
    }

    /// The number of bytes written; `nil` if the reader is gone.
    private static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Int? {
        let count = bytes.withUnsafeBytes { writeBytes(descriptor, $0) }
        if count >= 0 { return count }
        return errno == EINTR || errno == EAGAIN ? 0 : nil
    }
}
