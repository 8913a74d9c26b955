/// A press of a button with `runs`, from the press to its outcome.
struct Run: Sendable {
    let press: Dot
    let by: Author
    /// The time of the press: milliseconds since 1970-01-01T00:00Z.
    let at: Int64
    /// The same on the steady clock. Earlier presses come first.
    let pressedAt: Int64
    /// Why it was pressed; `nil` once it has ended.
    var message: String?
    /// The values of the form at the press, as JSON text without secrets; empty once it has ended.
    var values: [UInt8]
    var state = RunState.waiting
    /// The time of the last change of `state`: milliseconds since 1970-01-01T00:00Z.
    var since: Int64
    /// The revision of that change: the order of ends.
    var revision: UInt64 = 0
    /// When the handler got it, on the steady clock.
    var beganAt: Int64 = 0
    /// Proves who holds it. It is kept after the end, so that a second outcome is told apart from
    /// the outcome of somebody else.
    var ticket: RunTicket?
    var handler: Author?
    /// An earlier handler was lost.
    var isAgain = false
    var text: String?
    var status: Int64?

    /// The order in which presses ended.
    static func endedEarlier(_ left: Run, _ right: Run) -> Bool {
        left.revision != right.revision
            ? left.revision < right.revision : left.press < right.press
    }

    /// The run as readers see it.
    var wire: ButtonRun {
        ButtonRun(
            press: press.description, by: by.wire, at: Timestamp(milliseconds: at), state: state,
            since: Timestamp(milliseconds: since), handler: handler?.wire, text: text,
            status: status)
    }
}

/// The secret that proves who holds a run: the key of its form and 128 random bits.
struct RunTicket: Hashable, Sendable {
    let form: FormKey
    let first: UInt64
    let second: UInt64

    init(form: FormKey, first: UInt64, second: UInt64) {
        self.form = form
        self.first = first
        self.second = second
    }

    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, let form = FormKey(parts[0]),
            let first = UInt64(parts[1], radix: 16), let second = UInt64(parts[2], radix: 16)
        else { return nil }
        self.init(form: form, first: first, second: second)
    }

    var text: String { "\(form)-\(String(first, radix: 16))-\(String(second, radix: 16))" }
}

/// A run as the store keeps it, with the id of its button.
struct RunRow: CausalityCodable {
    /// The kind of the rows in `Ongoing`.
    static let kind = "run"

    var field: String
    var run: Run
    /// It has ended, and its button is gone: another one of that id does not show it.
    var isPast = false

    static func name(_ press: Dot) -> OngoingName { OngoingName(kind: kind, id: press.description) }

    init(field: String, run: Run) {
        self.field = field
        self.run = run
    }

    func write(to writer: inout CausalityWriter) {
        writer.string(field)
        run.press.write(to: &writer)
        run.by.write(to: &writer)
        writer.signed(run.at)
        writer.signed(run.pressedAt)
        writer.optional(run.message) { $0.string($1) }
        writer.blob(run.values)
        writer.string(run.state.rawValue)
        writer.signed(run.since)
        writer.unsigned(run.revision)
        writer.signed(run.beganAt)
        writer.optional(run.ticket) { writer, ticket in
            writer.signed(ticket.form)
            writer.unsigned(ticket.first)
            writer.unsigned(ticket.second)
        }
        writer.optional(run.handler) { $1.write(to: &$0) }
        writer.flag(run.isAgain)
        writer.optional(run.text) { $0.string($1) }
        writer.optional(run.status) { $0.signed($1) }
        writer.flag(isPast)
    }

    init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        field = try reader.string()
        let press = try Dot(from: &reader)
        let by = try Author(from: &reader)
        let (at, pressedAt) = (try reader.signed(), try reader.signed())
        let message = try reader.optionalString()
        let values = try reader.blob()
        let start = reader.offset
        guard let state = RunState(rawValue: try reader.string()) else {
            throw .invalid(offset: start, what: "the state of a run")
        }
        run = Run(
            press: press, by: by, at: at, pressedAt: pressedAt, message: message, values: values,
            state: state, since: try reader.signed())
        run.revision = try reader.unsigned()
        run.beganAt = try reader.signed()
        run.ticket = try reader.optional { reader throws(CausalityDecodeError) in
            RunTicket(
                form: try reader.signed(), first: try reader.unsigned(),
                second: try reader.unsigned())
        }
        run.handler = try reader.optional()
        run.isAgain = try reader.flag()
        run.text = try reader.optionalString()
        run.status = try reader.flag() ? reader.signed() : nil
        isPast = try reader.flag()
    }
}

extension Dot {
    /// The dot with this text: `3f9a.1:1042`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let replica = ReplicaID(String(parts[0])),
            let counter = UInt64(parts[1]), counter > 0
        else { return nil }
        self.init(replica, counter)
    }
}
