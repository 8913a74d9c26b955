// Taking back: what others made of a field since is theirs and stays.

import SyncCore

extension StoryTransaction {
    /// Takes one step back; whether it still stood.
    mutating func takeBack(_ step: StoryUndo, _ control: StoryControl) throws -> Bool {
        let policy = control.conflictPolicy
        let content = form.contents[control.id] ?? .nothing
        var edits: [Edit] = []
        var sight = StorySight.everything
        switch (step.action, content) {
        case (.write(let trace, let was), .register(let register)):
            guard register.standing(policy)?.write == trace.write,
                was.map(control.accepts) ?? true
            else { return false }
            sight = .only(StoryWrites(loose: [trace.write]))
            edits = [was.map { .set($0) } ?? .unset]
        case (.wheels(let rows), .wheels(let wheels)):
            return takeBack(rows, wheels, control)
        case (.assign(let trace, let was, let to), .counter(let counter)):
            guard counter.bases.standing(policy)?.write == trace.write,
                was.map({ control.accepts(.integer($0)) }) ?? true,
                let edit = assignment(was, to, control)
            else { return false }
            edits = [edit]
        case (.increment(let amount, let base), .counter(let counter)):
            guard counter.bases.standing(policy)?.write == base,
                let edit = difference(-amount, control)
            else { return false }
            edits = [edit]
        case (.tags(let trace, let added, let removed, let wasSet), .tags(let tags)):
            let mine = added.filter { tag in
                tags.isEmpty || tags.additions[tag] == [trace.write]
            }
            edits = tagEdits(mine, removed, wasSet: wasSet, control)
        default: return false
        }
        let firstStep = steps.count
        let writesBefore = newWrites.count
        for edit in edits { try write(edit, to: control, sight) }
        guard newWrites.count > writesBefore else { return false }
        for place in steps.indices[firstStep...] { steps[place].restores(what: step) }
        named.append(control.id)
        return true
    }

    private mutating func takeBack(
        _ rows: [StoryUndo.Row], _ wheels: [String: StoryRegister], _ control: StoryControl
    ) -> Bool {
        let policy = control.conflictPolicy
        let mine = rows.filter { wheels[$0.id]?.standing(policy)?.write == $0.trace.write }
        if mine.isEmpty { return false }
        let write = form.writes + 1
        var wheels = wheels
        for row in mine {
            _ = wheels[row.id, default: StoryRegister()].write(
                row.was, as: write, by: author, .only(StoryWrites(loose: [row.trace.write])),
                policy)
        }
        let old = form.contents[control.id] ?? .nothing
        note(.wheels(wheels), control, write)
        if var step = step(for: .unset, control, old, .wheels(wheels), write) {
            step.restores(what: StoryUndo(field: control.id, action: .wheels(rows)))
            steps.append(step)
        }
        named.append(control.id)
        return true
    }

    /// A set is taken back as a difference where somebody has counted on top of it.
    private func assignment(_ was: Int?, _ to: Int?, _ control: StoryControl) -> Edit? {
        let initial = Int(control.defaultValue.integerValue ?? 0)
        let shown = form.stored(control.id).value.integerValue.map { Int($0) }
        if shown == to ?? initial { return was.map { .set(.integer($0)) } ?? .unset }
        return difference((was ?? initial) - (to ?? initial), control)
    }

    private func difference(_ amount: Int, _ control: StoryControl) -> Edit? {
        let edit = increment(control, by: amount, form.shown(control.id))
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
        return (gone.isEmpty ? [] : [.remove(gone)]) + (back.isEmpty ? [] : [.add(back)])
    }
}

// MARK: - What an edit leaves behind to be undone by

extension StoryTransaction {
    func step(
        for edit: Edit, _ control: StoryControl, _ old: StoryContent, _ new: StoryContent,
        _ write: Int
    ) -> StoryUndo? {
        let policy = control.conflictPolicy
        let (wasValue, wasSet) = old.read(control)
        let (isValue, isSet) = new.read(control)
        let action: StoryUndo.Action
        switch (edit, old, new) {
        case (.increment(let amount), .counter(let counter), _):
            action = .increment(
                amount + past(counter, control), base: counter.bases.standing(policy)?.write)
        case (_, .tags(let tags), _):
            let before = wasValue.arrayValue?.compactMap(\.stringValue) ?? []
            let after = isValue.arrayValue?.compactMap(\.stringValue) ?? []
            let removed = before.filter { !after.contains($0) }
            let over = removed.flatMap { (tags.additions[$0] ?? []).sorted() }
            action = .tags(
                StoryUndo.Trace(write: write, over: over),
                added: after.filter { !before.contains($0) }, removed: removed, wasSet: wasSet)
        case (_, .wheels(let before), .wheels(let after)):
            let changed = after.keys.sorted().filter { id in
                after[id]?.siblings.contains { $0.write == write } ?? false
            }
            action = .wheels(
                changed.map { id in
                    let standing = before[id]?.standing(policy)
                    return StoryUndo.Row(
                        id: id,
                        trace: StoryUndo.Trace(
                            write: write, over: standing.map { [$0.write] } ?? []),
                        was: standing?.value)
                })
        case (_, .counter(let counter), _):
            let over = counter.bases.standing(policy).map { [$0.write] } ?? []
            action = .assign(
                StoryUndo.Trace(write: write, over: over),
                was: wasSet ? wasValue.integerValue.map { Int($0) } : nil,
                to: isSet ? isValue.integerValue.map { Int($0) } : nil)
        case (_, .register(let register), _):
            let over = register.standing(policy).map { [$0.write] } ?? []
            action = .write(
                StoryUndo.Trace(write: write, over: over), was: wasSet ? wasValue : nil)
        default: return nil
        }
        return StoryUndo(field: control.id, action: action)
    }

    /// What one transaction set twice is taken back as one.
    mutating func note(_ step: StoryUndo) {
        guard let place = steps.lastIndex(where: { $0.field == step.field }) else {
            steps.append(step)
            return
        }
        switch (steps[place].action, step.action) {
        case (.write(let first, let was), .write(var trace, _))
        where first.restores == nil && trace.over == [first.write]:
            trace.over = first.over
            steps[place].action = .write(trace, was: was)
        case (.assign(let first, let was, _), .assign(var trace, _, let to))
        where first.restores == nil && trace.over == [first.write]:
            trace.over = first.over
            steps[place].action = .assign(trace, was: was, to: to)
        default: steps.append(step)
        }
    }
}
