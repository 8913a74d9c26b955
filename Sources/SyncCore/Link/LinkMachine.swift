// The link of a host to its fleet without any I/O: what the bridge and the engine say comes in,
// actions go out; time, randomness and keys are parameters.
//
//   detached ──attached──▶ down ──up──▶ up: each stream of the fleet has a StreamReader, whose
//      ▲                     ▲           │   head has its states
//      │                     └── down, no answer in time
//      └── detached: from every state
//
// Beside it are the outbox (LinkSender), the other hosts (Agreement) and the wholes (WholeKeeper).
//
// Invariants:
// - the cursor never passes a message whose effect is not taken: a delivery carries the cursor that
//   the store may keep with it, and a gap in a consumer's numbers makes the machine look again;
// - a stream is read on only if the message at the cursor is the one that was read there;
// - nothing is skipped but what this replica published and has; the name of a host decides nothing,
//   as a restored host must read its own messages;
// - a form that cannot be read on waits at its own place, and all others go on;
// - whatever arrives, memory is bounded and nothing stops a local edit.

/// The link without I/O: see the head of this file.
package struct LinkMachine: ~Copyable {
    package struct Configuration: Sendable {
        package var fleet: String
        package var host: String
        /// 64 random bits of this start of the daemon.
        package var run: UInt64
        package var replica: ReplicaID
        /// The newest write of the replica in each form at the start. Earlier runs have published
        /// none that is newer.
        package var counters: [String: UInt64] = [:]
        /// The daemon's version, for people.
        package var version: String
        /// Whether the host takes what others do and says nothing but beacons.
        package var isFollower = false
        /// The JetStream domains of all sites, this host's first; an empty name: the fleet has one
        /// stream, in the domain of its server.
        package var sites = [""]
        package var limits = Limits()

        package init(
            fleet: String, host: String, run: UInt64, replica: ReplicaID, version: String
        ) {
            self.fleet = fleet
            self.host = host
            self.run = run
            self.replica = replica
            self.version = version
        }
    }

    enum Connection {
        case detached
        case down
        case up
    }

    /// An answer that takes longer is none, in nanoseconds.
    static let patience: UInt64 = 5_000_000_000
    /// When a stream that cannot be used is looked at again, in nanoseconds.
    static let refusalDelay: UInt64 = 30_000_000_000
    /// The same where the server itself could not do something: one that removes the files of a
    /// deleted stream can make the next one soon.
    static let failureDelay: UInt64 = 5_000_000_000
    /// The time between two beacons, and from a change to its beacon, in nanoseconds.
    static let beaconPeriod: UInt64 = 10_000_000_000
    static let beaconDelay: UInt64 = 1_000_000_000
    /// A connection may break for so long and nobody is told, in nanoseconds.
    static let cutOffDelay: UInt64 = 5_000_000_000
    /// Forms that may wait at once: they are in each cursor.
    static let heldMax = 256
    /// The least time between two wholes of a form that people ask for, in nanoseconds.
    static let repairPeriod: UInt64 = 10_000_000_000

    var configuration: Configuration
    package let keys: LinkKeys
    let random: @Sendable () -> UInt64
    /// What the subjects begin with where answers go. The run is in it, so that nobody takes an
    /// answer to an earlier one.
    let inbox: String
    var connection = Connection.detached
    var now: Moment
    var actions = Queue<LinkAction>()
    var server: LinkServer?

    /// One for each stream, that of this host's site first.
    var readers: [StreamReader]
    var lastOrder: UInt64 = 0

    var sender: LinkSender
    /// Why the server did not take the last message that it answered; `nil` if it did.
    package internal(set) var unpublished: String?
    package internal(set) var agreement: Agreement
    var wholes = WholeKeeper()
    /// When the whole of a form was last sent, or will be, because a person asked for it.
    var repairs: [String: UInt64] = [:]
    var lastToken: UInt64 = 0
    var linkedAt: UInt64?
    var beaconAt: UInt64?
    /// What this host said of itself last.
    var ownBeacon: Beacon?
    /// The people of this host, and those of the others.
    var teller: PresenceTeller
    var roster: PresenceRoster
    /// When the engine hears that other hosts came or went.
    var hostsChangedAt: UInt64?
    /// When this host, which has left the fleet, takes all others for away.
    var cutOffAt: UInt64?
    var isCutOff = false
    /// The last test of the link.
    package internal(set) var probe: LinkProbe?
    /// The newest own writes of each form when the log was last read again. Bundles up to there
    /// may have effects that the store has lost: see `isOwn`.
    var reread: [String: UInt64]
    /// What the log has of the forms of the last `lookAtWholes`.
    var contexts: [(form: String, context: CausalContext)] = []

    /// A machine without a bridge.
    ///
    /// - Parameter cursor: what the store keeps; `nil` if it has never read the log.
    package init(
        _ configuration: Configuration, keys: LinkKeys, cursor: LinkCursor?,
        random: @escaping @Sendable () -> UInt64, at now: Moment
    ) {
        self.configuration = configuration
        reread = configuration.counters
        self.keys = keys
        self.random = random
        inbox = "_INBOX.\(configuration.host).\(configuration.run.hexDigits)."
        self.now = now
        readers = configuration.sites.enumerated().map { place, site in
            StreamReader(
                site: site, kept: cursor?.stream(of: site, isOwn: place == 0), configuration.limits)
        }
        sender = LinkSender(configuration.limits)
        agreement = Agreement(configuration.limits)
        teller = PresenceTeller(configuration.limits)
        roster = PresenceRoster(configuration.limits)
    }

    // MARK: Questions

    /// The state, for people: that of the stream where this host publishes.
    package var phase: LinkPhase {
        switch connection {
        case .detached: .detached
        case .down: .down
        case .up: readers[0].phase
        }
    }

    /// Whether more is read only when what was read is in the store.
    package var waitsForStore: Bool { readers.contains { $0.waitsForStore } }

    /// Whether this host publishes, and is one of the fleet.
    var isLinked: Bool { readers[0].isConsuming }

    /// Why the link is not used, while it is refused: one sentence.
    package var refusalReason: String? { readers[0].refusal }

    package var hasReadAll: Bool { readers.allSatisfy(\.isLive) }

    /// How many messages of the logs are left to read, until all was read once, and how many
    /// milliseconds ago the newest that was read was written.
    var behind: (messages: UInt64, milliseconds: Int64) {
        readers.compactMap(\.consumer).filter { !$0.isLive }.reduce((0, 0)) { sum, consumer in
            let age = consumer.left.nanoseconds.map { now.wallMilliseconds - $0 / 1_000_000 } ?? 0
            return (sum.0 &+ consumer.left.messages, max(sum.1, age))
        }
    }

    /// What the log does not have, as `unsent(of:)` counts it, and its bytes but for wholes.
    package var unsent: (transactions: Int, bytes: Int) { sender.unsent }

    /// How many transactions of a form the log does not have; a whole that is due counts as one.
    package func unsent(of form: String) -> UInt64 { sender.unsent(of: form) }

    /// The forms that wait, by name.
    package var heldForms: [String] {
        if readers.count == 1 { return readers[0].held.map(\.form) }
        return Set(readers.flatMap { $0.held.map(\.form) }).sorted()
    }

    var hasActions: Bool { !actions.isEmpty }

    /// The next action, in order.
    package mutating func takeAction() -> LinkAction? {
        guard let action = actions.first else { return nil }
        actions.take(1) { _ in }
        return action
    }

    /// When something is to be done without an event: `deadlinePassed`. Nanoseconds of the
    /// monotonic clock.
    package var deadline: UInt64? {
        // It is asked for several times in an iteration of the loop.
        var deadline = presenceDeadline
        if case .up = connection {
            for place in readers.indices { deadline = min(deadline, readers[place].deadline) }
            if isLinked {
                deadline = min(
                    deadline, beaconAt ?? .max, sender.deadline ?? .max, probe?.deadline ?? .max)
                if readers[0].isLive, !configuration.isFollower {
                    deadline = min(deadline, wholes.deadline ?? .max)
                }
            }
        }
        return deadline == .max ? nil : deadline
    }

    // MARK: The bridge

    package mutating func attached(at now: Moment) {
        self.now = now
        disconnect(.down)
    }

    /// The bridge is gone.
    package mutating func detached(at now: Moment) {
        self.now = now
        disconnect(.detached)
    }

    /// The bridge has no server.
    package mutating func down(at now: Moment) {
        self.now = now
        guard !isDetached else { return }
        disconnect(.down)
    }

    package mutating func up(_ server: LinkServer, at now: Moment) {
        self.now = now
        guard !isDetached else { return }
        disconnect(.up)
        self.server = server
        actions.append(
            .subscribe([inbox + ">"] + LinkSubject.heard(in: configuration.fleet)))
        guard server.payloadMax >= LinkMessage.payloadMin else {
            return refuse(
                "the server takes messages of at most \(server.payloadMax) bytes; set its "
                    + "max_payload to 1MB")
        }
        for place in readers.indices { inspect(place) }
    }

    private var isDetached: Bool { if case .detached = connection { true } else { false } }

    private mutating func disconnect(_ connection: Connection) {
        self.connection = connection
        for place in readers.indices { readers[place].disconnect() }
        server = nil
        leaveFleet()
    }

    /// Nothing is said to the other hosts any more.
    private mutating func leaveFleet() {
        probeFailed()
        if linkedAt != nil { cutOffAt = now.monotonicNanoseconds + Self.cutOffDelay }
        linkedAt = nil
        beaconAt = nil
        unpublished = nil
        teller.link(false, at: now.monotonicNanoseconds)
    }

    // MARK: The streams

    /// Looks at a stream, and reads from the cursor.
    mutating func inspect(_ place: Int) {
        readers[place].state = .inspecting(askForLength(place))
    }

    /// Asks how long a stream is, among other things.
    mutating func askForLength(_ place: Int) -> StreamReader.Awaited {
        if place == 0 { sender.lengthAsked() }
        return ask(JetStreamTalk.info(fleet: configuration.fleet, site: readers[place].site))
    }

    /// A stream is not read; it is looked at again later. If it is this site's, the host leaves the
    /// fleet until then.
    mutating func refuse(_ reason: String, _ place: Int, for delay: UInt64 = Self.refusalDelay) {
        let isNew = readers[place].refuse(
            reason, until: now.monotonicNanoseconds + delay, wall: now.wallMilliseconds)
        if place == 0 { leaveFleet() }
        guard isNew else { return }
        actions.append(
            .report(
                place == 0 ? .refused(reason) : .unread(site: readers[place].site, reason)))
    }

    /// Nothing is said and read until then.
    mutating func refuse(_ reason: String) {
        for place in readers.indices.dropFirst() {
            readers[place].disconnect()
            readers[place].state = .refused(until: now.monotonicNanoseconds + Self.refusalDelay)
        }
        refuse(reason, 0)
    }

    mutating func ask(_ request: JetStreamRequest) -> StreamReader.Awaited {
        lastToken += 1
        actions.append(
            .publish(
                LinkPublication(
                    subject: request.subject, reply: "\(inbox)a.\(lastToken)",
                    payload: request.payload)))
        return StreamReader.Awaited(
            token: lastToken, deadline: now.monotonicNanoseconds + Self.patience)
    }

    // MARK: Time

    /// The deadline passed, or some event happened late.
    package mutating func deadlinePassed(at now: Moment) {
        self.now = now
        let time = now.monotonicNanoseconds
        lookAtPresence()
        for place in readers.indices {
            let forgotten = readers[place].parts.forget(at: time)
            for subject in forgotten {
                actions.append(.report(.incomplete(subject: subject.text)))
            }
            // The cursor waited for them.
            if !forgotten.isEmpty { skip(readers[place].place, place) }
        }
        for place in readers.indices {
            guard case .up = connection else { return }
            switch readers[place].state {
            case .creating(let awaited) where awaited.deadline <= time:
                // A server that may not make a stream for us does not answer.
                refuse(Self.missingStream(configuration.fleet, readers[place].site), place)
            case .refused(let until) where until <= time: inspect(place)
            default: if readers[place].isSilent(at: time) { giveUp(place) }
            }
        }
        guard isLinked else { return }
        if let end = probe?.deadline, end <= time { probeFailed() }
        if let beaconAt, beaconAt <= time {
            self.beaconAt = time + Self.beaconPeriod
            actions.append(.makeBeacon)
        }
        tellPresence()
        lookAtWholes()
        pump()
    }

    private mutating func giveUp(_ place: Int) {
        guard place == 0 else {
            return refuse("it does not answer", place, for: Self.failureDelay)
        }
        actions.append(
            .close(
                reason: "the server did not answer in \(Self.patience / 1_000_000_000) s; check "
                    + "that it has JetStream, and the permissions of this host"))
        disconnect(.down)
    }

    /// The stream does not exist, and this host does not make it.
    static func streamNotMade(_ fleet: String) -> String {
        "the stream \(LinkSubject.stream(of: fleet)) does not exist yet; this host follows, so "
            + "another one must make it"
    }

    static func missingStream(_ fleet: String, _ site: String) -> String {
        "the stream \(LinkSubject.stream(of: fleet)) does not exist and this host may not make it; "
            + "make it with the settings of pickersync-link(1), or allow "
            + JetStreamTalk.create(fleet: fleet, site: site).subject
    }
}
