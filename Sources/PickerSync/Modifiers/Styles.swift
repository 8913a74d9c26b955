// Styles, by SwiftUI's names. Set on a container they reach every control of the kind inside.

internal import SyncCore

/// How pickers look.
public enum PickerStyle: String, Hashable, Sendable {
    /// What suits the number of options.
    case automatic
    /// Each option in a line of its own.
    case inline
    /// A menu that opens.
    case menu
    /// A page of its own.
    case navigationLink
    /// A row of pictures.
    case palette
    /// Round buttons.
    case radioGroup
    /// Segments side by side.
    case segmented
    /// A wheel that turns.
    case wheel
}

/// How toggles look.
public enum ToggleStyle: String, Hashable, Sendable {
    /// What suits the place.
    case automatic
    /// A switch.
    case `switch`
    /// A button that stays down.
    case button
    /// A box with a mark.
    case checkbox
}

/// How buttons look.
public enum ButtonStyle: String, Hashable, Sendable {
    /// What suits the place.
    case automatic
    /// A border.
    case bordered
    /// A border that stands out.
    case borderedProminent
    /// No border.
    case borderless
    /// The label alone.
    case plain
}

/// How date pickers look.
public enum DatePickerStyle: String, Hashable, Sendable {
    /// What suits the place.
    case automatic
    /// One line.
    case compact
    /// The calendar of a month.
    case graphical
    /// Wheels that turn.
    case wheel
}

/// How gauges look.
public enum GaugeStyle: String, Hashable, Sendable {
    /// What suits the place.
    case automatic
    /// A bar.
    case linear
    /// A ring.
    case circular
}

/// How a palette shows what is selected.
public enum PaletteSelectionEffect: Hashable, Sendable {
    /// As the theme does.
    case automatic
    /// Not at all: the options' own pictures do.
    case custom
    /// By a variant of the picture.
    case symbolVariant(SymbolVariants)

    var json: JSON {
        switch self {
        case .automatic: "automatic"
        case .custom: "custom"
        case .symbolVariant(let variant): ["symbolVariant": .string(variant.rawValue)]
        }
    }
}

/// A variant of a picture; those that a terminal can show.
public enum SymbolVariants: String, Hashable, Sendable, CaseIterable {
    /// Struck through.
    case slash
    /// Filled.
    case fill
    /// In a circle.
    case circle
    /// In a square.
    case square
}

extension View {
    /// The style of pickers.
    public func pickerStyle(_ style: PickerStyle) -> ModifiedView<Self> {
        setting(style: style.rawValue, of: "picker")
    }

    /// The style of toggles.
    public func toggleStyle(_ style: ToggleStyle) -> ModifiedView<Self> {
        setting(style: style.rawValue, of: "toggle")
    }

    /// The style of buttons.
    public func buttonStyle(_ style: ButtonStyle) -> ModifiedView<Self> {
        setting(style: style.rawValue, of: "button")
    }

    /// The style of date pickers.
    public func datePickerStyle(_ style: DatePickerStyle) -> ModifiedView<Self> {
        setting(style: style.rawValue, of: "date")
    }

    /// The style of gauges.
    public func gaugeStyle(_ style: GaugeStyle) -> ModifiedView<Self> {
        setting(style: style.rawValue, of: "gauge")
    }

    private func setting(style: String, of type: String) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.styles[type] = style })
    }

    /// How palettes show what is selected.
    public func paletteSelectionEffect(_ effect: PaletteSelectionEffect) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.selectionEffect = effect.json })
    }

    /// Radio groups with their buttons side by side.
    public func horizontalRadioGroupLayout() -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.isHorizontal = true })
    }

    /// The height of a row of wheels, in lines of the terminal.
    public func defaultWheelPickerItemHeight(_ height: Int) -> ModifiedView<Self> {
        ModifiedView(content: self, modify: { $0.wheelItemHeight = height })
    }
}
