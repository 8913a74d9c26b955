// Differences between a daemon and the oracle.

import EngineTestKit
import SyncCore

extension FleetOracle {
    /// The events whose dots a token names.
    func events(of token: String) throws -> EventSet {
        guard let context = try? ContextToken.parse(token) else {
            throw Violation("not a token: \(token)")
        }
        var seen = EventSet()
        for event in causal.events where context.contains(event.dot) { seen.insert(event.id) }
        return seen
    }

    /// What a control shows. It may show several fields.
    func shown(_ id: String, _ knowledge: CausalKnowledge) -> (reading: FleetReading, isMixed: Bool)
    {
        let readings = FleetControl.targets(id).map { reading($0, knowledge) }
        var result = readings.first ?? FleetReading(value: .null, isSet: false)
        result.isSet = readings.allSatisfy(\.isSet)
        let isMixed = readings.contains { $0.value != result.value }
        if isMixed { result.value = .null }
        return (result, isMixed)
    }

    /// How a notification or answer differs from what its control must show.
    func difference(
        _ told: FieldState, _ id: String, _ knowledge: CausalKnowledge, conflicts: Bool = false
    ) -> String? {
        let (reading, isMixed) = shown(id, knowledge)
        if id == FleetField.secret.id {
            guard told.value.isNull, !told.isInvalid else { return "it contains a secret: \(told)" }
            return told.isSecretSet == reading.isSet
                ? nil : "secret set: \(told.isSecretSet as Any), not \(reading.isSet)"
        }
        if told.value != reading.value { return "\(told.value), not \(reading.value)" }
        if told.isSet != reading.isSet { return "set: \(told.isSet), not \(reading.isSet)" }
        if told.isMixed != isMixed { return "mixed: \(told.isMixed), not \(isMixed)" }
        if told.isInvalid { return "it is marked as invalid" }
        let siblings = told.conflict.map(\.value)
        return !conflicts || siblings == reading.conflict
            ? nil : "siblings \(siblings), not \(reading.conflict)"
    }

    /// How a store differs from its expected contents.
    func difference(
        _ store: FieldStore, _ field: FleetField, _ knowledge: CausalKnowledge
    ) -> String? {
        switch store {
        case .register(let register):
            return difference(register, alive(field, 1, knowledge)) { $0.value }
        case .components(let map):
            for (place, name) in FleetField.componentNames.enumerated() {
                let alive = alive(field, 1 << UInt8(place), knowledge)
                if let wrong = difference(map[name], alive, { $0.rows[place] }) {
                    return "\(name): \(wrong)"
                }
            }
            return nil
        case .tags(let set):
            for (place, name) in FleetField.tagNames.enumerated() {
                let dots = alive(field, 1 << UInt8(place), knowledge).map(\.dot).sorted()
                let held = set.entries.first { $0.tag == .string(name) }?.dots ?? []
                if held != dots { return "\(name) was added by \(held), not by \(dots)" }
            }
            let marks = alive(field, 8, knowledge).map(\.dot).sorted()
            return set.marks == marks ? nil : "edited by \(set.marks), not by \(marks)"
        case .counter(let counter):
            let bases = alive(field, 1, knowledge)
            if counter.bases.map(\.dot) != bases.map(\.dot).sorted() {
                return "set by \(counter.bases.map(\.dot)), not by \(bases.map(\.dot))"
            }
            let initial = field.initial.numberValue ?? .zero
            let value = counter.value(.latest, default: initial)
            let sum = sum(field, knowledge).sum
            return value == DecimalNumber(Int64(sum)) ? nil : "\(value as Any), not \(sum)"
        case .presses(let counter):
            var presses: UInt64 = 0
            causal.each(field.causal, knowledge) { _ in presses += 1 }
            return counter.presses == presses
                ? nil : "\(counter.presses) presses, not \(presses)"
        case .sealed(let register):
            let latest = causal.latest(field.causal, knowledge)
            let isRight =
                register.secret?.dot == latest?.dot && register.secret?.stamp == latest?.stamp
            return isRight ? nil : "\(register.secret as Any), not \(latest as Any)"
        }
    }

    private func difference(
        _ register: MultiValueRegister<Written>, _ alive: [CausalEvent],
        _ value: (FleetWrite) -> JSON?
    ) -> String? {
        for event in alive {
            let isThere = register.siblings.contains { sibling in
                sibling.dot == event.dot && sibling.stamp == event.stamp
                    && sibling.payload.value == value(events[event.id].write)
            }
            guard isThere else {
                return "\(event.dot) = \(value(events[event.id].write) ?? .null) is missing"
            }
        }
        return alive.count == register.siblings.count
            ? nil : "\(register.siblings.map(\.dot)), not \(alive.map(\.dot))"
    }

    /// The siblings of `ask` according to full histories only, if the daemon has them.
    func unforeseen(_ knowledge: CausalKnowledge, isWhole: Bool) -> String? {
        let field = FleetField.ask
        let alive = alive(field, 1, knowledge)
        guard alive.count < ConflictPolicy.siblingsMax - 1,
            let maximal = causal.maximal(field.causal, knowledge, isWhole: isWhole)
        else { return nil }
        var siblings = EventSet()
        for event in alive { siblings.insert(event.id) }
        return siblings == maximal ? nil : "siblings \(siblings), by histories \(maximal)"
    }
}

extension FleetDaemon {
    /// What the engine shows, by field.
    func shown() throws -> StateSnapshot {
        let texts = host.call(probe, .stateGet(StateGet(form: "fleet")))
        var decoder = ServerMessageDecoder()
        guard let text = texts.last, !text.tellsSecret,
            case .result(_, let json)? = try decoder.decode(Array(text.utf8)).first
        else { throw Violation("\(name) does not show its form: \(texts)") }
        return try StateSnapshot(decoding: json)
    }

    /// Compares store and engine with the oracle.
    func check(isWhole: Bool = false) throws {
        if let failure { throw failure }
        for field in FleetField.allCases {
            if let wrong = oracle.difference(form[field.key], field, knowledge) {
                throw Violation("\(name), the store's \(field): \(wrong)")
            }
        }
        if let wrong = oracle.unforeseen(knowledge, isWhole: isWhole) {
            throw Violation("\(name), the store's ask: \(wrong)")
        }
        let snapshot = try shown()
        guard snapshot.revision == revision else {
            throw Violation("\(name) shows revision \(snapshot.revision), not \(revision)")
        }
        _ = try tokenSeen(snapshot.context)
        for field in snapshot.fields {
            let wrong = oracle.difference(field.state, field.id, knowledge, conflicts: true)
            if let wrong { throw Violation("\(name) shows \(field.id): \(wrong)") }
        }
        lastShown = snapshot.fields
        for event in oracle.causal.events where event.keys != 0 {
            if knowledge.events.contains(event.id), !form.context.contains(event.dot) {
                throw Violation("\(name) has lost \(event.dot)")
            }
        }
    }
}
