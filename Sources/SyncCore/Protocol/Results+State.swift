// The results of the methods of `state`: see Results.swift.

/// The result of `state.get`.
public struct StateSnapshot: Hashable, Sendable {
    public var form: String
    public var log: String
    public var revision: Revision
    /// The token of the snapshot.
    public var context: String
    public var fields: [NamedField]
}

extension StateSnapshot {
    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        Self.begin(form, log, revision, into: &writer) { $0.string(context) }
        writer.key("fields")
        fields.encode(into: &writer)
        writer.endObject()
    }

    /// Writes the object; `context` writes the token, and `fields` the fields with
    /// `JSONWriter.field`.
    @inline(__always)
    static func encode(
        form: String, log: String, revision: Revision, into writer: inout JSONWriter,
        context: (inout JSONWriter) -> Void, fields: (inout JSONWriter) -> Void
    ) {
        begin(form, log, revision, into: &writer, context: context)
        writer.key("fields")
        writer.beginObject()
        fields(&writer)
        writer.endObject()
        writer.endObject()
    }

    @inline(__always)
    private static func begin(
        _ form: String, _ log: String, _ revision: Revision, into writer: inout JSONWriter,
        context: (inout JSONWriter) -> Void
    ) {
        writer.beginObject()
        writer.member("form", form)
        writer.member("log", log)
        writer.member("revision", revision)
        writer.key("context")
        context(&writer)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), log: try reader.string("log"),
            revision: try reader.integer("revision"), context: try reader.string("context"),
            fields: try reader.existing("fields"))
    }
}

/// The result of `state.set`, `state.undo` and `state.redo`.
public struct SetResult: Hashable, Sendable {
    public var form: String
    public var revision: Revision
    /// The token of the request and the new dot.
    public var context: String
    /// The changed fields.
    public var fields: [NamedField]
    /// For undo and redo, the fields that somebody has overwritten since; `nil` for a set.
    public var skipped: [String]?

    /// The result of a transaction.
    public init(
        form: String, revision: Revision, context: String, fields: [NamedField],
        skipped: [String]? = nil
    ) {
        self.form = form
        self.revision = revision
        self.context = context
        self.fields = fields
        self.skipped = skipped
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginState(of: form, revision) { $0.string(context) }
        writer.key("fields")
        fields.encode(into: &writer)
        writer.member("skipped", skipped)
        writer.endObject()
    }

    /// Writes the object of a form with this `stateStart`; `context` writes the token, and `fields`
    /// the fields with `JSONWriter.field`.
    @inline(__always)
    static func encode(
        _ start: [UInt8], revision: Revision, skipped: [String]?, into writer: inout JSONWriter,
        context: (inout JSONWriter) -> Void, fields: (inout JSONWriter) -> Void
    ) {
        writer.beginState(start, revision, context: context)
        writer.key("fields")
        writer.beginObject()
        fields(&writer)
        writer.endObject()
        writer.member("skipped", skipped)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), revision: try reader.integer("revision"),
            context: try reader.string("context"),
            fields: try reader.existing("fields"),
            skipped: reader["skipped"] == nil ? nil : try reader.strings("skipped"))
    }
}

/// The result of `state.subscribe`.
public struct SubscribeResult: Hashable, Sendable, WireObject {
    public var form: String
    public var log: String
    public var revision: Revision
    public var context: String
    /// Whether notifications continue after `since`.
    public var isResumed: Bool
    /// The initial snapshot; `nil` if the subscription was resumed.
    public var fields: [NamedField]?
    /// The proposals that wait; `nil` if nothing in the form is guarded.
    public var proposals: [FormProposal]?

    /// The beginning of a subscription.
    public init(
        form: String, log: String, revision: Revision, context: String, isResumed: Bool,
        fields: [NamedField]?
    ) {
        self.form = form
        self.log = log
        self.revision = revision
        self.context = context
        self.isResumed = isResumed
        self.fields = fields
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("log", log)
        writer.member("revision", revision)
        writer.member("context", context)
        writer.member("resumed", isResumed)
        writer.member("fields", fields)
        if let proposals { writer.member("proposals", proposals) }
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), log: try reader.string("log"),
            revision: try reader.integer("revision"), context: try reader.string("context"),
            isResumed: try reader.bool("resumed"), fields: nil)
        fields = try reader.inner("fields")
        if reader["proposals"] != nil { proposals = try reader.objects("proposals") }
    }
}

/// The result of `state.history`, newest first.
public struct HistoryPage: Hashable, Sendable, WireObject {
    public var entries: [Entry]
    /// Whether there are older entries.
    public var more: Bool

    /// One transaction.
    public struct Entry: Hashable, Sendable, WireObject, WireReadable {
        public var revision: Revision
        public var at: Timestamp?
        public var by: WireAuthor?
        /// Its kind, for example `set`, `undo`, `apply`, `press`.
        public var kind: String
        public var changes: [Change]
        /// Why it was changed; `nil` if nobody said.
        public var message: String?
        /// The revision whose message was overwritten, in an entry of the kind `redact`.
        public var redacts: Revision?
        /// The proposal that was applied.
        public var proposal: Int64?
        /// Who approved it.
        public var approvedBy: [WireAuthor] = []
        /// It changed what is guarded, without approval.
        public var isBreakGlass = false
        /// It came from another host, without the approval that a guard asks for here.
        public var isUnapproved = false

        /// A transaction with these members.
        public init(
            revision: Revision, at: Timestamp?, by: WireAuthor?, kind: String,
            changes: [Change], message: String? = nil
        ) {
            self.revision = revision
            self.at = at
            self.by = by
            self.kind = kind
            self.changes = changes
            self.message = message
        }
    }

    /// The change of a field in a transaction.
    public struct Change: Hashable, Sendable, WireObject, WireReadable {
        public var field: String
        /// `null` for a secret.
        public var value: JSON?
        public var was: JSON?
        /// Of a secure field, whether it has a secret.
        public var isSecretSet: Bool?
        /// The edit met another one that had not seen it.
        public var isConcurrent: Bool
        /// What the edit set, if a concurrent value is the current one instead.
        public var lost: JSON?
        /// The run of the button that was assigned, has ended or waits again, in an entry of the
        /// kind `run`.
        public var run: ButtonRun?

        /// A change from `was` to `value`.
        public init(
            field: String, value: JSON?, was: JSON?, isConcurrent: Bool = false,
            run: ButtonRun? = nil
        ) {
            self.field = field
            self.value = value
            self.was = was
            self.isConcurrent = isConcurrent
            self.run = run
        }
    }

    /// A page.
    public init(entries: [Entry], more: Bool) {
        self.entries = entries
        self.more = more
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("entries", entries)
        writer.member("more", more)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        entries = try reader.objects("entries")
        more = try reader.bool("more")
    }
}

extension HistoryPage.Entry {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("revision", revision)
        writer.member("at", at)
        writer.member("by", by)
        writer.member("kind", kind)
        writer.member("changes", changes)
        writer.member("message", message)
        writer.member("redacts", redacts)
        writer.member("proposal", proposal)
        if !approvedBy.isEmpty { writer.member("approvedBy", approvedBy) }
        if isBreakGlass { writer.member("breakGlass", true) }
        if isUnapproved { writer.member("unapproved", true) }
    }

    /// Reads the object.
    public init(decoding json: JSON, path: String = "entry") throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            revision: try reader.integer("revision"), at: try reader.moment("at"),
            by: try reader.inner("by"), kind: try reader.string("kind"),
            changes: try reader.objects("changes"), message: reader["message"]?.stringValue)
        redacts = reader["redacts"]?.integerValue
        proposal = reader["proposal"]?.integerValue
        approvedBy = try reader.list("approvedBy")
        isBreakGlass = reader["breakGlass"]?.boolValue ?? false
        isUnapproved = reader["unapproved"]?.boolValue ?? false
    }
}

extension HistoryPage.Change {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("field", field)
        writer.member("value", value)
        writer.member("was", was)
        if let isSecretSet { writer.object("secret") { $0.member("set", isSecretSet) } }
        if isConcurrent { writer.member("concurrent", true) }
        writer.member("lost", lost)
        writer.member("run", run)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            field: try reader.string("field"), value: reader["value"], was: reader["was"],
            isConcurrent: reader["concurrent"]?.boolValue ?? false, run: try reader.inner("run"))
        isSecretSet = reader["secret"]?["set"]?.boolValue
        lost = reader["lost"]
    }
}

/// The result of `history.redact`.
public struct RedactResult: Hashable, Sendable {
    public var form: String
    /// The revision that says that the message was overwritten.
    public var revision: Revision
}

extension RedactResult: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("revision", revision)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        form = try reader.string("form")
        revision = try reader.integer("revision")
    }
}

/// The result of `state.reveal`.
public struct RevealResult: Hashable, Sendable {
    /// The value in plain text; null if none is set.
    public var value: JSON
}

extension RevealResult: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("value", value)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        value = try WireReader(json, "result").value("value")
    }
}
