// `FIELD=VALUE` as a condition of `wait` and `watch --until`.

internal import PickerClient
internal import SyncCore

/// A condition on one field. The control determines the type of the value.
struct FieldCondition {
    enum Comparison { case equal, notEqual }

    let field: String
    let component: String?
    let comparison: Comparison
    let value: JSON

    /// Parses `flavor=vanilla`, `flavor!=vanilla`, `source.name=salary`.
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

    /// Field, comparison and value of a condition; `nil` if it has no `=` or no field.
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

    /// The form in front of a condition's field.
    static func form(_ text: String) -> String? {
        FieldName(String(text.prefix { $0 != "=" })).form
    }

    /// Whether it is true. A mixed, invalid or secret value equals nothing, as in FORM.md.
    func holds(in fields: [NamedField]) -> Bool {
        guard let state = fields[field] else { return false }
        let isComparable = !state.isMixed && !state.isInvalid && state.isSecretSet == nil
        let present = component.map { state.value[$0] ?? .null } ?? state.value
        let isEqual = isComparable && Self.matches(present, value)
        return comparison == .equal ? isEqual : !isEqual
    }

    /// The order of lists does not matter: the value of a multiple picker is in option order.
    private static func matches(_ present: JSON, _ wanted: JSON) -> Bool {
        guard let present = present.arrayValue, let wanted = wanted.arrayValue else {
            return present == wanted
        }
        return present.count == wanted.count && present.allSatisfy { wanted.contains($0) }
    }
}

/// Conditions that must be true at the same time, evaluated at each event in order.
///
/// The client's state may be newer than the current event, so a value of only one revision would be
/// missed there.
struct AwaitedConditions {
    private let conditions: [FieldCondition]
    private var fields: [NamedField] = []
    /// All conditions were true at some revision.
    private(set) var hasHeld = false

    init(_ conditions: [FieldCondition]) {
        self.conditions = conditions
    }

    /// Processes an event.
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

    /// Processes a snapshot.
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
