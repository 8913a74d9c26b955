// The form as a column: sections with their titles, controls, runs, and the air between them.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
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
}
