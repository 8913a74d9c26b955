// tag -> set of dots, for pickers with `multiple`. A removal removes only the additions that its
// author had seen.
//
// Invariants: entries are sorted by tag and distinct, and each has at least one dot; dots are
// sorted and distinct. The marks are the dots of the last edits. They distinguish a set that
// somebody emptied from one that nobody has set and that shows its default. After a write, a tag
// has at most `additionsMax` additions of the replica that wrote, and the set as many marks of it,
// so that the set does not grow with writers who have seen nothing.

/// A set of tags in which a concurrent addition wins over a removal.
///
/// `AWORSet` of Almeida et al., JPDC 2018, figure 7. The store does not know the order of options:
/// readers sort the tags in the order of the control's options.
public struct AddWinsSet: DotStore {
    /// The tag of an option.
    public enum Tag: Hashable, Sendable {
        case boolean(Bool)
        case integer(Int64)
        case string(String)
    }

    /// A tag and its additions that no removal has seen.
    public struct Entry: Hashable, Sendable {
        /// The tag.
        public let tag: Tag
        /// The additions, sorted.
        public internal(set) var dots: [Dot]
    }

    /// The tags in the set, sorted: booleans, integers, strings by bytes.
    public private(set) var entries: [Entry]
    /// The last edits. Not empty if somebody has set the field.
    public private(set) var marks: [Dot]

    /// The most additions of one tag by one replica that remain after another one: the newest. A
    /// removal by somebody who has seen these, but not an older one, removes the tag.
    public static let additionsMax = 4

    /// A set that nobody has edited.
    public init() {
        entries = []
        marks = []
    }

    /// A set with these parts; `nil` unless all are sorted and distinct and no entry is empty.
    public init?(sorted entries: [Entry], marks: [Dot]) {
        for index in entries.indices.dropFirst() {
            guard entries[index - 1].tag < entries[index].tag else { return nil }
        }
        let lists = entries.map(\.dots) + [marks]
        guard entries.allSatisfy({ !$0.dots.isEmpty }),
            lists.allSatisfy({ zip($0, $0.dropFirst()).allSatisfy { $0 < $1 } })
        else { return nil }
        self.entries = entries
        self.marks = marks
    }

    public var isEmpty: Bool { entries.isEmpty && marks.isEmpty }

    public var dots: [Dot] { (entries.flatMap(\.dots) + marks).sortedDistinct() }

    /// The tags in the set, in the store's own order.
    public var tags: [Tag] { entries.map(\.tag) }

    /// Whether `tag` is in the set.
    public func contains(_ tag: Tag) -> Bool {
        let index = position(of: tag)
        return index < entries.count && entries[index].tag == tag
    }

    /// The additions of `tag` that no removal has seen, sorted.
    public func additions(of tag: Tag) -> [Dot] {
        var place = 0
        return additions(of: tag, near: &place)
    }

    /// The same for one of many tags in their order.
    ///
    /// - Parameter place: the place of the tag before, which becomes that of this one.
    func additions(of tag: Tag, near place: inout Int) -> [Dot] {
        // Nearly always the same tag again, or the next one.
        for _ in 0..<2 where place < entries.count && entries[place].tag != tag { place += 1 }
        if place >= entries.count || entries[place].tag != tag { place = position(of: tag) }
        return place < entries.count && entries[place].tag == tag ? entries[place].dots : []
    }

    /// Whether the set has these tags and no others.
    ///
    /// - Parameter present: Distinct tags of the set. Nearly always they are the same, in the same
    ///   order, and then nothing is sorted.
    func holdsOnly(_ tags: [JSON], reading present: [JSON] = []) -> Bool {
        guard tags.count == entries.count else { return false }
        if present == tags { return true }
        let sorted = tags.compactMap { Tag($0) }.sortedDistinct()
        return sorted.elementsEqual(entries.lazy.map(\.tag))
    }

    /// Adds and removes tags with the new `dot`, for an author who had seen `seen`.
    ///
    /// A tag in both lists is added. An addition replaces the additions of the same tag that its
    /// author had seen, so a tag that is added repeatedly keeps one dot.
    public mutating func edit(add: [Tag], remove: [Tag], dot: Dot, seen: Seen) {
        drop(remove + add, seen)
        insert(add, dot)
        mark(dot, seen)
    }

    /// Sets the contents to `tags` with the new `dot`. Additions that the author had not seen stay.
    public mutating func assign(_ tags: [Tag], dot: Dot, seen: Seen) {
        drop(seen) { _ in true }
        insert(tags, dot)
        mark(dot, seen)
    }

    /// Replaces the additions of tags that are in the set already by the new `dot`, so that a
    /// removal which has not seen it leaves the tags.
    ///
    /// - Parameters:
    ///   - tags: The tags, sorted and distinct. Those that are not in the set have no effect.
    ///   - body: Receives each entry before it changes, in order.
    mutating func renew(sorted tags: [Tag], dot: Dot, _ body: (Entry) -> Void) {
        let dots = [dot]
        var next = 0
        for index in entries.indices {
            while next < tags.count, tags[next] < entries[index].tag { next += 1 }
            guard next < tags.count else { return }
            if tags[next] != entries[index].tag { continue }
            body(entries[index])
            entries[index].dots = dots
        }
    }

    /// Removes everything that the writer had seen, so that the field shows its default again.
    public mutating func reset(seen: Seen) {
        drop(seen) { _ in true }
        marks.removeAll(where: seen.covers)
    }

    public mutating func join(_ other: Self, contexts: JoinContexts) {
        var kept: [Entry] = []
        var left = entries[...]
        var right = other.entries[...]
        while let first = left.first ?? right.first {
            let tag = right.first.map { min(first.tag, $0.tag) } ?? first.tag
            let own = left.first?.tag == tag ? left.removeFirst().dots : []
            let theirs = right.first?.tag == tag ? right.removeFirst().dots : []
            let dots = Self.joined(own, theirs, contexts)
            if !dots.isEmpty { kept.append(Entry(tag: tag, dots: dots)) }
        }
        entries = kept
        marks = Self.joined(marks, other.marks, contexts)
    }

    public func restricted(to context: CausalContext) -> Self {
        var result = self
        result.entries = entries.compactMap { entry in
            let dots = entry.dots.filter(context.contains)
            return dots.isEmpty ? nil : Entry(tag: entry.tag, dots: dots)
        }
        result.marks = marks.filter(context.contains)
        return result
    }

    public func dropped(since before: Self) -> [Dot] {
        var dropped = before.marks.filter { !marks.contains($0) }
        for old in before.entries {
            let present = entries.first { $0.tag == old.tag }?.dots ?? []
            dropped += old.dots.filter { !present.contains($0) }
        }
        return dropped.sortedDistinct()
    }

    /// The paper's join of `DotSet`s.
    private static func joined(_ own: [Dot], _ theirs: [Dot], _ contexts: JoinContexts) -> [Dot] {
        let kept = own.filter { theirs.contains($0) || !contexts.other.contains($0) }
        let news = theirs.filter { !own.contains($0) && !contexts.own.contains($0) }
        return (kept + news).sortedDistinct()
    }

    private mutating func mark(_ dot: Dot, _ seen: Seen) {
        marks.removeAll(where: seen.covers)
        marks = Self.adding(dot, to: marks)
    }

    /// Removes the additions of some tags that the author had seen. A few tags are looked up; for
    /// many, one pass visits all.
    private mutating func drop(_ tags: [Tag], _ seen: Seen) {
        if tags.count > Self.fewTags {
            let dropped = Set(tags)
            return drop(seen) { dropped.contains($0) }
        }
        for tag in tags {
            let index = position(of: tag)
            guard index < entries.count, entries[index].tag == tag else { continue }
            entries[index].dots.removeAll(where: seen.covers)
            if entries[index].dots.isEmpty { entries.remove(at: index) }
        }
    }

    private mutating func drop(_ seen: Seen, where isDropped: (Tag) -> Bool) {
        entries = entries.compactMap { entry in
            guard isDropped(entry.tag) else { return entry }
            let dots = entry.dots.filter { !seen.covers($0) }
            return dots.isEmpty ? nil : Entry(tag: entry.tag, dots: dots)
        }
    }

    private mutating func insert(_ tags: [Tag], _ dot: Dot) {
        let added = tags.sortedDistinct()
        guard added.count > Self.fewTags else {
            for tag in added { insert(tag, dot) }
            return
        }
        var merged: [Entry] = []
        merged.reserveCapacity(entries.count + added.count)
        var rest = entries[...]
        for tag in added {
            while let first = rest.first, first.tag < tag { merged.append(rest.removeFirst()) }
            var dots: [Dot] = []
            if rest.first?.tag == tag { dots = rest.removeFirst().dots }
            merged.append(Entry(tag: tag, dots: Self.adding(dot, to: dots)))
        }
        entries = merged + rest
    }

    private mutating func insert(_ tag: Tag, _ dot: Dot) {
        let index = position(of: tag)
        if index < entries.count, entries[index].tag == tag {
            entries[index].dots = Self.adding(dot, to: entries[index].dots)
        } else {
            entries.insert(Entry(tag: tag, dots: [dot]), at: index)
        }
    }

    /// Adds a new dot, and keeps only the newest `additionsMax` dots of its replica.
    private static func adding(_ dot: Dot, to dots: [Dot]) -> [Dot] {
        if dots.isEmpty { return [dot] }
        let dots = (dots + [dot]).sortedDistinct()
        guard dots.count > additionsMax else { return dots }
        var excess = dots.count { $0.replica == dot.replica } - additionsMax
        return dots.filter { one in
            guard excess > 0, one.replica == dot.replica else { return true }
            excess -= 1
            return false
        }
    }

    /// The most tags of an edit that are looked up one by one.
    private static var fewTags: Int { 8 }

    /// The index of a tag's entry, or where it would be inserted.
    private func position(of tag: Tag) -> Int {
        entries.partitionIndex { !($0.tag < tag) }
    }
}

extension AddWinsSet.Tag: Comparable {
    /// The tag in `json`; `nil` if the value cannot be a tag.
    public init?(_ json: JSON) {
        switch json {
        case .bool(let flag): self = .boolean(flag)
        case .number(let number):
            guard let integer = number.integer else { return nil }
            self = .integer(integer)
        case .string(let string): self = .string(string)
        case .null, .array, .object: return nil
        }
    }

    /// The tag as a value.
    public var json: JSON {
        switch self {
        case .boolean(let flag): .bool(flag)
        case .integer(let integer): .integer(integer)
        case .string(let string): .string(string)
        }
    }

    /// Equality, strings by bytes.
    public static func == (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.string(let left), .string(let right)): left.isSameBytes(as: right)
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { json.hash(into: &hasher) }

    /// Booleans, then integers, then strings by bytes.
    public static func < (left: Self, right: Self) -> Bool {
        switch (left, right) {
        case (.boolean(let left), .boolean(let right)): !left && right
        case (.integer(let left), .integer(let right)): left < right
        case (.string(let left), .string(let right)): left.precedesInBytes(right)
        case (.boolean, _), (.integer, .string): true
        case (.integer, .boolean), (.string, _): false
        }
    }
}
