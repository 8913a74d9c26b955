// The palette: every command of the form by its name, filtered by what is typed.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    private static let commands: [(KeyAction, String)] = [
        (.act, "Edit or press"), (.reset, "Reset to the default"), (.undo, "Undo"),
        (.redo, "Redo"), (.conflict, "Next conflict"), (.kept, "Edits for another daemon"),
        (.history, "History of the control"), (.explain, "Explain the value"),
        (.message, "Say why, for the next change"),
        (.lease, "When the value ends"), (.forms, "Open another form"),
        (.cancelRun, "Cancel the run"), (.proposals, "Proposals"),
        (.find, "Find a control"), (.fold, "Fold the section"), (.people, "Who is here"),
        (.external, "Edit in $EDITOR"), (.help, "Help"), (.redraw, "Draw the screen again"),
        (.suspend, "Suspend"), (.leave, "Quit"),
    ]

    /// Commands, themes, and the controls to go to. A tag is the kind and the name.
    var paletteOptions: [PickerOption] {
        let commands = Self.commands.map { action, label in
            var option = PickerOption(
                tag: .string("command \(action.rawValue)"), label: label)
            option.subtitle = around.keys.names(of: action).prefix(2).joined(separator: " ")
            return option
        }
        let themes = Theme.all.map { theme in
            PickerOption(tag: .string("theme \(theme.name)"), label: "Theme \(theme.name)")
        }
        let controls = findable.map { option in
            PickerOption(
                tag: .string("go \(option.tag.stringValue ?? "")"), label: "Go to \(option.label)")
        }
        return commands + themes + controls
    }

    mutating func openPalette() {
        guard mode == .form else { return }
        page = .palette(
            OpenList(options: paletteOptions, at: 0, linesMax: max(1, size.lines - 4)))
    }

    mutating func paletteKey(
        _ event: KeyEvent, _ list: OpenList, _ commands: inout [LiveCommand]
    ) {
        var list = list
        let options = paletteOptions
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
        page = .palette(list)
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

    func palette(_ list: OpenList, _ environment: StyleEnvironment) -> PickerPage {
        listPage("Commands", list, paletteOptions, environment)
    }
}
