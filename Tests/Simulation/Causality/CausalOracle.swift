// The expected state of the stores: every write is kept forever, with its full causal history.
//
// The oracle does not use dots, vectors or contexts; it records dots only to identify stored
// values. What a copy knows is a set of events and removals, which grows by union. A set is a row
// of bits, because a world has at most 256 events, so that a million worlds can be searched.

import SyncCore

/// A set of events of one world.
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

/// What one copy, message or client knows.
struct CausalKnowledge: Equatable {
    var events = EventSet()
    /// Superseded keys, four per event; never removed.
    private var removed: SIMD16<UInt64> = .zero

    /// The superseded keys of `event`, one bit each.
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

/// The properties of a field that the oracle needs.
struct CausalField {
    /// Its index among the fields of its form.
    let place: Int
    /// The kind of its store.
    let kind: FieldStore.Kind
    /// Its policy for concurrent writes.
    let policy: ConflictPolicy
}

/// An edit of a field.
struct CausalWrite {
    let field: CausalField
    /// The written keys, one bit each.
    let keys: UInt8
    /// Removed keys, in addition to the written ones.
    var removedKeys: UInt8 = 0
    /// The written keys whose value is set again: the write replaces everything that is there, seen
    /// or not.
    var againKeys: UInt8 = 0
    /// A unique number.
    let number: Int
    /// The value of a toggle.
    var flag: Bool?
    /// The amount of an increment, if it is one.
    var increment: Int?
}

/// A write that the oracle has recorded.
struct CausalEvent {
    let id: Int
    let field: CausalField
    /// Its dot in the store under test, whose replica committed it.
    let dot: Dot
    let stamp: HybridTimestamp
    /// The keys of the field that it wrote, one bit each.
    let keys: UInt8
    /// The written number.
    let number: Int
    /// For an increment: its amount, and the event that it adds to (-1 for the default).
    let increment: (amount: Int, epoch: Int)?
    /// All events that its author had seen.
    let history: EventSet
    /// The value of a toggle.
    let flag: Bool?

    func isAfter(_ other: CausalEvent) -> Bool {
        stamp != other.stamp ? stamp > other.stamp : dot > other.dot
    }
}

/// All events of one simulated world.
struct CausalOracle {
    private(set) var events: [CausalEvent] = []
    private var byField: [[Int]]

    /// The oracle of a new form with this many fields.
    init(fields count: Int) {
        byField = Array(repeating: [], count: count)
    }

    /// Whether no more events can be recorded.
    var isFull: Bool { events.count == EventSet.capacity }

    /// The known events of `field`, oldest first.
    func each(
        _ field: CausalField, _ knowledge: CausalKnowledge, _ body: (CausalEvent) -> Void
    ) {
        for id in byField[field.place] where knowledge.events.contains(id) { body(events[id]) }
    }

    /// Events that are current under one of `keys`.
    func eachAlive(
        _ field: CausalField, _ keys: UInt8, _ knowledge: CausalKnowledge,
        _ body: (CausalEvent) -> Void
    ) {
        each(field, knowledge) { event in
            if event.keys & keys & ~knowledge.removedKeys(of: event.id) != 0 { body(event) }
        }
    }

    /// The current value under `key`.
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

    /// The siblings according to full histories only: writes that no other write had seen.
    ///
    /// A delta contains what its write removed, but not what was removed before. So a copy may know
    /// a write without knowing that what its author had seen is gone, and then reads both for a
    /// while: `nil`.
    ///
    /// - Parameter isWhole: All copies have the same knowledge and nothing was ever lost.
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

    /// Records an edit of a copy with `knowledge`; returns the content of its delta.
    ///
    /// - Parameter seen: What the author had seen; `nil` for everything that the copy knows.
    mutating func record(
        _ write: CausalWrite, dot: Dot, stamp: HybridTimestamp, seen: EventSet?,
        _ knowledge: inout CausalKnowledge
    ) -> CausalKnowledge {
        let field = write.field
        let history = seen?.intersection(knowledge.events) ?? knowledge.events
        var told = EventSet()
        for (event, keys) in superseded(by: write, of: dot.replica, history, knowledge) {
            told.insert(event)
            knowledge.remove(keys, of: event)
        }
        let increment = write.increment.map { amount in
            (amount, standing(field, 1, knowledge)?.id ?? -1)
        }
        // A running sum includes all presses and increments of its replica.
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

    /// Records the removal of a whole field, which is not a write; returns the content of its
    /// delta.
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

    /// What a write removes: what its author had seen, the losers if the policy does not keep them,
    /// and the oldest of too many siblings, or additions of one tag by one replica.
    private func superseded(
        by write: CausalWrite, of replica: ReplicaID, _ history: EventSet,
        _ knowledge: CausalKnowledge
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
            if field.kind == .tags {
                guard write.keys & key != 0 else { continue }
                let own = kept.filter { $0.dot.replica == replica }.sorted { $0.dot < $1.dot }
                for event in own.dropLast(AddWinsSet.additionsMax - 1) {
                    result.append((event.id, key))
                }
                continue
            }
            guard spare > 0 else { continue }
            for event in kept.sorted(by: { $1.isAfter($0) }).prefix(spare) {
                result.append((event.id, key))
            }
        }
        return result
    }

    /// A secret has a greater rank than what it replaces.
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
    /// Whether readers see `event` instead of `leader`.
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
    /// The field for the oracle.
    var causal: CausalField { CausalField(place: rawValue, kind: kind, policy: policy) }
}

extension TrialEdit {
    /// The edit for the oracle.
    var write: CausalWrite {
        CausalWrite(
            field: field.causal, keys: keys, removedKeys: removedKeys, number: number,
            flag: value.boolValue, increment: increment)
    }

    /// The written keys, one bit each: components or tags in order, then the mark that
    /// distinguishes an emptied set from one that was never set.
    private var keys: UInt8 {
        switch field.kind {
        case .register: 1
        case .components: bits(components, of: Self.componentNames)
        case .tags: bits(added, of: Self.tagNames) | 8
        case .counter: isSet ? 1 : 0
        case .presses, .sealed: 0
        }
    }

    /// The removed keys, in addition to the written ones.
    private var removedKeys: UInt8 { field == .tags ? bits(removed, of: Self.tagNames) : 0 }

    /// The amount of an increment, if it is one.
    private var increment: Int? { field == .count && !isSet ? amount : nil }

    static let componentNames = ["day", "month", "year"]
    static let tagNames = ["bar", "baz", "qux"]

    private func bits(_ names: [String], of all: [String]) -> UInt8 {
        names.reduce(0) { $0 | 1 << UInt8(all.firstIndex(of: $1) ?? 0) }
    }
}
