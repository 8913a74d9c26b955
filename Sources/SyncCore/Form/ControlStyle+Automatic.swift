// What `automatic` means, and a control's texts.

extension FormDefinition {
    /// The style that a control is shown in: `effectiveStyle`, with `automatic` resolved by the
    /// guidance of SwiftUI's documentation.
    ///
    /// A picker is segmented or a radio group for two to five options, a menu above five, a
    /// navigation link above twenty, and a palette where every option has a symbol.
    public func resolvedStyle(of index: Int) -> ControlStyle {
        let control = controls[index]
        guard control.effectiveStyle == .automatic else { return control.effectiveStyle }
        switch control.kind {
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

    /// The text that stands for a control's value, by its `format` or `currentValueLabel` where it
    /// has one; a label's own text.
    public func displayText(of index: Int, values: (Int) -> JSON) -> String {
        if let template = controls[index].templates.first {
            return render(template, of: index, values: values)
        }
        return text(of: shown(index, values: values), control: index)
    }
}

extension ControlStyle {
    /// The picker style that `automatic` stands for, by number and kind of the options; one that
    /// stands for no choice is not counted.
    public static func automatic(
        for options: [PickerOption], isGrouped: Bool, isMultiple: Bool
    ) -> ControlStyle {
        if options.allSatisfy({ $0.symbol != nil }) { return .palette }
        if options.count > 20 { return .navigationLink }
        if options.count > 5 { return .menu }
        // A radio button is one choice by its looks.
        if isMultiple || options.count == 1 { return .inline }
        // Segments have no room for much text, nor for titles of groups.
        let characters = options.reduce(0) { $0 + $1.label.count }
        let isPlain = options.allSatisfy { $0.subtitle == nil } && !isGrouped
        return isPlain && characters <= segmentedCharactersMax ? .segmented : .radioGroup
    }

    /// Characters of all labels together that still stand in one line of a narrow terminal.
    private static let segmentedCharactersMax = 48
}
