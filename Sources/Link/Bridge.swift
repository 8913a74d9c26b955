internal import EventLoop
internal import Glibc
internal import SyncCore

// The bridge: it carries messages between its daemon and a NATS server, and decides nothing.
//
//   daemon:  waiting ──connect──▶ attaching ──answer──▶ attached ──lost──▶ waiting
//   server (while attached):  none ──a thread connects──▶ there ──lost, refused, `close`──▶ none
//
// Invariants: it has no state that matters, and may end at any time. Nothing is kept for a daemon
// or a server that is away: what did not arrive is sent or read again by the daemon. While the
// daemon does not read, at most `NatsQueue.bytesMax` bytes wait for it; then it is left.

/// Carries messages between one daemon and one server.
final class Bridge: PipeReader {
    private enum DaemonState {
        case waiting
        case attaching(Pipe)
        case attached(Pipe, LinkAttached)
    }

    private enum ServerState {
        case none
        case connecting
        case there(NatsConnection, NatsQueue)
    }

    /// The pauses before the next attempt, in milliseconds.
    private static let pauses: [Int64] = [100, 200, 500, 1_000, 2_000, 5_000]
    /// After a refusal a person has to change something.
    private static let refusalPause: Int64 = 30_000
    /// Messages wait in the queue while the daemon has not read this many bytes.
    private static let unreadBytesMax = 1 << 20
    /// About the bytes of one write.
    private static let writtenBytes = 64 << 10
    private static let helloID = RequestID(1)
    private static let attachID = RequestID(2)

    private let loop: Loop
    private let options: BridgeOptions
    private let socket: String
    private let say: (String) -> Void
    private var daemon = DaemonState.waiting
    private var server = ServerState.none
    private var decoder = FrameDecoder()
    private var messages = ServerMessageDecoder()
    /// Failed attempts in a row.
    private var daemonFailures = 0
    private var serverFailures = 0
    private let daemonTimer: Timer
    private let serverTimer: Timer
    private var wake: WakeSource?
    /// What was said last of the daemon and of the server, which is not said twice.
    private var lastSaid: (daemon: String, server: String) = ("", "")

    /// A bridge that connects as soon as the loop runs.
    init(
        loop: Loop, options: BridgeOptions, socket: String, say: @escaping (String) -> Void
    ) throws(UVError) {
        self.loop = loop
        self.options = options
        self.socket = socket
        self.say = say
        daemonTimer = Timer(loop: loop)
        serverTimer = Timer(loop: loop)
        daemonTimer.onFire = { [unowned self] in connectToDaemon() }
        serverTimer.onFire = { [unowned self] in connectToServer() }
        wake = try WakeSource(loop: loop) { [unowned self] in serverSaid() }
        daemonTimer.start(after: .zero)
    }

    // MARK: - The daemon

    private func connectToDaemon() {
        do {
            let pipe = try Pipe(loop: loop, adopting: UnixSocket.connect(to: socket))
            pipe.reader = self
            decoder = FrameDecoder(frameBytesMax: 64 << 20)
            daemon = .attaching(pipe)
            try pipe.readStart()
            send(.hello(Hello(client: "pickersync-link/\(Version.current)")), Self.helloID)
            send(.linkAttach, Self.attachID)
        } catch {
            daemonIsLost("\(error)")
        }
    }

    private func daemonIsLost(_ reason: String) {
        switch daemon {
        case .waiting: break
        case .attaching(let pipe), .attached(let pipe, _): pipe.close()
        }
        daemon = .waiting
        if lastSaid.daemon != reason {
            lastSaid.daemon = reason
            say("not attached to the daemon at \(socket): \(reason)")
        }
        dropServer()
        serverTimer.stop()
        daemonTimer.start(after: .milliseconds(Self.pause(daemonFailures)))
        daemonFailures += 1
    }

    private static func pause(_ failures: Int) -> Int64 { pauses[min(failures, pauses.count - 1)] }

    /// Sends a request; without an id it is not answered.
    private func send(_ request: Request, _ id: RequestID? = nil) { write(request.frame(id: id)) }

    private func write(_ frames: [UInt8]) {
        switch daemon {
        case .waiting: return
        case .attaching(let pipe), .attached(let pipe, _):
            if frames.isEmpty { return }
            do throws(UVError) {
                try pipe.write(frames) { [weak self] _ in self?.serverSaid() }
            } catch {
                daemonIsLost("\(error)")
            }
        }
    }

    func pipeRead(_ bytes: UnsafeRawBufferPointer) {
        let outcome = decoder.feed(bytes) { text in
            received(text)
            if case .waiting = daemon { return false }
            return true
        }
        if case .frameTooLarge(let length) = outcome {
            daemonIsLost("it sent a frame of \(length) bytes")
        }
    }

    func pipeEnded() { daemonIsLost("the connection ended") }
    func pipeHeldBack() {}
    func pipeFailed(_ error: UVError) { daemonIsLost("\(error)") }

    private func received(_ text: UnsafeRawBufferPointer) {
        do throws(DecodeError) {
            for message in try messages.decode(text) { try received(message) }
        } catch {
            daemonIsLost("it sent what cannot be read: \(error)")
        }
    }

    private func received(_ message: ServerMessage) throws(DecodeError) {
        switch message {
        case .result(let id, let result) where id == Self.attachID:
            attached(try LinkAttached(decoding: result))
        case .failure(let id, let error) where id == Self.helloID || id == Self.attachID:
            daemonFailures = Self.pauses.count
            daemonIsLost(error.message)
        case .notification(.linkDo(let order)): follow(order)
        case .notification(.goodbye(let goodbye)):
            daemonIsLost("it said goodbye (\(goodbye.reason.text))")
        case .result, .failure, .notification, .unknownNotification: break
        }
    }

    private func attached(_ link: LinkAttached) {
        guard case .attaching(let pipe) = daemon else { return }
        daemon = .attached(pipe, link)
        daemonFailures = 0
        lastSaid.daemon = ""
        say("serves \(link.host) of the fleet \(link.fleet)")
        serverFailures = 0
        connectToServer()
    }

    // MARK: - Orders

    private func follow(_ order: LinkOrder) {
        guard case .there(let connection, _) = server else { return }
        do throws(NatsFailure) {
            switch order {
            case .subscribe(let subjects):
                for subject in subjects { try connection.subscribe(subject) }
            case .publish(let transfer): try connection.publish(transfer)
            case .close(let reason): serverIsLost(reason)
            }
        } catch {
            serverIsLost("\(error)")
        }
    }

    // MARK: - The server

    private func connectToServer() {
        guard case .attached(_, let link) = daemon, case .none = server, let wake else { return }
        server = .connecting
        let queue = NatsQueue(waking: wake.waker)
        Work.start(on: loop) { [options] in
            Result { () throws(NatsFailure) in
                let connection = try NatsConnection(options, reporting: queue)
                do throws(NatsFailure) {
                    try connection.requirePermissions(link)
                } catch {
                    connection.close()
                    throw error
                }
                return connection
            }
        } then: { [weak self] outcome in
            guard let self, case .finished(let result) = outcome else { return }
            connected(result, queue)
        }
    }

    private func connected(_ result: Result<NatsConnection, NatsFailure>, _ queue: NatsQueue) {
        guard case .connecting = server else {
            // The daemon was lost meanwhile.
            if case .success(let connection) = result { end(connection) }
            return
        }
        switch result {
        case .failure(let failure):
            server = .none
            serverIsLost(
                "\(options.servers.map(Self.shown).joined(separator: ", ")): \(failure)",
                after: failure.isRefusal ? Self.refusalPause : nil)
        case .success(let connection):
            server = .there(connection, queue)
            lastSaid.server = ""
            say("connected to \(connection.server.address)")
            send(
                .linkUp(
                    LinkUp(
                        server: connection.server.address,
                        version: connection.server.version,
                        maxPayload: connection.server.payloadMax,
                        rttUs: connection.server.rttMicroseconds)))
            serverSaid()
        }
    }

    /// An address without what is before its `@`, which may be a password.
    private static func shown(_ server: String) -> String {
        server.split(separator: "@").last.map(String.init) ?? server
    }

    /// The daemon has not read what it was sent.
    private var isHeldBack: Bool {
        guard case .attached(let pipe, _) = daemon else { return false }
        return pipe.unwrittenBytes > Self.unreadBytesMax
    }

    /// Takes what the threads of the connection have said, as far as the daemon reads.
    private func serverSaid() {
        // What arrived together is read together, so its effects share a commit. Behind `link.down`
        // it has no effect, and comes again from the log.
        var frames: [UInt8] = []
        defer { write(frames) }
        while case .there(_, let queue) = server, !isHeldBack || queue.isFull,
            let event = queue.take()
        {
            switch event {
            case .message(let transfer):
                serverFailures = 0
                frames += Request.linkMessage(transfer).frame(id: nil)
                guard frames.count > Self.writtenBytes else { break }
                write(frames)
                frames = []
            case .refused(let line):
                serverFailures = Self.pauses.count
                serverIsLost(
                    "the server refuses: \(line); compare the permissions of this host with "
                        + "pickersync-link --print-nats-config", after: Self.refusalPause)
            case .closed(let line): serverIsLost(line)
            case .full:
                let size = "\(queue.bytesMax >> 20) MiB of messages wait"
                if isHeldBack {
                    daemonIsLost("it does not read, and \(size); what it misses is in the log")
                } else {
                    serverIsLost("it sends faster than the daemon takes, and \(size)")
                }
            }
        }
    }

    private func serverIsLost(_ reason: String, after pause: Int64? = nil) {
        dropServer()
        guard case .attached = daemon else { return }
        if lastSaid.server != reason {
            lastSaid.server = reason
            say("no server: \(reason)")
        }
        send(.linkDown(LinkDown(reason: reason.cut(toBytes: 1_024))))
        serverTimer.start(after: .milliseconds(pause ?? Self.pause(serverFailures)))
        serverFailures += 1
    }

    private func dropServer() {
        if case .there(let connection, _) = server { end(connection) }
        server = .none
    }

    private func end(_ connection: NatsConnection) {
        Work.start(on: loop) {
            connection.close()
        } then: { _ in
        }
    }
}
