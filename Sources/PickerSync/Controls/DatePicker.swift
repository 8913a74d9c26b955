// The date picker: a day, a time, both, a month or a span, by the type of its selection.

internal import SyncCore

/// A control for selecting a date. The type of the selection says which parts (``DateSelection``).
public struct DatePicker<Value: DateSelection>: PrimitiveView {
    /// The parts of a date.
    public typealias Components = DatePickerComponents

    private let selection: Binding<Value>
    private let minimum: Value.Moment?
    private let maximum: Value.Moment?
    private let displayedComponents: DatePickerComponents
    private let parts: LabelParts
    private var minuteInterval: Int?
    private var zone: String?

    private init(
        _ selection: Binding<Value>, _ minimum: Value.Moment?, _ maximum: Value.Moment?,
        _ displayedComponents: DatePickerComponents, _ parts: LabelParts
    ) {
        self.selection = selection
        self.minimum = minimum
        self.maximum = maximum
        self.displayedComponents = displayedComponents
        self.parts = parts
    }

    /// A date picker for any date, labelled by a string.
    public init(
        _ title: String, selection: Binding<Value>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents
    ) {
        self.init(selection, nil, nil, displayedComponents, LabelParts(title))
    }

    /// A date picker for a range of dates, labelled by a string.
    public init(
        _ title: String, selection: Binding<Value>, in range: ClosedRange<Value.Moment>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents
    ) {
        self.init(
            selection, range.lowerBound, range.upperBound, displayedComponents, LabelParts(title))
    }

    /// A date picker for dates from one on, labelled by a string.
    public init(
        _ title: String, selection: Binding<Value>, in range: PartialRangeFrom<Value.Moment>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents
    ) {
        self.init(selection, range.lowerBound, nil, displayedComponents, LabelParts(title))
    }

    /// A date picker for dates up to one, labelled by a string.
    public init(
        _ title: String, selection: Binding<Value>, in range: PartialRangeThrough<Value.Moment>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents
    ) {
        self.init(selection, nil, range.upperBound, displayedComponents, LabelParts(title))
    }

    /// A date picker for any date with a label of views, the second text its subtitle.
    public init(
        selection: Binding<Value>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents,
        @ViewBuilder label: () -> some View
    ) {
        self.init(selection, nil, nil, displayedComponents, LabelParts(label()))
    }

    /// A date picker for a range of dates with a label of views, the second text its subtitle.
    public init(
        selection: Binding<Value>, in range: ClosedRange<Value.Moment>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents,
        @ViewBuilder label: () -> some View
    ) {
        self.init(
            selection, range.lowerBound, range.upperBound, displayedComponents,
            LabelParts(label()))
    }

    /// A date picker for dates from one on with a label of views, the second text its subtitle.
    public init(
        selection: Binding<Value>, in range: PartialRangeFrom<Value.Moment>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents,
        @ViewBuilder label: () -> some View
    ) {
        self.init(selection, range.lowerBound, nil, displayedComponents, LabelParts(label()))
    }

    /// A date picker for dates up to one with a label of views, the second text its subtitle.
    public init(
        selection: Binding<Value>, in range: PartialRangeThrough<Value.Moment>,
        displayedComponents: DatePickerComponents = Value.Moment.displayedComponents,
        @ViewBuilder label: () -> some View
    ) {
        self.init(selection, nil, range.upperBound, displayedComponents, LabelParts(label()))
    }

    /// The picker with minutes in steps; the step divides 60.
    public func minuteInterval(_ minutes: Int) -> Self {
        var copy = self
        copy.minuteInterval = minutes
        return copy
    }

    /// The picker with the name of a zone beside it, such as `Europe/Berlin`; nothing is converted.
    public func zone(_ name: String) -> Self {
        var copy = self
        copy.zone = name
        return copy
    }

    func lower(into form: inout FormLowering, _ environment: ViewEnvironment) {
        if displayedComponents != Value.Moment.displayedComponents {
            form.issue(
                "the displayed components are not those of \(Value.Moment.self)",
                expected: "a selection of the type that has them")
        }
        var control = ControlDraft(.date, parts)
        control.binding = selection.field
        control.set("mode", .string(Value.Moment.modeName))
        control.set("min", minimum?.fieldValue)
        control.set("max", maximum?.fieldValue)
        control.set("minuteInterval", minuteInterval.map { .integer($0) })
        control.set("zone", zone.map { .string($0) })
        form.add(control, environment)
    }
}
