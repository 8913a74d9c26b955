// The expected state of a form. It is computed from explicit sets of the writes that each writer
// had seen, without the clocks, tokens and stores of the engine.
//
// Invariant: an `OracleForm` is a value. One is kept for every revision, so that an answer can be
// compared with the revision that it names.

import SyncCore

/// What a reader sees of a field.
struct OracleReading: Equatable {
    var value: JSON
    var isSet: Bool
    var isInvalid = false
    var isMixed = false
    var conflict: [JSON] = []
    var revision: Int64
}

/// A form at one revision.
struct OracleForm {
    var revision: Int64 = 0
    var definition = JSON.null
    var controls: [OracleControl] = []
    var contents: [String: OracleContent] = [:]
    /// The newest revision that changed a field.
    var touchedAt: [String: Int64] = [:]
    /// The user who made that change.
    var changedBy: [String: UInt32] = [:]
    /// The first write of the daemon's present replica.
    var replicaStart: WriteID = 0

    func control(_ id: String) -> OracleControl? { controls.first { $0.id == id } }

    /// The controls that store what this one shows.
    func targets(_ id: String) -> [String] {
        guard let control = control(id) else { return [] }
        return switch control.kind {
        case .bound(let other): targets(other)
        case .combined(let sources): sources.flatMap(targets)
        default: [id]
        }
    }

    /// The controls that show what this one stores.
    func dependents(_ id: String) -> [String] {
        controls.map(\.id).filter { $0 != id && targets($0).contains(id) }
    }

    // MARK: - Reading

    /// The value that a control stores, in its own type, and whether a user set it.
    func stored(_ id: String) -> (value: JSON, isSet: Bool) {
        guard let control = control(id), let content = contents[id] else { return (.null, false) }
        switch content {
        case .register(let register):
            guard let value = register.standing(control.policy)?.value else {
                return (control.initial, false)
            }
            return (value, true)
        case .counter(let counter):
            let base = counter.bases.standing(control.policy)
            let number = Self.number(counter, base, control)
            let isSet =
                base?.value != nil || counter.additions.contains { $0.base == base?.write }
            return (.integer(number), isSet)
        case .tags(let tags, let marks):
            if tags.isEmpty && marks.isEmpty { return (control.initial, false) }
            return (.array(ordered(tags.keys, control)), true)
        case .wheels(let components):
            var rows = control.initial.objectValue ?? JSONObject()
            var isSet = false
            for name in control.components {
                guard let value = components[name]?.standing(control.policy)?.value else {
                    continue
                }
                rows[name] = value
                isSet = true
            }
            return (.object(rows), isSet)
        case .presses(let count):
            return (.object(JSONObject([("presses", .integer(count))])), count > 0)
        case .secret(let secret): return (.null, secret != nil)
        case .derived: return (.null, false)
        }
    }

    static func number(
        _ counter: OracleCounter, _ base: OracleSibling?, _ control: OracleControl
    ) -> Int64 {
        let start = base?.value?.integerValue ?? control.initial.integerValue ?? 0
        return clamp(start + counter.sum(base?.write), control)
    }

    static func clamp(_ number: Int64, _ control: OracleControl) -> Int64 {
        max(control.minimum ?? .min, min(control.maximum ?? .max, number))
    }

    func ordered(_ tags: some Sequence<JSON>, _ control: OracleControl) -> [JSON] {
        let all = Array(tags)
        let known = control.options.filter(all.contains)
        let gone = all.filter { !control.options.contains($0) }
            .sorted { ($0.stringValue ?? "") < ($1.stringValue ?? "") }
        return known + gone
    }

    /// What a reader sees. `notifying` lists the conflicts of the edit that is notified.
    func reading(_ id: String, notifying: Bool = false) -> OracleReading {
        guard let control = control(id) else {
            return OracleReading(value: .null, isSet: false, revision: 0)
        }
        let targets = targets(id)
        let values = targets.map { stored($0) }
        var reading = OracleReading(
            value: values.first?.value ?? .null,
            isSet: !values.isEmpty && values.allSatisfy(\.isSet), revision: touchedAt[id] ?? 0)
        if values.contains(where: { $0.value != reading.value }) {
            reading.value = .null
            reading.isMixed = true
        }
        if !control.options.isEmpty, !reading.isMixed {
            let tags = reading.value.arrayValue ?? [reading.value]
            reading.isInvalid = !tags.allSatisfy(control.options.contains)
        }
        if control.kind == .secret { reading.isSet = values.allSatisfy(\.isSet) }
        reading.conflict = targets.flatMap { conflict($0, notifying: notifying) }
        return reading
    }

    private func conflict(_ id: String, notifying: Bool) -> [JSON] {
        guard let control = control(id), notifying || control.policy == "ask" else { return [] }
        switch contents[id] {
        case .register(let register):
            return register.disagreeing(control.policy) { $0.value ?? control.initial }
        case .counter(let counter):
            return counter.bases.disagreeing(control.policy) {
                .integer(Self.number(counter, $0, control))
            }
        case .wheels(let components):
            return components.keys.sorted().flatMap { name in
                (components[name]?.disagreeing(control.policy) {
                    $0.value ?? control.initial[name] ?? .null
                } ?? []).map { .object(JSONObject([(name, $0)])) }
            }
        default: return []
        }
    }

    func isVague(_ id: String) -> Bool {
        targets(id).contains {
            if case .counter(let counter) = contents[$0] { counter.isVague } else { false }
        }
    }
}
