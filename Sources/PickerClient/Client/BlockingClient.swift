// The blocking face of the machine: one thread, one socket, poll(2).
//
// `call` asks and waits for the answer; `wait` sleeps until something happens on the socket, on
// other descriptors (a child's, a signal's) or at a deadline. Events that come while a call waits
// are kept for the next `wait`. A connection that goes away during a call is made again, and the
// machine sends again what was not answered.

internal import Glibc
public import SyncCore

/// Why a client has no answer.
public enum ClientFailure: Error, Sendable {
    /// No daemon there, and none could or may be started.
    case unreachable(ConnectError, SocketResolution)
    /// The user's own daemon could not be started.
    case launch(LaunchError, SocketResolution)
    /// The daemon said no.
    case refused(WireError)
    /// The connection went, and the daemon did not come back; whether an edit was done is unknown.
    case lost
    /// No answer in so many seconds; whether an edit was done is unknown.
    case timedOut(seconds: Double)
    /// The daemon speaks another protocol.
    case incompatible(WireError)
    /// The peer is no pickersyncd, or a broken one.
    case violation(String)
}

/// A client for programs that do one thing after another.
public final class BlockingClient {
    /// How a client finds its daemon.
    public struct Options: Sendable {
        /// The socket, before the environment and the rules.
        public var socket: String?
        /// Whether the user's own daemon may be started.
        public var autostart = true
        /// Seconds to go on trying to connect. `nil`: a socket where nobody listens fails at once,
        /// a busy daemon or one that is starting has `startSeconds`.
        public var connectSeconds: Double?
        /// Whether connecting and starting a daemon leave the caller of `wait` responsive: its
        /// deadline and descriptors end the wait meanwhile.
        public var connectsInBackground = false
        /// Seconds that an answer may take.
        public var answerSeconds = 30.0
        /// Name and version for the daemon's log and for history.
        public var client: String
        /// The terminal as claimed.
        public var tty: String?

        /// Options of a client of that name.
        public init(client: String) {
            self.client = client
        }
    }

    /// Seconds that a daemon has to start, and to come back while an answer is awaited.
    public static let startSeconds = 10.0

    /// What ended a wait.
    public enum Wake: Sendable {
        case event(ClientEvent)
        /// One of the other descriptors can be read, or hung up.
        case readable(Int32)
        case deadline
    }

    private let options: Options
    /// The socket that the rules chose.
    public let resolution: SocketResolution
    /// The connection by which the rules found the daemon, until it is used.
    private let found: KeptSocket
    private var machine: ClientMachine
    private var socket: StreamSocket?
    private var unsent: ArraySlice<UInt8> = []
    private var backlog: [ClientEvent] = []
    private var lostSince: UInt64?
    private var connectingSince: UInt64?
    private var launch: BackgroundLaunch?
    private var hasConnected = false
    /// What the daemon said of itself and of us.
    public private(set) var greeting: HelloResult?

    /// A client that is not connected yet.
    public init(_ options: Options) {
        self.options = options
        let kept = KeptSocket()
        resolution = SocketResolution(option: options.socket, probe: .system(keeping: kept))
        found = kept
        var random = SystemRandomNumberGenerator()
        var configuration = ClientMachine.Configuration(
            client: options.client, keyPrefix: String(random.next() as UInt64, radix: 36),
            seed: random.next())
        configuration.tty = options.tty
        machine = ClientMachine(configuration, at: MonotonicClock.now())
    }

    // MARK: Asking

    /// Sends a request and waits for its answer.
    public func call(_ request: Request) throws(ClientFailure) -> JSON {
        let ticket = machine.submit(request)
        let deadline = MonotonicClock.now().adding(seconds: options.answerSeconds)
        while true {
            switch try turn(until: deadline, also: [], startsDaemon: true) {
            case .event(.answered(let tickets, let answer)) where tickets.contains(ticket):
                switch answer {
                case .result(let result): return result
                case .refused(let error): throw .refused(error)
                case .superseded, .lost: throw .lost
                }
            case .event(.greeted): break
            case .event(let event): backlog.append(event)
            case .readable: break
            case .deadline: throw .timedOut(seconds: options.answerSeconds)
            }
            let window = options.connectSeconds ?? Self.startSeconds
            if let lostSince, MonotonicClock.now() > lostSince.adding(seconds: window) {
                throw .lost
            }
        }
    }

    /// Sends a request whose answer comes as an event, if anybody waits for it.
    @discardableResult public func submit(_ request: Request) -> Ticket {
        machine.submit(request)
    }

    /// Nobody waits for a request any more: see `ClientMachine.withdraw`.
    public func withdraw(_ ticket: Ticket) -> Withdrawal? {
        machine.withdraw(ticket)
    }

    /// Follows a form: see `ClientMachine.subscribe`.
    public func subscribe(_ request: StateSubscribe) {
        machine.subscribe(request)
    }

    /// Follows a form no longer.
    public func unsubscribe(form: String) {
        machine.unsubscribe(form: form)
    }

    /// Follows the list of forms.
    public func watchForms() {
        machine.watchForms()
    }

    /// What a followed form shows now.
    public func fields(of form: String) -> [NamedField] { machine.fields(of: form) }

    /// The newest token of what was shown of a followed form.
    public func context(of form: String) -> String? { machine.context(of: form) }

    /// Sleeps until something happens: an event, one of `descriptors`, or the deadline in monotonic
    /// nanoseconds. A lost daemon is waited for without end.
    ///
    /// `hangUp` is a descriptor that the caller writes to: it wakes, as readable, only when nobody
    /// reads it any more. A command whose reader went away would otherwise wait for ever.
    public func wait(
        until deadline: UInt64? = nil, also descriptors: [Int32] = [], hangUp: Int32? = nil
    ) throws(ClientFailure) -> Wake {
        if !backlog.isEmpty { return .event(backlog.removeFirst()) }
        return try turn(until: deadline, also: descriptors, hangUp: hangUp, startsDaemon: false)
    }

    /// Closes the connection.
    public func close() {
        socket = nil
        launch = nil
        machine.stop()
    }

    // MARK: The loop

    private func turn(
        until deadline: UInt64?, also descriptors: [Int32], hangUp: Int32? = nil,
        startsDaemon: Bool
    ) throws(ClientFailure) -> Wake {
        while true {
            if let event = machine.takeEvent() {
                switch event {
                case .violation(let reason): throw .violation(reason)
                case .incompatible(let error): throw .incompatible(error)
                case .greeted(let greeting):
                    self.greeting = greeting
                    return .event(event)
                default: return .event(event)
                }
            }
            let now = MonotonicClock.now()
            if launch == nil, let due = machine.connectDeadline, due <= now {
                try connect(startsDaemon: startsDaemon || !hasConnected)
                continue
            }
            flush()
            var wake = launch == nil ? machine.connectDeadline : nil
            if let deadline { wake = min(wake ?? deadline, deadline) }
            let launching = launch.map { [$0.descriptor] } ?? []
            if let ready = poll(descriptors + launching, hangUp: hangUp, until: wake) {
                guard launching.contains(ready) else { return .readable(ready) }
                try takeLaunched()
            }
            if let deadline, MonotonicClock.now() >= deadline { return .deadline }
        }
    }

    private func connect(startsDaemon: Bool) throws(ClientFailure) {
        if let kept = found.take() {
            socket = consume kept
            return connected()
        }
        let started = MonotonicClock.now()
        let since = connectingSince ?? started
        connectingSince = since
        let patience = options.connectSeconds ?? Self.startSeconds
        let isBackground = options.connectsInBackground
        let deadline =
            isBackground ? started : started.adding(seconds: hasConnected ? 1 : patience)
        do throws(ConnectError) {
            try connectOnce(deadline: deadline)
            return
        } catch {
            guard error.mayPass else { throw .unreachable(error, resolution) }
            if startsDaemon, options.autostart, resolution.mayStart {
                return try launch(deadline: started.adding(seconds: patience))
            }
            if isBackground, case .timedOut = error, started < since.adding(seconds: patience) {
                return machine.connectFailed(at: started)
            }
            if hasConnected { return machine.connectFailed(at: MonotonicClock.now()) }
            guard options.connectSeconds != nil else { throw .unreachable(error, resolution) }
            try keepTrying(until: deadline)
        }
    }

    private func connectOnce(deadline: UInt64) throws(ConnectError) {
        socket = try resolution.connect(deadline: deadline)
        connected()
    }

    /// `--connect-timeout` was given: whoever set it wants to wait for a daemon.
    private func keepTrying(until deadline: UInt64) throws(ClientFailure) {
        while true {
            do throws(ConnectError) {
                return try connectOnce(deadline: deadline)
            } catch {
                guard error.mayPass, MonotonicClock.now() < deadline else {
                    throw .unreachable(error, resolution)
                }
                usleep(20_000)
            }
        }
    }

    private func launch(deadline: UInt64) throws(ClientFailure) {
        if options.connectsInBackground,
            let begun = BackgroundLaunch(place: resolution.place, deadline: deadline)
        {
            launch = begun
            return
        }
        do throws(LaunchError) {
            socket = try DaemonLauncher(place: resolution.place).connect(deadline: deadline)
            connected()
        } catch {
            throw .launch(error, resolution)
        }
    }

    private func takeLaunched() throws(ClientFailure) {
        guard let launched = launch?.result else { return }
        launch = nil
        do throws(LaunchError) {
            socket = StreamSocket(Descriptor(try launched.get()))
            connected()
        } catch {
            throw .launch(error, resolution)
        }
    }

    private func connected() {
        hasConnected = true
        connectingSince = nil
        lostSince = nil
        unsent = []
        machine.connectionOpened()
    }

    private func flush() {
        unsent += machine.takeOutput()
        while !unsent.isEmpty, let sent = socket?.send(unsent) {
            switch sent {
            case .bytes(let count): unsent = unsent.dropFirst(count)
            case .wouldBlock: return
            // What the daemon said last is still to be read; the read finds the end.
            case .closed: unsent = []
            }
        }
    }

    /// Polls the socket and the others once; tells which of the others woke it.
    private func poll(
        _ descriptors: [Int32], hangUp: Int32?, until deadline: UInt64?
    ) -> Int32? {
        var list = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // Without a single event asked for, POLLERR and POLLHUP alone are told: poll(2).
        if let hangUp { list.append(pollfd(fd: hangUp, events: 0, revents: 0)) }
        let others = list.count
        if let number = socket?.number {
            let events = unsent.isEmpty ? POLLIN : POLLIN | POLLOUT
            list.append(pollfd(fd: number, events: Int16(events), revents: 0))
        }
        let now = MonotonicClock.now()
        let timeout = deadline.map { $0.pollMilliseconds(since: now) } ?? -1
        guard Glibc.poll(&list, nfds_t(list.count), timeout) > 0 else { return nil }
        if socket != nil, let entry = list.last, entry.revents & ~Int16(POLLOUT) != 0 {
            receive()
        }
        return list.prefix(others).first { $0.revents != 0 }?.fd
    }

    private func receive() {
        guard let received = socket?.receive() else { return }
        let now = MonotonicClock.now()
        switch received {
        case .bytes(let bytes): machine.received(bytes, at: now)
        case .wouldBlock: break
        case .closed:
            socket = nil
            lostSince = lostSince ?? now
            machine.connectionLost(at: now)
        }
    }
}
