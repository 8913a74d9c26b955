// Keys while a control is being edited.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    mutating func heldKey(_ event: KeyEvent, _ commands: inout [LiveCommand]) {
        guard let hold else { return }
        switch hold.kind {
        case .list(let list): listKey(event, list, hold, &commands)
        case .text(let editor), .number(let editor): editorKey(event, editor, hold, &commands)
        case .value(_, let settles):
            valueKey(event, isTaken: settles == nil, hold, &commands)
        case .part(let typed, let value): partKey(event, typed, value, hold, &commands)
        case .calendar(let day): calendarKey(event, day, hold, &commands)
        case .confirm(let onConfirm): confirmKey(event, onConfirm, hold, &commands)
        }
    }

    // MARK: Lists

    private mutating func listKey(
        _ event: KeyEvent, _ list: OpenList, _ hold: Hold, _ commands: inout [LiveCommand]
    ) {
        guard let index = mirror.index(hold.field) else { return putBack() }
        let options = Self.choices(of: mirror.definition.controls[index])
        var list = list
        let isChoice =
            event == KeyEvent(.enter)
            || (event == KeyEvent(.character(" ")) && list.filter.text.isEmpty)
        if isChoice {
            guard list.matches.indices.contains(list.cursor) else { return }
            return choose(options[list.matches[list.cursor].index].tag, in: hold.field, &commands)
        }
        switch (event.key, event.modifiers) {
        case (.escape, _):
            if list.filter.text.isEmpty {
                putBack()
                if mode != .form { commands.append(.quit(.notMet)) }
                return
            }
            list.filter = TextEditor()
            list.refilter(options)
        case (.tab, []) where mode == .form: return moveFocus(by: 1, &commands)
        case (.tab, .shift) where mode == .form: return moveFocus(by: -1, &commands)
        default: list.take(event, options)
        }
        self.hold?.kind = .list(list)
    }

    // MARK: Texts and numbers

    private mutating func editorKey(
        _ event: KeyEvent, _ editor: TextEditor, _ hold: Hold, _ commands: inout [LiveCommand]
    ) {
        var editor = editor
        let isNumber = if case .number = hold.kind { true } else { false }
        switch (event.key, event.modifiers) {
        case (.escape, _):
            if case .pick = mode { return commands.append(.quit(.notMet)) }
            if isNumber { putBack() } else { setAside() }
            return
        case (.enter, _) where !editor.isMultiline, (.character("s"), .control):
            return letGo(&commands)
        case (.tab, _) where mode == .form:
            moveFocus(by: event.modifiers.contains(.shift) ? -1 : 1, &commands)
            if !isNumber, self.hold == nil { editText(isAutomatic: true) }
            return
        case (.up, []) where !editor.isMultiline, (.down, []) where !editor.isMultiline:
            guard mode == .form else { return }
            return moveFocus(by: event.key == .up ? -1 : 1, &commands)
        case (.character("o"), .control) where !isNumber:
            return editOutside(&commands)
        default: break
        }
        let outcome = editor.apply(event)
        if outcome == .edited { problems[hold.field] = nil }
        self.hold?.kind = isNumber ? .number(editor) : .text(editor)
    }

    mutating func paste(_ text: String, isCut: Bool, _ commands: inout [LiveCommand]) {
        if case .find(var list) = page {
            list.filter.insert(text)
            list.refilter(findable)
            page = .find(list)
            return
        }
        guard page == .form else { return }
        if hold == nil || hold?.isTyping == false {
            letGo(&commands)
            editText()
        }
        switch hold?.kind {
        case .text(var editor)?:
            let outcome = editor.insert(text)
            if outcome == .refused || isCut { say("not all of it fits", isError: true) }
            hold?.kind = .text(editor)
        case .number(var editor)?:
            editor.insert(text)
            hold?.kind = .number(editor)
        case .list(var list)?:
            list.filter.insert(text)
            guard let hold, let index = mirror.index(hold.field) else { return }
            list.refilter(Self.choices(of: mirror.definition.controls[index]))
            self.hold?.kind = .list(list)
        default: break
        }
    }

    // MARK: Values that are turned

    private mutating func valueKey(
        _ event: KeyEvent, isTaken: Bool, _ hold: Hold, _ commands: inout [LiveCommand]
    ) {
        let isPick = mode != .form
        if let digit = Self.digit(event) { return typed(digit, &commands) }
        switch around.keys[event] {
        case .escape?:
            if isPick { return commands.append(.quit(.notMet)) }
            return putBack()
        case .act?:
            if isPick, event == KeyEvent(.character(" ")), tick(&commands) { return }
            if isPick, pickAtCursor(&commands) { return }
            return letGo(&commands)
        case .left?: return horizontal(-1, &commands)
        case .right?: return horizontal(1, &commands)
        case .increase?: return turn(1, &commands)
        case .decrease?: return turn(-1, &commands)
        case .up? where isTaken: return vertical(-1, &commands)
        case .down? where isTaken: return vertical(1, &commands)
        case .first? where isTaken, .last? where isTaken:
            return toEnd(around.keys[event] == .last ? 1 : -1)
        case nil, .redraw?, .suspend?: return
        case .leave? where isPick: return commands.append(.quit(.notMet))
        default: break
        }
        if isPick { return }
        // Any other command first sets the value, as leaving the field does.
        letGo(&commands)
        if let action = around.keys[event] { perform(action, &commands) }
    }

    private mutating func partKey(
        _ event: KeyEvent, _ typed: String, _ value: JSON, _ hold: Hold,
        _ commands: inout [LiveCommand]
    ) {
        if let digit = Self.digit(event) { return self.typed(digit, &commands) }
        if event.key == .backspace {
            let rest = String(typed.dropLast())
            self.hold?.kind = rest.isEmpty ? .value(value, settles: nil) : .part(typed: rest, value)
            return
        }
        if event.key == .escape {
            if mode != .form { return commands.append(.quit(.notMet)) }
            return putBack()
        }
        takePart(typed, value)
        heldKey(event, &commands)
    }

    // MARK: Calendars and questions

    private mutating func calendarKey(
        _ event: KeyEvent, _ day: CivilDate, _ hold: Hold, _ commands: inout [LiveCommand]
    ) {

        var next: CivilDate?
        switch around.keys[event] {
        case .left?: next = day.adding(days: -1)
        case .right?: next = day.adding(days: 1)
        case .up?: next = day.adding(days: -7)
        case .down?: next = day.adding(days: 7)
        case .pageUp?, .decrease?: next = day.adding(months: -1)
        case .pageDown?, .increase?: next = day.adding(months: 1)
        case .first?: next = CivilDate(year: day.year, month: day.month, day: 1)
        case .last?: next = CivilDate(year: day.year, month: day.month, day: day.yearMonth.days)
        case .act?:
            months[hold.field] = nil
            return pickDay(day, in: hold.field, &commands)
        case .escape?:
            months[hold.field] = nil
            putBack()
            if mode != .form { commands.append(.quit(.notMet)) }
            return
        case .next?, .previous?:
            guard mode == .form else { return }
            months[hold.field] = nil
            return moveFocus(by: around.keys[event] == .next ? 1 : -1, &commands)
        default: return
        }
        guard let next else { return }
        months[hold.field] = next.yearMonth
        self.hold?.kind = .calendar(next)
    }

    private mutating func confirmKey(
        _ event: KeyEvent, _ onConfirm: Bool, _ hold: Hold, _ commands: inout [LiveCommand]
    ) {
        switch event.key {
        case .character("y"), .character("Y"): return press(hold.field, &commands)
        case .character("n"), .character("N"), .escape, .character("q"): return putBack()
        case .left, .right, .tab, .character("h"), .character("l"):
            self.hold?.kind = .confirm(onConfirm: !onConfirm)
        case .enter, .character(" "):
            if onConfirm { press(hold.field, &commands) } else { putBack() }
        default: break
        }
    }
}
