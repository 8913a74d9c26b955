// The page of help: the focused control, the form, and all keys.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The page of keys. It begins with the help of the focused control and of the form, because
    /// the last line of the screen is short.
    var helpLines: [(keys: String, text: String)] {
        var lines: [(keys: String, text: String)] = []
        func add(_ title: String, _ help: String?, _ keys: [(String, String)] = []) {
            if help == nil, keys.isEmpty { return }
            let wrapped = StyledText(help ?? "").lines(width: max(10, size.columns - 4))
            lines.append((title, ""))
            if help != nil { lines += wrapped.map { (HelpPage.wholeLine, $0) } }
            lines += keys.map { (keys: $0.0, text: $0.1) }
            lines.append(("", ""))
        }
        if let index = focusedIndex {
            add(
                keysTitle, presentation.definition.controls[index].help,
                around.plain(controlHints))
        }
        add(presentation.definition.title ?? presentation.form, presentation.definition.help)
        return lines + HelpPage.lines(around.keys)
    }
}

/// The page of keys.
enum HelpPage {
    /// Instead of keys: the text uses the whole line.
    static let wholeLine = " "

    private static let sections: [(String, [(KeyAction, String)])] = [
        (
            "Move",
            [
                (.up, "the control above"), (.down, "the control below"),
                (.next, "the next control"), (.previous, "the control before"),
                (.first, "the first control"), (.last, "the last control"),
                (.pageUp, "a page up"), (.pageDown, "a page down"), (.find, "find a control"),
                (.fold, "fold the section"), (.conflict, "the next conflict"),
                (.palette, "every command by its name"),
            ]
        ),
        (
            "Change",
            [
                (.act, "pick, toggle, open, press, type"), (.left, "to the left, less"),
                (.right, "to the right, more"), (.increase, "one more"), (.decrease, "one less"),
                (.edit, "type a text or number"), (.external, "text in $EDITOR"),
                (.reset, "discard a draft, or reset to the default (asks)"),
                (.undo, "undo your last edit"),
                (.redo, "redo it"), (.message, "say why, for the next change"),
                (.lease, "when the value, or the next one, ends"),
                (.cancelRun, "cancel the run of a button (asks)"),
            ]
        ),
        (
            "More",
            [
                (.history, "what the control was, and who set it"),
                (.explain, "why the control has its value"),
                (.proposals, "what waits for approval: approve, refuse"),
                (.forms, "open another form"),
                (.kept, "edits that were made for another daemon"),
                (.people, "who is here"), (.escape, "cancel, close, decide a conflict later"),
                (.suspend, "suspend"), (.redraw, "draw the screen again"), (.help, "this page"),
                (.leave, "quit"),
            ]
        ),
    ]

    static func lines(_ keys: KeyMap) -> [(keys: String, text: String)] {
        var lines: [(String, String)] = []
        for (title, actions) in sections {
            if !lines.isEmpty { lines.append(("", "")) }
            lines.append((title, ""))
            for (action, text) in actions {
                lines.append((keys.names(of: action).joined(separator: " "), text))
            }
        }
        lines += [
            ("", ""), ("With others", ""),
            ("1-9", "choose an option, or type a number"),
            ("Left Right Enter", "choose a card of a conflict; settle it"),
            ("", "A mark with a name: somebody is there."),
            ("", "What you edit does not change: a change by somebody else waits beside it."),
            ("Mouse", "click, drag, wheel"),
        ]
        return lines
    }

    static func block(
        _ lines: [(keys: String, text: String)], _ environment: StyleEnvironment
    ) -> Column {
        let roles = environment.roles
        return Column(
            lines.map { line -> any Block in
                if line.text.isEmpty { return StyledText(line.keys, roles.heading).truncated() }
                if line.keys == wholeLine { return StyledText(line.text, roles.text).truncated() }
                return Row {
                    Framed(
                        columns: 16, .leading,
                        StyledText(line.keys, roles.text.adding(.bold)).truncated())
                    StyledText(line.text, roles.text).truncated()
                }
            })
    }
}
