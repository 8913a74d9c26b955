// The palette: every command of the form by its name, filtered by what is typed.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LiveModel {
    static let commands: [KeyAction] = [
        .act, .reset, .undo, .redo, .conflict, .kept, .history, .explain, .message, .lease, .forms,
        .cancelRun, .proposals, .find, .fold, .people, .external, .help, .redraw, .suspend, .leave,
    ]

    /// The commands that have an effect now, themes, and the controls to go to. A tag is the kind
    /// and the name.
    var paletteOptions: [PickerOption] {
        let now = Self.commands.filter(hasEffect)
            .map { (action: $0, label: $0.words.beginningWithCapital) }
        // The keys are in one column, where there is space for it.
        let widest = now.map { DisplayWidth.columns(of: $0.label) }.max() ?? 0
        let columns = size.columns < 60 ? 0 : widest
        let commands = now.map { action, label in
            var option = PickerOption(
                tag: .string("command \(action.rawValue)"),
                label: DisplayWidth.padded(label, to: columns))
            option.subtitle = around.keys.names(of: action).prefix(2).joined(separator: " ")
            return option
        }
        let themes = Theme.all.map { theme in
            PickerOption(tag: .string("theme \(theme.name)"), label: KeyWords.theme(theme.name))
        }
        let controls = findable.map { option in
            PickerOption(
                tag: .string("go \(option.tag.stringValue ?? "")"),
                label: KeyWords.go(to: option.label))
        }
        return commands + themes + controls
    }

    /// Whether a command of the palette can do something besides saying why it cannot.
    private func hasEffect(_ action: KeyAction) -> Bool {
        switch action {
        case .conflict: return !conflicted.isEmpty
        case .kept: return !kept.edits.isEmpty
        case .proposals: return !presentation.proposals.isEmpty
        case .find: return !findable.isEmpty
        case .fold: return focusedSection != nil
        case .act:
            if case .section? = focus { return true }
            return editableKind != nil
        case .external:
            if case .text? = editableKind { return true }
            return false
        case .reset:
            guard let field = focusedField else { return false }
            if drafts[field] != nil { return true }
            if case .button? = editableKind { return false }
            return editableKind != nil && presentation.state(field)?.isSet == true
        case .history, .explain: return focusedField != nil
        case .lease: return editableKind != nil && focusedIndex.map(canHaveLease) ?? false
        case .cancelRun: return focusedIndex.map(isRunning) ?? false
        default: return true
        }
    }

    /// What the focused control is, if it can be edited.
    private var editableKind: ControlKind? {
        guard let index = focusedIndex, presentation.link != .deleted,
            presentation.isEnabled(index)
        else { return nil }
        let control = presentation.definition.controls[index]
        return control.isReadOnly ? nil : control.kind
    }

    mutating func openPalette() {
        guard mode == .form else { return }
        // They stay the same while the palette is open, so Enter does what is highlighted.
        let options = paletteOptions
        page = .palette(
            options, OpenList(options: options, at: 0, linesMax: max(1, size.lines - 4)))
    }

    mutating func paletteKey(
        _ event: KeyEvent, _ options: [PickerOption], _ list: OpenList,
        _ commands: inout [LiveCommand]
    ) {
        var list = list
        switch event.key {
        case .enter:
            page = .form
            guard list.matches.indices.contains(list.cursor) else { return }
            let tag = options[list.matches[list.cursor].index].tag.stringValue ?? ""
            return carryOut(command: tag, &commands)
        case .escape:
            page = .form
            return
        default: list.take(event, options)
        }
        page = .palette(options, list)
    }

    mutating func carryOut(command tag: String, _ commands: inout [LiveCommand]) {
        let words = tag.split(separator: " ", maxSplits: 1).map(String.init)
        guard words.count == 2 else { return }
        switch words[0] {
        case "command": if let action = KeyAction(rawValue: words[1]) { perform(action, &commands) }
        case "theme":
            guard let theme = Theme.named(words[1]) else { return }
            around.choosesTheme = false
            around.environment.theme = theme
        default: moveFocus(to: .control(words[1]))
        }
    }
}
