// Controls that only show values: gauges and texts.

internal import SyncCore

/// A view that shows a value within a range. Programs set it, people only read it.
public struct Gauge<Value: NumberValue>: PrimitiveView {
    private let value: Binding<Value>
    private let bounds: ClosedRange<Value>?
    private let parts: LabelParts
    private let current: LabelParts?
    private let minimum: LabelParts?
    private let maximum: LabelParts?
    private var colors: [(from: Value, color: Color)] = []

    private init(
        _ value: Binding<Value>, _ bounds: ClosedRange<Value>?, _ parts: LabelParts,
        _ current: LabelParts? = nil, _ minimum: LabelParts? = nil, _ maximum: LabelParts? = nil
    ) {
        self.value = value
        self.bounds = bounds
        self.parts = parts
        self.current = current
        self.minimum = minimum
        self.maximum = maximum
    }

    /// A gauge from 0 to 1 unless a range is given, labelled by a string.
    public init(_ title: String, value: Binding<Value>, in bounds: ClosedRange<Value>? = nil) {
        self.init(value, bounds, LabelParts(title))
    }

    /// A gauge with a label of views.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>? = nil,
        @ViewBuilder label: () -> some View
    ) {
        self.init(value, bounds, LabelParts(label()))
    }

    /// A gauge with its own text for the value.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>? = nil,
        @ViewBuilder label: () -> some View, @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(value, bounds, LabelParts(label()), LabelParts(currentValueLabel()))
    }

    /// A gauge with its own texts for the value and the ends.
    public init(
        value: Binding<Value>, in bounds: ClosedRange<Value>? = nil,
        @ViewBuilder label: () -> some View, @ViewBuilder currentValueLabel: () -> some View,
        @ViewBuilder minimumValueLabel: () -> some View,
        @ViewBuilder maximumValueLabel: () -> some View
    ) {
        self.init(
            value, bounds, LabelParts(label()), LabelParts(currentValueLabel()),
            LabelParts(minimumValueLabel()), LabelParts(maximumValueLabel()))
    }

    /// The gauge in another colour from a value on.
    public func tint(_ color: Color, from value: Value) -> Self {
        var copy = self
        copy.colors.append((value, color))
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.gauge, parts)
        control.binding = value.field
        control.set("min", bounds?.lowerBound.fieldValue)
        control.set("max", bounds?.upperBound.fieldValue)
        control.set("currentValueLabel", current?.template(&form))
        control.set("minLabel", minimum?.template(&form))
        control.set("maxLabel", maximum?.template(&form))
        if !colors.isEmpty {
            let thresholds = colors.map { threshold -> JSON in
                ["from": threshold.from.fieldValue, "tint": .string(threshold.color.text)]
            }
            control.set("thresholds", .array(thresholds))
        }
        form.add(control, environment)
    }
}

/// A line that shows values of the form: every terminal fills it in.
public struct LabeledContent: PrimitiveView {
    private let parts: LabelParts
    private let content: LabelParts

    /// A value under a title.
    public init<Value>(_ title: String, value: Binding<Value>) {
        parts = LabelParts(title)
        content = LabelParts(Text("\(value)"))
    }

    /// Words under a title.
    public init(_ title: String, value: String) {
        parts = LabelParts(title)
        content = LabelParts(Text(verbatim: value))
    }

    /// A text under a title.
    public init(_ title: String, @ViewBuilder content: () -> some View) {
        parts = LabelParts(title)
        self.content = LabelParts(content())
    }

    /// A text with a label of views.
    public init(
        @ViewBuilder content: () -> some View, @ViewBuilder label: () -> some View
    ) {
        parts = LabelParts(label())
        self.content = LabelParts(content())
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        var control = ControlDraft(.label, parts)
        control.set("text", content.template(&form) ?? "")
        form.add(control, environment)
    }
}
