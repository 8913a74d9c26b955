// The environment that a container passes to its contents: theme, marks and styles.
//
// Invariants: an environment is a value, so a change inside a container has no effect outside; the
// nearest container that sets a property wins.

public import SyncCore

/// The environment of controls.
public struct StyleEnvironment: Sendable {
    /// The properties of a terminal. A class, because each control has copies of its environment,
    /// and these are a hundred words.
    private final class Look: Sendable {
        let theme: Theme
        let depth: ColorDepth
        let charset: Charset
        let glyphs: Glyphs
        let roles: RoleStyles

        init(_ theme: Theme, _ depth: ColorDepth, _ charset: Charset, _ glyphs: Glyphs) {
            self.theme = theme
            self.depth = depth
            self.charset = charset
            self.glyphs = glyphs
            roles = RoleStyles(theme, depth: depth)
        }
    }

    private var look: Look

    /// The colours.
    public var theme: Theme {
        get { look.theme }
        set { look = Look(newValue, depth, charset, glyphs) }
    }
    /// How many colours the terminal has.
    public var depth: ColorDepth { look.depth }
    /// What the terminal can write.
    public var charset: Charset { look.charset }
    /// The marks.
    public var glyphs: Glyphs { look.glyphs }
    /// The theme's roles at this depth.
    public var roles: RoleStyles { look.roles }
    /// The columns of labels that are beside the content.
    public var labelColumns = 22
    /// Whether those labels begin or end in one column.
    public var labelAlignment = LabelAlignment.leading
    /// The columns of every input, if there are that many.
    public var inputColumns = 33
    /// Whether there is no empty line above, so that two grounds would look like one.
    public var isTight = false
    /// Whether there are so few lines that frames would hide what is in them.
    public var isLow = false

    public var pickerStyle = AnyPickerStyle(.automatic)
    public var toggleStyle = AnyToggleStyle(.automatic)
    public var buttonStyle = AnyPrimitiveButtonStyle(DefaultButtonStyle(.bordered))
    public var sliderStyle = AnySliderStyle(.automatic)
    public var gaugeStyle = AnyGaugeStyle(.automatic)
    public var datePickerStyle = AnyDatePickerStyle(.automatic)

    /// The environment of a terminal, with automatic styles.
    ///
    /// `glyphs` are the marks of a terminal whose font has fewer than its charset.
    public init(
        theme: Theme = .terminal, depth: ColorDepth = .trueColor, charset: Charset = .unicode,
        glyphs: Glyphs? = nil
    ) {
        look = Look(theme, depth, charset, glyphs ?? Glyphs(charset))
    }
}

extension StyleEnvironment {
    /// A symbol that the terminal can show; `nil` if it would be a row of question marks.
    public func drawable(_ symbol: String?) -> String? {
        guard charset == .ascii, let symbol else { return symbol }
        let hasLikeness = symbol.allSatisfy { !Charset.ascii($0, width: 1).contains("?") }
        return hasLikeness || symbol == "?" ? symbol : nil
    }

    /// A symbol and a space, as a prefix of a text; empty if the symbol cannot be shown.
    public func prefix(_ symbol: String?) -> String { drawable(symbol).map { $0 + " " } ?? "" }

    /// The environment with something changed.
    public func with(_ change: (inout StyleEnvironment) -> Void) -> StyleEnvironment {
        var copy = self
        change(&copy)
        return copy
    }

    /// The environment with the built-in style that a form names for controls of a type; a style
    /// that the type does not have changes nothing; neither does `automatic`, which means the
    /// container's style.
    public func styled(_ style: ControlStyle, for type: ControlType) -> StyleEnvironment {
        with { environment in
            switch type {
            case .picker:
                if let style = AnyPickerStyle(builtIn: style) { environment.pickerStyle = style }
            case .toggle:
                if let style = AnyToggleStyle(builtIn: style) { environment.toggleStyle = style }
            case .button:
                if let style = AnyPrimitiveButtonStyle(builtIn: style) {
                    environment.buttonStyle = style
                }
            case .gauge:
                if let style = AnyGaugeStyle(builtIn: style) { environment.gaugeStyle = style }
            case .date:
                if let style = AnyDatePickerStyle(builtIn: style) {
                    environment.datePickerStyle = style
                }
            case .wheels, .slider, .stepper, .text, .secure, .label: break
            }
        }
    }

    /// The environment with the styles that a form or a section sets.
    public func styled(_ styles: ContainerStyles) -> StyleEnvironment {
        ControlType.allCases.reduce(self) { environment, type in
            styles[type].map { environment.styled($0, for: type) } ?? environment
        }
    }
}

/// A control or a container, which becomes a block when it receives an environment.
public protocol ControlView {
    /// The block, made with the styles of the environment.
    func block(in environment: StyleEnvironment) -> any Block
}

/// Controls one below the other, which inherit what is set on the group.
public struct ControlGroup: ControlView {
    var children: [any ControlView]
    var spacing: Int

    /// A group, with `spacing` empty lines between two controls.
    public init(_ children: [any ControlView], spacing: Int = 0) {
        self.children = children
        self.spacing = spacing
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        Column(children.map { $0.block(in: environment) }, spacing: spacing)
    }
}

/// A view whose environment is changed.
public struct ModifiedView: ControlView {
    var content: any ControlView
    var change: (inout StyleEnvironment) -> Void

    public func block(in environment: StyleEnvironment) -> any Block {
        content.block(in: environment.with(change))
    }
}

extension ControlView {
    /// The view with something changed in its environment.
    public func environment(_ change: @escaping (inout StyleEnvironment) -> Void) -> ModifiedView {
        ModifiedView(content: self, change: change)
    }

    /// Sets the style of pickers in this view.
    public func pickerStyle(_ style: some PickerStyle) -> ModifiedView {
        environment { $0.pickerStyle = AnyPickerStyle(style) }
    }

    /// Sets the style of toggles in this view.
    public func toggleStyle(_ style: some ToggleStyle) -> ModifiedView {
        environment { $0.toggleStyle = AnyToggleStyle(style) }
    }

    /// Sets the look of buttons in this view; they act as buttons do.
    public func buttonStyle(_ style: some ButtonStyle) -> ModifiedView {
        environment { $0.buttonStyle = AnyPrimitiveButtonStyle(DefaultButtonStyle(style)) }
    }

    /// Sets look and behaviour of buttons in this view.
    public func buttonStyle(_ style: some PrimitiveButtonStyle) -> ModifiedView {
        environment { $0.buttonStyle = AnyPrimitiveButtonStyle(style) }
    }

    /// Sets the style of sliders in this view.
    public func sliderStyle(_ style: some SliderStyle) -> ModifiedView {
        environment { $0.sliderStyle = AnySliderStyle(style) }
    }

    /// Sets the style of gauges in this view.
    public func gaugeStyle(_ style: some GaugeStyle) -> ModifiedView {
        environment { $0.gaugeStyle = AnyGaugeStyle(style) }
    }

    /// Sets the style of date pickers in this view.
    public func datePickerStyle(_ style: some DatePickerStyle) -> ModifiedView {
        environment { $0.datePickerStyle = AnyDatePickerStyle(style) }
    }
}
