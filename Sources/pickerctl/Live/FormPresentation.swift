// What the live form shows of a form: its definition, the values of the client's copy by the form's
// rules, the connection, and the other people who have it open.
//
// Invariants: `readings` are the results of the form's rules, computed again when one of their
// inputs changes. Memory is bounded by the client's bounds for a form, and by `othersMax`.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// A form as one client sees it.
struct FormPresentation {
    /// The state of the connection.
    enum Link: Equatable {
        case connecting
        case online
        /// The connection was lost; with the last message of the daemon.
        case lost(String?)
        /// The form was deleted.
        case deleted
        /// Reconnecting does not help.
        case refused(String)
    }

    /// Somebody else who has the form open.
    struct Other: Equatable {
        let wire: PresenceChanged.Peer
        /// The name and the colour that they are shown with.
        let peer: LivePeer
    }

    let form: String
    private(set) var definition: FormDefinition
    /// Counts the changes of the definition.
    private(set) var definitions = 0
    private var replica: FormReplica
    private(set) var others: [Other] = []
    private(set) var link = Link.connecting
    private(set) var user: String?
    /// How far the runs of buttons are, by press.
    private(set) var progress: [String: ButtonProgressed] = [:]
    /// The proposals that wait for approval: this host's, oldest first, then those of others.
    var proposals: [FormProposal] {
        hosts.isEmpty ? ownProposals : ownProposals + proposalsElsewhere
    }

    private var ownProposals: [FormProposal] = []

    private var readings: FormReadings
    /// Fields that an own edit wrote, whose readings `readEdits` computes again.
    private var unread: [String] = []

    /// A definition with the values of a copy.
    init(_ definition: FormDefinition, _ replica: FormReplica = FormReplica()) {
        self.definition = definition
        self.replica = replica
        form = definition.name
        readings = FormReadings(definition, replica)
    }
}

// MARK: - What is shown

extension FormPresentation {
    /// The stored value of a control with the pending edits applied, for `FormDefinition.shown`.
    func stored(_ index: Int) -> JSON { replica.stored(index, definition) }

    /// The causal context of what is shown.
    var context: String? { replica.context }

    private mutating func readAll() { readings = FormReadings(definition, replica) }

    /// Computes all readings again that depend on these fields.
    @discardableResult
    private mutating func read(changed fields: [String]) -> [Int]? {
        readings.read(controls(showing: fields), definition, replica)
    }

    /// The controls that show something of these fields, ascending.
    func controls(showing fields: [String]) -> [Int] {
        readings.controls(showing: fields.compactMap { index($0) })
    }

    /// The displayed value of a control.
    func shown(_ index: Int) -> ShownValue { readings[index].shown }

    /// The value in words.
    func text(_ index: Int) -> String { readings[index].text }

    /// The lease of a control's value.
    func lease(_ index: Int) -> FieldLease? { readings[index].lease ?? leaseElsewhere(index) }

    /// The runs of a button. Those of other hosts come after this one's.
    func runs(_ index: Int) -> ButtonRuns? {
        let own = readings[index].runs
        let elsewhere = runsElsewhere(index)
        if elsewhere.isEmpty { return own }
        return ButtonRuns(
            waiting: (own?.waiting ?? 0) + Int64(elsewhere.count { $0.state == .waiting }),
            running: (own?.running ?? []) + elsewhere.filter { $0.state == .running },
            last: ([own?.last] + elsewhere.filter(\.state.isFinal)).compactMap(\.self)
                .max { $0.since < $1.since })
    }

    /// Whether no control has more than its value: a lease, a run, concurrent values.
    var hasOnlyValues: Bool {
        readings.hasOnlyValues && leasesElsewhere.isEmpty && runsElsewhere.isEmpty
    }

    /// Whether a handler works on a press of a button.
    func isRunning(_ index: Int) -> Bool {
        readings[index].isRunning || runsElsewhere(index).contains { $0.state == .running }
    }

    /// Whether a handler works on a press of any button.
    var isAnyRunning: Bool {
        readings.isAnyRunning || runsElsewhere.contains { $0.run.state == .running }
    }

    /// When values end by themselves.
    var leaseEnds: [Timestamp] {
        readings.leaseEnds + leasesElsewhere.compactMap(\.lease.until)
    }

    /// The fields of some changes whose values end by themselves now.
    func leased(_ changes: [FieldChange]) -> [String] {
        hasOnlyValues
            ? [] : changes.map(\.field).filter { index($0).map { lease($0) != nil } ?? false }
    }

    func isVisible(_ index: Int) -> Bool { readings[index].isVisible }
    func isEnabled(_ index: Int) -> Bool { readings[index].isEnabled }

    /// The number of a control.
    func index(_ field: String) -> Int? { definition.index(of: field) }

    /// The daemon's state of a field.
    func state(_ field: String) -> FieldState? { replica[field] }

    /// Whether a field keeps concurrent values until somebody chooses.
    func hasConflict(_ field: String) -> Bool { replica[field]?.conflict.isEmpty == false }

    /// Whether a secret is set; `nil` if the control has none.
    func isSecretSet(_ index: Int) -> Bool? {
        guard case .secure = definition.controls[index].kind else { return nil }
        return replica[definition.controls[index].id]?.isSecretSet
    }

    /// Whether the author is this client.
    func isMine(_ author: WireAuthor?) -> Bool { replica.isMine(author) }

    /// The author as a peer with a name and a colour; `nil` for this client and for nobody.
    func peer(_ author: WireAuthor?) -> LivePeer? {
        guard let author, !isMine(author) else { return nil }
        let host = replica.isHere(author) ? nil : author.host
        let known = others.first {
            // This daemon has its own numbers for connections of other hosts.
            host == nil
                ? $0.wire.connection == author.connection
                : $0.wire.host == host && $0.wire.user == author.user && $0.wire.tty == author.tty
        }
        if let known { return known.peer }
        let sameUser = others.first { $0.wire.user == author.user && $0.wire.host == host }
        return LivePeer(
            name: Self.name(
                author.user, host, author.tty, isCommon: host == nil && author.user == user),
            number: sameUser?.peer.number ?? others.count)
    }

    /// The daemon's host, where forms are shared with others.
    var host: String? { replica.host }

    /// The other hosts, if there are any.
    var hosts: [PresenceChanged.Host] { replica.hosts }

    /// A user name, with the host if it is another one, and with the terminal if several people
    /// have the same name there.
    private static func name(
        _ user: String, _ host: String?, _ tty: String?, isCommon: Bool
    ) -> String {
        let name = UserName.text(user, host: host)
        guard isCommon, let tty else { return name }
        return "\(name) \(tty)"
    }

    /// The number of edits that wait for the daemon.
    var waitingEdits: Int { Set(replica.pending.map(\.number)).count }
}

// MARK: - What happens

extension FormPresentation {
    /// Applies an edit over the daemon's values until it is answered. Throws if the edit is
    /// invalid.
    mutating func edit(_ number: Int, _ change: Change) throws(InvalidValue) {
        try write(number, change)
        readEdits()
    }

    /// The first part of `edit`, after which the edit can be sent: only stored values are those
    /// after it.
    mutating func write(_ number: Int, _ change: Change) throws(InvalidValue) {
        guard let index = index(change.field) else { return }
        for write in try definition.edits(for: change.action, control: index, values: stored) {
            let field = definition.controls[write.target].id
            replica.write(write.edit, to: field, number: number)
            unread.append(field)
        }
    }

    /// The second part: what the form's rules give after the edits that were written.
    mutating func readEdits() {
        if unread.isEmpty { return }
        read(changed: unread)
        unread = []
    }

    /// The daemon answered: its value replaces the local edit.
    mutating func answered(_ edits: [Int]) { read(changed: replica.answered(edits)) }

    /// Takes the fields of an answer.
    mutating func take(_ fields: [NamedField]) {
        replica.take(fields)
        read(changed: fields.map(\.id))
    }

    /// The daemon answered `hello`; returns whether it has another store than before.
    mutating func greeted(_ greeting: HelloResult) -> Bool {
        if link != .deleted { link = .online }
        user = greeting.you.user
        others.removeAll { $0.wire.connection == greeting.you.connection }
        return replica.greeted(greeting)
    }

    mutating func lost(_ reason: String?) {
        if case .deleted = link { return }
        if case .refused = link { return }
        // The last message of the daemon is still the reason.
        if case .lost(let said?) = link, reason == nil {
            link = .lost(said)
        } else {
            link = .lost(reason)
        }
        replica.disconnected()
        others = []
    }

    mutating func refused(_ error: WireError) {
        link = error.kind == .notFound ? .deleted : .refused(error.message)
    }

    /// A new snapshot; returns what differs from the daemon's last values.
    mutating func began(_ result: SubscribeResult) -> [FieldChange] {
        link = .online
        ownProposals = Array((result.proposals ?? []).prefix(Self.proposalsMax))
        let changes = replica.began(result)
        readAll()
        return changes.filter { $0.was != nil && index($0.field) != nil }
    }

    mutating func resumed(_ result: SubscribeResult) {
        link = .online
        ownProposals = Array((result.proposals ?? []).prefix(Self.proposalsMax))
        replica.resumed(result)
    }

    /// Proposals that are kept at most: the most that a daemon can be told to allow.
    private static let proposalsMax = 1_000

    /// A proposal was made, was voted on, or has ended. Returns the earlier state of one that
    /// waited. What another host has comes with the presence.
    mutating func note(_ proposal: FormProposal) -> FormProposal? {
        guard proposal.form == form, proposal.host == nil else { return nil }
        let known = ownProposals.firstIndex { $0.id == proposal.id }
        let earlier = known.map { ownProposals[$0] }
        switch (known, proposal.state.isFinal) {
        case (let known?, true): ownProposals.remove(at: known)
        case (let known?, false): ownProposals[known] = proposal
        case (nil, true): break
        case (nil, false):
            if ownProposals.count < Self.proposalsMax { ownProposals.append(proposal) }
        }
        return earlier
    }

    /// The guarded controls that a change asks for approval of, as far as can be known here.
    func guardsMet(by change: Change) -> [Int] {
        guard let index = index(change.field), !definition.guards(concerning: index).isEmpty,
            let writes = try? definition.edits(
                for: change.action, control: index, values: stored)
        else { return [] }
        var next = replica
        for write in writes {
            next.write(write.edit, to: definition.controls[write.target].id, number: 0)
        }
        return definition.guardsMet(
            byChanging: index, from: stored,
            to: { next.value(of: definition.controls[$0].id, in: definition) ?? .null })
    }

    /// The newest progress of a run.
    mutating func note(_ change: ButtonProgressed) {
        let runs = state(change.field)?.runs
        guard change.form == form,
            runs?.running.contains(where: { $0.press == change.press }) ?? false
        else { return }
        progress[change.press] = change
    }

    /// Forgets the progress of runs that have ended.
    private mutating func forgetProgress(_ changes: [FieldChange]) {
        for (press, change) in progress {
            guard let runs = changes.last(where: { $0.field == change.field })?.state.runs else {
                continue
            }
            if !runs.running.contains(where: { $0.press == press }) { progress[press] = nil }
        }
    }

    /// A revision. Returns the controls that it changes, if nothing but their values changed.
    @discardableResult
    mutating func changed(
        _ changes: [FieldChange], revision: Revision, context: String?
    ) -> [Int]? {
        replica.changed(changes, revision: revision, context: context)
        if !progress.isEmpty { forgetProgress(changes) }
        return read(changed: changes.map(\.field))
    }

    /// A new definition; unanswered edits of removed controls are dropped.
    mutating func define(_ definition: FormDefinition) {
        self.definition = definition
        replica.keep { definition.index(of: $0) != nil }
        definitions += 1
        readAll()
    }

    mutating func deleted() {
        link = .deleted
        ownProposals = []
        replica.deleted()
        others = []
        readAll()
    }

    /// The form was created again and is followed from its first revision.
    mutating func rejoined() { link = .connecting }

    /// People who are shown at most; nobody sees more on a screen.
    private static let othersMax = 256

    /// The presence of other people changed.
    mutating func presence(_ change: PresenceChanged) {
        replica.presenceChanged(change)
        others = others.compactMap { other in
            replica.peer(other.wire.connection).map { Other(wire: $0, peer: other.peer) }
        }
        for wire in change.peers where others.count < Self.othersMax {
            if wire.isGone || replica.isMine(wire.connection) { continue }
            if others.contains(where: { $0.wire.connection == wire.connection }) { continue }
            // The lowest free colour, so that a person who reconnects probably gets the same
            // colour.
            let number = (0...others.count).first { number in
                !others.contains { $0.peer.number == number }
            }
            let isCommon =
                wire.host == nil && wire.user == user
                || others.contains { $0.wire.user == wire.user && $0.wire.host == wire.host }
            let name = Self.name(wire.user, wire.host, wire.tty, isCommon: isCommon)
            others.append(Other(wire: wire, peer: LivePeer(name: name, number: number ?? 0)))
        }
    }
}

/// The core has another type `Peer`, for connections. This one is a person with a name and a
/// colour.
typealias LivePeer = TerminalUI.Peer
