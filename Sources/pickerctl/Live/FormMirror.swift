// The client's copy of a form: the definition, the daemon's values, unanswered edits, and the other
// people who have it open.
//
// Invariants: `fields` is the newest revision of each field from the daemon; the displayed values
// are `fields` with the unanswered edits applied, so a key has an effect at once, online or
// offline; `context` covers exactly the changes that were displayed; `readings` are the results of
// the form's rules, computed again when one of their inputs changes. Memory is bounded by the
// definition: fields that it does not have are not kept, and neither are more people than fit.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

/// A form as one client sees it.
struct FormMirror {
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

    /// An edit that the daemon has not answered.
    struct Pending {
        var edit: Int
        var write: FieldEdit
        /// Its notification came before its answer, so the daemon's value already includes it.
        var hasLanded = false
    }

    /// Somebody else who has the form open.
    struct Other: Equatable {
        var connection: Int64
        var user: String
        var tty: String?
        var peer: LivePeer
        var focus: String?
        var draft: JSON?
    }

    /// A field that changed, for flashes and announcements.
    struct Observed {
        var field: String
        var by: WireAuthor?
        var isMine: Bool
        var was: JSON?
    }

    /// The result of the form's rules for a control.
    private struct Reading {
        var shown: ShownValue
        var text: String
        var isVisible: Bool
        var isEnabled: Bool
        /// The controls whose stored values it depends on.
        var sources: Set<Int>
    }

    let form: String
    private(set) var definition: FormDefinition
    /// Counts the changes of the definition.
    private(set) var definitions = 0
    /// Only looked up by id, never iterated.
    private(set) var fields: [String: FieldState] = [:]
    private(set) var context: String?
    private(set) var pending: [Pending] = []
    private(set) var others: [Other] = []
    private(set) var link = Link.connecting
    private(set) var user: String?
    /// The store of the daemon that answers: its replica without the epoch.
    private(set) var replica: String?
    private var connections: [Int64] = []
    /// By the number of the control.
    private var readings: [Reading] = []

    /// A mirror with only a definition.
    init(_ definition: FormDefinition) {
        self.definition = definition
        form = definition.name
        readAll()
    }

    /// A mirror with a definition and values.
    init(_ definition: FormDefinition, _ snapshot: StateSnapshot) {
        self.init(definition)
        context = snapshot.context
        take(snapshot.fields)
    }
}

// MARK: - What is shown

extension FormMirror {
    /// The stored value of a control, for `FormDefinition.shown`.
    func stored(_ index: Int) -> JSON {
        let control = definition.controls[index]
        var value = control.defaultValue
        if let state = fields[control.id] {
            value = state.isSecretSet.map { .bool($0) } ?? state.value
        }
        for edit in pending where edit.write.target == index && !edit.hasLanded {
            value = applied(edit.write.edit, to: value, control: index)
        }
        return value
    }

    private func applied(_ edit: StoredEdit, to value: JSON, control index: Int) -> JSON {
        switch edit {
        case .set(let new): return new
        case .setRows(let rows):
            var object = value.objectValue ?? JSONObject()
            for (name, tag) in rows.members { object[name] = tag }
            return .object(object)
        case .increment(let difference, let result):
            guard let base = value.numberValue else { return .number(result) }
            let control = definition.controls[index]
            if case .stepper(let stepper) = control.kind, stepper.wraps { return .number(result) }
            return .number(definition.counterValue(index, base: base, increments: difference))
        case .addTags(let tags, _):
            let present = value.arrayValue ?? []
            return .array(present + tags.filter { !present.contains($0) })
        case .removeTags(let tags):
            return .array((value.arrayValue ?? []).filter { !tags.contains($0) })
        case .seal: return .bool(true)
        case .press:
            return .members(("presses", .integer((value["presses"]?.integerValue ?? 0) + 1)))
        case .unset: return definition.controls[index].defaultValue
        }
    }

    private func reading(_ index: Int) -> Reading {
        var sources: Set<Int> = []
        func value(_ source: Int) -> JSON {
            sources.insert(source)
            return stored(source)
        }
        var reading = Reading(
            shown: definition.shown(index, values: value),
            text: percent(value(index), index)
                ?? definition.displayText(of: index, values: value),
            isVisible: definition.isVisible(index, values: value),
            isEnabled: definition.isEnabled(index, values: value), sources: [])
        reading.sources = sources
        return reading
    }

    private mutating func readAll() {
        readings = definition.controls.indices.map { reading($0) }
    }

    /// Computes all readings again that depend on the stored values of these controls.
    private mutating func read(changed: [Int]) {
        for index in readings.indices
        where changed.contains(where: { readings[index].sources.contains($0) }) {
            readings[index] = reading(index)
        }
    }

    /// The displayed value of a control.
    func shown(_ index: Int) -> ShownValue { readings[index].shown }

    /// The value in words.
    func text(_ index: Int) -> String { readings[index].text }

    /// Another value of the control in words.
    func text(_ value: JSON, of index: Int) -> String {
        if case .secure = definition.controls[index].kind { return Template.dash }
        if case .button = definition.controls[index].kind { return "pressed" }
        if let percent = percent(value, index) { return percent }
        return definition.text(of: ShownValue(value), control: index)
    }

    /// The value of a gauge from 0 to 1 without a format, as a percentage.
    private func percent(_ value: JSON, _ index: Int) -> String? {
        guard case .gauge(let gauge) = definition.controls[index].kind,
            gauge.currentValueLabel == nil,
            gauge.domain.min == .zero, gauge.domain.max == DecimalNumber(1),
            let number = value.numberValue,
            let hundred = DecimalNumber(
                significand: Int128(number.significand), exponent: Int(number.exponent) + 2)
        else { return nil }
        return "\(hundred) %"
    }

    func isVisible(_ index: Int) -> Bool { readings[index].isVisible }
    func isEnabled(_ index: Int) -> Bool { readings[index].isEnabled }

    /// The number of a control.
    func index(_ field: String) -> Int? { definition.index(of: field) }

    /// The daemon's state of a field.
    func state(_ field: String) -> FieldState? { fields[field] }

    /// Whether a field keeps concurrent values until somebody chooses.
    func hasConflict(_ field: String) -> Bool { fields[field]?.conflict.isEmpty == false }

    /// Whether a secret is set; `nil` if the control has none.
    func isSecretSet(_ index: Int) -> Bool? {
        guard case .secure = definition.controls[index].kind else { return nil }
        return fields[definition.controls[index].id]?.isSecretSet
    }

    /// Whether the author is this client.
    func isMine(_ author: WireAuthor?) -> Bool {
        author.map { connections.contains($0.connection) } ?? false
    }

    /// The author as a peer with a name and a colour; `nil` for this client and for nobody.
    func peer(_ author: WireAuthor?) -> LivePeer? {
        guard let author, !isMine(author) else { return nil }
        if let known = others.first(where: { $0.connection == author.connection }) {
            return known.peer
        }
        let sameUser = others.first { $0.user == author.user }?.peer.number
        return LivePeer(
            name: Self.name(author.user, author.tty, isCommon: author.user == user),
            number: sameUser ?? others.count)
    }

    /// A user name, with the terminal if several people have the same user name.
    private static func name(_ user: String, _ tty: String?, isCommon: Bool) -> String {
        guard isCommon, let tty else { return user }
        return "\(user) \(tty)"
    }

    /// Whether edits wait for the daemon.
    var waitingEdits: Int {
        var edits: [Int] = []
        for edit in pending where edits.last != edit.edit { edits.append(edit.edit) }
        return edits.count
    }
}

// MARK: - What happens

extension FormMirror {
    /// Applies an edit over the daemon's values until it is answered. Throws if the edit is
    /// invalid.
    mutating func edit(_ number: Int, _ change: Change) throws(InvalidValue) {
        guard let index = index(change.field) else { return }
        let writes = try definition.edits(for: change.action, control: index, values: stored)
        pending += writes.map { Pending(edit: number, write: $0) }
        read(changed: writes.map(\.target))
    }

    /// The daemon answered: its value replaces the local edit.
    mutating func answered(_ edits: [Int]) {
        let answered = pending.filter { edits.contains($0.edit) }
        pending.removeAll { edits.contains($0.edit) }
        read(changed: answered.map(\.write.target))
    }

    /// Applies fields that are newer than the known ones.
    mutating func take(_ newer: [NamedField]) {
        var changed: [Int] = []
        for field in newer {
            guard let index = index(field.id) else { continue }
            if let known = fields[field.id], known.revision >= field.state.revision { continue }
            fields[field.id] = field.state
            changed.append(index)
        }
        read(changed: changed)
    }

    /// Connections of this client that are known as its own, the newest.
    private static let ownConnectionsMax = 64

    mutating func greeted(_ greeting: HelloResult) {
        if link != .deleted { link = .online }
        if let replica, replica != greeting.store {
            // Numbers of connections and contexts have a meaning in their own replica only.
            connections = []
            context = nil
        }
        replica = greeting.store
        user = greeting.you.user
        // An edit is answered on the connection after it, at the latest.
        connections = connections.suffix(Self.ownConnectionsMax - 1) + [greeting.you.connection]
        others.removeAll { $0.connection == greeting.you.connection }
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
        others = []
    }

    mutating func refused(_ error: WireError) {
        link = error.kind == .notFound ? .deleted : .refused(error.message)
    }

    /// A new snapshot; returns what differs from the displayed values.
    mutating func began(_ result: SubscribeResult) -> [Observed] {
        let before = fields
        context = result.context
        link = .online
        fields = [:]
        take(result.fields ?? [])
        readAll()
        var observed: [Observed] = []
        for field in result.fields ?? [] {
            guard let old = before[field.id], old.value != field.state.value else { continue }
            observed.append(
                Observed(
                    field: field.id, by: field.state.by, isMine: isMine(field.state.by),
                    was: old.value))
        }
        return observed
    }

    mutating func resumed() { link = .online }

    /// A revision.
    mutating func changed(_ changes: [FieldChange], context token: String?) -> [Observed] {
        if let token { context = token }
        var observed: [Observed] = []
        for change in changes {
            let mine = isMine(change.state.by)
            take([NamedField(id: change.field, state: change.state)])
            if mine { landed(change.field) }
            observed.append(
                Observed(
                    field: change.field, by: change.state.by, isMine: mine, was: change.was))
        }
        return observed
    }

    private mutating func landed(_ field: String) {
        guard let index = index(field) else { return }
        let place = pending.firstIndex { $0.write.target == index && !$0.hasLanded }
        if let place { pending[place].hasLanded = true }
        read(changed: [index])
    }

    /// A new definition; unanswered edits of removed controls are dropped.
    mutating func define(_ definition: FormDefinition) {
        let old = self.definition
        pending = pending.compactMap { edit in
            guard let target = definition.index(of: old.controls[edit.write.target].id) else {
                return nil
            }
            var edit = edit
            edit.write.target = target
            return edit
        }
        self.definition = definition
        fields = fields.filter { definition.index(of: $0.key) != nil }
        definitions += 1
        readAll()
    }

    mutating func deleted() {
        link = .deleted
        pending = []
        others = []
        readAll()
    }

    /// The form was created again and is followed from its first revision.
    mutating func rejoined() { link = .connecting }

    /// People who are shown at most; nobody sees more on a screen.
    private static let othersMax = 256

    /// The presence of other people changed.
    mutating func presence(_ change: PresenceChanged) {
        for peer in change.peers where !connections.contains(peer.connection) {
            let place = others.firstIndex { $0.connection == peer.connection }
            if peer.isGone {
                if let place { others.remove(at: place) }
                continue
            }
            if let place {
                others[place].focus = peer.focus
                others[place].draft = peer.draft
                continue
            }
            if others.count >= Self.othersMax { continue }
            // The lowest free colour, so that a person who reconnects probably gets the same
            // colour.
            let number = (0...others.count).first { number in
                !others.contains { $0.peer.number == number }
            }
            let isCommon = peer.user == user || others.contains { $0.user == peer.user }
            others.append(
                Other(
                    connection: peer.connection, user: peer.user, tty: peer.tty,
                    peer: LivePeer(
                        name: Self.name(peer.user, peer.tty, isCommon: isCommon),
                        number: number ?? 0),
                    focus: peer.focus, draft: peer.draft))
        }
    }
}

/// The core has another type `Peer`, for connections. This one is a person with a name and a
/// colour.
typealias LivePeer = TerminalUI.Peer
