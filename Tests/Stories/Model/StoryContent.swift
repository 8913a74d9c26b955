// The content of a control: concurrent writes, and the value that readers see (docs/CAUSALITY.md).
//
// A write is known by its number among the writes of its form.

import SyncCore

/// The author of an edit, as notifications show it.
struct StoryAuthor: Equatable {
    var user: String
    var uid: Int
    var client: String?
    var tty: String?
    var connection: Int

    var json: JSON {
        var object = JSONObject([("user", .string(user)), ("uid", .integer(uid))])
        object["client"] = client.map { .string($0) }
        object["tty"] = tty.map { .string($0) }
        object["connection"] = .integer(connection)
        return .object(object)
    }
}

/// The writes that the sender of an edit had seen.
enum StorySight: Equatable {
    /// All writes.
    case everything
    case only(StoryWrites)

    func covers(_ write: Int) -> Bool {
        switch self {
        case .everything: true
        case .only(let writes): writes.contains(write)
        }
    }
}

/// A set of writes: all up to one, and a few more.
struct StoryWrites: Equatable {
    var upTo = 0
    var loose: Set<Int> = []

    init(upTo: Int = 0, loose: Set<Int> = []) {
        self.upTo = upTo
        self.loose = loose
    }

    func contains(_ write: Int) -> Bool { write <= upTo || loose.contains(write) }

    mutating func insert(_ write: Int) {
        if write > upTo { loose.insert(write) }
        while loose.remove(upTo + 1) != nil { upTo += 1 }
    }

    /// Whether all of these are among `other`.
    func isSubset(of other: Self) -> Bool {
        upTo <= other.upTo && loose.allSatisfy(other.contains)
    }
}

/// One of several concurrent values.
struct StorySibling: Equatable {
    var write: Int
    /// `nil`: reset to the default.
    var value: JSON?
    var by: StoryAuthor
}

/// The siblings of a register, oldest first.
struct StoryRegister: Equatable {
    var siblings: [StorySibling] = []
    private static let siblingsMax = 16

    func standing(_ policy: String) -> StorySibling? {
        switch policy {
        case "first": siblings.first
        case "trueWins": siblings.last { $0.value == true } ?? siblings.last
        case "falseWins": siblings.last { $0.value == false } ?? siblings.last
        default: siblings.last
        }
    }

    /// The values that differ from the current one, each once, newest first.
    func disagreeing(
        _ policy: String, value: (StorySibling) -> JSON
    ) -> [(value: JSON, by: StoryAuthor, write: Int)] {
        guard siblings.count > 1, let standing = standing(policy) else { return [] }
        var told = [(value: value(standing), by: standing.by, write: standing.write)]
        for sibling in siblings.reversed() {
            let value = value(sibling)
            if !told.contains(where: { $0.value == value }) {
                told.append((value, sibling.by, sibling.write))
            }
        }
        return Array(told.dropFirst())
    }

    /// Writes a value. Returns the writes that it replaced, and whether others remain.
    mutating func write(
        _ value: JSON?, as write: Int, by author: StoryAuthor, _ sight: StorySight,
        _ policy: String
    ) -> (gone: [Int], isConcurrent: Bool) {
        let standing = standing(policy)?.write
        let keepsLosers = policy == "ask" || policy == "first"
        var kept = siblings.filter { sibling in
            !sight.covers(sibling.write) && (keepsLosers || sibling.write == standing)
        }
        if kept.count > Self.siblingsMax - 1 { kept = Array(kept.suffix(Self.siblingsMax - 1)) }
        let left = kept.map(\.write)
        let gone = siblings.map(\.write).filter { !left.contains($0) }
        siblings = kept + [StorySibling(write: write, value: value, by: author)]
        return (gone, !kept.isEmpty)
    }
}

/// A number: the values that were set, and the sum that was added to each.
struct StoryCounter: Equatable {
    struct Addition: Equatable {
        /// The set that it adds to; `nil` for the default.
        var base: Int?
        var sum: Int
        /// The newest write of it.
        var last: Int
    }

    var bases = StoryRegister()
    var additions: [Addition] = []

    func sum(over base: Int?) -> Int {
        additions.reduce(0) { $0 + ($1.base == base ? $1.sum : 0) }
    }

    /// Adds an increment to those of the present epoch, which began after the write `start`.
    mutating func add(_ amount: Int, to base: Int?, as write: Int, start: Int) {
        var sum = amount
        additions.removeAll { old in
            guard old.base == base, old.last > start else { return false }
            sum += old.sum
            return true
        }
        additions.append(Addition(base: base, sum: sum, last: write))
    }

    mutating func set(
        _ value: JSON?, as write: Int, by author: StoryAuthor, _ sight: StorySight,
        _ policy: String
    ) -> Bool {
        let fate = bases.write(value, as: write, by: author, sight, policy)
        additions.removeAll { $0.base.map(fate.gone.contains) ?? sight.covers($0.last) }
        return fate.isConcurrent
    }
}

/// Tags, each with the additions of it that no removal has seen.
struct StoryTags: Equatable {
    var additions: [String: Set<Int>] = [:]
    /// The newest edits. With them an empty set counts as set.
    var marks: Set<Int> = []

    var isEmpty: Bool { additions.isEmpty && marks.isEmpty }

    private mutating func drop(_ tag: String, _ sight: StorySight) {
        let left = (additions[tag] ?? []).filter { !sight.covers($0) }
        additions[tag] = left.isEmpty ? nil : left
    }

    mutating func edit(
        adding added: [String], removing removed: [String], as write: Int, _ sight: StorySight
    ) {
        for tag in removed + added { drop(tag, sight) }
        for tag in added { additions[tag, default: []].insert(write) }
        marks = marks.filter { !sight.covers($0) }
        marks.insert(write)
    }

    mutating func assign(_ tags: [String], as write: Int, _ sight: StorySight) {
        edit(adding: tags, removing: Array(additions.keys), as: write, sight)
    }

    mutating func reset(_ sight: StorySight) {
        for tag in additions.keys { drop(tag, sight) }
        marks = marks.filter { !sight.covers($0) }
    }
}

/// The content of a control.
enum StoryContent: Equatable {
    case register(StoryRegister)
    case counter(StoryCounter)
    case tags(StoryTags)
    case wheels([String: StoryRegister])
    /// The number of presses, and the newest press of each epoch.
    case presses(Int, newest: [Int])
    /// The secret (`nil` after a reset), and the newest write.
    case secret(String?, last: Int?)
    case nothing

    init(_ store: StoryControl.Store?) {
        switch store {
        case .register: self = .register(StoryRegister())
        case .counter: self = .counter(StoryCounter())
        case .tags: self = .tags(StoryTags())
        case .wheels: self = .wheels([:])
        case .presses: self = .presses(0, newest: [])
        case .secret: self = .secret(nil, last: nil)
        case nil: self = .nothing
        }
    }

    /// The stored value, and whether it was set.
    func read(_ control: StoryControl) -> (value: JSON, isSet: Bool) {
        let initial = control.defaultValue
        switch self {
        case .register(let register):
            let standing = register.standing(control.conflictPolicy)?.value
            return (standing ?? initial, standing != nil)
        case .counter(let counter):
            let base = counter.bases.standing(control.conflictPolicy)
            let isSet =
                base?.value != nil || counter.additions.contains { $0.base == base?.write }
            return (.integer(Self.number(counter, base, control)), isSet)
        case .tags(let tags):
            if tags.isEmpty { return (initial, false) }
            return (.array(Self.ordered(Array(tags.additions.keys), control)), true)
        case .wheels(let wheels):
            var rows = initial.objectValue ?? JSONObject()
            var isSet = false
            for (id, register) in wheels {
                guard let tag = register.standing(control.conflictPolicy)?.value else { continue }
                isSet = true
                rows[id] = tag
            }
            return (.object(rows), isSet)
        case .presses(let count, _):
            return (.object(JSONObject([("presses", .integer(count))])), count > 0)
        case .secret(let secret, _): return (.bool(secret != nil), secret != nil)
        case .nothing: return (.null, false)
        }
    }

    /// A base with what was added to it. The bounds limit the sum. A base outside of the bounds of a
    /// later definition is shown unchanged.
    static func number(
        _ counter: StoryCounter, _ base: StorySibling?, _ control: StoryControl
    ) -> Int {
        let start = Int(
            base?.value?.integerValue ?? control.defaultValue.integerValue ?? 0)
        let sum = start + counter.sum(over: base?.write)
        guard (control.minimum...control.maximum).contains(start) else { return sum }
        return max(control.minimum, min(control.maximum, sum))
    }

    /// Tags in the order of their options. Tags without an option come last, sorted by text.
    static func ordered(_ tags: [String], _ control: StoryControl) -> [JSON] {
        let known = control.options.filter(tags.contains)
        let gone = tags.filter { !control.options.contains($0) }.sorted()
        return (known + gone).map { .string($0) }
    }

    /// The concurrent values, newest first.
    func siblings(
        _ control: StoryControl
    ) -> [(value: JSON, by: StoryAuthor, write: Int)] {
        let policy = control.conflictPolicy
        let initial = control.defaultValue
        switch self {
        case .register(let register):
            return register.disagreeing(policy) { $0.value ?? initial }
        case .counter(let counter):
            return counter.bases.disagreeing(policy) {
                .integer(Self.number(counter, $0, control))
            }
        case .wheels(let wheels):
            return wheels.keys.sorted().flatMap { id in
                (wheels[id]?.disagreeing(policy) {
                    .object(JSONObject([(id, $0.value ?? initial[id] ?? .null)]))
                } ?? [])
            }
        case .tags, .presses, .secret, .nothing: return []
        }
    }

    /// What writes after `write` set, if concurrent values stand instead.
    func lost(after write: Int, _ control: StoryControl) -> JSON? {
        let lost = siblings(control).filter { $0.write > write }.map(\.value)
        guard lost.count > 1, case .wheels = self else { return lost.first }
        let members = lost.flatMap { $0.objectValue?.members ?? [] }
        return .object(JSONObject(members.map { ($0.name, $0.value) }))
    }
}
