// What a condition lacks.

extension ConditionEvaluator {
    /// What a condition that is false lacks: of each group, at least one comparison must become as
    /// the condition needs it. At most `unmetMax` comparisons; empty if the condition is true.
    func unmet(_ condition: Condition) -> [[Explanation.Comparison]] {
        var left = Self.unmetMax
        return groups(condition, &left)
    }

    /// Enough to explain any condition that a person reads.
    private static var unmetMax: Int { 64 }

    private func groups(
        _ condition: Condition, _ left: inout Int
    ) -> [[Explanation.Comparison]] {
        if left <= 0 || holds(condition) { return [] }
        switch condition {
        case .complete:
            return missing.prefix(left).map { index in
                left -= 1
                return [
                    Explanation.Comparison(
                        field: definition.controls[index].id, value: .null, comparison: "set",
                        operand: true)
                ]
            }
        case .all(let list): return list.flatMap { groups($0, &left) }
        case .any(let list): return [list.flatMap { groups($0, &left).flatMap(\.self) }]
        case .none(let list): return list.flatMap { negated($0, &left) }
        case .field(let operand, let comparisons):
            return comparisons.compactMap { comparison in
                let isMet = holds(.field(operand, [comparison]))
                return isMet ? nil : [fact(operand, comparison, isNegated: false, &left)]
            }
        }
    }

    /// What must change for a condition that is true to become false.
    private func negated(
        _ condition: Condition, _ left: inout Int
    ) -> [[Explanation.Comparison]] {
        if left <= 0 || !holds(condition) { return [] }
        switch condition {
        case .complete: return []
        case .all(let list): return [list.flatMap { negated($0, &left).flatMap(\.self) }]
        case .any(let list): return list.flatMap { negated($0, &left) }
        case .none(let list): return [list.flatMap { groups($0, &left).flatMap(\.self) }]
        case .field(let operand, let comparisons):
            return [comparisons.map { fact(operand, $0, isNegated: true, &left) }]
        }
    }

    private func fact(
        _ operand: Condition.Operand, _ comparison: Condition.Comparison, isNegated: Bool,
        _ left: inout Int
    ) -> Explanation.Comparison {
        left -= 1
        let (name, wanted) = comparison.json
        let control = definition.controls[operand.field]
        var component: String?
        if case .wheels(let wheels) = control.kind {
            component = operand.component.map { wheels.components[$0].id }
        }
        return Explanation.Comparison(
            field: control.id, component: component, value: present(operand), comparison: name,
            operand: wanted, isNegated: isNegated)
    }
}

extension Condition.Comparison {
    /// The member of the form file, and its value.
    fileprivate var json: (name: String, operand: JSON) {
        switch self {
        case .equals(let value): ("equals", value)
        case .isIn(let values): ("in", .array(values))
        case .not(let value): ("not", value)
        case .atLeast(let bound): ("atLeast", bound)
        case .atMost(let bound): ("atMost", bound)
        }
    }
}
