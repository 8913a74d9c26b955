// `FIELD=VALUE` as a question: what `wait` and `watch --until` wait for.

internal import PickerClient
internal import SyncCore

/// A condition on one field, typed by its control.
struct FieldCondition {
    enum Comparison { case equal, notEqual }

    let field: String
    let component: String?
    let comparison: Comparison
    let value: JSON

    /// Reads `flavor=vanilla`, `flavor!=vanilla`, `source.name=salary`.
    init(_ text: String, _ outline: FormOutline, _ session: Session) throws(Failure) {
        guard let (place, comparison, wanted) = Self.parts(text) else {
            throw .notAssignment([text], verb: "wait")
        }
        self.comparison = comparison
        let control = try session.field(place.field, in: outline)
        field = control.id
        component = place.component
        if let component {
            let whole = try ValueParser.component(wanted, component, of: control)
            let tag = whole[component] ?? .null
            let options = control.components.first { $0.id.isSameBytes(as: component) }?.options
            try PossibleValue.check(tag, among: options ?? [])
            value = tag
        } else if control.kind == .button {
            guard let presses = ValueParser.number(wanted) else {
                throw .notValue(wanted, of: control, "a number of presses")
            }
            value = .members(("presses", .number(presses)))
        } else {
            value = try PossibleValue(control, outline).check(
                try ValueParser.value(wanted, for: control), wanted)
        }
    }

    /// Field, comparison and value of a condition; `nil` where it has no `=` or no field.
    static func parts(_ text: String) -> (place: FieldName, Comparison, value: String)? {
        guard let equals = text.firstIndex(of: "=") else { return nil }
        var name = text[..<equals]
        let isNegated = name.last == "!"
        if isNegated { name.removeLast() }
        let place = FieldName(String(name))
        guard !place.field.isEmpty else { return nil }
        return (
            place, isNegated ? .notEqual : .equal, String(text[text.index(after: equals)...])
        )
    }

    init(
        field: String, component: String? = nil, _ comparison: Comparison, _ value: JSON
    ) {
        self.field = field
        self.component = component
        self.comparison = comparison
        self.value = value
    }

    /// The form that a condition names in front of its field.
    static func form(_ text: String) -> String? {
        FieldName(String(text.prefix { $0 != "=" })).form
    }

    /// Whether it holds. What is mixed, invalid or secret equals nothing, as in FORM.md.
    func holds(in fields: [NamedField]) -> Bool {
        guard let state = fields[field] else { return false }
        let isComparable = !state.isMixed && !state.isInvalid && state.isSecretSet == nil
        let present = component.map { state.value[$0] ?? .null } ?? state.value
        let isEqual = isComparable && Self.matches(present, value)
        return comparison == .equal ? isEqual : !isEqual
    }

    /// Lists are equal whatever their order: a multiple picker reads in option order.
    private static func matches(_ present: JSON, _ wanted: JSON) -> Bool {
        guard let present = present.arrayValue, let wanted = wanted.arrayValue else {
            return present == wanted
        }
        return present.count == wanted.count && present.allSatisfy { wanted.contains($0) }
    }
}

/// Conditions that must hold together, judged at each event in its turn.
///
/// The client's view is ahead of the events that are still to be taken: a value that stood for one
/// revision alone would be missed in it.
struct AwaitedConditions {
    private let conditions: [FieldCondition]
    private var fields: [NamedField] = []
    /// They held together at some revision that was seen.
    private(set) var hasHeld = false

    init(_ conditions: [FieldCondition]) {
        self.conditions = conditions
    }

    /// Takes in what an event tells of a form.
    mutating func saw(_ event: ClientEvent, _ form: String) {
        switch event {
        case .snapshot(let result, _) where result.form.isSameBytes(as: form):
            for field in result.fields ?? [] { take(field.id, field.state) }
        case .changed(let change) where change.form.isSameBytes(as: form):
            for field in change.changes { take(field.field, field.state) }
        case .formChanged(let change) where change.form.isSameBytes(as: form):
            guard case .defined(let content) = change.content else { return }
            for field in content.changes { take(field.field, field.state) }
        default: return
        }
        judge()
    }

    /// Takes in a snapshot that was read.
    mutating func saw(_ snapshot: StateSnapshot) {
        for field in snapshot.fields { take(field.id, field.state) }
        judge()
    }

    private mutating func take(_ id: String, _ state: FieldState) {
        guard conditions.contains(where: { $0.field.isSameBytes(as: id) }) else { return }
        if let place = fields.firstIndex(where: { $0.id.isSameBytes(as: id) }) {
            fields[place].state = state
        } else {
            fields.append(NamedField(id: id, state: state))
        }
    }

    private mutating func judge() {
        if !fields.isEmpty, conditions.allSatisfy({ $0.holds(in: fields) }) { hasHeld = true }
    }
}
