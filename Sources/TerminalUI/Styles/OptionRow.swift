// One option in a list: pointer, mark, symbol, label, subtitle.

import SyncCore

/// A line of a list of options.
struct OptionRow: Block {
    var configuration: PickerStyleConfiguration
    var index: Int
    /// What says whether it is picked, as wide in either case.
    var mark: StyledText
    /// The clusters of the label that the filter matched.
    var positions: [Int] = []
    /// Columns for the pointer of the keys; 0 where there is none.
    var hasPointer = true

    private var option: PickerOption { configuration.options[index] }
    private var isCurrent: Bool {
        configuration.state.isFocused && configuration.current == index
    }

    private var line: StyledText {
        let roles = configuration.environment.roles
        let isOut = option.isDisabled || configuration.state.isDimmed
        let isPicked = configuration.isSelected(index)
        var style = isOut ? roles.dim : isPicked ? roles.accent : roles.text
        if isCurrent { style = isOut ? roles.dim.adding(.bold) : roles.accent }
        if option.tag.isNull, !isCurrent { style = roles.dim }
        var line = StyledText("")
        if hasPointer {
            let glyphs = configuration.environment.glyphs
            line = StyledText(isCurrent ? glyphs.pointer + " " : "  ", roles.accent)
        }
        line = line + mark + StyledText(" ")
        if let symbol = option.symbol {
            let tint = option.tint.map { roles.color($0) } ?? style.foreground
            line = line.appending(symbol + " ", style.foreground(tint))
        } else if let tint = option.tint {
            let glyphs = configuration.environment.glyphs
            line = line.appending(glyphs.tint + " ", CellStyle(roles.color(tint)))
        }
        for (offset, cluster) in option.label.enumerated() {
            let isMatch = positions.contains(offset)
            line = line.appending(String(cluster), isMatch ? style.adding(.underline) : style)
        }
        if let subtitle = option.subtitle { line = line.appending("  " + subtitle, roles.dim) }
        if option.isDisabled { line = line.appending("  (unavailable)", roles.dim) }
        if let ghost = configuration.state.ghost,
            PickerStyleConfiguration.isSameTag(ghost.value, option.tag)
        {
            // Whose hand is on it.
            let style = ghost.by.map { roles.peer($0.number) } ?? roles.ghost
            line = line.appending("  " + configuration.environment.glyphs.ghost, style)
        }
        return line.truncated()
    }

    func measure(width: Int) -> Size { line.measure(width: width) }

    func render(into canvas: inout Canvas, in rect: Rect) {
        if configuration.state.isEditable, !option.isDisabled {
            canvas.addRegion(rect, .action(.option(option.tag)))
        }
        line.render(into: &canvas, in: rect)
        if isCurrent { canvas.setCursor(rect.origin) }
    }
}

extension PickerStyleConfiguration {
    /// The options with the titles of their groups above them.
    func grouped(_ row: (Int) -> any Block) -> [any Block] {
        var blocks: [any Block] = []
        for index in options.indices {
            if let group = groups.first(where: { $0.range.lowerBound == index }) {
                blocks.append(StyledText(group.title ?? "", environment.roles.dim.adding(.bold)))
            }
            blocks.append(row(index))
        }
        return blocks
    }

    /// The mark of a list: a check, or a box where several can be picked.
    func checkMark(_ index: Int) -> StyledText {
        let glyphs = environment.glyphs
        let roles = environment.roles
        let isOn = isSelected(index)
        if isMultiple { return boxMark(index) }
        let blank = String(repeating: " ", count: DisplayWidth.columns(of: glyphs.check))
        return StyledText(isOn ? glyphs.check : blank, state.isDimmed ? roles.dim : roles.accent)
    }

    /// The mark of a box that can be ticked.
    func boxMark(_ index: Int) -> StyledText {
        let glyphs = environment.glyphs
        let roles = environment.roles
        let isOn = isSelected(index)
        let mark = state.isMixed ? glyphs.boxMixed : isOn ? glyphs.boxOn : glyphs.boxOff
        return StyledText(mark, isOn && !state.isDimmed ? roles.accent : roles.dim)
    }

    /// The mark of a radio button, or a box where several can be picked.
    func radioMark(_ index: Int) -> StyledText {
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
struct FilteredList: Block {
    var configuration: PickerStyleConfiguration
    var list: OpenList

    private var isFiltered: Bool { !list.filter.text.isEmpty }

    /// The lines: options, and the titles of groups where nothing is typed.
    private var rows: [(match: Int?, block: any Block)] {
        var rows: [(match: Int?, block: any Block)] = []
        var configuration = configuration
        configuration.cursor =
            list.matches.indices.contains(list.cursor) ? list.matches[list.cursor].index : nil
        // An open list has the keys.
        configuration.state.isFocused = true
        for (number, match) in list.matches.enumerated() {
            guard configuration.options.indices.contains(match.index) else { continue }
            if !isFiltered,
                let group = configuration.groups.first(where: {
                    $0.range.lowerBound == match.index
                })
            {
                let style = configuration.environment.roles.dim.adding(.bold)
                rows.append((nil, StyledText(group.title ?? "", style).truncated()))
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
            rows.append((nil, StyledText("nothing matches", configuration.environment.roles.dim)))
        }
        return rows
    }

    /// `3 of 47`.
    var count: String {
        let total = configuration.options.count
        return list.matches.count == total ? "\(total)" : "\(list.matches.count) of \(total)"
    }

    func measure(width: Int) -> Size {
        let rows = rows
        let widest = rows.map { $0.block.measure(width: max(0, width - 1)).columns }.max() ?? 0
        return Size(
            columns: min(width, max(widest + 1, 22)), lines: 1 + min(list.linesMax, rows.count))
    }

    func render(into canvas: inout Canvas, in rect: Rect) {
        let roles = configuration.environment.roles
        let filter = EditLine(
            editor: list.filter, prompt: "type to filter", style: roles.text, isEditing: true,
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
        // A screen reader follows the option that the keys are at; once something is typed, an
        // input method needs the cursor where it goes.
        if isFiltered { filter.placeCursor(in: rect.line(0).inset(left: 2, right: 1), &canvas) }
    }
}
