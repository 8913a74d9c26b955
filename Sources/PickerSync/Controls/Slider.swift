// The slider: a value from a bounded range.

internal import SyncCore

/// A control for selecting a value from a bounded linear range of values.
///
/// Bounds and step define the number of digits of the value: with a step of 0.1 the values are
/// exact tenths.
public struct Slider<Value: NumberValue>: PrimitiveView {
    private let value: Binding<Value>
    private let bounds: ClosedRange<Value>
    private let step: Value?
    private let parts: LabelParts
    private let minimum: LabelParts?
    private let maximum: LabelParts?
    private let onEditingChanged: (@Sendable (Bool) -> Void)?
    private var marks: JSON?
    private var shown: Phrase?

    private init(
        _ value: Binding<Value>, _ bounds: ClosedRange<Value>, _ step: Value?, _ parts: LabelParts,
        _ minimum: LabelParts? = nil, _ maximum: LabelParts? = nil,
        _ onEditingChanged: (@Sendable (Bool) -> Void)?
    ) {
        self.value = value
        self.bounds = bounds
        self.step = step
        self.parts = parts
        self.minimum = minimum
        self.maximum = maximum
        self.onEditingChanged = onEditingChanged
    }

    /// A slider without a label of its own.
    ///
    /// - Parameters:
    ///   - value: the property.
    ///   - bounds: the least and the greatest value.
    ///   - step: the distance of one value from the next.
    ///   - onEditingChanged: called with whether anybody is editing it.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(value, bounds, step, LabelParts(), nil, nil, onEditingChanged)
    }

    /// A slider labelled by a string.
    public init(
        _ title: String, value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(value, bounds, step, LabelParts(title), nil, nil, onEditingChanged)
    }

    /// A slider with a label of views, the second text its subtitle.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        @ViewBuilder label: () -> some View,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(value, bounds, step, LabelParts(label()), nil, nil, onEditingChanged)
    }

    /// A slider with labels of views, also at its ends.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        @ViewBuilder label: () -> some View, @ViewBuilder minimumValueLabel: () -> some View,
        @ViewBuilder maximumValueLabel: () -> some View,
        onEditingChanged: (@Sendable (Bool) -> Void)? = nil
    ) {
        self.init(
            value, bounds, step, LabelParts(label()), LabelParts(minimumValueLabel()),
            LabelParts(maximumValueLabel()), onEditingChanged)
    }

    /// The slider with a tick at each of those values.
    public func ticks(_ values: [Value]) -> Self {
        var copy = self
        copy.marks = .array(values.map(\.fieldValue))
        return copy
    }

    /// The slider with a tick at each step.
    public func ticks() -> Self {
        var copy = self
        copy.marks = true
        return copy
    }

    /// The slider with its value shown in words: `Text("\($traffic) %")`.
    public func format(_ text: Text) -> Self {
        var copy = self
        copy.shown = text.phrase
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.slider, parts)
        control.binding = value.field
        control.set("min", bounds.lowerBound.fieldValue)
        control.set("max", bounds.upperBound.fieldValue)
        control.set("step", step?.fieldValue)
        control.set("minLabel", minimum?.template(&form))
        control.set("maxLabel", maximum?.template(&form))
        control.set("ticks", marks)
        control.set("format", shown.map { .string($0.template) })
        if let onEditingChanged {
            control.listeners.append { FieldListener(field: $0, kind: .editing(onEditingChanged)) }
        }
        form.add(control, environment)
    }
}

extension Slider {
    /// A slider as older programs write it, its label at the end.
    @available(*, deprecated, renamed: "init(value:in:step:label:onEditingChanged:)")
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        onEditingChanged: @escaping @Sendable (Bool) -> Void, @ViewBuilder label: () -> some View
    ) {
        self.init(value, bounds, step, LabelParts(label()), nil, nil, onEditingChanged)
    }

    /// A slider as older programs write it, its labels at the end.
    @available(
        *, deprecated,
        renamed: "init(value:in:step:label:minimumValueLabel:maximumValueLabel:onEditingChanged:)"
    )
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>, step: Value? = nil,
        onEditingChanged: @escaping @Sendable (Bool) -> Void, minimumValueLabel: some View,
        maximumValueLabel: some View, @ViewBuilder label: () -> some View
    ) {
        self.init(
            value, bounds, step, LabelParts(label()), LabelParts(minimumValueLabel),
            LabelParts(maximumValueLabel), onEditingChanged)
    }
}
