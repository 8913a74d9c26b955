// What a host says of the people who have a form open there.
//
// It goes by publish and subscribe and is kept by nobody, so a word may be lost, come late or come
// twice. Each person is told again every ten seconds, and is gone thirty seconds after the last
// word of them.

/// Who has a form open on a host: those whose presence changed, or that are told again.
package struct LinkPresence: Hashable, Sendable {
    /// A connection that has the form open, or had.
    package struct Peer: Hashable, Sendable {
        /// What is said of it while it is there.
        package struct Presence: Hashable, Sendable {
            package var user: String
            /// The client's name as it claims.
            package var client: String?
            /// The client's terminal as it claims.
            package var tty: String?
            package var focus: String?
            /// A value that is not set yet: JSON text.
            package var draft: [UInt8]?

            /// The presence of a connection. What a terminal must not see is escaped.
            package init(
                user: String, client: String? = nil, tty: String? = nil, focus: String? = nil,
                draft: [UInt8]? = nil
            ) {
                func safe(_ text: String) -> String {
                    text.escapedForDisplay().cut(toBytes: LinkPresence.textBytesMax)
                }
                self.user = safe(user)
                self.client = client.map(safe)
                self.tty = tty.map(safe)
                self.focus = focus
                self.draft = draft
            }
        }

        /// The number of the connection at its host.
        package let connection: UInt64
        /// `nil`: it has left.
        package var presence: Presence?

        package init(connection: UInt64, _ presence: Presence?) {
            self.connection = connection
            self.presence = presence
        }
    }

    /// The longest text in it, but for a draft, in bytes.
    static let textBytesMax = 256
    /// The longest draft in bytes: the highest `draftBytesMax`.
    static let draftBytesMax = 64 << 10
    static let bytesMax = 16 << 10
    /// The most people of one host that others are told of, in all forms.
    package static let peersMax = 256

    /// Greater than the number of each earlier word of this host since its start.
    package var number: UInt64
    /// In ascending order of their connections.
    package var peers: [Peer]

    package init(number: UInt64, peers: [Peer]) {
        self.number = number
        self.peers = peers.sorted { $0.connection < $1.connection }
    }
}

extension LinkPresence: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(number)
        writer.list(peers)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        number = try reader.unsigned()
        let start = reader.offset
        let read = try reader.list(of: Peer.self)
        let isSound =
            read.count <= Self.peersMax
            && zip(read, read.dropFirst()).allSatisfy { $0.connection < $1.connection }
        peers = try reader.checked(
            isSound ? read : nil, from: start, "connections in ascending order")
    }
}

extension LinkPresence.Peer: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(connection)
        writer.optional(presence) { writer, presence in
            writer.string(presence.user)
            for text in [presence.client, presence.tty, presence.focus] {
                writer.optional(text) { $0.string($1) }
            }
            writer.optional(presence.draft) { $0.blob($1) }
        }
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        connection = try reader.unsigned()
        presence = try reader.optional { reader throws(CausalityDecodeError) in
            try Presence(from: &reader)
        }
    }
}

extension LinkPresence.Peer.Presence {
    fileprivate init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        func text(_ reader: inout CausalityReader) throws(CausalityDecodeError) -> String {
            let start = reader.offset
            let text = try reader.string()
            let isSafe =
                text.utf8.count <= LinkPresence.textBytesMax
                && !text.unicodeScalars.contains(where: SafeText.isHarmful)
            return try reader.checked(isSafe ? text : nil, from: start, "a short printable text")
        }
        user = try text(&reader)
        client = try reader.optional(text)
        tty = try reader.optional(text)
        focus = try reader.optional(text)
        let start = reader.offset
        draft = try reader.optional { reader throws(CausalityDecodeError) in try reader.blob() }
        guard (draft?.count ?? 0) <= LinkPresence.draftBytesMax else {
            throw .invalid(offset: start, what: "a draft within the limits")
        }
    }
}
