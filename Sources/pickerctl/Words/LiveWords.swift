// What the live form says, one wording for each situation; the form in lines says the same. The
// words that are part of a control are TerminalUI's `ControlWords`, those of commands the failures
// of Messages.swift.
//
// One sentence: what is wrong, and what to do. A line may be short of space: then there are several
// wordings, the longest first.

internal import TerminalUI

/// The sentences of the live form. Those about values and edits are here, others in extensions.
enum LiveWords {
    /// `1 edit`, `2 edits`.
    static func count(_ number: Int, _ word: String) -> String {
        "\(number) \(word)\(number == 1 ? "" : "s")"
    }

    /// `alice, bob and carol`.
    static func list(_ names: [String]) -> String {
        names.count < 2
            ? names.joined()
            : names.dropLast().joined(separator: ", ") + " and " + (names.last ?? "")
    }

    // MARK: What a control accepts

    static let flag = "on or off"
    static let secret = "a secret, which is never shown"
    static let appends = "typing appends to the text"
    static let asksFirst = "asks before it runs"
    static let hasHandler = "each press goes to a handler"
    static let hasNoHandler = "no handler: programs that watch the form see each press"

    static func options(_ count: Int, isMultiple: Bool) -> String {
        "\(isMultiple ? "any" : "one") of \(self.count(count, "option"))"
    }

    static func wheels(_ count: Int) -> String { self.count(count, "wheel") }

    /// What is expected, without its article: `0 to 100 in steps of 5`. An example says more than
    /// a pattern.
    static func accepted(_ expected: String, such example: String?) -> String {
        let starts = ["a number from ", "a number of ", "a number ", "a whole number from "]
        let start = starts.first { expected.hasPrefix($0) } ?? ""
        let words = expected.dropFirst(start.count)
        guard let example, let pattern = words.firstRange(of: " that matches ") else {
            return String(words)
        }
        return "\(words[..<pattern.lowerBound]), such as \(example)"
    }

    /// Who set a value.
    static func author(_ name: String?, isButton: Bool) -> String {
        "\(isButton ? "last press:" : "set by") \(name ?? ControlWords.you)"
    }

    /// How long ago, beside a value that somebody has just set.
    static func recent(_ name: String, seconds: Int) -> String { "\(name), \(seconds) s" }

    /// What a folded section hides.
    static func folded(_ title: String?, controls: Int) -> [String] {
        let shows = "Enter shows \(count(controls, "control"))"
        return ["\(title ?? section) is folded; \(shows)", shows]
    }

    /// A section without a title.
    static let section = "More"

    static func hidden(_ count: Int) -> String { "\(count) hidden" }

    // MARK: Why it cannot be changed

    static func isReadOnly(_ title: String) -> String { "\(title) is \(ControlWords.readOnly)" }
    static func isDisabled(_ title: String) -> String { "\(title) is disabled now" }
    static let disabledNow = "disabled now"
    static func needs(_ condition: String) -> String { "needs \(condition)" }
    static let needsComplete = "all required fields"
    static let and = " and "
    static let or = " or "
    static func equals(_ title: String, _ value: String) -> String { "\(title) \(value)" }
    static func isNot(_ title: String, _ value: String) -> String { "\(title) not \(value)" }
    static func atLeast(_ title: String, _ value: String) -> String { "\(title) at least \(value)" }
    static func atMost(_ title: String, _ value: String) -> String { "\(title) at most \(value)" }
    static func isUnavailable(_ option: String?) -> String { "\(option ?? "it") is unavailable" }

    static func noOption(_ digit: Int, of title: String, options: Int) -> String {
        "\(title) has \(count(options, "option")); there is no option \(digit)"
    }

    // MARK: What is typed

    static let unsaved = "unsaved"
    static let empty = "empty"
    static func unsaved(_ text: String) -> String { "\(unsaved): \(text.isEmpty ? empty : text)" }

    /// What can be done with a text that is not set.
    enum Draft { case date, ready, atRest }

    static func draft(_ draft: Draft, edit: String, discard: String) -> String {
        switch draft {
        case .date: "type or paste a date, \(discard) to discard"
        case .ready: "type to edit, Esc \(discard) to discard"
        case .atRest: "\(edit) to edit, \(discard) to discard"
        }
    }

    static func discarded(_ title: String) -> String {
        "discarded what you typed into \(title)"
    }

    static let secretIsTyped = "Enter sets what you typed, Esc discards it"
    static let textTooLong = "the text is too long; its end is left out"
    static let editorLeftNothing = "the editor left no text"
    static let notNumber = "not a number"

    /// An example in place of what is expected.
    static func example(_ problem: some StringProtocol, _ example: String) -> String {
        "\(problem); an example is \(example)"
    }

    /// A part of a date that does not exist: `there is no month 13`.
    static func noPart(_ name: String, _ typed: String) -> String { "there is no \(name) \(typed)" }

    static func refused(_ problem: String, expected: String) -> String {
        "\(problem); expected \(expected)"
    }

    static let unknownOutcome = "it is not known whether it was set"

    // MARK: What the next key does

    static func spaceSets(_ title: String, _ isOn: Bool) -> String {
        "Space sets \(title) \(ControlWords.flag(isOn)); Enter changes nothing"
    }

    static let spaceSelects = "Space selects or deselects; Enter changes nothing"

    static func enterSets(_ title: String, _ value: String) -> [String] {
        ["Enter sets \(title) to \(value) for everybody", "Enter sets \(value) for everybody"]
    }

    static func enterSettles(_ title: String, _ value: String) -> [String] {
        ["Enter settles \(title) as \(value) for everybody", "Enter: \(value) for everybody"]
    }

    static func enterPresses(_ title: String) -> String { "Enter presses \(title) for everybody" }
    static let enterCancels = "Enter cancels; nothing is pressed"

    /// A draft that is set in a moment.
    static func setsSoon(_ value: String, keeps before: String) -> [String] {
        [value, "sets in a moment", "Esc keeps \(before)"]
    }

    // MARK: Others change it too

    static func alsoSet(_ name: String?, _ value: String) -> String {
        "\(name ?? ControlWords.anotherTerminal) set \(value); setting yours replaces it"
    }

    static func putAside(_ count: Int) -> [String] {
        [
            "\(count) values were picked at the same time; Enter shows them",
            "\(count) values; Enter shows them",
        ]
    }

    static let conflict = "conflict"
    static let noConflict = "there is no conflict"
    static let choicesChanged = "these choices have just changed; press Enter again"

    static func setMeanwhile(
        _ name: String?, _ title: String, _ value: String, isSettled: Bool
    ) -> String {
        "\(name ?? ControlWords.you) set \(title) to \(value) meanwhile; "
            + (isSettled ? "nothing was changed" : "choose again")
    }

    /// Concurrent edits of which one is kept: values with their authors. It is brief without a
    /// title.
    static func editedTwice(
        _ title: String?, kept: (value: String, by: String?), other: (value: String, by: String?)
    ) -> String {
        (title.map { "\($0) was edited twice at once: " } ?? "")
            + "\(kept.value) (\(kept.by ?? ControlWords.you)) is kept, "
            + "\(other.value) (\(other.by ?? ControlWords.you)) is in the history"
    }
}

// MARK: - Dates

extension LiveWords {
    static let notDate = "not a date"
    static func notDate(such example: String) -> String {
        "\(notDate); paste one such as \(example)"
    }
    static let notTime = "not a time; paste one such as 14:30"
    static let notMonth = "not a month; paste one such as 2026-11"
    static let notDuration = "a duration cannot be pasted; type its parts"
}
