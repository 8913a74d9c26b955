/// The number of a transaction of a form. Each transaction that changes the form increments it by
/// 1.
public typealias Revision = Int64

/// The author of an edit: `by` in the protocol.
///
/// `user`, `uid` and `connection` come from the daemon; `client` and `tty` are claims.
public struct WireAuthor: Hashable, Sendable, WireObject, WireReadable {
    public var user: String
    public var uid: UInt32
    /// The client's name as it claims, for example `pickerctl/1.0`.
    public var client: String?
    /// The client's terminal as it claims.
    public var tty: String?
    public var connection: Int64
    /// The replica that committed the edit, as in tokens.
    public var replica: String
    /// The name of the daemon's host, where the form is shared by several hosts.
    public var host: String?

    /// An author with these members.
    public init(
        user: String, uid: UInt32, client: String?, tty: String?, connection: Int64,
        replica: String, host: String? = nil
    ) {
        self.host = host
        self.user = user
        self.uid = uid
        self.client = client
        self.tty = tty
        self.connection = connection
        self.replica = replica
    }

    /// An author as others see it.
    public init(_ author: Author) {
        self.init(
            user: author.user, uid: author.uid, client: author.client, tty: author.tty,
            connection: Int64(clamping: author.connection), replica: author.replicaText,
            host: author.host)
    }

    /// The user, for people on a host: `alice`, or `alice@web2` for a user of another one.
    public func name(on host: String?) -> String {
        UserName.text(user, host: self.host == host ? nil : self.host)
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("user", user)
        writer.member("uid", Int64(uid))
        writer.member("client", client)
        writer.member("tty", tty)
        writer.member("connection", connection)
        writer.member("replica", replica)
        writer.member("host", host)
    }

    /// Parses the object; ignores unknown members.
    public init(decoding json: JSON, path: String = "by") throws(DecodeError) {
        try self.init(value: json, path: path)
    }

    init(value: some WireValue, path: String) throws(DecodeError) {
        let reader = try MemberReader(value, path)
        self.init(
            user: try reader.string("user"), uid: try reader.exactly("uid"),
            client: reader["client"]?.stringValue, tty: reader["tty"]?.stringValue,
            connection: try reader.integer("connection"), replica: try reader.string("replica"),
            host: reader["host"]?.stringValue)
    }
}

/// Users, for people.
public enum UserName {
    /// `alice`, or `alice@web2` for a user of another host.
    public static func text(_ user: String, host: String?) -> String {
        host.map { "\(user)@\($0)" } ?? user
    }
}

/// A value that was set concurrently with the current one: an element of `conflict`.
public struct Sibling: Hashable, Sendable {
    public var value: JSON
    public var by: WireAuthor?
    public var at: Timestamp?

    /// A sibling with its author and time.
    public init(value: JSON, by: WireAuthor?, at: Timestamp?) {
        self.value = value
        self.by = by
        self.at = at
    }
}

/// The state of a field for readers: Field in PROTOCOL.md.
public struct FieldState: Hashable, Sendable, WireObject, WireReadable {
    /// The current value; null if it is mixed or secret.
    public var value: JSON
    /// The revision of the field's last change.
    public var revision: Revision
    /// Whether somebody has set it. Otherwise it shows its default.
    public var isSet: Bool
    /// The author of the last change.
    public var by: WireAuthor?
    /// The same as JSON text, if the writer has it. It is used instead of `by`.
    var byText: [UInt8] = []
    /// The time of the last change.
    public var at: Timestamp?
    /// The concurrent values that nobody has resolved.
    public var conflict: [Sibling]
    /// When the value ends by itself, and the value after that; `nil` if it does not end.
    public var lease: FieldLease? {
        get { rare?.lease }
        set { rare = Rare(lease: newValue, runs: runs, press: press) }
    }
    /// Whether a secure field has a value; `nil` for other fields.
    public var isSecretSet: Bool?
    /// The control's sources have different values.
    public var isMixed: Bool
    /// The value is outside the control's current domain.
    public var isInvalid: Bool
    /// The control is required and empty.
    public var isMissing: Bool
    /// The runs of a button; `nil` for a control without `runs`.
    public var runs: ButtonRuns? {
        get { rare?.runs }
        set { rare = Rare(lease: lease, runs: newValue, press: press) }
    }
    /// The press of a button with `runs` that an edit made, in its answer.
    public var press: String? {
        get { rare?.press }
        set { rare = Rare(lease: lease, runs: runs, press: newValue) }
    }
    private var rare: Rare?

    /// What few fields have. A class, so that it adds only one word to the others.
    private final class Rare: Hashable, Sendable {
        let lease: FieldLease?
        let runs: ButtonRuns?
        let press: String?

        /// `nil` if there is nothing.
        init?(lease: FieldLease?, runs: ButtonRuns?, press: String?) {
            if lease == nil, runs == nil, press == nil { return nil }
            self.lease = lease
            self.runs = runs
            self.press = press
        }

        static func == (left: Rare, right: Rare) -> Bool {
            left.lease == right.lease && left.runs == right.runs && left.press == right.press
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(lease)
            hasher.combine(runs)
            hasher.combine(press)
        }
    }

    /// A field's state. Parameters that are left out are absent.
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

    /// About how many bytes the object takes as text, without encoding it.
    public var bytesEstimate: Int {
        conflict.reduce(200 + value.bytesEstimate) { $0 + 200 + $1.value.bytesEstimate }
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        Self.encodeStart(value, revision, isSet: isSet, into: &writer)
        if !byText.isEmpty {
            writer.key("by")
            writer.raw(byText)
        } else {
            writer.member("by", by)
        }
        writer.member("at", at)
        if !conflict.isEmpty { writer.member("conflict", conflict) }
        writer.member("lease", lease)
        if let isSecretSet { writer.object("secret") { $0.member("set", isSecretSet) } }
        if isMixed { writer.member("mixed", true) }
        if isInvalid { writer.member("invalid", true) }
        if isMissing { writer.member("missing", true) }
        writer.member("runs", runs)
        writer.member("press", press)
    }

    /// Writes the members that every field has.
    @inline(__always)
    static func encodeStart(
        _ value: JSON, _ revision: Revision, isSet: Bool, into writer: inout JSONWriter
    ) {
        writer.member("value", value)
        writer.member("revision", revision)
        writer.member("set", isSet)
    }

    /// Parses the object; ignores unknown members.
    public init(decoding json: JSON, path: String = "field") throws(DecodeError) {
        try self.init(try WireReader(json, path), besides: 0)
    }

    /// Reads the members of an object that has others besides.
    ///
    /// - Parameter others: How many others were read.
    fileprivate init(
        _ reader: MemberReader<some WireValue>, besides others: Int
    ) throws(DecodeError) {
        let path = reader.path
        var by: WireAuthor?
        if let value = reader["by"] {
            do {
                by = try WireAuthor(value: value, path: "")
            } catch {
                throw error.within("\(path).by")
            }
        }
        self.init(
            value: try reader.value("value"), revision: try reader.integer("revision"),
            isSet: try reader.bool("set"), by: by, at: try reader.moment("at"))
        // Few fields have more.
        let known = others + 3 + (by == nil ? 0 : 1) + (at == nil ? 0 : 1)
        if reader.count == known { return }
        if let json = try reader.tree("conflict") {
            guard let siblings = json.arrayValue else {
                throw reader.mistyped("conflict", "an array")
            }
            for (index, json) in siblings.enumerated() {
                conflict.append(
                    try Sibling(decoding: json, path: "\(path).conflict[\(index)]"))
            }
        }
        if let json = try reader.tree("lease") {
            lease = try FieldLease(decoding: json, path: "\(path).lease")
        }
        isSecretSet = reader["secret"]?.member("set")?.boolValue
        isMixed = reader["mixed"]?.boolValue ?? false
        isInvalid = reader["invalid"]?.boolValue ?? false
        isMissing = reader["missing"]?.boolValue ?? false
        if let press = reader["press"]?.stringValue { self.press = press }
        if let json = try reader.tree("runs") {
            runs = try ButtonRuns(decoding: json, path: "\(path).runs")
        }
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
    /// Writes a member of `{ID: Field}` from JSON text.
    mutating func field(_ id: String, members: SharedBytes, press: Dot? = nil) {
        key(named: id)
        beginObject()
        members.withBytes { raw($0) }
        member("press", press?.description)
        endObject()
    }
}

/// `{ID: Field}` in the order of the list.
extension [NamedField]: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        for field in self {
            writer.key(named: field.id)
            field.state.encode(into: &writer)
        }
    }

    /// Parses `{ID: Field}` in document order.
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

    /// The states by id, to look many up. Of fields with one id, the first.
    public var byID: [String: FieldState] {
        Dictionary(lazy.map { ($0.id, $0.state) }) { first, _ in first }
    }
}

/// A change of one field in a notification: `{field, …Field, was}`.
public struct FieldChange: Hashable, Sendable {
    public var field: String
    public var state: FieldState
    /// The value before; `nil` if it is not published (a secret).
    public var was: JSON?

    /// A change to a state from the value before.
    public init(field: String, state: FieldState, was: JSON?) {
        self.field = field
        self.state = state
        self.was = was
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        Self.encode(field, was: was, into: &writer) { state.encodeMembers(into: &$0) }
    }

    /// Writes the object; `members` writes the members of the Field.
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

    /// Parses the object; ignores unknown members.
    public init(decoding json: JSON, path: String = "change") throws(DecodeError) {
        try self.init(value: json, path: path)
    }

    init(value: some WireValue, path: String) throws(DecodeError) {
        let reader = try MemberReader(value, path)
        let was = try reader.tree("was")
        self.init(
            field: try reader.string("field"),
            state: try FieldState(reader, besides: was == nil ? 1 : 2), was: was)
    }
}

extension MemberReader {
    /// A timestamp; `nil` if the member is missing.
    func moment(_ name: StaticString) throws(DecodeError) -> Timestamp? {
        guard let value = self[name] else { return nil }
        guard let moment = value.stringValue.flatMap({ Timestamp($0) }) else {
            throw mistyped(name, "a moment of RFC 3339 in UTC")
        }
        return moment
    }
}
