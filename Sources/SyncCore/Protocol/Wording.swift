/// How messages for people are put together, in the daemon, in form files and in commands.
public enum Wording {
    /// `a, b or c`.
    public static func alternatives(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }

    /// What a refusal says is wanted where one of a few names is.
    public static func oneOf(_ names: [String]) -> String {
        names.count == 1 ? names[0] : choice + alternatives(names)
    }

    /// What a refusal says is wanted where somebody may have meant one of these names.
    public static func didYouMean(_ names: [String]) -> String {
        "did you mean \(alternatives(names))?"
    }

    /// A message and what to do: `MESSAGE; choose A, B or C` where one of a few names is wanted,
    /// `MESSAGE; did you mean A?` where that is known, else `MESSAGE; expected A`.
    public static func refusal(_ message: String, expected: String?) -> String {
        guard let expected, !expected.isEmpty else { return message }
        return "\(message); \(advice(expected))"
    }

    /// What to do where that is wanted: `choose A, B or C`, `did you mean A?`, `expected A`.
    public static func advice(_ expected: String) -> String {
        if expected.hasSuffix("?") { return expected }
        if expected.hasPrefix(choice) { return "choose \(expected.dropFirst(choice.count))" }
        return "expected \(expected)"
    }

    private static let choice = "one of "
}
