// The line of keys below the form: those that have an effect now.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The keys that have an effect now. A click on one is the same as the key.
    func hintLine(_ environment: StyleEnvironment) -> Row {
        let roles = environment.roles
        var blocks: [any Block] = []
        var columns = 1
        for (key, what) in fitting(hints) {
            let text = StyledText(key, roles.text.adding(.bold))
                .appending(" \(what.text)", roles.dim)
            if columns + text.columns > formColumns { break }
            columns += text.columns + 3
            blocks.append(Target(.command(key), text.truncated()))
        }
        return Row([StyledText(" ")] + [Row(blocks, spacing: 3)], spacing: 0)
    }

    /// Hints without those that are less useful than help and the way out, as far as the line is
    /// too short for all.
    private func fitting(_ hints: [KeyHint]) -> [KeyHint] {
        func fit(_ shown: [Int]) -> Bool {
            let columns = shown.reduce(0) {
                $0 + DisplayWidth.columns(of: hints[$1].keys + hints[$1].words.text) + 4
            }
            return columns - 2 <= formColumns
        }
        var shown = Array(hints.indices)
        var left: [Int] = []
        for spared in [KeyWords.commands, .find, .move, .undo] where !fit(shown) {
            let number = shown.first { hints[$0].words.text.prefix { $0 != " " } == spared.text }
            guard let number else { continue }
            shown.removeAll { $0 == number }
            left.append(number)
        }
        // Without the long words of undo there may be space again for what was left out before.
        for number in left.reversed() where fit(shown + [number]) { shown.append(number) }
        return shown.sorted().map { hints[$0] }
    }

    /// The hints for the keys, the most useful first.
    private var hints: [KeyHint] {
        switch page {
        case .keys: return [("?", .allKeys), ("Esc", .back)]
        case .help: return [("PgDn PgUp", .scroll), ("Esc", .back)]
        case .people: return [(KeyNames.any, .back)]
        case .find: return [("Enter", .goThere), ("Esc", .back)]
        case .palette: return [("Enter", .doIt), ("a-z", .filter), ("Esc", .back)]
        case .history, .explanation: return around.plain([("↑↓", .scroll), ("Esc", .back)])
        case .forms: return [("Enter", .open), ("a-z", .filter), ("Esc", .back)]
        case .proposals(let selected):
            if case .typed(let asked)? = question { return hints(of: asked) }
            return around.plain(proposalHints(selected))
        case .form: break
        }
        switch question {
        case .reset(let field)?:
            return [("Enter", isCleared(field) ? .clear : .reset), ("Esc", .keepIt)]
        case .cancelRun?: return [("Enter", .cancelIt), ("Esc", .letItRun)]
        case .turn(_, let isUndo)?: return [("Enter", isUndo ? .undo : .redo), ("Esc", .back)]
        case .typed(let asked)?: return hints(of: asked)
        case .kept?: return around.plain([("←→", .choose), ("Enter", .doIt), ("Esc", .back)])
        case nil: break
        }
        if case .pick = mode { return pickHints }
        guard let activeEdit else { return freeHints }
        switch activeEdit.kind {
        case .list(let list):
            let several =
                focusedIndex.map { presentation.definition.controls[$0].isMultiple } ?? false
            let leave: KeyWords = several ? .done : .close
            return [
                ("Enter", several ? .select : .choose), ("a-z", .filter),
                ("Esc", list.filter.text.isEmpty ? leave : .clear),
            ]
        case .text(let editor):
            let keep: KeyHint = isTypingSecret ? ("Esc", .discard) : ("Esc ↑↓", .keepAsDraft)
            return around.plain(
                editor.isMultiline
                    ? [("Tab", .set), ("Esc", keep.words), ("Alt-e", .editor)]
                    : [("Enter", .set), keep, ("Tab", .setNext)])
        case .number:
            return around.plain([
                ("Enter", .set), ("Esc", .cancel), ("↑↓", .keepAsDraft), ("Tab", .setNext),
            ])
        case .value(_, let setsAt):
            return setsAt == nil
                ? [(KeyNames.arrows, .change), ("Enter", .set), ("Esc", .cancel)]
                : [("Enter", .setNow), ("Esc", .cancel)]
        case .part: return [("0-9", .type), ("Enter", .set), ("Esc", .cancel)]
        case .calendar:
            return [
                (KeyNames.arrows, .day), ("PgUp/PgDn", .month), ("Enter", .choose),
                ("Esc", .cancel),
            ]
        case .confirm(let onConfirm):
            return around.plain([
                ("←→", .choose), ("Enter", onConfirm ? .press : .cancel), ("y", .yes),
                ("n", .no), ("Esc", .back),
            ])
        }
    }

    private var pickHints: [KeyHint] {
        guard let index = focusedIndex else { return [] }
        let control = presentation.definition.controls[index]
        let leave: KeyHint = ("Esc", .quit)
        let sets = if case .pick(_, sets: true) = mode { true } else { false }
        switch control.kind {
        case .picker(let picker):
            if case .list? = activeEdit?.kind {
                return [("Enter", .choose), ("a-z", .filter), leave]
            }
            if picker.isMultiple { return [("Space", .select), ("Enter", .done), leave] }
            return [
                (KeyNames.arrows, .move), ("Enter", sets ? .setForEverybody : .choose), leave,
            ]
        case .toggle: return [("Space", .toggle), ("Enter", .done), leave]
        case .text, .secure: return [("Enter", .set), leave]
        default: return [(KeyNames.arrows, .change), ("Enter", .set), leave]
        }
    }

    private var freeHints: [KeyHint] {
        if let index = focusedIndex, !shownCards(index).isEmpty {
            return around.plain(controlHints + [("↑↓", .move)])
        }
        var commands: [(action: KeyAction, words: KeyWords)] = []
        if let field = focusedField, drafts[field] != nil { commands.append((.reset, .discard)) }
        if !conflicted.isEmpty { commands.append((.conflict, .conflict)) }
        if let undoHint { commands.append((.undo, .undo(undoHint))) }
        commands += [
            (.find, .find), (.help, .help), (.leave, .quit), (.palette, .commands),
        ]
        if isReady, isAtText { return around.plain(controlHints + [("↑↓", .move)]) }
        let named = commands.filter { !around.keys.names(of: $0.action).isEmpty }
            .map { KeyHint(keys: around.keys.name(of: $0.action), words: $0.words) }
        let own = controlHints
        let move = own.contains { $0.keys == "↑↓" } ? [] : [moveHint]
        return around.plain(own + move + named)
    }

    /// The arrows that go to another control.
    var moveHint: KeyHint { (isBesideButton ? KeyNames.arrows : "↑↓", .move) }

    /// The keys of the focused control.
    var controlHints: [KeyHint] {
        if case .section? = focus { return [("Enter", .unfold)] }
        guard let index = focusedIndex else { return [] }
        let control = presentation.definition.controls[index]
        if isPutAside(index) { return [("Enter", .choose)] }
        if !conflict(index).isEmpty {
            return [("←→", .choose), ("Enter", .settle), ("Esc", .later)]
        }
        let cancel: KeyHint = (around.keys.name(of: .cancelRun), .cancelRun)
        let ofRun = isRunning(index) ? [cancel] : []
        guard canEdit(index) else { return ofRun }
        switch control.kind {
        case .picker(let picker):
            switch shape(index) {
            case .closed: return [("Enter", .open)]
            case .lines:
                let pick: KeyHint = picker.isMultiple ? ("Space", .select) : ("Enter", .set)
                return [("↑↓", .choose), pick]
            case .row, .wheel:
                return picker.isMultiple
                    ? [("←→", .choose), ("Space", .select)]
                    : [("←→", .choose), ("1-9", .option)]
            }
        case .toggle: return [("Space", .toggle)]
        case .slider, .stepper, .gauge: return [("←→", .step), ("0-9", .type)]
        case .wheels: return [("Enter", .edit), ("←→", .wheel)]
        case .date:
            // Steps would start from the date that is set, not from the one that was refused.
            if drafts[control.id] != nil { return [("0-9", .type)] }
            if style(index) == .graphical { return [("Enter", .chooseDay)] }
            return [("←→", .part), ("+-", .step), ("0-9", .type)]
        case .text, .secure:
            if appends(index) {
                return [
                    ("a-z", .append), ("^U", .clear), ("Enter", .edit),
                    ("Esc", .commands),
                ]
            }
            if isReady { return [("a-z", .type), ("Enter", .edit), ("Esc", .commands)] }
            if case .text(let text) = control.kind, text.isMultiline {
                return [("Enter", .edit), ("e", .editor)]
            }
            return [("Enter", .edit)]
        case .button: return [("Enter", .press)] + ofRun
        case .label: return []
        }
    }
}
