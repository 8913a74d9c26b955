// One option in a list: pointer, mark, symbol, label, subtitle.

public import SyncCore

/// A line of a list of options.
public struct OptionRow: Block {
    public var configuration: PickerStyleConfiguration
    public var index: Int
    /// Shows whether it is picked; equally wide in both cases.
    public var mark: StyledText
    /// The clusters of the label that the filter matched.
    public var positions: [Int]
    /// Where the pointer of the keys is.
    public var pointer: Pointer

    /// The place of the pointer of the keys.
    public enum Pointer: Hashable, Sendable {
        /// In two columns of the row.
        case inside
        /// In the two columns before the row.
        case before
        case none
    }

    /// The option at `index` of a picker, behind `mark`.
    public init(
        configuration: PickerStyleConfiguration, index: Int, mark: StyledText,
        positions: [Int] = [], pointer: Pointer = .inside
    ) {
        self.configuration = configuration
        self.index = index
        self.mark = mark
        self.positions = positions
        self.pointer = pointer
    }

    private var option: PickerOption { configuration.options[index] }
    private var isCurrent: Bool {
        configuration.state.isFocused && configuration.current == index
    }

    /// The row as one line.
    var line: StyledText {
        let roles = configuration.environment.roles
        let isOut = option.isDisabled || configuration.state.isDimmed
        let isPicked = configuration.isSelected(index)
        var style = isOut ? roles.dim : isPicked ? roles.accent : roles.text
        if isCurrent { style = isOut ? roles.dim.adding(.bold) : roles.accent }
        if option.tag.isNull, !isCurrent { style = roles.dim }
        var line = StyledText("")
        if pointer == .inside {
            let glyphs = configuration.environment.glyphs
            line = StyledText(isCurrent ? glyphs.pointer + " " : "  ", roles.accent)
        }
        line = line + mark + StyledText(" ")
        if let symbol = configuration.environment.drawable(option.symbol) {
            let tint = option.tint.map { roles.color($0) } ?? style.foreground
            line = line.appending(symbol + " ", style.foreground(tint))
        } else if let tint = option.tint {
            let glyphs = configuration.environment.glyphs
            line = line.appending(glyphs.tint + " ", CellStyle(roles.color(tint)))
        }
        line = line + label(style)
        if let subtitle = option.subtitle { line = line.appending("  " + subtitle, roles.dim) }
        if option.isDisabled { line = line.appending("  " + ControlWords.unavailable, roles.dim) }
        if let ghost = configuration.state.ghost,
            PickerStyleConfiguration.isSameTag(ghost.value, option.tag)
        {
            // The people who are at it.
            let style = ghost.by.map { roles.peer($0.number) } ?? roles.ghost
            line = line.appending("  " + configuration.environment.glyphs.ghost, style)
        }
        return line.truncated()
    }

    /// The label, with the matched clusters underlined. Clusters that follow each other in one
    /// style are one span: a label may be as long as a frame.
    private func label(_ style: CellStyle) -> StyledText {
        var label = StyledText("", style)
        var rest = option.label[...]
        var offset = 0
        for position in Set(positions).sorted() {
            let plain = rest.prefix(position - offset)
            let next = rest[plain.endIndex...]
            guard let matched = next.first else { break }
            label.append(String(plain), style)
            label.append(String(matched), style.adding(.underline))
            rest = next.dropFirst()
            offset = position + 1
        }
        label.append(String(rest), style)
        return label
    }

    public func measure(width: Int) -> Size { line.measure(width: width) }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        if configuration.state.isEditable, !option.isDisabled {
            canvas.addRegion(rect, .action(.option(option.tag)))
        }
        line.render(into: &canvas, in: rect)
        guard isCurrent else { return }
        canvas.setCursor(rect.origin)
        guard pointer == .before else { return }
        let environment = configuration.environment
        canvas.write(
            environment.glyphs.pointer, at: Point(x: rect.x - 2, y: rect.y),
            style: environment.roles.accent)
    }
}

extension PickerStyleConfiguration {
    /// The options in runs: each group, and the options between two groups.
    public var runs: [OptionGroup] {
        var runs: [OptionGroup] = []
        var next = 0
        for group in groups where group.range.lowerBound >= next {
            if group.range.lowerBound > next {
                runs.append(OptionGroup(title: nil, range: next..<group.range.lowerBound))
            }
            runs.append(group)
            next = group.range.upperBound
        }
        if next < options.count {
            runs.append(OptionGroup(title: nil, range: next..<options.count))
        }
        return runs
    }

    /// The title of a group of options.
    public func heading(_ title: String) -> StyledText {
        StyledText(title, environment.roles.dim.adding(.bold)).truncated()
    }

    /// The most options of one list that are drawn without opening it. A form may have 50,000, and
    /// each frame would draw all of them to show some.
    static let drawnMax = 1_000

    /// The options that are drawn: all of a usual list, otherwise those near the highlighted one.
    /// They change when it has moved by half of them, so that a list does not move at each key.
    var drawn: Range<Int> {
        guard options.count > Self.drawnMax else { return 0..<options.count }
        let half = Self.drawnMax / 2
        let start = current / half * half - half / 2
        let first = min(max(0, start), options.count - Self.drawnMax)
        return first..<first + Self.drawnMax
    }

    /// The options as blocks, with the titles of their groups above them, and the number of those
    /// that are not drawn.
    public func grouped(_ row: (Int) -> any Block) -> [any Block] {
        let drawn = drawn
        var blocks: [any Block] = []
        if drawn.lowerBound > 0 {
            blocks.append(remark(ControlWords.more(drawn.lowerBound, isAbove: true)))
        }
        for run in runs where run.range.overlaps(drawn) {
            if let title = run.title { blocks.append(heading(title)) }
            blocks += run.range.clamped(to: drawn).map(row)
        }
        let below = options.count - drawn.upperBound
        if below > 0 { blocks.append(remark(ControlWords.more(below, isAbove: false))) }
        return blocks
    }

    private func remark(_ text: String) -> StyledText {
        StyledText("… " + text, environment.roles.dim)
    }

    /// The mark of a list: a check, or a box where several can be picked.
    public func checkMark(_ index: Int) -> StyledText {
        let glyphs = environment.glyphs
        let roles = environment.roles
        let isOn = isSelected(index)
        if isMultiple { return boxMark(index) }
        let blank = String(repeating: " ", count: DisplayWidth.columns(of: glyphs.check))
        return StyledText(isOn ? glyphs.check : blank, state.isDimmed ? roles.dim : roles.accent)
    }

    /// The mark of a box that can be ticked.
    public func boxMark(_ index: Int) -> StyledText {
        let glyphs = environment.glyphs
        let roles = environment.roles
        let isOn = isSelected(index)
        let mark = state.isMixed ? glyphs.boxMixed : isOn ? glyphs.boxOn : glyphs.boxOff
        return StyledText(mark, isOn && !state.isDimmed ? roles.accent : roles.dim)
    }

    /// The mark of a radio button, or a box where several can be picked.
    public func radioMark(_ index: Int) -> StyledText {
        if isMultiple { return boxMark(index) }
        let glyphs = environment.glyphs
        let roles = environment.roles
        let isOn = isSelected(index)
        return StyledText(
            isOn ? glyphs.radioOn : glyphs.radioOff,
            isOn && !state.isDimmed ? roles.accent : roles.dim)
    }
}

/// A list that can be filtered, as menus and pushed lists show it.
public struct FilteredList: Block {
    public var configuration: PickerStyleConfiguration
    public var list: OpenList

    /// The options of a picker as far as `list` shows them.
    public init(configuration: PickerStyleConfiguration, list: OpenList) {
        self.configuration = configuration
        self.list = list
    }

    private var isFiltered: Bool { !list.filter.text.isEmpty }

    /// The lines: options, and the titles of groups where nothing is typed.
    private var rows: [(match: Int?, block: any Block)] {
        var rows: [(match: Int?, block: any Block)] = []
        var configuration = configuration
        configuration.cursor =
            list.matches.indices.contains(list.cursor) ? list.matches[list.cursor].index : nil
        // An open list has the keys.
        configuration.state.isFocused = true
        // Half of the options may begin a group of their own.
        let titles = Dictionary(
            configuration.groups.map { ($0.range.lowerBound, $0.title ?? "") },
            uniquingKeysWith: { first, _ in first })
        for (number, match) in list.matches.enumerated() {
            guard configuration.options.indices.contains(match.index) else { continue }
            if !isFiltered, let title = titles[match.index] {
                rows.append((nil, configuration.heading(title)))
            }
            rows.append(
                (
                    number,
                    OptionRow(
                        configuration: configuration, index: match.index,
                        mark: configuration.checkMark(match.index), positions: match.positions)
                ))
        }
        if rows.isEmpty {
            let dim = configuration.environment.roles.dim
            rows.append((nil, StyledText(ControlWords.noMatch, dim)))
        }
        return rows
    }

    /// `3 of 47`.
    public var count: String {
        ControlWords.matches(list.matches.count, of: configuration.options.count)
    }

    public func measure(width: Int) -> Size {
        let rows = rows
        let widest = rows.map { $0.block.measure(width: max(0, width - 1)).columns }.max() ?? 0
        return Size(
            columns: min(width, max(widest + 1, 22)), lines: 1 + min(list.linesMax, rows.count))
    }

    public func render(into canvas: inout Canvas, in rect: Rect) {
        let roles = configuration.environment.roles
        let filter = EditLine(
            editor: list.filter, prompt: ControlWords.filter, style: roles.text, isEditing: true,
            environment: configuration.environment)
        let glyph = StyledText("/ ", roles.accent)
        glyph.render(into: &canvas, in: rect.line(0))
        filter.render(into: &canvas, in: rect.line(0).inset(left: 2, right: 1))
        let rows = rows
        let window = max(1, rect.lines - 1)
        let line = rows.firstIndex { $0.match == list.cursor } ?? 0
        var scroll = list.scroll
        scroll.show(line..<line + 1, content: rows.count, window: window)
        Viewport(
            scroll, lines: window, environment: configuration.environment,
            Column(rows.map(\.block))
        ).render(into: &canvas, in: rect.inset(top: 1))
        // A screen reader follows the highlighted option. When text is typed, an input method needs
        // the cursor at the text.
        if isFiltered { filter.placeCursor(in: rect.line(0).inset(left: 2, right: 1), &canvas) }
    }
}
