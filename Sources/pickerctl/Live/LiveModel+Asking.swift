// Questions in the status line, and the next change that undo reverts.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// A question that Enter confirms; every other key means no.
    enum Question: Equatable {
        /// Unset a field for everybody.
        case reset(field: String)
        /// What happens to edits that were made for another replica.
        case kept(KeptChoice)
        /// Cancel the run of a button.
        case cancelRun(field: String, press: String)
        /// Undo or redo an edit of another control than the focused one.
        case turn(OwnEdit, isUndo: Bool)
        /// A question that is answered with text.
        case typed(TypedQuestion)
    }

    /// The question as the status line asks it, the longest wording first.
    var questionWords: WordsLook? {
        switch question {
        case nil: return nil
        case .reset(let field)?:
            guard let index = presentation.index(field) else { return nil }
            let value = presentation.definition.controls[index].defaultValue
            let goal = isCleared(field) ? nil : Self.brief(valueText(value, of: index))
            return WordsLook(
                texts: LiveWords.reset(
                    title(of: field), to: goal, LiveWords.keys(isRoomy: isRoomy)), kind: .question)
        case .kept(let choice)?: return keptQuestion(choice)
        case .typed(let asked)?: return words(of: asked)
        case .turn(let edit, let isUndo)?: return turnQuestion(edit, isUndo: isUndo)
        case .cancelRun(let field, _)?:
            return WordsLook(
                texts: LiveWords.cancelRun(title(of: field), LiveWords.keys(isRoomy: isRoomy)),
                kind: .question)
        }
    }

    /// Whether an edit is to be undone or done again. Where there is little space, the label is
    /// shorter, then the words for the keys are left out; the values stay.
    private func turnQuestion(_ edit: OwnEdit, isUndo: Bool) -> WordsLook {
        let shorter = [16, 12, 9, 6].compactMap { text(of: edit, labelMax: $0) }
        return WordsLook(
            texts: LiveWords.turn(
                isUndo: isUndo, text(of: edit), shorter: shorter, LiveWords.keys(isRoomy: isRoomy)),
            kind: .question)
    }

    /// Whether a reset leaves the field without a value.
    func isCleared(_ field: String) -> Bool {
        guard let index = presentation.index(field) else { return false }
        if case .secure = presentation.definition.controls[index].kind { return true }
        let value = presentation.definition.controls[index].defaultValue
        return value.isNull || value == ""
    }

    /// Handles a key while there is a question; `false` if the key must still be processed.
    mutating func questionKey(_ event: KeyEvent, _ commands: inout [LiveCommand]) -> Bool {
        guard let question else { return false }
        if case .typed(let asked) = question {
            typedKey(event, asked, &commands)
            return true
        }
        self.question = nil
        if case .kept(let choice) = question { return keptKey(event, choice, &commands) }
        switch event.key {
        case .enter:
            switch question {
            case .reset(let field): send(field, .reset, &commands)
            case .cancelRun(let field, let press): cancelRun(field, press, &commands)
            case .turn(_, let isUndo): sendTurn(isUndo: isUndo, &commands)
            case .kept, .typed: break
            }
            return true
        case .escape: return true
        // It says no, and is not the command of this letter.
        case .character("n"): return event.modifiers.isEmpty
        default: return false
        }
    }

    /// Asks before a field is unset; the user's own draft is discarded at once.
    mutating func reset(_ commands: inout [LiveCommand]) {
        guard let field = focusedField, let index = presentation.index(field) else { return }
        if drafts[field] != nil {
            drafts[field] = nil
            problems[field] = nil
            return say(LiveWords.discarded(title(of: field)))
        }
        switch presentation.definition.controls[index].kind {
        case .button, .label: return
        default: break
        }
        guard mayEdit(field) else { return }
        if presentation.state(field)?.isSet != true {
            return say(LiveWords.hasDefault(title(of: field)))
        }
        question = .reset(field: field)
    }

    // MARK: Undo

    /// Undoes or redoes the last own edit. An edit of the focused control is in view, with the
    /// footer that names it; for one of another control the status line asks first, as a letter
    /// may have been meant for a list or a text.
    mutating func undoOrRedo(_ action: KeyAction, _ commands: inout [LiveCommand]) {
        guard mode == .form else { return }
        let isUndo = action == .undo
        let edit = isUndo ? ownEdits.done.last : ownEdits.undone.last
        if let edit, !edit.parts.contains(where: { $0.field == focusedField }) {
            question = .turn(edit, isUndo: isUndo)
        } else {
            sendTurn(isUndo: isUndo, &commands)
        }
    }

    /// Asks the daemon to undo or redo the last own edit.
    mutating func sendTurn(isUndo: Bool, _ commands: inout [LiveCommand]) {
        let undo = StateUndo(form: presentation.form)
        if isUndo {
            request(.stateUndo(undo), .undo, &commands)
        } else {
            request(.stateRedo(undo), .redo, &commands)
        }
        if !isOnline { say(LiveWords.askedLater) }
    }

    /// An own edit, as undo describes it.
    struct OwnEdit: Equatable {
        struct Part: Equatable {
            var field: String
            var was: JSON
            var value: JSON
            /// Whether it chose among values that were picked at the same time.
            var isChoice = false
            /// Whether the value ended by itself before the edit, or does after it.
            var isLeased = false
        }
        let revision: Revision
        var parts: [Part]
    }

    /// The user's edits since the form was opened, and which of them were undone.
    struct OwnEdits: Equatable {
        static let countMax = 100
        var done: [OwnEdit] = []
        var undone: [OwnEdit] = []
        /// Revisions of undo and redo; they cannot be undone.
        var turns: [Revision] = []

        /// An own revision was received.
        mutating func note(_ edit: OwnEdit) {
            if turns.contains(edit.revision) { return }
            done.append(edit)
            if done.count > Self.countMax { done.removeFirst() }
            undone = []
        }

        /// Undo or redo created a revision; returns the edit that it reverted.
        mutating func turn(_ revision: Revision, isUndo: Bool) -> OwnEdit? {
            turns.append(revision)
            if turns.count > Self.countMax { turns.removeFirst() }
            done.removeAll { $0.revision == revision }
            guard let edit = isUndo ? done.popLast() : undone.popLast() else { return nil }
            if isUndo { undone.append(edit) } else { done.append(edit) }
            return edit
        }
    }

    /// Records an own revision.
    ///
    /// - Parameter leased: The fields whose values ended by themselves before it.
    mutating func noteOwn(_ revision: Revision, _ changes: [FieldChange], leased: [String]) {
        let isMine = changes.indices.contains { presentation.isMine(changes[$0].state.by) }
        let parts =
            !isMine
            ? []
            : changes.compactMap { change -> OwnEdit.Part? in
                guard presentation.isMine(change.state.by),
                    let index = presentation.index(change.field),
                    let value = presentation.state(change.field)?.value
                else { return nil }
                if case .button = presentation.definition.controls[index].kind { return nil }
                return OwnEdit.Part(
                    field: change.field, was: change.was ?? .null, value: value,
                    isChoice: settled[change.field].map { $0 < revision } ?? false,
                    isLeased: leased.contains(change.field) || change.state.lease != nil)
            }
        if !parts.isEmpty { ownEdits.note(OwnEdit(revision: revision, parts: parts)) }
        if settled.isEmpty { return }
        for change in changes where settled[change.field].map({ $0 < revision }) ?? false {
            settled[change.field] = nil
        }
    }

    /// Whether others have changed all fields of an edit since, so that undo may revert nothing: it
    /// keeps their values, but for increments and members of sets beside one's own.
    private func isOverwritten(_ edit: OwnEdit) -> Bool {
        edit.parts.allSatisfy { part in
            guard let state = presentation.state(part.field) else { return false }
            return state.revision > edit.revision && !presentation.isMine(state.by)
        }
    }

    /// The daemon did not undo anything.
    mutating func sayNothingUndone() {
        guard let edit = ownEdits.done.popLast(), isOverwritten(edit) else {
            ownEdits.done = []
            return say(LiveWords.noUndo)
        }
        let names = edit.parts.map { title(of: $0.field) }.joined(separator: ", ")
        say(LiveWords.othersChanged(names))
    }

    /// What undo would do, for the footer: `35→40` is the edit of the focused control that it
    /// reverts; for another control, its name is added. `nil` if it may do nothing.
    var undoHint: String? {
        guard let edit = ownEdits.done.last, !isOverwritten(edit) else { return nil }
        return text(of: edit, labelMax: 16).map { LiveWords.undo($0) } ?? LiveWords.undo
    }

    /// An edit in words: its fields with the values before and after. With `labelMax` it is short:
    /// labels have at most so many characters, and the focused control has none.
    func text(of edit: OwnEdit, labelMax: Int? = nil) -> String? {
        let arrow = around.environment.glyphs.isASCII ? "->" : "→"
        let hasChanged = edit.parts.contains { $0.was != $0.value }
        let parts = edit.parts.compactMap { part -> String? in
            guard let index = presentation.index(part.field) else { return nil }
            if case .secure = presentation.definition.controls[index].kind {
                return title(of: part.field)
            }
            let isSame = part.was == part.value
            if isSame, part.isChoice || part.isLeased {
                // A choice among cards discards the others; a lease has another end.
                let title = title(of: part.field)
                return "\(labelMax.map { Self.brief(title, max: $0) } ?? title) "
                    + (part.isChoice ? LiveWords.conflictUndone : LiveWords.leaseUndone)
            }
            // Of several sources, those that had the value already are left out.
            if isSame, hasChanged { return nil }
            let was = Self.brief(turnedText(part.was, of: index))
            let value = Self.brief(turnedText(part.value, of: index))
            let title = title(of: part.field)
            guard let labelMax else { return "\(title) \(was) \(arrow) \(value)" }
            let name = part.field == focusedField ? "" : Self.brief(title, max: labelMax) + " "
            return "\(name)\(was)\(arrow)\(value)"
        }
        if parts.isEmpty { return nil }
        if labelMax != nil, parts.count > 1 { return LiveWords.fields(parts.count) }
        return parts.joined(separator: ", ")
    }

    /// A value as undo names it. A control with several sources has none while they differ.
    private func turnedText(_ value: JSON, of index: Int) -> String {
        value.isNull && presentation.definition.targets[index].count > 1
            ? ControlWords.mixed : valueText(value, of: index)
    }

    static func brief(_ text: String, max: Int = 16) -> String {
        let line = text.split(separator: "\n", omittingEmptySubsequences: false).first ?? ""
        if line.count <= max { return String(line) }
        let start = line.prefix(max - 1)
        return "\(start.last == " " ? start.dropLast() : start)…"
    }

    // MARK: What Enter would do

    /// What Enter would do, if that is not what is displayed: set a highlighted option, settle a
    /// conflict, answer a question.
    var pendingChoice: WordsLook? {
        guard let index = focusedIndex else { return nil }
        let control = presentation.definition.controls[index]
        if let activeEdit {
            return activeEdit.field == control.id ? pending(activeEdit, index) : nil
        }
        if let card = chosenCard(index) {
            let value = Self.brief(conflict(index)[card].text)
            return WordsLook(
                texts: LiveWords.enterSettles(control.title, value), kind: .choice)
        }
        guard case .picker(let picker) = control.kind, !picker.isMultiple,
            shape(index) == .lines, let tag = cursors[control.id], tag != shown(index).value,
            let option = Self.choices(of: control).first(where: { $0.tag == tag })
        else { return nil }
        return willSet(control, option.label)
    }

    /// What Enter does in an edit, as far as it is not what is typed on the screen.
    private func pending(_ edit: ControlEdit, _ index: Int) -> WordsLook? {
        let control = presentation.definition.controls[index]
        switch edit.kind {
        case .confirm(onConfirm: true):
            return WordsLook(LiveWords.enterPresses(control.title), kind: .choice)
        case .confirm(onConfirm: false):
            return WordsLook(LiveWords.enterCancels, kind: .choice)
        // A change by somebody else in the meantime is more important.
        case .value(_, setsAt: nil) where waiting(edit.field) != nil,
            .list where waiting(edit.field) != nil, .calendar where waiting(edit.field) != nil:
            return nil
        case .value(let value, setsAt: nil), .part(_, let value):
            let admitted = try? presentation.definition.admit(
                value, control: index, values: presentation.stored)
            guard let admitted, admitted != presentation.shown(index).value else { return nil }
            return willSet(control, Self.brief(valueText(admitted, of: index)))
        // It may snap to another number than the typed one.
        case .number(let editor) where mode == .form:
            guard let number = ValueParser.number(editor.text) else { return nil }
            let admitted = try? presentation.definition.admit(
                .number(number), control: index, values: presentation.stored)
            guard let admitted else { return nil }
            return willSet(control, Self.brief(valueText(admitted, of: index)))
        case .list(let list) where mode == .form && !control.isMultiple:
            let options = Self.choices(of: control)
            guard list.matches.indices.contains(list.cursor) else { return nil }
            let place = list.matches[list.cursor].index
            guard options.indices.contains(place), !options[place].isDisabled,
                options[place].tag != presentation.shown(index).value
            else { return nil }
            return willSet(control, options[place].label)
        case .calendar(let day) where mode == .form:
            guard let value = value(ofDay: day, index), value != presentation.shown(index).value
            else { return nil }
            return willSet(control, valueText(value, of: index))
        case .value, .list, .text, .number, .calendar: return nil
        }
    }

    private func willSet(_ control: Control, _ value: String) -> WordsLook {
        WordsLook(texts: LiveWords.enterSets(control.title, value), kind: .choice)
    }
}
