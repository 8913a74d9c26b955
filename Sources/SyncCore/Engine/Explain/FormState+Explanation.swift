// The facts about a field that the state of its form has, without history.

extension FormState {
    /// The explanation of a field as it is now, for the user `uid`.
    func explanation(of index: Int, form: String, for uid: UInt32) -> Explanation {
        var facts = Explanation(
            form: form, field: definition.controls[index].id,
            revision: Revision(clamping: revision))
        let field = field(index)
        facts.state = field
        facts.origin = origin(of: index, field)
        let cell = cells[index]
        if cell.revision > 0 {
            var change = Explanation.Change(revision: Revision(clamping: cell.revision))
            change.at = field.at
            change.by = cell.by?.wire
            facts.change = change
        }
        let targets = definition.targets[index]
        if targets.count == 1 {
            facts.policy = policy(of: targets[0])
            facts.concurrent = cells[targets[0]].content.concurrent(targets[0], of: definition)
        }
        facts.ends = Array(
            targets.lazy.flatMap { self.leases(of: $0, endedBy: uid) }.prefix(Self.partsMax))
        facts.dependsOn = definition.dependsOn(index)
        facts.dependents = definition.dependents(of: index)
        return facts
    }

    /// The most controls that an origin lists, and the most leases.
    private static var partsMax: Int { 16 }

    private func origin(of index: Int, _ field: FieldState) -> Explanation.Origin {
        switch definition.controls[index].storage {
        case .none: return Explanation.Origin(.label)
        case .own: return origin(ofOwn: index)
        case .binds(let root):
            var origin = Explanation.Origin(.bound)
            origin.fields = [part(root)]
            return origin
        case .sources(let roots):
            var origin = Explanation.Origin(.sources)
            origin.fields = roots.prefix(Self.partsMax).map(part)
            origin.more = roots.count - origin.fields.count
            return origin
        }
    }

    private func origin(ofOwn index: Int) -> Explanation.Origin {
        let content = cells[index].content
        if content.leases != nil { return Explanation.Origin(.lease) }
        guard content.isSet else { return Explanation.Origin(.initial) }
        switch content.store {
        case .presses: return Explanation.Origin(.pressed)
        case .counter(let counter):
            let policy = definition.controls[index].conflictPolicy
            let base = policy.current(counter.bases)
            guard counter.increments.contains(where: { $0.epoch == base?.dot && $0.sum != .zero })
            else { return Explanation.Origin(.set) }
            var origin = Explanation.Origin(.counted)
            origin.base = base.map { base in
                Sibling(
                    value: base.value.map(JSON.number) ?? definition.controls[index].defaultValue,
                    by: base.author.wire, at: Timestamp(milliseconds: base.stamp.milliseconds))
            }
            return origin
        default: return Explanation.Origin(.set)
        }
    }

    private func part(_ index: Int) -> Explanation.Part {
        let cell = cells[index]
        let isSecret = definition.types[index] == .secure
        return Explanation.Part(
            field: definition.controls[index].id,
            value: isSecret ? nil : shown(index).value, isSet: cell.isSet, by: cell.by?.wire,
            at: cell.by.map { _ in Timestamp(milliseconds: cell.at) })
    }

    /// The policy of a control whose store can have concurrent values.
    private func policy(of index: Int) -> ConflictPolicy? {
        switch cells[index].store {
        case .register, .components, .counter: definition.controls[index].conflictPolicy
        case .tags, .presses, .sealed, nil: nil
        }
    }

    /// The leases that a set by a user ends, the one in force first. With `leaseMax`, the set has a
    /// lease: it replaces the user's own and suspends the others.
    private func leases(of index: Int, endedBy uid: UInt32) -> [FieldLease] {
        let content = cells[index].content
        guard let stack = content.leases else { return [] }
        let suspends = definition.controls[index].leaseMax != nil
        return stack.leases.indices.reversed().compactMap { place in
            let lease = stack.leases[place]
            if suspends, lease.by.uid != uid { return nil }
            let isTop = place == stack.leases.count - 1
            return FieldLease(
                id: lease.id, until: lease.end.shown.map { Timestamp(milliseconds: $0) },
                by: lease.by.wire,
                then: isTop
                    ? content.valueAfterLease(index, of: definition)
                    : stack.value(beneath: Array(stack.leases[..<place])))
        }
    }
}

extension CellContent {
    /// The concurrent writes under each policy, those of the same value included.
    func concurrent(_ index: Int, of definition: FormDefinition) -> [Explanation.Siblings] {
        let policy = definition.controls[index].conflictPolicy
        let initial = definition.controls[index].defaultValue
        switch store {
        case .register(let register):
            return policy.explained(nil, register.siblings) {
                Sibling($0.stamp, $0.payload.author, $0.payload.value ?? initial)
            }
        case .components(let components):
            return components.components.flatMap { component in
                policy.explained(component.id, component.register.siblings) {
                    let tag = $0.payload.value ?? initial[component.id] ?? .null
                    return Sibling($0.stamp, $0.payload.author, tag)
                }
            }
        case .counter(let counter):
            return policy.explained(nil, counter.bases) {
                Sibling($0.stamp, $0.author, $0.value.map(JSON.number) ?? initial)
            }
        case .tags, .presses, .sealed, nil: return []
        }
    }
}

extension Sibling {
    fileprivate init(_ stamp: HybridTimestamp, _ author: Author, _ value: JSON) {
        self.init(
            value: value, by: author.wire, at: Timestamp(milliseconds: stamp.milliseconds))
    }
}

extension ConflictPolicy {
    /// The siblings with the rule that has chosen the current one; empty if there are no others.
    fileprivate func explained<S: Concurrent>(
        _ component: String?, _ siblings: [S], _ fact: (S) -> Sibling
    ) -> [Explanation.Siblings] {
        guard siblings.count > 1, let current = current(siblings) else { return [] }
        let others = others(siblings)
        var rule = Explanation.Siblings.Rule.latest
        switch self {
        case .latest, .ask: break
        case .first: rule = .earliest
        case .trueWins, .falseWins:
            if others.contains(where: { $0.flag != current.flag }) { rule = .flag }
        }
        var lead: Int64?
        if rule != .flag {
            let next = rule == .earliest ? others.last : others.first
            let (difference, isTooLong) = current.stamp.milliseconds
                .subtractingReportingOverflow(next?.stamp.milliseconds ?? 0)
            lead = isTooLong ? nil : (rule == .earliest ? -difference : difference)
        }
        return [
            Explanation.Siblings(
                component: component, rule: rule, lead: lead,
                values: ([current] + others).map(fact))
        ]
    }
}

// MARK: - Dependencies

extension FormDefinition {
    /// The controls that a control's value, label or conditions refer to.
    fileprivate func dependsOn(_ index: Int) -> Explanation.References {
        let control = controls[index]
        var found = Explanation.References()
        let stored: Explanation.Reference.Kind
        if case .binds = control.storage { stored = .binds } else { stored = .sources }
        add(control.storageRoots, stored, to: &found)
        add(
            (control.kind.template?.references ?? []).sortedDistinct().filter { $0 != index },
            .shows, to: &found)
        add(control.enabledWhen?.references ?? [], .enabledWhen, to: &found)
        add(shownBy(control), .visibleWhen, to: &found)
        return found
    }

    /// The controls whose value, label or conditions refer to a control.
    fileprivate func dependents(of index: Int) -> Explanation.References {
        var found = Explanation.References()
        for other in dependents[index] {
            let control = controls[other]
            switch control.storage {
            case .binds(let root) where root == index: add([other], .binds, to: &found)
            case .sources(let roots) where roots.contains(index):
                add([other], .sources, to: &found)
            default: add([other], .shows, to: &found)
            }
        }
        for other in conditionDependents[index] {
            if controls[other].enabledWhen?.references.contains(index) ?? false {
                add([other], .enabledWhen, to: &found)
            }
            if shownBy(controls[other]).contains(index) {
                add([other], .visibleWhen, to: &found)
            }
        }
        return found
    }

    private func shownBy(_ control: Control) -> [Int] {
        let own = control.visibleWhen?.references ?? []
        let ofSection = sections[control.section].visibleWhen?.references ?? []
        return (own + ofSection).sortedDistinct()
    }

    private func add(
        _ indexes: [Int], _ kind: Explanation.Reference.Kind,
        to references: inout Explanation.References
    ) {
        for index in indexes {
            guard references.listed.count < Explanation.References.countMax else {
                references.more += 1
                continue
            }
            references.listed.append(
                Explanation.Reference(field: controls[index].id, kind: kind))
        }
    }
}
