// What somebody has in the hand: a control that is being edited and does not move meanwhile.

internal import SyncCore
internal import TerminalUI

/// A control that is held.
struct Hold: Equatable {
    /// How it is held.
    enum Kind: Equatable {
        /// A list of options is open.
        case list(OpenList)
        /// A text or a secret is typed.
        case text(TextEditor)
        /// A number is typed into a slider or stepper.
        case number(TextEditor)
        /// A value is turned or dragged. Where it settles by itself, when.
        case value(JSON, settles: UInt64?)
        /// Digits are typed into a part of a date.
        case part(typed: String, JSON)
        /// The keys are in a calendar.
        case calendar(CivilDate)
        /// A button asks before it acts.
        case confirm(onConfirm: Bool)
    }

    let field: String
    /// What was shown when it was taken: the token, the value, and its revision.
    let context: String?
    let base: ShownValue
    let revision: Revision
    var kind: Kind

    /// When it lets go by itself.
    var settles: UInt64? {
        if case .value(_, let settles) = kind { settles } else { nil }
    }

    /// What is about to be set.
    var draft: JSON? {
        switch kind {
        case .text(let editor): .string(editor.text)
        case .number(let editor): DecimalNumber(editor.text).map { .number($0) }
        case .value(let value, _), .part(_, let value): value
        case .list, .calendar, .confirm: nil
        }
    }

    /// Whether keys are text.
    var isTyping: Bool {
        switch kind {
        case .text, .number, .list: true
        case .value, .part, .calendar, .confirm: false
        }
    }
}

extension LiveModel {
    /// Takes a control into the hand.
    mutating func take(_ field: String, _ kind: Hold.Kind) {
        if let hold, hold.field == field {
            self.hold?.kind = kind
            return
        }
        guard let index = mirror.index(field) else { return }
        problems[field] = nil
        hold = Hold(
            field: field, context: mirror.context, base: mirror.shown(index),
            revision: mirror.state(field)?.revision ?? 0, kind: kind)
    }

    /// The value that a control shows here: the one in the hand, the one that stood when it was
    /// taken, or the form's.
    func shown(_ index: Int) -> ShownValue {
        let control = mirror.definition.controls[index]
        guard let hold, hold.field == control.id else { return mirror.shown(index) }
        switch hold.kind {
        case .value(let value, _), .part(_, let value): return ShownValue(value)
        case .list, .text, .number, .calendar, .confirm: return hold.base
        }
    }

    /// Another's change that waits until the control is let go.
    func waiting(_ field: String) -> PeerValue? {
        guard let hold, hold.field == field, let index = mirror.index(field),
            let state = mirror.state(field), state.revision > hold.revision,
            !mirror.isMine(state.by)
        else { return nil }
        if case .confirm = hold.kind { return nil }
        return PeerValue(
            value: state.value, text: mirror.text(state.value, of: index),
            by: mirror.peer(state.by))
    }

    /// Ends the hold and sets what was in the hand; a list, a calendar and a question are closed.
    mutating func letGo(_ commands: inout [LiveCommand]) {
        guard let hold else { return }
        switch hold.kind {
        case .list, .calendar, .confirm: putBack()
        case .value(let value, _), .part(_, let value): finish(.value(value), &commands)
        case .text(let editor):
            guard let index = mirror.index(hold.field) else { return putBack() }
            if case .secure = mirror.definition.controls[index].kind, editor.clusters.isEmpty {
                return putBack()
            }
            finish(.value(.string(editor.text)), &commands)
        case .number(let editor):
            guard let number = ValueParser.number(editor.text) else {
                setAside()
                problems[hold.field] = "takes a number"
                return
            }
            finish(.value(.number(number)), &commands)
        }
    }

    /// Ends the hold with an edit; a refused text stays as a draft.
    mutating func finish(_ action: Change.Action, _ commands: inout [LiveCommand]) {
        guard let hold else { return }
        self.hold = nil
        drafts[hold.field] = nil
        if case .value(let value) = action, value == hold.base.value, !hold.base.isMixed,
            mode == .form, !isSecret(hold.field), !isChosen(hold)
        {
            return land(hold)
        }
        var typed: TextEditor?
        if case .number(let editor) = hold.kind { typed = editor }
        let isDone = send(
            hold.field, narrowed(action, hold), context: hold.context, typed: typed, &commands)
        if !isDone { keepDraft(hold) }
    }

    /// Whether what was in the hand was chosen against another's change that waited beside it: who
    /// picks what stood before says that it shall stand.
    private func isChosen(_ hold: Hold) -> Bool {
        guard let state = mirror.state(hold.field), state.revision > hold.revision,
            !mirror.isMine(state.by)
        else { return false }
        switch hold.kind {
        case .list, .calendar: return true
        case .text, .number, .value, .part, .confirm: return false
        }
    }

    /// Of wheels only those that were turned: another may be turning the rest.
    private func narrowed(_ action: Change.Action, _ hold: Hold) -> Change.Action {
        guard mode == .form, case .value(.object(let rows)) = action,
            case .object(let before) = hold.base.value
        else { return action }
        let turned = rows.members.filter { before[$0.name] != $0.value }
        return turned.isEmpty ? action : .value(.object(JSONObject(turned.map { ($0, $1) })))
    }

    /// Ends the hold without an edit: what waited lands.
    mutating func putBack() {
        guard let hold else { return }
        self.hold = nil
        land(hold)
    }

    /// Ends typing without an edit, and keeps what was typed.
    mutating func setAside() {
        guard let hold else { return }
        keepDraft(hold)
        self.hold = nil
        land(hold)
    }

    private mutating func keepDraft(_ hold: Hold) {
        switch hold.kind {
        case .text(let editor):
            if isSecret(hold.field) || hold.base.value.stringValue == editor.text { return }
            drafts[hold.field] = editor
        case .number(let editor):
            let number = ValueParser.number(editor.text)
            if editor.text.isEmpty || number.map({ .number($0) == hold.base.value }) ?? false {
                return
            }
            drafts[hold.field] = editor
        case .list, .value, .part, .calendar, .confirm: break
        }
    }

    /// Another's change that waited is seen now.
    private mutating func land(_ hold: Hold) {
        guard let state = mirror.state(hold.field), state.revision > hold.revision,
            let peer = mirror.peer(state.by)
        else { return }
        flashes[hold.field] = Flash(peer: peer, until: now &+ Span.flash)
    }

    /// Whether a secret is being typed.
    var isTypingSecret: Bool {
        guard let hold, case .text = hold.kind else { return false }
        return isSecret(hold.field)
    }

    func isSecret(_ field: String) -> Bool {
        guard let index = mirror.index(field) else { return false }
        if case .secure = mirror.definition.controls[index].kind { return true }
        return false
    }
}
