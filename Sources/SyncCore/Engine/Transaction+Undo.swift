// Undo: the steps that an edit records, and their execution.

extension Transaction {
    /// What an undo or redo undoes: a transaction, or its changes of some fields.
    struct UndoneRevision {
        let revision: UInt64
        let isPart: Bool
        let redoEnd: UndoJournal.RedoEnd?
    }

    /// How this transaction is undone: one step per control, in the order of the first writes.
    /// Idle steps are left out.
    ///
    /// A step leads from the value before the transaction to the value after it. Nobody has seen
    /// values in between, and one step per write would make both the transaction and its undo
    /// quadratic.
    func undoSteps() -> Few<UndoStep> {
        var steps = Few<UndoStep>()
        for place in written.indices {
            let step = undoStep(of: written.element(place))
            if let step, !step.isIdle { steps.append(step) }
        }
        return steps
    }

    /// The step that undoes the writes to a control so far; `nil` if they cannot be undone.
    func undoStep(of target: Int) -> UndoStep? {
        guard let last = lastWrite(of: target) else { return nil }
        let before = cellBefore(target)
        guard let action = undoAction(target, last, before: before, after: cell(target))
        else { return nil }
        // Undoing the end of a lease does not restore the lease.
        let leases = rare?.endsLeases == true ? nil : before.content.leases
        var step = UndoStep(
            field: definition.controls[target].id, action: action, leases: leases)
        if let rare, let place = rare.undone.place(of: target) {
            step.restore(rare.undone.with(place) { $0 })
        }
        return step
    }

    /// The step that undoes the change from `before` to `after`; `nil` if it cannot be undone.
    private func undoAction(
        _ target: Int, _ last: (dot: Dot, sum: DecimalNumber?), before: Cell, after: Cell
    ) -> UndoStep.Action? {
        let (before, after) = (before.content, after.content)
        let policy = definition.controls[target].conflictPolicy
        let dot = last.dot
        switch (before.store, after.store) {
        case (.register(let register), _):
            let current = policy.current(register.siblings)?.dot
            let trace = UndoStep.Trace(dot: dot, over: current.map { before.undoneAs($0) } ?? Few())
            return .write(trace, was: before.isSet ? before.value : nil)
        case (.tags(let tags), .tags(let now)):
            let old = before.value.arrayValue ?? []
            let new = after.value.arrayValue ?? []
            let added = new.without(old)
            let removed = old.without(new)
            let isRemoved = Set(removed)
            let over = tags.entries.filter { isRemoved.contains($0.tag.json) }
                .flatMap(before.undoneAs)
            let isAdded = Set(added)
            var dots = now.entries.filter { isAdded.contains($0.tag.json) }.flatMap(after.undoneAs)
                .filter { isOwn($0) && $0 != dot }
            dots = dots.sortedDistinct()
            return .tags(
                UndoStep.Trace(dot: dot, over: over.sortedDistinct(), others: dots), added: added,
                removed: removed, wasSet: before.isSet)
        case (.components(let components), .components(let now)):
            return .components(
                now.components.compactMap { component in
                    let own = component.register.dots.last {
                        isOwn($0) && !after.isSilent($0, of: .component(component.id))
                    }
                    guard let own else { return nil }
                    let current = policy.current(components[component.id].siblings)
                    let over = current.map { before.undoneAs($0.dot, of: .component(component.id)) }
                    return UndoStep.Component(
                        id: component.id, trace: UndoStep.Trace(dot: own, over: over ?? Few()),
                        was: current?.payload.value)
                })
        case (.counter(let counter), .counter(let now)):
            let current = policy.current(counter.bases)
            let own = now.bases.last { isOwn($0.dot) && !after.isSilent($0.dot) }
            guard let base = own else {
                return last.sum.map { .increment($0, base: after.baseForUndo(now, policy)) }
            }
            let trace = UndoStep.Trace(
                dot: base.dot, over: current.map { before.undoneAs($0.dot) } ?? Few())
            return .assign(
                trace, was: before.isSet ? before.value.numberValue : nil,
                to: after.isSet ? after.value.numberValue : nil)
        default: return nil
        }
    }

    /// Executes one step; returns whether its edit was still in effect.
    ///
    /// Later changes by others stay: a step whose value was overwritten does nothing, and others'
    /// increments and tags remain.
    func undo(_ step: UndoStep, control: Int) throws(WireError) -> Bool {
        let policy = definition.controls[control].conflictPolicy
        let cell = content(control)
        var edits: [StoredEdit] = []
        var seen = Seen.present
        var leases: LeaseStack?
        if step.leases != nil { rareOrNew.restoresLeases = true }
        defer { rare?.restoresLeases = false }
        switch (step.action, cell.store) {
        case (.write(let trace, let was), .register(let register)):
            guard let current = policy.current(register.siblings)?.dot,
                cell.undoneAs(current) == [trace.dot], accepts(was, control)
            else { return false }
            seen = .context(CausalContext(dots: [current]))
            let back = restored(step, was, control)
            leases = back.leases
            edits = [back.value.map { .set($0) } ?? .unset]
        case (.components(let rows), .components(let components)):
            return undo(components, rows, control: control)
        case (.assign(let trace, let was, let to), .counter(let counter)):
            guard cell.baseForUndo(counter, policy) == trace.dot,
                accepts(was.map(JSON.number), control)
            else { return false }
            if step.leases != nil {
                let back = restored(step, was.map(JSON.number), control)
                leases = back.leases
                edits = [back.value.map { .set($0) } ?? .unset]
            } else {
                guard let edit = undoAssignment(was: was, to: to, control) else {
                    return false
                }
                edits = [edit]
            }
        case (.increment(let amount, let base), .counter(let counter)):
            guard cell.baseForUndo(counter, policy) == base, let back = amount.negated,
                let edit = difference(back, control)
            else { return false }
            edits = [edit]
            let kept = restored(step, nil, control).leases
            if kept?.top.id == step.leases?.top.id { leases = kept }
        case (.tags(let trace, let added, let removed, let wasSet), .tags(let tags)):
            // A tag that another user has added since is kept. Nobody owns the default's tags.
            let mine = tags.isEmpty ? added : added.filter(cell.tags(of: trace, in: tags).contains)
            edits = undoTags(mine, removed, wasSet: wasSet, control, cell)
        default: return false
        }
        let before = dots.count
        for edit in edits {
            try write(edit, to: control, seen, nil)
        }
        guard dots.count > before else { return false }
        if let leases { restore(leases, control) }
        noteUndone(step, control)
        named.append(control)
        return true
    }

    private func accepts(_ value: JSON?, _ control: Int) -> Bool {
        value.map { definition.accepts($0, control: definition.controls[control]) } ?? true
    }

    private func undo(
        _ components: ComponentMap, _ rows: [UndoStep.Component], control: Int
    ) -> Bool {
        let policy = definition.controls[control].conflictPolicy
        let present = content(control)
        let mine = rows.filter { row in
            policy.current(components[row.id].siblings).map {
                present.undoneAs($0.dot, of: .component(row.id))
            } == [row.trace.dot]
        }
        guard !mine.isEmpty, let fresh = context.nextDot(for: author.replica) else { return false }
        var cell = content(control)
        var store = components
        for row in mine {
            let current = policy.current(components[row.id].siblings).map { [$0.dot] } ?? []
            store.write(
                Written(value: row.was, author: author), component: row.id, dot: fresh,
                stamp: stamp, seen: .context(CausalContext(dots: current)), policy: policy)
        }
        cell.store = .components(store)
        cell.forgetGoneSilentWrites()
        cell.resolve(control, of: definition)
        note(cell, control, fresh)
        noteUndone(
            UndoStep(field: definition.controls[control].id, action: .components(rows)), control)
        named.append(control)
        return true
    }

    /// If somebody has added increments to a set, it is undone as a difference; `nil` if the
    /// difference is zero.
    private func undoAssignment(
        was: DecimalNumber?, to: DecimalNumber?, _ control: Int
    ) -> StoredEdit? {
        let initial = definition.controls[control].defaultValue.numberValue ?? .zero
        let hasIncrements = value(control).numberValue != to ?? initial
        guard hasIncrements else { return was.map { .set(.number($0)) } ?? .unset }
        return (was ?? initial).subtracting(to ?? initial).flatMap { difference($0, control) }
    }

    /// An increment by an amount within the limits; `nil` if it has no effect. It starts from the
    /// sum and not from the shown number: a new definition may have moved a bound below the sum.
    private func difference(_ amount: DecimalNumber, _ control: Int) -> StoredEdit? {
        let initial = definition.controls[control].defaultValue.numberValue ?? .zero
        guard case .counter(let counter) = content(control).store,
            let sum = counter.value(
                definition.controls[control].conflictPolicy, default: initial),
            let edit = try? definition.edits(
                for: .increment(amount), control: control, values: { _ in .number(sum) }
            ).first?.edit, case .increment(let difference, _) = edit, difference != .zero
        else { return nil }
        return edit
    }

    private func undoTags(
        _ added: [JSON], _ removed: [JSON], wasSet: Bool, _ control: Int, _ cell: CellContent
    ) -> [StoredEdit] {
        let present = cell.value.arrayValue ?? []
        let isPresent = Set(present)
        let gone = added.filter { isPresent.contains($0) }
        let options = definition.controls[control].options
        let back = removed.filter { !isPresent.contains($0) && options?.index(of: $0) != nil }
        if gone.isEmpty && back.isEmpty { return [] }
        if !wasSet {
            let initial = definition.controls[control].defaultValue.arrayValue ?? []
            // The tags of a field are distinct.
            let result = (gone.count == present.count ? [] : present.without(gone)) + back
            if result.count == initial.count, Set(result) == Set(initial) { return [.unset] }
        }
        var edits: [StoredEdit] = []
        if !gone.isEmpty { edits.append(.removeTags(gone)) }
        if !back.isEmpty { edits.append(.addTags(back)) }
        return edits
    }
}

extension CellContent {
    /// The writes that undo treats the additions of a tag as.
    fileprivate func undoneAs(_ entry: AddWinsSet.Entry) -> [Dot] {
        if silentWrites.isEmpty { return entry.dots }
        return entry.dots.flatMap { undoneAs($0, of: .tag(entry.tag)) }
    }

    /// The tags that were added by a write, or by several of one transaction, and by nobody else.
    fileprivate func tags(of trace: UndoStep.Trace, in set: AddWinsSet) -> Set<JSON> {
        let dots = Set([trace.dot] + trace.others)
        return Set(
            set.entries.lazy.filter { entry in
                guard entry.dots.count == 1 else { return false }
                let undoneAs = undoneAs(entry)
                return undoneAs.count == 1 && dots.contains(undoneAs[0])
            }.map(\.tag.json))
    }

    /// The set that increments add to, as undo names it; `nil` for the default.
    fileprivate func baseForUndo(_ counter: EpochCounter, _ policy: ConflictPolicy) -> Dot? {
        policy.current(counter.bases).flatMap { undoneAs($0.dot).first }
    }
}

extension [JSON] {
    /// The elements that are not among others. There may be tens of thousands.
    fileprivate func without(_ others: [JSON]) -> [JSON] {
        if isEmpty || others.isEmpty { return self }
        let isOther = Set(others)
        return filter { !isOther.contains($0) }
    }
}

extension UndoStep {
    /// Records that this undo of `step` restores the value before it.
    fileprivate mutating func restore(_ step: UndoStep) {
        switch action {
        case .write(var trace, let was):
            trace.restore(step.trace(component: nil))
            action = .write(trace, was: was)
        case .assign(var trace, let was, let to):
            trace.restore(step.trace(component: nil))
            action = .assign(trace, was: was, to: to)
        case .components(var rows):
            for place in rows.indices {
                rows[place].trace.restore(step.trace(component: rows[place].id))
            }
            action = .components(rows)
        case .tags(var trace, let added, let removed, let wasSet):
            // Of two writes, this is the one that restores tags; the other one removes some.
            trace.restore(
                step.trace(component: nil), values: max(added.count, removed.count),
                isRestored: !added.isEmpty)
            action = .tags(trace, added: added, removed: removed, wasSet: wasSet)
        case .increment: break
        }
    }
}

extension UndoStep.Trace {
    /// Records that the write undoes another one, and restores the value before it.
    ///
    /// Once the other one is undone by another user, the store does not return it for the journal.
    /// So what it had restored is named here too, in case that this write is undone: the first
    /// writes of these values, which their authors may still undo. Those between belong to undos
    /// that were undone.
    ///
    /// - Parameter values: how many values the write replaces.
    fileprivate mutating func restore(
        _ other: UndoStep.Trace?, values: Int = 1, isRestored: Bool = true
    ) {
        if isRestored { restores = other.map { Array($0.over) } ?? [] }
        let known = Set(over)
        let earlier = (other?.restores ?? []).filter { !known.contains($0) }
        over = Few(Array(over) + earlier.suffix(values))
    }
}
