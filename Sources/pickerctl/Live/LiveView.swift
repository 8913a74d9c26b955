// The screen of a live form: title and people, the form in a window, what the keys do.
//
// Invariants: the screen is a function of the model; the layout is returned with it, for the mouse.
// It is designed for 40x10 and larger; a smaller screen shows what fits.

internal import SyncCore
internal import TerminalUI

/// The layout of the last frame, for the mouse and for paging.
struct LiveGeometry {
    var regions: [HitRegion] = []
    /// The positions of the controls in the whole form, from its first line.
    var frames: [OwnedFrame] = []
    /// The window in which the form is displayed.
    var window = Rect(x: 0, y: 0, columns: 0, lines: 0)
    var contentLines = 0

    /// The topmost region at a position.
    func region(at point: Point) -> HitRegion? {
        regions.last { $0.rect.contains(point) }
    }
}

/// A screen.
struct LiveScreen {
    var canvas: Canvas
    var geometry: LiveGeometry
    var scroll: ScrollState
}

extension LiveModel {
    /// Draws the screen and stores the layout.
    mutating func draw() -> Canvas {
        if let canvas = drawChangedRows() { return canvas }
        // Moved out, so that changing it does not copy it.
        var drawn = DrawnParts()
        swap(&drawn, &self.drawn)
        let screen = mode == .form ? screen(&drawn) : prompt()
        drawn.frame = screen.canvas
        self.drawn = drawn
        stale = .rows([])
        geometry = screen.geometry
        scroll = screen.scroll
        drawnLines = nil
        return screen.canvas
    }

    /// The environment for this width: the label column is as wide as the longest label.
    func environment(_ drawn: inout DrawnParts) -> StyleEnvironment {
        let columns = drawn.labelColumns(of: presentation.definitions) {
            presentation.definition.controls.map { ControlLabel($0).columns }
        }
        var widest = 0
        for index in columns.indices where presentation.isVisible(index) {
            widest = max(widest, columns[index])
        }
        return around.environment
            .fittingLabels(columns: widest, presentation.definition.labelAlignment)
            .with { $0.isLow = !isRoomy }
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
        case .palette(let options, let list):
            draw(
                listPage(LiveWords.commands, list, options, environment), into: &canvas, in: window)
        case .history(let history):
            draw(history, into: &canvas, in: window.inset(left: 1), environment)
        case .explanation(let explanation):
            draw(explanation, into: &canvas, in: window.inset(left: 1), environment)
        case .proposals(let selected):
            draw(
                proposals: selected, into: &canvas, in: window.inset(left: 1), environment)
        case .forms(let options, let list):
            let forms = listPage(
                LiveWords.openForm, list, options, selected: presentation.form, environment)
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
        var content = content(
            environment, columns: max(0, width - gap), lines: window.lines, &drawn)
        geometry.frames = content.frames
        geometry.contentLines = content.measure(width: width).lines
        if followsFocus, let focus {
            let shown = focusedLines(focus, environment, geometry, width)
            if let shown {
                scroll.show(shown, content: geometry.contentLines, window: window.lines)
                beginWithPart(of: &content, keeping: shown, &geometry, &scroll)
            }
        }
        scroll.scroll(by: 0, content: geometry.contentLines, window: window.lines)
        Viewport(scroll, lines: window.lines, environment: environment, content)
            .render(into: &canvas, in: window)
        drawMenu(into: &canvas, in: window, environment)
    }

    /// Scrolls so that the first line of the window is the first one of a control or a title: a
    /// value without its label would not say whose it is, and an empty line is of no use there.
    private func beginWithPart(
        of content: inout DrawnColumn, keeping shown: Range<Int>, _ geometry: inout LiveGeometry,
        _ scroll: inout ScrollState
    ) {
        guard scroll.offset > 0 else { return }
        let (lines, window) = (geometry.contentLines, geometry.window.lines)
        if let part = content.part(at: scroll.offset) {
            scroll.showWhole(part, keeping: shown, content: lines, window: window)
        }
        if scroll.offset < shown.lowerBound, content.part(at: scroll.offset) == nil {
            let below = max(lines, scroll.offset + window) + 1
            scroll.scroll(by: 1, content: below, window: window)
        }
        while geometry.contentLines < scroll.offset + window {
            content.appendLine()
            geometry.contentLines += 1
        }
    }

    /// An open menu is drawn over the form, below its control, or above it if there is not enough
    /// space. So nothing else moves. If neither has enough space, it covers its control; the picked
    /// option is checked in the menu.
    private func drawMenu(
        into canvas: inout Canvas, in window: Rect, _ environment: StyleEnvironment
    ) {
        guard let activeEdit, case .list(let list) = activeEdit.kind,
            let index = presentation.index(activeEdit.field)
        else { return }
        let frame = canvas.frames.last { $0.owner == activeEdit.field }?.rect ?? window
        let value = canvas.regions.last { region in
            region.owner == activeEdit.field && region.target == .action(.close)
        }?.rect
        var environment = environment
        if let value {
            environment.inputColumns = min(environment.inputColumns, value.columns)
        }
        guard let menu = menu(index, list, environment) else { return }
        var x = value?.x ?? window.x + 2
        var size = menu.measure(width: max(0, window.maxX - 1 - x))
        let lines = min(size.lines, window.lines)
        let below = value?.maxY ?? frame.maxY
        let above = (value?.y ?? frame.y) - lines
        var y = below
        if below + lines > window.maxY { y = above }
        if y < window.y {
            // It covers its own control: beside it, parts of labels would be left. The scroll bar
            // would look like a second edge.
            y = max(window.y, window.maxY - lines)
            x = window.x
            size.columns = window.columns
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
            let alone = Canvas.drawing(
                AnyBlock(view(index, look(index), environment)), columns: width)
            let y = frame.y + (alone.cursor?.y ?? 0)
            return y..<y + 1
        }
        let all = focusable
        let isFirst = focus == all.first && frame.maxY <= geometry.window.lines
        let isLast =
            focus == all.last && geometry.contentLines - frame.y <= geometry.window.lines
        return (isFirst ? 0 : frame.y)..<(isLast ? geometry.contentLines : frame.maxY)
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
            Owned(by: focusedField ?? "", AnyBlock(view(index, look(index), environment)))
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
            text = ControlWords.secret(isSet: true)
        } else {
            text = picked.map { presentation.text($0, of: index) } ?? valueText(index)
        }
        return StyledText(around.environment.glyphs.check + " ", roles.success)
            .appending(control.title + "  ", roles.dim).appending(text, roles.text).truncated()
    }
}
