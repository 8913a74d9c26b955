// The meaning of `automatic`, and the texts of a control.

extension FormDefinition {
    /// The style of a control: `effectiveStyle`, with `automatic` resolved as SwiftUI's
    /// documentation recommends.
    ///
    /// A picker is segmented or a radio group for two to five options, a menu for more than five, a
    /// navigation link for more than twenty, and a palette if every option has a symbol.
    public func resolvedStyle(of index: Int) -> ControlStyle {
        let style = controls[index].effectiveStyle
        guard style == .automatic else { return style }
        switch controls[index].kind {
        case .picker(let picker):
            return .automatic(
                for: picker.options.options,
                isGrouped: picker.options.groups.contains { $0.title != nil },
                isMultiple: picker.isMultiple)
        case .toggle: return .switch
        case .date: return .compact
        case .gauge: return .linear
        case .button: return .bordered
        case .wheels, .slider, .stepper, .text, .secure, .label: return .automatic
        }
    }

    /// The text for a control's value, by its `format` or `currentValueLabel` if it has one; the
    /// text of a label.
    ///
    /// - Parameter shown: what readers see of the control, if that is known.
    public func displayText(
        of index: Int, _ shown: ShownValue? = nil, values: (Int) -> JSON
    ) -> String {
        if let template = controls[index].kind.template {
            return render(template, of: index, values: values)
        }
        return text(of: shown ?? self.shown(index, values: values), control: index)
    }
}

extension ControlStyle {
    /// The picker style for `automatic`, by number and kind of the options. An option for "no
    /// choice" is not counted.
    public static func automatic(
        for options: [PickerOption], isGrouped: Bool, isMultiple: Bool
    ) -> ControlStyle {
        if options.allSatisfy({ $0.symbol != nil }) { return .palette }
        if options.count > 20 { return .navigationLink }
        if options.count > 5 { return .menu }
        // A radio button looks like a single choice.
        if isMultiple || options.count == 1 { return .inline }
        // Segments are too narrow for long texts and for group titles.
        let characters = options.reduce(0) { $0 + $1.label.count }
        let isPlain = options.allSatisfy { $0.subtitle == nil } && !isGrouped
        return isPlain && characters <= segmentedCharactersMax ? .segmented : .radioGroup
    }

    /// The most characters of all labels together that fit in one line of a narrow terminal.
    private static let segmentedCharactersMax = 48
}
