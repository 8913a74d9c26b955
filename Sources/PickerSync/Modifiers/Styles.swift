// Styles, by SwiftUI's names. Set on a container they reach every control of the kind inside.

internal import SyncCore
public import TerminalUI

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
    /// The style of pickers: a built-in one, which every terminal shows, or one of your own, which
    /// programs show that have it.
    public func pickerStyle<S: PickerStyle>(_ style: S) -> ModifiedView<Self> {
        setting("picker", builtInName(of: style)) { $0.pickerStyle = AnyPickerStyle(style) }
    }

    /// The style of toggles.
    public func toggleStyle<S: ToggleStyle>(_ style: S) -> ModifiedView<Self> {
        setting("toggle", builtInName(of: style)) { $0.toggleStyle = AnyToggleStyle(style) }
    }

    /// The look of buttons; they act as buttons do.
    public func buttonStyle<S: ButtonStyle>(_ style: S) -> ModifiedView<Self> {
        setting("button", builtInName(of: style)) {
            $0.buttonStyle = AnyPrimitiveButtonStyle(DefaultButtonStyle(style))
        }
    }

    /// The look and the behaviour of buttons.
    public func buttonStyle<S: PrimitiveButtonStyle>(_ style: S) -> ModifiedView<Self> {
        setting("button", builtInName(of: style)) {
            $0.buttonStyle = AnyPrimitiveButtonStyle(style)
        }
    }

    /// The style of sliders.
    public func sliderStyle<S: SliderStyle>(_ style: S) -> ModifiedView<Self> {
        setting("slider", nil) { $0.sliderStyle = AnySliderStyle(style) }
    }

    /// The style of date pickers.
    public func datePickerStyle<S: DatePickerStyle>(_ style: S) -> ModifiedView<Self> {
        setting("date", builtInName(of: style)) { $0.datePickerStyle = AnyDatePickerStyle(style) }
    }

    /// The style of gauges.
    public func gaugeStyle<S: GaugeStyle>(_ style: S) -> ModifiedView<Self> {
        setting("gauge", builtInName(of: style)) { $0.gaugeStyle = AnyGaugeStyle(style) }
    }

    private func setting(
        _ type: String, _ name: String?,
        _ change: @escaping @Sendable (inout StyleEnvironment) -> Void
    ) -> ModifiedView<Self> {
        ModifiedView(
            content: self,
            modify: { environment in
                environment.styles[type] = name
                environment.styleChanges.append(change)
            })
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

/// The name that a form file has for a style; `nil` for one of a program's own.
private func builtInName(of style: Any) -> String? {
    switch style {
    case is AutomaticPickerStyle, is DefaultButtonStyle: "automatic"
    case is InlinePickerStyle: "inline"
    case is MenuPickerStyle: "menu"
    case is NavigationLinkPickerStyle: "navigationLink"
    case is PalettePickerStyle: "palette"
    case is RadioGroupPickerStyle: "radioGroup"
    case is SegmentedPickerStyle: "segmented"
    case is WheelPickerStyle, is WheelDatePickerStyle: "wheel"
    case is SwitchToggleStyle: "switch"
    case is ButtonToggleStyle: "button"
    case is CheckboxToggleStyle: "checkbox"
    case let style as BorderedButtonStyle: style.isProminent ? "borderedProminent" : "bordered"
    case let style as BorderlessButtonStyle: style.isPlain ? "plain" : "borderless"
    case is CompactDatePickerStyle: "compact"
    case is GraphicalDatePickerStyle: "graphical"
    case is LinearGaugeStyle: "linear"
    case is CircularGaugeStyle: "circular"
    default: nil
    }
}
