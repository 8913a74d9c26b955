// Undo. Values that others have set since are kept.

import SyncCore

extension StoryTransaction {
    /// Undoes one step. Returns whether its value was still the present one.
    mutating func takeBack(_ step: StoryUndo, _ control: StoryControl) throws -> Bool {
        let policy = control.conflictPolicy
        let content = form.contents[control.id] ?? .nothing
        var edits: [Edit] = []
        var sight = StorySight.everything
        switch (step.action, content) {
        case (.write(let trace, let was), .register(let register)):
            guard let standing = register.standing(policy)?.write,
                form.undoneAs(standing) == [trace.write], was.map(control.accepts) ?? true
            else { return false }
            sight = .only(StoryWrites(loose: [standing]))
            edits = [was.map { .set($0) } ?? .unset]
        case (.wheels(let rows), .wheels(let wheels)):
            return takeBack(rows, wheels, control)
        case (.assign(let trace, let was, let to), .counter(let counter)):
            guard base(of: counter, policy) == trace.write,
                was.map({ control.accepts(.integer($0)) }) ?? true
            else { return false }
            if step.leases != nil {
                edits = [was.map { .set(.integer($0)) } ?? .unset]
            } else {
                guard let edit = assignment(was, to, control) else { return false }
                edits = [edit]
            }
        case (.increment(let amount, let base), .counter(let counter)):
            guard self.base(of: counter, policy) == base,
                let edit = difference(-amount, control)
            else { return false }
            edits = [edit]
        case (.tags(let trace, let added, let removed, let wasSet), .tags(let tags)):
            let mine = added.filter { tag in
                let additions = tags.additions[tag] ?? []
                return tags.isEmpty
                    || additions.count == 1
                        && Self.isOne(additions.flatMap { form.undoneAs($0, tag) }, of: trace)
            }
            edits = tagEdits(mine, removed, wasSet: wasSet, control)
        default: return false
        }
        let writesBefore = newWrites.count
        for edit in edits { try write(edit, to: control, sight) }
        guard newWrites.count > writesBefore else { return false }
        if var leases = step.leases, let last = leases.stack.indices.last {
            let content = form.contents[control.id] ?? .nothing
            if !content.holds(leases.stack[last]) { leases.stack[last].write = form.writes }
            form.leases[control.id] = leases
        }
        restore(step, control)
        named.append(control.id)
        return true
    }

    /// Notes that the new step of a control restored what `step` had replaced.
    private mutating func restore(_ step: StoryUndo, _ control: StoryControl) {
        guard let place = steps.firstIndex(where: { $0.field == control.id }) else { return }
        steps[place].restores(what: step)
    }

    private mutating func takeBack(
        _ rows: [StoryUndo.Row], _ wheels: [String: StoryRegister], _ control: StoryControl
    ) -> Bool {
        let policy = control.conflictPolicy
        let mine = rows.filter { row in
            let standing = wheels[row.id]?.standing(policy)?.write
            return standing.map { form.undoneAs($0, row.id) } == [row.trace.write]
        }
        if mine.isEmpty { return false }
        let write = form.writes + 1
        var wheels = wheels
        for row in mine {
            let standing = wheels[row.id]?.standing(policy).map { [$0.write] } ?? []
            _ = wheels[row.id, default: StoryRegister()].write(
                row.was, as: write, by: author, .only(StoryWrites(loose: Set(standing))), policy)
        }
        note(.wheels(wheels), control, write)
        noteStep(control, write)
        restore(StoryUndo(field: control.id, action: .wheels(rows)), control)
        named.append(control.id)
        return true
    }

    private static func isOne(_ writes: [Int], of trace: StoryUndo.Trace) -> Bool {
        writes.count == 1 && ([trace.write] + trace.others).contains(writes[0])
    }

    /// The set that increments add to, as the journal names it; `nil` for the default.
    private func base(of counter: StoryCounter, _ policy: String) -> Int? {
        counter.bases.standing(policy).flatMap { form.undoneAs($0.write).first }
    }

    /// A set with later increments is undone by a difference.
    private func assignment(_ was: Int?, _ to: Int?, _ control: StoryControl) -> Edit? {
        let initial = Int(control.defaultValue.integerValue ?? 0)
        let shown = form.stored(control.id).value.integerValue.map { Int($0) }
        if shown == to ?? initial { return was.map { .set(.integer($0)) } ?? .unset }
        return difference((was ?? initial) - (to ?? initial), control)
    }

    /// From the sum, which may be beyond a bound that was moved.
    private func difference(_ amount: Int, _ control: StoryControl) -> Edit? {
        guard case .counter(let counter)? = form.contents[control.id] else { return nil }
        var sum = form.shown(control.id)
        sum.value = .integer((sum.value.integerValue ?? 0) - Int64(past(counter, control)))
        let edit = increment(control, by: amount, sum)
        return edit == .increment(0) ? nil : edit
    }

    private func tagEdits(
        _ added: [String], _ removed: [String], wasSet: Bool, _ control: StoryControl
    ) -> [Edit] {
        let present = form.stored(control.id).value.arrayValue?.compactMap(\.stringValue) ?? []
        let gone = added.filter(present.contains)
        let back = removed.filter { !present.contains($0) && control.options.contains($0) }
        if gone.isEmpty, back.isEmpty { return [] }
        if !wasSet {
            let initial = control.defaultValue.arrayValue?.compactMap(\.stringValue) ?? []
            let result = present.filter { !gone.contains($0) } + back
            if Set(result) == Set(initial) { return [.unset] }
        }
        return (gone.isEmpty ? [] : [.remove(gone)]) + (back.isEmpty ? [] : [.add(back, again: [])])
    }
}

// MARK: - Steps for the journal

extension StoryTransaction {
    /// Notes how to undo what the transaction wrote to a control. `write` is its last write.
    mutating func noteStep(_ control: StoryControl, _ write: Int) {
        guard let old = contentsBefore[control.id], let new = form.contents[control.id],
            let action = action(control, old, new, write)
        else { return }
        var step = StoryUndo(field: control.id, action: action)
        step.leases = leasesBefore[control.id]
        if let place = steps.firstIndex(where: { $0.field == step.field }) {
            steps[place] = step
        } else {
            steps.append(step)
        }
    }

    private func action(
        _ control: StoryControl, _ old: StoryContent, _ new: StoryContent, _ write: Int
    ) -> StoryUndo.Action? {
        let policy = control.conflictPolicy
        let (wasValue, wasSet) = old.read(control)
        let (isValue, isSet) = new.read(control)
        switch (old, new) {
        case (.tags(let tags), .tags(let now)):
            let before = wasValue.arrayValue?.compactMap(\.stringValue) ?? []
            let after = isValue.arrayValue?.compactMap(\.stringValue) ?? []
            let removed = before.filter { !after.contains($0) }
            let added = after.filter { !before.contains($0) }
            let over = removed.flatMap { additions(of: $0, in: tags) }
            let own = added.flatMap { additions(of: $0, in: now) }
                .filter { newWrites.contains($0) && $0 != write }
            return .tags(
                StoryUndo.Trace(write: write, over: over, others: own), added: added,
                removed: removed, wasSet: wasSet)
        case (.wheels(let before), .wheels(let after)):
            return .wheels(
                after.keys.sorted().compactMap { id in
                    let writes = after[id]?.siblings.map(\.write) ?? []
                    guard let own = writes.last(where: { isOwnChange($0, id) }) else { return nil }
                    let standing = before[id]?.standing(policy)
                    return StoryUndo.Row(
                        id: id,
                        trace: StoryUndo.Trace(
                            write: own, over: standing.map { form.undoneAs($0.write, id) } ?? []),
                        was: standing?.value)
                })
        case (.counter(let before), .counter(let after)):
            let own = after.bases.siblings.map(\.write).last { isOwnChange($0, "") }
            guard let own else {
                // The transaction added to a number that others had set.
                let bases = after.bases.standing(policy)?.write
                return .increment(
                    after.sum(over: bases) - before.sum(over: bases), base: base(of: after, policy))
            }
            return .assign(
                StoryUndo.Trace(
                    write: own,
                    over: before.bases.standing(policy).map { form.undoneAs($0.write) } ?? []),
                was: wasSet ? wasValue.integerValue.map { Int($0) } : nil,
                to: isSet ? isValue.integerValue.map { Int($0) } : nil)
        case (.register(let register), .register):
            let over = register.standing(policy).map { form.undoneAs($0.write) } ?? []
            return .write(StoryUndo.Trace(write: write, over: over), was: wasSet ? wasValue : nil)
        default: return nil
        }
    }

    /// Whether this transaction made the write, and the write is not silent.
    private func isOwnChange(_ write: Int, _ part: String) -> Bool {
        newWrites.contains(write)
            && form.repeats[StoryRepeat.Place(write: write, part: part)] == nil
    }

    private func additions(of tag: String, in tags: StoryTags) -> [Int] {
        (tags.additions[tag] ?? []).sorted().flatMap { form.undoneAs($0, tag) }
    }
}
