// Keys go to the control being edited first, then they are commands.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LiveModel {
    mutating func take(_ input: InputEvent, _ commands: inout [LiveCommand]) {
        switch input {
        case .key(let event): noteLeft { $0.key(event, &commands) }
        case .mouse(let event): noteLeft { $0.mouse(event, &commands) }
        case .paste(let text, let isCut): noteLeft { $0.paste(text, isCut: isCut, &commands) }
        case .reply(.background(let red, let green, let blue)):
            guard around.choosesTheme else { return }
            let isDark = TerminalReply.isDark(red: red, green: green, blue: blue)
            around.environment.theme = around.themes.theme(isDark: isDark)
        case .capsLock(let isOn): hasCapsLock = isOn
        case .attention, .reply: break
        }
    }

    /// Does what the user does. A message about what was left by that would hide what describes
    /// the control in focus, or what Enter sets.
    private mutating func noteLeft(_ act: (inout LiveModel) -> Void) {
        // Copied only beside a message, so that a long text is not copied at each key.
        guard let said = message else { return act(&self) }
        let before = (focus: focus, edit: activeEdit, cursors: cursors)
        act(&self)
        if message == said,
            focus != before.focus || activeEdit != before.edit || cursors != before.cursors
        {
            message = nil
        }
    }

    mutating func key(_ event: KeyEvent, _ commands: inout [LiveCommand]) {
        let before = focus
        // Two quick presses of Esc, as a terminal multiplexer sends them.
        let isTwice = event == KeyEvent(.escape, .alt)
        carryOut(isTwice ? KeyEvent(.escape) : event, &commands)
        if focus != before { isReady = !Self.isLetter(event) }
        if event.key == .escape || event.key == .enter && focus == before { isReady = false }
        if activeEdit == nil { typedKeys = 0 }
    }

    /// Whether a key types a character.
    static func isLetter(_ event: KeyEvent) -> Bool {
        guard case .character = event.key else { return false }
        return event.modifiers.isSubset(of: .shift)
    }

    private mutating func carryOut(_ event: KeyEvent, _ commands: inout [LiveCommand]) {
        if event == KeyEvent(.character("c"), .control) {
            commands.append(.quit(.interrupted))
            return
        }
        switch event {
        case KeyEvent(.character("z"), .control): return commands.append(.suspend)
        case KeyEvent(.character("l"), .control): return commands.append(.redraw)
        default: break
        }
        if questionKey(event, &commands) { return }
        switch page {
        case .keys: keysKey(event)
        case .help(let scroll): helpKey(event, scroll)
        case .people: page = .form
        case .find(let list): findKey(event, list, &commands)
        case .palette(let options, let list): paletteKey(event, options, list, &commands)
        case .history(let history): historyKey(event, history)
        case .explanation(let explanation): explanationKey(event, explanation)
        case .proposals(let selected): proposalsKey(event, selected)
        case .forms(let options, let list): formsKey(event, options, list, &commands)
        case .form:
            if let command = Self.commandInText(event), isAtText {
                keepAsDraft()
                return perform(command, &commands)
            }
            if dateKey(event) { return }
            if activeEdit != nil { return editKey(event, &commands) }
            if cardKey(around.keys[event], &commands) { return }
            if typesAtOnce(event, &commands) { return }
            if let digit = Self.digit(event) { return typed(digit, &commands) }
            if event == KeyEvent(.enter), let words = spaceWords {
                return say(words)
            }
            if let action = around.keys[event] { perform(action, &commands) }
        }
    }

    /// What to press instead of Enter, which goes through a form and changes nothing on the way.
    private var spaceWords: String? {
        guard mode == .form, let index = focusedIndex else { return nil }
        let control = presentation.definition.controls[index]
        if case .toggle = control.kind, !control.isReadOnly, presentation.isEnabled(index) {
            let isOn = shown(index).value.boolValue ?? false
            return LiveWords.spaceSets(control.title, !isOn)
        }
        if shape(index) != .closed, control.isMultiple {
            return LiveWords.spaceSelects
        }
        return nil
    }

    static func digit(_ event: KeyEvent) -> Int? {
        guard event.modifiers.isEmpty, case .character(let character) = event.key,
            character.isASCII
        else { return nil }
        return character.wholeNumberValue
    }

    // MARK: Commands

    mutating func perform(_ action: KeyAction, _ commands: inout [LiveCommand]) {
        if action != .leave { asksToLeave = false }
        switch action {
        case .up, .down: vertical(action == .up ? -1 : 1, &commands)
        case .left, .right: horizontal(action == .left ? -1 : 1, &commands)
        case .next: moveFocus(by: 1, &commands)
        case .previous: moveFocus(by: -1, &commands)
        case .first: moveFocus(by: -focusable.count, &commands)
        case .last: moveFocus(by: focusable.count, &commands)
        case .pageUp: movePage(-1, &commands)
        case .pageDown: movePage(1, &commands)
        case .act: act(&commands)
        case .increase, .decrease: turn(action == .increase ? 1 : -1, &commands)
        case .edit: editText()
        case .external: editOutside(&commands)
        case .reset: reset(&commands)
        case .undo, .redo: undoOrRedo(action, &commands)
        case .find: openFind()
        case .palette: openPalette()
        case .help: page = hasOverlay ? .keys : .help(ScrollState())
        case .people: page = .people
        case .conflict: nextConflict()
        case .fold: if let section = focusedSection { fold(section) }
        case .leave: leave(&commands)
        case .escape: escape(&commands)
        case .suspend: commands.append(.suspend)
        case .redraw: commands.append(.redraw)
        case .kept: askAboutKept()
        case .history: openHistory(&commands)
        case .explain: openExplanation(&commands)
        case .forms: askForForms(&commands)
        case .cancelRun: askToCancelRun()
        case .message: askForMessage(nil)
        case .lease: askForLease()
        case .proposals: openProposals()
        }
    }

    private mutating func leave(_ commands: inout [LiveCommand]) {
        guard !asksToLeave, let loss = lossByLeaving else { return commands.append(.quit(.done)) }
        let brief = LiveWords.leave(around.keys.name(of: .leave), isOne: loss.isOne)
        say(LiveWords.leave(loss.text, brief), brief: brief, isError: true)
        asksToLeave = true
    }

    /// What would be lost if the form was left now.
    var lossByLeaving: (text: String, isOne: Bool)? {
        let waiting = presentation.waitingEdits
        if !drafts.isEmpty {
            let names = drafts.keys.sorted().map { title(of: $0) }.joined(separator: ", ")
            return (LiveWords.unsaved(in: names), drafts.count == 1)
        }
        if !isOnline, waiting > 0, presentation.link != .deleted {
            return (LiveWords.waits(waiting), waiting == 1)
        }
        if !kept.edits.isEmpty {
            let count = kept.edits.count
            return (LiveWords.notSentYet(count), count == 1)
        }
        return nil
    }

    private mutating func escape(_ commands: inout [LiveCommand]) {
        if case .pick = mode { return commands.append(.quit(.notMet)) }
        guard let field = focusedField else { return }
        problems[field] = nil
        message = nil
        // The highlight goes back, so that Enter does not set what Esc meant to leave.
        cursors[field] = nil
        if cards?.field == field { putAside[field] = presentation.state(field)?.revision }
    }

    // MARK: Other pages

    /// Whether the help of the focused control fits over the form.
    private var hasOverlay: Bool { size.columns >= ControlFrame.wideMin && size.lines >= 20 }

    /// The second `?` opens the list of all keys; any other key closes the overlay.
    private mutating func keysKey(_ event: KeyEvent) {
        page = around.keys[event] == .help ? .help(ScrollState()) : .form
    }

    /// Moves to the next control with a conflict, from the focused one on.
    mutating func nextConflict() {
        let here = focusedIndex ?? -1
        let waiting = conflicted
        guard let next = waiting.first(where: { $0 > here }) ?? waiting.first else {
            return say(LiveWords.noConflict)
        }
        let section = presentation.definition.controls[next].section
        folded.remove(section)
        let field = presentation.definition.controls[next].id
        putAside[field] = nil
        moveFocus(to: .control(field))
    }

    private mutating func helpKey(_ event: KeyEvent, _ scroll: ScrollState) {
        var scroll = scroll
        let content = helpLines.count
        let window = max(1, size.lines - 2)
        switch around.keys[event] {
        case .up?: scroll.scroll(by: -1, content: content, window: window)
        case .down?: scroll.scroll(by: 1, content: content, window: window)
        case .pageUp?: scroll.scroll(by: -window, content: content, window: window)
        case .pageDown?, .act?: scroll.scroll(by: window, content: content, window: window)
        default:
            page = .form
            return
        }
        page = .help(scroll)
    }

    /// The controls for the search, as options.
    var findable: [PickerOption] {
        focusable.compactMap { focus in
            guard case .control(let field) = focus else { return nil }
            return PickerOption(tag: .string(field), label: title(of: field))
        }
    }

    private mutating func openFind() {
        guard mode == .form else { return }
        let options = findable
        let here = options.firstIndex { $0.tag.stringValue == focusedField } ?? 0
        page = .find(OpenList(options: options, at: here, linesMax: max(1, size.lines - 4)))
    }

    private mutating func findKey(
        _ event: KeyEvent, _ list: OpenList, _ commands: inout [LiveCommand]
    ) {
        var list = list
        let options = findable
        switch event.key {
        case .enter:
            page = .form
            guard list.matches.indices.contains(list.cursor) else { return }
            let option = list.matches[list.cursor].index
            if options.indices.contains(option), let field = options[option].tag.stringValue {
                moveFocus(to: .control(field))
            }
            return
        case .escape:
            page = .form
            return
        default: list.take(event, options)
        }
        page = .find(list)
    }
}

extension OpenList {
    /// A key that filters the list or moves in it.
    mutating func take(
        _ event: KeyEvent, _ options: [PickerOption], groups: [SyncCore.OptionGroup] = []
    ) {
        let last = max(0, matches.count - 1)
        switch (event.key, event.modifiers) {
        case (.up, _), (.character("p"), .control), (.tab, .shift): cursor = max(0, cursor - 1)
        case (.down, _), (.character("n"), .control), (.tab, []): cursor = min(last, cursor + 1)
        case (.pageUp, _): cursor = max(0, cursor - linesMax)
        case (.pageDown, _): cursor = min(last, cursor + linesMax)
        case (.home, []) where filter.text.isEmpty: cursor = 0
        case (.end, []) where filter.text.isEmpty: cursor = last
        default:
            if filter.apply(event) == .edited { refilter(options, groups: groups) }
        }
    }
}
