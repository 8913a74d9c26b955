// A client's copy of a form: what the daemon has sent, and the own edits that it has not answered.
//
//   snapshot, change, answer ──▶ fields ──┐
//                                         ├──▶ value(of:)
//   own edit ──▶ pending ── applied over ─┘
//                  └── answered ──▶ gone
//
// Invariants:
// - a field is replaced only by one with a greater revision, so it does not matter whether an
//   answer or its notification comes first (docs/PROTOCOL.md, What you can rely on);
// - only snapshots and notifications move `log`, `revision` and `context`;
// - a value is the daemon's with the pending edits applied over it, so an edit has an effect at
//   once, online or offline.

package import SyncCore

/// A form as one client knows it: see the head of this file.
package struct FormReplica: Sendable {
    /// One write of an own edit that the daemon has not answered.
    package struct Pending: Sendable {
        /// The number of the edit; an edit may write several fields.
        package let number: Int
        package let field: String
        let write: StoredEdit
        /// Its notification came before its answer, so the daemon's value already includes it.
        var isNotified = false
    }

    /// The store whose form this is a copy of.
    package var store: String?
    /// The log that `revision` belongs to.
    package private(set) var log: String?
    /// The newest revision of a snapshot or a notification.
    package private(set) var revision: Revision?
    /// The causal context of what was shown last.
    package private(set) var context: String?
    /// In the order of their ids.
    package private(set) var fields: [NamedField] = []
    /// About how many bytes the fields take as text.
    package private(set) var bytes = 0
    /// In the order in which they were made.
    package private(set) var pending: [Pending] = []
    /// Who has the form open, in the order of their connections.
    package private(set) var peers: [PresenceChanged.Peer] = []
    /// The name of the daemon's host, where forms are shared with others; and those others.
    package private(set) var host: String?
    package private(set) var hosts: [PresenceChanged.Host] = []
    /// Connections of this client, the newest last; in use where `greeted` is called.
    private var connections: [Int64] = []

    /// The most connections that are remembered as this client's own. An edit is answered on the
    /// connection after its own, at the latest.
    private static let connectionsMax = 64
    /// The most controls of a form, for any configuration of a daemon.
    package static let fieldsMax = 100_000
    /// The most people that are remembered: the default of a daemon's `connectionsMax`.
    private static let peersMax = 16_384

    /// An empty copy.
    package init() {}

    /// A copy that continues from a position in a log; its fields are not known.
    package init(since: StateSubscribe.Since?) {
        log = since?.log
        revision = since?.revision
    }

    /// A copy of one snapshot.
    package init(_ snapshot: StateSnapshot) {
        log = snapshot.log
        revision = snapshot.revision
        context = snapshot.context
        replace(snapshot.fields)
    }

    // MARK: Reading

    /// The daemon's state of a field.
    package subscript(id: String) -> FieldState? { index(of: id).map { fields[$0].state } }

    private func index(of id: String) -> Int? {
        let place = place(of: id)
        return place < fields.count && fields[place].id == id ? place : nil
    }

    /// The position from which a subscription resumes.
    package var position: StateSubscribe.Since? {
        guard let log, let revision else { return nil }
        return StateSubscribe.Since(log: log, revision: revision)
    }

    /// Whether a revision was not shown yet.
    package func isNewer(_ newer: Revision) -> Bool { revision.map { newer > $0 } ?? true }

    /// Whether an own edit of the field was not answered.
    package func isPending(_ id: String) -> Bool { pending.contains { $0.field == id } }

    /// The value of a field with the pending edits applied; whether a secret is set, as a boolean.
    ///
    /// - Parameter definition: has the defaults and the bounds of counters.
    package func value(of id: String, in definition: FormDefinition? = nil) -> JSON? {
        // In place: a copy of a state retains all that it has.
        var value = index(of: id).map { place in
            fields[place].state.isSecretSet.map { .bool($0) } ?? fields[place].state.value
        }
        for edit in pending where edit.field == id && !edit.isNotified {
            value = Self.applied(edit.write, to: value, of: id, in: definition)
        }
        return value ?? Self.initial(id, definition)
    }

    private static func initial(_ id: String, _ definition: FormDefinition?) -> JSON? {
        definition.flatMap { form in form.index(of: id).map { form.controls[$0].defaultValue } }
    }

    private static func applied(
        _ edit: StoredEdit, to known: JSON?, of id: String, in definition: FormDefinition?
    ) -> JSON? {
        let value = known ?? initial(id, definition)
        switch edit {
        case .set(let new): return new
        case .setRows(let rows):
            var object = value?.objectValue ?? JSONObject()
            for (name, tag) in rows.members { object[name] = tag }
            return .object(object)
        case .increment(let difference, let result):
            guard let form = definition, let index = form.index(of: id),
                let base = value?.numberValue
            else { return .number(result) }
            if case .stepper(let stepper) = form.controls[index].kind, stepper.wraps {
                return .number(result)
            }
            return .number(form.counterValue(index, base: base, increments: difference))
        case .addTags(let tags, _):
            let present = value?.arrayValue ?? []
            return .array(present + tags.filter { !present.contains($0) })
        case .removeTags(let tags):
            return .array((value?.arrayValue ?? []).filter { !tags.contains($0) })
        case .seal: return .bool(true)
        case .press:
            let presses = value?["presses"]?.integerValue ?? 0
            return .object(JSONObject([("presses", .integer(presses + 1))]))
        case .unset: return initial(id, definition)
        }
    }

    /// Somebody who has the form open.
    package func peer(_ connection: Int64) -> PresenceChanged.Peer? {
        peers.first { $0.connection == connection }
    }

    /// Whether the author is this client.
    package func isMine(_ author: WireAuthor?) -> Bool {
        author.map { isHere($0) && isMine($0.connection) } ?? false
    }

    /// Whether the edit was made on the daemon's host: each host numbers its own connections.
    package func isHere(_ author: WireAuthor) -> Bool {
        author.host == nil || author.host == host
    }

    /// Whether the connection is or was one of this client.
    package func isMine(_ connection: Int64) -> Bool { connections.contains(connection) }

    // MARK: Own edits

    /// Shows a write until the edit with this number is answered.
    package mutating func write(_ edit: StoredEdit, to field: String, number: Int) {
        pending.append(Pending(number: number, field: field, write: edit))
    }

    /// Edits were answered, or are not sent: the daemon's values replace them.
    ///
    /// - Returns: the fields that they wrote.
    @discardableResult
    package mutating func answered(_ numbers: [Int]) -> [String] {
        let fields = pending.filter { numbers.contains($0.number) }.map(\.field)
        if !fields.isEmpty { pending.removeAll { numbers.contains($0.number) } }
        return fields
    }

    // MARK: What the daemon sends

    /// The daemon answered `hello`. Numbers of connections and contexts have a meaning in their own
    /// store only.
    ///
    /// - Returns: whether another store answers than before.
    @discardableResult
    package mutating func greeted(_ greeting: HelloResult) -> Bool {
        let isOther = store.map { $0 != greeting.store } ?? false
        if isOther {
            connections = []
            context = nil
        }
        store = greeting.store
        host = greeting.host
        connections = connections.suffix(Self.connectionsMax - 1) + [greeting.you.connection]
        peers.removeAll { $0.connection == greeting.you.connection }
        return isOther
    }

    /// A subscription began with a snapshot.
    ///
    /// - Returns: the fields whose values differ from before; `was` is `nil` for a field that was
    ///   not known.
    @discardableResult
    package mutating func began(_ result: SubscribeResult) -> [FieldChange] {
        let before = self
        log = result.log
        revision = result.revision
        context = result.context
        replace(result.fields ?? [])
        return fields.compactMap { field in
            let was = before[field.id]?.value
            if was == field.state.value { return nil }
            return FieldChange(field: field.id, state: field.state, was: was)
        }
    }

    /// A subscription continues. Its answer has the form's revision, and the notifications that
    /// follow lead up to it.
    package mutating func resumed(_ result: SubscribeResult) {
        log = result.log
        revision = revision ?? result.revision
        context = context ?? result.context
    }

    /// A notification: the newest revision. The first pending edit of a field that this client
    /// changed is included in the daemon's value from then on.
    package mutating func changed(
        _ changes: [FieldChange], revision: Revision, context: String?
    ) {
        self.revision = revision
        self.context = context ?? self.context
        var added: [NamedField] = []
        // By index: a copy of a change retains all that it has.
        for number in changes.indices
        where update(changes[number].field, changes[number].state, &added) {
            if pending.isEmpty || !isMine(changes[number].state.by) { continue }
            // A field that an answer brought before has no pending edit, and is not newer.
            let place = pending.firstIndex {
                $0.field == changes[number].field && !$0.isNotified
            }
            if let place { pending[place].isNotified = true }
        }
        add(added)
    }

    /// Takes the fields of an answer.
    package mutating func take(_ fields: [NamedField]) {
        var added: [NamedField] = []
        for field in fields { _ = update(field.id, field.state, &added) }
        add(added)
    }

    /// Replaces a known field by a newer one; one that is not known is added to `added`. Returns
    /// whether it is newer.
    private mutating func update(
        _ id: String, _ state: FieldState, _ added: inout [NamedField]
    ) -> Bool {
        guard let place = index(of: id) else {
            added.append(NamedField(id: id, state: state))
            return true
        }
        guard state.revision > fields[place].state.revision else { return false }
        bytes += state.bytesEstimate - fields[place].state.bytesEstimate
        fields[place].state = state
        return true
    }

    /// Adds fields in one pass, so that each of the others moves once.
    private mutating func add(_ added: [NamedField]) {
        if !added.isEmpty { replace(fields + added) }
    }

    /// Forgets the fields that a new definition does not have, and the pending edits of them.
    package mutating func keep(where has: (String) -> Bool) {
        if !fields.allSatisfy({ has($0.id) }) { replace(fields.filter { has($0.id) }) }
        pending.removeAll { !has($0.field) }
    }

    private mutating func replace(_ known: [NamedField]) {
        fields = []
        for field in known.sorted(by: {
            ($0.id, $0.state.revision) < ($1.id, $1.state.revision)
        }) {
            if fields.last?.id == field.id { fields.removeLast() }
            fields.append(field)
        }
        bytes = fields.reduce(0) { $0 + $1.state.bytesEstimate }
    }

    private func place(of id: String) -> Int { fields.partitionIndex { $0.id >= id } }

    // MARK: Presence

    /// Who has the form open changed.
    package mutating func presenceChanged(_ change: PresenceChanged) {
        hosts = change.hosts ?? hosts
        for peer in change.peers where !isMine(peer.connection) {
            let place = peers.partitionIndex { $0.connection >= peer.connection }
            if place < peers.count, peers[place].connection == peer.connection {
                peers.remove(at: place)
            }
            if !peer.isGone, peers.count < Self.peersMax { peers.insert(peer, at: place) }
        }
    }

    /// The connection was lost: who is there is not known.
    package mutating func disconnected() { (peers, hosts) = ([], []) }

    /// The form was deleted.
    package mutating func deleted() {
        pending = []
        peers = []
    }
}
