// The words of controls in one place, so that each situation has one wording. The live form, the
// form in lines and previews say the same.

/// What controls say: states, notes at the right of a value, and questions.
public enum ControlWords {
    // MARK: Values

    /// Sources with different values.
    public static let mixed = "mixed"
    /// The same in place of a value, after a dash.
    static func mixed(_ dash: String) -> String { "\(dash) \(mixed)" }
    /// The option of an optional picker that means no value.
    public static let none = "None"
    /// A date control without a value.
    static let noDate = "no date"

    /// A value that the control no longer accepts.
    static func invalid(_ text: String) -> String { "(invalid: \(text))" }

    /// A toggle.
    public static func flag(_ isOn: Bool) -> String { isOn ? "on" : "off" }

    /// A secret, whose text is never shown.
    public static func secret(isSet: Bool) -> String { isSet ? "set" : "not set" }

    /// The threshold that a gauge has passed: `over 60`; `at 60` if it is the threshold itself.
    static func threshold(_ text: String, isEqual: Bool) -> String {
        isEqual ? "at \(text)" : "over \(text)"
    }

    // MARK: States

    /// It is required and empty.
    public static let required = "required"
    /// Its value is refused, where there is no space for the reason.
    static let invalid = "invalid"
    /// Nobody changes it in a form.
    public static let readOnly = "read-only"
    /// A condition does not hold.
    public static let disabled = "disabled"
    /// Nobody but an admin of the form may set it.
    public static let locked = "locked"
    /// An option that cannot be chosen.
    public static let unavailable = "(unavailable)"
    /// The option of a stored value is gone, or its domain is another one.
    static let noLongerValid = "this value is no longer valid; choose another"
    /// Capitals are locked while a secret is typed.
    public static let capsLock = "Caps Lock is on"

    // MARK: People

    /// The user, where others are named.
    public static let you = "you"
    /// An author without a name here.
    public static let anotherTerminal = "another terminal"

    /// More people than there is space for names.
    static func here(_ count: Int) -> String { "\(count) here" }

    // MARK: Conflicts, lists and questions

    /// The title of the cards of a conflict, and a shorter one.
    static let conflict = ["picked at the same time; choose one", "choose one"]
    /// The card of the value that the form has.
    static let current = "current"
    /// The prompt of a list's filter.
    static let filter = "type to filter"
    /// A filter without a match.
    static let noMatch = "nothing matches"
    /// The button that answers no.
    static let cancel = "Cancel"

    /// Options of a list that are not drawn.
    static func more(_ count: Int, isAbove: Bool) -> String {
        "\(count) more \(isAbove ? "above" : "below")"
    }

    /// The matches of a filter among all options.
    static func matches(_ count: Int, of total: Int) -> String {
        count == total ? "\(total)" : "\(count) of \(total)"
    }

    /// Lines of a preview that are not drawn.
    static func moreLines(_ count: Int) -> String { "\(count) more lines" }

    /// What a destructive button asks if its form has no question.
    static func question(_ title: String) -> String { "\(title)?" }
}
