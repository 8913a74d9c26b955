// The extension points: a style is a function from a control's configuration to a block.
//
// The built-in styles use only these protocols. A type of control with only one look (text, secure,
// stepper, wheels, label) has no protocol: its view is a block.

public import SyncCore

/// What a style makes: a block, or something that a module above makes one of.
public protocol StyleBody {
    /// The block that is drawn.
    func styleBlock(in environment: StyleEnvironment) -> any Block
}

extension Block {
    /// A block has no style.
    public func styleBlock(in environment: StyleEnvironment) -> any Block { self }
}

/// How pickers look.
public protocol PickerStyle: Sendable {
    associatedtype Body: StyleBody
    typealias Configuration = PickerStyleConfiguration
    /// The picker as a block, its label included.
    func makeBody(configuration: Configuration) -> Body
}

/// How toggles look.
public protocol ToggleStyle: Sendable {
    associatedtype Body: StyleBody
    typealias Configuration = ToggleStyleConfiguration
    /// The toggle as a block, its label included.
    func makeBody(configuration: Configuration) -> Body
}

/// How buttons look; they act as buttons do.
public protocol ButtonStyle: Sendable {
    associatedtype Body: StyleBody
    typealias Configuration = ButtonStyleConfiguration
    /// The button as a block.
    func makeBody(configuration: Configuration) -> Body
}

/// How buttons look and act: when they trigger, and how they ask before they do.
public protocol PrimitiveButtonStyle: Sendable {
    associatedtype Body: StyleBody
    typealias Configuration = PrimitiveButtonStyleConfiguration
    /// The button as a block whose regions do what the button does.
    func makeBody(configuration: Configuration) -> Body
}

/// How sliders look.
public protocol SliderStyle: Sendable {
    associatedtype Body: StyleBody
    typealias Configuration = SliderStyleConfiguration
    /// The slider as a block, its label included.
    func makeBody(configuration: Configuration) -> Body
}

/// How gauges look.
public protocol GaugeStyle: Sendable {
    associatedtype Body: StyleBody
    typealias Configuration = GaugeStyleConfiguration
    /// The gauge as a block, its label included.
    func makeBody(configuration: Configuration) -> Body
}

/// How date pickers look.
public protocol DatePickerStyle: Sendable {
    associatedtype Body: StyleBody
    typealias Configuration = DatePickerStyleConfiguration
    /// The date picker as a block, its label included.
    func makeBody(configuration: Configuration) -> Body
}

/// A picker style of any type: what an environment carries.
public struct AnyPickerStyle: Sendable {
    private let make: @Sendable (PickerStyleConfiguration) -> any Block

    /// Forgets the type of a style.
    public init(_ style: some PickerStyle) {
        make = { style.makeBody(configuration: $0).styleBlock(in: $0.environment) }
    }

    /// The built-in style of that name; `nil` for `automatic` and for styles of other controls.
    public init?(builtIn style: ControlStyle) {
        switch style {
        case .inline: self.init(.inline)
        case .menu: self.init(.menu)
        case .navigationLink: self.init(.navigationLink)
        case .palette: self.init(.palette)
        case .radioGroup: self.init(.radioGroup)
        case .segmented: self.init(.segmented)
        case .wheel: self.init(.wheel)
        default: return nil
        }
    }

    /// The body that the style makes.
    public func makeBody(configuration: PickerStyleConfiguration) -> any Block {
        make(configuration)
    }
}

/// A toggle style of any type.
public struct AnyToggleStyle: Sendable {
    private let make: @Sendable (ToggleStyleConfiguration) -> any Block

    /// Forgets the type of a style.
    public init(_ style: some ToggleStyle) {
        make = { style.makeBody(configuration: $0).styleBlock(in: $0.environment) }
    }

    /// The built-in style of that name; `nil` for `automatic` and for styles of other controls.
    public init?(builtIn style: ControlStyle) {
        switch style {
        case .switch: self.init(.switch)
        case .button: self.init(.button)
        case .checkbox: self.init(.checkbox)
        default: return nil
        }
    }

    /// The body that the style makes.
    public func makeBody(configuration: ToggleStyleConfiguration) -> any Block {
        make(configuration)
    }
}

/// A button style of any type.
public struct AnyPrimitiveButtonStyle: Sendable {
    private let make: @Sendable (PrimitiveButtonStyleConfiguration) -> any Block

    /// Forgets the type of a style.
    public init(_ style: some PrimitiveButtonStyle) {
        make = { style.makeBody(configuration: $0).styleBlock(in: $0.environment) }
    }

    /// The built-in style of that name; `nil` for `automatic` and for styles of other controls.
    public init?(builtIn style: ControlStyle) {
        switch style {
        case .bordered: self.init(DefaultButtonStyle(.bordered))
        case .borderedProminent: self.init(DefaultButtonStyle(.borderedProminent))
        case .borderless: self.init(DefaultButtonStyle(.borderless))
        case .plain: self.init(DefaultButtonStyle(.plain))
        default: return nil
        }
    }

    /// The body that the style makes.
    public func makeBody(configuration: PrimitiveButtonStyleConfiguration) -> any Block {
        make(configuration)
    }
}

/// A slider style of any type.
public struct AnySliderStyle: Sendable {
    private let make: @Sendable (SliderStyleConfiguration) -> any Block

    /// Forgets the type of a style.
    public init(_ style: some SliderStyle) {
        make = { style.makeBody(configuration: $0).styleBlock(in: $0.environment) }
    }

    /// The body that the style makes.
    public func makeBody(configuration: SliderStyleConfiguration) -> any Block {
        make(configuration)
    }
}

/// A gauge style of any type.
public struct AnyGaugeStyle: Sendable {
    private let make: @Sendable (GaugeStyleConfiguration) -> any Block

    /// Forgets the type of a style.
    public init(_ style: some GaugeStyle) {
        make = { style.makeBody(configuration: $0).styleBlock(in: $0.environment) }
    }

    /// The built-in style of that name; `nil` for `automatic` and for styles of other controls.
    public init?(builtIn style: ControlStyle) {
        switch style {
        case .linear: self.init(.linear)
        case .circular: self.init(.circular)
        default: return nil
        }
    }

    /// The body that the style makes.
    public func makeBody(configuration: GaugeStyleConfiguration) -> any Block {
        make(configuration)
    }
}

/// A date picker style of any type.
public struct AnyDatePickerStyle: Sendable {
    private let make: @Sendable (DatePickerStyleConfiguration) -> any Block

    /// Forgets the type of a style.
    public init(_ style: some DatePickerStyle) {
        make = { style.makeBody(configuration: $0).styleBlock(in: $0.environment) }
    }

    /// The built-in style of that name; `nil` for `automatic` and for styles of other controls.
    public init?(builtIn style: ControlStyle) {
        switch style {
        case .compact: self.init(.compact)
        case .graphical: self.init(.graphical)
        case .wheel: self.init(.wheel)
        default: return nil
        }
    }

    /// The body that the style makes.
    public func makeBody(configuration: DatePickerStyleConfiguration) -> any Block {
        make(configuration)
    }
}

extension PickerStyle where Self == AutomaticPickerStyle {
    /// The style that suits the number and kind of the options.
    public static var automatic: Self { Self() }
}
extension PickerStyle where Self == InlinePickerStyle {
    /// All options in lines, the picked ones checked.
    public static var inline: Self { Self() }
}
extension PickerStyle where Self == MenuPickerStyle {
    /// The picked option, with a menu that opens below it.
    public static var menu: Self { Self() }
}
extension PickerStyle where Self == NavigationLinkPickerStyle {
    /// The picked option, with a list that takes the screen.
    public static var navigationLink: Self { Self() }
}
extension PickerStyle where Self == PalettePickerStyle {
    /// A row of symbols.
    public static var palette: Self { Self() }
}
extension PickerStyle where Self == RadioGroupPickerStyle {
    /// Radio buttons.
    public static var radioGroup: Self { Self() }
}
extension PickerStyle where Self == SegmentedPickerStyle {
    /// Segments side by side.
    public static var segmented: Self { Self() }
}
extension PickerStyle where Self == WheelPickerStyle {
    /// The picked option with a few neighbours.
    public static var wheel: Self { Self() }
}
extension ToggleStyle where Self == SwitchToggleStyle {
    /// A switch.
    public static var `switch`: Self { Self() }
    /// A switch, as in forms.
    public static var automatic: Self { Self() }
}
extension ToggleStyle where Self == ButtonToggleStyle {
    /// A button that stays pressed.
    public static var button: Self { Self() }
}
extension ToggleStyle where Self == CheckboxToggleStyle {
    /// A checkbox.
    public static var checkbox: Self { Self() }
}
extension PrimitiveButtonStyle where Self == DefaultButtonStyle {
    /// A bordered button that is pressed once.
    public static var automatic: Self { Self(.bordered) }
}
extension ButtonStyle where Self == BorderedButtonStyle {
    /// A button with edges.
    public static var bordered: Self { Self(isProminent: false) }
    /// A prominent button.
    public static var borderedProminent: Self { Self(isProminent: true) }
}
extension ButtonStyle where Self == BorderlessButtonStyle {
    /// A button in the accent's colour.
    public static var borderless: Self { Self(isPlain: false) }
    /// A button as plain as text.
    public static var plain: Self { Self(isPlain: true) }
}
extension SliderStyle where Self == LinearSliderStyle {
    /// A thumb on a track.
    public static var automatic: Self { Self() }
}
extension GaugeStyle where Self == LinearGaugeStyle {
    /// A bar.
    public static var linear: Self { Self() }
    /// A bar.
    public static var automatic: Self { Self() }
}
extension GaugeStyle where Self == CircularGaugeStyle {
    /// An open ring.
    public static var circular: Self { Self() }
}
extension DatePickerStyle where Self == CompactDatePickerStyle {
    /// The date in one line, part by part.
    public static var compact: Self { Self() }
    /// The date in one line.
    public static var automatic: Self { Self() }
}
extension DatePickerStyle where Self == GraphicalDatePickerStyle {
    /// A calendar of a month.
    public static var graphical: Self { Self() }
}
extension DatePickerStyle where Self == WheelDatePickerStyle {
    /// One wheel for each part.
    public static var wheel: Self { Self() }
}
