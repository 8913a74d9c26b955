// The parts around the form: title, people, banners, hints and the pages of help.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LiveModel {
    // MARK: Above

    func header(_ environment: StyleEnvironment) -> Row {
        let roles = environment.roles
        let title = StyledText(
            " " + (presentation.definition.title ?? presentation.form), roles.heading)
        // A long title is cut to leave space for the people.
        let here = presence(environment, space: formColumns - title.columns - 4)
        let width = here.reduce(0) { $0 + $1.measure(width: formColumns).columns + 2 }
        let columns = max(1, min(title.columns, formColumns - width - 4))
        return Row(spacing: 2) {
            Framed(columns: columns, .leading, title.truncated())
            Spacer()
            here
            StyledText("")
        }
    }

    /// The rule below the title and above the footer.
    func rule(_ environment: StyleEnvironment) -> StyledText {
        let rule = String(repeating: environment.glyphs.rule, count: max(0, formColumns - 3))
        return StyledText(" " + rule, environment.roles.border).truncated()
    }

    /// What needs attention, the people who have the form open (by name if there is space), and
    /// whether there is a daemon.
    private func presence(_ environment: StyleEnvironment, space: Int) -> [any Block] {
        let roles = environment.roles
        let glyphs = environment.glyphs
        switch presentation.link {
        case .connecting: return [StyledText("connecting \(glyphs.more)", roles.dim)]
        case .lost: return [StyledText("offline", roles.warning.adding(.bold))]
        case .deleted, .refused: return []
        case .online: break
        }
        var space = space
        var parts: [any Block] = []
        let conflicts = conflicted.count
        if conflicts > 0 {
            let text = "\(glyphs.conflict) \(Self.count(conflicts, "conflict"))"
            parts.append(
                Target(.command("conflict"), StyledText(text, roles.warning.adding(.bold))))
            space -= DisplayWidth.columns(of: text) + 2
        }
        for texts in attention {
            // Who else is there must fit too.
            let room = space - 10
            let text = texts.first { DisplayWidth.columns(of: $0) <= room } ?? texts.last ?? ""
            parts.append(
                Target(
                    .command("proposals"),
                    StyledText(text, roles.warning.adding(.bold)).truncated()))
            space -= DisplayWidth.columns(of: text) + 2
        }
        let live = StyledText("\(glyphs.check) live", roles.dim)
        let hasLive = space >= 24
        if hasLive { space -= live.columns + 2 }
        let people = people(space: space, environment).truncated()
        parts.append(Target(.command("people"), people))
        if hasLive { parts.append(live) }
        return parts
    }

    private func people(space: Int, _ environment: StyleEnvironment) -> StyledText {
        let roles = environment.roles
        let glyphs = environment.glyphs
        if presentation.others.isEmpty { return StyledText("only you", roles.dim) }
        var names = StyledText("")
        for (number, other) in presentation.others.enumerated() {
            if number > 0 { names = names.appending("  ") }
            names = names.appending(
                "\(glyphs.dot) \(other.peer.name)", roles.peer(other.peer.number))
        }
        if names.columns <= space { return names }
        let count = presentation.others.count
        return StyledText("\(glyphs.dot) \(count) other\(count == 1 ? "" : "s")", roles.peer(0))
    }

    /// The banners.
    func banner(_ environment: StyleEnvironment) -> FittingText? {
        let texts: [String]
        switch presentation.link {
        case .connecting, .online:
            guard let keptBanner else { return nil }
            let brief = "\(Self.count(kept.edits.count, "edit")) not sent"
            texts = [keptBanner, joined([brief, around.keys.name(of: .kept)])]
        case .lost(let reason):
            let waiting = presentation.waitingEdits
            let what = waiting == 0 ? "edits" : Self.count(waiting, "edit")
            let when = "\(what) \(waiting == 1 ? "merges" : "merge") when it is back"
            let why = reason.map { " (\($0))" } ?? ""
            texts = [
                "the daemon is away\(why): continue editing; \(when)",
                "the daemon is away: \(when)", "away: \(when)",
            ]
        case .deleted:
            texts = [
                keptBanner.map { "this daemon has no form \(presentation.form); \($0)" }
                    ?? "this form was deleted; it opens again when somebody creates it"
            ]
        case .refused(let reason): texts = [reason]
        }
        let style = environment.roles.warning.adding([.bold, .reverse])
        return FittingText(texts.map { StyledText(" \($0) ", style) })
    }

    // MARK: Below

    /// The lines below the form: a rule, a line of text and a line of keys; one line of either if
    /// the screen is low.
    func footer(_ environment: StyleEnvironment, _ drawn: inout DrawnParts) -> DrawnColumn {
        let columns = formColumns
        var lines = DrawnColumn(columns: columns)
        let words = words
        if isRoomy {
            lines.append(drawn.drawing(of: .rule, columns: columns) { rule(environment) })
        }
        if isRoomy || words.kind != .about {
            lines.append(
                drawn.drawing(of: .words(words), columns: columns) { said(words, environment) })
        }
        if isRoomy || words.kind == .about {
            lines.append(drawn.drawing(of: hintsLook, columns: columns) { hintLine(environment) })
        }
        return lines
    }

    func said(_ words: WordsLook, _ environment: StyleEnvironment) -> FittingText {
        let roles = environment.roles
        let style =
            switch words.kind {
            case .question: roles.warning.adding(.bold)
            case .choice: roles.accent
            case .error: roles.error
            case .note: roles.text
            case .about: roles.dim
            }
        return FittingText(words.texts.map { StyledText(" " + $0, style) })
    }

    /// The keys that have an effect now. A click on one is the same as the key.
    func hintLine(_ environment: StyleEnvironment) -> Row {
        let roles = environment.roles
        var blocks: [any Block] = []
        var columns = 1
        for (key, what) in hints {
            let text = StyledText(key, roles.text.adding(.bold)).appending(" \(what)", roles.dim)
            if columns + text.columns > formColumns { break }
            columns += text.columns + 3
            blocks.append(Target(.command(key), text.truncated()))
        }
        return Row([StyledText(" ")] + [Row(blocks, spacing: 3)], spacing: 0)
    }

    /// The hints for the keys, the most useful first.
    private var hints: [(String, String)] {
        switch page {
        case .keys: return [("?", "all keys"), ("Esc", "back")]
        case .help: return [("PgDn PgUp", "scroll"), ("Esc", "back")]
        case .people: return [("any key", "back")]
        case .find: return [("Enter", "go there"), ("Esc", "back")]
        case .palette: return [("Enter", "do it"), ("a-z", "filter"), ("Esc", "back")]
        case .history, .explanation: return around.plain([("↑↓", "scroll"), ("Esc", "back")])
        case .forms: return [("Enter", "open"), ("a-z", "filter"), ("Esc", "back")]
        case .proposals(let selected):
            if case .typed(let asked)? = question { return hints(of: asked) }
            return around.plain(proposalHints(selected))
        case .form: break
        }
        switch question {
        case .reset(let field)?:
            return [("Enter", isCleared(field) ? "clear" : "reset"), ("Esc", "keep it")]
        case .cancelRun?: return [("Enter", "cancel it"), ("Esc", "let it run")]
        case .turn(_, let isUndo)?: return [("Enter", isUndo ? "undo" : "redo"), ("Esc", "back")]
        case .typed(let asked)?: return hints(of: asked)
        case .kept?: return around.plain([("←→", "choose"), ("Enter", "do it"), ("Esc", "back")])
        case nil: break
        }
        if case .pick = mode { return pickHints }
        guard let activeEdit else { return freeHints }
        switch activeEdit.kind {
        case .list:
            let several =
                focusedIndex.map { presentation.definition.controls[$0].isMultiple } ?? false
            return [
                ("Enter", several ? "select" : "choose"), ("a-z", "filter"),
                ("Esc", several ? "done" : "close"),
            ]
        case .text(let editor):
            let keep = ("Esc", isTypingSecret ? "discard" : "keep as draft")
            return editor.isMultiline
                ? [("Tab", "set"), keep, ("Alt-e", "$EDITOR")]
                : [("Enter", "set"), keep, ("Tab", "set, next")]
        case .number: return [("Enter", "set"), ("Esc", "cancel")]
        case .value(_, let setsAt):
            return setsAt == nil
                ? [("arrows", "change"), ("Enter", "set"), ("Esc", "cancel")]
                : [("Enter", "set now"), ("Esc", "cancel")]
        case .part: return [("0-9", "type"), ("Enter", "set"), ("Esc", "cancel")]
        case .calendar:
            return [
                ("arrows", "day"), ("PgUp/PgDn", "month"), ("Enter", "choose"), ("Esc", "cancel"),
            ]
        case .confirm: return [("y", "yes"), ("n", "no"), ("Esc", "back")]
        }
    }

    private var pickHints: [(String, String)] {
        guard let index = focusedIndex else { return [] }
        let control = presentation.definition.controls[index]
        let leave = ("Esc", "leave")
        let sets = if case .pick(_, sets: true) = mode { true } else { false }
        switch control.kind {
        case .picker(let picker):
            if case .list? = activeEdit?.kind {
                return [("Enter", "choose"), ("a-z", "filter"), leave]
            }
            if picker.isMultiple { return [("Space", "select"), ("Enter", "done"), leave] }
            return [("arrows", "move"), ("Enter", sets ? "set for everybody" : "choose"), leave]
        case .toggle: return [("Space", "toggle"), ("Enter", "done"), leave]
        case .text, .secure: return [("Enter", "set"), leave]
        default: return [("arrows", "change"), ("Enter", "set"), leave]
        }
    }

    private var freeHints: [(String, String)] {
        if let index = focusedIndex, !conflict(index).isEmpty {
            return around.plain(controlHints + [("↑↓", "move")])
        }
        var commands: [(KeyAction, String)] = []
        if let field = focusedField, drafts[field] != nil { commands.append((.reset, "discard")) }
        if !conflicted.isEmpty { commands.append((.conflict, "conflict")) }
        if !ownEdits.done.isEmpty { commands.append((.undo, undoHint)) }
        commands += [
            (.find, "find"), (.help, "help"), (.leave, "quit"), (.palette, "commands"),
        ]
        if isReady, isAtText { return around.plain(controlHints + [("↑↓", "move")]) }
        let named = commands.filter { !around.keys.names(of: $0.0).isEmpty }
            .map { (around.keys.name(of: $0.0), $0.1) }
        let own = controlHints
        let move = own.contains { $0.0 == "↑↓" } ? [] : [("↑↓", "move")]
        return around.plain(own + move + named)
    }

    /// The keys of the focused control.
    var controlHints: [(String, String)] {
        if case .section? = focus { return [("Enter", "unfold")] }
        guard let index = focusedIndex else { return [] }
        let control = presentation.definition.controls[index]
        if !conflict(index).isEmpty {
            return [("←→", "choose"), ("Enter", "settle for everybody"), ("Esc", "later")]
        }
        switch control.kind {
        case .picker(let picker):
            switch shape(index) {
            case .closed: return [("Enter", "open")]
            case .lines:
                let pick = picker.isMultiple ? ("Space", "select") : ("Enter", "set")
                return [("↑↓", "choose"), pick]
            case .row, .wheel:
                return picker.isMultiple
                    ? [("←→", "choose"), ("Space", "select")]
                    : [("←→", "choose"), ("1-9", "option")]
            }
        case .toggle: return [("Space", "toggle")]
        case .slider: return [("←→", "step"), ("0-9", "type")]
        case .stepper: return [("←→", "step"), ("0-9", "type")]
        case .gauge: return control.isReadOnly ? [] : [("←→", "step"), ("0-9", "type")]
        case .wheels: return [("Enter", "edit"), ("←→", "wheel")]
        case .date:
            if style(index) == .graphical { return [("Enter", "choose a day")] }
            return [("←→", "part"), ("+-", "step"), ("0-9", "type")]
        case .text, .secure:
            if isReady { return [("a-z", "type"), ("Enter", "edit"), ("Esc", "commands")] }
            if case .text(let text) = control.kind, text.isMultiline {
                return [("Enter", "edit"), ("e", "$EDITOR")]
            }
            return [("Enter", "edit")]
        case .button:
            let cancel = (around.keys.name(of: .cancelRun), "cancel the run")
            return [("Enter", "press")] + (isRunning(index) ? [cancel] : [])
        case .label: return []
        }
    }

    // MARK: Other pages

    func people(_ environment: StyleEnvironment) -> Column {
        let roles = environment.roles
        return Column {
            StyledText("Who is here", roles.heading)
            StyledText("  you" + (presentation.user.map { " (\($0))" } ?? ""), roles.text)
            for other in presentation.others {
                let place = other.wire.focus.map { "at \(title(of: $0))" } ?? ""
                let tty = other.wire.tty.map { " on \($0)" } ?? ""
                StyledText(
                    "\(environment.glyphs.dot) \(other.wire.user)", roles.peer(other.peer.number)
                )
                .appending("\(tty)  ", roles.dim).appending(place, roles.text).truncated()
            }
        }
    }

    func find(_ list: OpenList, _ environment: StyleEnvironment) -> PickerPage {
        listPage("Find a control", list, findable, environment)
    }

    /// A list on the whole page.
    func listPage(
        _ title: String, _ list: OpenList, _ options: [PickerOption],
        selected: String? = nil, _ environment: StyleEnvironment
    ) -> PickerPage {
        PickerPage(
            PickerStyleConfiguration(
                label: ControlLabel(title), options: options,
                selection: .tags([(selected ?? focusedField).map { .string($0) } ?? .null]),
                state: ControlState(isFocused: true), environment: environment), list)
    }
}

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
                (.up, "the control above"), (.down, "the control below"), (.next, "the next one"),
                (.previous, "the one before"), (.first, "the first"), (.last, "the last"),
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
                (.undo, "undo my last edit"),
                (.redo, "do it again"), (.message, "say why, for the next change"),
                (.lease, "when the value, or the next one, ends"),
                (.cancelRun, "cancel the run of a button (asks)"),
            ]
        ),
        (
            "Else",
            [
                (.history, "what the control was, and who set it"),
                (.explain, "why the control has its value"),
                (.proposals, "what waits for approval: approve, refuse"),
                (.forms, "open another form"),
                (.kept, "edits that were made for another daemon"),
                (.people, "who is here"), (.escape, "cancel, close, decide a conflict later"),
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
                    Framed(columns: 16, .leading, StyledText(line.keys, roles.accent).truncated())
                    StyledText(line.text, roles.text).truncated()
                }
            })
    }
}
