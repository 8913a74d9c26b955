// A silent write: an edit that sets what is there already.
//
// Nothing that is read changes by it, so it makes no revision. Its dot takes the place of the dots
// that said the same. A cell keeps two facts of it for those who know only the dots before: undo,
// and `require: "current"`.

/// What a cell keeps of a silent write to one part of it.
struct Affirmation: Hashable, Sendable {
    /// The part of a cell that a write wrote to.
    enum Part: Hashable, Sendable {
        /// All of it: any control that is not listed here.
        case whole
        /// A component of wheels.
        case component(String)
        /// A tag in a set.
        case tag(AddWinsSet.Tag)
    }

    /// What a write wrote to, and the write. In this order, the affirmations of a set are in the
    /// order of its entries.
    struct Place: Hashable, Sendable {
        var part: Part
        var dot: Dot
    }

    let place: Place
    /// The write that undo takes it for: the one that it repeats, if the same user made that; else
    /// itself. None where it repeats what increments of the default came to.
    let told: [Dot]
    /// The writes whose result it repeats. Who has seen these reads nothing new.
    let repeats: [Dot]

    /// Writes that are kept of each list, as of siblings: the newest.
    private static let dotsMax = 16

    init(_ place: Place, told: [Dot], repeats: [Dot]) {
        self.place = place
        self.told = Self.newest(told)
        self.repeats = Self.newest(repeats)
    }

    private static func newest(_ dots: [Dot]) -> [Dot] {
        dots.count > dotsMax ? Array(dots.suffix(dotsMax)) : dots
    }
}

extension CellContent {
    /// The write that readers know of behind a write; itself unless it is a silent one.
    func told(_ dot: Dot, of part: Affirmation.Part = .whole) -> [Dot] {
        affirmation(dot, of: part)?.told ?? [dot]
    }

    /// The writes whose result a write repeats; itself unless it is a silent one.
    func repeated(_ dot: Dot, of part: Affirmation.Part = .whole) -> [Dot] {
        affirmation(dot, of: part)?.repeats ?? [dot]
    }

    /// Whether a write is a silent one.
    func isAffirmation(_ dot: Dot, of part: Affirmation.Part = .whole) -> Bool {
        affirmation(dot, of: part) != nil
    }

    private func affirmation(_ dot: Dot, of part: Affirmation.Part) -> Affirmation? {
        if affirmations.isEmpty { return nil }
        let place = Affirmation.Place(part: part, dot: dot)
        let index = affirmations.partitionIndex { !($0.place < place) }
        guard index < affirmations.count, affirmations[index].place == place else { return nil }
        return affirmations[index]
    }

    /// Notes silent writes of a new dot, in the order of their places.
    mutating func affirm(_ news: [Affirmation]) {
        var merged: [Affirmation] = []
        merged.reserveCapacity(affirmations.count + news.count)
        var next = 0
        for new in news {
            while next < affirmations.count, affirmations[next].place < new.place {
                merged.append(affirmations[next])
                next += 1
            }
            merged.append(new)
        }
        affirmations = merged + affirmations[next...]
    }

    /// Forgets silent writes that the store does not hold any more.
    mutating func forgetGoneAffirmations() {
        guard affirmations.contains(where: { !holds($0.place) }) else { return }
        affirmations = affirmations.filter { holds($0.place) }
    }

    private func holds(_ place: Affirmation.Place) -> Bool {
        switch (store, place.part) {
        case (.components(let map), .component(let id)): map[id].dots.contains(place.dot)
        case (.tags(let set), .tag(let tag)): set.additions(of: tag).contains(place.dot)
        case (.components, _), (.tags, _), (_, .component), (_, .tag): false
        case (let store, .whole): store?.dots.contains(place.dot) ?? false
        }
    }

    /// The writes that it holds, and those that silent ones repeat.
    var heldDots: [Dot] {
        let dots = store?.dots ?? []
        return affirmations.isEmpty ? dots : dots + affirmations.flatMap(\.repeats)
    }

    /// Whether somebody who had seen `seen` has seen everything that is read here: what
    /// `require: "current"` asks. A silent write that repeats what they had seen is nothing new.
    func isCurrent(for seen: Seen) -> Bool {
        guard let store, !store.isCurrent(for: seen) else { return true }
        if affirmations.isEmpty { return false }
        func isSeen(_ dots: [Dot], _ part: Affirmation.Part = .whole) -> Bool {
            dots.allSatisfy { dot in
                seen.covers(dot)
                    || affirmation(dot, of: part)?.repeats.allSatisfy(seen.covers) ?? false
            }
        }
        switch store {
        case .register(let register): return isSeen(register.dots)
        case .counter(let counter): return isSeen(counter.dots)
        case .components(let map):
            return map.components.allSatisfy { isSeen($0.register.dots, .component($0.id)) }
        case .tags(let set):
            return set.marks.allSatisfy(seen.covers)
                && set.entries.allSatisfy { isSeen($0.dots, .tag($0.tag)) }
        case .presses, .sealed: return false
        }
    }
}

// MARK: - Rows

/// An affirmation as the store keeps it. The part is text: nothing, the id of a component, or a tag
/// as JSON.
struct AffirmationRow: CausalityCodable {
    let dot: Dot
    let part: String
    let told: [Dot]
    let repeats: [Dot]

    init(_ affirmation: Affirmation) {
        dot = affirmation.place.dot
        part =
            switch affirmation.place.part {
            case .whole: ""
            case .component(let id): id
            case .tag(let tag): tag.json.encodedText
            }
        told = affirmation.told
        repeats = affirmation.repeats
    }

    /// The affirmation of a cell with this store; `nil` if the part cannot be one of it.
    func affirmation(in store: FieldStore?) -> Affirmation? {
        let part: Affirmation.Part
        switch store {
        case .components: part = .component(self.part)
        case .tags:
            guard let json = try? JSON(parsing: self.part), let tag = AddWinsSet.Tag(json) else {
                return nil
            }
            part = .tag(tag)
        default: part = .whole
        }
        return Affirmation(
            Affirmation.Place(part: part, dot: dot), told: told, repeats: repeats)
    }

    func write(to writer: inout CausalityWriter) {
        dot.write(to: &writer)
        writer.string(part)
        writer.list(told)
        writer.list(repeats)
    }

    init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        dot = try Dot(from: &reader)
        part = try reader.string()
        told = try reader.list()
        repeats = try reader.list()
    }
}

extension Affirmation.Part: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.tag(let left), .tag(let right)): left < right
        case (.component(let left), .component(let right)): left.precedesInBytes(right)
        case (.whole, .component), (.whole, .tag), (.component, .tag): true
        default: false
        }
    }
}

extension Affirmation.Place: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        left.part == right.part ? left.dot < right.dot : left.part < right.part
    }
}
