// Requests to the daemon, and its answers and events.

internal import PickerClient
internal import SyncCore
internal import TerminalUI

extension LiveModel {
    // MARK: Asking

    /// Sends an edit and shows it at once; `false` where the form itself refuses it.
    ///
    /// `context` is the context of what was displayed when the edit began, by default the newest.
    /// With `isCurrent` the daemon refuses to overwrite a value that the context has not seen.
    /// `typed` is the text that is kept if the edit is refused. An edit of a guarded field becomes
    /// a proposal, also one that was (`isProposal`) when its message was asked for. With
    /// `isReadLater`, what the form's rules give after it is computed when it was sent (`settle`).
    @discardableResult
    mutating func send(
        _ field: String, _ action: Change.Action, context: String? = nil, isCurrent: Bool = false,
        typed: TextEditor? = nil, isProposal: Bool = false, isReadLater: Bool = false,
        _ commands: inout [LiveCommand]
    ) -> Bool {
        guard let index = presentation.index(field), mayEdit(field) else { return false }
        problems[field] = nil
        asksToLeave = false
        let action = leasable(action, index)
        let change = Change(field: field, context: context ?? presentation.context, action)
        // A card of a conflict is chosen, not typed.
        let typed = typed ?? (isCurrent ? nil : self.typed(action, index))
        let number = lastEdit + 1
        let guards = mode == .form ? presentation.guardsMet(by: change) : []
        let isProposal = isProposal || !guards.isEmpty
        do throws(InvalidValue) {
            // The daemon decides about locked controls, so the edit is not displayed before the
            // answer. A proposal changes nothing.
            let mustAsk = isProposal ? hasNoMessage : lacksMessage(index) && mode.sets
            if mustAsk || isProposal || presentation.definition.controls[index].isLocked {
                _ = try presentation.definition.edits(
                    for: action, control: index, values: presentation.stored)
            } else if isReadLater {
                try presentation.write(number, change)
            } else {
                try presentation.edit(number, change)
            }
            if mustAsk {
                askForMessage(
                    HeldEdit(
                        field: field, action: action, context: change.context,
                        isCurrent: isCurrent, typed: typed,
                        approval: isProposal
                            ? approvalWords(guards.isEmpty ? [index] : guards) : nil))
                return true
            }
        } catch {
            problems[field] = Self.problem(error)
            return false
        }
        if case .pick(_, sets: false) = mode {
            picked = value(of: action, index)
            commands.append(.quit(.done))
            return true
        }
        var edit = StateSet(
            form: presentation.form, changes: [change], context: isCurrent ? context : nil,
            requireCurrent: isCurrent, lease: takeLease(of: field), message: takeMessage())
        if isProposal { edit.guarded = .proposed }
        request(.stateSet(edit), .edit(field, typed: typed), &commands)
        if !isOnline, mode == .form {
            say(LiveWords.setLater)
        }
        return true
    }

    /// The text or the date that an edit sets, as it was typed.
    func typed(_ action: Change.Action, _ index: Int) -> TextEditor? {
        guard mode == .form, case .value(.string(let text)) = action else { return nil }
        switch presentation.definition.controls[index].kind {
        case .text(let attributes):
            return TextEditor(
                text, isMultiline: attributes.isMultiline, maxLength: attributes.maxLength)
        case .date: return TextEditor(text)
        default: return nil
        }
    }

    private func value(of action: Change.Action, _ index: Int) -> JSON {
        if case .value(let value) = action {
            return
                (try? presentation.definition.admit(
                    value, control: index, values: presentation.stored))
                ?? value
        }
        return presentation.shown(index).value
    }

    static func problem(_ error: InvalidValue) -> String {
        let expected = error.expected
        return expected.isEmpty || error.message.contains(expected)
            ? error.message : LiveWords.refused(error.message, expected: expected)
    }

    mutating func request(
        _ request: Request, _ purpose: Purpose, _ commands: inout [LiveCommand]
    ) {
        lastEdit += 1
        purposes[lastEdit] = purpose
        commands.append(.request(lastEdit, request))
    }

    // MARK: Answers

    mutating func answered(
        _ numbers: [Int], _ outcome: RequestOutcome, _ commands: inout [LiveCommand]
    ) {
        presentation.answered(numbers)
        for number in numbers {
            guard let purpose = purposes.removeValue(forKey: number) else { continue }
            answered(purpose, outcome, &commands)
        }
    }

    private mutating func answered(
        _ purpose: Purpose, _ outcome: RequestOutcome, _ commands: inout [LiveCommand]
    ) {
        switch (purpose, outcome) {
        case (.definition, .result(let json)):
            guard let result = try? FormResult(decoding: json) else { return }
            define(result.definition)
        case (.history(let field), .result(let json)): received(history: json, of: field, &commands)
        case (.explanation(let field), .result(let json)):
            received(explanation: json, of: field, &commands)
        case (.history, .refused(let error)), (.explanation, .refused(let error)),
            (.forms, .refused(let error)):
            page = .form
            say(error.message, isError: true)
        case (.forms, .result(let json)): received(forms: json)
        case (.lease, .result(let json)): _ = take(json)
        case (.lease(let change), .refused(let error))
        where error.kind == .approvalNeeded && question == nil:
            propose(change, &commands)
        case (.lease(let change), .refused(let error)): refused(change.field, error)
        case (.edit, .result(let json)) where json["proposal"] != nil,
            (.kept, .result(let json)) where json["proposal"] != nil,
            (.vote, .result(let json)):
            received(proposal: json)
        case (.vote, .refused(let error)): say(error.message, isError: true)
        case (.brokenGlass, .result(let json)): received(changes: json, &commands)
        case (.edit(let field, _), .result(let json)):
            _ = take(json)
            finishPick(field, &commands)
        case (.undo, .result(let json)), (.redo, .result(let json)):
            guard let result = take(json) else { return }
            sayTurned(isUndo: purpose == .undo, result)
        case (.edit(let field, let typed), .refused(let error)):
            refused(field, error)
            keep(typed, of: field)
            if error.kind == .conflict { reopenCards(field) }
        case (.cancelRun, .result(let json)): sayCancelled(json)
        case (.cancelRun, .refused(let error)): say(error.message, isError: true)
        case (.undo, .refused(let error)):
            error.kind == .conflict ? sayNothingUndone() : say(error.message)
        case (.redo, .refused(let error)):
            say(error.kind == .conflict ? LiveWords.noRedo : error.message)
        case (.edit(let field, let typed), .lost):
            problems[field] = LiveWords.unknownOutcome
            keep(typed, of: field)
        case (.kept(let fields), .refused(let error)):
            for field in fields { refused(field, error) }
        case (.kept, .result(let json)): _ = take(json)
        case (_, .otherReplica(let request)): keep(request)
        case (.definition, .refused), (.brokenGlass, .refused), (_, .superseded), (_, .lost):
            break
        }
    }

    /// Takes the fields of the answer to an edit, undo or redo.
    private mutating func take(_ answer: JSON) -> SetResult? {
        guard let result = try? SetResult(decoding: answer) else { return nil }
        presentation.take(result.fields)
        return result
    }

    private mutating func refused(_ field: String, _ error: WireError) {
        presentation.take(error.fields)
        let subject = error.field ?? field
        var text = error.message
        if let expected = error.expected, !text.contains(expected) {
            text = LiveWords.refused(text, expected: expected)
        }
        problems[subject] = text
    }

    /// A text that the daemon refused becomes a draft again, unless the user is already typing a
    /// new one.
    private mutating func keep(_ typed: TextEditor?, of field: String) {
        guard let typed, activeEdit?.field != field, drafts[field] == nil,
            let index = presentation.index(field),
            presentation.shown(index).value.stringValue != typed.text,
            ValueParser.number(typed.text).map({ .number($0) != presentation.shown(index).value })
                ?? true
        else { return }
        drafts[field] = typed
    }

    private mutating func sayTurned(isUndo: Bool, _ result: SetResult) {
        let names = result.fields.map { title(of: $0.id) }.joined(separator: ", ")
        let edit = ownEdits.turn(result.revision, isUndo: isUndo)
        let skipped = (result.skipped ?? []).map { title(of: $0) }.joined(separator: ", ")
        say(
            LiveWords.turned(
                isUndo: isUndo, edit.flatMap { self.text(of: $0) } ?? names,
                skipped: skipped.isEmpty ? nil : skipped))
        // The focus stays at a control that shows what was undone.
        let shown = result.fields.map(\.id) + (edit?.parts.map(\.field) ?? [])
        if let focusedField, shown.contains(focusedField) { return }
        if let first = result.fields.first, presentation.index(first.id) != nil {
            moveFocus(to: .control(first.id))
        }
    }

    func title(of field: String) -> String {
        presentation.index(field).map { presentation.definition.controls[$0].title } ?? field
    }

    // MARK: Events

    mutating func take(_ event: ClientEvent, _ commands: inout [LiveCommand]) {
        switch event {
        case .greeted(let greeting):
            let wasLost =
                switch presentation.link {
                case .lost, .refused: true
                case .connecting, .online, .deleted: false
                }
            if presentation.greeted(greeting) { otherReplica() }
            sentPresence = nil
            unansweredSince = nil
            if wasLost { say(LiveWords.daemonIsBack) }
            for kept in kept.greeted(by: greeting.store) { submit(kept.edit, &commands) }
        case .disconnected: presentation.lost(nil)
        case .goodbye(let goodbye): presentation.lost(goodbye.reason.text)
        case .incompatible(let error): presentation.refused(error)
        case .violation(let reason): presentation.lost(LiveWords.invalidMessage("\(reason)"))
        case .subscriptionRefused(_, let error):
            presentation.refused(error)
            if error.kind == .notFound { deleted(&commands) }
        case .snapshot(let result, _):
            flash(presentation.began(result))
            rebaseEdit()
            sentPresence = nil
            // The definition may have changed since it was read.
            request(.formGet(form: presentation.form), .definition, &commands)
            // The revisions may be those of another store.
            brokenGlass.searched = 0
            askForBrokenGlass(&commands)
        case .resumed(let result):
            presentation.resumed(result)
            sentPresence = nil
            askForBrokenGlass(&commands)
        case .changed(let change): _ = take(change, &commands)
        case .formChanged(let change):
            if change.form == presentation.form { formChanged(change, &commands) }
        case .presence(let change): take(change)
        case .progress(let progress): presentation.note(progress)
        case .proposal(let proposal): take(proposal)
        case .assigned, .cancelled: break
        case .forms(let list):
            if list.forms.contains(where: { $0.form == presentation.form }) { cameBack(&commands) }
        case .answered: break
        }
    }

    /// A revision. Returns the controls that it changes, if nothing but their values changed.
    mutating func take(_ change: StateChanged, _ commands: inout [LiveCommand]) -> [Int]? {
        let leased = presentation.leased(change.changes)
        let controls = presentation.changed(
            change.changes, revision: change.revision, context: change.context)
        noteOwn(change.revision, change.changes, leased: leased)
        flash(change.changes)
        historyChanged(change.changes, &commands)
        explanationChanged(&commands)
        glassMayHaveBroken(change.changes, &commands)
        return controls
    }

    private mutating func flash(_ changes: [FieldChange]) {
        // By index, here and below: a copy of a change retains all that it has.
        for place in changes.indices {
            let field = changes[place].field
            if !changes[place].state.conflict.isEmpty { sayResolved(field) }
            if presentation.isMine(changes[place].state.by) {
                flashes[field] = nil
                continue
            }
            if activeEdit?.field == field { continue }
            if problems[field] != nil {
                // A text that was refused is still typed, so the reason is still true.
                if drafts[field] == nil { problems[field] = nil } else { overtaken.insert(field) }
            }
            guard let peer = presentation.peer(changes[place].state.by) else { continue }
            flashes[field] = Flash(peer: peer, since: now)
        }
    }

    /// The form was deleted: typed text stays a draft, and the form opens again when it is created
    /// again.
    private mutating func deleted(_ commands: inout [LiveCommand]) {
        presentation.deleted()
        keepAsDraft()
        if case .pick(let field, _) = mode {
            failure = LiveWords.deletedWhilePicking(presentation.form, field)
            return commands.append(.quit(.noInput))
        }
        commands.append(.awaitForm)
    }

    /// Somebody created the form again.
    private mutating func cameBack(_ commands: inout [LiveCommand]) {
        guard presentation.link == .deleted else { return }
        presentation.rejoined()
        purposes = [:]
        settled = [:]
        putAside = [:]
        problems = [:]
        sentPresence = nil
        say(LiveWords.formIsBack)
        commands.append(.rejoin)
    }

    private mutating func formChanged(_ change: FormChanged, _ commands: inout [LiveCommand]) {
        switch change.content {
        case .deleted: deleted(&commands)
        case .defined where presentation.link == .deleted: cameBack(&commands)
        case .defined(let content):
            define(content.definition)
            presentation.changed(
                content.changes, revision: change.revision, context: content.context)
            flash(content.changes)
        }
    }

    /// A new definition: the edit continues if its control still exists.
    mutating func define(_ json: JSON) {
        guard json != presentation.definition.json else { return }
        let parsed = try? FormDefinition.parse(
            json, limits: .received, compile: around.compile)
        guard let definition = parsed else {
            return say(LiveWords.formIsUnknown, isError: true)
        }
        let old = presentation.definition
        folded = Set(
            definition.sections.enumerated().compactMap { index, section in
                let before = old.sections.firstIndex { $0.title == section.title }
                let isFolded = before.map { folded.contains($0) } ?? section.isCollapsed
                return isFolded ? index : nil
            })
        presentation.define(definition)
        if let activeEdit {
            guard let index = presentation.index(activeEdit.field),
                definition.controls[index].type
                    == old.index(of: activeEdit.field).map({ old.controls[$0].type })
            else {
                keepAsDraft()
                let title =
                    old.index(of: activeEdit.field).map { old.controls[$0].title }
                    ?? activeEdit.field
                let isKept = drafts[activeEdit.field] != nil
                return say(LiveWords.formChanged(with: title, isKept: isKept), isError: true)
            }
            if case .list(var list) = activeEdit.kind,
                case .picker = definition.controls[index].kind
            {
                keepList(&list, of: index, old: old)
                self.activeEdit?.kind = .list(list)
            }
        }
        say(LiveWords.formChanged)
    }

    /// New options in an open list: the highlight stays at the option with the same tag.
    private func keepList(_ list: inout OpenList, of index: Int, old: FormDefinition) {
        let field = presentation.definition.controls[index].id
        let before = old.index(of: field).map { LiveModel.choices(of: old.controls[$0]) } ?? []
        let place = list.matches.indices.contains(list.cursor) ? list.matches[list.cursor].index : 0
        let tag = before.indices.contains(place) ? before[place].tag : .null
        let options = LiveModel.choices(of: presentation.definition.controls[index])
        list.refilter(
            options, groups: LiveModel.groups(of: presentation.definition.controls[index]))
        let now = options.firstIndex { $0.tag == tag }
        list.cursor = list.matches.firstIndex { $0.index == now } ?? 0
    }
}
