// The screen of a live form: title and people, the form in a window, what the keys do.
//
// Invariants: the screen is a function of the model; the layout is returned with it, for the mouse.
// It is designed for 40x10 and larger; a smaller screen shows what fits.

internal import SyncCore
internal import TerminalUI

/// A screen.
struct LiveScreen {
    var canvas: Canvas
    var geometry: LiveGeometry
    var scroll: ScrollState
}

extension LiveModel {
    /// Draws the screen and stores the layout.
    mutating func draw() -> Canvas {
        // Moved out, so that changing it does not copy it.
        var drawn = DrawnParts()
        swap(&drawn, &self.drawn)
        let screen = mode == .form ? screen(&drawn) : prompt()
        self.drawn = drawn
        geometry = screen.geometry
        scroll = screen.scroll
        return screen.canvas
    }

    /// The environment for this width: the label column is as wide as the longest label.
    private func environment(_ drawn: inout DrawnParts) -> StyleEnvironment {
        let columns = drawn.labelColumns(of: presentation.definitions) {
            presentation.definition.controls.map { ControlLabel($0).columns }
        }
        let visible = columns.indices.lazy.filter { presentation.isVisible($0) }
        return around.environment.fittingLabels(
            columns: visible.map { columns[$0] }.max() ?? 0)
    }

    private func screen(_ drawn: inout DrawnParts) -> LiveScreen {
        let environment = environment(&drawn)
        drawn.begin(size: size, definition: presentation.definitions, environment)
        var canvas = Canvas(columns: size.columns, lines: size.lines)
        let columns = formColumns
        var top = 0
        func line(_ block: some Block) {
            block.render(into: &canvas, in: Rect(x: 0, y: top, columns: columns, lines: 1))
            top += 1
        }
        let title = drawn.drawing(of: headerLook, columns: columns) { header(environment) }
        line(Picture(title))
        // In place of the rule, so that the form does not move.
        if let banner = banner(environment) {
            line(keptBanner == nil ? AnyBlock(banner) : AnyBlock(Target(.command("kept"), banner)))
        } else if isRoomy {
            line(Picture(drawn.drawing(of: .rule, columns: columns) { rule(environment) }))
        }
        let footerLines = isRoomy ? 3 : 1
        let window = Rect(
            x: 0, y: top, columns: columns, lines: max(0, size.lines - top - footerLines))
        footer(environment, &drawn).render(
            into: &canvas,
            in: Rect(x: 0, y: window.maxY, columns: columns, lines: footerLines))
        var scroll = scroll
        var geometry = LiveGeometry()
        geometry.window = window
        switch page {
        case .form: drawForm(into: &canvas, environment, &drawn, &geometry, &scroll)
        case .keys:
            drawForm(into: &canvas, environment, &drawn, &geometry, &scroll)
            drawKeys(into: &canvas, in: window, environment)
        case .help(let scroll):
            let content = HelpPage.block(helpLines, environment)
            Viewport(scroll, lines: window.lines, environment: environment, content)
                .render(into: &canvas, in: window.inset(left: 1))
        case .people: people(environment).render(into: &canvas, in: window.inset(left: 1))
        case .find(let list): draw(find(list, environment), into: &canvas, in: window)
        case .palette(let list): draw(palette(list, environment), into: &canvas, in: window)
        case .history(let history):
            draw(history, into: &canvas, in: window.inset(left: 1), environment)
        case .forms(let options, let list):
            let forms = listPage(
                "Open a form", list, options, selected: presentation.form, environment)
            draw(forms, into: &canvas, in: window)
        }
        geometry.regions = canvas.regions
        return LiveScreen(canvas: canvas, geometry: geometry, scroll: scroll)
    }

    /// Whether there is space for more than the form: rules, and a line that describes the control.
    var isRoomy: Bool { size.lines >= 16 }

    /// The form is at most this wide, so that a value is never far from its label.
    var formColumns: Int { min(size.columns, 96) }

    // MARK: The form

    private func drawForm(
        into canvas: inout Canvas, _ environment: StyleEnvironment,
        _ drawn: inout DrawnParts, _ geometry: inout LiveGeometry, _ scroll: inout ScrollState
    ) {
        let window = geometry.window
        if let page = openPage(environment) {
            var place = window
            if let slide { place.x += slide.columns(of: window.columns, at: now) }
            return draw(page, into: &canvas, in: place)
        }
        // An empty column between the names and the scroll bar.
        let isWide = window.columns >= 60
        let gap = isWide ? 1 : 0
        let width = max(0, window.columns - 1)
        let content = content(
            environment, columns: max(0, width - gap), lines: window.lines, &drawn)
        geometry.frames = content.frames
        geometry.contentLines = content.measure(width: width).lines
        if followsFocus, let focus {
            let shown = focusedLines(focus, environment, geometry, width)
            if let shown {
                scroll.show(shown, content: geometry.contentLines, window: window.lines)
            }
        }
        scroll.scroll(by: 0, content: geometry.contentLines, window: window.lines)
        Viewport(scroll, lines: window.lines, environment: environment, content)
            .render(into: &canvas, in: window)
        drawMenu(into: &canvas, in: window, environment)
    }

    /// An open menu is drawn over the form, below its control, or above it if there is not enough
    /// space. So nothing else moves. If neither has enough space, it covers its control; the picked
    /// option is checked in the menu.
    private func drawMenu(
        into canvas: inout Canvas, in window: Rect, _ environment: StyleEnvironment
    ) {
        guard let activeEdit, case .list(let list) = activeEdit.kind,
            let index = presentation.index(activeEdit.field),
            let menu = menu(index, list, environment)
        else { return }
        let frame = canvas.frames.last { $0.owner == activeEdit.field }?.rect ?? window
        let value = canvas.regions.last { region in
            region.owner == activeEdit.field && region.target == .action(.close)
        }?.rect
        var x = value?.x ?? window.x + 2
        var size = menu.measure(width: max(0, window.maxX - 1 - x))
        let lines = min(size.lines, window.lines)
        let below = value?.maxY ?? frame.maxY
        let above = (value?.y ?? frame.y) - lines
        var y = below
        if below + lines > window.maxY { y = above }
        if y < window.y {
            // It covers its own control: beside it, parts of labels would be left.
            y = max(window.y, window.maxY - lines)
            x = window.x
            size.columns = window.columns - 1
        }
        let rect = Rect(x: x, y: y, columns: size.columns, lines: lines)
        canvas.fill(rect)
        canvas.owned(by: activeEdit.field, in: rect) { canvas in
            canvas.addRegion(rect, .action(.focus))
            canvas.clipped(to: rect) { menu.render(into: &$0, in: rect) }
        }
    }

    /// A list of options on the whole screen.
    private func openPage(_ environment: StyleEnvironment) -> Owned? {
        guard let activeEdit, case .list(let list) = activeEdit.kind,
            let index = presentation.index(activeEdit.field),
            style(index) == .navigationLink, let page = pickerPage(index, list, environment)
        else { return nil }
        return Owned(by: activeEdit.field, AnyBlock(page))
    }

    /// Draws a page in the column of labels, and nothing outside the window.
    private func draw(_ page: some Block, into canvas: inout Canvas, in window: Rect) {
        let place = window.inset(left: ControlFrame.gutter(in: window.columns), right: 1)
        canvas.clipped(to: window) { page.render(into: &$0, in: place) }
    }

    /// The lines that must be visible: those of the control, or those around the cursor in a tall
    /// one; at the ends of the form also parts that cannot have the focus.
    private func focusedLines(
        _ focus: Focus, _ environment: StyleEnvironment, _ geometry: LiveGeometry, _ width: Int
    ) -> Range<Int>? {
        guard let frame = geometry.frames.last(where: { $0.owner == Self.owner(of: focus) })?.rect
        else { return nil }
        if frame.lines > geometry.window.lines, case .control(let field) = focus,
            let index = presentation.index(field)
        {
            let alone = Canvas.drawing(AnyBlock(view(index, environment)), columns: width)
            let y = frame.y + (alone.cursor?.y ?? 0)
            return y..<y + 1
        }
        let all = focusable
        let isFirst = focus == all.first && frame.maxY <= geometry.window.lines
        let isLast =
            focus == all.last && geometry.contentLines - frame.y <= geometry.window.lines
        return (isFirst ? 0 : frame.y)..<(isLast ? geometry.contentLines : frame.maxY)
    }

    /// A visible control of this frame. Its look is computed once, as the space needs it too.
    private struct VisibleControl {
        let index: Int
        let look: ControlLook
    }

    /// A section of this frame: a row has one control, or buttons side by side.
    private struct VisibleSection {
        let number: Int
        let section: FormSection
        let rows: [[VisibleControl]]
    }

    /// The sections that have a visible control; a folded one without its rows.
    private var visibleSections: [VisibleSection] {
        presentation.definition.sections.enumerated().compactMap { number, section in
            let visible = section.fields.filter { presentation.isVisible($0) }
            if visible.isEmpty { return nil }
            let rows = folded.contains(number) ? [] : presentation.definition.rows(of: visible)
            return VisibleSection(
                number: number, section: section,
                rows: rows.map { $0.map { VisibleControl(index: $0, look: look($0)) } })
        }
    }

    private func content(
        _ environment: StyleEnvironment, columns: Int, lines: Int, _ drawn: inout DrawnParts
    ) -> DrawnColumn {
        var column = DrawnColumn(columns: columns)
        func note(_ text: String) {
            let canvas = drawn.drawing(of: .note(text), columns: columns) {
                let left = ControlFrame.gutter(in: columns)
                return Padding(left: left, StyledText(text, environment.roles.dim))
            }
            column.append(canvas)
        }
        let sections = visibleSections
        let air = air(sections, environment, columns: columns, lines: lines, &drawn)
        if isRoomy, let subtitle = presentation.definition.subtitle { note(subtitle) }
        for visible in sections {
            let (number, section) = (visible.number, visible.section)
            if !column.isEmpty { column.appendLine() }
            if section.title != nil || folded.contains(number) {
                let look = PartLook.section(sectionLook(section, number))
                let canvas = drawn.drawing(of: look, columns: columns) {
                    title(of: section, number, environment)
                }
                column.append(canvas, of: "#\(number)")
            }
            if folded.contains(number) { continue }
            var wasInput = false
            for (place, row) in visible.rows.enumerated() {
                if place > 0,
                    air == .everywhere || air == .inputs && isInput(row[0].index) && wasInput
                {
                    column.appendLine()
                }
                wasInput = isInput(row[row.count - 1].index)
                if row.count > 1 {
                    append(buttons: row, to: &column, environment, &drawn)
                } else {
                    append(row[0], to: &column, environment, &drawn)
                    append(runsBelow: row, to: &column, environment, &drawn)
                }
            }
            if let footer = section.footer { note(footer) }
        }
        return column
    }

    private func append(
        _ control: VisibleControl, to column: inout DrawnColumn, _ environment: StyleEnvironment,
        _ drawn: inout DrawnParts
    ) {
        let look = PartLook.control(control.index, control.look)
        let canvas = drawn.drawing(of: look, columns: column.columns) {
            AnyBlock(view(control.index, environment))
        }
        column.append(canvas, of: presentation.definition.controls[control.index].id)
    }

    private func append(
        buttons: [VisibleControl], to column: inout DrawnColumn, _ environment: StyleEnvironment,
        _ drawn: inout DrawnParts
    ) {
        let row = drawn.drawing(
            of: .buttons(buttons.map(\.look), first: buttons[0].index), columns: column.columns
        ) {
            let items = buttons.compactMap { button($0.index, environment) }
            return AnyBlock(ButtonRow(items).block(in: environment))
        }
        column.append(row)
        append(runsBelow: buttons, to: &column, environment, &drawn)
        // The question of a button is below the row, so that no button moves.
        guard let activeEdit, case .confirm = activeEdit.kind,
            let index = presentation.index(activeEdit.field),
            let button = buttons.first(where: { $0.index == index })
        else { return }
        append(button, to: &column, environment, &drawn)
    }

    /// A line for each of these buttons with `runs`. It is there before the first press, so that a
    /// press moves nothing.
    private func append(
        runsBelow row: [VisibleControl], to column: inout DrawnColumn,
        _ environment: StyleEnvironment, _ drawn: inout DrawnParts
    ) {
        let columns = column.columns
        for index in withRuns(row.map(\.index)) {
            let look = runLook(index)
            let canvas = drawn.drawing(of: .run(look), columns: columns) {
                Padding(
                    left: ControlFrame.gutter(in: columns),
                    runLine(look, environment, columns: columns))
            }
            column.append(canvas)
        }
    }

    /// Where there are empty lines between controls.
    private enum Air { case nowhere, inputs, everywhere }

    /// Whether a control is drawn on a filled ground, which would join with that of its neighbour.
    private func isInput(_ index: Int) -> Bool {
        switch presentation.definition.controls[index].kind {
        case .picker: shape(index) == .closed || style(index) == .segmented
        case .date: style(index) != .wheel
        case .text, .secure, .stepper, .button: true
        case .wheels, .toggle, .slider, .gauge, .label: false
        }
    }

    /// As much air as there is space for. It depends on the form at rest, so that what is told
    /// later moves nothing. A form that scrolls in any case has air too.
    private func air(
        _ sections: [VisibleSection], _ environment: StyleEnvironment, columns: Int, lines: Int,
        _ drawn: inout DrawnParts
    ) -> Air {
        var needed = isRoomy && presentation.definition.subtitle != nil ? 1 : 0
        var (all, inputs) = (0, 0)
        for visible in sections {
            if needed > 0 { needed += 1 }
            let isFolded = folded.contains(visible.number)
            if visible.section.title != nil || isFolded { needed += 1 }
            if isFolded { continue }
            if visible.section.footer != nil { needed += 1 }
            for (place, row) in visible.rows.enumerated() {
                let index = row[0].index
                needed += drawn.restingLines(of: index, row[0].look) {
                    controlView(index, environment).block(in: environment)
                        .measure(width: columns).lines
                }
                needed += withRuns(row.map(\.index)).count
                guard place > 0 else { continue }
                all += 1
                if isInput(index), isInput(visible.rows[place - 1][0].index) { inputs += 1 }
            }
        }
        if needed + all <= lines { return .everywhere }
        return needed + inputs <= lines || isRoomy && needed > lines ? .inputs : .nowhere
    }

    private func title(
        of section: FormSection, _ number: Int, _ environment: StyleEnvironment
    ) -> Target {
        let look = sectionLook(section, number)
        let glyphs = environment.glyphs
        let roles = environment.roles
        let isFocused = look.isFocused
        let gutter = ControlFrame.gutter(in: formColumns - 2)
        let bar = isFocused ? glyphs.focusBar : " "
        var text = StyledText(String(repeating: " ", count: gutter / 2 - 1) + bar, roles.accent)
        if look.isFolded { text = text.appending(glyphs.collapsed + " ", roles.dim) }
        text = text.appending(section.title ?? "More", roles.heading)
        if look.isFolded {
            text = text.appending("  \(section.fields.count) hidden", roles.dim)
            if look.problems > 0 {
                text = text.appending("  \(glyphs.cross) \(look.problems)", roles.error)
            }
        }
        let focusRow = Drawing(size: { Size(columns: $0, lines: 1) }) { canvas, rect in
            text.truncated().render(into: &canvas, in: rect)
            guard isFocused else { return }
            canvas.setCursor(rect.origin)
            if roles.row != .standard {
                canvas.restyle(rect.inset(left: gutter / 2 - 1)) { $0.background = roles.row }
            }
        }
        return Target(.fold, focusRow)
    }

    // MARK: Under the prompt

    private func prompt() -> LiveScreen {
        var drawn = DrawnParts()
        let environment = environment(&drawn)
        guard let index = focusedIndex else {
            return LiveScreen(
                canvas: Canvas(columns: size.columns, lines: 1), geometry: LiveGeometry(),
                scroll: scroll)
        }
        let content = Column {
            Owned(by: focusedField ?? "", AnyBlock(view(index, environment)))
            if let banner = banner(environment) { banner }
            if words.kind == .about || words.kind == .choice {
                hintLine(environment)
            } else {
                said(words, environment)
            }
        }
        let height = content.measure(width: size.columns).lines
        let lines = min(height, max(1, size.lines - 1))
        var scroll = ScrollState()
        let whole = Canvas.drawing(content, columns: size.columns, lines: height)
        if let cursor = whole.cursor {
            scroll.show(cursor.y..<cursor.y + 1, content: height, window: lines)
        }
        var canvas = Canvas(columns: size.columns, lines: lines)
        content.render(
            into: &canvas,
            in: Rect(x: 0, y: -scroll.offset, columns: size.columns, lines: height))
        var geometry = LiveGeometry()
        geometry.regions = canvas.regions
        geometry.window = canvas.buffer.bounds
        return LiveScreen(canvas: canvas, geometry: geometry, scroll: self.scroll)
    }

    /// The one line that `pick` leaves on the screen.
    var summary: StyledText {
        guard let index = focusedIndex else { return StyledText("") }
        let roles = around.environment.roles
        let control = presentation.definition.controls[index]
        let text: String
        if case .secure = control.kind {
            text = "set"
        } else {
            text = picked.map { presentation.text($0, of: index) } ?? valueText(index)
        }
        return StyledText(around.environment.glyphs.check + " ", roles.success)
            .appending(control.title + "  ", roles.dim).appending(text, roles.text).truncated()
    }
}
