// A silent write: an edit that sets what is there already (CAUSALITY.md, Silent writes).
//
// It makes no revision, because nothing that is read changes. Its dot replaces the dots of the
// writes that it repeats. Undo and `require: "current"` still name these earlier dots, so a cell
// keeps two lists of them.

/// What a cell keeps about a silent write to one part of it.
struct SilentWrite: Hashable, Sendable {
    /// The part of a cell that a write wrote to.
    enum Part: Hashable, Sendable {
        /// All of it: any control that is not listed here.
        case whole
        case component(String)
        case tag(AddWinsSet.Tag)
    }

    /// The part that was written, and the write. In this order, the silent writes of a set are in
    /// the order of its entries.
    struct Place: Hashable, Sendable {
        var part: Part
        var dot: Dot
    }

    let place: Place
    /// The writes that undo treats it as: those that it repeats if the same user made them,
    /// otherwise itself. Empty if it repeats the default with increments.
    let undoneAs: [Dot]
    /// The writes whose result it repeats. For somebody who has seen these, nothing is new.
    let repeats: [Dot]

    /// The most writes in each list, as for siblings. The newest are kept.
    private static let dotsMax = 16

    init(_ place: Place, undoneAs: [Dot], repeats: [Dot]) {
        self.place = place
        self.undoneAs = Self.newest(undoneAs)
        self.repeats = Self.newest(repeats)
    }

    private static func newest(_ dots: [Dot]) -> [Dot] {
        dots.count > dotsMax ? Array(dots.suffix(dotsMax)) : dots
    }
}

extension CellContent {
    /// The writes that undo treats a write as: the write itself unless it is silent.
    func undoneAs(_ dot: Dot, of part: SilentWrite.Part = .whole) -> Few<Dot> {
        silentWrite(dot, of: part).map { Few($0.undoneAs) } ?? Few(only: dot)
    }

    /// The writes whose result a write repeats: the write itself unless it is silent.
    func repeated(_ dot: Dot, of part: SilentWrite.Part = .whole) -> [Dot] {
        silentWrite(dot, of: part)?.repeats ?? [dot]
    }

    func isSilent(_ dot: Dot, of part: SilentWrite.Part = .whole) -> Bool {
        silentWrite(dot, of: part) != nil
    }

    private func silentWrite(_ dot: Dot, of part: SilentWrite.Part) -> SilentWrite? {
        var index = 0
        return silentWrite(dot, of: part, near: &index)
    }

    /// The silent write `dot` of a part; `nil` if it is not silent.
    ///
    /// - Parameter index: Where that of the previous part was found. For many parts in their order
    ///   nearly every look-up is one comparison.
    func silentWrite(
        _ dot: Dot, of part: SilentWrite.Part, near index: inout Int
    ) -> SilentWrite? {
        if silentWrites.isEmpty { return nil }
        let place = SilentWrite.Place(part: part, dot: dot)
        if index >= silentWrites.count || silentWrites[index].place != place {
            index = silentWrites.partitionIndex { !($0.place < place) }
        }
        guard index < silentWrites.count, silentWrites[index].place == place else { return nil }
        defer { index += 1 }
        return silentWrites[index]
    }

    /// Adds silent writes with a new dot, which are in the order of their places.
    mutating func addSilentWrites(_ added: [SilentWrite]) {
        var merged: [SilentWrite] = []
        merged.reserveCapacity(silentWrites.count + added.count)
        var next = 0
        for new in added {
            while next < silentWrites.count, silentWrites[next].place < new.place {
                merged.append(silentWrites[next])
                next += 1
            }
            merged.append(new)
        }
        silentWrites = merged + silentWrites[next...]
    }

    /// Removes silent writes whose dots the store no longer contains.
    mutating func forgetGoneSilentWrites() {
        if silentWrites.isEmpty { return }
        var index = 0
        guard silentWrites.contains(where: { !holds($0.place, near: &index) }) else { return }
        index = 0
        silentWrites = silentWrites.filter { holds($0.place, near: &index) }
    }

    /// Whether the store holds a silent write.
    ///
    /// - Parameter index: The place of the previous tag in a set of tags.
    private func holds(_ place: SilentWrite.Place, near index: inout Int) -> Bool {
        switch (store, place.part) {
        case (.components(let map), .component(let id)): map[id].dots.contains(place.dot)
        case (.tags(let set), .tag(let tag)):
            set.additions(of: tag, near: &index).contains(place.dot)
        case (.components, _), (.tags, _), (_, .component), (_, .tag): false
        case (let store, .whole): store?.dots.contains(place.dot) ?? false
        }
    }

    /// The dots in its store, and those that its silent writes repeat.
    var heldDots: [Dot] {
        let dots = store?.dots ?? []
        return silentWrites.isEmpty ? dots : dots + silentWrites.flatMap(\.repeats)
    }

    /// Whether an author who had seen `seen` knows the value that is read now: the condition
    /// `require: "current"`. A silent write counts as seen if the writes that it repeats were.
    func isCurrent(for seen: Seen) -> Bool {
        guard let store, !store.isCurrent(for: seen) else { return true }
        if silentWrites.isEmpty { return false }
        func isSeen(_ dots: [Dot], _ part: SilentWrite.Part = .whole) -> Bool {
            dots.allSatisfy { dot in
                seen.covers(dot)
                    || silentWrite(dot, of: part)?.repeats.allSatisfy(seen.covers) ?? false
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

/// A silent write in the row of a cell. The part is text: empty, the id of a component, or a tag as
/// JSON.
struct SilentWriteRow: CausalityCodable {
    let dot: Dot
    let part: String
    let undoneAs: [Dot]
    let repeats: [Dot]

    init(_ silentWrite: SilentWrite) {
        dot = silentWrite.place.dot
        part =
            switch silentWrite.place.part {
            case .whole: ""
            case .component(let id): id
            case .tag(let tag): tag.json.encodedText
            }
        undoneAs = silentWrite.undoneAs
        repeats = silentWrite.repeats
    }

    /// The silent write of a cell with this store; `nil` if the store has no such part.
    func silentWrite(in store: FieldStore?) -> SilentWrite? {
        let part: SilentWrite.Part
        switch store {
        case .components: part = .component(self.part)
        case .tags:
            let json = try? JSON(stored: Array(self.part.utf8))
            guard let tag = json.flatMap({ AddWinsSet.Tag($0) }) else {
                return nil
            }
            part = .tag(tag)
        default: part = .whole
        }
        return SilentWrite(
            SilentWrite.Place(part: part, dot: dot), undoneAs: undoneAs, repeats: repeats)
    }

    func write(to writer: inout CausalityWriter) {
        dot.write(to: &writer)
        writer.string(part)
        writer.list(undoneAs)
        writer.list(repeats)
    }

    init(from reader: inout CausalityReader) throws(CausalityDecodeError) {
        dot = try Dot(from: &reader)
        part = try reader.string()
        undoneAs = try reader.list()
        repeats = try reader.list()
    }
}

extension SilentWrite.Part: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.tag(let left), .tag(let right)): left < right
        case (.component(let left), .component(let right)): left.precedesInBytes(right)
        case (.whole, .component), (.whole, .tag), (.component, .tag): true
        default: false
        }
    }
}

extension SilentWrite.Place: Comparable {
    static func < (left: Self, right: Self) -> Bool {
        left.part == right.part ? left.dot < right.dot : left.part < right.part
    }
}
