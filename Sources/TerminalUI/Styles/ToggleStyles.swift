// Toggles: on, off, or mixed.

/// A toggle.
public struct ToggleStyleConfiguration: Sendable {
    public var label: ControlLabel
    public var isOn: Bool
    public var state: ControlState
    public var environment: StyleEnvironment

    /// A toggle; if `state.isMixed`, `isOn` has no meaning.
    public init(
        label: ControlLabel, isOn: Bool, state: ControlState = ControlState(),
        environment: StyleEnvironment = StyleEnvironment()
    ) {
        self.label = label
        self.isOn = isOn
        self.state = state
        self.environment = environment
    }

    /// One of three for off, on and mixed.
    public func choose<T>(off: T, on: T, mixed: T) -> T { state.isMixed ? mixed : isOn ? on : off }

    /// A block that switches the toggle when it is clicked, if it can be edited.
    public func target(_ content: some Block) -> any Block {
        state.isEditable ? Target(.toggle, content) : content
    }

    /// Its colour: the accent if it is on.
    public var color: CellStyle {
        let roles = environment.roles
        return isOn && !state.isMixed && !state.isDimmed ? roles.accent : roles.dim
    }
}

/// A switch: the position of the knob, its shape and a word show the state.
public struct SwitchToggleStyle: ToggleStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let glyphs = configuration.environment.glyphs
        let shape = configuration.choose(
            off: glyphs.switchOff, on: glyphs.switchOn, mixed: glyphs.switchMixed)
        let word = configuration.choose(
            off: ControlWords.flag(false), on: ControlWords.flag(true), mixed: ControlWords.mixed)
        let text = StyledText(shape, configuration.color).appending(" " + word, configuration.color)
        return LabeledRow(configuration.label, configuration.state, configuration.environment) {
            [configuration.target(text)]
        }
    }
}

/// A box before the label, in the column of values; a label that is too long for that begins at the
/// left.
public struct CheckboxToggleStyle: ToggleStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> AnyBlock {
        let glyphs = configuration.environment.glyphs
        let roles = configuration.environment.roles
        let box = configuration.choose(
            off: glyphs.boxOff, on: glyphs.boxOn, mixed: glyphs.boxMixed)
        let state = configuration.state
        let style = state.isDimmed ? roles.dim : state.isFocused ? roles.heading : roles.text
        let text =
            StyledText(box + " ", configuration.color)
            + configuration.label.text(style, configuration.environment)
        let content = Column {
            configuration.target(text)
            if let subtitle = configuration.label.subtitle {
                Padding(left: 4, StyledText(subtitle, roles.dim))
            }
        }
        return AnyBlock(
            ValueColumn(
                content: content, columns: text.columns,
                row: LabeledRow(ControlLabel(""), state, configuration.environment, content)))
    }
}

/// A content in the column of values if it fits there, else from the left.
private struct ValueColumn: Block {
    var content: Column
    /// The columns that the content needs.
    var columns: Int
    var row: LabeledRow

    private func block(_ width: Int) -> any Block {
        columns <= row.contentColumns(in: width) ? row : content
    }

    func measure(width: Int) -> Size { block(width).measure(width: width) }

    func render(into canvas: inout Canvas, in rect: Rect) {
        block(rect.columns).render(into: &canvas, in: rect)
    }
}

/// A button that stays pressed.
public struct ButtonToggleStyle: ToggleStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let environment = configuration.environment
        let roles = environment.roles
        let glyphs = environment.glyphs
        let state = configuration.state
        let mark = configuration.choose(off: " ", on: glyphs.check, mixed: glyphs.dash)
        let label =
            "\(mark) \(environment.prefix(configuration.label.symbol))\(configuration.label.title)"
        let button: StyledText
        if configuration.isOn, !state.isMixed {
            button = Pill(environment, state).text(label)
        } else {
            let style = state.isDimmed ? roles.dim : roles.text
            button = StyledText("[ ", roles.border).appending(label, style)
                .appending(" ]", roles.border)
        }
        return LabeledRow(ControlLabel(""), state, environment) {
            configuration.target(state.isFocused ? button.adding(.underline) : button)
            if let subtitle = configuration.label.subtitle {
                Padding(left: 4, StyledText(subtitle, roles.dim))
            }
        }
    }
}

/// A toggle in the style of its environment.
public struct ToggleView: ControlView {
    public var configuration: ToggleStyleConfiguration

    /// A toggle; the configuration's environment is replaced by that of the container.
    public init(_ configuration: ToggleStyleConfiguration) { self.configuration = configuration }

    public func block(in environment: StyleEnvironment) -> any Block {
        var configuration = configuration
        configuration.environment = environment
        return framed(
            configuration.state, environment,
            AnyBlock(environment.toggleStyle.makeBody(configuration: configuration)))
    }
}
