// The parts around the form: title, people, banners, hints and the pages of help.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    // MARK: Above

    func header(_ environment: StyleEnvironment) -> Row {
        let roles = environment.roles
        let title = StyledText(
            " " + (mirror.definition.title ?? mirror.form), roles.heading)
        // A long title is cut to leave space for the people.
        let here = presence(environment, room: size.columns - title.columns - 4).truncated()
        let columns = max(1, min(title.columns, size.columns - here.columns - 4))
        return Row {
            Framed(columns: columns, .leading, title.truncated())
            Spacer(minimum: 1)
            here
            StyledText("")
        }
    }

    /// The people who have the form open, by name if there is space.
    private func presence(_ environment: StyleEnvironment, room: Int) -> StyledText {
        let roles = environment.roles
        let glyphs = environment.glyphs
        switch mirror.link {
        case .connecting: return StyledText("connecting \(glyphs.more)", roles.dim)
        case .lost: return StyledText("offline", roles.warning)
        case .deleted, .refused: return StyledText("")
        case .online: break
        }
        let conflicts = conflicted.count
        if conflicts > 0 {
            let text = "\(glyphs.conflict) \(conflicts) conflict\(conflicts == 1 ? "" : "s")"
            let people = people(room: room - DisplayWidth.columns(of: text) - 2, environment)
            return StyledText(text, roles.warning.adding(.bold)).appending("  ") + people
        }
        return people(room: room, environment)
    }

    private func people(room: Int, _ environment: StyleEnvironment) -> StyledText {
        let roles = environment.roles
        let glyphs = environment.glyphs
        if mirror.others.isEmpty { return StyledText("only you", roles.dim) }
        var names = StyledText("")
        for (number, other) in mirror.others.enumerated() {
            if number > 0 { names = names.appending("  ") }
            names = names.appending(
                "\(glyphs.dot) \(other.peer.name)", roles.peer(other.peer.number))
        }
        if names.columns <= room { return names }
        let count = mirror.others.count
        return StyledText("\(glyphs.dot) \(count) other\(count == 1 ? "" : "s")", roles.peer(0))
    }

    /// The banners.
    func banner(_ environment: StyleEnvironment) -> StyledText? {
        let roles = environment.roles
        let style = roles.warning.adding([.bold, .reverse])
        let text: String
        switch mirror.link {
        case .connecting, .online:
            guard let keptBanner else { return nil }
            text = keptBanner
        case .lost(let reason):
            let waiting = mirror.waitingEdits
            let why = reason.map { " (\($0))" } ?? ""
            text =
                "the daemon is away\(why): go on, "
                + (waiting == 0
                    ? "edits merge when it is back"
                    : waiting == 1
                        ? "1 edit merges when it is back"
                        : "\(waiting) edits merge when it is back")
        case .deleted:
            text =
                keptBanner.map { "this daemon has no form \(mirror.form); \($0)" }
                ?? "this form was deleted; it opens again when somebody creates it"
        case .refused(let reason): text = reason
        }
        return StyledText(" " + text + " ", style).truncated()
    }

    // MARK: Below

    /// The lines below the form: a rule, a line of text and a line of keys, or one line for both if
    /// the screen is low.
    func footer(
        _ environment: StyleEnvironment, _ drawn: inout DrawnParts, isRoomy: Bool
    ) -> DrawnColumn {
        let columns = size.columns
        var lines = DrawnColumn(columns: columns)
        if isRoomy {
            lines.append(
                drawn.drawing(of: .rule, columns: columns) {
                    let rule = String(repeating: environment.glyphs.rule, count: columns)
                    return StyledText(rule, environment.roles.border).truncated()
                })
        }
        if isRoomy || message != nil {
            lines.append(drawn.drawing(of: wordsLook, columns: columns) { words(environment) })
        }
        if isRoomy || message == nil {
            lines.append(drawn.drawing(of: hintsLook, columns: columns) { hintLine(environment) })
        }
        return lines
    }

    private func words(_ environment: StyleEnvironment) -> StyledText {
        if let questionText {
            let style = environment.roles.warning.adding(.bold)
            return StyledText(" " + questionText, style).truncated()
        }
        if message == nil, let pendingChoice {
            return StyledText(" " + pendingChoice, environment.roles.accent).truncated()
        }
        if let message { return said(message, environment) }
        return StyledText(" " + (help ?? ""), environment.roles.dim).truncated()
    }

    func said(_ message: Message, _ environment: StyleEnvironment) -> StyledText {
        let roles = environment.roles
        return StyledText(
            " " + message.text, message.isError ? roles.error : roles.accent
        ).truncated()
    }

    /// The help of the focused control, or who set it when.
    private var help: String? {
        guard let index = focusedIndex else { return nil }
        if let help = mirror.definition.controls[index].help { return help }
        guard let author else { return nil }
        let when = author.at.map { " · \(around.localTime($0))" } ?? ""
        return "set by \(author.name ?? "you")\(when)"
    }

    func hintLine(_ environment: StyleEnvironment) -> StyledText {
        let roles = environment.roles
        var line = StyledText(" ")
        for (key, what) in hints {
            let more = StyledText(key, roles.accent).appending(" \(what)  ", roles.dim)
            if line.columns + more.columns > size.columns { break }
            line = line + more
        }
        return line.truncated()
    }

    /// The hints for the keys, the most useful first.
    private var hints: [(String, String)] {
        switch page {
        case .help: return [("PgDn PgUp", "scroll"), ("Esc", "back")]
        case .people: return [("any key", "back")]
        case .find: return [("Enter", "go there"), ("Esc", "back")]
        case .form: break
        }
        switch question {
        case .reset?: return [("Enter", "reset"), ("Esc", "keep it")]
        case .kept?: return around.plain([("←→", "choose"), ("Enter", "do it"), ("Esc", "back")])
        case nil: break
        }
        if case .pick = mode { return pickHints }
        guard let activeEdit else { return freeHints }
        switch activeEdit.kind {
        case .list:
            let several = focusedIndex.map { mirror.definition.controls[$0].isMultiple } ?? false
            return [
                ("Enter", several ? "tick" : "pick"), ("type", "to filter"),
                ("Esc", several ? "done" : "close"),
            ]
        case .text(let editor):
            return editor.isMultiline
                ? [("Tab", "set"), ("Esc", "leave as draft"), ("^O", "$EDITOR")]
                : [("Enter", "set"), ("Esc", "leave as draft"), ("Tab", "set, next")]
        case .number: return [("Enter", "set"), ("Esc", "put back")]
        case .value(_, let settles):
            return settles == nil
                ? [("arrows", "turn"), ("Enter", "set"), ("Esc", "put back")]
                : [("Enter", "set now"), ("Esc", "put back")]
        case .part: return [("digits", "type"), ("Enter", "set"), ("Esc", "put back")]
        case .calendar:
            return [("arrows", "day"), ("PgUp/PgDn", "month"), ("Enter", "pick"), ("Esc", "back")]
        case .confirm: return [("y", "yes"), ("n", "no"), ("Esc", "back")]
        }
    }

    private var pickHints: [(String, String)] {
        guard let index = focusedIndex else { return [] }
        let control = mirror.definition.controls[index]
        let leave = ("Esc", "leave")
        switch control.kind {
        case .picker(let picker):
            if case .list? = activeEdit?.kind {
                return [("Enter", "pick"), ("type", "to filter"), leave]
            }
            if picker.isMultiple { return [("Space", "tick"), ("Enter", "done"), leave] }
            return [("arrows", "choose"), ("Enter", "pick"), leave]
        case .toggle: return [("Space", "toggle"), ("Enter", "done"), leave]
        case .text, .secure: return [("Enter", "set"), leave]
        default: return [("arrows", "turn"), ("Enter", "set"), leave]
        }
    }

    private var freeHints: [(String, String)] {
        var list: [(String, String)] = []
        if case .section? = focus {
            list.append(("Enter", "unfold"))
        } else if let index = focusedIndex {
            let control = mirror.definition.controls[index]
            if !conflict(index).isEmpty {
                return around.plain([
                    ("←→", "choose"), ("Enter", "settle"), ("↑↓", "move"), ("Esc", "later"),
                ])
            }
            switch control.kind {
            case .picker(let picker):
                switch shape(index) {
                case .closed: list.append(("Enter", "open"))
                case .lines: list.append(("Space", picker.isMultiple ? "tick" : "pick"))
                case .row, .wheel:
                    list.append(
                        (picker.isMultiple ? "Space" : "←→", picker.isMultiple ? "tick" : "pick"))
                }
            case .toggle: list.append(("Space", "toggle"))
            case .slider: list += [("←→", "drag"), ("Enter", "type")]
            case .stepper: list += [("←→", "step"), ("Enter", "type")]
            case .wheels: list += [("Enter", "take"), ("←→", "wheel")]
            case .date:
                list.append(("Enter", "take"))
                if style(index) != .graphical { list += [("←→", "part"), ("+-", "turn")] }
            case .text(let text):
                list.append(("Enter", "type"))
                if text.isMultiline { list.append(("e", "$EDITOR")) }
            case .secure: list.append(("Enter", "type"))
            case .button: list.append(("Enter", "press"))
            case .gauge, .label: break
            }
        }
        list.append(("↑↓", "move"))
        let commands: [(KeyAction, String)] = [
            (.help, "keys"), (.leave, "leave"), (.undo, undoHint), (.find, "find"),
            (.people, "who"),
        ]
        for (action, what) in commands where !around.keys.names(of: action).isEmpty {
            list.append((around.keys.name(of: action), what))
        }
        return around.plain(list)
    }

    // MARK: Other pages

    func people(_ environment: StyleEnvironment) -> Column {
        let roles = environment.roles
        return Column {
            StyledText("Who is here", roles.heading)
            StyledText("  you" + (mirror.user.map { " (\($0))" } ?? ""), roles.text)
            for other in mirror.others {
                let place = other.focus.map { "at \(title(of: $0))" } ?? ""
                let tty = other.tty.map { " on \($0)" } ?? ""
                StyledText(
                    "\(environment.glyphs.dot) \(other.user)", roles.peer(other.peer.number)
                )
                .appending("\(tty)  ", roles.dim).appending(place, roles.text).truncated()
            }
        }
    }

    func find(_ list: OpenList, _ environment: StyleEnvironment) -> any Block {
        var configuration = PickerStyleConfiguration(
            label: ControlLabel("Find a control"), options: findable,
            selection: .tags([focusedField.map { .string($0) } ?? .null]),
            state: ControlState(isFocused: true), environment: environment)
        configuration.presentation = .open(list)
        return PickerView(configuration).pickerStyle(.navigationLink).block(in: environment)
    }
}

extension LiveModel {
    /// The page of keys. It begins with the help of the focused control and of the form, because
    /// the last line of the screen is short.
    var helpLines: [(keys: String, text: String)] {
        var about: [(title: String, text: String?)] = []
        if let index = focusedIndex {
            let control = mirror.definition.controls[index]
            about.append((control.title, control.help))
        }
        about.append((mirror.definition.title ?? mirror.form, mirror.definition.help))
        var lines: [(keys: String, text: String)] = []
        for case (let title, let text?) in about {
            lines.append((title, ""))
            let wrapped = StyledText(text).lines(width: max(10, size.columns - 4))
            lines += wrapped.map { (HelpPage.wholeLine, $0) }
            lines.append(("", ""))
        }
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
                (.up, "the control above"), (.down, "the control below"), (.next, "the next one"),
                (.previous, "the one before"), (.first, "the first"), (.last, "the last"),
                (.pageUp, "a page up"), (.pageDown, "a page down"), (.find, "find a control"),
                (.fold, "fold the section"),
            ]
        ),
        (
            "Change",
            [
                (.act, "pick, toggle, open, press, type"), (.left, "to the left, less"),
                (.right, "to the right, more"), (.increase, "one more"), (.decrease, "one less"),
                (.edit, "type a text or number"), (.external, "text in $EDITOR"),
                (.reset, "drop a draft; else the default"), (.undo, "take back my last edit"),
                (.redo, "do it again"),
            ]
        ),
        (
            "Else",
            [
                (.kept, "edits that were made for another daemon"),
                (.people, "who is here"), (.escape, "put back, close, leave a conflict"),
                (.suspend, "suspend"), (.redraw, "draw again"), (.help, "this page"),
                (.leave, "leave"),
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
            ("", ""), ("Together", ""),
            ("1-9", "choose an option, or type a number"),
            ("←→ Enter", "choose a card of a conflict; settle it"),
            ("", "A mark with a name: somebody is there."),
            ("", "What you hold does not move: another's change waits beside it."),
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
                    Framed(columns: 16, .leading, StyledText(line.keys, roles.accent).truncated())
                    StyledText(line.text, roles.text).truncated()
                }
            })
    }
}
