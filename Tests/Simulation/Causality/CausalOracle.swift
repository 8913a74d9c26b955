// What the stores must agree with: every write is kept for ever, with its full causal history.
//
// It knows no dots, vectors or contexts: dots are noted, only to tell which stored value is whose.
// Knowledge is a set of events and of removals, and grows by union; a set is a row of bits, as a
// world has no more than 256 events, so that a million worlds can be searched.

import SyncCore

/// Some events of one world.
struct EventSet: Equatable {
    static let capacity = 256

    private(set) var bits: SIMD4<UInt64> = .zero

    func contains(_ event: Int) -> Bool { bits[event >> 6] & 1 << UInt64(event & 63) != 0 }

    mutating func insert(_ event: Int) { bits[event >> 6] |= 1 << UInt64(event & 63) }

    mutating func formUnion(_ other: EventSet) { bits |= other.bits }

    func intersection(_ other: EventSet) -> EventSet { EventSet(bits: bits & other.bits) }

    func subtracting(_ other: EventSet) -> EventSet { EventSet(bits: bits & ~other.bits) }

    func isSubset(of other: EventSet) -> Bool { bits & ~other.bits == .zero }
}

/// What one copy, one message or one client knows.
struct CausalKnowledge: Equatable {
    var events = EventSet()
    /// What was superseded, four keys an event; never forgotten.
    private var removed: SIMD16<UInt64> = .zero

    /// Which keys of `event` were superseded, a bit each.
    func removedKeys(of event: Int) -> UInt8 {
        UInt8(truncatingIfNeeded: removed[event >> 4] >> UInt64(4 * (event & 15)) & 15)
    }

    mutating func remove(_ keys: UInt8, of event: Int) {
        removed[event >> 4] |= UInt64(keys) << UInt64(4 * (event & 15))
    }

    mutating func learn(_ other: CausalKnowledge) {
        events.formUnion(other.events)
        removed |= other.removed
    }
}

/// A field, as far as what is kept of it asks for.
struct CausalField {
    /// Where it stands among the fields of its form.
    let place: Int
    /// Which store it has.
    let kind: FieldStore.Kind
    /// What becomes of concurrent writes.
    let policy: ConflictPolicy
}

/// What an edit does to a field.
struct CausalWrite {
    let field: CausalField
    /// The keys that it writes, a bit each.
    let keys: UInt8
    /// The keys that it removes beside those that it writes.
    var removedKeys: UInt8 = 0
    /// Those of the written keys that it says again: it takes the place of all that is there, seen
    /// or not.
    var againKeys: UInt8 = 0
    /// Tells it from all others.
    let number: Int
    /// What a toggle is set to.
    var flag: Bool?
    /// What it adds to a number, where it does.
    var increment: Int?
}

/// A write that the oracle keeps.
struct CausalEvent {
    let id: Int
    let field: CausalField
    /// What the store under test calls it; its replica is the one that committed it.
    let dot: Dot
    let stamp: HybridTimestamp
    /// Under which keys of the field it put something, a bit each.
    let keys: UInt8
    /// The written number.
    let number: Int
    /// For an increment: how much, and the event that it adds to (-1 for the default).
    let increment: (amount: Int, epoch: Int)?
    /// All events that the writer had seen.
    let history: EventSet
    /// What a toggle was set to by it.
    let flag: Bool?

    func isAfter(_ other: CausalEvent) -> Bool {
        stamp != other.stamp ? stamp > other.stamp : dot > other.dot
    }
}

/// All events of one simulated world.
struct CausalOracle {
    private(set) var events: [CausalEvent] = []
    private var byField: [[Int]]

    /// The oracle of a form of so many fields that nobody has written.
    init(fields count: Int) {
        byField = Array(repeating: [], count: count)
    }

    /// Whether another event can be kept.
    var isFull: Bool { events.count == EventSet.capacity }

    /// The known events of `field`, oldest first.
    func each(
        _ field: CausalField, _ knowledge: CausalKnowledge, _ body: (CausalEvent) -> Void
    ) {
        for id in byField[field.place] where knowledge.events.contains(id) { body(events[id]) }
    }

    /// Those that stand under one of `keys`.
    func eachAlive(
        _ field: CausalField, _ keys: UInt8, _ knowledge: CausalKnowledge,
        _ body: (CausalEvent) -> Void
    ) {
        each(field, knowledge) { event in
            if event.keys & keys & ~knowledge.removedKeys(of: event.id) != 0 { body(event) }
        }
    }

    /// The value that readers see under `key`.
    func standing(
        _ field: CausalField, _ key: UInt8, _ knowledge: CausalKnowledge
    ) -> CausalEvent? {
        var best: CausalEvent?
        eachAlive(field, key, knowledge) { event in
            guard let leader = best else {
                best = event
                return
            }
            if field.policy.prefers(event, to: leader) { best = event }
        }
        return best
    }

    /// The latest of all known writes, superseded or not.
    func latest(_ field: CausalField, _ knowledge: CausalKnowledge) -> CausalEvent? {
        var best: CausalEvent?
        each(field, knowledge) { event in
            if best.map(event.isAfter) ?? true { best = event }
        }
        return best
    }

    /// The siblings by full histories alone: writes that no write had seen.
    ///
    /// A delta says what its write dropped, not what was gone already; so a copy may know a write
    /// without knowing that what the write had seen is gone, and then reads both for a while: `nil`.
    ///
    /// - Parameter isWhole: The knowledge is everybody's and nothing was ever lost.
    func maximal(
        _ field: CausalField, _ knowledge: CausalKnowledge, isWhole: Bool
    ) -> EventSet? {
        var known = EventSet()
        var gone = EventSet()
        var seen = EventSet()
        each(field, knowledge) { event in
            known.insert(event.id)
            if knowledge.removedKeys(of: event.id) & 1 != 0 { gone.insert(event.id) }
            seen.formUnion(event.history)
        }
        var ofField = EventSet()
        for id in byField[field.place] { ofField.insert(id) }
        guard isWhole || seen.intersection(ofField).isSubset(of: gone) else { return nil }
        return known.subtracting(seen)
    }

    // MARK: - Notes

    /// Notes an edit at a copy with `knowledge`, and gives what a delta of it says.
    ///
    /// - Parameter seen: What the writer had seen; `nil` for all that the copy knows.
    mutating func record(
        _ write: CausalWrite, dot: Dot, stamp: HybridTimestamp, seen: EventSet?,
        _ knowledge: inout CausalKnowledge
    ) -> CausalKnowledge {
        let field = write.field
        let history = seen?.intersection(knowledge.events) ?? knowledge.events
        var told = EventSet()
        for (event, keys) in superseded(by: write, history, knowledge) {
            told.insert(event)
            knowledge.remove(keys, of: event)
        }
        let increment = write.increment.map { amount in
            (amount, standing(field, 1, knowledge)?.id ?? -1)
        }
        // A running sum tells of all the presses and increments of its replica.
        each(field, knowledge) { event in
            guard event.dot.replica == dot.replica else { return }
            let isSummed = increment != nil && event.increment?.epoch == increment?.1
            if field.kind == .presses || isSummed { told.insert(event.id) }
        }
        let event = CausalEvent(
            id: events.count, field: field, dot: dot, stamp: raised(stamp, field, knowledge),
            keys: write.keys, number: write.number, increment: increment, history: history,
            flag: write.flag)
        events.append(event)
        byField[field.place].append(event.id)
        knowledge.events.insert(event.id)
        told.insert(event.id)
        return part(told, of: knowledge)
    }

    /// Notes the removal of a whole field, which is not a write, and gives what a delta of it says.
    func remove(_ field: CausalField, _ knowledge: inout CausalKnowledge) -> CausalKnowledge {
        var told = EventSet()
        var after = knowledge
        eachAlive(field, 15, knowledge) { event in
            told.insert(event.id)
            after.remove(event.keys, of: event.id)
        }
        knowledge = after
        return part(told, of: knowledge)
    }

    /// What a write drops: what it had seen, and the losers where the policy does not keep them.
    private func superseded(
        by write: CausalWrite, _ history: EventSet, _ knowledge: CausalKnowledge
    ) -> [(event: Int, keys: UInt8)] {
        var result: [(Int, UInt8)] = []
        let field = write.field
        let keepsLosers = field.kind == .tags || field.policy == .ask || field.policy == .first
        for bit in 0..<4 as Range<UInt8> where (write.keys | write.removedKeys) & 1 << bit != 0 {
            let key: UInt8 = 1 << bit
            let winner = keepsLosers ? nil : standing(field, key, knowledge)?.id
            var kept: [CausalEvent] = []
            eachAlive(field, key, knowledge) { event in
                let isLoser = !keepsLosers && event.id != winner
                if isLoser || write.againKeys & key != 0 || history.contains(event.id) {
                    result.append((event.id, key))
                } else {
                    kept.append(event)
                }
            }
            let spare = kept.count - (ConflictPolicy.siblingsMax - 1)
            guard spare > 0, field.kind != .tags else { continue }
            for event in kept.sorted(by: { $1.isAfter($0) }).prefix(spare) {
                result.append((event.id, key))
            }
        }
        return result
    }

    /// A secret outranks what it replaces.
    private func raised(
        _ stamp: HybridTimestamp, _ field: CausalField, _ knowledge: CausalKnowledge
    ) -> HybridTimestamp {
        guard field.kind == .sealed, let old = latest(field, knowledge) else { return stamp }
        return stamp <= old.stamp ? old.stamp.next : stamp
    }

    private func part(_ told: EventSet, of knowledge: CausalKnowledge) -> CausalKnowledge {
        var part = CausalKnowledge()
        part.events = told
        for event in events where told.contains(event.id) {
            part.remove(knowledge.removedKeys(of: event.id), of: event.id)
        }
        return part
    }
}

extension ConflictPolicy {
    /// Whether readers see `event` and not `leader`.
    fileprivate func prefers(_ event: CausalEvent, to leader: CausalEvent) -> Bool {
        let preferred: Bool? =
            switch self {
            case .trueWins: true
            case .falseWins: false
            case .latest, .ask, .first: nil
            }
        let (isPreferred, isLeading) = (event.flag == preferred, leader.flag == preferred)
        if preferred != nil, isPreferred != isLeading { return isPreferred }
        return self == .first ? leader.isAfter(event) : event.isAfter(leader)
    }
}

extension TrialField {
    /// The field as the oracle knows it.
    var causal: CausalField { CausalField(place: rawValue, kind: kind, policy: policy) }
}

extension TrialEdit {
    /// What it does.
    var write: CausalWrite {
        CausalWrite(
            field: field.causal, keys: keys, removedKeys: removedKeys, number: number,
            flag: value.boolValue, increment: increment)
    }

    /// The keys that it writes, a bit each: components or tags in order, then the mark that tells
    /// an emptied set from one that was never set.
    private var keys: UInt8 {
        switch field.kind {
        case .register: 1
        case .components: bits(components, of: Self.componentNames)
        case .tags: bits(added, of: Self.tagNames) | 8
        case .counter: isSet ? 1 : 0
        case .presses, .sealed: 0
        }
    }

    /// The keys that it removes beside those that it writes.
    private var removedKeys: UInt8 { field == .tags ? bits(removed, of: Self.tagNames) : 0 }

    /// What it adds to a number, where it does.
    private var increment: Int? { field == .count && !isSet ? amount : nil }

    static let componentNames = ["day", "month", "year"]
    static let tagNames = ["bar", "baz", "qux"]

    private func bits(_ names: [String], of all: [String]) -> UInt8 {
        names.reduce(0) { $0 | 1 << UInt8(all.firstIndex(of: $1) ?? 0) }
    }
}
