// Edits, computed again on the oracle's form.

import SyncCore

/// The expected effect of a transaction.
struct OracleOutcome {
    /// Stored controls that were written.
    var written: Set<String> = []
    /// Controls whose present value it repeats: a write without a notification.
    var affirmed: Set<String> = []
    /// Controls among `written` that have a concurrent value.
    var met: Set<String> = []
    /// Why the transaction must be refused instead.
    var refusal: ErrorKind?
}

extension OracleForm {
    /// Applies the changes of one `state.set`, each with what its sender had seen.
    mutating func apply(
        _ changes: [(Change, Sight)], write: WriteID, owner: Owner
    ) -> OracleOutcome {
        var outcome = OracleOutcome()
        for (change, sight) in changes {
            // A transaction has seen its own writes.
            var sight = sight
            if case .only(var writes) = sight {
                writes.insert(write)
                sight = .only(writes)
            }
            let targets = targets(change.field)
            let shown = reading(change.field).value
            for target in targets {
                edit(target, change.action, shown, sight, write, owner, &outcome)
            }
        }
        return outcome
    }

    private mutating func edit(
        _ id: String, _ action: Change.Action, _ shown: JSON, _ sight: Sight, _ write: WriteID,
        _ owner: Owner, _ outcome: inout OracleOutcome
    ) {
        guard let control = control(id), let content = contents[id] else { return }
        let (present, isSet) = stored(id)
        var isConcurrent = false
        var isIdle = false
        switch content {
        case .register(var register):
            let value: JSON?
            switch action {
            case .value(let new): value = new
            case .toggle: value = .bool(!(shown.boolValue ?? false))
            case .move(let direction, let wraps):
                value = moved(shown, direction, wraps: wraps, control)
            default: value = nil
            }
            isIdle =
                value == nil
                ? !isSet && register.siblings.count < 2
                : isSet && present == value && register.siblings.count == 1
            if isIdle {
                guard value != nil, isFirstTouch(id, control, outcome) else { break }
                register.affirm(write, owner, isSameUser(id, owner))
                contents[id] = .register(register)
                outcome.affirmed.insert(id)
                break
            }
            if control.policy == "first", register.hasUnseen(sight) {
                outcome.refusal = .conflict
                return
            }
            isConcurrent =
                register.write(value, write, sight, control.policy, owner).isConcurrent
            contents[id] = .register(register)
        case .counter(var counter):
            (isIdle, isConcurrent) = edit(
                &counter, control, action, present.integerValue ?? 0, isSet, sight, write, owner)
            if isIdle, case .value(let value) = action, isFirstTouch(id, control, outcome) {
                counter.affirm(value, write, owner, isSameUser(id, owner), control)
                outcome.affirmed.insert(id)
            }
            contents[id] = .counter(counter)
        case .tags(var tags, var marks):
            isIdle = edit(
                &tags, &marks, control, action, present.arrayValue ?? [], isSet, sight, write,
                owner)
            if isSet, control.policy != "first" || !isIdle {
                let again = Self.saidAgain(action, present.arrayValue ?? [], isIdle: isIdle)
                for tag in again {
                    tags[tag] = OracleSibling.affirmed(
                        tags[tag] ?? [], tag, write, owner, isSameUser(id, owner))
                }
                if !again.isEmpty { outcome.affirmed.insert(id) }
            }
            contents[id] = .tags(tags, marks: marks)
        case .wheels(var components):
            var rows: [(String, JSON?)] = []
            if case .value(let object) = action {
                rows = object.objectValue?.members.map { ($0.name, $0.value) } ?? []
                isIdle = rows.allSatisfy { name, tag in
                    let siblings = components[name]?.siblings ?? []
                    return siblings.count == 1 && siblings[0].value == tag
                }
            } else {
                rows = components.filter { !$0.value.siblings.isEmpty }.map { ($0.key, nil) }
                isIdle = !isSet
            }
            if isIdle {
                guard case .value = action, !rows.isEmpty, isFirstTouch(id, control, outcome)
                else { break }
                for (name, _) in rows {
                    components[name]?.affirm(write, owner, isSameUser(id, owner))
                }
                contents[id] = .wheels(components)
                outcome.affirmed.insert(id)
                break
            }
            for (name, tag) in rows {
                let fate = components[name]?.write(tag, write, sight, control.policy, owner)
                if fate?.isConcurrent ?? false { isConcurrent = true }
            }
            contents[id] = .wheels(components)
        case .presses(let count): contents[id] = .presses(count + 1)
        case .secret(let secret):
            if case .value(let new) = action {
                contents[id] = .secret(new.stringValue)
            } else {
                isIdle = secret == nil
                contents[id] = .secret(nil)
            }
        case .derived: return
        }
        guard !isIdle else { return }
        outcome.written.insert(id)
        if isConcurrent { outcome.met.insert(id) }
    }

    /// Whether the transaction has not written the control yet.
    private func isFirstTouch(
        _ id: String, _ control: OracleControl, _ outcome: OracleOutcome
    ) -> Bool {
        control.policy != "first" && !outcome.written.contains(id)
            && !outcome.affirmed.contains(id)
    }

    /// Whether the last change of a field was made by the user who edits it now.
    private func isSameUser(_ id: String, _ owner: Owner) -> Bool { changedBy[id] == owner.uid }

    /// Tags of an edit that are in the set already.
    private static func saidAgain(
        _ action: Change.Action, _ present: [JSON], isIdle: Bool
    ) -> [JSON] {
        switch action {
        case .value(let value): isIdle ? value.arrayValue ?? [] : []
        case .add(let list): list.filter(present.contains)
        default: []
        }
    }

    private func moved(
        _ shown: JSON, _ direction: Change.Direction, wraps: Bool, _ control: OracleControl
    ) -> JSON? {
        let options = control.options
        let last = options.count - 1
        let place = options.firstIndex(of: shown)
        let next: Int =
            switch (direction, place) {
            case (.first, _), (.next, nil): 0
            case (.last, _), (.previous, nil): last
            case (.next, let place?): place < last ? place + 1 : wraps ? 0 : last
            case (.previous, let place?): place > 0 ? place - 1 : wraps ? last : 0
            }
        return options[next]
    }

    private func edit(
        _ counter: inout OracleCounter, _ control: OracleControl, _ action: Change.Action,
        _ present: Int64, _ isSet: Bool, _ sight: Sight, _ write: WriteID, _ owner: Owner
    ) -> (isIdle: Bool, isConcurrent: Bool) {
        switch action {
        case .increment(let amount):
            let result = Self.clamp(present + (amount.integer ?? 0), control)
            if result == present { return (true, false) }
            counter.additions.append(
                OracleCounter.Addition(
                    base: counter.bases.standing(control.policy)?.write,
                    amount: result - present, write: write))
            let base = counter.bases.standing(control.policy)?.origin ?? 0
            counter.note(
                .init(
                    write: write, owner: owner, isForUndo: true, change: result - present,
                    after: result, baseBefore: base, base: base))
            return (false, false)
        default:
            var value: JSON?
            if case .value(let new) = action { value = new }
            let isIdle =
                value == nil
                ? !isSet && counter.bases.siblings.count < 2
                : isSet && .integer(present) == value && counter.bases.siblings.count < 2
            if isIdle { return (true, false) }
            let baseBefore = counter.bases.standing(control.policy)?.origin ?? 0
            let fate = counter.bases.write(value, write, sight, control.policy, owner)
            counter.additions.removeAll { addition in
                addition.base.map(fate.dropped.contains) ?? sight.covers(addition.write)
            }
            if case .everything = sight { counter.isVague = false }
            let after = Self.number(counter, counter.bases.standing(control.policy), control)
            counter.note(
                .init(
                    write: write, owner: owner, isForUndo: true, change: after - present,
                    after: after, baseBefore: baseBefore, base: write))
            return (false, fate.isConcurrent)
        }
    }

    private func edit(
        _ tags: inout [JSON: [OracleSibling]], _ marks: inout Set<WriteID>,
        _ control: OracleControl, _ action: Change.Action, _ present: [JSON], _ isSet: Bool,
        _ sight: Sight, _ write: WriteID, _ owner: Owner
    ) -> Bool {
        func drop(_ tag: JSON) {
            tags[tag]?.removeAll { sight.covers($0.write) }
            if tags[tag]?.isEmpty ?? false { tags[tag] = nil }
        }
        func add(_ tag: JSON) {
            var additions = tags[tag] ?? []
            additions.append(OracleSibling(write: write, value: tag, owner: owner))
            let own = additions.map(\.write).filter { $0 >= replicaStart }.sorted()
            let spare = own.dropLast(AddWinsSet.additionsMax)
            tags[tag] = additions.filter { !spare.contains($0.write) }
        }
        func assign(_ list: [JSON]) {
            for tag in Array(tags.keys) { drop(tag) }
            for tag in list { add(tag) }
        }
        switch action {
        case .value(let value):
            let list = value.arrayValue ?? []
            if isSet, Set(list) == Set(present) { return true }
            assign(list)
        case .add(let list):
            let new = list.filter { !present.contains($0) }
            if new.isEmpty && isSet { return true }
            if isSet { for tag in Set(new) { drop(tag); add(tag) } } else { assign(present + new) }
        case .remove(let list):
            let gone = list.filter(present.contains)
            if gone.isEmpty { return true }
            if isSet {
                for tag in gone { drop(tag) }
            } else {
                assign(present.filter { !gone.contains($0) })
            }
        default:
            if !isSet { return true }
            for tag in Array(tags.keys) { drop(tag) }
            marks = marks.filter { !sight.covers($0) }
            return false
        }
        marks = marks.filter { !sight.covers($0) }
        marks.insert(write)
        let own = marks.filter { $0 >= replicaStart }.sorted()
        marks.subtract(own.dropLast(AddWinsSet.additionsMax))
        return false
    }

    // MARK: - Definitions

    /// Applies another definition. Values are kept where possible.
    mutating func redefine(_ json: JSON) {
        let new = (json["fields"]?.arrayValue ?? []).map { OracleControl($0) }
        var carried: [String: OracleContent] = [:]
        var touched: [String: Int64] = [:]
        for control in new {
            let fresh = OracleContent(control)
            if let old = self.control(control.id), old.kind == control.kind,
                let content = contents[control.id], carries(old, control, content)
            {
                carried[control.id] = content
            } else {
                carried[control.id] = fresh
            }
            touched[control.id] = touchedAt[control.id]
        }
        definition = json
        controls = new
        contents = carried
        touchedAt = touched
    }

    /// A value whose shape the new type does not have is reset.
    private func carries(
        _ old: OracleControl, _ new: OracleControl, _ content: OracleContent
    ) -> Bool {
        if old.type == new.type { return true }
        guard case .register(let register) = content else { return true }
        return register.siblings.isEmpty
    }

    // MARK: - Undo

    /// Takes the result of an undo or redo by `actor` for a field. Returns what is wrong with it.
    ///
    /// Undo reverts only edits of the actor (`scope`; `nil`: of all users). A current value of the
    /// actor is replaced by the one before it, and an increment by its inverse.
    mutating func takeBack(
        _ id: String, to told: FieldState, write: WriteID, isRedo: Bool, scope: Owner?,
        actor: Owner, met: inout Set<String>
    ) -> String? {
        guard let control = control(id), let content = contents[id] else {
            return "there is no such field"
        }
        switch content {
        case .register(var register):
            let ways =
                register.standing(control.policy)?.takenBack(
                    isRedo: isRedo, write: write, by: actor, scope: scope) ?? []
            guard let first = ways.first else { return "reverts a value of another user" }
            guard let new = ways.first(where: { $0.value ?? control.initial == told.value }) else {
                return "became \(told.value), not \(first.value ?? control.initial)"
            }
            if register.takeBack(new, control.policy) { met.insert(id) }
            contents[id] = .register(register)
        case .wheels(let components):
            return takeBack(components, control, told, isRedo: isRedo, &met) {
                $0.takenBack(isRedo: isRedo, write: write, by: actor, scope: scope).first
            }
        case .counter(let counter):
            return takeBack(counter, control, told, write, isRedo: isRedo, scope, actor)
        case .tags(let tags, _):
            return takeBack(tags, control, told, write, scope, actor)
        case .presses, .secret, .derived: return "cannot be undone"
        }
        return nil
    }

    private mutating func takeBack(
        _ tags: [JSON: [OracleSibling]], _ control: OracleControl, _ told: FieldState,
        _ write: WriteID, _ scope: Owner?, _ actor: Owner
    ) -> String? {
        var tags = tags
        let now = told.value.arrayValue ?? []
        let (value, wasSet) = stored(control.id)
        let before = value.arrayValue ?? []
        for tag in before where !now.contains(tag) {
            let other = tags[tag]?.first {
                $0.owner != OracleSibling.nobody && !(scope?.includes($0.owner) ?? true)
            }
            if let other { return "removed \(tag), which \(other.owner) had added" }
        }
        guard told.isSet else {
            contents[control.id] = .tags([:], marks: [])
            return nil
        }
        func add(_ tag: JSON) {
            // The owner of a removed tag is not known here: any user may undo the removal.
            tags[tag] = [OracleSibling(write: write, value: tag, owner: OracleSibling.nobody)]
        }
        if !wasSet { for tag in before { add(tag) } }
        for tag in before where !now.contains(tag) { tags[tag] = nil }
        for tag in now where !before.contains(tag) { add(tag) }
        contents[control.id] = .tags(tags, marks: [write])
        return nil
    }

    private mutating func takeBack(
        _ components: [String: OracleRegister], _ control: OracleControl, _ told: FieldState,
        isRedo: Bool, _ met: inout Set<String>,
        _ takenBack: (OracleSibling) -> OracleSibling?
    ) -> String? {
        let standing = control.components.compactMap { name in
            components[name]?.standing(control.policy).map { (name, $0) }
        }
        // One transaction set one component or several. The newest is expected, unless the
        // notification has another one. A value that its user repeated is of its first edit.
        let names = standing.map(\.0)
        let newest = standing.map(\.1).sorted {
            isRedo ? $0.write > $1.write : $0.origin > $1.origin
        }
        let byOrigin = newest.map { one in
            standing.filter { $0.1.origin == one.origin }.map(\.0)
        }
        let byWrite = newest.map { one in
            standing.filter { $0.1.write == one.write }.map(\.0)
        }
        // An undo may restore several values, and redo reverts the undo.
        let transactions =
            (isRedo ? byWrite + byOrigin : byOrigin + byWrite) + names.map { [$0] } + [names]
        for chosen in transactions {
            var trial = components
            var isConcurrent = false
            for (name, sibling) in standing where chosen.contains(name) {
                guard let new = takenBack(sibling) else { continue }
                if trial[name]?.takeBack(new, control.policy) ?? false { isConcurrent = true }
            }
            guard trial != components else { continue }
            var form = self
            form.contents[control.id] = .wheels(trial)
            let reading = form.stored(control.id)
            if reading.value == told.value, reading.isSet == told.isSet {
                self = form
                if isConcurrent { met.insert(control.id) }
                return nil
            }
        }
        return "is not a value that an edit of the actor had replaced"
    }

    private mutating func takeBack(
        _ counter: OracleCounter, _ control: OracleControl, _ told: FieldState, _ write: WriteID,
        isRedo: Bool, _ scope: Owner?, _ actor: Owner
    ) -> String? {
        var counter = counter
        let present = stored(control.id).value.integerValue ?? 0
        let now = told.value.integerValue ?? 0
        let base = counter.bases.standing(control.policy)
        let origin = base?.origin ?? 0
        let place = counter.deeds.lastIndex { deed in
            deed.isForUndo != isRedo && (scope?.includes(deed.owner) ?? true)
                && deed.base == origin && Self.clamp(present - deed.change, control) == now
        }
        guard let place else {
            return "went from \(present) to \(now), which is not an edit of the actor"
        }
        let deed = counter.deeds.remove(at: place)
        if deed.baseBefore != deed.base, present == deed.after {
            var new = OracleSibling(
                write: write, value: told.isSet ? .integer(now) : nil, owner: actor)
            new.origin = deed.baseBefore
            counter.bases.siblings = [new]
            counter.additions = []
        } else {
            counter.additions.append(
                .init(base: base?.write, amount: now - present, write: write))
        }
        counter.note(
            .init(
                write: write, owner: actor, isForUndo: isRedo, change: now - present, after: now,
                baseBefore: origin,
                base: counter.bases.standing(control.policy)?.origin ?? 0))
        counter.isVague = true
        contents[control.id] = .counter(counter)
        return nil
    }
}
