// Notifications (PROTOCOL.md, All notifications): encoders of the params for the engine, decoders
// for clients.

/// A notification, typed.
public enum ServerNotification: Hashable, Sendable {
    case stateChanged(StateChanged)
    case formChanged(FormChanged)
    case presenceChanged(PresenceChanged)
    case buttonAssigned(ButtonAssigned)
    case buttonCancelled(ButtonCancelled)
    case buttonProgress(ButtonProgressed)
    case proposalChanged(ProposalResult)
    case goodbye(Goodbye)
    case linkDo(LinkOrder)

    /// The name in the protocol.
    public var method: StaticString {
        switch self {
        case .stateChanged: "state.changed"
        case .formChanged: "form.changed"
        case .presenceChanged: "presence.changed"
        case .buttonAssigned: "button.assigned"
        case .buttonCancelled: "button.cancelled"
        case .buttonProgress: "button.progress"
        case .proposalChanged: "proposal.changed"
        case .goodbye: "goodbye"
        case .linkDo: "link.do"
        }
    }

    /// Writes the params.
    public func encodeParams(into writer: inout JSONWriter) {
        switch self {
        case .stateChanged(let params): params.encode(into: &writer)
        case .formChanged(let params): params.encode(into: &writer)
        case .presenceChanged(let params): params.encode(into: &writer)
        case .buttonAssigned(let params): params.encode(into: &writer)
        case .buttonCancelled(let params): params.encode(into: &writer)
        case .buttonProgress(let params): params.encode(into: &writer)
        case .proposalChanged(let params): params.encode(into: &writer)
        case .goodbye(let params): params.encode(into: &writer)
        case .linkDo(let params): params.encode(into: &writer)
        }
    }

    /// Parses the params of a method; `nil` for an unknown method.
    public init?(method: String, params: JSON) throws(DecodeError) {
        switch method {
        case "state.changed": self = .stateChanged(try StateChanged(value: params))
        case "form.changed": self = .formChanged(try FormChanged(decoding: params))
        case "presence.changed": self = .presenceChanged(try PresenceChanged(decoding: params))
        case "button.assigned": self = .buttonAssigned(try ButtonAssigned(decoding: params))
        case "button.cancelled": self = .buttonCancelled(try ButtonCancelled(decoding: params))
        case "button.progress": self = .buttonProgress(try ButtonProgressed(decoding: params))
        case "proposal.changed": self = .proposalChanged(try ProposalResult(decoding: params))
        case "goodbye": self = .goodbye(try Goodbye(decoding: params))
        case "link.do": self = .linkDo(try LinkOrder(decoding: params))
        default: return nil
        }
    }
}

/// Params of `state.changed`: one revision, or several merged into one.
public struct StateChanged: Hashable, Sendable {
    public var form: String
    public var revision: Revision
    public var context: String
    public var changes: [FieldChange]
    /// The first of the merged revisions; `nil` for a single one.
    public var coalescedFrom: Revision?
    /// Why it was changed; `nil` if nobody said, and for merged revisions.
    public var message: String?
    /// The earlier revision whose message this one overwrote, without a change of values.
    public var redacts: Revision?

    /// A change of values.
    public init(
        form: String, revision: Revision, context: String, changes: [FieldChange],
        coalescedFrom: Revision? = nil, message: String? = nil
    ) {
        self.form = form
        self.revision = revision
        self.context = context
        self.changes = changes
        self.coalescedFrom = coalescedFrom
        self.message = message
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginState(of: form, revision) { $0.string(context) }
        changes.encodeMember(into: &writer)
        writer.coalesced(coalescedFrom)
        writer.member("message", message)
        writer.member("redacts", redacts)
        writer.endObject()
    }

    /// Writes the object of one revision of a form with this `stateStart`; `context` writes the
    /// token, and `changes` the changes with `FieldChange.encode`.
    @inline(__always)
    static func encode(
        _ start: [UInt8], revision: Revision, message: String?, redacts: Revision? = nil,
        into writer: inout JSONWriter, context: (inout JSONWriter) -> Void,
        changes: (inout JSONWriter) -> Void
    ) {
        writer.beginState(start, revision, context: context)
        writer.key("changes")
        writer.beginArray()
        changes(&writer)
        writer.endArray()
        writer.member("message", message)
        writer.member("redacts", redacts)
        writer.endObject()
    }

    /// Reads the object.
    init(value: some WireValue) throws(DecodeError) {
        let reader = try MemberReader(value, "params")
        self.init(
            form: try reader.string("form"), revision: try reader.integer("revision"),
            context: try reader.string("context"), changes: try reader.changes())
        // Few revisions have more.
        if reader.count == 4, !changes.isEmpty { return }
        coalescedFrom = reader["coalesced"]?.member("from")?.integerValue
        message = reader["message"]?.stringValue
        redacts = reader["redacts"]?.integerValue
    }
}

/// Params of `form.changed`: a new definition with the values that it changed, or the deletion.
public struct FormChanged: Hashable, Sendable {
    public var form: String
    public var revision: Revision
    public var content: Content
    /// Why it was changed; `nil` if nobody said.
    public var message: String?

    /// What happened to the form.
    public enum Content: Hashable, Sendable {
        case defined(Definition)
        /// The form and all subscriptions to it are deleted.
        case deleted
    }

    /// A definition in a notification. Watchers of the form list get it without values: no context,
    /// no changes.
    public struct Definition: Hashable, Sendable {
        public var version: Int64
        public var context: String?
        public var definition: JSON
        /// `definition` as JSON text, where somebody has it already; otherwise empty.
        var definitionText: [UInt8] = []
        public var changes: [FieldChange]
        /// The first of the merged revisions; `nil` for a single one.
        public var coalescedFrom: Revision?

        /// A definition with the values that it changed.
        public init(
            version: Int64, context: String?, definition: JSON, changes: [FieldChange],
            coalescedFrom: Revision? = nil
        ) {
            self.version = version
            self.context = context
            self.definition = definition
            self.changes = changes
            self.coalescedFrom = coalescedFrom
        }

        /// The fields that the definition has.
        public var fieldIDs: Set<String> { FormDefinition.fieldIDs(of: definition) }
    }

    /// A change of a form.
    public init(form: String, revision: Revision, content: Content, message: String? = nil) {
        self.form = form
        self.revision = revision
        self.content = content
        self.message = message
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("form", form)
        switch content {
        case .deleted:
            writer.member("revision", revision)
            writer.member("deleted", true)
        case .defined(let content):
            writer.member("version", content.version)
            writer.member("revision", revision)
            writer.member("context", content.context)
            writer.key("definition")
            if content.definitionText.isEmpty {
                writer.value(content.definition)
            } else {
                writer.raw(content.definitionText)
            }
            content.changes.encodeMember(into: &writer)
            writer.coalesced(content.coalescedFrom)
        }
        writer.member("message", message)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "params")
        form = try reader.string("form")
        revision = try reader.integer("revision")
        message = reader["message"]?.stringValue
        if reader["deleted"]?.boolValue == true {
            content = .deleted
        } else {
            content = .defined(
                Definition(
                    version: try reader.integer("version"),
                    context: reader["context"]?.stringValue,
                    definition: reader["definition"] ?? .null, changes: try reader.changes(),
                    coalescedFrom: reader["coalesced"]?["from"]?.integerValue))
        }
    }
}

/// Params of `goodbye`, the last message before the daemon closes the connection.
public struct Goodbye: Hashable, Sendable {
    public var reason: Reason
    /// When to reconnect, in milliseconds.
    public var retryAfterMs: Int64?

    /// Why the daemon closes the connection.
    public enum Reason: Hashable, Sendable {
        case restart, shutdown, slow, policy
        /// An unknown reason.
        case other(String)

        /// The name in the protocol.
        public var text: String {
            switch self {
            case .restart: "restart"
            case .shutdown: "shutdown"
            case .slow: "slow"
            case .policy: "policy"
            case .other(let text): text
            }
        }

        /// The reason with this name.
        public init(text: String) {
            switch text {
            case "restart": self = .restart
            case "shutdown": self = .shutdown
            case "slow": self = .slow
            case "policy": self = .policy
            default: self = .other(text)
            }
        }
    }

    /// A goodbye.
    public init(reason: Reason, retryAfterMs: Int64? = nil) {
        self.reason = reason
        self.retryAfterMs = retryAfterMs
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("reason", reason.text)
        writer.member("retryAfterMs", retryAfterMs)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "params")
        self.init(
            reason: Reason(text: try reader.string("reason")),
            retryAfterMs: reader["retryAfterMs"]?.integerValue)
    }
}

// MARK: - Parts

extension [FieldChange] {
    /// Writes the member `changes`.
    func encodeMember(into writer: inout JSONWriter) {
        writer.key("changes")
        writer.beginArray()
        for change in self { change.encode(into: &writer) }
        writer.endArray()
    }
}

extension JSONWriter {
    /// Begins an object with the state of a form: its name, its revision, and the token that
    /// `context` writes.
    mutating func beginState(
        of form: String, _ revision: Revision, context: (inout JSONWriter) -> Void
    ) {
        startState(of: form)
        state(revision, context: context)
    }

    /// The same for a form whose `stateStart` is known.
    @inline(__always)
    mutating func beginState(
        _ start: [UInt8], _ revision: Revision, context: (inout JSONWriter) -> Void
    ) {
        beginObject(text: start)
        state(revision, context: context)
    }

    @inline(__always)
    private mutating func state(_ revision: Revision, context: (inout JSONWriter) -> Void) {
        integer(revision)
        key("context")
        context(&self)
    }

    private mutating func startState(of form: String) {
        beginObject()
        member("form", form)
        key("revision")
    }

    /// What the state of each revision of a form begins with: `{"form":"replicas","revision":`.
    static func stateStart(of form: String) -> [UInt8] { bytes { $0.startState(of: form) } }

    /// Writes the member `coalesced: {from}`; nothing for `nil`.
    mutating func coalesced(_ from: Revision?) {
        guard let from else { return }
        key("coalesced")
        beginObject()
        member("from", from)
        endObject()
    }
}

extension MemberReader {
    /// The member `changes`; empty if it is missing.
    func changes() throws(DecodeError) -> [FieldChange] {
        guard self["changes"] != nil else { return [] }
        var changes: [FieldChange] = []
        for (index, value) in try array("changes").enumerated() {
            do {
                changes.append(try FieldChange(value: value, path: ""))
            } catch {
                throw error.within("\(path).changes[\(index)]")
            }
        }
        return changes
    }
}
