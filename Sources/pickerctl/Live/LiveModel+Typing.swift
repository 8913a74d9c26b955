// Typing into a control that is only focused: texts, numbers and whole dates.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// Whether the focus is at a text, edited or not.
    var isAtText: Bool {
        guard mode == .form, let index = focusedIndex else { return false }
        switch presentation.definition.controls[index].kind {
        case .text, .secure: return activeEdit == nil || activeEdit?.isTyping == true
        default: return false
        }
    }

    /// The commands that a text leaves to the form: with Alt, since readline has the Ctrl keys.
    static func commandInText(_ event: KeyEvent) -> KeyAction? {
        guard event.modifiers == .alt, case .character(let character) = event.key else {
            return nil
        }
        switch character {
        case "u": return .undo
        case "/": return .find
        case "w": return .people
        case "x": return .palette
        default: return nil
        }
    }

    /// A key into a text that is ready for it, and `.` into a number; `false` if the key is a
    /// command.
    mutating func typesAtOnce(_ event: KeyEvent, _ commands: inout [LiveCommand]) -> Bool {
        guard mode == .form, let index = focusedIndex else { return false }
        let control = presentation.definition.controls[index]
        let isLetter = Self.isLetter(event) && event.key != .character(" ")
        switch control.kind {
        case .slider, .stepper:
            guard event == KeyEvent(.character(".")), mayEdit(control.id) else { return false }
            take(control.id, .number(TextEditor(".")))
            return true
        // What is typed replaces a secret, so there is nothing to edit.
        case .text where isReady && (isLetter || Self.isEditing(event)),
            .secure where isReady && isLetter:
            editText()
            guard activeEdit != nil else { return true }
            editKey(event, &commands)
            return true
        default: return false
        }
    }

    /// Whether a key edits a text, or moves its caret in the line.
    private static func isEditing(_ event: KeyEvent) -> Bool {
        switch (event.key, event.modifiers) {
        case (.backspace, _), (.delete, _), (.left, _), (.right, _): true
        case (.character(let character), .control): "abdefkuwy".contains(character)
        case (.character(let character), .alt): "bdf".contains(character)
        default: false
        }
    }

    /// What the next key changes, for a text that is ready for it: the caret is at the end. A
    /// letter that was not meant for the text can be taken back; one that replaced it would lose
    /// what was there.
    func readyText(_ index: Int) -> TextEditor? {
        guard isReady, mode == .form, page == .form, activeEdit == nil, question == nil,
            focusedIndex == index, canEdit(index),
            case .text(let text) = presentation.definition.controls[index].kind
        else { return nil }
        return drafts[presentation.definition.controls[index].id] ?? freshText(text, index)
    }

    /// Whether the next letter is added to a text.
    func appends(_ index: Int) -> Bool { readyText(index)?.clusters.isEmpty == false }

    /// The value of a text as it is edited.
    func freshText(_ text: TextAttributes, _ index: Int) -> TextEditor {
        TextEditor(
            presentation.shown(index).value.stringValue ?? "", isMultiline: text.isMultiline,
            maxLength: text.maxLength)
    }

    // MARK: Dates

    /// Collects the characters that are typed into a date: a whole ISO date or time replaces the
    /// value, whichever part has the focus. `false` if the key has its usual meaning.
    mutating func dateKey(_ event: KeyEvent) -> Bool {
        guard Self.isLetter(event), case .character(let character) = event.key,
            let index = focusedIndex,
            case .date(let date) = presentation.definition.controls[index].kind
        else {
            typedDate = ""
            return false
        }
        let isDigit = character.isASCII && character.isNumber
        let isSeparator =
            "-:T".contains(character) && typedDate.last.map { $0.isNumber } ?? false
        guard isDigit || isSeparator else {
            typedDate = ""
            return false
        }
        if typedDate.isEmpty { typedDateBase = shown(index).value }
        let field = presentation.definition.controls[index].id
        let isRefused = activeEdit == nil && drafts[field]?.text == typedDate
        typedDate.append(character)
        let last = date.mode.parts(minuteInterval: date.minuteInterval).count - 1
        if takeDate(typedDate, over: typedDateBase, index) {
            // The part that was typed last, or the one after `T`, for what may follow.
            let typed = typedDate.split { !$0.isNumber }.count - (character == "T" ? 0 : 1)
            parts[field] = typedDate.contains("-") ? min(typed, last) : last
            return true
        }
        // A part of it does not exist, so the rest is only typed.
        if isRefused {
            drafts[field] = TextEditor(typedDate)
            return true
        }
        if isSeparator, case .part(let typed, let value)? = activeEdit?.kind {
            takePart(typed, value)
        }
        return isSeparator
    }

    /// Ends typing into a date with a part that does not exist. The date stays as it was typed, so
    /// that Enter does not set another one.
    mutating func keepRefused(part typed: String, at place: Int, of value: JSON, _ why: String) {
        guard let field = activeEdit?.field else { return }
        guard mode == .form else {
            activeEdit?.kind = .value(value, setsAt: nil)
            problems[field] = why
            return
        }
        cancelEdit()
        let isWhole = typedDate.contains { !$0.isNumber }
        drafts[field] = TextEditor(isWhole ? typedDate : Self.date(value, typed, at: place))
        problems[field] = why
    }

    /// A date as text, with what was typed in place of a part.
    private static func date(_ value: JSON, _ typed: String, at place: Int) -> String {
        var text = ""
        var part = 0
        for character in value.stringValue ?? "" {
            if !character.isNumber {
                if part == place { text += typed }
                part += 1
                text.append(character)
            } else if part != place {
                text.append(character)
            }
        }
        return part <= place ? text + typed : text
    }

    /// Text pasted at a date, at any part; `false` if the focus is not at a date.
    mutating func pasteDate(_ text: String) -> Bool {
        guard let index = focusedIndex, case .date = presentation.definition.controls[index].kind
        else {
            return false
        }
        let control = presentation.definition.controls[index]
        guard mayEdit(control.id) else { return true }
        let trimmed = String(
            text.drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }
                .reversed())
        if !takeDate(trimmed, over: shown(index).value, index) {
            drafts[control.id] = TextEditor(trimmed)
            overtaken.remove(control.id)
            problems[control.id] = Self.notDate(control)
        }
        return true
    }

    /// Why a pasted text is refused, with one that is not.
    static func notDate(_ control: Control) -> String {
        guard case .date(let date) = control.kind else { return LiveWords.notDate }
        switch date.mode {
        case .date: return LiveWords.notDate(such: "2026-11-21")
        case .dateAndTime: return LiveWords.notDate(such: "2026-11-21T14:30")
        case .time: return LiveWords.notTime
        case .yearAndMonth: return LiveWords.notMonth
        case .countdown: return LiveWords.notDuration
        }
    }

    /// Sets a date control from a complete ISO text: a date, a time, or both. A control of only one
    /// takes its part of the text. A control of both keeps the part of `base` that the text lacks.
    /// `false` for other text.
    mutating func takeDate(_ text: String, over base: JSON, _ index: Int) -> Bool {
        let control = presentation.definition.controls[index]
        guard case .date(let date) = control.kind,
            let value = Self.date(text, date.mode, base)
        else { return false }
        guard mayEdit(control.id) else { return true }
        problems[control.id] = nil
        take(control.id, .value(value, setsAt: nil))
        return true
    }

    private static func date(_ text: String, _ mode: DateMode, _ base: JSON) -> JSON? {
        func whole(_ text: String) -> JSON? {
            guard let value = DateValue(.string(text), mode: mode), value.json.stringValue == text
            else { return nil }
            return value.json
        }
        if let value = whole(text) { return value }
        let parts = text.split(whereSeparator: { $0 == "T" || $0 == " " }).map { part in
            // Seconds are dropped, because no control has them.
            part.contains(":") ? part.prefix(5) : part
        }
        // What is neither is not ignored: it may be a time that is not yet complete.
        guard parts.count <= 2, parts.allSatisfy({ $0.contains("-") || $0.contains(":") }) else {
            return nil
        }
        let days = parts.first { $0.contains("-") }
        let time = parts.first { $0.contains(":") }
        switch mode {
        case .date: return parts.count == 2 ? days.flatMap { whole(String($0)) } : nil
        case .time: return time.flatMap { whole(String($0)) }
        case .dateAndTime:
            let present = base.stringValue?.split(separator: "T") ?? []
            guard let first = days ?? present.first, let last = time ?? present.last,
                days != nil || time != nil
            else { return nil }
            return whole("\(first)T\(last)")
        case .yearAndMonth: return days.flatMap { whole(String($0.prefix(7))) }
        case .countdown: return nil
        }
    }
}
