// The requests that set values: `state.set` and `state.lease`.

/// Params of `state.set`: one transaction.
public struct StateSet: Hashable, Sendable {
    public var form: String
    public var changes: [Change]
    /// The token of what the sender had seen; `nil` means the current state, the empty token
    /// nothing.
    public var context: String?
    /// `require: "current"`: reject the edit if it would overwrite something that the sender has
    /// not seen.
    public var requireCurrent: Bool
    /// Other fields that must be as the sender saw them.
    public var requireFields: [String]
    /// When the values end by themselves; `nil`: never.
    public var lease: LeaseEnd?
    public var idempotencyKey: String?
    /// Why it is changed: one line, which everybody who may read the form sees.
    public var message: String?
    /// What becomes of it if it changes what is guarded.
    public var guarded = GuardedEdit.refused

    /// A transaction.
    public init(
        form: String, changes: [Change], context: String? = nil, requireCurrent: Bool = false,
        requireFields: [String] = [], lease: LeaseEnd? = nil, idempotencyKey: String? = nil,
        message: String? = nil
    ) {
        self.form = form
        self.changes = changes
        self.context = context
        self.requireCurrent = requireCurrent
        self.requireFields = requireFields
        self.lease = lease
        self.idempotencyKey = idempotencyKey
        self.message = message
    }
}

/// A change of one field within a transaction.
public struct Change: Hashable, Sendable {
    public var field: String
    /// The token of what the sender had seen of this field, instead of the request's.
    public var context: String?
    public var action: Action

    /// The edit.
    public enum Action: Hashable, Sendable {
        /// Set the value. A value of wheels may contain only some components.
        case value(JSON)
        case increment(DecimalNumber)
        case toggle
        case move(Direction, wraps: Bool)
        /// Reset to the default.
        case reset
        case press
        /// Add tags to a multiple picker.
        case add([JSON])
        /// Remove tags from a multiple picker.
        case remove([JSON])

        /// Whether it is a press.
        var isPress: Bool { if case .press = self { true } else { false } }
    }

    /// The direction in which a picker's selection moves, skipping disabled options.
    public enum Direction: String, CaseIterable, Hashable, Sendable {
        case next, previous, first, last
    }

    /// A change with the request's context, unless it has its own.
    public init(field: String, context: String? = nil, _ action: Action) {
        self.field = field
        self.context = context
        self.action = action
    }
}

/// When a value ends by itself.
public enum LeaseEnd: Hashable, Sendable {
    /// After this many seconds, including time during which the machine sleeps or is off.
    case seconds(Int64)
    /// At a moment of the wall clock.
    case until(Timestamp)
    /// When the connection ends, unless another connection of the same user resumes the lease in
    /// time.
    case connection

    /// The most seconds: ten years.
    public static let secondsMax: Int64 = 315_360_000
}

/// Params of `state.lease`: changes the lease of a field that has one.
public struct StateLease: Hashable, Sendable {
    public var form: String
    public var field: String
    public var action: Action
    public var idempotencyKey: String?
    /// Why it is changed: one line, which everybody who may read the form sees.
    public var message: String?

    /// The change of the lease.
    public enum Action: Hashable, Sendable {
        /// It ends then.
        case move(LeaseEnd)
        /// The value is permanent.
        case keep
        /// It ends now.
        case end
        /// This connection holds the lease with that id from now on.
        case resume(String)
    }

    /// A change of a lease.
    public init(
        form: String, field: String, _ action: Action, idempotencyKey: String? = nil,
        message: String? = nil
    ) {
        self.form = form
        self.field = field
        self.action = action
        self.idempotencyKey = idempotencyKey
        self.message = message
    }
}

// MARK: - Text

extension LeaseEnd: WireObject {
    /// Reads `{seconds}`, `{until}` or `{while: "connection"}`.
    init(_ node: JSONNode) throws(ParamsFault) {
        var reader = try ParamsReader(node)
        guard let end = try Self(&reader, holds: true) else {
            throw .expected("seconds, until or while", at: "")
        }
        try reader.refuseUnknown()
        self = end
    }

    /// Reads one of the members; `nil` if there is none.
    init?(_ reader: inout ParamsReader, holds: Bool) throws(ParamsFault) {
        var found: [LeaseEnd] = []
        if let seconds = try reader.optionalInteger("seconds", in: 1...Self.secondsMax) {
            found.append(.seconds(seconds))
        }
        if let text = try reader.optionalString("until", bytesMax: 64) {
            guard let moment = Timestamp(text) else {
                throw .expected("a moment of RFC 3339 in UTC", at: "until")
            }
            found.append(.until(moment))
        }
        if holds, let node = reader.take("while") {
            guard node.matches("connection") else {
                throw .expected("\"connection\"", at: "while")
            }
            found.append(.connection)
        }
        guard found.count < 2 else {
            throw ParamsFault(
                "", .shape("should have one of seconds, until and while", expected: nil))
        }
        guard let end = found.first else { return nil }
        self = end
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        switch self {
        case .seconds(let seconds): writer.member("seconds", seconds)
        case .until(let moment): writer.member("until", moment)
        case .connection: writer.member("while", "connection")
        }
    }
}

extension StateLease {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        field = try reader.name("field", bounds)
        var found: [Action] = []
        if let end = try LeaseEnd(&reader, holds: false) { found.append(.move(end)) }
        if try reader.flag("keep") { found.append(.keep) }
        if try reader.flag("end") { found.append(.end) }
        if let id = try reader.optionalName("resume", bounds) { found.append(.resume(id)) }
        guard found.count == 1 else {
            let choices = "exactly one of seconds, until, keep, end and resume"
            throw ParamsFault("", .shape("should have \(choices)", expected: choices))
        }
        action = found[0]
        idempotencyKey = try reader.idempotencyKey(bounds)
        message = try reader.message(bounds)
    }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("field", field)
        switch action {
        case .move(let end): end.encodeMembers(into: &writer)
        case .keep: writer.member("keep", true)
        case .end: writer.member("end", true)
        case .resume(let id): writer.member("resume", id)
        }
        writer.member("idempotencyKey", idempotencyKey)
        writer.member("message", message)
    }
}
