// One transaction of one daemon, computed again by the oracle.

import SyncCore

/// The effect of an edit, write by write.
final class FleetTransaction {
    private let daemon: FleetDaemon
    private let edit: FleetEdit
    private var dots: ArraySlice<Dot>
    private let all: CausalContext
    private let after: CausalForm
    private let own: EventSet
    private(set) var written: Set<FleetField> = []
    /// The repeated values, which are not notified.
    private var affirmed: Set<FleetField> = []
    private(set) var events = EventSet()
    /// The content of its delta.
    private(set) var told = CausalKnowledge()

    private var oracle: FleetOracle { daemon.oracle }

    /// - Parameters:
    ///   - dots: Its dots, in order.
    ///   - after: The form after its batch.
    ///   - own: The earlier events of the same connection.
    init(
        daemon: FleetDaemon, edit: FleetEdit, dots: [Dot], after: CausalForm, own: EventSet
    ) {
        self.daemon = daemon
        self.edit = edit
        self.dots = dots[...]
        all = CausalContext(dots: dots)
        self.after = after
        self.own = own
    }

    /// Computes it with the daemon's knowledge, and compares it with its notification; `nil` if
    /// there is none.
    func work(_ params: StateChanged?, _ knowledge: inout CausalKnowledge) throws {
        switch edit.request {
        case .stateSet(let set):
            for change in set.changes { try work(change, &knowledge) }
        case .stateUndo(let undo), .stateRedo(let undo):
            guard let params else { throw wrong("made a write that is not notified") }
            try takeBack(undo, params, isRedo: edit.request.method == .stateRedo, &knowledge)
        default: throw wrong("does not change the state")
        }
        guard dots.isEmpty else { throw wrong("made \(dots.count) writes too many") }
        guard let params else {
            if written.isEmpty, !affirmed.isEmpty { return }
            throw wrong("must change \(written.map(\.id).sorted()), and was not notified")
        }
        let ids = Set(params.changes.map(\.field))
        guard ids == FleetControl.told(of: written) else {
            throw wrong("notifies of \(ids.sorted()), and wrote \(written.map(\.id).sorted())")
        }
        for change in params.changes {
            if let difference = oracle.difference(change.state, change.field, knowledge) {
                throw wrong("notifies of \(change.field): \(difference)")
            }
        }
    }

    private func wrong(_ what: String) -> Violation {
        Violation("\(daemon.name): edit \(edit.number) \(what): \(edit.request.line)")
    }

    private func work(_ change: Change, _ knowledge: inout CausalKnowledge) throws {
        var action = change.action
        if case .toggle = action {
            let shown = oracle.shown(change.field, knowledge).reading.value
            action = .value(.bool(!(shown.boolValue ?? false)))
        }
        for field in FleetControl.targets(change.field) {
            guard let write = oracle.write(action, field, knowledge) else {
                try affirm(action, field, &knowledge)
                continue
            }
            var seen = edit.seen
            seen?.formUnion(own)
            seen?.formUnion(events)
            if field.policy == .first, let seen,
                let unseen = oracle.alive(field, 1, knowledge).first(where: {
                    !seen.contains($0.id)
                })
            {
                throw wrong("must be refused: \(unseen.dot) came first")
            }
            try note(write, seen: seen, owner: edit.owner, nil, &knowledge)
        }
    }

    /// Repeats the present value: a write that has seen everything, except what the transaction
    /// itself wrote.
    private func affirm(
        _ action: Change.Action, _ field: FleetField, _ knowledge: inout CausalKnowledge
    ) throws {
        guard !written.contains(field), !affirmed.contains(field),
            let write = oracle.affirmation(action, field)
        else { return }
        try note(write, seen: nil, owner: edit.owner, nil, &knowledge)
        affirmed.insert(field)
        written.remove(field)
    }

    private func note(
        _ write: FleetWrite, seen: EventSet?, owner: Owner, _ takenBack: OracleSibling?,
        _ knowledge: inout CausalKnowledge
    ) throws {
        guard let dot = dots.popFirst() else { throw wrong("lacks a write of \(write.field)") }
        written.insert(write.field)
        told.learn(
            try oracle.note(
                write, dot: dot, stamp: stamp(of: write.field), seen: seen, owner: owner,
                isSameUser: daemon.changedBy[write.field] == edit.owner.uid, takenBack: takenBack,
                transaction: &events, &knowledge))
    }

    /// The time of the write, as far as the store still has it. Otherwise no check needs it.
    private func stamp(of field: FleetField) -> HybridTimestamp {
        var stamp = HybridTimestamp(milliseconds: 0)
        func look(_ dot: Dot, _ its: HybridTimestamp) {
            if all.contains(dot) { stamp = its }
        }
        switch after[field.key] {
        case .register(let store): for one in store.siblings { look(one.dot, one.stamp) }
        case .components(let store):
            for one in store.components.flatMap(\.register.siblings) { look(one.dot, one.stamp) }
        case .counter(let store): for one in store.bases { look(one.dot, one.stamp) }
        case .sealed(let store): if let one = store.secret { look(one.dot, one.stamp) }
        case .tags, .presses: break
        }
        return stamp
    }

    // MARK: - Undo

    private func takeBack(
        _ undo: StateUndo, _ params: StateChanged, isRedo: Bool,
        _ knowledge: inout CausalKnowledge
    ) throws {
        guard let field = undo.field.flatMap({ FleetField(id: $0) }),
            let told = params.changes.first(where: { $0.field == field.id })?.state
        else { throw wrong("reverts a field that it does not name") }
        let scope = undo.scope == .mine ? edit.owner : nil
        if field == .tags { return try takeBackTags(told, scope, &knowledge) }
        guard let standing = oracle.standing(field, 1, knowledge) else {
            throw wrong("reverts a value that is not there")
        }
        let ways = oracle.events[standing.id].sibling.takenBack(
            isRedo: isRedo, write: oracle.count, by: edit.owner, scope: scope)
        // A sibling of a daemon whose clock is far ahead may be current all the same.
        let shown = [told.value] + told.conflict.map(\.value)
        guard let way = ways.first(where: { shown.contains($0.value ?? field.initial) }) else {
            throw wrong(
                ways.isEmpty
                    ? "reverts \(standing.dot), which is of another user"
                    : "became \(told.value), not \(ways[0].value ?? field.initial)")
        }
        var seen = EventSet()
        seen.insert(standing.id)
        let write = FleetWrite(field: field, keys: 1, value: way.value)
        try note(write, seen: seen, owner: way.owner, way, &knowledge)
    }

    private func takeBackTags(
        _ told: FieldState, _ scope: Owner?, _ knowledge: inout CausalKnowledge
    ) throws {
        let before = oracle.reading(.tags, knowledge).value.arrayValue ?? []
        let now = told.value.arrayValue ?? []
        let gone = before.filter { !now.contains($0) }
        let back = now.filter { !before.contains($0) }
        for (place, name) in FleetField.tagNames.enumerated() where gone.contains(.string(name)) {
            let key: UInt8 = 1 << UInt8(place)
            for event in oracle.alive(.tags, key, knowledge) {
                let owner = oracle.events[event.id].owner(of: key)
                if owner != OracleSibling.nobody, !(scope?.includes(owner) ?? true) {
                    throw wrong("removed \(name), which \(owner) had added")
                }
            }
        }
        var actions: [Change.Action] = []
        if !told.isSet {
            actions = [.reset]
        } else {
            if !gone.isEmpty { actions.append(.remove(gone)) }
            if !back.isEmpty { actions.append(.add(back)) }
        }
        for action in actions {
            guard let write = oracle.write(action, .tags, knowledge) else { continue }
            try note(write, seen: nil, owner: OracleSibling.nobody, nil, &knowledge)
        }
    }
}
