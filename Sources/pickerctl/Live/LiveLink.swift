// The daemon's socket and the client machine: transfers bytes between them, for a poll(2) loop.

internal import Glibc
internal import PickerClient
internal import SyncCore

/// A connection that reconnects automatically.
struct LiveLink {
    private var machine: ClientMachine
    private var socket: Socket?
    private var unsent: ArraySlice<UInt8> = []
    /// What takes long and has begun: ssh logs in to the daemon's machine, or a daemon starts.
    private var launch: BackgroundLaunch?
    /// Whether a daemon that has gone without a word is started again: only the user's own.
    private let startsDaemon: Bool
    /// Whether the daemon was stopped. Somebody wanted that, so it is not started again.
    private var saidGoodbye = false
    private let daemon: SocketResolution
    private let form: String
    private let identity: ClientMachine.Configuration

    /// A socket that a copyable struct can contain; it is closed with its last reference.
    private final class Socket {
        let stream: StreamSocket
        init(_ stream: consuming StreamSocket) { self.stream = stream }
    }

    /// A link that follows a form.
    init(_ daemon: SocketResolution, form: String, tty: String?, startsDaemon: Bool) {
        self.daemon = daemon
        self.startsDaemon = startsDaemon && daemon.mayStart
        self.form = form
        var random = SystemRandomNumberGenerator()
        let session = String(random.next() as UInt64, radix: 36)
        var identity = ClientMachine.Configuration(
            client: "pickerctl/\(Version.current)", session: session, tty: tty,
            keyPrefix: session, seed: random.next())
        identity.keepsChangesForReplica = true
        self.identity = identity
        machine = Self.following(form, identity)
    }

    private static func following(
        _ form: String, _ identity: ClientMachine.Configuration
    ) -> ClientMachine {
        var machine = ClientMachine(identity, at: MonotonicClock.now())
        machine.subscribe(StateSubscribe(form: form, presence: true))
        return machine
    }

    /// The form was deleted: watches the list of forms to see whether it is created again.
    mutating func awaitForm() { machine.watchForms() }

    /// Follows the form again, on a connection that does not watch the list.
    mutating func rejoin() {
        socket = nil
        launch = nil
        unsent = []
        var random = SystemRandomNumberGenerator()
        var identity = identity
        // Another prefix, because the new machine counts its keys from one again.
        identity.keyPrefix = String(random.next() as UInt64, radix: 36)
        machine = Self.following(form, identity)
    }

    /// What can be read when `receive` has something to do.
    var descriptor: Int32? { socket?.stream.number ?? launch?.descriptor }
    /// Whether there is a connection.
    var isConnected: Bool { machine.isOnline }
    /// Whether bytes wait to be written.
    var isBlocked: Bool { !unsent.isEmpty }
    /// When to connect next.
    var deadline: UInt64? { launch == nil ? machine.connectDeadline : nil }

    mutating func takeEvent() -> ClientEvent? {
        let event = machine.takeEvent()
        switch event {
        case .greeted?: saidGoodbye = false
        case .goodbye?: saidGoodbye = true
        default: break
        }
        return event
    }

    mutating func submit(_ request: Request) -> Ticket { machine.submit(request) }

    /// Connects if it is time to.
    mutating func connectIfDue(at now: UInt64) {
        guard let due = deadline, due <= now else { return }
        let until = now.adding(seconds: Self.launchSeconds)
        if daemon.host != nil {
            return begin { [daemon] () throws(LaunchError) in
                do throws(ConnectError) {
                    return try daemon.connect(deadline: until, mayAsk: false)
                } catch {
                    throw .connect(error)
                }
            }
        }
        do throws(ConnectError) {
            opened(try daemon.connect(deadline: now.adding(seconds: 0.1)))
        } catch {
            guard startsDaemon, !saidGoodbye, error.mayPass else {
                return machine.connectFailed(at: now)
            }
            begin { [place = daemon.place] () throws(LaunchError) in
                try DaemonLauncher(place: place).connect(deadline: until)
            }
        }
    }

    private mutating func begin(
        _ connect: @escaping @Sendable () throws(LaunchError) -> StreamSocket
    ) {
        launch = BackgroundLaunch(connect)
        if launch == nil { machine.connectFailed(at: MonotonicClock.now()) }
    }

    /// How long ssh may take to log in, or a daemon to start, in seconds. ssh cannot ask for
    /// anything, since the form has the terminal.
    private static let launchSeconds = 30.0

    private mutating func opened(_ stream: consuming StreamSocket) {
        socket = Socket(stream)
        unsent = []
        machine.connectionOpened()
        flush()
    }

    private mutating func takeLaunched() {
        guard let result = launch?.result else { return }
        launch = nil
        switch result {
        case .success(let number): opened(StreamSocket(Descriptor(number)))
        case .failure: machine.connectFailed(at: MonotonicClock.now())
        }
    }

    /// Writes as much as the socket accepts.
    mutating func flush() {
        let output = machine.takeOutput()
        if !output.isEmpty { unsent += output }
        while !unsent.isEmpty, let socket {
            switch socket.stream.send(unsent) {
            case .bytes(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock: return
            // The last messages of the daemon are not read yet; reading finds the end of the
            // stream.
            case .closed: unsent = []
            }
        }
    }

    /// Reads the available bytes.
    mutating func receive() {
        guard let socket else { return takeLaunched() }
        switch socket.stream.receive() {
        case .bytes(let bytes): machine.received(bytes, at: MonotonicClock.now())
        case .wouldBlock: break
        case .closed: drop()
        }
    }

    /// Ends the connection; the machine tries again.
    mutating func drop() {
        socket = nil
        unsent = []
        machine.connectionLost(at: MonotonicClock.now())
    }
}
