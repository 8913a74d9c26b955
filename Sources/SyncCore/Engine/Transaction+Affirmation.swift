// An edit that sets what is there already: a silent write.
//
// Its fresh dot takes the place of those that said the same, and is durable before the answer: a
// removal of a tag, or another value, by somebody who has not seen the dot is concurrent with it.

extension Transaction {
    /// Takes a fresh dot for what a control holds already.
    ///
    /// Not under `first`: that policy refuses every writer who has not seen the present dot, and
    /// nobody would be notified of this one. Nor for the removal of what is not there and the reset
    /// of what nobody has set.
    mutating func affirm(_ edit: StoredEdit, _ target: Int) {
        let before = content(target)
        let policy = definition.controls[target].conflictPolicy
        guard policy != .first, isSetOfTags(before) || !isWritten(target),
            let dot = context.nextDot(for: author.replica)
        else { return }
        var cell = before
        switch (edit, before.store) {
        case (.set, .register(var register)):
            guard let standing = register.siblings.first else { return }
            register.write(
                Written(value: standing.payload.value, author: author), dot: dot, stamp: stamp,
                seen: .present, policy: policy)
            cell.store = .register(register)
            cell.affirm([affirmation(of: [standing.dot], in: before, .whole, target, dot)])
        case (.set, .counter(let counter)):
            let base = policy.standing(counter.bases)
            var fresh = counter
            fresh.set(
                before.value.numberValue, author: author, dot: dot, stamp: stamp, seen: .present,
                policy: policy)
            cell.store = .counter(fresh)
            let told = base.map { before.told($0.dot) } ?? []
            let repeats = repeated(by: counter, base, before)
            let place = Affirmation.Place(part: .whole, dot: dot)
            cell.affirm([affirmation(told, repeats, place, target)])
        case (.setRows(let rows), .components(let old)):
            guard !rows.isEmpty else { return }
            var components = old
            var news: [Affirmation] = []
            for (id, tag) in rows.members {
                components.write(
                    Written(value: tag, author: author), component: id, dot: dot, stamp: stamp,
                    seen: .present, policy: policy)
                let standing = old[id].siblings.map(\.dot)
                news.append(affirmation(of: standing, in: before, .component(id), target, dot))
            }
            cell.affirm(news.sorted { $0.place < $1.place })
            cell.store = .components(components)
        case (.set(let value), .tags):
            guard let tags = value.arrayValue, !tags.isEmpty else { return }
            affirm(tags, in: &cell, target, dot)
        case (.addTags(_, let again), .tags):
            guard !again.isEmpty else { return }
            affirm(again, in: &cell, target, dot)
        default: return
        }
        cell.forgetGoneAffirmations()
        cell.resolve(target, of: definition)
        guard cell.value == before.value, cell.isSet == before.isSet else { return }
        noteSilent(cell, target, dot)
    }

    /// Takes `dot` for tags that are in a set already.
    func affirm(_ tags: [JSON], in cell: inout CellContent, _ target: Int, _ dot: Dot) {
        guard case .tags(var set) = cell.store else { return }
        let again = Set(tags.lazy.compactMap { AddWinsSet.Tag($0) })
        var news: [Affirmation] = []
        for entry in set.entries where again.contains(entry.tag) {
            news.append(affirmation(of: entry.dots, in: cell, .tag(entry.tag), target, dot))
        }
        cell.affirm(news)
        set.affirm(again, dot: dot)
        cell.store = .tags(set)
    }

    /// Whether a cell holds tags that somebody has set.
    func isSetOfTags(_ cell: CellContent) -> Bool {
        if case .tags(let tags) = cell.store { !tags.isEmpty } else { false }
    }

    /// The writes that a set of a number to its present value repeats: the set before it and the
    /// increments on that.
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

    /// The silent write of a part that holds the writes `standing`.
    private func affirmation(
        of standing: [Dot], in before: CellContent, _ part: Affirmation.Part, _ target: Int,
        _ dot: Dot
    ) -> Affirmation {
        affirmation(
            standing.flatMap { before.told($0, of: part) },
            standing.flatMap { before.repeated($0, of: part) },
            Affirmation.Place(part: part, dot: dot), target)
    }

    /// A silent write and what it repeats. For undo it is the write before if the same user made
    /// that.
    private func affirmation(
        _ told: [Dot], _ repeats: [Dot], _ place: Affirmation.Place, _ target: Int
    ) -> Affirmation {
        let isSameUser =
            form.working.cells[target].by?.uid == author.uid
            || !told.isEmpty && told.allSatisfy(isOwn)
        return Affirmation(place, told: isSameUser ? told : [place.dot], repeats: repeats)
    }
}
