// The stepper: one step up or down, of a number or with two actions.

internal import SyncCore

/// A control that performs increment and decrement actions.
///
/// Concurrent increments add up. Setting a number replaces the increments that its author had seen.
public struct Stepper<Value: NumberValue>: PrimitiveView {
    /// `nil` where two actions are the purpose.
    private let value: Binding<Value>?
    private let bounds: ClosedRange<Value>?
    private let step: Value?
    private let parts: LabelParts
    private let onEditingChanged: (@Sendable (Bool) -> Void)?
    private var isWrapping = false
    private var shown: Phrase?
    private var actions: StepperActions?

    private init(
        _ value: Binding<Value>?, _ bounds: ClosedRange<Value>?, _ step: Value?,
        _ parts: LabelParts,
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
    ///   - title: the label beside it.
    ///   - value: the property.
    ///   - step: the amount of one step.
    ///   - onEditingChanged: called with whether anybody is editing it.
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

    /// A stepper with a label of views, the second text its subtitle. A text that names values is
    /// shown between the buttons.
    public init(
        value: Binding<Value>, step: Value? = nil, @ViewBuilder label: () -> some View,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        var parts = LabelParts(label())
        let shown = parts.takeValues()
        self.init(value, nil, step, parts, onEditingChanged)
        self.shown = shown
    }

    /// A stepper over a range with a label of views, the second text its subtitle. A text that
    /// names values is shown between the buttons.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        @ViewBuilder label: () -> some View,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        var parts = LabelParts(label())
        let shown = parts.takeValues()
        self.init(value, bounds, step, parts, onEditingChanged)
        self.shown = shown
    }

    /// A stepper for a range labelled by a string, with its value shown in words:
    /// `format: Text("\($count) scoops")`.
    public init(
        _ title: String, value: Binding<Value>, in bounds: ClosedRange<Value>,
        step: Value? = nil, format: Text
    ) {
        self.init(value, bounds, step, LabelParts(title), nil)
        shown = format.phrase
    }

    /// The stepper that wraps from one end of its range to the other.
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
        control.binding = value?.field
        control.set("min", bounds?.lowerBound.fieldValue)
        control.set("max", bounds?.upperBound.fieldValue)
        control.set("step", step?.fieldValue)
        if isWrapping { control.set("wraps", true) }
        control.set("format", shown.map { .string($0.template) })
        if let actions {
            if actions.onIncrement == nil { control.set("max", 0) }
            if actions.onDecrement == nil { control.set("min", 0) }
            control.listeners.append { id in
                FieldListener(field: id, kind: .change { actions.changed(from: $0, to: $1) })
            }
        }
        if let onEditingChanged {
            control.listeners.append { FieldListener(field: $0, kind: .editing(onEditingChanged)) }
        }
        form.add(control, environment)
    }
}

extension Stepper where Value == Int {
    /// A stepper that performs actions instead of changing a number, with a label of views.
    ///
    ///     Stepper {
    ///         Text("Color: \($color)")
    ///     } onIncrement: {
    ///         $color.next(wraps: true)
    ///     } onDecrement: {
    ///         $color.previous(wraps: true)
    ///     }
    ///
    /// The actions run in the program that declared the stepper, once for each step of any user and
    /// in order; for one change, such as a typed number, at most a hundred times. In the form it is
    /// a counter, so concurrent steps add up. Between the buttons are the values that the label
    /// names, or the counter.
    ///
    /// - Parameters:
    ///   - label: the label beside it; a second text is its subtitle.
    ///   - onIncrement: called for a step up; `nil` if the stepper only goes down.
    ///   - onDecrement: called for a step down; `nil` if the stepper only goes up.
    ///   - onEditingChanged: called with whether anybody is editing it.
    public init(
        @ViewBuilder label: () -> some View, onIncrement: (@Sendable () -> Void)?,
        onDecrement: (@Sendable () -> Void)?, onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        var parts = LabelParts(label())
        let shown = parts.takeValues()
        self.init(nil, nil, nil, parts, onEditingChanged)
        self.shown = shown
        actions = StepperActions(onIncrement: onIncrement, onDecrement: onDecrement)
    }

    /// A stepper that performs actions instead of changing a number, labelled by a string.
    public init(
        _ title: String, onIncrement: (@Sendable () -> Void)?,
        onDecrement: (@Sendable () -> Void)?, onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(nil, nil, nil, LabelParts(title), onEditingChanged)
        actions = StepperActions(onIncrement: onIncrement, onDecrement: onDecrement)
    }
}

/// What a stepper without a number does.
private struct StepperActions: Sendable {
    /// The most steps of one change for which the actions run.
    static let stepsMax = 100

    let onIncrement: (@Sendable () -> Void)?
    let onDecrement: (@Sendable () -> Void)?

    func changed(from old: FieldState?, to new: FieldState) {
        let before = old.flatMap { Int(field: $0) } ?? 0
        guard let after = Int(field: new), after != before else { return }
        let action = after > before ? onIncrement : onDecrement
        let (distance, isFar) = after.subtractingReportingOverflow(before)
        let steps = isFar ? Self.stepsMax : Int(min(distance.magnitude, UInt(Self.stepsMax)))
        for _ in 0..<steps { action?() }
    }
}
