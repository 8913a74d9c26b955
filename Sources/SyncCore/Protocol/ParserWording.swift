// ArgumentParser's errors in our wording.
//
// ArgumentParser provides its errors only as English text. The sentences of the version in
// Package.resolved are parsed here; an unknown one is shown unchanged. A test causes each of them.

/// Rewrites ArgumentParser's messages.
public enum ParserWording {
    /// A message of one line, without a full stop.
    ///
    /// `kinds` says what is expected for a value by the name that the help gives it: `TIME`.
    public static func line(_ message: String, kinds: [String: String] = [:]) -> String {
        let lines = message.split(separator: "\n").map(String.init)
        var first = lines.first ?? "the command line is not valid"
        if let text = reworded(first, lines.dropFirst(), kinds) { return text }
        if first.last == "." { first.removeLast() }
        return first
    }

    private static func reworded(
        _ line: String, _ more: ArraySlice<String>, _ kinds: [String: String]
    ) -> String? {
        if let name = text(line, after: "Unknown option '", before: "'") {
            // The parser compares with the hyphens, so that short names are near to many.
            let near = text(line, after: "Did you mean '", before: "'?").flatMap { near in
                Similar.names(to: bare(name), among: [bare(near)]).isEmpty ? nil : near
            }
            return "no option \(name)" + (near.map { "; did you mean \($0)?" } ?? "")
        }
        if let option = text(line, after: "Missing value for '", before: "'") {
            let words = option.split(separator: " ")
            return "\(words[0]) has no value; write \(named(option))"
        }
        if let option = text(line, after: "The option '", before: "' does not take any value") {
            return "\(option) accepts no value; write \(option) alone"
        }
        if let word = text(line, after: "Unexpected argument '", before: "'") {
            return "one argument too many: \(word)"
        }
        if let words = text(line, after: " unexpected arguments: '", before: nil) {
            let list = words.dropLast().split(separator: "', '").joined(separator: " ")
            return "too many arguments: \(list)"
        }
        if let name = text(line, after: "Missing expected argument '", before: "'") {
            return "missing argument \(named(name))"
        }
        if let flags = text(line, after: "Value to be set with flag '", before: "'"),
            let other = text(line, after: "already been set with flag '", before: "'")
        {
            return flags == other
                ? "\(flags) is given twice" : "\(other) and \(flags) exclude each other"
        }
        return value(line, more, kinds)
    }

    /// `The value 'xml' is invalid for '-o <output>'. Please provide one of 'text' or 'json'.`
    private static func value(
        _ line: String, _ more: ArraySlice<String>, _ kinds: [String: String]
    ) -> String? {
        guard let value = text(line, after: "The value '", before: "' is invalid for '"),
            let rest = text(line, after: "' is invalid for '", before: nil),
            let option = text(rest, after: "", before: "'")
        else { return nil }
        let words = option.split(separator: " ").map(String.init)
        let name = words.count > 1 ? words[0] : named(option)
        let kind = named(words.last ?? "")
        var choices = more.compactMap { text($0, after: "  - ", before: nil) }
        if choices.isEmpty, let list = text(rest, after: "one of ", before: nil) {
            choices = list.split(separator: "'").enumerated().filter { $0.offset % 2 == 0 }
                .map { String($0.element) }
        }
        let expected =
            if !choices.isEmpty {
                Wording.oneOf(choices)
            } else {
                switch kind {
                case "DURATION": DurationText.expected
                case "N", "REVISION", "LIMIT", "BEFORE": "a whole number"
                default: kinds[kind] ?? kind
                }
            }
        return Wording.refusal("\"\(value)\" is not a value of \(name)", expected: expected)
    }

    /// `--form <form>` as `--form FORM`, `<field=value> ...` as `FIELD=VALUE…`.
    private static func named(_ synopsis: String) -> String {
        var result = ""
        var isName = false
        for character in synopsis {
            switch character {
            case "<": isName = true
            case ">": isName = false
            default: result += isName ? character.uppercased() : String(character)
            }
        }
        return result.hasSuffix(" ...") ? result.dropLast(4) + "…" : result
    }

    /// An option without its hyphens.
    private static func bare(_ option: String) -> String {
        String(option.drop { $0 == "-" })
    }

    /// The text after `start` and before the next `end`, or all of the rest.
    private static func text(_ line: String, after start: String, before end: String?) -> String? {
        guard let begin = start.isEmpty ? line.startIndex : line.firstRange(of: start)?.upperBound
        else { return nil }
        let rest = line[begin...]
        guard let end else { return String(rest) }
        return rest.firstRange(of: end).map { String(rest[..<$0.lowerBound]) }
    }
}
