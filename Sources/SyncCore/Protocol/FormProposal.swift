/// The state of a proposal (PROTOCOL.md, Proposals).
public enum ProposalState: String, Hashable, Sendable, CaseIterable {
    /// It waits for votes.
    case waits
    /// Enough people agreed, and the change was made.
    case applied
    /// One of those who may approve refused it.
    case refused
    /// Its proposer took it back.
    case withdrawn
    /// Not enough people agreed in time.
    case expired
    /// What it was based on has changed, or it cannot be applied any more.
    case stale

    /// Whether it never changes again.
    public var isFinal: Bool { self != .waits }
}

/// A change that waits for the approval of others, or what became of it: Proposal in PROTOCOL.md.
public struct FormProposal: Hashable, Sendable, WireObject, WireReadable {
    /// Its number, which the daemon never uses again.
    public var id: Int64
    public var form: String
    /// Who proposed it.
    public var by: WireAuthor
    /// When.
    public var at: Timestamp
    /// When it expires.
    public var until: Timestamp
    /// Why.
    public var message: String?
    public var content: Content
    /// The guarded fields whose approval it asks for.
    public var fields: [String]
    /// How many votes are missing.
    public var needs: Int64
    public var votes: [Vote]
    public var state = ProposalState.waits
    /// What became of it; `nil` while it waits.
    public var ended: Ended?
    /// The host that has it and judges the votes; `nil` for the daemon's own.
    public var host: String?
    /// Since when that host is away; `nil` while it is there.
    public var awaySince: Timestamp?

    /// What would change.
    public enum Content: Hashable, Sendable {
        /// Values: `state.set`. The lease begins when the proposal is applied.
        case values([Change], lease: LeaseEnd?)
        /// The definition: `form.apply`.
        case definition(JSON)
        /// The options of a picker: `form.setOptions`.
        case options(field: String, [JSON])
    }

    /// The proposed change of one field.
    public struct Change: Hashable, Sendable {
        public var field: String
        public var action: Action
        /// The value at the time of the proposal.
        public var was: JSON?

        /// What happens to the field.
        public enum Action: Hashable, Sendable {
            /// It gets this value.
            case value(JSON)
            /// It gets its default.
            case reset
            /// The button is pressed as often.
            case press(Int64)
        }

        /// A change of a field.
        public init(field: String, _ action: Action, was: JSON? = nil) {
            self.field = field
            self.action = action
            self.was = was
        }
    }

    /// An approval.
    public struct Vote: Hashable, Sendable, WireObject, WireReadable {
        public var by: WireAuthor
        public var at: Timestamp
        public var message: String?
    }

    /// How a proposal ended.
    public struct Ended: Hashable, Sendable, WireObject, WireReadable {
        public var at: Timestamp
        /// Who ended it; for `stale`, who changed what it was based on.
        public var by: WireAuthor?
        public var message: String?
        /// The revision that applied it.
        public var revision: Revision?
        /// Why it is stale, in words.
        public var why: String?

        /// An end.
        public init(
            at: Timestamp, by: WireAuthor? = nil, message: String? = nil,
            revision: Revision? = nil, why: String? = nil
        ) {
            self.at = at
            self.by = by
            self.message = message
            self.revision = revision
            self.why = why
        }
    }

    /// A proposal that waits.
    public init(
        id: Int64, form: String, by: WireAuthor, at: Timestamp, until: Timestamp,
        message: String?, content: Content, fields: [String], needs: Int64
    ) {
        self.id = id
        self.form = form
        self.by = by
        self.at = at
        self.until = until
        self.message = message
        self.content = content
        self.fields = fields
        self.needs = needs
        votes = []
    }

    /// The name in commands: `deploy/12`, or `deploy/12@web1` of another host.
    public var name: String { "\(form)/\(nameInForm)" }

    /// The name without the form: `12`, or `12@web1`.
    public var nameInForm: String { "\(id)\(host.map { "@\($0)" } ?? "")" }
}

// MARK: - Text

extension FormProposal {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("id", id)
        writer.member("form", form)
        writer.member("state", state.rawValue)
        writer.member("by", by)
        writer.member("at", at)
        writer.member("until", until)
        writer.member("message", message)
        switch content {
        case .values(let changes, let lease):
            writer.member("changes", changes)
            writer.member("lease", lease)
        case .definition(let definition): writer.member("definition", definition)
        case .options(let field, let options):
            writer.member("field", field)
            writer.member("options", .array(options))
        }
        writer.member("fields", fields)
        writer.member("needs", needs)
        writer.member("votes", votes)
        writer.member("ended", ended)
        writer.member("host", host)
        writer.member("awaySince", awaySince)
    }

    /// Reads the object; ignores unknown members.
    public init(decoding json: JSON, path: String = "proposal") throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            id: try reader.integer("id"), form: try reader.string("form"),
            by: try reader.existing("by"), at: try reader.existing("at"),
            until: try reader.existing("until"),
            message: reader["message"]?.stringValue, content: try Content(reader),
            fields: try reader.strings("fields"), needs: try reader.integer("needs"))
        guard let state = ProposalState(rawValue: try reader.string("state")) else {
            throw reader.mistyped("state", "the state of a proposal")
        }
        self.state = state
        votes = try reader.objects("votes")
        ended = try reader.inner("ended")
        host = reader["host"]?.stringValue
        awaySince = try reader.moment("awaySince")
    }
}

extension FormProposal.Vote {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("by", by)
        writer.member("at", at)
        writer.member("message", message)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            by: try reader.existing("by"), at: try reader.existing("at"),
            message: reader["message"]?.stringValue)
    }
}

extension FormProposal.Ended {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("at", at)
        writer.member("by", by)
        writer.member("message", message)
        writer.member("revision", revision)
        writer.member("why", why)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            at: try reader.existing("at"), by: try reader.inner("by"),
            message: reader["message"]?.stringValue, revision: reader["revision"]?.integerValue,
            why: reader["why"]?.stringValue)
    }
}

extension FormProposal.Content {
    fileprivate init(_ reader: WireReader) throws(DecodeError) {
        if let definition = reader["definition"] {
            self = .definition(definition)
        } else if reader["options"] != nil {
            self = .options(field: try reader.string("field"), try reader.array("options"))
        } else {
            var lease: LeaseEnd?
            if let json = reader["lease"] {
                let end = try WireReader(json, "\(reader.path).lease")
                if let until = try end.moment("until") {
                    lease = .until(until)
                } else {
                    lease = .seconds(try end.integer("seconds"))
                }
            }
            self = .values(try reader.objects("changes"), lease: lease)
        }
    }
}

extension FormProposal.Change: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        switch action {
        case .value(let value): writer.member("value", value)
        case .reset: writer.member("reset", true)
        case .press(let count): writer.member("press", count)
        }
        writer.member("was", was)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        let action: Action
        if reader["press"] != nil {
            action = .press(try reader.integer("press"))
        } else if reader["reset"]?.boolValue == true {
            action = .reset
        } else {
            action = .value(try reader.value("value"))
        }
        self.init(field: try reader.string("field"), action, was: reader["was"])
    }
}
