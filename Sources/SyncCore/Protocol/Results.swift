// The results of all methods: encoders for the engine and decoders for clients, side by side so
// that they stay consistent. Decoders ignore unknown members.

/// The result of a method without information: `{}`.
public struct EmptyResult: Hashable, Sendable, WireObject {
    /// The one value.
    public init() {}

    package func encodeMembers(into writer: inout JSONWriter) {}
}

/// The result of `hello`.
public struct HelloResult: Hashable, Sendable, WireObject {
    public var protocolVersion: Int64
    /// The daemon, for example `pickersyncd/1.0`.
    public var server: String
    /// The replica: the id of the store, a dot, and the epoch.
    public var replica: String
    /// The id of the store. It stays when a store that lost its newest edits begins a new epoch; a
    /// copy or a restored backup has another one.
    public var store: String { String(replica.prefix { $0 != "." }) }
    public var features: [String]
    /// The name of the daemon's host among those that share forms; `nil` if there are none.
    public var host: String?
    public var you: Peer
    /// Limits by name, for example `maxFrame` in bytes.
    public var limits: [NamedLimit]

    /// The daemon's information about the connection.
    public struct Peer: Hashable, Sendable, WireObject, WireReadable {
        public var connection: Int64
        public var uid: UInt32
        public var gid: UInt32
        public var pid: Int32
        public var user: String

        /// A peer with each of its members.
        public init(connection: Int64, uid: UInt32, gid: UInt32, pid: Int32, user: String) {
            self.connection = connection
            self.uid = uid
            self.gid = gid
            self.pid = pid
            self.user = user
        }
    }

    /// A limit with its name.
    public struct NamedLimit: Hashable, Sendable {
        public var name: String
        public var max: Int64

        /// A bound.
        public init(_ name: String, _ max: Int64) {
            self.name = name
            self.max = max
        }
    }

    /// A greeting with each of its members.
    public init(
        protocolVersion: Int64 = 1, server: String, replica: String, features: [String],
        host: String? = nil, you: Peer, limits: [NamedLimit]
    ) {
        self.host = host
        self.protocolVersion = protocolVersion
        self.server = server
        self.replica = replica
        self.features = features
        self.you = you
        self.limits = limits
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("protocol", protocolVersion)
        writer.member("server", server)
        writer.member("replica", replica)
        writer.member("features", features)
        writer.member("host", host)
        writer.member("you", you)
        writer.object("limits") { writer in
            for limit in limits {
                writer.key(named: limit.name)
                writer.integer(limit.max)
            }
        }
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            protocolVersion: try reader.integer("protocol"), server: try reader.string("server"),
            replica: try reader.string("replica"), features: try reader.strings("features"),
            host: reader["host"]?.stringValue, you: try reader.existing("you"),
            limits: (reader["limits"]?.objectValue?.members ?? []).compactMap { name, value in
                value.integerValue.map { NamedLimit(name, $0) }
            })
    }
}

extension HelloResult.Peer {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("connection", connection)
        writer.member("uid", Int64(uid))
        writer.member("gid", Int64(gid))
        writer.member("pid", Int64(pid))
        writer.member("user", user)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            connection: try reader.integer("connection"), uid: try reader.exactly("uid"),
            gid: try reader.exactly("gid"), pid: try reader.exactly("pid"),
            user: try reader.string("user"))
    }
}

/// The result of `form.list` and `form.watch`.
public struct FormList: Hashable, Sendable, WireObject {
    public var forms: [Summary]

    /// A form in the list.
    public struct Summary: Hashable, Sendable, WireObject, WireReadable {
        public var form: String
        public var title: String?
        public var version: Int64
        public var revision: Revision
        /// The number of fields.
        public var fields: Int64
        /// The number of subscribed connections.
        public var subscribers: Int64
        /// The number of proposals that wait; `nil` if nothing in the form is guarded.
        public var proposals: Int64?
        /// The link to other hosts; `nil` if the form is not shared.
        public var link: SharedFormState?

        /// A summary with each of its members.
        public init(
            form: String, title: String?, version: Int64, revision: Revision, fields: Int64,
            subscribers: Int64
        ) {
            self.form = form
            self.title = title
            self.version = version
            self.revision = revision
            self.fields = fields
            self.subscribers = subscribers
        }
    }

    /// A list of forms.
    public init(forms: [Summary]) {
        self.forms = forms
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("forms", forms)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        forms = try WireReader(json, "result").objects("forms")
    }
}

extension FormList.Summary {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("title", title)
        writer.member("version", version)
        writer.member("revision", revision)
        writer.member("fields", fields)
        writer.member("subscribers", subscribers)
        writer.member("proposals", proposals)
        writer.member("link", link)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            form: try reader.string("form"), title: reader["title"]?.stringValue,
            version: try reader.integer("version"), revision: try reader.integer("revision"),
            fields: try reader.integer("fields"), subscribers: try reader.integer("subscribers"))
        proposals = reader["proposals"]?.integerValue
        link = try reader.inner("link")
    }
}

/// The link of a form to other hosts.
public struct SharedFormState: Hashable, Sendable {
    /// How this host stands to the others.
    public enum State: String, Hashable, Sendable, CaseIterable {
        /// All hosts that are heard have the same.
        case agrees
        /// This host or another one has not read or sent all yet.
        case behind
        /// Nothing comes or goes.
        case cutOff = "cut off"
        /// The form waits until somebody does something.
        case held
    }

    /// The fleet.
    public var fleet: String
    /// The state; `nil` if the daemon says another one.
    public var state: State?
    /// Why, unless it agrees.
    public var why: String?
    /// Definitions that met the one in force, and are not in force.
    public var otherDefinitions: [OtherDefinition] = []
    /// What the other hosts have under way in it.
    public var underWay: [HostUnderWay] = []
}

/// A definition that somebody applied without having seen the one in force, which was applied at
/// the same time on another host. The next definition that is applied replaces both.
public struct OtherDefinition: Hashable, Sendable {
    public var by: WireAuthor
    public var at: Timestamp
}

extension OtherDefinition: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("by", by)
        writer.member("at", at)
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(by: try reader.existing("by"), at: try reader.existing("at"))
    }
}

extension SharedFormState: WireObject, WireReadable {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("fleet", fleet)
        writer.member("state", state?.rawValue)
        writer.member("why", why)
        if !otherDefinitions.isEmpty { writer.member("otherDefinitions", otherDefinitions) }
        if !underWay.isEmpty { writer.member("underWay", underWay) }
    }

    package init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        self.init(
            fleet: try reader.string("fleet"),
            state: State(rawValue: try reader.string("state")), why: reader["why"]?.stringValue,
            otherDefinitions: try reader.list("otherDefinitions"),
            underWay: try reader.list("underWay"))
    }
}

/// The result of `form.get`.
public struct FormResult: Hashable, Sendable {
    public var form: String
    public var version: Int64
    public var log: String
    public var revision: Revision
    public var definition: JSON
    /// The link to other hosts; `nil` if the form is not shared.
    public var link: SharedFormState? = nil
}

extension FormResult: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("version", version)
        writer.member("log", log)
        writer.member("revision", revision)
        writer.member("definition", definition)
        writer.member("link", link)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), version: try reader.integer("version"),
            log: try reader.string("log"), revision: try reader.integer("revision"),
            definition: try reader.value("definition"),
            link: try reader.inner("link"))
    }
}

/// The result of `form.apply` and `form.setOptions`: what happens to each field.
public struct ApplyResult: Hashable, Sendable {
    public var form: String
    public var version: Int64
    public var revision: Revision
    /// Whether the form is new.
    public var isCreated: Bool
    public var added: [String] = []
    public var kept: [String] = []
    public var invalid: [String] = []
    public var reset: [String] = []
    public var removed: [String] = []
}

extension ApplyResult: WireObject {
    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("version", version)
        writer.member("revision", revision)
        writer.member("created", isCreated)
        writer.member("added", added)
        writer.member("kept", kept)
        writer.member("invalid", invalid)
        writer.member("reset", reset)
        writer.member("removed", removed)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), version: try reader.integer("version"),
            revision: try reader.integer("revision"), isCreated: try reader.bool("created"),
            added: try reader.strings("added"), kept: try reader.strings("kept"),
            invalid: try reader.strings("invalid"), reset: try reader.strings("reset"),
            removed: try reader.strings("removed"))
    }
}
