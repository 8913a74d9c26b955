// Taking back: what an edit leaves behind to be undone by, and the undoing.

extension Transaction {
    /// What an undo or redo takes back: a transaction, or what it did to some of its fields.
    struct TakenBack {
        let revision: UInt64
        let isPart: Bool
    }

    /// How the edit that made `after` of `before` is taken back; `nil` for what is not undone.
    func undoStep(
        _ edit: StoredEdit, _ target: Int, before: CellContent, after: CellContent, _ dot: Dot
    ) -> UndoStep? {
        let policy = definition.controls[target].conflictPolicy
        let action: UndoStep.Action
        switch (edit, before.store) {
        case (.press, _), (.seal, _), (_, .sealed), (_, nil): return nil
        case (.increment(let difference, _), .counter(let counter)):
            action = .increment(difference, base: policy.standing(counter.bases)?.dot)
        case (_, .tags(let tags)):
            let old = before.value.arrayValue ?? []
            let new = after.value.arrayValue ?? []
            let removed = old.filter { !new.contains($0) }
            let over = tags.entries.filter { removed.contains($0.tag.json) }.flatMap(\.dots)
            action = .tags(
                UndoStep.Trace(dot: dot, over: over), added: new.filter { !old.contains($0) },
                removed: removed, wasSet: before.isSet)
        case (_, .components(let components)):
            guard case .components(let now) = after.store else { return nil }
            let changed = now.components.filter { $0.register.dots.contains(dot) }
            action = .components(
                changed.map { component in
                    let standing = policy.standing(components[component.id].siblings)
                    return UndoStep.Component(
                        id: component.id,
                        trace: UndoStep.Trace(
                            dot: dot, over: standing.map { [$0.dot] } ?? []),
                        was: standing?.payload.value)
                })
        case (_, .counter(let counter)):
            let standing = policy.standing(counter.bases)
            let trace = UndoStep.Trace(dot: dot, over: standing.map { [$0.dot] } ?? [])
            action = .assign(
                trace, was: before.isSet ? before.value.numberValue : nil,
                to: after.isSet ? after.value.numberValue : nil)
        case (_, .register(let register)):
            let standing = policy.standing(register.siblings)
            let trace = UndoStep.Trace(dot: dot, over: standing.map { [$0.dot] } ?? [])
            action = .write(trace, was: before.isSet ? before.value : nil)
        case (_, .presses): return nil
        }
        return UndoStep(field: definition.controls[target].id, action: action)
    }

    /// Adds a step. What one transaction set twice is taken back as one: between the two it never
    /// read to anybody.
    mutating func note(_ step: UndoStep) {
        guard let index = undo.lastIndex(where: { $0.field.isSameBytes(as: step.field) }) else {
            undo.append(step)
            return
        }
        switch (undo[index].action, step.action) {
        case (.write(let first, let was), .write(var trace, _))
        where first.restores == nil && trace.over == [first.dot]:
            trace.over = first.over
            undo[index].action = .write(trace, was: was)
        case (.assign(let first, let was, _), .assign(var trace, _, let to))
        where first.restores == nil && trace.over == [first.dot]:
            trace.over = first.over
            undo[index].action = .assign(trace, was: was, to: to)
        default: undo.append(step)
        }
    }

    /// Takes one step back; whether it still stood.
    ///
    /// What others made of the field since is theirs: a step that was overwritten is left alone,
    /// increments of others on top of mine stay, and so do picks of others beside mine.
    mutating func takeBack(_ step: UndoStep, control: Int) throws(WireError) -> Bool {
        let policy = definition.controls[control].conflictPolicy
        let cell = content(control)
        var edits: [StoredEdit] = []
        var seen = Seen.present
        switch (step.action, cell.store) {
        case (.write(let trace, let was), .register(let register)):
            guard policy.standing(register.siblings)?.dot == trace.dot, accepts(was, control)
            else { return false }
            seen = .context(CausalContext(dots: [trace.dot]))
            edits = [was.map { .set($0) } ?? .unset]
        case (.components(let rows), .components(let components)):
            return takeBack(components, rows, control: control)
        case (.assign(let trace, let was, let to), .counter(let counter)):
            guard policy.standing(counter.bases)?.dot == trace.dot,
                accepts(was.map(JSON.number), control)
            else { return false }
            guard let edit = takeBackAssignment(was: was, to: to, control) else { return false }
            edits = [edit]
        case (.increment(let amount, let base), .counter(let counter)):
            guard policy.standing(counter.bases)?.dot == base, let back = amount.negated,
                let edit = difference(back, control)
            else { return false }
            edits = [edit]
        case (.tags(let trace, let added, let removed, let wasSet), .tags(let tags)):
            // A tag that somebody has added too since is theirs as well; one of the default is
            // nobody's.
            let mine = added.filter { tag in
                tags.isEmpty
                    || tags.entries.contains { $0.tag.json == tag && $0.dots == [trace.dot] }
            }
            edits = takeBackTags(mine, removed, wasSet: wasSet, control, cell)
        default: return false
        }
        let first = undo.count
        let before = dots.count
        for edit in edits {
            try write(FieldEdit(target: control, edit: edit), seen) { _, _, _ in nil }
        }
        guard dots.count > before else { return false }
        for place in undo.indices[first...] { undo[place].restore(step) }
        named.append(control)
        return true
    }

    private func accepts(_ value: JSON?, _ control: Int) -> Bool {
        value.map { definition.accepts($0, control: definition.controls[control]) } ?? true
    }

    private mutating func takeBack(
        _ components: ComponentMap, _ rows: [UndoStep.Component], control: Int
    ) -> Bool {
        let policy = definition.controls[control].conflictPolicy
        let mine = rows.filter {
            policy.standing(components[$0.id].siblings)?.dot == $0.trace.dot
        }
        guard !mine.isEmpty, let fresh = context.nextDot(for: author.replica) else { return false }
        let before = content(control)
        var cell = before
        var store = components
        for row in mine {
            store.write(
                Written(value: row.was, author: author), component: row.id, dot: fresh,
                stamp: stamp, seen: .context(CausalContext(dots: [row.trace.dot])), policy: policy)
        }
        cell.store = .components(store)
        cell.resolve(control, of: definition)
        note(cell, control, fresh)
        if var step = undoStep(.unset, control, before: before, after: cell, fresh) {
            step.restore(UndoStep(field: step.field, action: .components(rows)))
            undo.append(step)
        }
        named.append(control)
        return true
    }

    /// A set is taken back as a difference where somebody has counted on top of it; `nil` where
    /// that leaves nothing to be done.
    private func takeBackAssignment(
        was: DecimalNumber?, to: DecimalNumber?, _ control: Int
    ) -> StoredEdit? {
        let initial = definition.controls[control].defaultValue.numberValue ?? .zero
        let isCountedOn = value(control).numberValue != to ?? initial
        guard isCountedOn else { return was.map { .set(.number($0)) } ?? .unset }
        return (was ?? initial).subtracting(to ?? initial).flatMap { difference($0, control) }
    }

    /// The increment by an amount within the bounds; `nil` where nothing comes of it.
    private func difference(_ amount: DecimalNumber, _ control: Int) -> StoredEdit? {
        guard
            let edit = try? definition.edits(
                for: .increment(amount), control: control, values: { value($0) }
            ).first?.edit, case .increment(let difference, _) = edit, difference != .zero
        else { return nil }
        return edit
    }

    private func takeBackTags(
        _ added: [JSON], _ removed: [JSON], wasSet: Bool, _ control: Int, _ cell: CellContent
    ) -> [StoredEdit] {
        let present = cell.value.arrayValue ?? []
        let gone = added.filter { present.contains($0) }
        let options = definition.controls[control].options
        let back = removed.filter { !present.contains($0) && options?.index(of: $0) != nil }
        if gone.isEmpty && back.isEmpty { return [] }
        if !wasSet {
            let initial = definition.controls[control].defaultValue.arrayValue ?? []
            let result = present.filter { !gone.contains($0) } + back
            if Set(result) == Set(initial) { return [.unset] }
        }
        var edits: [StoredEdit] = []
        if !gone.isEmpty { edits.append(.removeTags(gone)) }
        if !back.isEmpty { edits.append(.addTags(back)) }
        return edits
    }
}

extension UndoStep {
    /// Notes that this undo of `step` puts back what stood before it.
    fileprivate mutating func restore(_ step: UndoStep) {
        switch action {
        case .write(var trace, let was):
            trace.restores = step.over(component: nil)
            action = .write(trace, was: was)
        case .assign(var trace, let was, let to):
            trace.restores = step.over(component: nil)
            action = .assign(trace, was: was, to: to)
        case .components(var rows):
            for place in rows.indices {
                rows[place].trace.restores = step.over(component: rows[place].id)
            }
            action = .components(rows)
        case .tags(var trace, let added, let removed, let wasSet):
            // Of two writes the one that brings tags back; the other takes some away.
            if !added.isEmpty { trace.restores = step.over(component: nil) }
            action = .tags(trace, added: added, removed: removed, wasSet: wasSet)
        case .increment: break
        }
    }
}
