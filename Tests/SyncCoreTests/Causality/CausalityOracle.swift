// What the stores must agree with: every write is kept for ever, with its full causal history.
//
// It knows no dots, vectors or contexts. Knowledge is a plain set of events and of removals, and
// grows by union.

import SyncCore

/// A write that the oracle keeps.
struct OracleEvent {
    let id: Int
    let field: TrialField
    /// The replica that committed it, as a running sum is kept for each.
    let replica: ReplicaID
    let stamp: HybridTimestamp
    let dot: Dot
    /// Under which keys of the field it put something.
    let keys: [String]
    let value: JSON
    /// For increments: what they add to, and how much.
    let epoch: Int?
    let amount: Int?
    /// All events that the writer had seen.
    let history: Set<Int>

    func isAfter(_ other: OracleEvent) -> Bool {
        stamp != other.stamp ? stamp > other.stamp : dot > other.dot
    }
}

/// What one copy, one message or one client knows.
struct OracleKnowledge {
    struct Place: Hashable {
        let event: Int
        let key: String
    }

    var events: Set<Int> = []
    /// What was superseded; never forgotten.
    var removed: Set<Place> = []

    mutating func learn(_ other: OracleKnowledge) {
        events.formUnion(other.events)
        removed.formUnion(other.removed)
    }
}

/// All events of one simulated world.
struct CausalityOracle {
    private(set) var events: [OracleEvent] = []

    /// The events that stand under `key`, in order of rank.
    func alive(_ field: TrialField, _ key: String, _ knowledge: OracleKnowledge) -> [OracleEvent] {
        of(field, knowledge).filter { event in
            event.keys.contains(key)
                && !knowledge.removed.contains(.init(event: event.id, key: key))
        }
    }

    /// Notes an edit at a copy with `knowledge`, and gives what a delta of it says.
    ///
    /// - Parameter seen: What the writer had seen; `nil` for all that the copy knows.
    mutating func record(
        _ edit: TrialEdit, replica: ReplicaID, dot: Dot, stamp: HybridTimestamp, seen: Set<Int>?,
        _ knowledge: inout OracleKnowledge
    ) -> OracleKnowledge {
        let field = edit.field
        let history = seen?.intersection(knowledge.events) ?? knowledge.events
        var stamp = stamp
        var epoch: Int?
        var amount: Int?
        var keys: [String] = []
        var told: Set<Int> = []
        var dropped: [OracleKnowledge.Place] = []
        switch field.key.kind {
        case .register: keys = ["value"]
        case .components: keys = edit.components
        case .tags: keys = edit.added + ["mark"]
        case .presses: keys = ["press"]
        case .counter where edit.isSet: keys = ["base"]
        case .counter:
            epoch = standing(field, "base", knowledge)?.id
            amount = edit.amount
        case .sealed:
            if let old = top(of(field, knowledge)), stamp <= old.stamp { stamp = old.stamp.next }
        }
        switch field.key.kind {
        case .register, .components, .counter:
            for key in keys { dropped += fate(field, key, history, knowledge) }
        case .tags:
            for key in Set(keys + edit.removed) {
                dropped += alive(field, key, knowledge).filter { history.contains($0.id) }
                    .map { .init(event: $0.id, key: key) }
            }
        case .presses, .sealed: break
        }
        let id = events.count
        for event in of(field, knowledge) where event.replica == replica {
            let isSummed = field.key.kind == .presses || (amount != nil && event.amount != nil)
            if isSummed, event.epoch == epoch { told.insert(event.id) }
        }
        told.formUnion(dropped.map(\.event) + [id])
        events.append(
            OracleEvent(
                id: id, field: field, replica: replica, stamp: stamp, dot: dot, keys: keys,
                value: edit.value, epoch: epoch, amount: amount, history: history))
        knowledge.events.insert(id)
        knowledge.removed.formUnion(dropped)
        return part(told, of: knowledge)
    }

    /// Notes the removal of a whole field, which is no write, and gives what a delta of it says.
    func remove(_ field: TrialField, _ knowledge: inout OracleKnowledge) -> OracleKnowledge {
        var told: Set<Int> = []
        for event in of(field, knowledge) {
            for key in event.keys
            where knowledge.removed.insert(.init(event: event.id, key: key)).inserted {
                told.insert(event.id)
            }
        }
        return part(told, of: knowledge)
    }

    /// What a copy with `knowledge` reads, as text.
    func reading(_ field: TrialField, _ knowledge: OracleKnowledge) -> String {
        switch field.key.kind {
        case .register: return register(field, "value", knowledge)
        case .components:
            return ["day", "month", "year"].map { register(field, $0, knowledge) }
                .joined(separator: " | ")
        case .tags:
            let tags = ["bar", "baz", "qux"].filter { !alive(field, $0, knowledge).isEmpty }
            let isSet = !tags.isEmpty || !alive(field, "mark", knowledge).isEmpty
            return "\(tags) \(isSet)"
        case .presses: return String(of(field, knowledge).count)
        case .sealed: return top(of(field, knowledge)).map { "\($0.stamp) \($0.id)" } ?? "-"
        case .counter:
            let base = standing(field, "base", knowledge)
            let sum = of(field, knowledge).filter { $0.epoch == base?.id }
                .reduce(0) { $0 + ($1.amount ?? 0) }
            let count = alive(field, "base", knowledge).count
            return "\(sum + Int(base?.value.integerValue ?? 0)) of \(count)"
        }
    }

    /// The siblings by full histories alone: writes that no write had seen. Valid where the
    /// knowledge has all histories; `nil` elsewhere.
    func maximal(_ field: TrialField, _ knowledge: OracleKnowledge) -> Set<Int>? {
        let known = knowledge.events
        guard known.allSatisfy({ events[$0].history.isSubset(of: known) }) else { return nil }
        let writes = of(field, knowledge)
        return Set(writes.map(\.id)).subtracting(writes.flatMap(\.history))
    }

    // MARK: -

    private func of(_ field: TrialField, _ knowledge: OracleKnowledge) -> [OracleEvent] {
        knowledge.events.lazy.map { events[$0] }.filter { $0.field == field }
    }

    private func top(_ events: [OracleEvent]) -> OracleEvent? {
        events.max { $1.isAfter($0) }
    }

    private func standing(
        _ field: TrialField, _ key: String, _ knowledge: OracleKnowledge
    ) -> OracleEvent? {
        let all = alive(field, key, knowledge)
        let no = all.filter { $0.value.boolValue == false }
        return field.policy == .falseWins && !no.isEmpty ? top(no) : top(all)
    }

    /// What a write drops: what it had seen, and the losers where the policy does not keep them.
    private func fate(
        _ field: TrialField, _ key: String, _ history: Set<Int>, _ knowledge: OracleKnowledge
    ) -> [OracleKnowledge.Place] {
        let winner = standing(field, key, knowledge)?.id
        return alive(field, key, knowledge).filter { event in
            history.contains(event.id) || (field.policy != .ask && event.id != winner)
        }.map { .init(event: $0.id, key: key) }
    }

    private func part(_ told: Set<Int>, of knowledge: OracleKnowledge) -> OracleKnowledge {
        OracleKnowledge(
            events: told, removed: knowledge.removed.filter { told.contains($0.event) })
    }

    private func register(
        _ field: TrialField, _ key: String, _ knowledge: OracleKnowledge
    ) -> String {
        let all = alive(field, key, knowledge).sorted { $1.isAfter($0) }
        let siblings = all.map { "\($0.stamp) \($0.value.encodedText)" }
        let winner = standing(field, key, knowledge)
        return "\(siblings) -> \(winner?.value.encodedText ?? "-")"
    }
}
