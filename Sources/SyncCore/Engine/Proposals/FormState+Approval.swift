// Whose approval an edit of a field needs, for `state.explain`.

extension FormState {
    /// The guards that refuse every change of a field, and those that refuse some values: both with
    /// the control that is guarded.
    func approvals(
        of index: Int
    ) -> (always: [Explanation.Refusal], forSome: [Explanation.Refusal]) {
        if definition.guards.isEmpty { return ([], []) }
        let targets = definition.targets[index]
        let judge = ConditionEvaluator(definition) { self.value($0) }
        var (always, forSome): ([Explanation.Refusal], [Explanation.Refusal]) = ([], [])
        for place in definition.guards(concerning: index) {
            guard let rule = definition.controls[place].approval else { continue }
            var refusal = Explanation.Refusal(.approval, field: definition.controls[place].id)
            let principals = rule.from.principals
            refusal.only = principals.prefix(Engine.namedPrincipalsMax).map(\.description)
            refusal.more = principals.count - refusal.only.count
            refusal.count = Int64(rule.count)
            if definition.isDecided(of: place, byChanging: index) {
                let holds = rule.when.map(judge.holds) ?? true
                // A control with several sources may change only the others.
                if holds, targets.count == 1 {
                    always.append(refusal)
                    continue
                }
                guard holds || mayApply(place, rule) else { continue }
            }
            guard forSome.count < Self.approvalsMax else { break }
            forSome.append(refusal)
        }
        return (always, forSome)
    }

    /// Whether the end of a lease can make a guard apply.
    private func mayApply(_ index: Int, _ rule: ApprovalRule) -> Bool {
        rule.references.contains { other in
            definition.targets[other].contains { cells[$0].content.leases != nil }
        }
    }

    /// The most guards that an explanation lists.
    private static var approvalsMax: Int { 16 }
}
