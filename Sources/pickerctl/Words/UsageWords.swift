// What a command says about its own arguments, one wording for each situation. The argument parser
// and the commands themselves refuse them with the same words.

internal import SyncCore

/// The sentences about options and arguments.
enum UsageWords {
    // MARK: Options together

    static func exclude(_ options: String...) -> String {
        "\(LiveWords.list(options)) exclude each other"
    }

    static func chooseOne(_ options: String...) -> String {
        "choose one of \(LiveWords.list(options))"
    }

    /// An option without what it needs; `write` is what to write if that is not plain.
    static func needs(_ option: String, _ what: String, write: String? = nil) -> String {
        "\(option) needs \(what)" + (write.map { "; write \($0)" } ?? "")
    }

    static let redactNeeds = "-m and -y need --redact"
    static let redactOnly = "--redact overwrites one message; the other options print the history"
    static let plotFormats = "--plot prints text, svg or csv"
    static let plotIsWhole = "--plot draws all changes; use --since to draw fewer"
    static let plotNeedsField = needs("--plot", "a field") + "; see pickerctl describe"

    // MARK: Values of options

    static func isEmpty(_ option: String, _ value: String) -> String {
        "\(option) is empty; write \(option) \(value)"
    }

    /// A number outside its range.
    static func number(_ option: String, _ number: Int64, write expected: String) -> String {
        "\(option) is \(number); write \(expected)"
    }

    static let oneOrMore = "a number of 1 or more"
    static let revision = "a revision, as pickerctl history shows it"
    static func range(_ least: Int, _ most: Int) -> String { "a number from \(least) to \(most)" }

    static func notDuration(_ option: String, _ text: String) -> String {
        "\(option) \"\(text)\" is not from 1s to 3650d; write 90min, 2h30m or 1d"
    }

    static func notTime(_ option: String, _ text: String) -> String {
        "\(option) \"\(text)\" is not a time; write 18:00, or a time of RFC 3339 in UTC"
    }

    static func isOver(_ option: String, _ text: String) -> String {
        "\(option) \"\(text)\" is over already; write a later time"
    }

    static let since = "a duration such as 1h, a date or a time of RFC 3339 in UTC"

    static func noTheme(_ name: String) -> String { "no theme \"\(name)\"" }

    // MARK: Arguments

    static func nothing(to verb: String, write: String) -> String {
        "nothing to \(verb); write \(write)"
    }

    static let relayHasNoHost = "relay is what --host runs; it has no --host itself"
}

extension Failure {
    static let revealsOne = Failure.usage("--reveal shows one secret; name one field")

    static func wholeForm(_ form: String, and field: String) -> Failure {
        .usage("\(form)/ is the whole form; leave it out, or leave out \(field)")
    }

    static func notProposal(_ name: String) -> Failure {
        .usage("\"\(name)\" is not the name of a proposal; write deploy/12")
    }

    /// A button that only counts its presses.
    static func noRuns(_ field: FieldOutline) -> Failure {
        .usage("\(field.id) has no runs, so nobody handles its presses; add runs to it in the form")
    }

    // MARK: Assignments

    static func endsInDash(_ id: String) -> Failure {
        .usage("\(id) ends in a dash, so \(id)=… means a subtraction; write \(id):=JSON")
    }

    static func componentHasTag(_ id: String, _ component: String) -> Failure {
        .usage("a component has a tag; write \(id).\(component)=TAG")
    }

    static func notNumberOrList(_ field: FieldOutline) -> Failure {
        .usage(
            "\(field.id) is \(field.withArticle), and += and -= need a number or a list; "
                + "write \(field.id)=VALUE")
    }

    static let oneReadsInput = Failure.usage(
        "only one field can read standard input; use @FILE for the others")
}
