// The mouse: clicks, drags and the wheel, by the regions of the drawn frame.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    mutating func mouse(_ event: MouseEvent, _ commands: inout [LiveCommand]) {
        switch event.kind {
        case .press(.left): pressed(at: event.point, &commands)
        case .drag(.left):
            guard let drag, let owner = drag.owner else { return }
            switch drag.action(at: event.point) {
            case .track(let position, let last): track(owner, position, last)
            case .cursor(let offset): moveTextCursor(to: offset, extending: true)
            default: break
            }
        case .release:
            guard let drag else { return }
            self.drag = nil
            if case .track = drag.target, mode == .form { commitEdit(&commands) }
        case .wheelUp: wheel(-1, at: event.point, &commands)
        case .wheelDown: wheel(1, at: event.point, &commands)
        case .press, .drag, .move, .wheelLeft, .wheelRight: break
        }
    }

    private mutating func pressed(at point: Point, _ commands: inout [LiveCommand]) {
        if case .action(.command(let name))? = geometry.region(at: point)?.target {
            return clicked(name, &commands)
        }
        if case .typed(let asked)? = question { withdraw(asked) }
        question = nil
        switch page {
        case .keys, .help, .people, .history, .explanation, .proposals: page = .form
        case .find, .palette, .forms: return clickedPage(at: point, &commands)
        case .form: break
        }
        let region = geometry.region(at: point)
        if isMenuOpen, region?.owner != activeEdit?.field {
            // A click outside a menu only closes it.
            return cancelEdit()
        }
        guard let region, let owner = region.owner else {
            if mode == .form, leaveTyping() { commitEdit(&commands) }
            return
        }
        let target = Self.focus(of: owner)
        if mode == .form, activeEdit.map({ .control($0.field) != target }) ?? false {
            guard leaveTyping() else { return }
            commitEdit(&commands)
        }
        if mode == .form, focusable.contains(target), focus != target {
            moveFocus(to: target)
            isReady = true
            // The clicked position is visible already, so the screen does not scroll.
            followsFocus = false
        }
        guard let field = focusedField, field == owner else {
            if case .section(let section) = target { fold(section) }
            return
        }
        apply(region.action(at: point), to: field, &commands)
        switch region.target {
        case .track, .text: drag = region
        case .action: break
        }
    }

    /// A click on a page of commands or controls: the same as Enter there; elsewhere, the way back.
    private mutating func clickedPage(at point: Point, _ commands: inout [LiveCommand]) {
        let clicked = page
        page = .form
        guard case .action(.option(let tag))? = geometry.region(at: point)?.target,
            let name = tag.stringValue
        else { return }
        switch clicked {
        case .palette: carryOut(command: name, &commands)
        case .forms: open(form: name, &commands)
        default: moveFocus(to: .control(name))
        }
    }

    /// The effect of a click.
    private mutating func apply(
        _ action: ControlAction, to field: String, _ commands: inout [LiveCommand]
    ) {
        guard let index = presentation.index(field), !showCardsAgain(index) else { return }
        switch action {
        case .focus, .fold: break
        case .option(let tag): choose(tag, in: field, &commands)
        case .open: if mayEdit(field) { openList(index) }
        case .close: cancelEdit()
        case .toggle: if mode == .form { act(&commands) } else { _ = tick(&commands) }
        case .press: act(&commands)
        case .confirm: press(field, &commands)
        case .cancel: cancelEdit()
        case .increment: turn(1, &commands)
        case .decrement: turn(-1, &commands)
        case .track(let position, let last): track(field, position, last)
        case .cursor(let offset):
            if activeEdit == nil { editText() }
            moveTextCursor(to: offset, extending: false)
        case .row(let part, let tag): pickRow(part, tag, index, &commands)
        case .part(let part): parts[field] = part
        case .day(let day):
            months[field] = nil
            pickDay(day, in: field, &commands)
        case .turn(let count): turnCalendar(index, by: count)
        case .scroll(let step):
            for _ in 0..<6 { horizontal(step, &commands) }
        case .take(let number): chooseCard(number, of: index)
        case .command: break
        }
    }

    /// A click on the header or the footer: the name of an action, or a key as hints show it.
    private mutating func clicked(_ name: String, _ commands: inout [LiveCommand]) {
        if let action = KeyAction(rawValue: name) {
            page = .form
            return perform(action, &commands)
        }
        // Of several keys, the first.
        let first = name.firstIndex(of: " ").map { String(name[..<$0]) } ?? name
        if let event = around.keys.event(shownAs: first) { key(event, &commands) }
    }

    /// The thumb follows the mouse; the value is set when the button is released.
    private mutating func track(_ field: String, _ position: Int, _ last: Int) {
        guard let index = presentation.index(field), mayEdit(field),
            let domain = presentation.definition.controls[index].numberDomain,
            let range = TrackRange(domain), let number = range.value(at: position, last: last),
            let snapped = domain.snapped(number)
        else { return }
        take(field, .value(.number(snapped), setsAt: nil))
    }

    private mutating func moveTextCursor(to offset: Int, extending: Bool) {
        switch activeEdit?.kind {
        case .text(var editor)?:
            editor.move(to: offset, extending: extending)
            activeEdit?.kind = .text(editor)
        case .number(var editor)?:
            editor.move(to: offset, extending: extending)
            activeEdit?.kind = .number(editor)
        case .list(var list)?:
            list.filter.move(to: offset, extending: extending)
            activeEdit?.kind = .list(list)
        default: break
        }
    }

    private mutating func pickRow(
        _ part: Int, _ tag: JSON, _ index: Int, _ commands: inout [LiveCommand]
    ) {
        let control = presentation.definition.controls[index]
        parts[control.id] = part
        switch control.kind {
        case .wheels(let wheels) where wheels.components.indices.contains(part):
            if mode != .form {
                if let value = turnedWheel(wheels, shown(index).value, part, to: tag) {
                    take(control.id, .value(value, setsAt: nil))
                }
                return
            }
            let rows = JSON.members((wheels.components[part].id, tag))
            if activeEdit?.field == control.id { activeEdit = nil }
            send(control.id, .value(rows), &commands)
        case .date:
            if mayEdit(control.id) { turnTo(control.id, tag) }
        default: break
        }
    }

    /// Whether a menu lies over the form.
    private var isMenuOpen: Bool {
        guard mode == .form, case .list? = activeEdit?.kind else { return false }
        return true
    }

    private mutating func turnCalendar(_ index: Int, by count: Int) {
        let control = presentation.definition.controls[index]
        guard case .date(let date) = control.kind else { return }
        let value = DateValue(shown(index).value, mode: date.mode) ?? startOfDate(date)
        let month = months[control.id] ?? Self.day(of: value)?.yearMonth
        guard let next = month?.adding(months: count) else { return }
        months[control.id] = next
        if let activeEdit, case .calendar(let day) = activeEdit.kind,
            let moved = day.adding(months: count)
        {
            self.activeEdit?.kind = .calendar(moved)
        }
    }

    // MARK: The wheel

    private mutating func wheel(_ step: Int, at point: Point, _ commands: inout [LiveCommand]) {
        if case .list(var list)? = activeEdit?.kind {
            list.cursor = min(max(list.cursor + step, 0), max(0, list.matches.count - 1))
            activeEdit?.kind = .list(list)
            return
        }
        if case .help(var scroll) = page {
            scroll.scroll(
                by: step * 3, content: helpLines.count,
                window: max(1, size.lines - 2))
            page = .help(scroll)
            return
        }
        // The mouse wheel turns only a wheel that is being edited; otherwise it scrolls the page.
        if let owner = geometry.region(at: point)?.owner, let activeEdit, activeEdit.field == owner,
            case .value(_, setsAt: nil) = activeEdit.kind, let index = presentation.index(owner),
            isWheel(index)
        {
            return turn(step, &commands)
        }
        followsFocus = false
        scroll.scroll(
            by: step * 3, content: geometry.contentLines, window: geometry.window.lines)
    }

    private func isWheel(_ index: Int) -> Bool {
        switch presentation.definition.controls[index].kind {
        case .wheels: true
        case .picker, .date: style(index) == .wheel
        default: false
        }
    }
}
