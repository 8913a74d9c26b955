// The expected state of five daemons: every edit is kept forever, with its full causal history and
// what it wrote, so that what a daemon shows can be computed from the edits that it knows.
//
// `CausalOracle` computes which values are current. This one adds the effect of an edit at the
// daemon where it is made: the result of an increment, whether a set changes anything, and which
// edits an undo may revert.

import SyncCore

/// What a daemon shows of a field.
struct FleetReading: Equatable {
    var value: JSON
    var isSet: Bool
    var conflict: [JSON] = []
}

/// What an edit does to a field, and with which values.
struct FleetWrite {
    let field: FleetField
    var keys: UInt8 = 0
    var removedKeys: UInt8 = 0
    /// The keys among those whose present value it repeats.
    var againKeys: UInt8 = 0
    /// The new value of a register, a number or a secret; `nil`: a reset.
    var value: JSON?
    /// The new values of the components of wheels, in their order.
    var rows: [JSON?] = [nil, nil]
    var increment: Int?
}

/// The part of an event that is not causal.
struct FleetEvent {
    let write: FleetWrite
    /// The user who may undo it.
    let owner: Owner
    /// Of a register: the value, and the one before it.
    let sibling: OracleSibling
    /// By key: the user who may undo an addition of a tag that repeats one by another user.
    var ownersAgain: [UInt8: Owner] = [:]

    func owner(of key: UInt8) -> Owner { ownersAgain[key] ?? owner }
}

/// All edits of one fleet.
final class FleetOracle {
    private(set) var causal = CausalOracle(fields: FleetField.allCases.count)
    private(set) var events: [FleetEvent] = []
    /// Every dot that was ever issued.
    private var dots: Set<Dot> = []
    /// The start of each secret, which is never shown.
    static let canary = "CANARY"

    var count: Int { events.count }

    /// Whether it is durable at a daemon.
    func isKnown(_ dot: Dot) -> Bool { dots.contains(dot) }

    /// Writes that nobody of the fleet made.
    func know(_ context: CausalContext) {
        for entry in context.vector.entries { dots.insert(Dot(entry.replica, entry.counter)) }
    }

    // MARK: - Reading

    /// The current events under `key`, greatest rank first.
    func alive(_ field: FleetField, _ key: UInt8, _ knowledge: CausalKnowledge) -> [CausalEvent] {
        var all: [CausalEvent] = []
        causal.eachAlive(field.causal, key, knowledge) { all.append($0) }
        return all.count < 2 ? all : all.sorted { $0.isAfter($1) }
    }

    func standing(
        _ field: FleetField, _ key: UInt8, _ knowledge: CausalKnowledge
    ) -> CausalEvent? {
        causal.standing(field.causal, key, knowledge)
    }

    /// The tags in the set, and whether a user has set it.
    private func tags(_ knowledge: CausalKnowledge) -> (tags: [String], isSet: Bool) {
        var keys: UInt8 = 0
        causal.eachAlive(FleetField.tags.causal, 15, knowledge) { event in
            keys |= event.keys & ~knowledge.removedKeys(of: event.id)
        }
        if keys == 0 { return (["bar"], false) }
        let tags = FleetField.tagNames.enumerated().filter { keys & 1 << UInt8($0.offset) != 0 }
        return (tags.map(\.element), true)
    }

    /// The value of a number before its bounds are applied, and whether a user has set it.
    func sum(_ field: FleetField, _ knowledge: CausalKnowledge) -> (sum: Int, isSet: Bool) {
        let base = standing(field, 1, knowledge)
        let value = base.flatMap { events[$0.id].write.value }
        var sum = Int(value?.integerValue ?? field.initial.integerValue ?? 0)
        var isSet = value != nil
        causal.each(field.causal, knowledge) { event in
            guard let increment = event.increment, increment.epoch == base?.id ?? -1 else { return }
            sum += increment.amount
            isSet = true
        }
        return (sum, isSet)
    }

    /// What a daemon with this knowledge shows of a field.
    func reading(_ field: FleetField, _ knowledge: CausalKnowledge) -> FleetReading {
        var reading = FleetReading(value: field.initial, isSet: false)
        switch field.kind {
        case .register:
            guard let standing = standing(field, 1, knowledge) else { break }
            if let value = events[standing.id].write.value {
                reading.value = value
                reading.isSet = true
            }
            guard field.policy == .ask else { break }
            for event in alive(field, 1, knowledge) where event.id != standing.id {
                let value = events[event.id].write.value ?? field.initial
                if value != reading.value, !reading.conflict.contains(value) {
                    reading.conflict.append(value)
                }
            }
        case .components:
            var rows = field.initial.objectValue ?? JSONObject()
            for (place, name) in FleetField.componentNames.enumerated() {
                let key: UInt8 = 1 << UInt8(place)
                let initial = field.initial[name] ?? .null
                var told: [JSON] = []
                for (index, event) in alive(field, key, knowledge).enumerated() {
                    let tag = events[event.id].write.rows[place]
                    if index == 0, let tag {
                        rows[name] = tag
                        reading.isSet = true
                    }
                    if !told.contains(tag ?? initial) { told.append(tag ?? initial) }
                }
                reading.conflict += told.dropFirst().map { .object(JSONObject([(name, $0)])) }
            }
            reading.value = .object(rows)
        case .tags:
            let (tags, isSet) = tags(knowledge)
            reading.value = .strings(tags)
            reading.isSet = isSet
        case .counter:
            let (sum, isSet) = sum(field, knowledge)
            reading.value = .integer(field.bounds.clamp(sum))
            reading.isSet = isSet
        case .presses:
            var presses = 0
            causal.each(field.causal, knowledge) { _ in presses += 1 }
            reading.value = .object(JSONObject([("presses", .integer(presses))]))
            reading.isSet = presses > 0
        case .sealed:
            let latest = causal.latest(field.causal, knowledge)
            reading.isSet = latest.map { events[$0.id].write.value != nil } ?? false
        }
        return reading
    }

    /// The plain text of a secret.
    func secret(_ knowledge: CausalKnowledge) -> JSON? {
        causal.latest(FleetField.secret.causal, knowledge).flatMap { events[$0.id].write.value }
    }

    // MARK: - Recording

    /// Records a write at a daemon with `knowledge`, and returns the content of its delta.
    ///
    /// - Parameters:
    ///   - seen: What the writer had seen; `nil` for everything that the daemon knows.
    ///   - isSameUser: Whether the writer also made the last change of the field that was notified.
    ///   - transaction: The events of the same transaction so far. This one is added.
    func note(
        _ write: FleetWrite, dot: Dot, stamp: HybridTimestamp, seen: EventSet?, owner: Owner,
        isSameUser: Bool = false, takenBack: OracleSibling? = nil, transaction: inout EventSet,
        _ knowledge: inout CausalKnowledge
    ) throws -> CausalKnowledge {
        guard dots.insert(dot).inserted else { throw Violation("\(dot) names two writes") }
        let id = events.count
        var sibling = takenBack ?? OracleSibling(write: id, value: write.value, owner: owner)
        if takenBack == nil, write.field.kind == .register,
            let before = standing(write.field, 1, knowledge)
        {
            let past = events[before.id].sibling
            if write.againKeys != 0 {
                sibling = past
                sibling.affirm(id, isSameUser: isSameUser)
            } else {
                let isOne = transaction.contains(before.id) && !past.isAffirmed
                sibling.previous = isOne ? past.previous : OracleSibling.Past(past)
            }
        }
        let ownersAgain = isSameUser ? ownersOfTags(write, knowledge) : [:]
        let flag = write.field == .stop || write.field == .consent ? write.value?.boolValue : nil
        let told = causal.record(
            CausalWrite(
                field: write.field.causal, keys: write.keys, removedKeys: write.removedKeys,
                againKeys: write.againKeys, number: id, flag: flag, increment: write.increment),
            dot: dot, stamp: stamp, seen: seen, &knowledge)
        events.append(
            FleetEvent(
                write: write, owner: sibling.owner, sibling: sibling, ownersAgain: ownersAgain))
        transaction.insert(id)
        return told
    }

    // MARK: - The effect of an edit

    /// The writes of a change, each computed after those before it; none if nothing would change.
    func write(
        _ action: Change.Action, _ field: FleetField, _ knowledge: CausalKnowledge
    ) -> FleetWrite? {
        var write = FleetWrite(field: field)
        let now = reading(field, knowledge)
        switch field.kind {
        case .register:
            if case .value(let value) = action { write.value = value }
            write.keys = 1
            let siblings = alive(field, 1, knowledge).count
            let isIdle =
                write.value == nil
                ? !now.isSet && siblings < 2
                : now.isSet && now.value == write.value && siblings == 1
            return isIdle ? nil : write
        case .components: return wheels(action, now, knowledge)
        case .tags: return tags(action, knowledge)
        case .counter: return number(action, field, knowledge)
        case .presses: return write
        case .sealed:
            if case .value(let value) = action { write.value = value }
            return write.value == nil && !now.isSet ? nil : write
        }
    }

    private func wheels(
        _ action: Change.Action, _ now: FleetReading, _ knowledge: CausalKnowledge
    ) -> FleetWrite? {
        var write = FleetWrite(field: .wheels)
        var isIdle = true
        for (place, name) in FleetField.componentNames.enumerated() {
            let key: UInt8 = 1 << UInt8(place)
            let alive = alive(.wheels, key, knowledge)
            if case .value(let rows) = action {
                guard let tag = rows[name] else { continue }
                write.keys |= key
                write.rows[place] = tag
                if alive.count != 1 || events[alive[0].id].write.rows[place] != tag {
                    isIdle = false
                }
            } else if !alive.isEmpty {
                write.keys |= key
                isIdle = !now.isSet
            }
        }
        return isIdle ? nil : write
    }

    private func tags(_ action: Change.Action, _ knowledge: CausalKnowledge) -> FleetWrite? {
        let (present, isSet) = tags(knowledge)
        func bits(_ tags: [String]) -> UInt8 {
            tags.reduce(0) { $0 | 1 << UInt8(FleetField.tagNames.firstIndex(of: $1) ?? 0) }
        }
        func names(_ list: [JSON]) -> [String] { list.compactMap(\.stringValue) }
        func assigning(_ tags: [String]) -> FleetWrite {
            let keys = bits(tags)
            return FleetWrite(field: .tags, keys: keys | 8, removedKeys: 7 & ~keys)
        }
        switch action {
        case .value(let value):
            let list = names(value.arrayValue ?? [])
            return isSet && Set(list) == Set(present) ? nil : assigning(list)
        case .add(let list):
            let new = names(list).filter { !present.contains($0) }
            if new.isEmpty && isSet { return nil }
            let again = bits(names(list).filter(present.contains))
            return isSet
                ? FleetWrite(field: .tags, keys: bits(new) | again | 8, againKeys: again)
                : assigning(present + new)
        case .remove(let list):
            let gone = names(list).filter(present.contains)
            if gone.isEmpty { return nil }
            return isSet
                ? FleetWrite(field: .tags, keys: 8, removedKeys: bits(gone))
                : assigning(present.filter { !gone.contains($0) })
        default: return isSet ? FleetWrite(field: .tags, removedKeys: 15) : nil
        }
    }

    private func number(
        _ action: Change.Action, _ field: FleetField, _ knowledge: CausalKnowledge
    ) -> FleetWrite? {
        let (sum, isSet) = sum(field, knowledge)
        let shown = field.bounds.clamp(sum)
        if case .increment(let amount) = action {
            let result = field.bounds.clamp(shown + Int(amount.integer ?? 0))
            if result == shown { return nil }
            return FleetWrite(field: field, increment: result - sum)
        }
        var write = FleetWrite(field: field, keys: 1)
        if case .value(let value) = action { write.value = value }
        let bases = alive(field, 1, knowledge).count
        let isIdle =
            write.value == nil
            ? !isSet && bases < 2 : isSet && write.value == .integer(shown) && bases < 2
        return isIdle ? nil : write
    }
}

extension String {
    /// Whether it contains a secret. A search by bytes, because every frame is searched.
    var tellsSecret: Bool {
        let canary = Array(FleetOracle.canary.utf8)
        var matched = 0
        for byte in utf8 {
            matched = byte == canary[matched] ? matched + 1 : byte == canary[0] ? 1 : 0
            if matched == canary.count { return true }
        }
        return false
    }
}

extension ClosedRange<Int> {
    func clamp(_ number: Int) -> Int { Swift.max(lowerBound, Swift.min(upperBound, number)) }
}
