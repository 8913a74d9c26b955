// The stores of the oracle's controls: concurrent values, numbers with their increments, and tags,
// with explicit sets of the writes that each writer had seen.

import SyncCore

/// The current value, or one that was set concurrently.
struct OracleSibling: Equatable {
    /// An earlier value; nothing where nobody had set the field.
    final class Past {
        let sibling: OracleSibling?
        init(_ sibling: OracleSibling?) { self.sibling = sibling }
    }

    /// The author of a default.
    static let nobody = Owner(uid: .max)

    var write: WriteID
    /// `nil`: a reset.
    var value: JSON?
    var owner: Owner
    /// The value before, which an undo restores.
    var previous = Past(nil)
    /// What an undo reverted, and whose undo it was, for redo.
    var undone: [(past: Past, by: Owner)] = []
    /// The number of this write, or of the one that it restored.
    var origin: WriteID
    /// `write` repeats the value before it.
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

    /// The values that an undo or redo of this write, as `write`, may restore, the likeliest first;
    /// none if `actor` may not do it.
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
        // A user who had undone an edit may still redo it.
        result.undone = (past?.undone ?? []) + [(Past(self), actor)]
        return [result]
    }
}

extension OracleSibling {
    /// The current value, repeated by `write`. If the same user repeats it, undo and redo work as
    /// before. If another user does, it is that user's value, and no undo reverts it.
    mutating func affirm(_ write: WriteID, isSameUser: Bool) {
        self.write = write
        isAffirmed = true
        if isSameUser { return }
        owner = Self.nobody
        origin = write
        previous = Past(nil)
        undone = []
    }

    /// The additions of a tag, repeated by one write.
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

    /// The other values that differ from the current one, each once, newest first.
    func disagreeing(_ policy: String, value: (OracleSibling) -> JSON) -> [JSON] {
        guard siblings.count > 1, let standing = standing(policy) else { return [] }
        var told = [value(standing)]
        for value in siblings.reversed().map(value) where !told.contains(value) {
            told.append(value)
        }
        return Array(told.dropFirst())
    }

    /// Whether there is a write that the writer has not seen.
    func hasUnseen(_ sight: Sight) -> Bool { siblings.contains { !sight.covers($0.write) } }

    /// Writes. Returns the writes that were neither seen nor kept, and whether any was kept beside
    /// the new one.
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
        // If one transaction writes twice, undo reverts both at once.
        new.previous =
            standing?.write == write && standing?.isAffirmed == false
            ? standing?.previous ?? OracleSibling.Past(nil) : OracleSibling.Past(standing)
        siblings = kept + [new]
        return (dropped, !kept.isEmpty)
    }
}

extension OracleRegister {
    /// Repeats the present value, if it is the only one.
    mutating func affirm(_ write: WriteID, _ owner: Owner, _ isSameUser: Bool) {
        guard siblings.count == 1 else { return }
        siblings[0].affirm(write, isSameUser: isSameUser)
    }

    /// Replaces the current value by `new`. Values that were set concurrently are kept. Returns
    /// whether there are any.
    mutating func takeBack(_ new: OracleSibling, _ policy: String) -> Bool {
        guard let standing = standing(policy) else { return false }
        let fate = write(new.value, new.write, .only([standing.write]), policy, new.owner)
        siblings[siblings.count - 1] = new
        return fate.isConcurrent
    }
}

/// A number: the value that was set, and the increments.
struct OracleCounter: Equatable {
    struct Addition: Equatable {
        var base: WriteID?
        var amount: Int64
        var write: WriteID
    }

    /// What one transaction did, for undo and redo.
    struct Deed: Equatable {
        var write: WriteID
        var owner: Owner
        /// Whether undo reverts it. Otherwise it is an undo, and redo reverts it.
        var isForUndo: Bool
        var change: Int64
        var after: Int64
        /// The set values before and after, by origin.
        var baseBefore: WriteID
        var base: WriteID
    }

    var bases = OracleRegister()
    var additions: [Addition] = []
    var deeds: [Deed] = []
    /// An undo may have happened in two ways, which only the next concurrent set distinguishes.
    var isVague = false

    /// Records what a transaction did.
    mutating func note(_ deed: Deed) {
        if let last = deeds.last, last.write == deed.write {
            deeds[deeds.count - 1].change += deed.change
            deeds[deeds.count - 1].after = deed.after
            deeds[deeds.count - 1].base = deed.base
        } else {
            deeds.append(deed)
        }
    }

    /// Repeats the number: a new set, which replaces the one before and its increments.
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

/// What a control stores.
enum OracleContent: Equatable {
    case register(OracleRegister)
    case counter(OracleCounter)
    /// Tags in the order of their first addition, each with its present additions.
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
