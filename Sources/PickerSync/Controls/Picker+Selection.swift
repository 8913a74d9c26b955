// The initializers of a picker: every family that SwiftUI's page on Picker lists, with a selection
// or with a collection of bindings, with or without a label of the current value.

extension Picker {
    /// A picker over a property, labelled by a string.
    public init(
        _ title: String, selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>
    ) {
        self.init(LabelParts(title), [selection], false, content(), nil)
    }

    /// A picker over a property, labelled by a string with a character as its symbol.
    public init(
        _ title: String, image: Symbol, selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>
    ) {
        self.init(LabelParts(title, image), [selection], false, content(), nil)
    }

    /// A picker over a property, labelled by a string with the character that is most similar to a
    /// symbol of SwiftUI.
    public init(
        _ title: String, systemImage: String, selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>
    ) {
        self.init(
            LabelParts(title, Symbol(systemName: systemImage)), [selection], false, content(), nil)
    }

    /// A picker over a property with a label of views, the second text its subtitle.
    public init(
        selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder label: () -> some View
    ) {
        self.init(LabelParts(label()), [selection], false, content(), nil)
    }

    /// A picker over a property, labelled by a string, with its own text for the value.
    public init(
        _ title: String, selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(LabelParts(title), [selection], false, content(), LabelParts(currentValueLabel()))
    }

    /// A picker over a property, labelled by a string with a character as its symbol, with its own
    /// text for the value.
    public init(
        _ title: String, image: Symbol, selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(
            LabelParts(title, image), [selection], false, content(), LabelParts(currentValueLabel())
        )
    }

    /// A picker over a property, labelled by a string with the character that is most similar to a
    /// symbol of SwiftUI, with its own text for the value.
    public init(
        _ title: String, systemImage: String, selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(
            LabelParts(title, Symbol(systemName: systemImage)), [selection], false, content(),
            LabelParts(currentValueLabel()))
    }

    /// A picker over a property with a label of views, the second text its subtitle, with its own
    /// text for the value.
    public init(
        selection: Binding<SelectionValue>,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>,
        @ViewBuilder label: () -> some View,
        @ViewBuilder currentValueLabel: () -> some View
    ) {
        self.init(
            LabelParts(label()), [selection], false, content(), LabelParts(currentValueLabel()))
    }

    /// A picker with a label that comes before its options.
    @available(*, deprecated, renamed: "init(selection:content:label:)")
    public init(
        selection: Binding<SelectionValue>, label: some View,
        @PickerContentBuilder<SelectionValue.Tag> content: () -> PickerOptions<SelectionValue.Tag>
    ) {
        self.init(LabelParts(label), [selection], false, content(), nil)
    }
}
