// What this host has to publish, until the log has it.
//
//            pump                      acknowledged, all
//   idle ───────────▶ sending(1…4) ─────────────────────▶ idle
//                      ▲   │ refused
//                      │   ▼
//                     stalled(until)
//
// Invariants: nothing leaves the outbox before the log has acknowledged it and everything before
// it. A message that is sent again has the same bytes, so the server can tell that it is the same.
// What waits is bounded: beyond `linkOutboxBytesMax` a form's transactions are dropped and its
// whole is sent.

/// The outbox of a host and what of it is on its way.
struct LinkSender {
    private struct Form {
        var name: String
        var waiting = Queue<LinkTransaction>()
        var bytes = 0
        /// How many of `waiting`, from the front, are on their way, and their bytes.
        var flying = 0
        var flyingBytes = 0
        var whole = Whole.none
        /// Wholes of forms that were of this name, oldest first, with what nobody was told.
        var partings: [(bytes: [UInt8], context: CausalContext)] = []
    }

    private enum Whole {
        case none
        /// The engine must be asked for it.
        case wanted(WholeReason)
        case asked
        case made([UInt8], covering: CausalContext)
    }

    /// A message on its way.
    private struct Flight {
        let id: UInt64
        let form: String
        /// What it covers, if it is a whole.
        let covers: CausalContext?
        /// How many transactions leave the outbox with it.
        var transactions: Int
        let parts: [LinkMessage]
        var missing: Set<Int>
    }

    private enum State {
        case ready
        case stalled(until: UInt64)
    }

    /// Wholes of one name that wait because their forms are not shared any more.
    private static let partingsMax = 4
    /// How long an acknowledgement may take, and a refusal holds back, in nanoseconds.
    static let patience: UInt64 = 5_000_000_000

    private let limits: Limits
    private var forms: [Form] = []
    /// Whose turn is next: the index of a form.
    private var turn = 0
    private var flights: [Flight] = []
    private var state = State.ready
    /// When the flights are sent again.
    private var resendsAt: UInt64?
    private var lastID: UInt64 = 0
    /// The sequence of the newest message that the log has taken.
    private(set) var acknowledged: UInt64 = 0
    /// The same since the server was asked last how long the log is.
    private var acknowledgedSince: UInt64 = 0

    init(_ limits: Limits) { self.limits = limits }

    /// When to pump again without an event, in nanoseconds.
    var deadline: UInt64? {
        if case .stalled(let until) = state { until } else { flights.isEmpty ? nil : resendsAt }
    }

    /// How many transactions of a form are not acknowledged, and a whole that is due.
    func unsent(of form: String) -> UInt64 {
        forms.first { $0.name == form }.map(unsent) ?? 0
    }

    private func unsent(of form: Form) -> UInt64 {
        let isWholeDue = if case .none = form.whole { false } else { true }
        let isWholeFlying = flights.contains { $0.form == form.name && $0.covers != nil }
        return UInt64(form.waiting.count + form.partings.count)
            + (isWholeDue || isWholeFlying ? 1 : 0)
    }

    /// The same of all forms, and the bytes of the transactions.
    var unsent: (transactions: Int, bytes: Int) {
        forms.reduce((0, 0)) { ($0.0 + Int(unsent(of: $1)), $0.1 + $1.bytes) }
    }

    private mutating func place(of name: String) -> Int {
        if let place = forms.firstIndex(where: { $0.name == name }) { return place }
        forms.append(Form(name: name))
        return forms.count - 1
    }

    // MARK: What is to be sent

    /// A transaction is durable here, and must be published.
    /// - Returns: whether the outbox of its form was full, so that its whole is due instead.
    mutating func add(_ transaction: LinkTransaction) -> Bool {
        let place = place(of: transaction.form)
        forms[place].waiting.append(transaction)
        forms[place].bytes += transaction.bytes.count
        guard forms[place].bytes > limits.linkOutboxBytesMax else { return false }
        forms[place].waiting = Queue()
        forms[place].bytes = 0
        forms[place].flying = 0
        forms[place].flyingBytes = 0
        for index in flights.indices where flights[index].form == transaction.form {
            flights[index].transactions = 0
        }
        demandWhole(transaction.form, .overflow)
        return true
    }

    /// The whole of a form is due. One that was made and is not on its way yet has less.
    mutating func demandWhole(_ form: String, _ why: WholeReason) {
        let place = place(of: form)
        switch forms[place].whole {
        case .none, .made: forms[place].whole = .wanted(why)
        case .wanted, .asked: break
        }
    }

    /// A form is not shared any more: its whole goes before anything else of that name.
    mutating func part(with whole: (bytes: [UInt8], context: CausalContext), _ form: String) {
        let place = place(of: form)
        forms[place].partings.removeAll { $0.context.isSubset(of: whole.context) }
        if forms[place].partings.count < Self.partingsMax { forms[place].partings.append(whole) }
    }

    /// The forms whose wholes the engine must give; they count as asked for.
    mutating func takeWanted() -> [(form: String, why: WholeReason)] {
        var wanted: [(form: String, why: WholeReason)] = []
        for place in forms.indices {
            guard case .wanted(let why) = forms[place].whole else { continue }
            forms[place].whole = .asked
            wanted.append((forms[place].name, why))
        }
        return wanted
    }

    /// The engine gave the whole of a form; `nil`: the form is gone.
    mutating func give(whole: (bytes: [UInt8], context: CausalContext)?, of form: String) {
        let place = place(of: form)
        forms[place].whole = whole.map { .made($0.bytes, covering: $0.context) } ?? .none
    }

    // MARK: Sending

    /// Writes of one replica.
    typealias Writes = (replica: ReplicaID, counters: ClosedRange<UInt64>)

    /// Puts content into messages. `nil` for the writes: it is a whole.
    typealias Seal = (_ form: String, [UInt8], Writes?) -> [LinkMessage]?

    /// Sends what may be sent, and sends again what was not acknowledged in time.
    /// - Returns: parts with the names of their acknowledgements, and forms that could not be
    ///   sealed.
    mutating func pump(
        at now: UInt64, seal: Seal
    ) -> (parts: [(id: String, message: LinkMessage)], unsealed: [String]) {
        if case .stalled(let until) = state {
            guard now >= until else { return ([], []) }
            state = .ready
            resendsAt = now
        }
        var parts: [(id: String, message: LinkMessage)] = []
        var unsealed: [String] = []
        if !flights.isEmpty, let resendsAt, now >= resendsAt { parts += resend(at: now) }
        while flights.count < limits.linkBundlesUnackedMax, let place = next() {
            guard let flight = take(from: place, seal) else {
                unsealed.append(forms[place].name)
                state = .stalled(until: now + Self.patience)
                break
            }
            if flights.isEmpty { resendsAt = now + Self.patience }
            flights.append(flight)
            parts += Self.parts(of: flight)
        }
        return (parts, unsealed)
    }

    /// Everything on its way is sent again: the connection is a new one.
    mutating func resend(at now: UInt64) -> [(id: String, message: LinkMessage)] {
        resendsAt = now + Self.patience
        return flights.flatMap(Self.parts)
    }

    /// All parts, acknowledged or not: a receiver may have forgotten the first ones.
    private static func parts(of flight: Flight) -> [(id: String, message: LinkMessage)] {
        flight.parts.enumerated().map { ("\(flight.id).\($0)", $1) }
    }

    /// The next form with something to send; each in its turn.
    private mutating func next() -> Int? {
        for step in 0..<forms.count {
            let place = (turn + step) % forms.count
            // A receiver joins the parts of one message at a time.
            let isInParts = flights.contains {
                $0.form == forms[place].name && $0.parts.count > 1
            }
            if isInParts { continue }
            let mayGo: Bool
            switch forms[place].whole {
            case _ where !forms[place].partings.isEmpty: mayGo = true
            // A host that does not have the form needs its whole before any transaction.
            case .wanted, .asked: continue
            case .made: mayGo = true
            case .none: mayGo = hasBundle(forms[place])
            }
            if mayGo {
                turn = place + 1
                return place
            }
        }
        return nil
    }

    /// Whether transactions of a form may go. They gather while others of the form are on their
    /// way, so that a form with many edits needs few messages.
    private func hasBundle(_ form: Form) -> Bool {
        if form.flying == 0 { return !form.waiting.isEmpty }
        return form.bytes - form.flyingBytes >= limits.linkBundleBytesMax
    }

    private mutating func take(from place: Int, _ seal: Seal) -> Flight? {
        let form = forms[place]
        let items: [LinkItem]
        var writes: Writes?
        var covers: CausalContext?
        if let parting = form.partings.first {
            items = [LinkItem(.whole, parting.bytes)]
            covers = parting.context
        } else if case .made(let bytes, let context) = form.whole {
            items = [LinkItem(.whole, bytes)]
            covers = context
        } else {
            let bundle = self.bundle(form.waiting[form.flying...])
            items = bundle.map { LinkItem(.transaction, $0.bytes) }
            let counters = bundle.map(\.counters)
            writes = (
                form.waiting[form.flying].replica,
                counters.map(\.lowerBound).min()!...counters.map(\.upperBound).max()!
            )
        }
        guard let parts = seal(form.name, LinkItem.encode(items), writes) else { return nil }
        lastID += 1
        if !form.partings.isEmpty {
            forms[place].partings.removeFirst()
        } else if covers != nil {
            forms[place].whole = .none
        } else {
            forms[place].flying += items.count
            forms[place].flyingBytes += items.reduce(0) { $0 + $1.bytes.count }
        }
        return Flight(
            id: lastID, form: form.name, covers: covers,
            transactions: covers == nil ? items.count : 0, parts: parts,
            missing: Set(parts.indices))
    }

    /// The first transactions that go in one message: at least one, of one replica.
    private func bundle(
        _ waiting: Slice<Queue<LinkTransaction>>
    ) -> Slice<Queue<LinkTransaction>> {
        var bytes = 0
        return waiting.prefix { transaction in
            let isFirst = bytes == 0
            bytes += max(1, transaction.bytes.count)
            return isFirst
                || bytes <= limits.linkBundleBytesMax
                    && transaction.replica == waiting.first?.replica
        }
    }

    // MARK: Answers

    /// What the log has now: wholes, and what they cover; transactions, and the newest write.
    struct Taken {
        var wholes: [(form: String, context: CausalContext)] = []
        var transactions: [(form: String, newest: Dot)] = []
    }

    /// The log has taken a part: `id` is the name of its acknowledgement.
    mutating func acknowledged(_ id: String, sequence: UInt64, at now: UInt64) -> Taken {
        let fields = id.split(separator: ".")
        guard fields.count == 2, let flight = UInt64(fields[0]), let part = Int(fields[1]),
            let place = flights.firstIndex(where: { $0.id == flight })
        else { return Taken() }
        var taken = Taken()
        acknowledged = max(acknowledged, sequence)
        acknowledgedSince = max(acknowledgedSince, sequence)
        flights[place].missing.remove(part)
        // A flight leaves only after those before it: of one that is unknown, the log may have
        // nothing.
        while let flight = flights.first, flight.missing.isEmpty {
            flights.removeFirst()
            resendsAt = now + Self.patience
            if let context = flight.covers { taken.wholes.append((flight.form, context)) }
            let place = self.place(of: flight.form)
            var (count, bytes, newest) = (0, 0, Dot?.none)
            forms[place].waiting.take(flight.transactions) { transaction in
                count += 1
                bytes += transaction.bytes.count
                newest = Dot(transaction.replica, transaction.counters.upperBound)
            }
            if let newest { taken.transactions.append((flight.form, newest)) }
            forms[place].bytes -= bytes
            forms[place].flyingBytes -= bytes
            forms[place].flying -= count
        }
        return taken
    }

    /// The server refused a message, or does not know the stream.
    mutating func refused(at now: UInt64) { state = .stalled(until: now + Self.patience) }

    /// The server is asked how long the log is.
    mutating func lengthAsked() { acknowledgedSince = 0 }

    /// The log ended here: it has forgotten what it acknowledged beyond, before it was asked.
    mutating func logEnds(at sequence: UInt64) {
        acknowledged = max(min(acknowledged, sequence), acknowledgedSince)
    }
}
