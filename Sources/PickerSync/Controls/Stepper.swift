// The stepper: up and down by a step.

internal import SyncCore

/// A control that performs increment and decrement actions.
///
/// Two people's increments add up, whoever saw what; a set by number drops those that it had seen.
public struct Stepper<Value: NumberValue>: PrimitiveView {
    private let value: Binding<Value>
    private let bounds: ClosedRange<Value>?
    private let step: Value?
    private let parts: LabelParts
    private let onEditingChanged: (@Sendable (Bool) -> Void)?
    private var isWrapping = false
    private var shown: Phrase?

    private init(
        _ value: Binding<Value>, _ bounds: ClosedRange<Value>?, _ step: Value?, _ parts: LabelParts,
        _ onEditingChanged: (@Sendable (Bool) -> Void)?
    ) {
        self.value = value
        self.bounds = bounds
        self.step = step
        self.parts = parts
        self.onEditingChanged = onEditingChanged
    }

    /// A stepper labelled by a string, by ones unless a step is given.
    ///
    /// - Parameters:
    ///   - title: what stands beside it.
    ///   - value: the property.
    ///   - step: how much one action adds or takes.
    ///   - onEditingChanged: told whether anybody has it in their hand.
    public init(
        _ title: String, value: Binding<Value>, step: Value? = nil,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(value, nil, step, LabelParts(title), onEditingChanged)
    }

    /// A stepper over a range, labelled by a string.
    public init(
        _ title: String, value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(value, bounds, step, LabelParts(title), onEditingChanged)
    }

    /// A stepper with a label of views, the second text its subtitle.
    public init(
        value: Binding<Value>, step: Value? = nil, @ViewBuilder label: () -> some View,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(value, nil, step, LabelParts(label()), onEditingChanged)
    }

    /// A stepper over a range with a label of views, the second text its subtitle.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        @ViewBuilder label: () -> some View,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(value, bounds, step, LabelParts(label()), onEditingChanged)
    }

    /// The stepper that goes on at the other end of its range, as SwiftUI's page on Stepper wraps
    /// by hand.
    public func wraps(_ isWrapping: Bool = true) -> Self {
        var copy = self
        copy.isWrapping = isWrapping
        return copy
    }

    /// The stepper with its value shown in words: `Text("\($count) scoops")`.
    public func format(_ text: Text) -> Self {
        var copy = self
        copy.shown = text.phrase
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.stepper, parts)
        control.binding = value.field
        control.set("min", bounds?.lowerBound.fieldValue)
        control.set("max", bounds?.upperBound.fieldValue)
        control.set("step", step?.fieldValue)
        if isWrapping { control.set("wraps", true) }
        control.set("format", shown.map { .string($0.template) })
        if let onEditingChanged {
            control.listeners.append { FieldListener(field: $0, kind: .editing(onEditingChanged)) }
        }
        form.add(control, environment)
    }
}
