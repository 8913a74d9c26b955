// The results of all methods: encoders for the engine and decoders for clients, side by side so
// that they stay consistent. Decoders ignore unknown members.

/// The result of a method without information: `{}`.
public struct EmptyResult: Hashable, Sendable {
    /// The one value.
    public init() {}

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.endObject()
    }
}

/// The result of `hello`.
public struct HelloResult: Hashable, Sendable {
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
    public struct Peer: Hashable, Sendable {
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

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("protocol", protocolVersion)
        writer.member("server", server)
        writer.member("replica", replica)
        writer.member("features", features)
        writer.member("host", host)
        writer.key("you")
        writer.beginObject()
        writer.member("connection", you.connection)
        writer.member("uid", Int64(you.uid))
        writer.member("gid", Int64(you.gid))
        writer.member("pid", Int64(you.pid))
        writer.member("user", you.user)
        writer.endObject()
        writer.key("limits")
        writer.beginObject()
        for limit in limits {
            writer.key(named: limit.name)
            writer.integer(limit.max)
        }
        writer.endObject()
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        let you = try WireReader(try reader.value("you"), "result.you")
        self.init(
            protocolVersion: try reader.integer("protocol"), server: try reader.string("server"),
            replica: try reader.string("replica"), features: try reader.strings("features"),
            host: reader["host"]?.stringValue,
            you: Peer(
                connection: try you.integer("connection"), uid: try you.exactly("uid"),
                gid: try you.exactly("gid"), pid: try you.exactly("pid"),
                user: try you.string("user")),
            limits: (reader["limits"]?.objectValue?.members ?? []).compactMap { name, value in
                value.integerValue.map { NamedLimit(name, $0) }
            })
    }
}

/// The result of `form.list` and `form.watch`.
public struct FormList: Hashable, Sendable {
    public var forms: [Summary]

    /// A form in the list.
    public struct Summary: Hashable, Sendable {
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

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("forms")
        writer.beginArray()
        for form in forms {
            writer.beginObject()
            writer.member("form", form.form)
            writer.member("title", form.title)
            writer.member("version", form.version)
            writer.member("revision", form.revision)
            writer.member("fields", form.fields)
            writer.member("subscribers", form.subscribers)
            writer.member("proposals", form.proposals)
            form.link?.encode("link", into: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        forms = try WireReader(json, "result").each("forms") { json, path throws(DecodeError) in
            let reader = try WireReader(json, path)
            var summary = Summary(
                form: try reader.string("form"), title: reader["title"]?.stringValue,
                version: try reader.integer("version"), revision: try reader.integer("revision"),
                fields: try reader.integer("fields"),
                subscribers: try reader.integer("subscribers"))
            summary.proposals = reader["proposals"]?.integerValue
            summary.link = try SharedFormState(reader, "link")
            return summary
        }
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

    /// A state.
    public init(fleet: String, state: State?, why: String? = nil) {
        self.fleet = fleet
        self.state = state
        self.why = why
    }

    fileprivate func encode(_ name: StaticString, into writer: inout JSONWriter) {
        writer.key(name)
        writer.beginObject()
        writer.member("fleet", fleet)
        writer.member("state", state?.rawValue)
        writer.member("why", why)
        writer.endObject()
    }

    fileprivate init?(_ reader: WireReader, _ name: String) throws(DecodeError) {
        guard let json = reader[name] else { return nil }
        let link = try WireReader(json, name)
        self.init(
            fleet: try link.string("fleet"),
            state: State(rawValue: try link.string("state")), why: link["why"]?.stringValue)
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
    public var link: SharedFormState?

    /// A form's definition.
    public init(
        form: String, version: Int64, log: String, revision: Revision, definition: JSON,
        link: SharedFormState? = nil
    ) {
        self.link = link
        self.form = form
        self.version = version
        self.log = log
        self.revision = revision
        self.definition = definition
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("form", form)
        writer.member("version", version)
        writer.member("log", log)
        writer.member("revision", revision)
        writer.member("definition", definition)
        link?.encode("link", into: &writer)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        self.init(
            form: try reader.string("form"), version: try reader.integer("version"),
            log: try reader.string("log"), revision: try reader.integer("revision"),
            definition: try reader.value("definition"),
            link: try SharedFormState(reader, "link"))
    }
}

/// The result of `form.apply` and `form.setOptions`: what happens to each field.
public struct ApplyResult: Hashable, Sendable {
    public var form: String
    public var version: Int64
    public var revision: Revision
    /// Whether the form is new.
    public var isCreated: Bool
    public var added: [String]
    public var kept: [String]
    public var invalid: [String]
    public var reset: [String]
    public var removed: [String]

    /// What an apply did or would do.
    public init(
        form: String, version: Int64, revision: Revision, isCreated: Bool, added: [String] = [],
        kept: [String] = [], invalid: [String] = [], reset: [String] = [], removed: [String] = []
    ) {
        self.form = form
        self.version = version
        self.revision = revision
        self.isCreated = isCreated
        self.added = added
        self.kept = kept
        self.invalid = invalid
        self.reset = reset
        self.removed = removed
    }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("form", form)
        writer.member("version", version)
        writer.member("revision", revision)
        writer.member("created", isCreated)
        writer.member("added", added)
        writer.member("kept", kept)
        writer.member("invalid", invalid)
        writer.member("reset", reset)
        writer.member("removed", removed)
        writer.endObject()
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
