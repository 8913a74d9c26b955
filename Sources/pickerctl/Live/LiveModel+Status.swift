// The line that describes what has the focus: a question first, then what is wrong, what is not set
// yet, and what the control takes.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// The text above the keys.
    var words: WordsLook {
        if let questionText { return WordsLook(text: questionText, kind: .question) }
        if let message {
            return WordsLook(text: message.text, kind: message.isError ? .error : .note)
        }
        if let pendingChoice { return WordsLook(text: pendingChoice, kind: .choice) }
        if let index = focusedIndex {
            let field = mirror.definition.controls[index].id
            if let problem = problems[field] {
                guard let draft = drafts[field] else {
                    return WordsLook(text: problem, kind: .error)
                }
                return WordsLook(
                    text: "unsaved: \(Self.brief(draft.text)) · \(problem)",
                    kind: .error)
            }
            if let waiting = waiting(field) {
                let who = waiting.by?.name ?? "another terminal"
                return WordsLook(
                    text: "\(who) set \(Self.brief(waiting.text)); setting yours replaces it",
                    kind: .choice)
            }
            if let draft = drafts[field], activeEdit?.field != field {
                return WordsLook(
                    text: "unsaved: \(Self.brief(draft.text)) · \(draftHint)", kind: .choice)
            }
            if let settling = settling(index) { return WordsLook(text: settling, kind: .choice) }
        }
        return WordsLook(text: about, kind: .about)
    }

    /// What can be done with a draft.
    private var draftHint: String {
        "\(around.keys.name(of: .act)) to edit, \(around.keys.name(of: .reset)) to discard"
    }

    /// A value that is set when no key is pressed for a moment.
    private func settling(_ index: Int) -> String? {
        guard let activeEdit, case .value(_, .some) = activeEdit.kind,
            activeEdit.field == mirror.definition.controls[index].id
        else { return nil }
        let before = mirror.text(index)
        return "\(valueText(index)) · sets in a moment · Esc keeps \(before)"
    }

    /// What the focused control takes, its help, and who set it.
    private var about: String {
        guard let index = focusedIndex else { return "" }
        let control = mirror.definition.controls[index]
        var parts: [String] = []
        if let reason = reason(index) { parts.append(reason) }
        if let help = control.help { parts.append(help) }
        switch control.kind {
        case .slider, .stepper, .date, .text:
            let words = mirror.definition.expectedDescription(of: index)
            parts.append(Self.short(words))
        case .picker(let picker) where shape(index) == .closed:
            parts.append(Self.count(picker.options.options.count, "option"))
        default: break
        }
        if let state = mirror.state(control.id), state.isSet, let by = state.by {
            let when = state.at.map { " · \(around.localTime($0))" } ?? ""
            parts.append("set by \(mirror.peer(by)?.name ?? "you")\(when)")
        }
        return parts.joined(separator: " · ")
    }

    /// A domain in words without its article: `0 to 100 in steps of 5`.
    private static func short(_ words: String) -> String {
        for start in ["a number from ", "a number of ", "a number ", "a whole number from "]
        where words.hasPrefix(start) {
            return String(words.dropFirst(start.count))
        }
        return words
    }

    // MARK: Why a control is disabled

    /// The condition that does not hold, in a few words: `needs Maintenance mode off`.
    func reason(_ index: Int) -> String? {
        guard mirror.link != .deleted, !mirror.isEnabled(index),
            let condition = mirror.definition.controls[index].enabledWhen
        else { return nil }
        return words(of: condition).map { "needs \($0)" }
    }

    private func words(of condition: Condition) -> String? {
        switch condition {
        case .complete: return "all required fields"
        case .all(let list): return joined(list, " and ")
        case .any(let list): return joined(list, " or ")
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
        let title = mirror.definition.controls[field].title
        func text(_ value: JSON) -> String {
            if let isOn = value.boolValue { return isOn ? "on" : "off" }
            return mirror.text(value, of: field)
        }
        switch comparison {
        case .equals(let value): return "\(title) \(text(value))"
        case .isIn(let values): return "\(title) \(values.map(text).joined(separator: " or "))"
        case .not("" as JSON), .not(.null): return title
        case .not(let value): return "\(title) not \(text(value))"
        case .atLeast(let value): return "\(title) at least \(text(value))"
        case .atMost(let value): return "\(title) at most \(text(value))"
        }
    }
}
