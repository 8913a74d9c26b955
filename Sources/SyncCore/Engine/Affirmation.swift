// A silent write: an edit that sets what is there already.
//
// Nothing that is read changes by it, so it makes no revision. Its dot takes the place of the dots
// that said the same. A cell keeps two facts of it for those who know only the dots before: undo,
// and `require: "current"`.

/// What a cell keeps of a silent write to one part of it.
struct Affirmation: Hashable, Sendable {
    /// The write, and what it wrote to.
    struct Place: Hashable, Sendable {
        var dot: Dot
        /// The component of wheels, or the tag as JSON text; empty for other controls.
        var part: String
    }

    let place: Place
    /// The write that undo takes it for: the one that it repeats, if the same user made that; else
    /// itself. None where it repeats what increments of the default came to.
    let told: [Dot]
    /// The writes whose result it repeats. Who has seen these reads nothing new.
    let repeats: [Dot]

    /// Writes that are kept of each list, as of siblings: the newest.
    private static let dotsMax = 16

    init(_ dot: Dot, part: String, told: [Dot], repeats: [Dot]) {
        place = Place(dot: dot, part: part)
        self.told = Array(told.suffix(Self.dotsMax))
        self.repeats = Array(repeats.suffix(Self.dotsMax))
    }
}

extension CellContent {
    /// The write that readers know of behind a write; itself unless it is a silent one.
    func told(_ dot: Dot, of part: String = "") -> [Dot] {
        affirmation(dot, of: part)?.told ?? [dot]
    }

    /// The writes whose result a write repeats; itself unless it is a silent one.
    func repeated(_ dot: Dot, of part: String = "") -> [Dot] {
        affirmation(dot, of: part)?.repeats ?? [dot]
    }

    /// Whether a write is a silent one.
    func isAffirmation(_ dot: Dot, of part: String = "") -> Bool {
        affirmation(dot, of: part) != nil
    }

    private func affirmation(_ dot: Dot, of part: String) -> Affirmation? {
        if affirmations.isEmpty { return nil }
        return affirmations[Affirmation.Place(dot: dot, part: part)]
    }

    /// Notes a silent write.
    mutating func affirm(_ affirmation: Affirmation) {
        affirmations[affirmation.place] = affirmation
    }

    /// Forgets silent writes that the store does not hold any more.
    mutating func forgetGoneAffirmations() {
        if affirmations.isEmpty { return }
        var kept: [Affirmation.Place: Affirmation] = [:]
        func keep(_ dots: [Dot], _ part: String) {
            for dot in dots {
                let place = Affirmation.Place(dot: dot, part: part)
                kept[place] = affirmations[place]
            }
        }
        switch store {
        case .components(let map):
            for component in map.components { keep(component.register.dots, component.id) }
        case .tags(let set): for entry in set.entries { keep(entry.dots, entry.tag.part) }
        case let store: keep(store?.dots ?? [], "")
        }
        affirmations = kept
    }

    /// The writes that it holds, and those that silent ones repeat.
    var heldDots: [Dot] {
        let dots = store?.dots ?? []
        return affirmations.isEmpty ? dots : dots + affirmations.values.flatMap(\.repeats)
    }

    /// Whether somebody who had seen `seen` has seen everything that is read here: what
    /// `require: "current"` asks. A silent write that repeats what they had seen is nothing new.
    func isCurrent(for seen: Seen) -> Bool {
        guard let store, !store.isCurrent(for: seen) else { return true }
        if affirmations.isEmpty { return false }
        func isSeen(_ dots: [Dot], _ part: String = "") -> Bool {
            dots.allSatisfy { dot in
                seen.covers(dot)
                    || affirmation(dot, of: part)?.repeats.allSatisfy(seen.covers) ?? false
            }
        }
        switch store {
        case .register(let register): return isSeen(register.dots)
        case .counter(let counter): return isSeen(counter.dots)
        case .components(let map):
            return map.components.allSatisfy { isSeen($0.register.dots, $0.id) }
        case .tags(let set):
            return set.marks.allSatisfy(seen.covers)
                && set.entries.allSatisfy { isSeen($0.dots, $0.tag.part) }
        case .presses, .sealed: return false
        }
    }
}

extension AddWinsSet.Tag {
    /// The tag as the part of a cell that an `Affirmation` names.
    var part: String { json.encodedText }
}

extension Affirmation: CausalityCodable {
    func write(to writer: inout CausalityWriter) {
        place.dot.write(to: &writer)
        writer.string(place.part)
        writer.list(told)
        writer.list(repeats)
    }

    init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        let dot = try Dot(from: &reader)
        let part = try reader.string()
        self.init(dot, part: part, told: try reader.list(), repeats: try reader.list())
    }
}

extension Affirmation: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        if left.place.dot != right.place.dot { return left.place.dot < right.place.dot }
        return left.place.part.utf8.lexicographicallyPrecedes(right.place.part.utf8)
    }
}
