// The built-in picker styles that show their options all at once, or the picked one alone.

import SyncCore

/// The style that suits the number and kind of the options.
public struct AutomaticPickerStyle: PickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> AnyBlock {
        let style = AnyPickerStyle(builtIn: configuration.automaticStyle) ?? AnyPickerStyle(.menu)
        return AnyBlock(style.makeBody(configuration: configuration))
    }
}

/// All options in lines; the picked ones are checked.
public struct InlinePickerStyle: PickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let configuration = configuration.withCursor
        return LabeledRow(configuration.label, configuration.state, configuration.environment) {
            if let odd = configuration.oddity { odd }
            configuration.grouped { index in
                OptionRow(
                    configuration: configuration, index: index,
                    mark: configuration.checkMark(index), pointer: .before)
            }
        }
    }
}

/// Radio buttons, below or beside one another.
public struct RadioGroupPickerStyle: PickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let configuration = configuration.withCursor
        return LabeledRow(configuration.label, configuration.state, configuration.environment) {
            if let odd = configuration.oddity { odd }
            if configuration.isHorizontal {
                for run in configuration.runs {
                    if let title = run.title { configuration.heading(title) }
                    Flow(
                        run.range.map { index in
                            OptionRow(
                                configuration: configuration, index: index,
                                mark: configuration.radioMark(index), pointer: .none)
                        }, spacing: 3)
                }
            } else {
                configuration.grouped { index in
                    OptionRow(
                        configuration: configuration, index: index,
                        mark: configuration.radioMark(index), pointer: .before)
                }
            }
        }
    }
}

/// Segments side by side, the picked one filled.
public struct SegmentedPickerStyle: PickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        LabeledRow(configuration.label, configuration.state, configuration.environment) {
            Segments(
                joined: configuration.options.indices.map { segment($0, configuration) },
                apart: configuration.options.indices.map {
                    segment($0, configuration, isApart: true)
                })
            if let odd = configuration.oddity { odd }
        }
    }

    /// A segment; one that is `isApart` shares no edge with its neighbours.
    private func segment(
        _ index: Int, _ configuration: Configuration, isApart: Bool = false
    ) -> any Block {
        let option = configuration.options[index]
        let environment = configuration.environment
        let roles = environment.roles
        let isOn = configuration.isSelected(index)
        let isOut = option.isDisabled || configuration.state.isDimmed
        let label = environment.prefix(option.symbol) + option.label
        // Neighbours share an edge: a picked option has both of its edges, another one only its
        // left edge.
        let isAfterPicked = index > 0 && configuration.isSelected(index - 1)
        var text: StyledText
        if isOn {
            text = Pill(environment, configuration.state).text(label)
        } else {
            let edge =
                index == 0 || isApart ? " " : isAfterPicked ? "" : environment.glyphs.separator
            text = StyledText(edge, roles.border)
                .appending(" " + label + " ", isOut ? roles.dim : roles.text)
            if option.isDisabled { text = text.adding(.strikethrough) }
        }
        if configuration.cursor == index, configuration.state.isFocused {
            text = text.adding(.underline)
        }
        guard configuration.state.isEditable, !option.isDisabled else { return text.truncated() }
        return Target(.option(option.tag), text.truncated())
    }
}

/// Segments in one line; if there is no space for that, in even columns.
private struct Segments: Block {
    /// For one line: edges are shared.
    var joined: [any Block]
    /// For several lines.
    var apart: [any Block]

    private func grid(_ width: Int) -> (columns: Int, cell: Int)? {
        let whole = joined.reduce(0) { $0 + $1.measure(width: width).columns }
        if whole <= width { return nil }
        let widest = apart.map { $0.measure(width: width).columns }.max() ?? 1
        let cell = max(1, min(widest, width))
        let most = max(1, width / cell)
        // Rows of about the same length.
        let rows = (apart.count + most - 1) / most
        return ((apart.count + rows - 1) / rows, cell)
    }

    func measure(width: Int) -> Size {
        guard let (columns, cell) = grid(width) else {
            return Row(joined, spacing: 0).measure(width: width)
        }
        return Size(
            columns: min(width, columns * cell), lines: (apart.count + columns - 1) / columns)
    }

    func render(into canvas: inout Canvas, in rect: Rect) {
        guard let (columns, cell) = grid(rect.columns) else {
            return Row(joined, spacing: 0).render(into: &canvas, in: rect)
        }
        for (number, block) in apart.enumerated() {
            let space = min(cell, rect.columns)
            let place = Rect(
                x: rect.x + number % columns * cell, y: rect.y + number / columns,
                columns: min(space, block.measure(width: space).columns), lines: 1)
            block.render(into: &canvas, in: place)
        }
    }
}

/// A value on a filled ground of an input's width, with a mark at its end.
struct Surface: Block {
    private let value: StyledText
    private let end: StyledText
    private let style: CellStyle
    private let columns: Int

    init(
        _ value: StyledText, end: String, _ state: ControlState, _ environment: StyleEnvironment
    ) {
        let roles = environment.roles
        let style = state.isFocused ? roles.fieldFocused : roles.field
        self.style = style
        columns = environment.inputColumns
        self.value = value.restyled {
            if $0.foreground == .standard { $0.foreground = style.foreground }
            $0 = $0.on(style.background).adding(style.attributes)
        }
        let mark = state.isFocused ? roles.accent : roles.dim
        self.end = StyledText(end, mark.on(style.background).adding(style.attributes))
    }

    func measure(width: Int) -> Size { Size(columns: min(columns, width), lines: 1) }

    func render(into canvas: inout Canvas, in rect: Rect) {
        let place = Rect(x: rect.x, y: rect.y, columns: min(columns, rect.columns), lines: 1)
        canvas.fill(place, style: style)
        value.truncated().render(
            into: &canvas, in: place.inset(left: 1, right: end.columns + 2))
        end.render(
            into: &canvas, in: place.inset(left: max(0, place.columns - end.columns - 1)))
    }
}

/// A word on a filled ground with edges: what is picked among things side by side.
public struct Pill {
    public let left: StyledText
    public let right: StyledText
    public let inside: CellStyle

    /// A pill in a style.
    ///
    /// What is loud fills its edges too; otherwise they are lines in the colour of the text.
    /// `isFilled`: so does the background of every other style.
    public init(_ environment: StyleEnvironment, style: CellStyle, isFilled: Bool = false) {
        inside = style
        let isReverse = style.attributes.contains(.reverse)
        let isLoud = isReverse || style == environment.roles.selection
        let ground = isReverse ? style.foreground : style.background
        var edge = CellStyle(style.foreground, on: style.background)
        if isLoud || isFilled, ground != .standard {
            edge = CellStyle(ground, on: ground)
        } else if isLoud {
            edge = environment.glyphs.isASCII ? .plain : CellStyle(.standard, .reverse)
        }
        left = StyledText(environment.glyphs.pillLeft, edge)
        right = StyledText(environment.glyphs.pillRight, edge)
    }

    /// A pill for the state of a control: focused, not focused, or dimmed.
    public init(_ environment: StyleEnvironment, _ state: ControlState) {
        let roles = environment.roles
        let faint = roles.faint(in: roles.field)
        let style = state.isFocused ? roles.selection : roles.selectionAway
        self.init(environment, style: state.isDimmed ? faint : style)
    }

    /// The text in the pill, two columns more at each end.
    public func text(_ label: String) -> StyledText { text(label, between: " ", and: " ") }

    /// The text between two signs in the pill.
    public func text(_ label: String, between first: String, and last: String) -> StyledText {
        left + StyledText(first + label + last, inside) + right
    }
}

/// The picked option; the others in a menu that opens below.
public struct MenuPickerStyle: PickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> LabeledRow {
        let environment = configuration.environment
        let glyphs = environment.glyphs
        let isOpen = configuration.presentation != .closed
        let closed = Surface(
            configuration.valueText, end: isOpen ? glyphs.menuOpen : glyphs.menuClosed,
            configuration.state, environment)
        return LabeledRow(configuration.label, configuration.state, environment) {
            if configuration.state.isEditable {
                Target(isOpen ? .close : .open, closed)
            } else {
                closed
            }
            if case .open(let list) = configuration.presentation {
                Fitted(MenuBox(configuration, list))
            }
        }
    }
}

/// The options of an open menu in a border: below the picker, over what is there. It is at
/// least as wide as an input.
public struct MenuBox: Block {
    private let box: Bordered
    private let columnsMin: Int

    /// The box of a picker's open list.
    public init(_ configuration: PickerStyleConfiguration, _ list: OpenList) {
        let content = FilteredList(configuration: configuration, list: list)
        let roles = configuration.environment.roles
        columnsMin = configuration.environment.inputColumns
        box = Bordered(
            note: StyledText(content.count, roles.dim), style: roles.border,
            glyphs: configuration.environment.glyphs, content)
    }

    public func measure(width: Int) -> Size {
        let size = box.measure(width: width)
        return Size(columns: min(width, max(size.columns, columnsMin)), lines: size.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        box.render(into: &canvas, in: rect)
    }
}

/// The picked option with an arrow. The others are on a separate page.
public struct NavigationLinkPickerStyle: PickerStyle {
    /// The style.
    public init() {}

    public func makeBody(configuration: Configuration) -> AnyBlock {
        guard case .open(let list) = configuration.presentation else {
            return AnyBlock(link(configuration))
        }
        return AnyBlock(PickerPage(configuration, list))
    }

    private func link(_ configuration: Configuration) -> LabeledRow {
        let environment = configuration.environment
        let link = Surface(
            configuration.valueText, end: environment.glyphs.chevron, configuration.state,
            environment)
        return LabeledRow(configuration.label, configuration.state, environment) {
            if configuration.state.isEditable { Target(.open, link) } else { link }
        }
    }
}

/// The open list of a picker on a separate page: the way back, the title, and the options in the
/// remaining lines.
public struct PickerPage: Block {
    private let configuration: PickerStyleConfiguration
    private let list: OpenList

    /// The page of a picker's open list.
    public init(_ configuration: PickerStyleConfiguration, _ list: OpenList) {
        self.configuration = configuration
        self.list = list
    }

    private var content: FilteredList { FilteredList(configuration: configuration, list: list) }

    private var head: Column {
        let environment = configuration.environment
        let roles = environment.roles
        let title = StyledText(environment.glyphs.back + " ", roles.accent)
            .appending(configuration.label.title, roles.heading)
            .appending("  " + content.count, roles.dim)
        return Column {
            Target(.close, title.truncated())
            if let subtitle = configuration.label.subtitle { StyledText(subtitle, roles.dim) }
        }
    }

    public func measure(width: Int) -> Size {
        let inner = content.measure(width: width)
        return Size(columns: width, lines: head.measure(width: width).lines + inner.lines)
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let lines = head.measure(width: rect.columns).lines
        head.render(into: &canvas, in: rect)
        var area = rect.inset(top: lines)
        area.lines = min(area.lines, content.measure(width: rect.columns).lines)
        content.render(into: &canvas, in: area)
    }
}

/// A block of any type.
public struct AnyBlock: Block {
    private let block: any Block

    /// Forgets the type of a block.
    public init(_ block: any Block) { self.block = block }

    public func measure(width: Int) -> Size { block.measure(width: width) }
    public func baseline(width: Int) -> Int { block.baseline(width: width) }
    public func render(into canvas: inout Canvas, in rect: Rect) {
        block.render(into: &canvas, in: rect)
    }
}
