// Silent writes: see SilentWrite.swift. The new dot is durable before the answer, so a removal of
// the tag, or another value, by somebody who has not seen the dot is concurrent with it.

extension Transaction {
    /// Makes a silent write of an edit that repeats the present value.
    ///
    /// Not under the policy `first`, which rejects every writer who has not seen the present dot:
    /// nobody is notified of a silent write. Removing a tag that is not there, and resetting a
    /// field that nobody has set, are not writes.
    func writeSilently(_ edit: StoredEdit, _ target: Int) {
        let before = content(target)
        let policy = definition.controls[target].conflictPolicy
        guard policy != .first, isSetOfTags(before.store) || !isWritten(target),
            let dot = context.nextDot(for: author.replica)
        else { return }
        var cell = before
        switch (edit, before.store) {
        case (.set, .register(var register)):
            guard let current = register.siblings.first else { return }
            register.write(
                Written(value: current.payload.value, author: author), dot: dot, stamp: stamp,
                seen: .present, policy: policy)
            cell.store = .register(register)
            cell.addSilentWrites([
                silentWrite(of: [current.dot], in: before, .whole, target, dot)
            ])
        case (.set, .counter(let counter)):
            let base = policy.current(counter.bases)
            var fresh = counter
            fresh.set(
                before.value.numberValue, author: author, dot: dot, stamp: stamp, seen: .present,
                policy: policy)
            cell.store = .counter(fresh)
            let undoneAs = base.map { Array(before.undoneAs($0.dot)) } ?? []
            let repeats = repeated(by: counter, base, before)
            let place = SilentWrite.Place(part: .whole, dot: dot)
            cell.addSilentWrites([silentWrite(undoneAs, repeats, place, target)])
        case (.setRows(let rows), .components(let old)):
            guard !rows.isEmpty else { return }
            var components = old
            var added: [SilentWrite] = []
            for (id, tag) in rows.members {
                components.write(
                    Written(value: tag, author: author), component: id, dot: dot, stamp: stamp,
                    seen: .present, policy: policy)
                let current = old[id].siblings.map(\.dot)
                added.append(silentWrite(of: current, in: before, .component(id), target, dot))
            }
            cell.addSilentWrites(added.sorted { $0.place < $1.place })
            cell.store = .components(components)
        case (.set(let value), .tags):
            guard let tags = value.arrayValue, !tags.isEmpty else { return }
            renew(tags, in: &cell, target, dot)
        case (.addTags(_, let again), .tags):
            guard !again.isEmpty else { return }
            renew(again, in: &cell, target, dot)
        default: return
        }
        cell.forgetGoneSilentWrites()
        cell.resolve(target, of: definition)
        guard cell.value == before.value, cell.isSet == before.isSet else { return }
        noteSilent(cell, target, dot)
    }

    /// Replaces the dots of tags that are in a set already by `dot`.
    func renew(_ tags: [JSON], in cell: inout CellContent, _ target: Int, _ dot: Dot) {
        guard case .tags(var set) = cell.store else { return }
        // The set has one owner, or the change would copy it.
        cell.store = nil
        let again = tags.compactMap { AddWinsSet.Tag($0) }.sortedDistinct()
        var added: [SilentWrite] = []
        added.reserveCapacity(again.count)
        var place = 0
        set.renew(sorted: again, dot: dot) { entry in
            added.append(
                silentWrite(
                    of: entry.dots, in: cell, .tag(entry.tag), target, dot, near: &place))
        }
        cell.addSilentWrites(added)
        cell.store = .tags(set)
    }

    func isSetOfTags(_ store: FieldStore?) -> Bool {
        if case .tags(let tags) = store { !tags.isEmpty } else { false }
    }

    /// The writes that are repeated when a number is set to its present value: the earlier set and
    /// the increments to it.
    ///
    /// Of each replica only the newest increment is kept, as in `EpochCounter`, so the list does
    /// not grow with the number of increments.
    private func repeated(
        by counter: EpochCounter, _ base: EpochCounter.Base?, _ cell: CellContent
    ) -> [Dot] {
        let increments = counter.increments.map(\.dot)
        var dots = base.map { cell.repeated($0.dot) } ?? []
        for (place, dot) in dots.enumerated().dropFirst().reversed()
        where increments.contains(where: { $0.replica == dot.replica }) {
            dots.remove(at: place)
        }
        return dots + increments
    }

    /// The silent write that repeats the writes `current` of a part.
    private func silentWrite(
        of current: [Dot], in before: CellContent, _ part: SilentWrite.Part, _ target: Int,
        _ dot: Dot
    ) -> SilentWrite {
        var place = 0
        return silentWrite(of: current, in: before, part, target, dot, near: &place)
    }

    /// The same for one of many parts in their order: see `CellContent.silentWrite`.
    private func silentWrite(
        of current: [Dot], in before: CellContent, _ part: SilentWrite.Part, _ target: Int,
        _ dot: Dot, near place: inout Int
    ) -> SilentWrite {
        let new = SilentWrite.Place(part: part, dot: dot)
        if current.count == 1 {
            // Nearly always, and then no list has to be made.
            let known = before.silentWrite(current[0], of: part, near: &place)
            return silentWrite(known?.undoneAs ?? current, known?.repeats ?? current, new, target)
        }
        return silentWrite(
            current.flatMap { before.undoneAs($0, of: part) },
            current.flatMap { before.repeated($0, of: part) }, new, target)
    }

    /// A silent write and what it repeats. Undo treats it as the earlier write if the same user
    /// made that.
    private func silentWrite(
        _ undoneAs: [Dot], _ repeats: [Dot], _ place: SilentWrite.Place, _ target: Int
    ) -> SilentWrite {
        let isSameUser =
            state.cells[target].by?.uid == author.uid
            || !undoneAs.isEmpty && undoneAs.allSatisfy(isOwn)
        return SilentWrite(place, undoneAs: isSameUser ? undoneAs : [place.dot], repeats: repeats)
    }
}
