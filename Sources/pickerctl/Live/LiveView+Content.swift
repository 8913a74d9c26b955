// The form as a column: sections with their titles, controls, runs, and the air between them.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// A visible control of this frame. Its look is computed once, as the space needs it too.
    struct VisibleControl {
        let index: Int
        let look: ControlLook
    }

    /// A row of this frame with its drawing: one control, or buttons side by side.
    private struct VisibleRow {
        let controls: [VisibleControl]
        var canvas: Canvas

        var first: Int { controls[0].index }
        var last: Int { controls[controls.count - 1].index }
    }

    /// A section of this frame.
    private struct VisibleSection {
        let number: Int
        let section: FormSection
        let rows: [VisibleRow]
    }

    /// The sections that have a visible control; a folded one without its rows.
    private func visibleSections(
        _ environment: StyleEnvironment, columns: Int, _ drawn: inout DrawnParts
    ) -> [VisibleSection] {
        var sections: [VisibleSection] = []
        for (number, section) in presentation.definition.sections.enumerated() {
            let visible = section.fields.filter { presentation.isVisible($0) }
            if visible.isEmpty { continue }
            let rows = folded.contains(number) ? [] : presentation.definition.rows(of: visible)
            sections.append(
                VisibleSection(
                    number: number, section: section,
                    rows: rows.map { row in
                        let controls = row.map { VisibleControl(index: $0, look: look($0)) }
                        return VisibleRow(
                            controls: controls,
                            canvas: drawing(of: controls, environment, columns: columns, &drawn))
                    }))
        }
        return sections
    }

    func drawing(
        of row: [VisibleControl], _ environment: StyleEnvironment, columns: Int,
        isTight: Bool = false, _ drawn: inout DrawnParts
    ) -> Canvas {
        let first = row[0].index
        if row.count == 1 {
            return drawn.drawing(of: .control(first, row[0].look), columns: columns) {
                AnyBlock(view(first, row[0].look, environment))
            }
        }
        let look = PartLook.buttons(row.map(\.look), first: first, isTight: isTight)
        return drawn.drawing(of: look, columns: columns) {
            var environment = environment
            environment.isTight = isTight
            return AnyBlock(
                ButtonRow(row.compactMap { button($0.index, environment) }).block(in: environment))
        }
    }

    /// The sections and controls one below the other, with air as space allows.
    func content(
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
        let sections = visibleSections(environment, columns: columns, &drawn)
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
            for (place, row) in visible.rows.enumerated() {
                var canvas = row.canvas
                if place > 0 {
                    let above = visible.rows[place - 1]
                    if isApart(row, from: above, air) {
                        column.appendLine()
                    } else if row.controls.count > 1, ground(above.last) == .input {
                        canvas = drawing(
                            of: row.controls, environment, columns: columns, isTight: true, &drawn)
                    }
                }
                let isOne = row.controls.count == 1
                column.append(
                    canvas, of: isOne ? presentation.definition.controls[row.first].id : nil)
                if isOne || !append(questionBelow: row, to: &column, environment, &drawn) {
                    append(runsBelow: row.controls, to: &column, environment, &drawn)
                }
            }
            if let footer = section.footer { note(footer) }
        }
        return column
    }

    /// The question of a button is below its row, in the lines that are kept for runs: so nothing
    /// moves, and the form does not scroll. Returns whether there is one.
    private func append(
        questionBelow row: VisibleRow, to column: inout DrawnColumn,
        _ environment: StyleEnvironment, _ drawn: inout DrawnParts
    ) -> Bool {
        guard let activeEdit, case .confirm = activeEdit.kind,
            let index = presentation.index(activeEdit.field),
            let button = row.controls.first(where: { $0.index == index }),
            let view = controlView(index, environment) as? ButtonView
        else { return false }
        let look = PartLook.question(index, button.look)
        let canvas = drawn.drawing(of: look, columns: column.columns) {
            let control = presentation.definition.controls[index]
            return AnyBlock(
                view.questionBelow(in: environment.styled(style(index), for: control.type)))
        }
        column.append(canvas, of: activeEdit.field)
        let kept = withRuns(row.controls.map(\.index)).count
        for _ in 0..<max(0, kept - canvas.buffer.lines) { column.appendLine() }
        return true
    }

    /// A line for each of these buttons with `runs`. It is there before the first press, so that a
    /// press moves nothing.
    private func append(
        runsBelow row: [VisibleControl], to column: inout DrawnColumn,
        _ environment: StyleEnvironment, _ drawn: inout DrawnParts
    ) {
        let columns = column.columns
        for index in withRuns(row.map(\.index)) {
            var look = runLook(index)
            // A run that has ended says of which button; a bar needs the space.
            if row.count > 1, look.mark == .done || look.mark == .failed {
                let title = presentation.definition.controls[index].title
                look.texts = look.texts.map { $0.isEmpty ? $0 : "\(title): \($0)" }
            }
            let canvas = drawn.drawing(of: .run(look), columns: columns) {
                ControlFrame(
                    ControlState(), environment, isWide: true,
                    LabeledRow(
                        ControlLabel(""), ControlState(), environment,
                        runLine(look, environment, columns: columns)))
            }
            column.append(canvas)
        }
    }

    /// Where there are empty lines between controls: between inputs of one width, between all that
    /// have a ground, or everywhere.
    private enum Air { case nowhere, inputs, grounds, everywhere }

    /// What a control is drawn on. Two grounds without a line between them look like one.
    private enum Ground: Equatable { case none, some, input }

    private func ground(_ index: Int) -> Ground {
        switch presentation.definition.controls[index].kind {
        case .picker:
            shape(index) == .closed ? .input : style(index) == .segmented ? .some : .none
        case .date: style(index) == .wheel ? .none : style(index) == .graphical ? .some : .input
        case .text, .secure: .input
        case .stepper, .button: .some
        case .wheels, .toggle, .slider, .gauge, .label: .none
        }
    }

    /// Whether there is an empty line between two rows.
    private func isApart(_ row: VisibleRow, from above: VisibleRow, _ air: Air) -> Bool {
        let pair = (ground(above.last), ground(row.first))
        switch air {
        case .nowhere: return false
        case .inputs: return pair == (.input, .input)
        case .grounds: return pair.0 != .none && pair.1 != .none
        case .everywhere: return true
        }
    }

    /// As much air as there is space for. It depends on the form at rest, so that what is told
    /// later moves nothing. A form that scrolls in any case has air too.
    private func air(
        _ sections: [VisibleSection], _ environment: StyleEnvironment, columns: Int, lines: Int,
        _ drawn: inout DrawnParts
    ) -> Air {
        var needed = isRoomy && presentation.definition.subtitle != nil ? 1 : 0
        var lacking: [Air: Int] = [:]
        for visible in sections {
            if needed > 0 { needed += 1 }
            let isFolded = folded.contains(visible.number)
            if visible.section.title != nil || isFolded { needed += 1 }
            if isFolded { continue }
            if visible.section.footer != nil { needed += 1 }
            for (place, row) in visible.rows.enumerated() {
                needed += restingLines(of: row, environment, columns: columns, &drawn)
                needed += withRuns(row.controls.map(\.index)).count
                guard place > 0 else { continue }
                for air in [Air.inputs, .grounds, .everywhere]
                where isApart(row, from: visible.rows[place - 1], air) {
                    lacking[air, default: 0] += 1
                }
            }
        }
        func fits(_ air: Air) -> Bool { needed + lacking[air, default: 0] <= lines }
        if fits(.everywhere) { return .everywhere }
        if fits(.grounds) || isRoomy && needed > lines { return .grounds }
        return fits(.inputs) ? .inputs : .nowhere
    }

    /// The lines of a row without the cards of a conflict.
    private func restingLines(
        of row: VisibleRow, _ environment: StyleEnvironment, columns: Int,
        _ drawn: inout DrawnParts
    ) -> Int {
        let look = row.controls[0].look
        if row.controls.count > 1 || look.cards.isEmpty { return row.canvas.buffer.lines }
        return drawn.restingLines(of: row.first, look) {
            let control = presentation.definition.controls[row.first]
            let environment = environment.styled(style(row.first), for: control.type)
            return controlView(row.first, environment).block(in: environment)
                .measure(width: columns).lines
        }
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
        text = text.appending(section.title ?? LiveWords.section, roles.heading)
        if look.isFolded {
            text = text.appending("  " + LiveWords.hidden(section.fields.count), roles.dim)
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
}
