// The page of help: the focused control, the form, and all keys.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The page of keys. It begins with the help of the focused control and of the form, because
    /// the last line of the screen is short.
    var helpLines: [(keys: String, text: String)] {
        var lines: [(keys: String, text: String)] = []
        func add(_ title: String, _ help: String?, _ keys: [KeyHint] = []) {
            if help == nil, keys.isEmpty { return }
            let wrapped = StyledText(help ?? "").lines(width: max(10, size.columns - 4))
            lines.append((title, ""))
            if help != nil { lines += wrapped.map { (HelpPage.wholeLine, $0) } }
            lines += keys.map { (keys: $0.keys, text: $0.words.text) }
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

    static func lines(_ keys: KeyMap) -> [(keys: String, text: String)] {
        var lines: [(keys: String, text: String)] = []
        for (title, actions) in HelpWords.sections {
            if !lines.isEmpty { lines.append(("", "")) }
            lines.append((title, ""))
            for action in actions {
                lines.append((keys.names(of: action).joined(separator: " "), action.words))
            }
        }
        return lines + [("", ""), (HelpWords.withOthers, "")] + HelpWords.others
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
