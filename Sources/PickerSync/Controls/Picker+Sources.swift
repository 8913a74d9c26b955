// The initializers of a picker over several properties: it shows their common value, or mixed if
// they differ, and sets all of them in one revision.

extension Picker {
    /// A picker over several properties, labelled by a string.
    public init<Sources: RandomAccessCollection>(
        _ title: String, sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>
    ) {
        self.init(LabelParts(title), sources.map { $0[keyPath: selection] }, true, content(), nil)
    }

    /// A picker over several properties, labelled by a string with a character as its symbol.
    public init<Sources: RandomAccessCollection>(
        _ title: String, image: Symbol, sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>
    ) {
        self.init(
            LabelParts(title, image), sources.map { $0[keyPath: selection] }, true, content(), nil)
    }

    /// A picker over several properties, labelled by a string with the character that is most
    /// similar to a symbol of SwiftUI.
    public init<Sources: RandomAccessCollection>(
        _ title: String, systemImage: String, sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>
    ) {
        self.init(
            LabelParts(title, Symbol(systemName: systemImage)),
            sources.map { $0[keyPath: selection] }, true, content(), nil)
    }

    /// A picker over several properties with a label of views, the second text its subtitle.
    public init<Sources: RandomAccessCollection>(
        sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), sources.map { $0[keyPath: selection] }, true, content(), nil)
    }

    /// A picker over several properties, labelled by a string, with its own text for the value.
    public init<Sources: RandomAccessCollection>(
        _ title: String, sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(
            LabelParts(title), sources.map { $0[keyPath: selection] }, true, content(),
            LabelParts(currentValueLabel()))
    }

    /// A picker over several properties, labelled by a string with a character as its symbol, with
    /// its own text for the value.
    public init<Sources: RandomAccessCollection>(
        _ title: String, image: Symbol, sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(
            LabelParts(title, image), sources.map { $0[keyPath: selection] }, true, content(),
            LabelParts(currentValueLabel()))
    }

    /// A picker over several properties, labelled by a string with the character that is most
    /// similar to a symbol of SwiftUI, with its own text for the value.
    public init<Sources: RandomAccessCollection>(
        _ title: String, systemImage: String, sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(
            LabelParts(title, Symbol(systemName: systemImage)),
            sources.map { $0[keyPath: selection] }, true, content(), LabelParts(currentValueLabel())
        )
    }

    /// A picker over several properties with a label of views, the second text its subtitle, with
    /// its own text for the value.
    public init<Sources: RandomAccessCollection>(
        sources: Sources,
        selection: KeyPath<Sources.Element, Binding<SelectionValue>>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder label: () -> some View,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(
            LabelParts(label()), sources.map { $0[keyPath: selection] }, true, content(),
            LabelParts(currentValueLabel()))
    }
}
