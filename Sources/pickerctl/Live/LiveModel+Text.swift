// Texts, secrets, and one control under the prompt.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// Starts typing into the focused text, or continues its draft.
    mutating func editText() {
        guard let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        switch control.kind {
        case .text(let text):
            guard mayEdit(control.id) else { return }
            take(control.id, .text(drafts[control.id] ?? freshText(text, index)))
        case .secure(let secure):
            guard mayEdit(control.id) else { return }
            if activeEdit?.field != control.id { hasCapsLock = false }
            take(control.id, .text(TextEditor(maxLength: secure.maxLength)))
        case .slider, .stepper:
            typeNumber(index)
        default: break
        }
    }

    /// Opens the text in the user's editor.
    mutating func editOutside(_ commands: inout [LiveCommand]) {
        guard let index = focusedIndex else { return }
        let control = presentation.definition.controls[index]
        guard case .text = control.kind, mayEdit(control.id) else { return }
        if activeEdit == nil { editText() }
        guard case .text(let editor)? = activeEdit?.kind else { return }
        commands.append(.edit(field: control.id, text: editor.text))
    }

    mutating func edited(_ field: String, _ text: String?, _ commands: inout [LiveCommand]) {
        guard let activeEdit, activeEdit.field == field, case .text(let editor) = activeEdit.kind
        else { return }
        guard let text else { return say(LiveWords.editorLeftNothing, isError: true) }
        var fresh = TextEditor(
            "", isMultiline: editor.isMultiline, maxLength: editor.maxLength)
        if fresh.insert(text) == .refused, !text.isEmpty { sayTooLong() }
        self.activeEdit?.kind = .text(fresh)
        commitEdit(&commands)
    }

    mutating func sayTooLong() {
        say(LiveWords.textTooLong, isError: true)
    }

    // MARK: Under the prompt

    /// Starts editing the only control; Enter ends with its value.
    mutating func beginPick(_ field: String) {
        guard let index = presentation.index(field) else { return }
        let control = presentation.definition.controls[index]
        switch control.kind {
        case .picker where shape(index) == .closed: openList(index)
        case .text, .secure: editText()
        case .date where style(index) == .graphical: takeDate(index)
        case .date(let date):
            let value = DateValue(shown(index).value, mode: date.mode) ?? startOfDate(date)
            take(field, .value(value.json, setsAt: nil))
        default: take(field, .value(shown(index).value, setsAt: nil))
        }
    }

    private mutating func takeDate(_ index: Int) {
        var none: [LiveCommand] = []
        act(&none)
        if activeEdit == nil, let field = focusedField {
            take(field, .value(shown(index).value, setsAt: nil))
        }
    }

    /// Space in `pick` selects an option or changes a toggle. `false` for other controls.
    mutating func tick(_ commands: inout [LiveCommand]) -> Bool {
        guard let index = focusedIndex else { return false }
        let control = presentation.definition.controls[index]
        switch control.kind {
        case .toggle:
            take(control.id, .value(.bool(!(shown(index).value.boolValue ?? false)), setsAt: nil))
            return true
        case .picker(let picker) where picker.isMultiple:
            let options = Self.choices(of: control)
            if let place = cursor(index) { choose(options[place].tag, in: control.id, &commands) }
            return true
        default: return false
        }
    }

    /// Enter in `pick` picks the highlighted option.
    mutating func pickAtCursor(_ commands: inout [LiveCommand]) -> Bool {
        guard let index = focusedIndex, shape(index) == .lines, let place = cursor(index) else {
            return false
        }
        let control = presentation.definition.controls[index]
        guard case .picker(let picker) = control.kind, !picker.isMultiple else { return false }
        choose(Self.choices(of: control)[place].tag, in: control.id, &commands)
        return true
    }

    mutating func finishPick(_ field: String, _ commands: inout [LiveCommand]) {
        guard case .pick(field, sets: true) = mode, let index = presentation.index(field) else {
            return
        }
        picked = presentation.shown(index).value
        commands.append(.quit(.done))
    }
}
