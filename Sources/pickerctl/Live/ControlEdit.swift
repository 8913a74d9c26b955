// The control that is being edited. Changes by others do not move it.

internal import SyncCore
internal import TerminalUI

/// A control that is being edited.
struct ControlEdit: Equatable {
    /// The way in which it is edited.
    enum Kind: Equatable {
        /// A list of options is open.
        case list(OpenList)
        /// A text or a secret is typed.
        case text(TextEditor)
        /// A number is typed into a slider or stepper.
        case number(TextEditor)
        /// A value is stepped or dragged; with the time at which it is set automatically, if it is.
        case value(JSON, setsAt: UInt64?)
        /// Digits are typed into a part of a date.
        case part(typed: String, JSON)
        /// The keys are in a calendar.
        case calendar(CivilDate)
        /// A button asks before it acts.
        case confirm(onConfirm: Bool)
    }

    let field: String
    /// What was displayed when the edit began: the context, the value and its revision.
    var context: String?
    let base: ShownValue
    var revision: Revision
    var kind: Kind

    /// When the edit ends automatically.
    var setsAt: UInt64? {
        if case .value(_, let setsAt) = kind { setsAt } else { nil }
    }

    /// The value that will be set.
    var draft: JSON? {
        switch kind {
        case .text(let editor): .string(editor.text)
        case .number(let editor): DecimalNumber(editor.text).map { .number($0) }
        case .value(let value, _), .part(_, let value): value
        case .list, .calendar, .confirm: nil
        }
    }

    /// Whether keys are typed as text.
    var isTyping: Bool {
        switch kind {
        case .text, .number, .list: true
        case .value, .part, .calendar, .confirm: false
        }
    }
}

extension LiveModel {
    /// Starts editing a control.
    mutating func take(_ field: String, _ kind: ControlEdit.Kind) {
        if let activeEdit, activeEdit.field == field {
            self.activeEdit?.kind = kind
            return
        }
        guard let index = presentation.index(field) else { return }
        problems[field] = nil
        overtaken.remove(field)
        activeEdit = ControlEdit(
            field: field, context: presentation.context, base: presentation.shown(index),
            revision: presentation.state(field)?.revision ?? 0, kind: kind)
    }

    /// The displayed value of a control: the value being edited, the value at the start of the
    /// edit, or the form's value.
    func shown(_ index: Int) -> ShownValue {
        let control = presentation.definition.controls[index]
        guard let activeEdit, activeEdit.field == control.id else {
            return presentation.shown(index)
        }
        switch activeEdit.kind {
        case .value(let value, _), .part(_, let value): return ShownValue(value)
        case .list, .text, .number, .calendar, .confirm: return activeEdit.base
        }
    }

    /// A change by somebody else, which is displayed when the edit ends.
    func waiting(_ field: String) -> PeerValue? {
        guard let activeEdit, activeEdit.field == field, let index = presentation.index(field),
            let state = presentation.state(field), state.revision > activeEdit.revision,
            !presentation.isMine(state.by)
        else { return nil }
        if case .confirm = activeEdit.kind { return nil }
        return PeerValue(
            value: state.value, text: valueText(state.value, of: index),
            by: presentation.peer(state.by))
    }

    /// Ends the edit and sets its value. A list, a calendar or a question is closed.
    mutating func commitEdit(_ commands: inout [LiveCommand]) {
        guard let activeEdit else { return }
        switch activeEdit.kind {
        case .list, .calendar, .confirm: cancelEdit()
        case .value(let value, _): finish(.value(value), &commands)
        case .part(let typed, let value):
            guard takePart(typed, value), case .value(let value, _)? = self.activeEdit?.kind else {
                return
            }
            finish(.value(value), &commands)
        case .text(let editor):
            guard let index = presentation.index(activeEdit.field) else { return cancelEdit() }
            if case .secure = presentation.definition.controls[index].kind, editor.clusters.isEmpty
            {
                return cancelEdit()
            }
            finish(.value(.string(editor.text)), &commands)
        case .number(let editor):
            guard let number = ValueParser.number(editor.text) else {
                keepAsDraft()
                problems[activeEdit.field] = LiveWords.notNumber
                return
            }
            finish(.value(.number(number)), &commands)
        }
    }

    /// Ends editing and sends an edit; a refused text stays as a draft.
    mutating func finish(_ action: Change.Action, _ commands: inout [LiveCommand]) {
        guard let activeEdit else { return }
        self.activeEdit = nil
        drafts[activeEdit.field] = nil
        if case .value(let value) = action, value == activeEdit.base.value,
            !activeEdit.base.isMixed,
            mode == .form, !isSecret(activeEdit.field), !isChosen(activeEdit)
        {
            return showPeerChange(activeEdit)
        }
        var typed: TextEditor?
        if case .number(let editor) = activeEdit.kind { typed = editor }
        let isDone = send(
            activeEdit.field, narrowed(action, activeEdit), context: activeEdit.context,
            typed: typed, &commands)
        if !isDone { keepDraft(activeEdit, refused: action) }
    }

    /// Whether the value was chosen although somebody else had changed the control meanwhile.
    /// Choosing the earlier value again then overwrites that change.
    private func isChosen(_ activeEdit: ControlEdit) -> Bool {
        guard let state = presentation.state(activeEdit.field),
            state.revision > activeEdit.revision,
            !presentation.isMine(state.by)
        else { return false }
        switch activeEdit.kind {
        case .list, .calendar: return true
        case .text, .number, .value, .part, .confirm: return false
        }
    }

    /// Only the wheels that were turned, because somebody else may be turning the others.
    private func narrowed(_ action: Change.Action, _ activeEdit: ControlEdit) -> Change.Action {
        guard mode == .form, case .value(.object(let rows)) = action,
            case .object(let before) = activeEdit.base.value
        else { return action }
        let turned = rows.members.filter { before[$0.name] != $0.value }
        return turned.isEmpty ? action : .value(.object(JSONObject(turned.map { ($0, $1) })))
    }

    /// Ends editing without an edit. Waiting changes are displayed.
    mutating func cancelEdit() {
        guard let activeEdit else { return }
        self.activeEdit = nil
        showPeerChange(activeEdit)
    }

    /// The focus goes elsewhere without Enter or Tab: what was typed is kept and not set. `false`
    /// if the focus stays, because a secret cannot be kept.
    mutating func leaveTyping() -> Bool {
        guard let activeEdit else { return true }
        switch activeEdit.kind {
        case .text(let editor) where isSecret(activeEdit.field) && !editor.clusters.isEmpty:
            say(LiveWords.secretIsTyped)
            return false
        case .text, .number: keepAsDraft()
        case .list, .value, .part, .calendar, .confirm: break
        }
        return true
    }

    /// Ends typing without an edit, and keeps what was typed.
    mutating func keepAsDraft() {
        guard let activeEdit else { return }
        keepDraft(activeEdit)
        self.activeEdit = nil
        showPeerChange(activeEdit)
    }

    /// Keeps what was typed; of a date, only one that was refused.
    private mutating func keepDraft(_ activeEdit: ControlEdit, refused: Change.Action? = nil) {
        switch activeEdit.kind {
        case .text(let editor):
            if isSecret(activeEdit.field) || activeEdit.base.value.stringValue == editor.text {
                return
            }
            drafts[activeEdit.field] = editor
        case .number(let editor):
            let number = ValueParser.number(editor.text)
            if editor.text.isEmpty || number.map({ .number($0) == activeEdit.base.value }) ?? false
            {
                return
            }
            drafts[activeEdit.field] = editor
        case .value, .part:
            guard let refused, let index = presentation.index(activeEdit.field) else { return }
            drafts[activeEdit.field] = typed(refused, index)
        case .list, .calendar, .confirm: break
        }
    }

    /// Displays the waiting change of somebody else.
    private mutating func showPeerChange(_ activeEdit: ControlEdit) {
        guard let state = presentation.state(activeEdit.field),
            state.revision > activeEdit.revision,
            let peer = presentation.peer(state.by)
        else { return }
        flashes[activeEdit.field] = Flash(peer: peer, since: now)
    }

    /// Whether a secret is being typed.
    var isTypingSecret: Bool {
        guard let activeEdit, case .text = activeEdit.kind else { return false }
        return isSecret(activeEdit.field)
    }

    func isSecret(_ field: String) -> Bool {
        guard let index = presentation.index(field) else { return false }
        if case .secure = presentation.definition.controls[index].kind { return true }
        return false
    }
}
