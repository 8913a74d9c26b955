// The effects of keys and clicks, by type of control.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The displayed options of a picker. If it can be empty, the first one means "none".
    static func choices(of control: Control) -> [PickerOption] {
        guard case .picker(let picker) = control.kind else { return [] }
        let none = picker.isOptional && !picker.isMultiple
        let extra = PickerOption(tag: .null, label: ControlWords.none)
        return (none ? [extra] : []) + picker.options.options
    }

    /// The titled groups of a picker's displayed options.
    static func groups(of control: Control) -> [SyncCore.OptionGroup] {
        guard case .picker(let picker) = control.kind else { return [] }
        let shift = picker.isOptional && !picker.isMultiple ? 1 : 0
        return picker.options.groups.map { group in
            var moved = group
            let range = group.range
            moved.range = range.lowerBound + shift..<range.upperBound + shift
            return moved
        }
    }

    /// The layout of a picker's options.
    enum Shape { case lines, row, wheel, closed }

    func shape(_ index: Int) -> Shape {
        switch style(index) {
        case .menu, .navigationLink: return .closed
        case .segmented, .palette: return .row
        case .wheel: return .wheel
        case .radioGroup:
            if case .picker(let picker) = presentation.definition.controls[index].kind,
                picker.isHorizontal
            {
                return .row
            }
            return .lines
        default: return .lines
        }
    }

    /// The style that a control is drawn in; under the prompt several options are listed.
    func style(_ index: Int) -> ControlStyle {
        let style = presentation.definition.resolvedStyle(of: index)
        if mode != .form, presentation.definition.controls[index].isMultiple,
            style == .menu || style == .navigationLink
        {
            return .inline
        }
        return style
    }

    /// The index of the focused control.
    var focusedIndex: Int? { focusedField.flatMap { presentation.index($0) } }

    // MARK: Arrows

    mutating func vertical(_ step: Int, _ commands: inout [LiveCommand]) {
        if let index = focusedIndex {
            let control = presentation.definition.controls[index]
            if case .picker = control.kind, shape(index) == .lines, conflict(index).isEmpty,
                moveCursor(step, index)
            {
                followsFocus = true
                return
            }
            if let activeEdit, activeEdit.field == control.id,
                case .value(_, setsAt: nil) = activeEdit.kind
            {
                return turnVertically(step, index, &commands)
            }
        }
        guard mode == .form else { return }
        moveFocus(by: step, &commands)
    }

    /// The row above on a wheel is the previous one; for a number, up means greater.
    private mutating func turnVertically(
        _ step: Int, _ index: Int, _ commands: inout [LiveCommand]
    ) {
        switch presentation.definition.controls[index].kind {
        case .picker, .wheels: turn(step, &commands)
        case .date: turn(style(index) == .wheel ? step : -step, &commands)
        default: turn(-step, &commands)
        }
    }

    mutating func horizontal(_ step: Int, _ commands: inout [LiveCommand]) {
        if case .section(let section)? = focus {
            if step > 0 { fold(section) }
            return
        }
        guard let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        switch control.kind {
        case .picker(let picker):
            switch shape(index) {
            case .row, .wheel:
                if picker.isMultiple {
                    _ = moveCursor(step, index)
                } else {
                    turn(step, &commands)
                }
            case .lines, .closed: break
            }
        case .slider, .stepper, .gauge: turn(step, &commands)
        case .toggle: if mode != .form { turn(step, &commands) }
        case .wheels(let wheels): movePart(step, control.id, of: wheels.components.count)
        case .date(let date):
            movePart(
                step, control.id, of: date.mode.parts(minuteInterval: date.minuteInterval).count)
        case .button: moveToButton(step, from: index)
        case .text, .secure, .label: break
        }
    }

    /// Moves to the button at the side of another.
    private mutating func moveToButton(_ step: Int, from index: Int) {
        if let next = button(step, from: index) { moveFocus(to: next) }
    }

    /// The button at the side of another.
    private func button(_ step: Int, from index: Int) -> Focus? {
        let all = focusable
        guard let here = focus.flatMap({ all.firstIndex(of: $0) }),
            all.indices.contains(here + step), case .control(let field) = all[here + step],
            let next = presentation.index(field),
            presentation.definition.controls[next].section
                == presentation.definition.controls[index].section,
            case .button = presentation.definition.controls[next].kind
        else { return nil }
        return all[here + step]
    }

    /// Whether Left or Right goes from the focused button to another.
    var isBesideButton: Bool {
        guard let index = focusedIndex,
            case .button = presentation.definition.controls[index].kind
        else { return false }
        return (button(1, from: index) ?? button(-1, from: index)) != nil
    }

    private mutating func movePart(_ step: Int, _ field: String, of count: Int) {
        parts[field] = min(max((parts[field] ?? 0) + step, 0), count - 1)
    }

    /// Moves the highlight; `false` at an end.
    private mutating func moveCursor(_ step: Int, _ index: Int) -> Bool {
        let control = presentation.definition.controls[index]
        let options = Self.choices(of: control)
        let here = cursor(index) ?? 0
        let next = here + step
        guard options.indices.contains(next) else { return false }
        cursors[control.id] = options[next].tag
        return true
    }

    /// The highlighted option: where the user moved it, otherwise the picked one, otherwise the
    /// first.
    func cursor(_ index: Int) -> Int? {
        let control = presentation.definition.controls[index]
        let options = Self.choices(of: control)
        if let tag = cursors[control.id], let place = options.firstIndex(where: { $0.tag == tag }) {
            return place
        }
        let value = shown(index).value
        let tags = value.arrayValue ?? [value]
        return options.firstIndex { tags.contains($0.tag) } ?? (options.isEmpty ? nil : 0)
    }

    // MARK: Acting

    mutating func act(_ commands: inout [LiveCommand]) {
        if case .section(let section)? = focus { return fold(section) }
        guard let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        guard mayEdit(control.id) else { return }
        // It was about the value before this.
        message = nil
        switch control.kind {
        case .toggle:
            let isOn = shown(index).value.boolValue ?? false
            send(control.id, .value(.bool(!isOn)), &commands)
        case .button(let button):
            guard button.question(titled: control.title) != nil else {
                return press(control.id, &commands)
            }
            take(control.id, .confirm(onConfirm: false))
        case .picker(let picker):
            if shape(index) == .closed { return openList(index) }
            let options = Self.choices(of: control)
            guard let place = cursor(index) else { return }
            if shape(index) == .lines || picker.isMultiple {
                return choose(options[place].tag, in: control.id, &commands)
            }
            take(control.id, .value(shown(index).value, setsAt: nil))
        case .slider, .stepper, .gauge: typeNumber(index)
        case .date: takeDate(index)
        case .wheels: take(control.id, .value(shown(index).value, setsAt: nil))
        case .text, .secure: editText()
        case .label: break
        }
    }

    private mutating func takeDate(_ index: Int) {
        let control = presentation.definition.controls[index]
        guard case .date(let date) = control.kind else { return }
        if let draft = drafts[control.id] {
            if takeDate(draft.text, over: shown(index).value, index) { return }
            problems[control.id] = problems[control.id] ?? Self.notDate(control)
            return
        }
        let value = DateValue(shown(index).value, mode: date.mode) ?? startOfDate(date)
        if style(index) == .graphical, let day = Self.day(of: value) {
            months[control.id] = day.yearMonth
            return take(control.id, .calendar(day))
        }
        take(control.id, .value(value.json, setsAt: nil))
    }

    mutating func openList(_ index: Int) {
        let control = presentation.definition.controls[index]
        let options = Self.choices(of: control)
        cursors[control.id] = nil
        let isPage = style(index) == .navigationLink
        let space = max(1, size.lines - (isPage || mode == .form ? 5 : 6))
        take(
            control.id,
            .list(
                OpenList(
                    options: options, at: cursor(index) ?? 0,
                    linesMax: isPage ? space : min(10, space))))
        if isPage, mode == .form, around.hasMotion { slide = Slide(since: now) }
    }

    /// Picks an option; if several can be picked, adds or removes it.
    mutating func choose(_ tag: JSON, in field: String, _ commands: inout [LiveCommand]) {
        guard let index = presentation.index(field), mayEdit(field) else { return }
        let control = presentation.definition.controls[index]
        let option = Self.choices(of: control).first { $0.tag == tag }
        if option?.isDisabled == true { return say(LiveWords.isUnavailable(option?.label)) }
        guard control.isMultiple else {
            // The highlight is at the selection; a separate cursor would stay when the selection
            // changes.
            cursors[field] = mode == .form ? nil : tag
            if activeEdit?.field == field { return finish(.value(tag), &commands) }
            let shown = shown(index)
            let isSettled = (presentation.state(field)?.conflict ?? []).isEmpty
            if shown.value == tag, !shown.isMixed, isSettled, mode == .form { return }
            send(field, .value(tag), &commands)
            return
        }
        cursors[field] = tag
        let picked = shown(index).value.arrayValue ?? []
        if mode != .form {
            let next = picked.contains(tag) ? picked.filter { $0 != tag } : picked + [tag]
            return take(field, .value(.array(next), setsAt: nil))
        }
        send(
            field, picked.contains(tag) ? .remove([tag]) : .add([tag]),
            context: activeEdit?.context,
            &commands)
        // The list stays open for further picks and shows the picked options.
        if let activeEdit, case .list = activeEdit.kind {
            self.activeEdit = nil
            take(field, activeEdit.kind)
        }
    }

    mutating func press(_ field: String, _ commands: inout [LiveCommand]) {
        let context = activeEdit?.context
        if activeEdit?.field == field { activeEdit = nil }
        // A press that waits for its message is not one yet.
        if send(field, .press, context: context, &commands), question == nil {
            pressed = (field, now &+ Span.press)
        }
    }

    // MARK: Digits

    /// A digit: the highlight or the draft at an option, as arrows put it there, or the beginning
    /// of a number.
    mutating func typed(_ digit: Int, _ commands: inout [LiveCommand]) {
        guard let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        // Cards change while others edit, so a digit could choose another card than intended.
        if activeEdit == nil, !conflict(index).isEmpty { return }
        switch control.kind {
        case .picker where shape(index) == .closed: return
        case .picker:
            let options = Self.choices(of: control)
            guard options.indices.contains(digit - 1) else {
                return say(
                    LiveWords.noOption(digit, of: control.title, options: options.count))
            }
            let tag = options[digit - 1].tag
            switch shape(index) {
            case .lines where mode == .form: cursors[control.id] = tag
            case .row where mode == .form && control.isMultiple: cursors[control.id] = tag
            case .row where mode == .form, .wheel where mode == .form:
                guard mayEdit(control.id), !options[digit - 1].isDisabled else { return }
                turnTo(control.id, tag)
            case .lines, .row, .wheel, .closed: choose(tag, in: control.id, &commands)
            }
        case .slider, .stepper, .gauge:
            guard mayEdit(control.id) else { return }
            take(control.id, .number(TextEditor(String(digit))))
        case .date: typePart(digit, index)
        default: break
        }
    }
}
