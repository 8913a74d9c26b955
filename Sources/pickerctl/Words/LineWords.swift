// What the form in lines says beyond the live form: each text is a line that is read out.

internal import SyncCore
internal import TerminalUI

/// The sentences of the form in lines.
enum LineWords {
    static func form(_ title: String) -> String { "Form: \(title)" }
    static func section(_ title: String) -> String { "Section: \(title)" }
    static let begin = "Enter keeps a value. :help lists what else can be typed."
    static let end = "That was the last question."
    static let atEnd = "Type :help, or :q to leave."
    static let now = " (now)"
    static let button = "button"

    /// News: what others do, and what became of an edit.
    static func news(_ text: String) -> String { "* \(text)" }

    /// A sentence of its own.
    static func sentence(_ text: String) -> String { text.beginningWithCapital + "." }

    /// An answer that is not taken.
    static func no(_ why: String) -> String { "No: \(why)" }

    // MARK: What is expected

    static let severalNumbers = "Numbers with commas, or none:"
    static let oneNumber = "A number of the list:"
    static let numberForEach = "A number for each:"
    static let yesOrNo = "yes or no:"
    static let lines = "Lines, and a line with a dot alone to end:"
    static func press(_ question: String?) -> String { "\(question ?? "Press it?") \(yesOrNo)" }
    static func notAnswer(_ line: String, expected: String) -> String {
        "\"\(line)\" is not an answer; expected \(expected)"
    }
    static let numberOfList = "a number of the list"
    static let isYesOrNo = "yes or no"
    static func notInList(_ line: String) -> String { "\"\(line)\" is not in the list" }
    static let refused = "it was refused"
    static func isGone(_ field: String) -> String { "\(field) is gone" }

    // MARK: Conflicts

    static let pickedTwice =
        "Picked at the same time; :choose and a number settles it for everybody:"
    static func pick(_ value: String, by name: String?, at time: String?) -> String {
        "\(value), by \(name ?? ControlWords.you)\(time.map { " at \($0)" } ?? "")"
    }
    static let noConflict = "there is no conflict here."
    static func number(upTo count: Int) -> String {
        "a number from 1 to \(count), as in :choose 1."
    }
    static func conflict(_ pick: String) -> String { "\(LiveWords.conflict): \(pick)" }

    // MARK: Others

    static let somebody = "somebody"
    static func pressed(_ name: String, _ title: String) -> String { "\(name) pressed \(title)" }
    static func set(_ name: String, _ state: String) -> String { "\(name) set \(state)" }
    static func isHere(_ name: String) -> String { "\(name) is here" }
    static func left(_ name: String) -> String { "\(name) left" }
    static func isBack(_ host: String) -> String { "\(host) is back" }

    // MARK: Edits for another daemon

    static let keptCommands = ":kept apply sets them here, :kept discard forgets them."
    static let mergesLater = sentence("\(LiveWords.daemonIsAway); edits merge when it is back")

    // MARK: Commands

    static let help = """
        Enter: keep. :q quit, :list all values, :N go to number N of the list,
        :back, :undo, :redo, :who, :reset, :clear a text, :edit it in $EDITOR,
        :choose N of a conflict, :why it has its value, :message TEXT of the next change,
        :proposals that wait for approval. After :why, :reset and :clear, write the name
        or the number of another control.
        A text that begins with a colon is typed with two.
        """
    static func noCommand(_ word: some StringProtocol) -> String {
        "No command \(word); :help lists them."
    }
    static func noControl(_ text: String) -> String {
        "this form has no \(text); :list says the names and numbers."
    }
    static func leave(_ edits: Int) -> String {
        "\(LiveWords.waits(edits)); :q again quits without them."
    }
    static let onlyTexts = "Only a text can be edited in $EDITOR."

    // MARK: Messages and proposals

    static func becomesProposal(_ approval: String) -> String {
        "It becomes a proposal: \(approval)."
    }
    static func why(last: String) -> String {
        "Why? One line that everybody who reads this form sees."
            + (last.isEmpty ? "" : " Enter: \(last)")
    }
    static func needsMessage(_ field: String) -> String { "\(field) needs a message" }
    static let votes = ":approve N, :refuse N or :withdraw N, and a message if you like."
    static func proposal(
        _ name: String, _ change: String, by author: String, _ state: String
    ) -> String { "\(name). \(change), by \(author), \(state)" }
    static let noSuchProposal = "the number of a proposal, as :proposals lists them."
    static func vote(_ verb: String, _ change: String) -> String {
        "\(verb) \(change)? \(yesOrNo)"
    }
    static let nothingChanged = "Nothing was changed."
}

extension String {
    /// The text as a sentence begins.
    var beginningWithCapital: String { prefix(1).uppercased() + dropFirst() }
}
