/// Params of `presence.changed`: the peers whose presence changed.
public struct PresenceChanged: Hashable, Sendable, WireObject {
    public var form: String
    public var peers: [Peer]
    /// The other hosts of a shared form; `nil` if nothing changed.
    public var hosts: [Host]?

    /// Another host, with what it has under way.
    public typealias Host = HostUnderWay

    /// The presence of a peer.
    public struct Peer: Hashable, Sendable {
        public var connection: Int64
        public var user: String
        public var client: String?
        public var tty: String?
        /// The focused control; `nil` for none.
        public var focus: String?
        /// A value that is being entered and has not been sent.
        public var draft: JSON?
        /// The name of the peer's host, if it is another one.
        public var host: String?
        /// The peer has left.
        public var isGone: Bool

        /// A peer with these members.
        public init(
            connection: Int64, user: String, client: String?, tty: String?, focus: String?,
            draft: JSON? = nil, host: String? = nil, isGone: Bool = false
        ) {
            self.host = host
            self.connection = connection
            self.user = user
            self.client = client
            self.tty = tty
            self.focus = focus
            self.draft = draft
            self.isGone = isGone
        }
    }

    /// A change of presence.
    public init(form: String, peers: [Peer], hosts: [Host]? = nil) {
        self.form = form
        self.peers = peers
        self.hosts = hosts
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.array("peers", peers) { writer, peer in
            writer.beginObject()
            writer.member("connection", peer.connection)
            writer.member("user", peer.user)
            writer.member("client", peer.client)
            writer.member("tty", peer.tty)
            writer.member("focus", peer.focus.map(JSON.string) ?? .null)
            writer.member("draft", peer.draft)
            writer.member("host", peer.host)
            if peer.isGone { writer.member("gone", true) }
            writer.endObject()
        }
        if let hosts {
            writer.member("hosts", hosts)
        }
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "params")
        form = try reader.string("form")
        if reader["hosts"] != nil {
            hosts = try reader.objects("hosts")
        }
        peers = try reader.each("peers") { json, path throws(DecodeError) in
            let peer = try WireReader(json, path)
            return Peer(
                connection: try peer.integer("connection"), user: try peer.string("user"),
                client: peer["client"]?.stringValue, tty: peer["tty"]?.stringValue,
                focus: peer["focus"]?.stringValue, draft: peer["draft"],
                host: peer["host"]?.stringValue,
                isGone: peer["gone"]?.boolValue ?? false)
        }
    }
}
