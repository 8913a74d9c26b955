// What a form must read, worked out a second time: by explicit sets of the writes that each writer
// had seen, and by nothing of the engine's clocks, tokens or stores.
//
// Invariant: an `OracleForm` is a value; one is kept for every revision, so that any answer can
// be held against the revision that it speaks of.

import SyncCore

/// One write as the oracle names it; numbers grow with the order of commits.
typealias WriteID = Int

/// What a writer had seen.
enum Sight {
    /// All that is there.
    case everything
    /// Exactly these transactions.
    case only(Set<WriteID>)

    func covers(_ write: WriteID) -> Bool {
        switch self {
        case .everything: true
        case .only(let writes): writes.contains(write)
        }
    }
}

/// Whose edits undo takes back.
struct Owner: Hashable {
    var uid: UInt32
    var session: String?

    /// Whether edits of `other` are this one's to take back: without a session all of the uid's.
    func includes(_ other: Owner) -> Bool {
        uid == other.uid && (session == nil || session == other.session)
    }
}

/// A control as the oracle reads it from a definition's JSON.
struct OracleControl {
    enum Kind: Equatable {
        case register, counter, tags, wheels, presses, secret
        case bound(String)
        case combined([String])
    }

    var id: String
    var type: String
    var kind: Kind
    var policy: String
    var initial: JSON
    var options: [JSON]
    var minimum: Int64?
    var maximum: Int64?
    var components: [String] = []

    init(_ json: JSON) {
        id = json["id"]?.stringValue ?? ""
        type = json["type"]?.stringValue ?? ""
        policy = json["onConflict"]?.stringValue ?? "latest"
        options = (json["options"]?.arrayValue ?? []).map { $0["tag"] ?? $0 }
        minimum = json["min"]?.integerValue
        maximum = json["max"]?.integerValue
        initial = json["default"] ?? .null
        switch type {
        case "picker" where json["multiple"]?.boolValue == true:
            kind = .tags
            if initial.isNull { initial = .array([]) }
        case "picker":
            kind = .register
            if initial.isNull { initial = options.first ?? .null }
        case "toggle":
            kind = .register
            if initial.isNull { initial = .bool(false) }
        case "stepper", "gauge", "slider":
            kind = .counter
            if initial.isNull { initial = .integer(minimum ?? 0) }
        case "text":
            kind = .register
            if initial.isNull { initial = .string("") }
        case "wheels":
            kind = .wheels
            var rows = JSONObject()
            for component in json["components"]?.arrayValue ?? [] {
                let name = component["id"]?.stringValue ?? ""
                components.append(name)
                rows[name] = component["options"]?.arrayValue?.first ?? .null
            }
            initial = .object(rows)
        case "button":
            kind = .presses
            initial = .object(JSONObject([("presses", 0)]))
        case "secure": kind = .secret
        default: kind = .register
        }
        if let other = json["binds"]?.stringValue { kind = .bound(other) }
        if let sources = json["sources"]?.arrayValue {
            kind = .combined(sources.compactMap(\.stringValue))
        }
    }
}

/// A value that stands, or stands beside another.
struct OracleSibling: Equatable {
    /// What stood at another time; nothing where nobody had set the field.
    final class Past {
        let sibling: OracleSibling?
        init(_ sibling: OracleSibling?) { self.sibling = sibling }
    }

    /// Owns what nobody set.
    static let nobody = Owner(uid: .max)

    var write: WriteID
    /// `nil`: a reset.
    var value: JSON?
    var owner: Owner
    /// What stood before, for whoever takes this back.
    var previous = Past(nil)
    /// What an undo took back, and who did: for redo.
    var undone: [(past: Past, by: Owner)] = []
    /// The write that this one is, or brought back.
    var origin: WriteID
    /// `write` says again what stood before it.
    var isAffirmed = false

    init(write: WriteID, value: JSON?, owner: Owner) {
        self.write = write
        self.value = value
        self.owner = owner
        origin = write
    }

    static func == (left: Self, right: Self) -> Bool {
        left.write == right.write && left.value == right.value
    }

    /// What may be there when this is taken back, or done again, as `write`, likeliest first; none
    /// where it is not `actor`'s to do.
    func takenBack(isRedo: Bool, write: WriteID, by actor: Owner, scope: Owner?) -> [Self] {
        if isRedo {
            return undone.filter { scope?.includes($0.by) ?? true }.reversed().map { one in
                var result = Self(write: write, value: one.past.sibling?.value, owner: actor)
                result.origin = one.past.sibling?.origin ?? 0
                result.previous = Past(self)
                result.undone = one.past.sibling?.undone ?? []
                return result
            }
        }
        guard owner != Self.nobody, scope?.includes(owner) ?? true else { return [] }
        let past = previous.sibling
        var result = Self(write: write, value: past?.value, owner: past?.owner ?? Self.nobody)
        result.origin = past?.origin ?? 0
        result.previous = past?.previous ?? Past(nil)
        // Who had undone what stands again may still redo it.
        result.undone = (past?.undone ?? []) + [(Past(self), actor)]
        return [result]
    }
}

extension OracleSibling {
    /// What stands, said again as `write`. By the same user it is undone and done again as before;
    /// what another user says too is theirs, and nobody takes it back.
    mutating func affirm(_ write: WriteID, isSameUser: Bool) {
        self.write = write
        isAffirmed = true
        if isSameUser { return }
        owner = Self.nobody
        origin = write
        previous = Past(nil)
        undone = []
    }

    /// The additions of a tag, said again as one.
    static func affirmed(
        _ additions: [OracleSibling], _ tag: JSON, _ write: WriteID, _ owner: Owner,
        _ isSameUser: Bool
    ) -> [OracleSibling] {
        guard isSameUser, var first = additions.first else {
            return [OracleSibling(write: write, value: tag, owner: owner)]
        }
        first.write = write
        return [first]
    }
}

/// Concurrent values under a policy.
struct OracleRegister: Equatable {
    /// Oldest first.
    var siblings: [OracleSibling] = []
    static let siblingsMax = 16

    func standing(_ policy: String) -> OracleSibling? {
        switch policy {
        case "trueWins": siblings.last { $0.value == .bool(true) } ?? siblings.last
        case "falseWins": siblings.last { $0.value == .bool(false) } ?? siblings.last
        case "first": siblings.first
        default: siblings.last
        }
    }

    /// The values of the others that differ from the current one, each once, newest first.
    func disagreeing(_ policy: String, value: (OracleSibling) -> JSON) -> [JSON] {
        guard siblings.count > 1, let standing = standing(policy) else { return [] }
        var told = [value(standing)]
        for value in siblings.reversed().map(value) where !told.contains(value) {
            told.append(value)
        }
        return Array(told.dropFirst())
    }

    /// Whether something is there that the writer has not seen.
    func hasUnseen(_ sight: Sight) -> Bool { siblings.contains { !sight.covers($0.write) } }

    /// Writes; the writes that were neither seen nor kept, and whether any was kept beside.
    mutating func write(
        _ value: JSON?, _ write: WriteID, _ sight: Sight, _ policy: String, _ owner: Owner
    ) -> (dropped: [WriteID], isConcurrent: Bool) {
        let standing = standing(policy)
        var kept: [OracleSibling] = []
        var dropped: [WriteID] = []
        for sibling in siblings {
            if sight.covers(sibling.write) {
                dropped.append(sibling.write)
            } else if policy != "ask" && policy != "first" && sibling.write != standing?.write {
                dropped.append(sibling.write)
            } else {
                kept.append(sibling)
            }
        }
        while kept.count > Self.siblingsMax - 1 { dropped.append(kept.removeFirst().write) }
        var new = OracleSibling(write: write, value: value, owner: owner)
        // One transaction may write twice: it is taken back as one.
        new.previous =
            standing?.write == write && standing?.isAffirmed == false
            ? standing?.previous ?? OracleSibling.Past(nil) : OracleSibling.Past(standing)
        siblings = kept + [new]
        return (dropped, !kept.isEmpty)
    }
}

extension OracleRegister {
    /// Says again what stands alone.
    mutating func affirm(_ write: WriteID, _ owner: Owner, _ isSameUser: Bool) {
        guard siblings.count == 1 else { return }
        siblings[0].affirm(write, isSameUser: isSameUser)
    }

    /// Puts `new` in the place of what stands; what was set beside that stays beside it. Whether
    /// anything does.
    mutating func takeBack(_ new: OracleSibling, _ policy: String) -> Bool {
        guard let standing = standing(policy) else { return false }
        let fate = write(new.value, new.write, .only([standing.write]), policy, new.owner)
        siblings[siblings.count - 1] = new
        return fate.isConcurrent
    }
}

/// A number: what it was set to, and what was added.
struct OracleCounter: Equatable {
    struct Addition: Equatable {
        var base: WriteID?
        var amount: Int64
        var write: WriteID
    }

    /// What one transaction did, as undo and redo see it.
    struct Deed: Equatable {
        var write: WriteID
        var owner: Owner
        /// It is taken back by undo; otherwise it is an undo, and redo takes it back.
        var isForUndo: Bool
        var change: Int64
        var after: Int64
        /// The base that stood before and after, by origin.
        var baseBefore: WriteID
        var base: WriteID
    }

    var bases = OracleRegister()
    var additions: [Addition] = []
    var deeds: [Deed] = []
    /// Undo may have come about in two ways that only the next concurrent set tells apart.
    var isVague = false

    /// Notes what a transaction did.
    mutating func note(_ deed: Deed) {
        if let last = deeds.last, last.write == deed.write {
            deeds[deeds.count - 1].change += deed.change
            deeds[deeds.count - 1].after = deed.after
            deeds[deeds.count - 1].base = deed.base
        } else {
            deeds.append(deed)
        }
    }

    /// Says the number again: it is a set of its own, in the place of the one before and of what
    /// was counted on that.
    mutating func affirm(
        _ value: JSON, _ write: WriteID, _ owner: Owner, _ isSameUser: Bool,
        _ control: OracleControl
    ) {
        let before = bases.standing(control.policy)
        var base = OracleSibling(write: write, value: value, owner: owner)
        base.origin = isSameUser ? before?.origin ?? 0 : write
        bases.siblings = [base]
        additions = []
        isVague = false
    }

    func sum(_ base: WriteID?) -> Int64 {
        additions.reduce(0) { $0 + ($1.base == base ? $1.amount : 0) }
    }
}

/// What a control holds.
enum OracleContent: Equatable {
    case register(OracleRegister)
    case counter(OracleCounter)
    /// Tags in option order of their first addition, each with the additions that live.
    case tags([JSON: [OracleSibling]], marks: Set<WriteID>)
    case wheels([String: OracleRegister])
    case presses(Int64)
    case secret(String?)
    case derived

    init(_ control: OracleControl) {
        switch control.kind {
        case .register: self = .register(OracleRegister())
        case .counter: self = .counter(OracleCounter())
        case .tags: self = .tags([:], marks: [])
        case .wheels:
            self = .wheels(
                Dictionary(uniqueKeysWithValues: control.components.map { ($0, OracleRegister()) }))
        case .presses: self = .presses(0)
        case .secret: self = .secret(nil)
        case .bound, .combined: self = .derived
        }
    }
}

/// What a reader sees of a field, as far as the oracle says.
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
    /// The revision that touched a field last.
    var touchedAt: [String: Int64] = [:]
    /// The user who did.
    var changedBy: [String: UInt32] = [:]

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

    /// What a storing control holds, in its own type, and whether somebody set it.
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

    /// What a reader sees; `notifying` lists what the edit that is being told met.
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
