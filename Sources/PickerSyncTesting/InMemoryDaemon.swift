// A daemon for tests: the engine of `pickersyncd`, without a socket, a disk and a clock.

internal import EngineTestKit
internal import PickerClient
public import PickerSync
internal import SyncCore
internal import Synchronization

/// A daemon inside a test: the real engine, whose clients reach it by calls.
///
///     let daemon = try InMemoryDaemon()
///     let client = daemon.client()
///     let order = IceCream()
///     let session = try await client.open(order)
///     try await order.$scoops.increment()
///
/// What a client writes has reached the daemon, and every other client, when the call that wrote it
/// returns: no test has to wait. Time passes only in ``advance(by:)``.
///
/// A regular expression of a ``TextField`` matches any text here: the daemon's library for them is
/// not linked.
public final class InMemoryDaemon: Sendable {
    /// The user that a client belongs to.
    public struct User: Sendable, Hashable {
        /// The name, as the history shows it.
        public var name: String
        /// The numeric id, by which the daemon distinguishes users.
        public var uid: UInt32

        /// A user by name and id.
        public init(_ name: String, uid: UInt32) {
            self.name = name
            self.uid = uid
        }

        /// The user of a client that names none.
        public static let alice = User("alice", uid: 1_000)
        /// Another user.
        public static let bob = User("bob", uid: 1_001)
    }

    private final class Link {
        let user: User
        let machine: FormMachine
        var wire: ClientMachine
        var connection: ConnectionID?
        /// Its client wants no connection for now.
        var isOffline = false

        init(_ user: User, _ machine: FormMachine, _ wire: ClientMachine) {
            self.user = user
            self.machine = machine
            self.wire = wire
        }
    }

    private final class Core {
        /// The stores by number, each a replica; one of them answers.
        var hosts: [Int: EngineHost] = [:]
        var host: EngineHost
        var links: [UInt64: Link] = [:]
        var lastLink: UInt64 = 0
        var isRunning = true
        var isDirty = false

        init(host: EngineHost) {
            self.host = host
            hosts[1] = host
        }

        var order: [Link] { links.sorted { $0.key < $1.key }.map(\.value) }
    }

    /// Every user may create forms, as members of the daemon's group may.
    private static let creatorsGID: UInt32 = 100

    private let lock = Mutex(())
    /// The thread that holds the lock, as pthread_self(3) gives it; 0 for none.
    private let owner = Atomic<UInt>(0)
    // Touched by the thread that holds the lock alone.
    nonisolated(unsafe) private let core: Core
    private let nanoseconds = Atomic<UInt64>(1_000_000_000)

    /// A daemon without any form.
    public init() throws {
        core = Core(host: try EngineHost(creatorsGID: Self.creatorsGID))
    }

    // MARK: Clients

    /// A client of this daemon.
    ///
    /// - Parameters:
    ///   - user: whose it is.
    ///   - name: name and version of the program, for the history.
    ///   - answerSeconds: how long its calls wait, in seconds of ``advance(by:)``.
    ///   - log: gets messages that are in no answer.
    public func client(
        as user: User = .alice, name: String = "test", answerSeconds: Double = 30,
        log: ClientLog? = nil
    ) -> FormClient {
        let number = alone { core in
            core.lastLink += 1
            return core.lastLink
        }
        let transport = ClientTransport(
            wake: { [weak self] in self?.turn() },
            begin: { [self] machine in
                alone { core in
                    var configuration = ClientMachine.Configuration(
                        client: name, session: "session-\(number)", keyPrefix: "key-\(number)",
                        seed: number)
                    configuration.keepsChangesForReplica = true
                    let wire = ClientMachine(
                        configuration, at: nanoseconds.load(ordering: .relaxed))
                    let link = Link(user, machine, wire)
                    core.links[number] = link
                    connect(link, core)
                }
                turn()
            },
            stop: { [weak self] in
                self?.alone { core in
                    guard let link = core.links.removeValue(forKey: number) else { return }
                    if let connection = link.connection { core.host.disconnect(connection) }
                }
                self?.turn()
            },
            clock: { [weak self] in self?.nanoseconds.load(ordering: .relaxed) ?? 0 })
        return FormClient(transport, answerSeconds: answerSeconds, log: log)
    }

    /// Cuts off every client of a user, or of all; they keep what they show and take edits.
    public func goOffline(_ user: User? = nil) {
        alone { core in
            for link in core.order where user == nil || link.user == user {
                link.isOffline = true
                disconnect(link, core)
            }
        }
        turn()
    }

    /// Lets the clients of a user, or all, come back with what they wrote meanwhile.
    public func comeBack(_ user: User? = nil) {
        alone { core in
            for link in core.order where user == nil || link.user == user {
                link.isOffline = false
                if core.isRunning { connect(link, core) }
            }
        }
        turn()
    }

    /// Kills the daemon: every client is cut off. What was answered is kept.
    public func kill() {
        alone { core in
            for link in core.order { disconnect(link, core) }
            core.host.kill()
            core.isRunning = false
        }
        turn()
    }

    /// Starts the daemon again over what it kept, and lets the clients come back.
    ///
    /// - Parameter store: which of several stores it starts over. The first is 1; another number
    ///   is another store, empty at first, as when a daemon of another state directory is started
    ///   on the socket.
    public func restart(store: Int = 1) throws {
        try alone { core in
            if core.isRunning { core.host.kill() }
            if let host = core.hosts[store] {
                core.host = host
                try host.start()
            } else {
                core.host = try EngineHost(
                    seed: UInt64(store), replica: ReplicaID(id: UInt64(store), epoch: 1),
                    creatorsGID: Self.creatorsGID)
                core.hosts[store] = core.host
            }
            core.isRunning = true
            for link in core.order where !link.isOffline { connect(link, core) }
        }
        turn()
    }

    /// Lets time pass: calls that waited long enough end, and presence and keys grow old.
    public func advance(by span: Duration) {
        let milliseconds = Int64(span / .milliseconds(1))
        nanoseconds.add(UInt64(max(0, milliseconds)) * 1_000_000, ordering: .relaxed)
        alone { core in
            if core.isRunning { core.host.pass(milliseconds: milliseconds) }
            core.isDirty = true
        }
        turn()
    }

    // MARK: Turns

    private func connect(_ link: Link, _ core: Core) {
        guard link.connection == nil else { return }
        link.connection = core.host.connect(
            uid: link.user.uid, user: link.user.name, groups: [Self.creatorsGID])
        link.wire.connectionOpened()
    }

    private func disconnect(_ link: Link, _ core: Core) {
        guard let connection = link.connection else { return }
        link.connection = nil
        core.host.disconnect(connection)
        link.wire.connectionLost(at: nanoseconds.load(ordering: .relaxed))
    }

    /// Runs with the core for this thread alone. What a client does in a callback runs on the same
    /// thread.
    private func alone<Value>(_ body: (Core) throws -> Value) rethrows -> Value {
        let me = presentThread()
        if owner.load(ordering: .relaxed) == me { return try body(core) }
        return try lock.withLock { _ in
            owner.store(me, ordering: .relaxed)
            defer { owner.store(0, ordering: .relaxed) }
            return try body(core)
        }
    }

    /// Carries everything to where it belongs, until nothing is left to do.
    private func turn() {
        if owner.load(ordering: .relaxed) == presentThread() {
            core.isDirty = true
            return
        }
        alone { core in
            repeat {
                core.isDirty = false
                for link in core.order where pass(link) { core.isDirty = true }
            } while core.isDirty
        }
    }

    /// Moves the bytes and events of one client. Returns whether there were any.
    private func pass(_ link: Link) -> Bool {
        link.machine.expire(at: nanoseconds.load(ordering: .relaxed))
        link.machine.pump(into: &link.wire)
        let output = link.wire.takeOutput()
        var didMove = !output.isEmpty
        if let connection = link.connection {
            if !output.isEmpty { core.host.sendBytes(connection, output) }
            core.host.settle()
            for frame in core.host.take(connection) {
                didMove = true
                link.wire.received(
                    Frame.encode(text: Array(frame.utf8)),
                    at: nanoseconds.load(ordering: .relaxed))
            }
        }
        while let event = link.wire.takeEvent() {
            didMove = true
            link.machine.received(event)
        }
        return didMove
    }
}
