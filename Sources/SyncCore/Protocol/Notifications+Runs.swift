// The notifications of buttons with `runs` (PROTOCOL.md, Runs).

/// Params of `button.assigned`: a handler gets a press.
public struct ButtonAssigned: Hashable, Sendable {
    public var form: String
    public var field: String
    public var press: String
    /// Proves who holds the run.
    public var ticket: String
    /// Who pressed.
    public var by: WireAuthor
    /// When.
    public var at: Timestamp
    public var message: String?
    /// An earlier handler of this press was lost.
    public var isAgain: Bool = false
    /// The values of the form's fields when the button was pressed, without secrets.
    public var values: JSON
}

extension ButtonAssigned {
    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        encode(into: &writer) { $0.value(values) }
    }

    func encode(into writer: inout JSONWriter, values: (inout JSONWriter) -> Void) {
        writer.beginObject()
        writer.member("form", form)
        writer.member("field", field)
        writer.member("press", press)
        writer.member("ticket", ticket)
        writer.member("by", by)
        writer.member("at", at)
        writer.member("message", message)
        if isAgain { writer.member("again", true) }
        writer.key("values")
        values(&writer)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "params")
        self.init(
            form: try reader.string("form"), field: try reader.string("field"),
            press: try reader.string("press"), ticket: try reader.string("ticket"),
            by: try reader.existing("by"), at: try reader.existing("at"),
            message: reader["message"]?.stringValue, isAgain: reader["again"]?.boolValue ?? false,
            values: try reader.value("values"))
    }
}

/// Params of `button.cancelled`: somebody wants a run to end, or it is over.
public struct ButtonCancelled: Hashable, Sendable {
    public var form: String
    public var field: String
    public var press: String
    /// Who asked; `nil` if the daemon has ended the run.
    public var by: WireAuthor?
    /// How the run ended; `nil` while the handler decides.
    public var state: RunState? = nil
}

extension ButtonCancelled: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("press", press)
        writer.member("by", by)
        writer.member("state", state?.rawValue)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "params")
        self.init(
            form: try reader.string("form"), field: try reader.string("field"),
            press: try reader.string("press"), by: try reader.inner("by"),
            state: reader["state"]?.stringValue.flatMap(RunState.init(rawValue:)))
    }
}

/// Params of the notification `button.progress`: how far a run is.
public struct ButtonProgressed: Hashable, Sendable, WireObject {
    public var form: String
    public var field: String
    public var press: String
    /// From 0 to 1; `nil` if the handler does not know.
    public var fraction: DecimalNumber?
    public var text: String?
    /// The handler's connection has ended, and nobody knows whether it still works. It comes back,
    /// or the daemon judges the run.
    public var isAway: Bool

    /// The progress of a run.
    public init(
        form: String, field: String, press: String, fraction: DecimalNumber? = nil,
        text: String? = nil, isAway: Bool = false
    ) {
        self.form = form
        self.field = field
        self.press = press
        self.fraction = fraction
        self.text = text
        self.isAway = isAway
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        writer.member("press", press)
        writer.member("fraction", fraction.map(JSON.number))
        writer.member("text", text)
        if isAway { writer.member("away", true) }
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "params")
        let fraction = reader["fraction"]?.numberValue
        guard fraction.map({ ((.zero)...DecimalNumber(1)).contains($0) }) ?? true else {
            throw reader.mistyped("fraction", "a number from 0 to 1")
        }
        self.init(
            form: try reader.string("form"), field: try reader.string("field"),
            press: try reader.string("press"), fraction: fraction,
            text: reader["text"]?.stringValue, isAway: reader["away"]?.boolValue ?? false)
    }
}
