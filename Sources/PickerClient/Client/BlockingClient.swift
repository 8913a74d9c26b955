// The blocking client on top of `ClientMachine`: one thread, one socket, poll(2).
//
// `call` sends a request and waits for the answer; `wait` sleeps until something happens on the
// socket, on other descriptors (a child's, a signal's) or at a deadline. Events that arrive during
// a call are kept for the next `wait`, up to a bound. If the connection is lost during a call, the
// client reconnects and the machine sends unanswered requests again.

public import SyncCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Why a request has no answer.
public enum ClientFailure: Error, Sendable {
    /// No daemon answers, and none could or may be started.
    case unreachable(ConnectError, SocketResolution)
    /// The user's own daemon could not be started.
    case launch(LaunchError, SocketResolution)
    /// The daemon refused the request.
    case refused(WireError)
    /// The connection was lost, and the daemon did not come back; it is unknown whether an edit was
    /// applied.
    case lost
    /// No answer within this number of seconds; it is unknown whether an edit was applied.
    case timedOut(seconds: Double)
    /// The daemon has another protocol version.
    case incompatible(WireError)
    /// The peer violated the protocol.
    case violation(String)
}

/// A client for sequential programs.
public final class BlockingClient {
    /// How a client finds its daemon.
    public struct Options: Sendable {
        /// The socket; it overrides the environment and the rules.
        public var socket: String?
        /// The machine of the daemon as ssh(1) takes it; `nil` is this one. `socket` is then a path
        /// there.
        public var host: RemoteHost?
        /// Whether the user's own daemon may be started.
        public var autostart = true
        /// How long to retry connecting, in seconds. `nil`: if nobody listens, connecting fails at
        /// once; a daemon that is busy or starting has `startSeconds`.
        public var connectSeconds: Double?
        /// Whether the deadline and the descriptors of `wait` also end a wait while the client is
        /// connecting or starting a daemon.
        public var connectsInBackground = false
        /// The timeout for an answer, in seconds.
        public var answerSeconds = 30.0
        /// See ``ClientMachine/Configuration/keepsChangesForReplica``.
        public var keepsChangesForReplica = false
        /// Name and version for the daemon's log and for history.
        public var client: String
        /// The terminal that the client reports.
        public var tty: String?

        /// Options for a client with this name.
        public init(client: String) {
            self.client = client
        }
    }

    /// How long a daemon may take to start, or to come back during a call, in seconds.
    public static let startSeconds = 10.0

    /// Bytes of the frames that may come before the answer that a call waits for. A daemon answers
    /// in some milliseconds; only a flood is longer.
    static let backlogBytesMax = 16 << 20
    private static let flood = ClientFailure.violation(
        "more than \(backlogBytesMax) bytes of other messages before an answer")

    /// What ended a wait.
    public enum Wake: Sendable {
        case event(ClientEvent)
        /// One of the other descriptors can be read, or hung up.
        case readable(Int32)
        case deadline
    }

    private let options: Options
    /// The socket according to the rules.
    public let resolution: SocketResolution
    /// The connection with which the rules found the daemon, until it is used.
    private let found: KeptSocket
    private var machine: ClientMachine
    private var socket: StreamSocket?
    private var unsent: ArraySlice<UInt8> = []
    private var backlog = EventBacklog()
    /// Bytes of the frame of the event that `turn` gave last.
    private var eventBytes = 0
    /// While a call waits: the most that `ignoredBytes` of the machine may come to.
    private var ignoredBytesMax = Int.max
    private var lostSince: UInt64?
    private var connectingSince: UInt64?
    private var launch: BackgroundLaunch?
    private var hasConnected = false
    /// The daemon's answer to `hello`.
    public private(set) var greeting: HelloResult?
    /// When connecting and each `call` give up at the latest (monotonic nanoseconds); `nil` if only
    /// the options bound them.
    public var deadline: UInt64?

    /// A client that is not connected yet.
    public init(_ options: Options) {
        self.options = options
        let kept = KeptSocket()
        let probe = SocketProbe.system(keeping: kept)
        if let host = options.host {
            resolution = SocketResolution(host: host, reason: "host \(host.name)", probe: probe)
        } else {
            resolution = SocketResolution(option: options.socket, probe: probe)
        }
        found = kept
        var random = SystemRandomNumberGenerator()
        var configuration = ClientMachine.Configuration(
            client: options.client, keyPrefix: String(random.next() as UInt64, radix: 36),
            seed: random.next())
        configuration.tty = options.tty
        configuration.keepsChangesForReplica = options.keepsChangesForReplica
        machine = ClientMachine(configuration, at: MonotonicClock.now())
    }

    // MARK: Asking

    /// Sends a request and waits for its answer.
    public func call(_ request: Request) throws(ClientFailure) -> JSON {
        try call([request])[0]
    }

    /// Sends requests together and waits for all their answers. If one is refused, the others may
    /// have been executed.
    public func call(_ requests: [Request]) throws(ClientFailure) -> [JSON] {
        let tickets = requests.map { machine.submit($0) }
        var results = [JSON?](repeating: nil, count: tickets.count)
        // Somebody may type a password for ssh, which is not the daemon's time.
        if resolution.host != nil, !hasConnected { try connect(startsDaemon: true) }
        let began = MonotonicClock.now()
        let ends = bounded(began.adding(seconds: options.answerSeconds))
        ignoredBytesMax = machine.ignoredBytes + Self.backlogBytesMax
        defer { ignoredBytesMax = .max }
        while results.contains(nil) {
            switch try turn(until: ends, also: [], startsDaemon: true) {
            case .event(.answered(let answered, let answer))
            where !answered.allSatisfy { !tickets.contains($0) }:
                switch answer {
                case .result(let result):
                    for place in tickets.indices where answered.contains(tickets[place]) {
                        results[place] = result
                    }
                case .refused(let error): throw .refused(error)
                case .superseded, .lost, .otherReplica: throw .lost
                }
            case .event(.greeted): break
            case .event(let event):
                backlog.append(EventBacklog.Entry(event: event, bytes: eventBytes))
                if backlog.bytes > Self.backlogBytesMax { throw Self.flood }
            case .readable: break
            case .deadline: throw .timedOut(seconds: Double(max(began, ends) - began) / 1e9)
            }
            let window = options.connectSeconds ?? Self.startSeconds
            if let lostSince, MonotonicClock.now() > lostSince.adding(seconds: window) {
                throw .lost
            }
        }
        return results.compactMap(\.self)
    }

    /// Sends a request without waiting; its answer is an event.
    @discardableResult public func submit(_ request: Request) -> Ticket {
        machine.submit(request)
    }

    /// Withdraws a request: see `ClientMachine.withdraw`.
    public func withdraw(_ ticket: Ticket) -> Withdrawal? {
        machine.withdraw(ticket)
    }

    /// Follows a form: see `ClientMachine.subscribe`.
    public func subscribe(_ request: StateSubscribe) {
        machine.subscribe(request)
    }

    /// Stops following a form.
    public func unsubscribe(form: String) {
        machine.unsubscribe(form: form)
    }

    /// Follows the list of forms.
    public func watchForms() {
        machine.watchForms()
    }

    /// The current fields of a followed form.
    public func fields(of form: String) -> [NamedField] { machine.fields(of: form) }

    /// Sleeps until something happens: an event, one of `descriptors`, or the deadline in monotonic
    /// nanoseconds. If the daemon is lost, it waits without a limit.
    ///
    /// `hangUp` is a descriptor that the caller writes to. It ends the wait, as readable, when its
    /// reader has closed it. Otherwise a command whose reader is gone would wait for ever.
    public func wait(
        until deadline: UInt64? = nil, also descriptors: [Int32] = [], hangUp: Int32? = nil
    ) throws(ClientFailure) -> Wake {
        if let entry = backlog.takeFirst() { return .event(entry.event) }
        return try turn(until: deadline, also: descriptors, hangUp: hangUp, startsDaemon: false)
    }

    /// Closes the connection.
    public func close() {
        socket = nil
        launch = nil
        machine.stop()
    }

    // MARK: The loop

    private func bounded(_ time: UInt64) -> UInt64 { min(time, deadline ?? .max) }

    private func turn(
        until deadline: UInt64?, also descriptors: [Int32], hangUp: Int32? = nil,
        startsDaemon: Bool
    ) throws(ClientFailure) -> Wake {
        while true {
            if let entry = machine.takeEventAndBytes() {
                let event = entry.event
                eventBytes = entry.bytes
                switch event {
                case .violation(let reason): throw .violation(reason)
                case .incompatible(let error): throw .incompatible(error)
                case .greeted(let greeting):
                    self.greeting = greeting
                    return .event(event)
                default: return .event(event)
                }
            }
            if machine.ignoredBytes > ignoredBytesMax { throw Self.flood }
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
        // Somebody may have to type a password for ssh.
        let waits = resolution.host != nil && !hasConnected
        let patience = options.connectSeconds ?? (waits ? .infinity : Self.startSeconds)
        let isBackground = options.connectsInBackground
        let deadline =
            isBackground ? started : bounded(started.adding(seconds: hasConnected ? 1 : patience))
        do throws(ConnectError) {
            try connectOnce(deadline: deadline)
            return
        } catch {
            guard error.mayPass else { throw .unreachable(error, resolution) }
            if startsDaemon, options.autostart, resolution.mayStart {
                return try launch(deadline: bounded(started.adding(seconds: patience)))
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

    /// `--connect-timeout` was given, so the user wants to wait for a daemon.
    private func keepTrying(until deadline: UInt64) throws(ClientFailure) {
        while true {
            do throws(ConnectError) {
                return try connectOnce(deadline: deadline)
            } catch {
                guard error.mayPass, MonotonicClock.now() < deadline else {
                    throw .unreachable(error, resolution)
                }
                usleep(resolution.host == nil ? 20_000 : 1_000_000)
            }
        }
    }

    private func launch(deadline: UInt64) throws(ClientFailure) {
        if options.connectsInBackground,
            let begun = BackgroundLaunch({ [place = resolution.place] () throws(LaunchError) in
                try DaemonLauncher(place: place).connect(deadline: deadline)
            })
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
            // The last messages of the daemon are not read yet; reading finds the end of the
            // stream.
            case .closed: unsent = []
            }
        }
    }

    /// Polls the socket and the other descriptors once; returns which of the others is ready.
    private func poll(
        _ descriptors: [Int32], hangUp: Int32?, until deadline: UInt64?
    ) -> Int32? {
        var list = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        // If no events are requested, poll(2) reports only POLLERR and POLLHUP.
        if let hangUp { list.append(pollfd(fd: hangUp, events: 0, revents: 0)) }
        let others = list.count
        if let number = socket?.number {
            let events = unsent.isEmpty ? POLLIN : POLLIN | POLLOUT
            list.append(pollfd(fd: number, events: Int16(events), revents: 0))
        }
        let now = MonotonicClock.now()
        let timeout = deadline.map { $0.pollMilliseconds(since: now) } ?? -1
        guard pollDescriptors(&list, timeout) > 0 else { return nil }
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
