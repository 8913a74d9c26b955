// What the ends of leases can make of a guarded value.
//
// The end of a lease asks nobody. So a change is also judged by what lies beneath leases, else a
// guarded value could wait there for a `when` that an end makes true, or the other way round.

/// What the ends of leases alone can make of one state of a form.
final class LeaseOutlook {
    private let definition: FormDefinition
    private let contents: (Int) -> CellContent
    private lazy var leasedRequired = leased(definition.required)
    /// How many values may still be looked at. A form with many leases, each in the `when` of many
    /// guards, has more combinations than an edit may cost.
    private var valuesLeft = 20_000

    init(_ definition: FormDefinition, contents: @escaping (Int) -> CellContent) {
        self.definition = definition
        self.contents = contents
    }

    /// Whether a guarded control can come to have a value, where its `when` holds, that it could
    /// not have before, or that lasts longer; `origin` is its index in the earlier definition.
    func exceeds(_ before: LeaseOutlook, of index: Int, from origin: Int) -> Bool {
        guard let rule = definition.controls[index].approval,
            let earlier = before.definition.controls[origin].approval
        else { return false }
        let leased = deciding(index, rule)
        let leasedBefore = before.deciding(origin, earlier)
        if leased.isEmpty, leasedBefore.isEmpty { return false }
        guard let values = values(of: index, rule, leased),
            let known = before.values(of: origin, earlier, leasedBefore)
        else { return true }
        return values.contains { value, ends in
            guard let known = known[value] else { return true }
            return !ends.allSatisfy { end in known.contains { end.lasts(atMost: $0) } }
        }
    }

    private func leased(_ controls: [Int]) -> Set<Int> {
        Set(
            controls.lazy.flatMap { self.definition.targets[$0] }.filter {
                self.contents($0).leases != nil
            })
    }

    /// The controls with leases that decide whether a guard applies, and to what.
    private func deciding(_ index: Int, _ rule: ApprovalRule) -> Set<Int> {
        let named = leased(rule.references + [index])
        return rule.when?.asksForCompletion ?? false ? named.union(leasedRequired) : named
    }

    /// The values of a guarded control in all combinations of ends in which its guard applies, each
    /// with the ends of the leases that hold it (`nil`: no lease); `nil` if there are too many.
    private func values(
        of index: Int, _ rule: ApprovalRule, _ leased: Set<Int>
    ) -> [JSON: Set<Lease.End?>]? {
        let own = contents(index).outcomes(index, of: definition)
        let others = leased.filter { $0 != index }.map { other in
            (other, contents(other).outcomes(other, of: definition))
        }
        let isCompletion = rule.when?.asksForCompletion ?? false
        let each = 1 + rule.references.count + (isCompletion ? definition.required.count : 0)
        var cost = own.count * each
        for (_, outcomes) in others {
            cost *= outcomes.count
            if cost > valuesLeft { return nil }
        }
        valuesLeft -= cost
        var states: [[Int: JSON]] = [[:]]
        for (other, outcomes) in others {
            states = states.flatMap { state in
                outcomes.map { state.merging([other: $0.value]) { $1 } }
            }
        }
        var result: [JSON: Set<Lease.End?>] = [:]
        for state in states {
            for (value, end) in own where result[value]?.contains(end) != true {
                let judge = ConditionEvaluator(definition) { other in
                    other == index ? value : state[other] ?? self.contents(other).value
                }
                if rule.when.map(judge.holds) ?? true { result[value, default: []].insert(end) }
            }
        }
        return result
    }
}

extension Lease.End? {
    /// Whether a value with this end lasts no longer than one with the other. The end of a
    /// connection cannot be compared with a time.
    fileprivate func lasts(atMost other: Self) -> Bool {
        guard let other else { return true }
        guard let self else { return false }
        if self == other { return true }
        guard let end = self.shown, let known = other.shown else { return false }
        return end <= known
    }
}

extension CellContent {
    /// The values that a control has now and after ends of its leases, each with the lease's end.
    func outcomes(
        _ index: Int, of definition: FormDefinition
    ) -> [(value: JSON, end: Lease.End?)] {
        guard let leases else { return [(value, nil)] }
        let top = leases.top
        let initial = definition.controls[index].defaultValue
        if holds(top), !holdsOnly(top) {
            return [(value, top.end), (valueAfterLease(index, of: definition) ?? initial, nil)]
        }
        func restored(_ value: JSON?) -> JSON {
            definition.restored(value, increments(on: top), index) ?? initial
        }
        return [(value, top.end), (restored(leases.base), nil)]
            + leases.leases.dropLast().map { (restored($0.value), $0.end) }
    }
}
