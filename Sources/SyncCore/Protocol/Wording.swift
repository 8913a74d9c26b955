/// The wording of messages for people, in the daemon, in form files and in commands.
public enum Wording {
    /// `a, b or c`.
    public static func alternatives(_ names: [String]) -> String {
        guard names.count > 1, let last = names.last else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " or " + last
    }

    /// The advice to choose one of a few names.
    public static func oneOf(_ names: [String]) -> String {
        names.count == 1 ? names[0] : choice + alternatives(names)
    }

    /// The advice that one of these names may have been meant.
    public static func didYouMean(_ names: [String]) -> String {
        "did you mean \(alternatives(names))?"
    }

    /// A message with advice: `MESSAGE; choose A, B or C` for one of a few names, `MESSAGE; did you
    /// mean A?` for a similar name, otherwise `MESSAGE; expected A`.
    public static func refusal(_ message: String, expected: String?) -> String {
        guard let expected, !expected.isEmpty else { return message }
        return "\(message); \(advice(expected))"
    }

    /// The advice: `choose A, B or C`, `did you mean A?` or `expected A`.
    public static func advice(_ expected: String) -> String {
        if expected.hasSuffix("?") { return expected }
        if expected.hasPrefix(choice) { return "choose \(expected.dropFirst(choice.count))" }
        return "expected \(expected)"
    }

    private static let choice = "one of "
}
