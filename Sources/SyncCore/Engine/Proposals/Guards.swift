// Which guarded controls a transaction or another definition asks for approval of.
//
// A change is judged as a whole, after all its parts, so that no order of them goes round a guard.

extension Transaction {
    /// The guarded controls that these changes ask for approval of, ascending.
    func guardsMet() -> [Int] {
        if definition.guards.isEmpty || isIdle { return [] }
        var changed = Array(written)
        changed += rare?.leased ?? Few()
        let touched = definition.withDependents(Few(changed.sortedDistinct()))
        let concerned = definition.guards(concerning: touched)
        if concerned.isEmpty { return [] }
        let before = ConditionEvaluator(definition) { self.state.value($0) }
        let after = ConditionEvaluator(definition) { self.value($0) }
        let met = definition.guardsMet(touched: touched, before, after) { index in
            state.cells[index].content.differs(from: content(index), index, definition)
        }
        if met.count == concerned.count { return met }
        let outlook = LeaseOutlook(definition) { self.content($0) }
        let earlier = LeaseOutlook(definition) { self.state.cells[$0].content }
        return concerned.filter { index in
            met.contains(index) || outlook.exceeds(earlier, of: index, from: index)
        }
    }
}

extension FormState {
    /// The guarded controls whose guards apply once these contents of another host are joined,
    /// ascending.
    ///
    /// - Parameter touched: The controls that change, ascending.
    func guardsMet(joining contents: [Int: CellContent], _ touched: Few<Int>) -> [Int] {
        if definition.guards.isEmpty { return [] }
        let before = ConditionEvaluator(definition) { self.value($0) }
        let after = ConditionEvaluator(definition) { contents[$0]?.value ?? self.value($0) }
        return definition.guardsMet(touched: touched, before, after) { index in
            guard let next = contents[index] else { return false }
            return self.cells[index].content.differs(from: next, index, definition)
        }
    }
}

extension CellContent {
    /// Whether what is stored differs from a later content, in values and not only in who wrote
    /// them: the value, concurrent values beside it, or that the value lasts longer.
    fileprivate func differs(
        from later: CellContent, _ index: Int, _ definition: FormDefinition
    ) -> Bool {
        if value != later.value || isSet != later.isSet || lasts(shorterThan: later) {
            return true
        }
        guard mayHaveSiblings || later.mayHaveSiblings else { return false }
        func values(_ content: CellContent) -> Set<JSON> {
            Set(content.siblings(index, of: definition, listedOnly: false).map(\.value))
        }
        return values(self) != values(later)
    }

    private func lasts(shorterThan later: CellContent) -> Bool {
        guard let end = leases?.top.end else { return false }
        guard let next = later.leases?.top.end else { return true }
        if end == next { return false }
        guard let old = end.shown, let new = next.shown else { return true }
        return new > old
    }
}

extension FormState {
    /// The guarded controls that another definition asks for approval of, ascending: their guard is
    /// gone or another one, or their value, or a value in their `when`, is another one.
    func guardsMet(by next: FormState, _ plan: FormMigration) -> [Int] {
        let before = ConditionEvaluator(definition) { self.value($0) }
        let after = ConditionEvaluator(next.definition) { next.value($0) }
        let outlook = LeaseOutlook(next.definition) { next.cells[$0].content }
        let earlier = LeaseOutlook(definition) { self.cells[$0].content }
        var successors: [Int: Int] = [:]
        for (index, origin) in plan.origins.enumerated() {
            switch origin {
            case .carries(let source), .restarts(let source): successors[source] = index
            case .new: break
            }
        }
        return definition.guards.filter { index in
            guard let rule = definition.controls[index].approval,
                let successor = successors[index],
                let kept = next.definition.controls[successor].approval, kept.isSame(as: rule)
            else { return true }
            let held = rule.when.map(before.holds) ?? true
            let holds = kept.when.map(after.holds) ?? true
            let isSame =
                shown(index) == next.shown(successor)
                && cells[index].isSet == next.cells[successor].isSet
            if isSame ? holds && !held : holds || held { return true }
            return outlook.exceeds(earlier, of: successor, from: index)
        }
    }
}
