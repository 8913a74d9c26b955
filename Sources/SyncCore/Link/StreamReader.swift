// One stream of the fleet as this host reads it.
//
//   idle ─up─▶ inspecting ─info─▶ verifying ─it is there─▶ reading ⇄ live
//     ▲         │   ▲ │             │ another message, or none
//     │         │   │ └ unusable    ▼
//     │         │ retry  refused   readingAgain ─wholes are read─▶ reading
//     │         └ no stream: creating ─▶ inspecting
//     └─ down: from every state
//
// A fleet has one stream, or one at each site: a site is a server that is a leaf node of another
// one, with a JetStream domain of its own. A host publishes to the stream of its site alone, and
// reads those of all sites, each from its own cursor, directly over the domain. So each message is
// in one stream, and two hosts that have read all streams equally far must have the same. Nothing
// is mirrored: a mirror whose origin is made again misses in silence what has the numbers that it
// had, and its readers cannot tell.
//
// - The first reader is that of this site. Only it makes its stream, and without it the host is not
//   linked: it has nowhere to publish.
// - Another site that does not answer is `refused`, and tried again. All others are read on, so a
//   site that is cut off goes on among its own hosts.
// - Order: there is none between streams. What arrives before what it rests on is joined all the
//   same, as its context says what it has seen, and so is what comes after it. Runs are compared
//   within one stream. A form that waits, waits in each stream at its own place, and is released in
//   all.
// - Agreement: a beacon has the place in each stream. See Agreement.swift for hosts that do not
//   reach the same streams.

/// A reader of one stream: see the head of this file.
struct StreamReader {
    /// A request of JetStream without an answer yet.
    struct Awaited {
        let token: UInt64
        let deadline: UInt64
    }

    enum State {
        case idle
        case inspecting(Awaited)
        case creating(Awaited)
        case refused(until: UInt64)
        case consuming(Consumer)
    }

    struct Consumer {
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
        var name = ""
        var pulls: [Pull] = []
        var lastDelivery: UInt64 = 0
        /// The stream was asked how long it is, as a pull brought nothing.
        var checking: Awaited?
        /// The place at which the last check found more in the stream.
        var wasBehindAt: UInt64?
        /// How many messages of the log are left, and when it took the one before them, in
        /// nanoseconds since 1970.
        var left: (messages: UInt64, nanoseconds: Int64?) = (0, nil)
        /// The next message is larger than a pull may bring.
        var isNextLarge = false
        var isLive = false

        init(info: JetStreamInfo, pass: Pass, opening: Awaited) {
            self.info = info
            self.pass = pass
            self.opening = opening
        }

        /// How many messages may be on their way or not in the store yet. A server leaves out a
        /// whole that would be too large for the bytes of a pull, so there are few wholes.
        var inHandMax: Int {
            pass == .wholes ? JetStreamTalk.pullWholesMax : JetStreamTalk.pullMessagesMax
        }

        /// When one of its requests has taken too long.
        fileprivate var deadline: UInt64 {
            let answer = min(opening?.deadline ?? .max, checking?.deadline ?? .max)
            return pulls.reduce(answer) { min($0, $1.deadline) }
        }
    }

    /// The JetStream domain of the site; empty: the fleet has one stream, in the server's own.
    let site: String
    var state = State.idle
    /// The stream answered last time.
    var isReached = false
    /// Since when it does not, in milliseconds since 1970.
    private(set) var awaySince: Int64?
    /// Why it is not read, which is said once.
    private(set) var refusal: String?

    /// The life of the stream and the place in it that the next message follows. Saved or not.
    var stream: String?
    var place = LinkCursor.Place.start
    var held: [LinkCursor.Held] = []
    var parts: PartCollector
    /// Deliveries that the store does not have yet, with their cursors.
    private(set) var inHand: [(order: UInt64, place: LinkCursor.Place?)] = []
    /// How far the store has the log.
    private(set) var saved = LinkCursor.Place.start
    /// How far something was joined; `.max` if that is not known. A cursor that is not as far says
    /// less than the store has.
    var furthest = UInt64.max
    /// The stream that was read is gone, which was seen once.
    var wasMissing = false
    /// The place behind which a consumer delivered nothing, although the stream has more.
    var stuckAt: UInt64?
    /// The newest runs of each replica, in the order of the log, and when it was last heard.
    private var runs: [ReplicaID: (known: [UInt64], heard: UInt64)] = [:]
    /// The replicas of which they are kept. Any host with the key may name others without end.
    private let replicasMax: Int
    private var messages: UInt64 = 0

    init(site: String, kept: LinkCursor.Stream?, _ limits: Limits) {
        self.site = site
        replicasMax = 4 * limits.linkHostsMax
        parts = PartCollector(limits)
        stream = kept?.created
        // Forms that waited are tried again: this may be the daemon that can read them.
        place = kept?.first ?? .start
        saved = place
    }

    // MARK: Questions

    var consumer: Consumer? { if case .consuming(let consumer) = state { consumer } else { nil } }

    /// Whether more is read only when what was read is in the store.
    var waitsForStore: Bool {
        consumer.map { 2 * inHand.count > $0.inHandMax } ?? false
    }

    var isConsuming: Bool { if case .consuming = state { true } else { false } }

    var isLive: Bool { consumer?.isLive == true }

    var phase: LinkPhase {
        switch state {
        case .idle: .down
        case .inspecting: .inspecting
        case .creating: .creating
        case .refused: .refused
        case .consuming(let consumer):
            switch consumer.pass {
            case .verifying: .verifying
            case .wholes: .readingAgain
            case .log: consumer.isLive ? .live : .reading
            }
        }
    }

    /// Whether the cursor in the store says all that the store has of the stream.
    var isExact: Bool { saved.sequence >= furthest }

    /// How far the store may say that it has the stream; `nil`: it was never read.
    var cursor: LinkCursor.Stream? {
        stream.map {
            LinkCursor.Stream(site: site, created: $0, place: parts.before ?? place, held: held)
        }
    }

    /// How far other hosts are told that the store has the stream.
    var told: Beacon.Place {
        let isKnown = isReached || isExact
        return Beacon.Place(
            site: site, stream: isKnown ? stream ?? "" : "", sequence: saved.sequence,
            isReached: isReached)
    }

    func isHeld(_ form: String) -> Bool { held.contains { $0.form == form } }

    /// When something must be done without an event; `.max`: never.
    var deadline: UInt64 {
        let own: UInt64 =
            switch state {
            case .idle: .max
            case .inspecting(let awaited), .creating(let awaited): awaited.deadline
            case .refused(let until): until
            case .consuming(let consumer): consumer.deadline
            }
        return min(own, parts.deadline ?? .max)
    }

    /// Whether the server has not answered in time.
    func isSilent(at time: UInt64) -> Bool {
        switch state {
        case .inspecting(let awaited): awaited.deadline <= time
        case .consuming(let consumer): consumer.deadline <= time
        case .idle, .creating, .refused: false
        }
    }

    // MARK: Changes

    mutating func disconnect() {
        state = .idle
        isReached = false
    }

    /// The stream is not read until then; returns whether the reason is a new one.
    mutating func refuse(_ reason: String, until time: UInt64, wall: Int64) -> Bool {
        state = .refused(until: time)
        isReached = false
        awaySince = awaySince ?? wall
        defer { refusal = reason }
        return refusal != reason
    }

    /// The stream can be read; returns whether it could not before.
    mutating func reach() -> Bool {
        defer { refusal = nil }
        isReached = true
        wasMissing = false
        awaySince = nil
        return refusal != nil
    }

    /// Reads from the beginning of another life of the stream.
    mutating func begin(_ info: JetStreamInfo) {
        stream = info.created
        furthest = .max
        place = LinkCursor.Place(sequence: max(info.first, 1) - 1, digest: 0)
        held = []
        parts.clear()
        runs = [:]
    }

    /// The engine is given something; its cursor, if it has one.
    mutating func gave(_ order: UInt64, _ cursor: LinkCursor.Stream?) {
        inHand.append((order, cursor?.place))
    }

    /// The store has the effect of all deliveries up to this one.
    mutating func saved(through order: UInt64) {
        let count = inHand.prefix { $0.order <= order }.count
        if let place = inHand[..<count].last(where: { $0.place != nil })?.place { saved = place }
        inHand.removeFirst(count)
    }

    /// A delivery is not taken: its form waits.
    mutating func giveBack(_ order: UInt64) { inHand.removeAll { $0.order == order } }

    /// Nothing that was handed over since is in the store.
    mutating func fallBack(to kept: LinkCursor.Stream?) {
        stream = kept?.created
        held = []
        parts.clear()
        inHand = []
        read(from: kept?.first ?? .start)
    }

    /// Reads again what follows a place. Others say that what is behind it was not read yet.
    mutating func read(from start: LinkCursor.Place) {
        place = start
        if start.sequence < saved.sequence || inHand.isEmpty { saved = start }
        for index in inHand.indices where (inHand[index].place?.sequence ?? 0) > start.sequence {
            inHand[index].place = nil
        }
        runs = [:]
    }

    /// Nothing is read on behind a place.
    mutating func stop(at place: LinkCursor.Place) {
        self.place = place
        runs = [:]
    }

    /// Two machines that publish as one replica take turns in the log. One run of a daemon that
    /// follows another does not come back. A replica that was not heard for the longest time is
    /// forgotten when there are too many; a copy of it is then found once it comes back again.
    ///
    /// - Returns: whether this message shows that.
    mutating func showsCopy(_ headers: LinkHeaders) -> Bool {
        messages += 1
        var known = runs[headers.replica]?.known ?? []
        guard known.last != headers.run else {
            runs[headers.replica]?.heard = messages
            return false
        }
        let isBack = known.contains(headers.run)
        if isBack { known = [] }
        runs[headers.replica] = (known.suffix(7) + [headers.run], messages)
        if runs.count > replicasMax {
            let oldest = runs.min { $0.value.heard < $1.value.heard }
            if let oldest { runs[oldest.key] = nil }
        }
        return isBack
    }
}
