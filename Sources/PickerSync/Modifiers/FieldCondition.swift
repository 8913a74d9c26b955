// When a control is enabled or visible: conditions on the values of the form.

internal import SyncCore

/// A condition on the values of a form. Every terminal evaluates it, and the daemon enforces it.
///
///     Slider("Traffic", value: $traffic, in: 0...100)
///         .disabled($maintenance == true)
///     Button("Start") { … }
///         .visible(when: $environment == .staging && $replicas >= 1)
public struct FieldCondition: Sendable {
    let json: JSON

    init(_ json: JSON) {
        self.json = json
    }

    /// All required values of the form are set.
    public static var complete: FieldCondition { FieldCondition("complete") }

    /// All of them hold.
    public static func all(_ conditions: [FieldCondition]) -> FieldCondition {
        conditions.count == 1
            ? conditions[0] : FieldCondition(["all": .array(conditions.map(\.json))])
    }

    /// At least one of them holds.
    public static func any(_ conditions: [FieldCondition]) -> FieldCondition {
        FieldCondition(["any": .array(conditions.map(\.json))])
    }

    /// None of them holds.
    public static func none(_ conditions: [FieldCondition]) -> FieldCondition {
        FieldCondition(["none": .array(conditions.map(\.json))])
    }

    /// Both hold.
    public static func && (left: FieldCondition, right: FieldCondition) -> FieldCondition {
        all([left, right])
    }

    /// At least one of them holds.
    public static func || (left: FieldCondition, right: FieldCondition) -> FieldCondition {
        any([left, right])
    }

    /// It does not hold.
    public static prefix func ! (condition: FieldCondition) -> FieldCondition {
        none([condition])
    }

    fileprivate init<Value>(_ binding: Binding<Value>, _ test: JSON) {
        self.init(.object(JSONObject([(binding.id ?? "?", test)])))
    }
}

extension Binding {
    /// It shows that value.
    public static func == (binding: Self, value: Value) -> FieldCondition {
        FieldCondition(binding, value.fieldValue)
    }

    /// It shows something else.
    public static func != (binding: Self, value: Value) -> FieldCondition {
        FieldCondition(binding, ["not": value.fieldValue])
    }

    /// It shows one of those values.
    public func isIn(_ values: [Value]) -> FieldCondition {
        FieldCondition(self, ["in": .array(values.map(\.fieldValue))])
    }
}

extension Binding where Value: NumberValue {
    /// It shows that number or more.
    public static func >= (binding: Self, value: Value) -> FieldCondition {
        FieldCondition(binding, ["atLeast": value.fieldValue])
    }

    /// It shows that number or less.
    public static func <= (binding: Self, value: Value) -> FieldCondition {
        FieldCondition(binding, ["atMost": value.fieldValue])
    }
}
