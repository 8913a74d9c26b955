/// The number of a form's transaction: it grows by exactly 1 with each that changes the form.
public typealias Revision = Int64

/// Who made an edit: `by` on the wire.
///
/// `user`, `uid` and `connection` are the daemon's own knowledge; `client` and `tty` are claims.
public struct WireAuthor: Hashable, Sendable {
    public var user: String
    public var uid: UInt32
    /// What the client said it is, such as `pickerctl/1.0`.
    public var client: String?
    /// The terminal that the client claims.
    public var tty: String?
    public var connection: Int64
    /// The replica that committed the edit, as it is written in tokens.
    public var replica: String

    /// An author with each of its members.
    public init(
        user: String, uid: UInt32, client: String?, tty: String?, connection: Int64,
        replica: String
    ) {
        self.user = user
        self.uid = uid
        self.client = client
        self.tty = tty
        self.connection = connection
        self.replica = replica
    }

    /// What others are told of an author.
    public init(_ author: Author) {
        self.init(
            user: author.user, uid: author.uid, client: author.client, tty: author.tty,
            connection: Int64(clamping: author.connection), replica: author.replicaText)
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("user", user)
        writer.member("uid", Int64(uid))
        writer.member("client", client)
        writer.member("tty", tty)
        writer.member("connection", connection)
        writer.member("replica", replica)
        writer.endObject()
    }

    /// Reads the object, passing over members that are new.
    public init(decoding json: JSON, path: String = "by") throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            user: try reader.string("user"), uid: try reader.exactly("uid"),
            client: reader["client"]?.stringValue, tty: reader["tty"]?.stringValue,
            connection: try reader.integer("connection"), replica: try reader.string("replica"))
    }
}

/// A value that was set at the same time as the one that stands: an element of `conflict`.
public struct Sibling: Hashable, Sendable {
    public var value: JSON
    public var by: WireAuthor?
    public var at: Timestamp?

    /// A sibling with who set it, and when.
    public init(value: JSON, by: WireAuthor?, at: Timestamp?) {
        self.value = value
        self.by = by
        self.at = at
    }
}

/// What a reader sees of a field: the Field of PROTOCOL.md.
public struct FieldState: Hashable, Sendable {
    /// The value that stands; null where it is mixed or secret.
    public var value: JSON
    /// The revision of the field's last change.
    public var revision: Revision
    /// Whether somebody has set it; otherwise it follows its default.
    public var isSet: Bool
    /// Who set it last.
    public var by: WireAuthor?
    /// The same as JSON text, of a writer that has it: it goes before `by`.
    var byText: [UInt8] = []
    /// When it was set last.
    public var at: Timestamp?
    /// The values set at the same time as the one that stands, which nobody has resolved yet.
    public var conflict: [Sibling]
    /// Of a secure field, whether it has a value; `nil` for any other.
    public var isSecretSet: Bool?
    /// The values that the control stands for differ.
    public var isMixed: Bool
    /// The value lies outside the domain that the control has now.
    public var isInvalid: Bool
    /// The control is required and empty.
    public var isMissing: Bool

    /// A field's state; what is not named is absent.
    public init(
        value: JSON, revision: Revision, isSet: Bool, by: WireAuthor? = nil, at: Timestamp? = nil,
        conflict: [Sibling] = [], isSecretSet: Bool? = nil, isMixed: Bool = false,
        isInvalid: Bool = false, isMissing: Bool = false
    ) {
        self.value = value
        self.revision = revision
        self.isSet = isSet
        self.by = by
        self.at = at
        self.conflict = conflict
        self.isSecretSet = isSecretSet
        self.isMixed = isMixed
        self.isInvalid = isInvalid
        self.isMissing = isMissing
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        encodeMembers(into: &writer)
        writer.endObject()
    }

    /// Writes the members alone, into an object that is open.
    public func encodeMembers(into writer: inout JSONWriter) {
        writer.member("value", value)
        writer.member("revision", revision)
        writer.member("set", isSet)
        if !byText.isEmpty {
            writer.key("by")
            writer.raw(byText)
        } else if let by {
            writer.key("by")
            by.encode(into: &writer)
        }
        writer.member("at", at)
        if !conflict.isEmpty {
            writer.key("conflict")
            writer.beginArray()
            for sibling in conflict {
                writer.beginObject()
                writer.member("value", sibling.value)
                if let by = sibling.by {
                    writer.key("by")
                    by.encode(into: &writer)
                }
                writer.member("at", sibling.at)
                writer.endObject()
            }
            writer.endArray()
        }
        if let isSecretSet {
            writer.key("secret")
            writer.beginObject()
            writer.member("set", isSecretSet)
            writer.endObject()
        }
        if isMixed { writer.member("mixed", true) }
        if isInvalid { writer.member("invalid", true) }
        if isMissing { writer.member("missing", true) }
    }

    /// Reads the object, passing over members that are new.
    public init(decoding json: JSON, path: String = "field") throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            value: try reader.value("value"), revision: try reader.integer("revision"),
            isSet: try reader.bool("set"), at: try reader.moment("at"))
        if let by = reader["by"] { self.by = try WireAuthor(decoding: by, path: "\(path).by") }
        if reader["conflict"] != nil {
            conflict = try reader.each("conflict") { json, path throws(DecodeError) in
                let sibling = try WireReader(json, path)
                var by: WireAuthor?
                if let author = sibling["by"] { by = try WireAuthor(decoding: author, path: path) }
                return Sibling(
                    value: try sibling.value("value"), by: by, at: try sibling.moment("at"))
            }
        }
        isSecretSet = reader["secret"]?["set"]?.boolValue
        isMixed = reader["mixed"]?.boolValue ?? false
        isInvalid = reader["invalid"]?.boolValue ?? false
        isMissing = reader["missing"]?.boolValue ?? false
    }
}

/// A field with its id: a member of `fields: {ID: Field}`.
public struct NamedField: Hashable, Sendable {
    public var id: String
    public var state: FieldState

    /// A field's state under its id.
    public init(id: String, state: FieldState) {
        self.id = id
        self.state = state
    }
}

extension JSONWriter {
    /// A member of `{ID: Field}` whose Field's members are JSON text already.
    mutating func field(_ id: String, members: [UInt8]) {
        key(named: id)
        beginObject()
        raw(members)
        endObject()
    }
}

extension [NamedField] {
    /// Writes `{ID: Field}` in the order of the list.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        for field in self {
            writer.key(named: field.id)
            field.state.encode(into: &writer)
        }
        writer.endObject()
    }

    /// Reads `{ID: Field}` in the order in which it is written.
    public init(decoding json: JSON, path: String = "fields") throws(DecodeError) {
        guard let object = json.objectValue else {
            throw .shape(path: path, expected: "an object")
        }
        self = []
        for (id, value) in object.members {
            append(
                NamedField(id: id, state: try FieldState(decoding: value, path: "\(path).\(id)")))
        }
    }

    /// The state of the field with this id.
    public subscript(id: String) -> FieldState? { first { $0.id.isSameBytes(as: id) }?.state }
}

/// A change of one field, as it is notified: `{field, …Field, was}`.
public struct FieldChange: Hashable, Sendable {
    public var field: String
    public var state: FieldState
    /// The value that stood before; `nil` where it is not told (a secret).
    public var was: JSON?

    /// A change to a state from what was.
    public init(field: String, state: FieldState, was: JSON?) {
        self.field = field
        self.state = state
        self.was = was
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        Self.encode(field, was: was, into: &writer) { state.encodeMembers(into: &$0) }
    }

    /// Writes the object around the members of the Field, which `members` writes.
    @inline(__always)
    static func encode(
        _ field: String, was: JSON?, into writer: inout JSONWriter,
        members: (inout JSONWriter) -> Void
    ) {
        writer.beginObject()
        writer.member("field", field)
        members(&writer)
        writer.member("was", was)
        writer.endObject()
    }

    /// Reads the object, passing over members that are new.
    public init(decoding json: JSON, path: String = "change") throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            field: try reader.string("field"), state: try FieldState(decoding: json, path: path),
            was: reader["was"])
    }
}

extension WireReader {
    /// A moment; `nil` where the member is missing.
    func moment(_ name: String) throws(DecodeError) -> Timestamp? {
        guard let value = self[name] else { return nil }
        guard let moment = value.stringValue.flatMap({ Timestamp($0) }) else {
            throw mistyped(name, "a moment of RFC 3339 in UTC")
        }
        return moment
    }
}
