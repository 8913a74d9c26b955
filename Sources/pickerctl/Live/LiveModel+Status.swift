// The line that describes what has the focus: a question if there is one; otherwise an error, a
// value that is not set yet, or what the control takes.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The text above the keys.
    var words: WordsLook {
        if let questionWords { return questionWords }
        if let message {
            return WordsLook(
                message.text, message.brief ?? Self.reason(of: message.text),
                kind: message.isError ? .error : .note)
        }
        if let pendingChoice { return pendingChoice }
        switch page {
        // They are about the control in focus.
        case .form, .keys, .history, .explanation: break
        case .proposals(let selected): return words(ofProposal: selected)
        // The control behind the page is not what the keys are about.
        case .help, .people, .find, .palette, .forms: return WordsLook("", kind: .about)
        }
        guard let index = focusedIndex else { return foldedWords }
        let field = presentation.definition.controls[index].id
        if let problem = problems[field] { return words(of: problem, field) }
        if let waiting = waiting(field) {
            return WordsLook(
                LiveWords.alsoSet(waiting.by?.name, Self.brief(waiting.text)), kind: .choice)
        }
        if let draft = drafts[field], activeEdit?.field != field {
            let unsaved = LiveWords.unsaved(Self.brief(draft.text))
            return WordsLook(joined([unsaved, draftHint(index)]), unsaved, kind: .choice)
        }
        if isPutAside(index) {
            return WordsLook(
                texts: LiveWords.putAside(conflict(index).count), kind: .choice)
        }
        if let autoSetHint = autoSetHint(index) { return WordsLook(autoSetHint, kind: .choice) }
        let takes = takes(index) ?? ""
        if appends(index) {
            return WordsLook(
                joined(facts(index) + [LiveWords.appends]), joined([takes, LiveWords.appends]),
                takes, kind: .about)
        }
        return WordsLook(joined(facts(index)), takes, kind: .about)
    }

    /// What a folded section hides: a letter may have folded it by accident.
    private var foldedWords: WordsLook {
        guard case .section(let number)? = focus else { return WordsLook("", kind: .about) }
        let section = presentation.definition.sections[number]
        return WordsLook(
            texts: LiveWords.folded(section.title, controls: section.fields.count), kind: .about)
    }

    /// A refusal, with the text that was not set.
    private func words(of problem: String, _ field: String) -> WordsLook {
        let brief = Self.reason(of: problem)
        guard let draft = drafts[field] else { return WordsLook(problem, brief, kind: .error) }
        let unsaved = LiveWords.unsaved(Self.brief(draft.text))
        let example = withExample(problem, field)
        return WordsLook(
            texts: [
                joined([unsaved, problem]), example.map { joined([unsaved, $0]) }, example,
                problem, joined([unsaved, brief]), brief,
            ].compactMap { $0 }, kind: .error)
    }

    /// A message without its advice, for a narrow screen.
    private static func reason(of message: String) -> String {
        String(message.prefix { $0 != ";" })
    }

    /// A refusal with an example in place of what is expected; `nil` if there is no example.
    func withExample(_ problem: String, _ field: String) -> String? {
        example(field).map { LiveWords.example(Self.reason(of: problem), $0) }
    }

    /// A text that a control with a pattern admits, if its prompt is one: shorter than the pattern,
    /// and easier to read.
    private func example(_ field: String) -> String? {
        guard let index = presentation.index(field),
            case .text(let text) = presentation.definition.controls[index].kind,
            let prompt = text.prompt, text.pattern?.matcher.matches(prompt) == true
        else { return nil }
        return prompt
    }

    /// Parts of a line.
    func joined(_ parts: [String]) -> String {
        parts.joined(separator: " \(around.environment.glyphs.between) ")
    }

    /// What can be done with a draft.
    private func draftHint(_ index: Int) -> String {
        var draft = readyText(index) == nil ? LiveWords.Draft.atRest : .ready
        if case .date = presentation.definition.controls[index].kind { draft = .date }
        return LiveWords.draft(
            draft, edit: around.keys.name(of: .act), discard: around.keys.name(of: .reset))
    }

    /// A value that is set when no key is pressed for a moment.
    private func autoSetHint(_ index: Int) -> String? {
        guard let activeEdit, case .value(_, .some) = activeEdit.kind,
            activeEdit.field == presentation.definition.controls[index].id
        else { return nil }
        let before = presentation.text(index)
        return joined(LiveWords.setsSoon(valueText(index), keeps: before))
    }

    /// What is known of a control: why it is disabled, its help, what it takes, and who set it.
    func facts(_ index: Int) -> [String] {
        let control = presentation.definition.controls[index]
        return [reason(index), control.help, takes(index), author(index)].compactMap { $0 }
    }

    /// Who set a control, and when; `nil` if nobody has.
    func author(_ index: Int) -> String? {
        guard let state = presentation.state(presentation.definition.controls[index].id),
            state.isSet,
            let by = state.by
        else { return nil }
        var isButton = false
        if case .button = presentation.definition.controls[index].kind { isButton = true }
        let who = LiveWords.author(presentation.peer(by)?.name, isButton: isButton)
        return state.at.map { joined([who, around.localTime($0)]) } ?? who
    }

    /// What a control takes, in a few words.
    func takes(_ index: Int) -> String? {
        let control = presentation.definition.controls[index]
        switch control.kind {
        case .picker(let picker):
            return LiveWords.options(
                picker.options.options.count, isMultiple: picker.isMultiple)
        case .wheels(let wheels): return LiveWords.wheels(wheels.components.count)
        case .toggle: return LiveWords.flag
        case .slider, .stepper, .date, .text:
            return LiveWords.accepted(
                presentation.definition.expectedDescription(of: index),
                such: example(control.id))
        case .gauge:
            let words = LiveWords.accepted(
                presentation.definition.expectedDescription(of: index), such: nil)
            return control.isReadOnly ? joined([ControlWords.readOnly, words]) : words
        case .secure: return LiveWords.secret
        case .button(let button):
            if button.question(titled: control.title) != nil { return LiveWords.asksFirst }
            return button.runs == nil ? LiveWords.hasNoHandler : LiveWords.hasHandler
        case .label: return nil
        }
    }

    /// A value of a control in words.
    func valueText(_ value: JSON, of index: Int) -> String {
        if case .toggle = presentation.definition.controls[index].kind, let isOn = value.boolValue {
            return ControlWords.flag(isOn)
        }
        return presentation.text(value, of: index)
    }

    // MARK: Why a control is disabled

    /// The condition that does not hold, in a few words: `needs Maintenance mode off`.
    func reason(_ index: Int) -> String? {
        guard presentation.link != .deleted, !presentation.isEnabled(index),
            let condition = presentation.definition.controls[index].enabledWhen
        else { return nil }
        return words(of: condition).map { LiveWords.needs($0) }
    }

    private func words(of condition: Condition) -> String? {
        switch condition {
        case .complete: return LiveWords.needsComplete
        case .all(let list): return joined(list, LiveWords.and)
        case .any(let list): return joined(list, LiveWords.or)
        case .none: return nil
        case .field(let operand, let comparisons):
            guard comparisons.count == 1, operand.component == nil else { return nil }
            return words(of: comparisons[0], operand.field)
        }
    }

    private func joined(_ list: [Condition], _ word: String) -> String? {
        let parts = list.compactMap { words(of: $0) }
        return parts.count == list.count && parts.count <= 2 ? parts.joined(separator: word) : nil
    }

    private func words(of comparison: Condition.Comparison, _ field: Int) -> String? {
        let title = presentation.definition.controls[field].title
        func text(_ value: JSON) -> String { valueText(value, of: field) }
        switch comparison {
        case .equals(let value): return LiveWords.equals(title, text(value))
        case .isIn(let values):
            return LiveWords.equals(title, values.map(text).joined(separator: LiveWords.or))
        case .not(.string("")), .not(.null): return title
        case .not(let value): return LiveWords.isNot(title, text(value))
        case .atLeast(let value): return LiveWords.atLeast(title, text(value))
        case .atMost(let value): return LiveWords.atMost(title, text(value))
        }
    }
}
