// When a control is shown or enabled.

/// A condition over the values of other controls.
public indirect enum Condition: Hashable, Sendable {
    /// No required value is missing.
    case complete
    /// All are true. An object with several keys means the same.
    case all([Condition])
    case any([Condition])
    /// None is true.
    case none([Condition])
    /// All comparisons with one value are true.
    case field(Operand, [Comparison])

    /// The compared value.
    public struct Operand: Hashable, Sendable {
        public var field: Int
        /// The component of wheels, written `id.component`.
        public var component: Int?
    }

    /// One comparison. Mixed, invalid and secure values satisfy only `not`.
    public enum Comparison: Hashable, Sendable {
        /// Equal; for a picker with several tags, it contains the tag.
        case equals(JSON)
        case isIn([JSON])
        case not(JSON)
        case atLeast(JSON)
        case atMost(JSON)
    }

    /// The controls in the condition, ascending and distinct, not counting `complete`.
    public var references: [Int] {
        var found: [Int] = []
        collect(into: &found)
        return found.sortedDistinct()
    }

    /// Whether the condition contains `complete`.
    public var asksForCompletion: Bool {
        switch self {
        case .complete: true
        case .all(let list), .any(let list), .none(let list):
            list.contains { $0.asksForCompletion }
        case .field: false
        }
    }

    private func collect(into found: inout [Int]) {
        switch self {
        case .complete: break
        case .all(let list), .any(let list), .none(let list):
            for condition in list { condition.collect(into: &found) }
        case .field(let operand, _): found.append(operand.field)
        }
    }
}

extension FormDefinition {
    /// Whether the daemon accepts edits of a control: neither the control nor its section is
    /// disabled, and `enabledWhen` is true. A binding has only its own condition, as in SwiftUI.
    public func isEnabled(_ control: Int, values: (Int) -> JSON) -> Bool {
        withoutActuallyEscaping(values) { ConditionEvaluator(self, values: $0).isEnabled(control) }
    }

    /// Whether `isEnabled` can be false: a check without any values.
    func mayBeDisabled(_ control: Int) -> Bool {
        controls[control].isDisabled || controls[control].enabledWhen != nil
    }

    /// Whether an edit of a control needs a message, by its own rule or that of a control that
    /// stores its value.
    public func needsMessage(_ control: Int) -> Bool {
        controls[control].needsMessage || targets[control].contains { controls[$0].needsMessage }
    }

    /// Whether a control is shown: it is not hidden, and its condition and that of its section are
    /// true.
    public func isVisible(_ control: Int, values: (Int) -> JSON) -> Bool {
        isShownInSection(control, values: values)
            && isShown(section: controls[control].section, values: values)
    }

    /// The part of `isVisible` that all controls of a section have in common.
    public func isShown(section: Int, values: (Int) -> JSON) -> Bool {
        guard let condition = sections[section].visibleWhen else { return true }
        return withoutActuallyEscaping(values) {
            ConditionEvaluator(self, values: $0).holds(condition)
        }
    }

    /// The rest of `isVisible`.
    public func isShownInSection(_ control: Int, values: (Int) -> JSON) -> Bool {
        if controls[control].isHidden { return false }
        guard let condition = controls[control].visibleWhen else { return true }
        return withoutActuallyEscaping(values) {
            ConditionEvaluator(self, values: $0).holds(condition)
        }
    }

    /// Equality of tags: strings by canonical equivalence, numbers by value. A list equals a list
    /// of the same tags, or a single tag that it contains.
    static func matches(_ value: JSON, _ other: JSON) -> Bool {
        switch (value, other) {
        case (.string(let left), .string(let right)): left == right
        case (.array(let left), .array(let right)):
            Set(left.map(TagKey.init)) == Set(right.map(TagKey.init))
        case (.array(let tags), let tag): tags.contains { matches($0, tag) }
        default: value == other
        }
    }
}

/// A key for tags with the same equality. Lists come from peers and may be long.
private enum TagKey: Hashable {
    case string(String)
    case other(JSON)

    init(_ tag: JSON) {
        if case .string(let text) = tag { self = .string(text) } else { self = .other(tag) }
    }
}

/// Evaluates conditions on values that do not change in the meantime.
///
/// The value of each control, and whether the form is complete, is computed once for all
/// conditions. So the cost is proportional to the size of the definition.
final class ConditionEvaluator {
    let definition: FormDefinition
    private let values: (Int) -> JSON
    private var shown: [Int: ShownValue] = [:]
    private var tags: [Int: Set<TagKey>] = [:]
    private lazy var isComplete = definition.required.allSatisfy { !shown(of: $0).isMissing }

    /// An evaluator for the current values; see ShownValue.swift.
    init(_ definition: FormDefinition, values: @escaping (Int) -> JSON) {
        self.definition = definition
        self.values = values
    }

    func isEnabled(_ control: Int) -> Bool {
        if definition.controls[control].isDisabled { return false }
        return definition.controls[control].enabledWhen.map(holds) ?? true
    }

    func holds(_ condition: Condition) -> Bool {
        switch condition {
        case .complete: return isComplete
        case .all(let list): return list.allSatisfy { holds($0) }
        case .any(let list): return list.contains { holds($0) }
        case .none(let list): return !list.contains { holds($0) }
        case .field(let operand, let comparisons):
            let value = comparable(operand)
            return comparisons.allSatisfy { holds($0, of: value, control: operand.field) }
        }
    }

    /// The required controls without a value.
    var missing: [Int] { definition.required.filter { shown(of: $0).isMissing } }

    /// The value that a condition looks at; `nil` for a secret.
    func present(_ operand: Condition.Operand) -> JSON? {
        if definition.types[operand.field] == .secure { return nil }
        let shown = shown(of: operand.field)
        return shown.isMixed || shown.isInvalid ? .null : comparable(operand) ?? .null
    }

    private func shown(of control: Int) -> ShownValue {
        if let known = shown[control] { return known }
        let value = definition.shown(control, values: values)
        shown[control] = value
        return value
    }

    /// The value to compare; `nil` if it is mixed, invalid or secure.
    private func comparable(_ operand: Condition.Operand) -> JSON? {
        let shown = shown(of: operand.field)
        switch definition.controls[operand.field].kind {
        case .secure: return nil
        case .wheels(let wheels):
            guard let component = operand.component, case .object(let rows) = shown.value,
                let tag = rows[wheels.components[component].id],
                wheels.rows(of: component, selection: rows)[tag] != nil
            else { return nil }
            return tag
        case .button: return shown.value["presses"] ?? 0
        default: return shown.isMixed || shown.isInvalid ? nil : shown.value
        }
    }

    private func holds(_ comparison: Condition.Comparison, of value: JSON?, control: Int) -> Bool {
        switch comparison {
        case .not(let other): return value.map { !matches($0, other, control) } ?? true
        case .equals(let other): return value.map { matches($0, other, control) } ?? false
        case .isIn(let others):
            guard let value else { return false }
            return others.contains { matches(value, $0, control) }
        case .atLeast(let bound):
            return value.flatMap { isOrdered(bound, $0, control: control) } ?? false
        case .atMost(let bound):
            return value.flatMap { isOrdered($0, bound, control: control) } ?? false
        }
    }

    /// Like `FormDefinition.matches`, but visits the tags of a list only once.
    private func matches(_ value: JSON, _ other: JSON, _ control: Int) -> Bool {
        guard case .array(let list) = value else { return FormDefinition.matches(value, other) }
        let known = tags[control] ?? Set(list.map(TagKey.init))
        tags[control] = known
        if case .array(let others) = other { return known == Set(others.map(TagKey.init)) }
        return known.contains(TagKey(other))
    }

    /// Whether `first` is less than or equal to `second`; `nil` if they have no order.
    private func isOrdered(_ first: JSON, _ second: JSON, control: Int) -> Bool? {
        if case .date(let date) = definition.controls[control].kind {
            guard let first = DateValue(first, mode: date.mode),
                let second = DateValue(second, mode: date.mode)
            else { return nil }
            return !second.isBefore(first)
        }
        guard let first = first.numberValue, let second = second.numberValue else { return nil }
        return first <= second
    }
}
