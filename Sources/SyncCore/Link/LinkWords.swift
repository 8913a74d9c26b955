// What hosts say to each other of what a form has under way: leases, runs of buttons, proposals.
//
//   the owner of a lease, run or proposal           another host
//     what is under way ───────────underWay──────────▶ shows it
//     judges, does it once ◀─────────verb──────────── was asked by a client
//                          ─────────answer──────────▶ answers the client
//
// It goes by publish and subscribe, on the subject of presence, and is kept by nobody: a word may
// be lost, come late or come twice. What is under way is told again every ten seconds. A verb is
// told again until it is answered or given up, is done once, and never after its end. A daemon that
// does not know these items skips them.

/// An item of another host about a form, opened.
package struct LinkWord: Hashable, Sendable {
    package let form: String
    package let host: String
    /// The start of its daemon.
    package let run: UInt64
    package let item: LinkItem
}

/// What a host has under way in a form. The newest replaces the others.
package struct UnderWayWord: Hashable, Sendable {
    /// Greater than the number of each earlier word of this host since its start.
    package let number: UInt64
    /// `HostUnderWay` as JSON text; empty: nothing.
    package let text: [UInt8]
}

/// A request of a client of another host, for the host that owns what it is about.
package struct LinkVerb: Sendable {
    /// What its host lets somebody do with all forms.
    package enum Rank: UInt8, Sendable {
        case user = 0
        case daemon = 1
        case root = 2
    }

    /// Random, the same when it is said again.
    package let id: UInt64
    /// The host that it is for.
    package let to: String
    /// The start of its daemon. A later one does not know what was done.
    package let run: UInt64
    /// Nobody does it later: milliseconds since 1970 on the clock of the host that it is for, as
    /// the one that says it knows that clock. After a beacon that came late this is too early, and
    /// never too late.
    package let until: Int64
    /// Who wants it.
    package let author: Author
    package let session: String?
    package let rank: Rank
    /// The names of the author's groups.
    package let groups: [String]
    /// The uid of the author's login, if that is known.
    package let loginUID: UInt32?
    package let isLoginKnown: Bool
    /// JSON text.
    package let request: [UInt8]

    /// More groups are left out.
    static let groupsMax = 256
}

/// What became of a verb.
package struct LinkVerbAnswer: Hashable, Sendable {
    package let id: UInt64
    /// The host that said the verb.
    package let to: String
    /// A response of JSON-RPC.
    package let response: [UInt8]
}

extension UnderWayWord: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(number)
        writer.blob(text)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(number: try reader.unsigned(), text: try reader.blob())
    }
}

extension LinkVerb: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(id)
        writer.string(to)
        writer.unsigned(run)
        writer.signed(until)
        author.write(to: &writer)
        writer.optional(session) { $0.string($1) }
        writer.byte(rank.rawValue)
        let named = groups.prefix(Self.groupsMax)
        writer.count(named.count)
        for group in named { writer.string(group) }
        writer.optional(loginUID) { $0.unsigned(UInt64($1)) }
        writer.flag(isLoginKnown)
        writer.blob(request)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        id = try reader.unsigned()
        to = try reader.string()
        run = try reader.unsigned()
        until = try reader.signed()
        author = try Author(from: &reader)
        session = try reader.optionalString()
        let start = reader.offset
        rank = try reader.checked(Rank(rawValue: try reader.byte()), from: start, "a rank")
        let count = try reader.unsigned()
        guard count <= UInt64(Self.groupsMax) else {
            throw .invalid(offset: start, what: "at most \(Self.groupsMax) groups")
        }
        var groups: [String] = []
        for _ in 0..<count { groups.append(try reader.string()) }
        self.groups = groups
        loginUID = try reader.optional { reader throws(CausalityDecodeError) in
            let start = reader.offset
            return try reader.checked(
                UInt32(exactly: try reader.unsigned()), from: start, "a uid")
        }
        isLoginKnown = try reader.flag()
        request = try reader.blob()
    }
}

extension LinkVerbAnswer: CausalityCodable {
    package func write(to writer: inout CausalityWriter) {
        writer.unsigned(id)
        writer.string(to)
        writer.blob(response)
    }

    package init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        self.init(
            id: try reader.unsigned(), to: try reader.string(), response: try reader.blob())
    }
}

extension LinkMachine {
    /// The most bytes of the content of a word.
    var wordBytesMax: Int {
        max(0, min(server?.payloadMax ?? 0, LinkMessage.payloadMax) - LinkMessage.overheadMax - 16)
    }

    /// Says something of a form to the other hosts; returns whether it goes out.
    package mutating func say(
        _ kind: LinkItem.Kind, _ bytes: [UInt8], of form: String, at now: Moment
    ) -> Bool {
        self.now = now
        guard isLinked, !configuration.isFollower, bytes.count <= wordBytesMax else { return false }
        publish([LinkItem(kind, bytes)], to: .presence(form: form))
        return true
    }
}
