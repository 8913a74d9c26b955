// Keys while a control is being edited.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// Whether keys may change a control.
    func canEdit(_ index: Int) -> Bool {
        presentation.link != .deleted && presentation.isEnabled(index)
            && !presentation.definition.controls[index].isReadOnly
    }

    /// Whether keys may change a control; if not, shows the reason.
    mutating func mayEdit(_ field: String) -> Bool {
        guard let index = presentation.index(field) else { return false }
        let control = presentation.definition.controls[index]
        if presentation.link == .deleted {
            say(LiveWords.formWasDeleted, isError: true)
            return false
        }
        if control.isReadOnly {
            say(LiveWords.isReadOnly(control.title))
            return false
        }
        if !presentation.isEnabled(index) {
            say(LiveWords.isDisabled(control.title))
            return false
        }
        return true
    }

    mutating func editKey(_ event: KeyEvent, _ commands: inout [LiveCommand]) {
        guard let activeEdit else { return }
        switch activeEdit.kind {
        case .list(let list): listKey(event, list, activeEdit, &commands)
        case .text(let editor), .number(let editor): editorKey(event, editor, activeEdit, &commands)
        case .value(_, let setsAt):
            valueKey(event, isTaken: setsAt == nil, activeEdit, &commands)
        case .part(let typed, let value): partKey(event, typed, value, activeEdit, &commands)
        case .calendar(let day): calendarKey(event, day, activeEdit, &commands)
        case .confirm(let onConfirm): confirmKey(event, onConfirm, activeEdit, &commands)
        }
    }

    // MARK: Lists

    private mutating func listKey(
        _ event: KeyEvent, _ list: OpenList, _ activeEdit: ControlEdit,
        _ commands: inout [LiveCommand]
    ) {
        guard let index = presentation.index(activeEdit.field) else { return cancelEdit() }
        let options = Self.choices(of: presentation.definition.controls[index])
        var list = list
        let isChoice =
            event == KeyEvent(.enter)
            || (event == KeyEvent(.character(" ")) && list.filter.text.isEmpty)
        if isChoice {
            guard list.matches.indices.contains(list.cursor) else { return }
            return choose(
                options[list.matches[list.cursor].index].tag, in: activeEdit.field, &commands)
        }
        switch (event.key, event.modifiers) {
        case (.escape, _):
            if list.filter.text.isEmpty {
                cancelEdit()
                if mode != .form { commands.append(.quit(.notMet)) }
                return
            }
            list.filter = TextEditor()
            list.refilter(options, groups: Self.groups(of: presentation.definition.controls[index]))
        case (.tab, []) where mode == .form: return moveFocus(by: 1, &commands)
        case (.tab, .shift) where mode == .form: return moveFocus(by: -1, &commands)
        default:
            list.take(
                event, options, groups: Self.groups(of: presentation.definition.controls[index]))
        }
        self.activeEdit?.kind = .list(list)
    }

    // MARK: Texts and numbers

    private mutating func editorKey(
        _ event: KeyEvent, _ editor: TextEditor, _ activeEdit: ControlEdit,
        _ commands: inout [LiveCommand]
    ) {
        var editor = editor
        let isNumber = if case .number = activeEdit.kind { true } else { false }
        switch (event.key, event.modifiers) {
        case (.escape, _):
            if case .pick = mode { return commands.append(.quit(.notMet)) }
            if isNumber { cancelEdit() } else { keepAsDraft() }
            return
        case (.enter, _) where !editor.isMultiline, (.tab, _) where mode != .form:
            return commitEdit(&commands)
        case (.tab, _) where mode == .form:
            return moveFocus(by: event.modifiers.contains(.shift) ? -1 : 1, &commands)
        case (.up, []) where !editor.isMultiline, (.down, []) where !editor.isMultiline:
            guard mode == .form, leaveTyping() else { return }
            return moveFocus(by: event.key == .up ? -1 : 1, &commands)
        case (.character("e"), .alt) where !isNumber:
            return editOutside(&commands)
        default: break
        }
        let outcome = editor.apply(event)
        if outcome == .edited {
            problems[activeEdit.field] = nil
            typedKeys += 1
        }
        self.activeEdit?.kind = isNumber ? .number(editor) : .text(editor)
    }

    mutating func paste(_ text: String, isCut: Bool, _ commands: inout [LiveCommand]) {
        if pasteAnswer(text) { return }
        if case .find(var list) = page {
            list.filter.insert(text)
            list.refilter(findable)
            page = .find(list)
            return
        }
        if case .palette(let options, var list) = page {
            list.filter.insert(text)
            list.refilter(options)
            page = .palette(options, list)
            return
        }
        guard page == .form else { return }
        if pasteDate(text) { return }
        if activeEdit == nil || activeEdit?.isTyping == false {
            commitEdit(&commands)
            editText()
        }
        switch activeEdit?.kind {
        case .text(var editor)?:
            typedKeys = 2
            let outcome = editor.insert(text)
            if outcome == .refused || isCut { sayTooLong() }
            activeEdit?.kind = .text(editor)
        case .number(var editor)?:
            editor.insert(text)
            activeEdit?.kind = .number(editor)
        case .list(var list)?:
            list.filter.insert(text)
            guard let activeEdit, let index = presentation.index(activeEdit.field) else { return }
            let control = presentation.definition.controls[index]
            list.refilter(Self.choices(of: control), groups: Self.groups(of: control))
            self.activeEdit?.kind = .list(list)
        default: break
        }
    }

    // MARK: Values that are turned

    private mutating func valueKey(
        _ event: KeyEvent, isTaken: Bool, _ activeEdit: ControlEdit, _ commands: inout [LiveCommand]
    ) {
        let isPick = mode != .form
        if let digit = Self.digit(event) { return typed(digit, &commands) }
        switch around.keys[event] {
        case .escape?:
            if isPick { return commands.append(.quit(.notMet)) }
            return cancelEdit()
        case .act?:
            if isPick, event == KeyEvent(.character(" ")), tick(&commands) { return }
            if isPick, pickAtCursor(&commands) { return }
            // What Enter would set is not what was typed.
            if isPick, let problem = problems.removeValue(forKey: activeEdit.field) {
                return say(problem, isError: true)
            }
            return commitEdit(&commands)
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
        commitEdit(&commands)
        if let action = around.keys[event] { perform(action, &commands) }
    }

    private mutating func partKey(
        _ event: KeyEvent, _ typed: String, _ value: JSON, _ activeEdit: ControlEdit,
        _ commands: inout [LiveCommand]
    ) {
        if let digit = Self.digit(event) { return self.typed(digit, &commands) }
        if event.key == .backspace {
            let rest = String(typed.dropLast())
            self.activeEdit?.kind =
                rest.isEmpty ? .value(value, setsAt: nil) : .part(typed: rest, value)
            return
        }
        if event.key == .escape {
            if mode != .form { return commands.append(.quit(.notMet)) }
            return cancelEdit()
        }
        if takePart(typed, value) { return editKey(event, &commands) }
        guard mode == .form, let action = around.keys[event], action != .act else { return }
        perform(action, &commands)
    }

    // MARK: Calendars and questions

    private mutating func calendarKey(
        _ event: KeyEvent, _ day: CivilDate, _ activeEdit: ControlEdit,
        _ commands: inout [LiveCommand]
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
            months[activeEdit.field] = nil
            return pickDay(day, in: activeEdit.field, &commands)
        case .escape?:
            months[activeEdit.field] = nil
            cancelEdit()
            if mode != .form { commands.append(.quit(.notMet)) }
            return
        case .next?, .previous?:
            guard mode == .form else { return }
            months[activeEdit.field] = nil
            return moveFocus(by: around.keys[event] == .next ? 1 : -1, &commands)
        default: return
        }
        guard let next else { return }
        months[activeEdit.field] = next.yearMonth
        self.activeEdit?.kind = .calendar(next)
    }

    private mutating func confirmKey(
        _ event: KeyEvent, _ onConfirm: Bool, _ activeEdit: ControlEdit,
        _ commands: inout [LiveCommand]
    ) {
        switch event.key {
        case .character("y"), .character("Y"): return press(activeEdit.field, &commands)
        case .character("n"), .character("N"), .escape, .character("q"): return cancelEdit()
        case .left, .right, .tab, .character("h"), .character("l"):
            self.activeEdit?.kind = .confirm(onConfirm: !onConfirm)
        case .enter, .character(" "):
            if onConfirm { press(activeEdit.field, &commands) } else { cancelEdit() }
        default: break
        }
    }
}
