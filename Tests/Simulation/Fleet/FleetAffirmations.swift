// Silent writes of the fleet: edits that repeat the present value and make no revision.

import SyncCore

/// An edit that has dots and no revision.
struct FleetAffirmation {
    let author: Author
    /// The newest revision when it was made.
    let revision: Int64
    let dots: [Dot]
}

/// The silent writes of one daemon that are not durable yet, in order.
struct FleetAffirmations {
    private var queue: [FleetAffirmation] = []

    mutating func append(_ affirmation: FleetAffirmation) { queue.append(affirmation) }

    /// Whether a store with this context has some of them.
    func areSome(in context: CausalContext) -> Bool {
        queue.contains { $0.dots.allSatisfy(context.contains) }
    }

    /// Removes those that a store with this context has and that were made at `revision` or before.
    mutating func take(upTo revision: Int64, in context: CausalContext) -> [FleetAffirmation] {
        func isDue(_ one: FleetAffirmation) -> Bool {
            one.revision <= revision && one.dots.allSatisfy(context.contains)
        }
        defer { queue.removeAll(where: isDue) }
        return queue.filter(isDue)
    }
}

extension FleetOracle {
    /// The silent write of an edit: it replaces the writes that have the same value. `nil` if the
    /// edit repeats nothing, and under `first`.
    func affirmation(_ action: Change.Action, _ field: FleetField) -> FleetWrite? {
        if field.policy == .first { return nil }
        var write = FleetWrite(field: field)
        switch (field.kind, action) {
        case (.register, .value(let value)), (.counter, .value(let value)):
            write.keys = 1
            write.value = value
        case (.components, .value(let rows)):
            for (place, name) in FleetField.componentNames.enumerated() {
                guard let tag = rows[name] else { continue }
                write.keys |= 1 << UInt8(place)
                write.rows[place] = tag
            }
        case (.tags, .value(.array(let tags))), (.tags, .add(let tags)):
            for (place, name) in FleetField.tagNames.enumerated()
            where tags.contains(.string(name)) {
                write.keys |= 1 << UInt8(place)
            }
        default: return nil
        }
        write.againKeys = write.keys
        return write.keys == 0 ? nil : write
    }

    /// The owners of the additions that a write of tags repeats.
    func ownersOfTags(_ write: FleetWrite, _ knowledge: CausalKnowledge) -> [UInt8: Owner] {
        guard write.field == .tags else { return [:] }
        var owners: [UInt8: Owner] = [:]
        for bit in 0..<3 as Range<UInt8> where write.againKeys & 1 << bit != 0 {
            let key: UInt8 = 1 << bit
            owners[key] = alive(.tags, key, knowledge).first.map { events[$0.id].owner(of: key) }
        }
        return owners
    }
}
