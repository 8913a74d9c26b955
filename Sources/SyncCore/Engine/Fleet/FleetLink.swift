/// The link of this daemon to its fleet, between the engine, the machine and the bridge.
///
///     alone ──attach──▶ attached ──take──▶ joining ──the delivery is done──▶ attached
///       ▲                  │                  │
///       └── the bridge's connection ends ─────┘ (what is not durable is read again)
///
/// Invariants:
/// - One delivery is joined at a time, item by item, as work of the bridge's connection, so its
///   user pays for it. All others wait in the machine, which can still change them.
/// - The machine is told that a delivery is saved once its batch is durable, and never earlier.
/// - Nothing is written to a bridge that has not read `answerBytesMax` bytes.
///
/// Confined to the loop.
package final class FleetLink {
    /// A delivery that is being joined.
    struct Joining {
        let delivery: LinkDelivery
        /// The next of its items.
        var next = 0
        /// That item, once it is read.
        var item: Item?

        /// An item of the delivery.
        enum Item {
            case dropped
            /// To be joined once these texts are matched.
            case shared(SharedItem, [PatternCheck])
        }

        mutating func takeItem() -> Item? {
            defer { item = nil }
            return item
        }
    }

    package var machine: LinkMachine
    /// The connection of the bridge.
    var bridge: Connection?
    /// What is being joined; its work is in the inbox of the bridge's connection.
    var joining: Joining?
    /// Deliveries that are in a batch which is not durable, each with the number of the batch.
    private var inBatch: [(batch: UInt64, order: UInt64)] = []
    /// The cursor behind messages without an effect, which has time: see `Engine.finish`.
    private(set) var idle: (cursor: LinkCursor, order: UInt64, count: Int, since: UInt64)?
    /// A batch with joins failed. The log is read again once the store is healthy.
    var mustFallBack = false
    /// Forms whose wholes the machine waits for, as the form in memory is ahead of the store, and
    /// why.
    var wantedWholes: [String: WholeReason] = [:]
    /// Forms whose people came, moved or left, and of whom the machine does not know yet.
    private var presenceNoted: [LiveForm] = []
    /// What this host and the others have under way.
    var underWay = UnderWayBoard()
    /// Requests that go to other hosts, and those that came from them.
    var verbs = VerbDesk()
    /// Forms of other hosts that the store does not take; they are tried again once it is rebuilt.
    var refusedForms: Set<String> = []
    /// The lives of edits that came before their form and wait for it, by its name.
    var earlyLives: [String: FormLives] = [:]
    /// Forms of other hosts that were more than `formsMax`; they are tried again once they are not.
    var beyondFormsMax: Set<String> = []
    /// The digests of forms, with the writes that they cover.
    var digests: [String: (context: CausalContext, digest: UInt64)] = [:]

    // For people.
    /// The server that the bridge has.
    var server: LinkUp?
    /// Why there is none, and since when (milliseconds since 1970).
    var down: (reason: String, since: Int64)
    /// Why each form that waits does.
    private(set) var heldBecause: [String: String] = [:]
    /// Other forms of names that forms here have, by name. A form that was not kept for its size
    /// has no whole.
    package private(set) var otherForms:
        [String: (lives: FormLives, whole: WholeForm?, bytes: Int)] = [:]
    package var counters = Counters()
    /// The newest message that was not taken: its host, why, and when (monotonic nanoseconds).
    private var dropped: (host: String?, why: String, at: UInt64)?
    /// When a report of each kind was last logged (monotonic nanoseconds).
    private var loggedAt: [String: UInt64] = [:]

    /// Counters since the start.
    package struct Counters {
        var published: UInt64 = 0
        var joined: UInt64 = 0
        var known: UInt64 = 0
        /// Wholes that were made, by `WholeReason`.
        package var wholes: [String: UInt64] = [:]
        /// How often the log was read from its beginning, by `ReadAgainReason`.
        var readsAnew: [String: UInt64] = [:]
        package var forks: UInt64 = 0
        package var disagreements: UInt64 = 0
        /// Messages that were not taken, by the name of the refusal.
        var refused: [String: UInt64] = [:]
    }

    init(_ machine: consuming LinkMachine, at now: Moment) {
        self.machine = machine
        down = ("no bridge is connected", now.wallMilliseconds)
    }

    /// How many messages without an effect, and for how many nanoseconds, the cursor may wait for
    /// an edit that it is committed with. A host's own messages come back as such.
    private static let idleMax = 64
    private static let idleNanoseconds: UInt64 = 200_000_000

    /// When the cursor that waits must be committed (monotonic nanoseconds).
    var idleDeadline: UInt64 { idle.map { $0.since + Self.idleNanoseconds } ?? .max }

    /// The cursor moved past a message without an effect.
    func wait(_ cursor: LinkCursor, _ order: UInt64, at now: UInt64) {
        idle = (cursor, order, (idle?.count ?? 0) + 1, idle?.since ?? now)
    }

    /// The cursor that waits, if it is time; removed.
    func takeIdle(at now: UInt64, isBatchOpen: Bool) -> (cursor: LinkCursor, order: UInt64)? {
        guard let idle,
            isBatchOpen || idle.count >= Self.idleMax || now >= idle.since + Self.idleNanoseconds
        else { return nil }
        self.idle = nil
        return (idle.cursor, idle.order)
    }

    /// People of this host came, moved or left.
    func notePresence(of form: LiveForm, _ link: FormLink) {
        guard !link.isPresenceNoted else { return }
        link.isPresenceNoted = true
        presenceNoted.append(form)
    }

    /// Removes and returns the forms whose people came, moved or left.
    func takePresenceNoted() -> [LiveForm] {
        if presenceNoted.isEmpty { return [] }
        defer { presenceNoted = [] }
        return presenceNoted
    }

    /// A delivery has its effect in a batch.
    func gathered(_ order: UInt64, in batch: UInt64) {
        // A later cursor is that of the earlier messages as well.
        if let idle, idle.order < order { self.idle = nil }
        inBatch.append((batch, order))
    }

    /// A batch is durable. Returns the newest delivery in it; `nil` if there is none.
    func takeSaved(through batch: UInt64) -> UInt64? {
        let saved = inBatch.prefix { $0.batch <= batch }
        inBatch.removeFirst(saved.count)
        return saved.last?.order
    }

    /// Forgets what was taken and is not durable.
    func dropTaken() {
        joining = nil
        idle = nil
        inBatch = []
    }

    /// Bytes of all other forms that are kept.
    private static let otherBytesMax = 64 << 20

    /// A form waits; returns whether that was not known.
    func waits(_ form: String, because why: String) -> Bool {
        let held = Set(machine.heldForms)
        beyondFormsMax = beyondFormsMax.filter { $0 == form || held.contains($0) }
        heldBecause = heldBecause.filter { held.contains($0.key) }
        return heldBecause.updateValue(why, forKey: form) != why
    }

    /// Why a form waits, for people.
    func whyHeld(_ form: String) -> String {
        heldBecause[form] ?? "an edit of another host came before the form that it is of"
    }

    /// Another host has another form of a name that a form here has.
    func met(_ item: SharedItem, bytes: Int) {
        let name = item.form
        guard case .whole(let whole) = item else {
            if otherForms[name] == nil { otherForms[name] = (item.lives, nil, 0) }
            return
        }
        otherForms[name] = nil
        let kept = otherForms.values.reduce(0) { $0 + $1.bytes }
        let isKept = kept + bytes <= Self.otherBytesMax
        otherForms[name] = (whole.lives, isKept ? whole : nil, isKept ? bytes : 0)
    }

    /// A form takes again what arrives, from where it waited.
    func endWaiting(_ form: String, at now: Moment) {
        otherForms[form] = nil
        earlyLives[form] = nil
        heldBecause[form] = nil
        beyondFormsMax.remove(form)
        machine.release(form, at: now)
    }

    /// The forms of which an edit waits for a whole that was not read, in ascending order.
    var awaitedForms: [String] {
        machine.heldForms.filter { machine.takesWholes($0) && otherForms[$0]?.whole == nil }
    }

    /// A message was not taken.
    func drop(_ subject: String, _ refusal: LinkRefusal, at now: UInt64) {
        counters.refused[refusal.name, default: 0] += 1
        dropped = (LinkSubject(subject)?.host, "\(refusal)", now)
    }

    /// How long the newest message that was not taken is told of.
    private static let droppedNanoseconds: UInt64 = 60_000_000_000

    /// The newest message that was not taken, in `server.status`; `nil` if that was long ago.
    func droppedReport(at now: UInt64) -> JSONObject? {
        guard let dropped, now &- dropped.at < Self.droppedNanoseconds else { return nil }
        var report = JSONObject()
        report["host"] = dropped.host.map { .string($0) }
        report["why"] = .string(dropped.why)
        report["agoMs"] = .integer(Int64(clamping: (now &- dropped.at) / 1_000_000))
        return report
    }

    /// Whether a report of this kind is logged: one a minute.
    func admitsReport(_ kind: String, at now: UInt64) -> Bool {
        if let last = loggedAt[kind], now &- last < 60_000_000_000 { return false }
        loggedAt[kind] = now
        return true
    }
}

extension LinkTransfer {
    /// A publication as it goes to the bridge.
    package init(_ publication: LinkPublication) {
        self.init(
            subject: publication.subject, reply: publication.reply,
            headers: publication.headers.map { "\($0.name): \($0.value)" },
            data: publication.payload)
    }

    /// The message as the machine takes it.
    package var arrival: LinkArrival {
        LinkArrival(
            subject: subject, reply: reply,
            headers: headerPairs.map { LinkHeader($0.name, $0.value) }, payload: data)
    }
}
