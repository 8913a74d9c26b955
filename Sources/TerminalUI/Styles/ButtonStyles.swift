// Buttons: how they look (ButtonStyle), and how they ask before they act (PrimitiveButtonStyle).

public import SyncCore

/// A button's looks.
public struct ButtonStyleConfiguration: Sendable {
    public var label: ControlLabel
    public var role: ButtonAttributes.Role?
    /// Whether it has just been pressed.
    public var isPressed: Bool
    /// Whether a question follows.
    public var asksFirst = false
    public var state: ControlState
    public var environment: StyleEnvironment

    /// The label's symbol and title, with a mark for destructive buttons, so that red is not the
    /// only sign, and with an ellipsis if a question follows.
    public var text: String {
        let mark = role == .destructive ? "! " : ""
        let end = asksFirst ? environment.glyphs.ellipsis : ""
        return mark + environment.prefix(label.symbol) + label.title + end
    }

    /// The style of the label for the button's role and state.
    public var style: CellStyle {
        let roles = environment.roles
        if state.isDimmed { return roles.dim }
        switch role {
        case .destructive: return roles.error
        case .cancel: return roles.text.adding(.bold)
        case nil: return roles.text
        }
    }
}

/// A button with what it does.
public struct PrimitiveButtonStyleConfiguration: Sendable {
    public var label: ControlLabel
    public var role: ButtonAttributes.Role?
    /// The question that is asked first.
    public var confirm: String?
    public var phase: Phase
    public var state: ControlState
    public var environment: StyleEnvironment

    /// The state of a press.
    public enum Phase: Hashable, Sendable {
        case idle
        /// It has just happened.
        case pressed
        /// The question is displayed, with one answer highlighted.
        case confirming(onConfirm: Bool)
        /// The question is displayed elsewhere, and has the focus.
        case asking
    }

    /// A button.
    public init(
        label: ControlLabel, role: ButtonAttributes.Role? = nil, confirm: String? = nil,
        phase: Phase = .idle, state: ControlState = ControlState(),
        environment: StyleEnvironment = StyleEnvironment()
    ) {
        self.label = label
        self.role = role
        self.confirm = confirm
        self.phase = phase
        self.state = state
        self.environment = environment
    }

    /// Whether the question is below a row of buttons, in the column of labels, with only the
    /// answers in the column of values.
    var asksBelow = false

    /// What is asked.
    var question: String { confirm ?? label.title }

    /// What pressing it does.
    public var trigger: ControlAction { .press }
}

/// A button with edges.
public struct BorderedButtonStyle: ButtonStyle {
    /// Whether it is prominent.
    public var isProminent: Bool

    /// The style.
    public init(isProminent: Bool) { self.isProminent = isProminent }

    public func makeBody(configuration: Configuration) -> StyledText {
        let environment = configuration.environment
        let roles = environment.roles
        let isFilled = configuration.isPressed || configuration.state.isFocused || isProminent
        if isFilled, !configuration.state.isDimmed {
            let isStrong = configuration.state.isFocused || configuration.isPressed
            let base = isStrong ? roles.selection : roles.selectionAway
            let isRed = configuration.role == .destructive
            let style = isRed ? roles.error.adding(.reverse) : base
            let glyphs = environment.glyphs
            // The mark of a press is inside, so that a button beside it does not move.
            let first =
                configuration.isPressed ? glyphs.check : isStrong ? glyphs.loudLeft : " "
            return Pill(environment, style: style, isFilled: true).text(
                configuration.text, between: first, and: isStrong ? glyphs.loudRight : " "
            ).truncated()
        }
        let ground = roles.field.background
        let isSurface = ground != .standard && !environment.isTight
        // On a ground the edges have its colour, so that it begins and ends where they are.
        let edge = isSurface ? CellStyle(ground, on: ground) : roles.border
        var style = configuration.style
        if isSurface { style = style == .plain ? roles.field : style.on(ground) }
        return StyledText("[", edge).appending(" \(configuration.text) ", style)
            .appending("]", edge).truncated()
    }
}

/// A button without edges.
public struct BorderlessButtonStyle: ButtonStyle {
    /// Whether it is as plain as text.
    public var isPlain: Bool

    /// The style.
    public init(isPlain: Bool) { self.isPlain = isPlain }

    public func makeBody(configuration: Configuration) -> StyledText {
        let roles = configuration.environment.roles
        var style = configuration.style
        if !isPlain, configuration.role == nil, !configuration.state.isDimmed {
            style = roles.accent
        }
        if configuration.state.isFocused { style = style.adding([.underline, .bold]) }
        if configuration.isPressed { style = style.adding(.reverse) }
        let arrow = isPlain ? "" : " " + configuration.environment.glyphs.chevron
        return StyledText(configuration.text + arrow, style).truncated()
    }
}

/// The default behaviour of buttons: they act when pressed, after a question if there is one.
public struct DefaultButtonStyle: PrimitiveButtonStyle {
    private let make: @Sendable (ButtonStyleConfiguration) -> any Block

    /// Buttons that look like `style`.
    public init(_ style: some ButtonStyle) {
        make = { style.makeBody(configuration: $0).styleBlock(in: $0.environment) }
    }

    public func makeBody(configuration: Configuration) -> Column {
        let roles = configuration.environment.roles
        guard case .confirming(let onConfirm) = configuration.phase else {
            var looks = looks(configuration)
            looks.asksFirst = configuration.confirm != nil
            let look = AnyBlock(make(looks))
            return Column {
                if configuration.state.isEditable {
                    Row { Target(configuration.trigger, look) }
                } else {
                    look
                }
                if let subtitle = configuration.label.subtitle {
                    StyledText(subtitle, roles.dim)
                }
            }
        }
        var yes = looks(configuration)
        yes.state.isFocused = onConfirm
        var no = yes
        no.label = ControlLabel(ControlWords.cancel)
        no.role = .cancel
        no.state.isFocused = !onConfirm
        return Column {
            if !configuration.asksBelow {
                StyledText(configuration.question, roles.warning.adding(.bold))
            }
            Row(spacing: 2) {
                Target(.confirm, AnyBlock(make(yes)))
                Target(.cancel, AnyBlock(make(no)))
            }
        }
    }

    private func looks(_ configuration: Configuration) -> ButtonStyleConfiguration {
        var state = configuration.state
        if configuration.phase == .asking { state.isFocused = false }
        return ButtonStyleConfiguration(
            label: configuration.label, role: configuration.role,
            isPressed: configuration.phase == .pressed, state: state,
            environment: configuration.environment)
    }
}

/// A button in the style of its environment.
public struct ButtonView: ControlView {
    public var configuration: PrimitiveButtonStyleConfiguration

    /// A button; the configuration's environment is replaced by that of the container.
    public init(_ configuration: PrimitiveButtonStyleConfiguration) {
        self.configuration = configuration
    }

    public func block(in environment: StyleEnvironment) -> any Block {
        let content = LabeledRow(
            ControlLabel(""), configuration.state, environment, AnyBlock(body(in: environment)))
        return framed(configuration.state, environment, content)
    }

    /// The question and its answers on one line, for the line below a row of buttons: there no
    /// second click on the button can hit an answer.
    public func questionBelow(in environment: StyleEnvironment) -> any Block {
        var below = self
        below.configuration.asksBelow = true
        var environment = environment
        environment.isTight = true
        let row = LabeledRow(
            ControlLabel(configuration.question), environment.roles.warning.adding(.bold),
            environment, 0, AnyBlock(below.body(in: environment)))
        return ControlFrame(configuration.state, environment, isWide: true, row)
    }

    /// The button alone.
    func body(in environment: StyleEnvironment) -> any Block {
        var configuration = configuration
        configuration.environment = environment
        return environment.buttonStyle.makeBody(configuration: configuration)
    }
}

/// Buttons that follow one another, side by side in the column of values.
public struct ButtonRow: ControlView {
    /// Columns between two.
    private static let gap = 2
    private let buttons: [Item]

    /// A button in a row.
    public struct Item {
        /// The name of its control.
        public var owner: String
        public var view: ButtonView
        /// The environment with its style.
        public var environment: StyleEnvironment

        /// The button of a control, in its style.
        public init(owner: String, view: ButtonView, environment: StyleEnvironment) {
            self.owner = owner
            self.view = view
            self.environment = environment
        }
    }

    /// Buttons with the names of their controls.
    public init(_ buttons: [Item]) { self.buttons = buttons }

    public func block(in environment: StyleEnvironment) -> any Block {
        let states = buttons.map(\.view.configuration.state)
        var state = ControlState(isFocused: states.contains { $0.isFocused })
        state.flash = states.lazy.compactMap(\.flash).first
        state.peers = states.flatMap(\.peers)
        state.notes = states.flatMap(\.notes)
        let focused = states.first { $0.isFocused }
        if let validity = focused?.validity { state.validity = validity }
        if let focused, focused.availability != .editable {
            state.availability = focused.availability
            state.reason = focused.reason
        }
        let blocks = buttons.map { button in
            let body = AnyBlock(button.view.body(in: button.environment))
            return Owned(by: button.owner, AnyBlock(Fitted(body)))
        }
        return ControlFrame(
            state, environment,
            LabeledRow(
                ControlLabel(""), ControlState(), environment, Flow(blocks, spacing: Self.gap)))
    }
}
