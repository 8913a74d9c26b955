// The params of the methods of buttons with `runs` (PROTOCOL.md, Runs).

/// Params of `button.handle`: the connection takes presses of buttons.
public struct ButtonHandle: Hashable, Sendable {
    public var form: String
    /// Globs of the buttons; `nil` for all. An empty list takes no more presses.
    public var fields: [String]?
    /// Tickets of runs that an earlier connection of this handler has begun.
    public var tickets: [String]

    /// Takes presses of these buttons.
    public init(form: String, fields: [String]? = nil, tickets: [String] = []) {
        self.form = form
        self.fields = fields
        self.tickets = tickets
    }
}

/// Params of `button.progress`: how far a run is.
public struct ButtonProgress: Hashable, Sendable {
    public var press: String
    /// Proves who holds the run.
    public var ticket: String
    /// From 0 to 1; `nil` if nobody knows.
    public var fraction: DecimalNumber?
    public var text: String?

    /// The progress of a run.
    public init(
        press: String, ticket: String, fraction: DecimalNumber? = nil, text: String? = nil
    ) {
        self.press = press
        self.ticket = ticket
        self.fraction = fraction
        self.text = text
    }
}

/// Params of `button.finish`: the outcome of a run.
public struct ButtonFinish: Hashable, Sendable {
    public var press: String
    /// Proves who holds the run.
    public var ticket: String
    public var outcome: Outcome
    public var text: String?
    /// A number for programs, such as an exit status.
    public var status: Int64?

    /// How a run ended for its handler.
    public enum Outcome: String, CaseIterable, Hashable, Sendable {
        case done, failed
    }

    /// The outcome of a run.
    public init(
        press: String, ticket: String, outcome: Outcome, text: String? = nil, status: Int64? = nil
    ) {
        self.press = press
        self.ticket = ticket
        self.outcome = outcome
        self.text = text
        self.status = status
    }
}

/// Params of `button.cancel`.
public struct ButtonCancel: Hashable, Sendable {
    public var form: String
    public var field: String
    public var press: String

    /// Cancels a press of a button.
    public init(form: String, field: String, press: String) {
        self.form = form
        self.field = field
        self.press = press
    }
}

/// Params of `button.outcome`.
public struct ButtonOutcome: Hashable, Sendable {
    public var form: String
    public var press: String

    /// Asks what became of a press.
    public init(form: String, press: String) {
        self.form = form
        self.press = press
    }
}

extension ButtonProgress {
    /// A text of any program as `text` accepts it: one line without control characters, and without
    /// space around it. `nil` if nothing is left.
    public static func line(_ text: some StringProtocol) -> String? {
        var text = text.drop { $0.isWhitespace }
        while text.last?.isWhitespace ?? false { text.removeLast() }
        if text.isEmpty { return nil }
        return String(text).escapedForDisplay().cut(toBytes: RequestBounds().textBytesMax)
    }
}

// MARK: - Decoding

extension ButtonHandle {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        var short = bounds
        short.globBytesMax = min(bounds.globBytesMax, bounds.handlerGlobBytesMax)
        fields = try reader.globs(short)
        tickets =
            try reader.optionalNames(
                "tickets", countMax: bounds.ticketsMax, limit: "ticketsMax", bounds) ?? []
    }
}

extension ButtonProgress {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        press = try reader.name("press", bounds)
        ticket = try reader.name("ticket", bounds)
        fraction = try reader.fraction()
        text = try reader.optionalLabel("text", bytesMax: bounds.textBytesMax)
        guard fraction != nil || text != nil else {
            throw ParamsFault("", .shape("should have fraction or text", expected: nil))
        }
    }
}

extension ButtonFinish {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        press = try reader.name("press", bounds)
        ticket = try reader.name("ticket", bounds)
        guard let outcome = try reader.optionalChoice("outcome", as: Outcome.self) else {
            throw ParamsFault("outcome", .shape("is missing", expected: "done or failed"))
        }
        self.outcome = outcome
        text = try reader.optionalLabel("text", bytesMax: bounds.textBytesMax)
        status = try reader.optionalInteger("status", in: .min ... .max)
    }
}

extension ButtonCancel {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        field = try reader.name("field", bounds)
        press = try reader.name("press", bounds)
    }
}

extension ButtonOutcome {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        press = try reader.name("press", bounds)
    }
}

extension ParamsReader {
    /// `fraction`: a number from 0 to 1.
    fileprivate mutating func fraction() throws(ParamsFault) -> DecimalNumber? {
        guard let node = take("fraction") else { return nil }
        let number = try? node.number()
        guard let number, (.zero)...DecimalNumber(1) ~= number else {
            throw .expected("a number from 0 to 1", at: "fraction")
        }
        return number
    }
}

// MARK: - Encoding

extension ButtonHandle {
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("fields", fields)
        if !tickets.isEmpty { writer.member("tickets", tickets) }
    }
}

extension ButtonProgress {
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("press", press)
        writer.member("ticket", ticket)
        writer.member("fraction", fraction.map(JSON.number))
        writer.member("text", text)
    }
}

extension ButtonFinish {
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("press", press)
        writer.member("ticket", ticket)
        writer.member("outcome", outcome.rawValue)
        writer.member("text", text)
        writer.member("status", status)
    }
}

extension ButtonCancel {
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("press", press)
    }
}

extension ButtonOutcome {
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("press", press)
    }
}
