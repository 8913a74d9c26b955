// Records that earlier versions wrote have a step for each write of a field. Values between two
// writes of one transaction were never shown, and undoing each step would take time in the square
// of their number. So they are read as one step, from the value before the first write to the value
// after the last.

extension UndoStep {
    /// The steps of one transaction, in order, with at most a few for each field.
    static func merged(_ steps: [UndoStep]) -> [UndoStep] {
        var places: [String: Int] = [:]
        var groups: [[UndoStep]] = []
        for step in steps {
            if let place = places[step.field] {
                groups[place].append(step)
            } else {
                places[step.field] = groups.count
                groups.append([step])
            }
        }
        guard groups.count < steps.count else { return steps }
        return groups.flatMap { $0.count == 1 ? $0 : mergedOfField($0) }
    }

    private static func mergedOfField(_ steps: [UndoStep]) -> [UndoStep] {
        guard let first = steps.first, let last = steps.last else { return [] }
        let field = first.field
        switch (first.action, last.action) {
        case (.write(let before, let was), .write(let after, _)):
            let trace = Trace(dot: after.dot, over: before.over)
            return [UndoStep(field: field, action: .write(trace, was: was))]
        case (.components, _):
            return [UndoStep(field: field, action: .components(mergedComponents(steps)))]
        case (.tags, _):
            return mergedTags(steps).map { [UndoStep(field: field, action: $0)] } ?? steps
        case (.assign, _), (.increment, _):
            return mergedCounts(steps).map { UndoStep(field: field, action: $0) }
        default: return steps
        }
    }

    private static func mergedComponents(_ steps: [UndoStep]) -> [Component] {
        var places: [String: Int] = [:]
        var merged: [Component] = []
        for case .components(let rows) in steps.map(\.action) {
            for row in rows {
                if let place = places[row.id] {
                    merged[place].trace.dot = row.trace.dot
                } else {
                    places[row.id] = merged.count
                    merged.append(row)
                }
            }
        }
        return merged
    }

    private static func mergedTags(_ steps: [UndoStep]) -> Action? {
        guard case .tags(_, _, _, let wasSet)? = steps.first?.action,
            case .tags(let last, _, _, _)? = steps.last?.action
        else { return nil }
        var order: [JSON] = []
        var presence: [JSON: (before: Bool, after: Bool)] = [:]
        func note(_ tags: [JSON], isAdded: Bool) {
            for tag in tags {
                if presence[tag] == nil {
                    order.append(tag)
                    presence[tag] = (!isAdded, isAdded)
                } else {
                    presence[tag]?.after = isAdded
                }
            }
        }
        var own: [Dot] = []
        var over: [Dot] = []
        for case .tags(let trace, let added, let removed, _) in steps.map(\.action) {
            note(added, isAdded: true)
            note(removed, isAdded: false)
            own += trace.others + [trace.dot]
            over += trace.over
        }
        let isOwn = Set(own)
        own.removeAll { $0 == last.dot }
        over.removeAll { isOwn.contains($0) }
        return .tags(
            Trace(dot: last.dot, over: over.sortedDistinct(), others: own.sortedDistinct()),
            added: order.filter { presence[$0].map { !$0.before && $0.after } ?? false },
            removed: order.filter { presence[$0].map { $0.before && !$0.after } ?? false },
            wasSet: wasSet)
    }

    /// At most three steps: the increments before the first set, all sets as one, and the
    /// increments after the last.
    private static func mergedCounts(_ steps: [UndoStep]) -> [Action] {
        var merged: [Action] = []
        for step in steps {
            // The second of two sets removes the increments between them.
            if case .assign = step.action, merged.count > 1, case .increment? = merged.last {
                merged.removeLast()
            }
            if let one = merged.last.flatMap({ mergedCounts($0, step.action) }) {
                merged[merged.count - 1] = one
            } else {
                merged.append(step.action)
            }
        }
        return merged
    }

    /// Two steps of a counter as one; `nil` if they cannot be merged.
    private static func mergedCounts(_ first: Action, _ second: Action) -> Action? {
        switch (first, second) {
        case (.increment(let sum, let base), .increment(let more, let over)) where base == over:
            sum.adding(more).map { .increment($0, base: base) }
        case (.assign(let first, let was, _), .assign(let trace, _, let to)):
            .assign(Trace(dot: trace.dot, over: first.over), was: was, to: to)
        default: nil
        }
    }
}
