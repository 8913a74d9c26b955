// Questions that are answered with text: why something is changed (asked where the form requires a
// message, and with `M` anywhere), and when a value ends (`L`).

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// A question with the answer that is being typed.
    struct TypedQuestion: Equatable {
        var subject: Subject
        var editor: TextEditor
        /// Whether Enter did not accept the answer as it is.
        var isRefused = false

        enum Subject: Equatable {
            /// Why: for an edit that waits, or for the next one.
            case message(HeldEdit?)
            /// When the value of a control ends.
            case lease(field: String)
            /// What to do with a proposal, which Enter confirms; the text is the message.
            case vote(Vote, FormProposal)
        }
    }

    /// An edit that waits for its message. Its context is that of the moment of the edit.
    struct HeldEdit: Equatable {
        var field: String
        var action: Change.Action
        var context: String?
        var isCurrent: Bool
        var typed: TextEditor?
        /// Who must agree, in words, if it becomes a proposal.
        var approval: String?
    }

    /// The longest message, in characters; the daemon refuses a longer one.
    static var messageCharactersMax: Int { 200 }

    /// Asks for a message, prefilled with the last one of this session.
    mutating func askForMessage(_ edit: HeldEdit?) {
        question = .typed(
            TypedQuestion(
                subject: .message(edit),
                editor: TextEditor(
                    nextMessage ?? around.lastMessage, maxLength: Self.messageCharactersMax)))
    }

    /// A key while an answer is typed. Enter gives it, Esc changes nothing.
    mutating func typedKey(
        _ event: KeyEvent, _ asked: TypedQuestion, _ commands: inout [LiveCommand]
    ) {
        var asked = asked
        switch event.key {
        case .enter: answer(asked, &commands)
        case .escape: withdraw(asked)
        default:
            // The question says when the text is full.
            if asked.editor.apply(event) == .edited { asked.isRefused = false }
            question = .typed(asked)
        }
    }

    /// Text pasted into an answer; `false` if none is being typed.
    mutating func pasteAnswer(_ text: String) -> Bool {
        guard case .typed(var asked)? = question else { return false }
        asked.editor.insert(text)
        asked.isRefused = false
        question = .typed(asked)
        return true
    }

    private mutating func answer(_ asked: TypedQuestion, _ commands: inout [LiveCommand]) {
        let text = asked.editor.text.trimmedOfSpaces
        question = nil
        switch asked.subject {
        case .message(nil):
            nextMessage = text.isEmpty ? nil : text
            say(text.isEmpty ? LiveWords.noNextMessage : LiveWords.nextMessage(text))
        case .message(let edit?):
            // The question stays until there is a message.
            guard !text.isEmpty else { return question = .typed(asked) }
            nextMessage = text
            send(
                edit.field, edit.action, context: edit.context, isCurrent: edit.isCurrent,
                typed: edit.typed, isProposal: edit.approval != nil, &commands)
        case .lease(let field):
            if !setLease(of: field, text, &commands) {
                var refused = asked
                refused.isRefused = true
                question = .typed(refused)
            }
        case .vote(let vote, let proposal):
            carryOut(vote, proposal, text.isEmpty ? around.message : text, &commands)
        }
    }

    /// Nothing is sent. What was typed into a text remains as a draft.
    mutating func withdraw(_ asked: TypedQuestion) {
        question = nil
        guard case .message(let edit?) = asked.subject else { return }
        if let typed = edit.typed { drafts[edit.field] = typed }
        let title = title(of: edit.field)
        say(edit.action == .press ? LiveWords.notPressed(title) : LiveWords.notChanged(title))
    }

    /// The message for an edit that is sent now. One that was typed is for this edit alone.
    mutating func takeMessage() -> String? {
        guard let message = nextMessage else { return around.message }
        nextMessage = nil
        around.lastMessage = message
        return message
    }

    /// Whether an edit must wait for a message.
    func lacksMessage(_ index: Int) -> Bool {
        hasNoMessage && presentation.definition.needsMessage(index)
    }

    /// Whether the next edit says nothing.
    var hasNoMessage: Bool { nextMessage == nil && around.message == nil }

    // MARK: Words

    /// The question as the status line asks it.
    func words(of asked: TypedQuestion) -> WordsLook {
        let caret = around.environment.glyphs.isASCII ? "_" : "▏"
        let text = asked.editor.text
        let place = text.index(text.startIndex, offsetBy: asked.editor.cursor)
        let typed = text[..<place] + caret + text[place...]
        switch asked.subject {
        case .message(let edit):
            let readers = edit?.approval ?? LiveWords.readers
            let note = full(text) ?? (edit == nil ? readers : LiveWords.required(readers))
            return WordsLook(
                texts: LiveWords.why(edit.map { self.text(of: $0) }, String(typed), note),
                kind: .question)
        case .lease(let field):
            let isLeased = presentation.index(field).flatMap(presentation.lease) != nil
            return WordsLook(
                texts: LiveWords.lease(
                    title(of: field), isLeased: isLeased, String(typed),
                    isRefused: asked.isRefused),
                kind: .question)
        case .vote(let vote, let proposal):
            return WordsLook(
                texts: LiveWords.vote(
                    vote.verb, words(of: proposal), proposal.name, String(typed), full(text)),
                kind: .question)
        }
    }

    /// Why a message takes no more characters; `nil` if it does.
    private func full(_ text: String) -> String? {
        text.count < Self.messageCharactersMax
            ? nil : LiveWords.charactersMax(Self.messageCharactersMax)
    }

    /// What an edit would do: `Traffic → 40 %`.
    private func text(of edit: HeldEdit) -> String {
        let title = title(of: edit.field)
        guard let index = presentation.index(edit.field), !isSecret(edit.field) else {
            return title
        }
        let arrow = around.environment.glyphs.isASCII ? "->" : "→"
        switch edit.action {
        case .value(let value):
            return "\(title) \(arrow) \(Self.brief(valueText(value, of: index)))"
        case .increment(let amount):
            let sum = presentation.shown(index).value.numberValue?.adding(amount)
            return sum.map { "\(title) \(arrow) \(valueText(.number($0), of: index))" } ?? title
        case .reset: return "\(title) \(arrow) \(LiveWords.defaultValue)"
        case .press: return LiveWords.press(title)
        case .toggle, .move, .add, .remove: return title
        }
    }

    /// The keys for a typed answer.
    func hints(of asked: TypedQuestion) -> [KeyHint] {
        switch asked.subject {
        case .message(nil): return [("Enter", .keepForNext), ("Esc", .back)]
        case .message(let edit?):
            let verb: KeyWords = edit.action == .press ? .press : .set
            return [("Enter", edit.approval == nil ? verb : .propose), ("Esc", .changeNothing)]
        case .vote(let vote, _): return [("Enter", .vote(vote)), ("Esc", .back)]
        case .lease: return [("Enter", .set), ("Esc", .back)]
        }
    }
}

extension LineForm {
    /// Asks for the message of an edit that waits.
    mutating func sayMessageQuestion() {
        guard case .typed(let asked)? = model.question else { return }
        let last = asked.editor.text
        if case .message(let edit?) = asked.subject, let approval = edit.approval {
            say(LineWords.becomesProposal(approval))
        }
        say(LineWords.why(last: last))
    }

    /// A line that answers the question for a message.
    mutating func takeMessage(
        _ line: String, _ asked: LiveModel.TypedQuestion, _ commands: inout [LiveCommand]
    ) {
        if case .vote(let vote, _) = asked.subject { return takeVote(line, vote, &commands) }
        guard case .message(let edit?) = asked.subject else { return }
        var asked = asked
        if !line.isEmpty { asked.editor = TextEditor(line) }
        model.typedKey(KeyEvent(.enter), asked, &commands)
        if case .typed? = model.question {
            return isPerson ? sayMessageQuestion() : refuse(LineWords.needsMessage(edit.field))
        }
        guard let index = model.presentation.index(edit.field) else { return }
        if let problem = model.problems[edit.field] { return refuse(problem) }
        if model.mode == .form { ask(after: index) }
    }
}

extension String {
    fileprivate var trimmedOfSpaces: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
