// A change that waits for the approval of others.
//
//     propose ──▶ waits ──the last vote──▶ applied
//                  │ │
//                  │ ├──refuse, by one of those who may approve──▶ refused
//                  │ ├──withdraw, by the proposer──▶ withdrawn
//                  │ ├──its time is over──▶ expired
//                  │ └──a vote finds that what it was based on has changed,
//                  │    or somebody breaks the glass──▶ stale
//                  └──a vote that is not the last──▶ waits
//
// Each transition is in one commit; `applied` in that of the revision. A state without an arrow out
// of it is final. The machine reads no clock and knows no form: who may vote, and what a vote
// finds, are parameters. A proposal that has ended is kept for some days, the newest of a form.

/// A proposal as the daemon keeps it.
struct Proposal: Sendable {
    /// The kind of the rows in `Ongoing`, and of the deadlines.
    static let kind = "proposal"
    /// The name of the row with the newest number that was given to a proposal. It belongs to no
    /// form, because numbers are never used again.
    static let numberName = OngoingName(kind: kind, id: "")

    /// The proposal as readers see it.
    private(set) var wire: FormProposal
    /// Who proposed it, as the kernel said.
    let proposer: Person
    let session: String?
    /// When it expires, on the steady clock (milliseconds).
    let until: Int64
    /// The newest revision that the proposer had seen of what it is based on.
    let basis: UInt64
    /// The version of the definition that the proposer had seen, if it changes the definition.
    let version: UInt64?
    /// The controls that the request named; their access and conditions are judged.
    let named: [String]
    /// The controls that must be as they were.
    let watched: [String]
    /// Who has approved it, in the order of the votes.
    private(set) var voters: [Person] = []

    init(
        _ wire: FormProposal, by proposer: Person, session: String?, until: Int64, basis: UInt64,
        version: UInt64? = nil, named: [String] = [], watched: [String] = []
    ) {
        self.wire = wire
        self.proposer = proposer
        self.session = session
        self.until = until
        self.basis = basis
        self.version = version
        self.named = named
        self.watched = watched
    }

    var id: Int64 { wire.id }

    /// The name of its row and of its deadline.
    var name: OngoingName { Self.name(id) }

    static func name(_ id: Int64) -> OngoingName { OngoingName(kind: kind, id: String(id)) }

    func hasVote(of person: Person, _ users: LinkConfiguration.Users) -> Bool {
        voters.contains { $0.isSame(as: person, users) }
    }

    mutating func add(_ vote: FormProposal.Vote, of person: Person) {
        wire.votes.append(vote)
        voters.append(person)
    }

    /// Notes how many votes are missing.
    mutating func wait(for needs: Int) { wire.needs = Int64(needs) }

    /// Replaces its message, because that of its revision is overwritten.
    mutating func redact(to text: String) { wire.message = text }

    mutating func end(as state: ProposalState, _ ended: FormProposal.Ended) {
        wire.state = state
        wire.ended = ended
        if state == .applied { wire.needs = 0 }
    }

    /// How many votes a rule still asks for. All votes are judged by the rule now in force.
    func votesMissing(
        _ rule: ApprovalRule, _ users: LinkConfiguration.Users, owner: (Peer) -> UInt32,
        daemonUID: UInt32
    ) -> Int {
        let counted = voters.count {
            !$0.isSame(as: proposer, users)
                && rule.from.names($0.peer, owner: owner($0.peer), daemonUID: daemonUID)
        }
        return max(0, rule.count - counted)
    }
}

/// Somebody who proposed or approved, as the kernel said at that time.
struct Person: Sendable {
    let peer: Peer

    init(_ peer: Peer) { self.peer = Peer(pid: 0, peer.identity) }

    /// Whether both are one person: the same user, or one who became another user after the login.
    ///
    /// On another host, numbers mean nothing but for root, who is one person everywhere. Where a
    /// name is one person on all hosts, somebody who became another user may be anybody there.
    func isSame(as other: Person, _ users: LinkConfiguration.Users) -> Bool {
        if host == other.host { return !uids.isDisjoint(with: other.uids) }
        if uid == 0, other.uid == 0 { return true }
        guard users == .same else { return false }
        return peer.user.isSameBytes(as: other.peer.user) || hasChanged || other.hasChanged
    }

    /// Whether both are the same user, as which somebody may take back what they did.
    func isSameUser(as other: Person, _ users: LinkConfiguration.Users) -> Bool {
        host == other.host
            ? uid == other.uid
            : users == .same && peer.user.isSameBytes(as: other.peer.user)
    }

    /// The host of somebody who is connected to another daemon of the fleet.
    private var host: String? { peer.identity.home?.host }

    /// The uid on the host where they are connected.
    private var uid: UInt32 { peer.identity.home?.uid ?? peer.uid }

    /// Whether they became another user after the login.
    private var hasChanged: Bool { peer.identity.loginUID.map { $0 != uid } ?? false }

    private var uids: Set<UInt32> { peer.identity.loginUID.map { [uid, $0] } ?? [uid] }
}

// MARK: - Rows

extension Proposal: WireObject {
    /// The row, as JSON text.
    var encoded: [UInt8] { JSONWriter.bytes { encode(into: &$0) } }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("proposal", wire)
        writer.member("proposer", proposer)
        writer.member("session", session)
        writer.member("until", until)
        writer.member("basis", Int64(clamping: basis))
        writer.member("version", version.map { Int64(clamping: $0) })
        writer.member("named", named)
        writer.member("watched", watched)
        writer.member("voters", voters)
    }

    init(decoding bytes: [UInt8]) throws {
        let json = try JSON(parsing: bytes)
        let reader = try WireReader(json, "row")
        self.init(
            try reader.existing("proposal"), by: try reader.existing("proposer"),
            session: reader["session"]?.stringValue, until: try reader.integer("until"),
            basis: try reader.exactly("basis"),
            version: try reader["version"] == nil ? nil : reader.exactly("version"),
            named: try reader.strings("named"), watched: try reader.strings("watched"))
        voters = try reader.objects("voters")
    }
}

extension Person: WireObject, WireReadable {
    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("uid", Int64(peer.uid))
        writer.member("gid", Int64(peer.gid))
        writer.member("user", peer.user)
        writer.member("groups", .array(peer.groups.map { .integer(Int64($0)) }))
        writer.member("groupNames", peer.groupNames)
        writer.member("loginUID", peer.identity.loginUID.map(Int64.init))
        writer.member("host", peer.identity.home?.host)
        writer.member("homeUID", (peer.identity.home?.uid).map(Int64.init))
    }

    init(decoding json: JSON, path: String) throws(DecodeError) {
        let reader = try WireReader(json, path)
        let groups = try reader.array("groups").compactMap {
            $0.integerValue.flatMap(UInt32.init(exactly:))
        }
        var home: Peer.Identity.Home?
        if let host = reader["host"]?.stringValue {
            home = Peer.Identity.Home(host: host, uid: try reader.exactly("homeUID"))
        }
        self.init(
            Peer(
                pid: 0,
                Peer.Identity(
                    uid: try reader.exactly("uid"), gid: try reader.exactly("gid"),
                    groups: groups, user: try reader.string("user"),
                    groupNames: try reader.strings("groupNames"),
                    loginUID: try reader["loginUID"] == nil ? nil : reader.exactly("loginUID"),
                    isLoginKnown: true, home: home)))
    }
}
