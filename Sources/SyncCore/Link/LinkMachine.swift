// The link of a host to its fleet without any I/O: what the bridge and the engine say comes in,
// actions go out; time, randomness and keys are parameters.
//
//   detached ─attached─▶ down ─up─▶ inspecting ─info─▶ verifying ─it is there─▶ reading ⇄ live
//                         ▲          │   ▲ │             │ another message, or none
//                         │          │   │ └ unusable    ▼
//                         │          │ retry  refused   readingAgain ─wholes are read─▶ reading
//                         │          └ no stream: creating ─▶ inspecting
//                         └─ down, no answer in time: from every state
//   detached ◀─ detached: from every state
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
    /// The configuration of a link.
    package struct Configuration: Sendable {
        /// The fleet.
        package var fleet: String
        /// This host's name in it.
        package var host: String
        /// 64 random bits of this start of the daemon.
        package var run: UInt64
        /// The replica of the store.
        package var replica: ReplicaID
        /// The newest write of the replica in each form at the start. Earlier runs have published
        /// none that is newer.
        package var counters: [String: UInt64] = [:]
        /// The daemon's version, for people.
        package var version: String
        /// Whether the host takes what others do and says nothing but beacons.
        package var isFollower = false
        /// Bytes of one form's transactions that wait to be sent.
        package var outboxBytesMax = 64 << 20

        /// A configuration of these parts.
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

    /// A request of JetStream without an answer yet.
    struct Awaited {
        let token: UInt64
        let deadline: UInt64
    }

    enum State {
        case detached
        case down
        case inspecting(Awaited)
        case creating(Awaited)
        case refused(until: UInt64)
        case consuming(Reader)
    }

    /// Reads a consumer of the stream.
    struct Reader {
        enum Pass {
            /// The first message must be the one at the cursor.
            case verifying
            case wholes
            case log
        }

        struct Pull {
            let token: UInt64
            var left: Int
            let deadline: UInt64
        }

        let info: JetStreamInfo
        var pass: Pass
        /// The consumer is being made.
        var opening: Awaited?
        var consumer = ""
        var pulls: [Pull] = []
        var lastDelivery: UInt64 = 0
        /// The stream was asked how long it is, as a pull brought nothing.
        var checking: Awaited?
        /// The place at which the last check found more in the stream.
        var wasBehindAt: UInt64?
        /// The next message is larger than a pull may bring.
        var isNextLarge = false
        var isLive = false
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
    /// Forms that may wait at once: they are in each cursor.
    static let heldMax = 256
    /// The least time between two wholes of a form that people ask for, in nanoseconds.
    static let repairPeriod: UInt64 = 10_000_000_000

    var configuration: Configuration
    package let keys: LinkKeys
    let random: @Sendable () -> UInt64
    var state = State.detached
    var now: Moment
    var actions = Queue<LinkAction>()
    var server: LinkServer?

    /// The life of the stream and the place in it that the next message follows. Saved or not.
    var stream: String?
    var place = LinkCursor.Place.start
    var held: [LinkCursor.Held]
    var parts = PartCollector()
    /// Deliveries that the store does not have yet, with their cursors.
    var inHand: [(order: UInt64, place: LinkCursor.Place?)] = []
    var lastOrder: UInt64 = 0
    /// How far the store has the log.
    var saved: LinkCursor.Place
    /// How far something was joined; `.max` if that is not known. A cursor that is not as far says
    /// less than the store has.
    var furthest = UInt64.max
    /// The stream that was read is gone, which was seen once.
    var wasMissing = false
    /// The place behind which a consumer delivered nothing, although the stream has more.
    var stuckAt: UInt64?
    /// The runs of each replica, in the order of the log.
    var runs: [ReplicaID: [UInt64]] = [:]

    var sender: LinkSender
    /// Which hosts have the same.
    package internal(set) var agreement = Agreement()
    var wholes = WholeKeeper()
    /// When the whole of a form was last sent, or will be, because a person asked for it.
    var repairs: [String: UInt64] = [:]
    var lastToken: UInt64 = 0
    var linkedAt: UInt64?
    var beaconAt: UInt64?
    /// What this host said of itself last.
    var ownBeacon: Beacon?
    /// The people of this host, and those of the others.
    var teller = PresenceTeller()
    var roster = PresenceRoster()
    /// When the engine hears that other hosts came or went.
    var hostsChangedAt: UInt64?
    /// The reason of the last refusal, which is said once.
    var refusal: String?
    /// The last test of the link.
    package internal(set) var probe: LinkProbe?
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
        self.keys = keys
        self.random = random
        self.now = now
        stream = cursor?.stream
        // Forms that waited are tried again: this may be the daemon that can read them.
        place = cursor?.first ?? .start
        saved = place
        held = []
        sender = LinkSender(outboxBytesMax: configuration.outboxBytesMax)
    }

    // MARK: Questions

    /// The state, for people.
    package var phase: LinkPhase {
        switch state {
        case .detached: .detached
        case .down: .down
        case .inspecting: .inspecting
        case .creating: .creating
        case .refused: .refused
        case .consuming(let reader):
            switch reader.pass {
            case .verifying: .verifying
            case .wholes: .readingAgain
            case .log: reader.isLive ? .live : .reading
            }
        }
    }

    /// Why the link is not used, while it is refused: one sentence.
    package var refusalReason: String? { refusal }

    /// What the log does not have, as `unsent(of:)` counts it, and its bytes but for wholes.
    package var unsent: (transactions: Int, bytes: Int) { sender.unsent }

    /// How many transactions of a form the log does not have; a whole that is due counts as one.
    package func unsent(of form: String) -> UInt64 { sender.unsent(of: form) }

    /// The forms that wait, by name.
    package var heldForms: [String] { held.map(\.form) }

    /// The next action, in order.
    package mutating func takeAction() -> LinkAction? {
        guard let action = actions.first else { return nil }
        actions.take(1) { _ in }
        return action
    }

    /// When something is to be done without an event: `deadlinePassed`. Nanoseconds of the
    /// monotonic clock.
    package var deadline: UInt64? {
        var deadlines: [UInt64?] = [presenceDeadline]
        switch state {
        case .detached, .down: return presenceDeadline
        case .inspecting(let awaited), .creating(let awaited): deadlines.append(awaited.deadline)
        case .refused(let until): deadlines.append(until)
        case .consuming(let reader):
            deadlines += [
                reader.opening?.deadline, reader.checking?.deadline, beaconAt, sender.deadline,
                probe?.deadline,
            ]
            deadlines += reader.pulls.map(\.deadline)
            if reader.isLive, !configuration.isFollower { deadlines.append(wholes.deadline) }
        }
        deadlines.append(parts.deadline)
        return deadlines.compactMap(\.self).min()
    }

    // MARK: The bridge

    /// A bridge is there.
    package mutating func attached(at now: Moment) {
        self.now = now
        disconnect()
        state = .down
    }

    /// The bridge is gone.
    package mutating func detached(at now: Moment) {
        self.now = now
        disconnect()
        state = .detached
    }

    /// The bridge has no server.
    package mutating func down(at now: Moment) {
        self.now = now
        guard !isDetached else { return }
        disconnect()
        state = .down
    }

    /// The bridge has a server.
    package mutating func up(_ server: LinkServer, at now: Moment) {
        self.now = now
        guard !isDetached else { return }
        disconnect()
        self.server = server
        actions.append(
            .subscribe([inbox + ".>"] + LinkSubject.heard(in: configuration.fleet)))
        guard server.payloadMax >= LinkMessage.payloadMin else {
            return refuse(
                "the server takes messages of at most \(server.payloadMax) bytes; set its "
                    + "max_payload to 1MB")
        }
        inspect()
    }

    var isDetached: Bool { if case .detached = state { true } else { false } }

    private mutating func disconnect() {
        probeFailed()
        server = nil
        leaveFleet()
    }

    /// Nothing is said to the other hosts any more.
    private mutating func leaveFleet() {
        linkedAt = nil
        beaconAt = nil
        teller.link(false, at: now.monotonicNanoseconds)
    }

    // MARK: The stream

    /// Looks at the stream, and reads from the cursor.
    mutating func inspect() {
        state = .inspecting(ask(JetStreamTalk.info(fleet: configuration.fleet)))
    }

    /// The link is not used; it is looked at again later.
    mutating func refuse(_ reason: String, for delay: UInt64 = Self.refusalDelay) {
        state = .refused(until: now.monotonicNanoseconds + delay)
        leaveFleet()
        probeFailed()
        guard refusal != reason else { return }
        refusal = reason
        actions.append(.report(.refused(reason)))
    }

    /// Publishes a request of JetStream.
    mutating func ask(_ request: JetStreamRequest) -> Awaited {
        lastToken += 1
        actions.append(
            .publish(
                LinkPublication(
                    subject: request.subject, reply: "\(inbox).a.\(lastToken)",
                    payload: request.payload)))
        return Awaited(
            token: lastToken, deadline: now.monotonicNanoseconds + Self.patience)
    }

    /// Where answers go. The run is in it, so that nobody takes an answer to an earlier one.
    var inbox: String { "_INBOX.\(configuration.host).\(configuration.run.hexDigits)" }

    // MARK: Time

    /// The deadline passed, or some event happened late.
    package mutating func deadlinePassed(at now: Moment) {
        self.now = now
        let time = now.monotonicNanoseconds
        lookAtPresence()
        let forgotten = parts.forget(at: time)
        for subject in forgotten {
            actions.append(.report(.incomplete(subject: subject.text)))
        }
        // The cursor waited for them.
        if !forgotten.isEmpty { skip(place) }
        switch state {
        case .detached, .down: return
        case .creating(let awaited) where awaited.deadline <= time:
            // A server that may not make a stream for us does not answer.
            refuse(Self.missingStream(configuration.fleet))
        case .inspecting(let awaited) where awaited.deadline <= time: giveUp()
        case .refused(let until) where until <= time: inspect()
        case .consuming(let reader):
            let isSilent =
                [reader.opening, reader.checking].contains {
                    $0.map { $0.deadline <= time } == true
                }
                || reader.pulls.contains { $0.deadline <= time }
            if isSilent { return giveUp() }
            if let end = probe?.deadline, end <= time { probeFailed() }
            if let beaconAt, beaconAt <= time {
                self.beaconAt = time + Self.beaconPeriod
                actions.append(.makeBeacon)
            }
            tellPresence()
            lookAtWholes()
            pump()
        default: break
        }
    }

    private mutating func giveUp() {
        actions.append(
            .close(
                reason: "the server did not answer in \(Self.patience / 1_000_000_000) s; check "
                    + "that it has JetStream, and the permissions of this host"))
        disconnect()
        state = .down
    }

    /// The stream does not exist, and this host does not make it.
    static func streamNotMade(_ fleet: String) -> String {
        "the stream \(LinkSubject.stream(of: fleet)) does not exist yet; this host follows, so "
            + "another one must make it"
    }

    static func missingStream(_ fleet: String) -> String {
        "the stream \(LinkSubject.stream(of: fleet)) does not exist and this host may not make it; "
            + "make it with the settings of pickersync-link(1), or allow "
            + "$JS.API.STREAM.CREATE.\(LinkSubject.stream(of: fleet))"
    }
}
