/// The state of a press of a button with `runs` (PROTOCOL.md, Runs).
public enum RunState: String, Hashable, Sendable, CaseIterable {
    /// It waits for a handler.
    case waiting
    /// A handler works on it.
    case running
    /// The handler has finished it.
    case done
    /// The handler has finished it without success.
    case failed
    /// Somebody cancelled it.
    case cancelled
    /// A later press took its place.
    case dropped
    /// No handler came in time.
    case unhandled
    /// It took longer than the form allows.
    case timedOut
    /// Its handler is gone.
    case lost

    /// Whether it never changes again.
    public var isFinal: Bool { self != .waiting && self != .running }
}

/// A press of a button with `runs`, and what became of it: Run in PROTOCOL.md.
public struct ButtonRun: Hashable, Sendable, WireObject, WireReadable {
    /// The dot of the press: `3f9a.1:1042`.
    public var press: String
    /// Who pressed.
    public var by: WireAuthor
    /// When.
    public var at: Timestamp
    public var state: RunState
    /// The time of the last change of `state`.
    public var since: Timestamp
    /// Who handles or handled it.
    public var handler: WireAuthor?
    /// What the handler said at the end.
    public var text: String?
    /// A number of the handler's, such as an exit status.
    public var status: Int64?
    /// The host where it was pressed; `nil` for the daemon's own.
    public var host: String?

    /// A press.
    public init(
        press: String, by: WireAuthor, at: Timestamp, state: RunState, since: Timestamp,
        handler: WireAuthor? = nil, text: String? = nil, status: Int64? = nil
    ) {
        self.press = press
        self.by = by
        self.at = at
        self.state = state
        self.since = since
        self.handler = handler
        self.text = text
        self.status = status
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("press", press)
        writer.member("by", by)
        writer.member("at", at)
        writer.member("state", state.rawValue)
        writer.member("since", since)
        writer.member("handler", handler)
        writer.member("text", text)
        writer.member("status", status)
        writer.member("host", host)
    }

    /// Reads the object; ignores unknown members.
    public init(decoding json: JSON, path: String = "run") throws(DecodeError) {
        let reader = try WireReader(json, path)
        guard let state = RunState(rawValue: try reader.string("state")) else {
            throw reader.mistyped("state", "the state of a run")
        }
        self.init(
            press: try reader.string("press"), by: try reader.existing("by"),
            at: try reader.existing("at"), state: state, since: try reader.existing("since"),
            handler: try reader.inner("handler"), text: reader["text"]?.stringValue,
            status: reader["status"]?.integerValue)
        host = reader["host"]?.stringValue
    }
}

/// The runs of a button: `runs` of a Field.
///
/// It is an immutable class, because few fields have one.
public final class ButtonRuns: Hashable, Sendable, WireObject, WireReadable {
    /// How many presses wait.
    public let waiting: Int64
    /// The presses that handlers work on, oldest first.
    public let running: [ButtonRun]
    /// The press that ended last.
    public let last: ButtonRun?

    /// The runs of a button.
    public init(waiting: Int64, running: [ButtonRun], last: ButtonRun?) {
        self.waiting = waiting
        self.running = running
        self.last = last
    }

    /// Equality of what is in it.
    public static func == (left: ButtonRuns, right: ButtonRuns) -> Bool {
        left.waiting == right.waiting && left.running == right.running && left.last == right.last
    }

    /// Hashes what is in it.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(waiting)
        hasher.combine(running)
        hasher.combine(last)
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("waiting", waiting)
        writer.member("running", running)
        writer.member("last", last)
    }

    /// Reads the object; ignores unknown members.
    public convenience init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            waiting: try reader.integer("waiting"), running: try reader.objects("running"),
            last: try reader.inner("last"))
    }
}
