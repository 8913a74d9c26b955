/// How the presses of a button are handled (FORM.md, Buttons that answer).
public struct RunRules: Hashable, Sendable {
    /// The most presses of one button that run at once, because readers are told of each.
    public static let atOnceMax = 8
    /// A press counts as so many values of a transaction (`Limits.valuesMax`), because it has a row
    /// of its own in the store.
    static let pressWeight = 15

    /// What a press does while another one waits or runs.
    public var mode: Mode
    /// How long a press waits while no handler is connected, in milliseconds.
    public var waitsForMilliseconds: Int64 = 0
    public var whenLost = WhenLost.fail
    /// How long a run may take, in milliseconds; `nil` for any time.
    public var timeoutMilliseconds: Int64?
    /// The host of the fleet that has the presses of all hosts; `nil`: each host has its own.
    public var handledAt: String?

    /// What a press does while another one waits or runs.
    public enum Mode: String, Hashable, Sendable, CaseIterable {
        /// It is refused.
        case one
        /// It waits.
        case queue
        /// It replaces the presses that wait.
        case latest
    }

    /// What becomes of a run whose handler is gone.
    public enum WhenLost: String, Hashable, Sendable, CaseIterable {
        /// It has failed: each press runs at most once.
        case fail
        /// It waits for another handler: each press runs at least once.
        case again
    }

    /// Rules of this mode with the defaults of FORM.md.
    public init(_ mode: Mode) { self.mode = mode }
}

extension Control {
    /// How its presses are handled; `nil` for other controls and buttons without `runs`.
    public var runs: RunRules? {
        if case .button(let button) = kind { button.runs } else { nil }
    }
}

extension FormParser {
    /// The attributes that need `runs` beside them.
    private static let runKeys = ["waitsFor", "whenLost", "timeout", "handledAt"]

    mutating func runs(_ field: Members) -> RunRules? {
        guard field["runs"] != nil else {
            for key in Self.runKeys where field[key] != nil {
                issue(
                    field.place(of: key), "\(key) needs runs beside it",
                    expected: "runs: one, queue or latest")
            }
            return nil
        }
        if field["binds"] != nil {
            issue(
                field.place(of: "runs"), "the button that it binds handles its presses",
                expected: "runs only on that button")
        }
        let mode = choice(field, "runs", among: RunRules.Mode.allCases)
        var rules = RunRules(mode ?? .one)
        rules.whenLost = choice(field, "whenLost", among: RunRules.WhenLost.allCases) ?? .fail
        rules.waitsForMilliseconds =
            duration(field, "waitsFor", atLeast: 0, atMost: Self.daySeconds) ?? 0
        rules.timeoutMilliseconds =
            duration(field, "timeout", atLeast: 1, atMost: 30 * Self.daySeconds)
        rules.handledAt = host(field, "handledAt")
        return mode == nil ? nil : rules
    }

    /// The name of a host of the fleet.
    private mutating func host(_ field: Members, _ name: String) -> String? {
        guard let text = string(field, name) else { return nil }
        if LinkSubject.isName(text) { return text }
        issue(
            field.place(of: name), "\(FormDefinition.quoted(.string(text))) is not accepted",
            expected: "the name of a host, as link.host has it: letters, digits, _ and -")
        return nil
    }

    /// Nobody handles the presses of a control without `runs`.
    mutating func requireRuns(for place: Place, _ field: Members) {
        if field["runs"] != nil || !limits.hasNewRules { return }
        issue(
            place, "access.handle says who handles the presses of a button with runs",
            expected: field["binds"] == nil
                ? "runs: one, queue or latest beside it, or no handle"
                : "handle at the button that it binds")
    }

    static let daySeconds = 86_400

    /// A duration in milliseconds, as text such as `10s`.
    mutating func duration(
        _ members: Members, _ name: String, atLeast least: Int, atMost most: Int
    ) -> Int64? {
        guard let text = string(members, name) else { return nil }
        if let seconds = DurationText.seconds(text),
            (Double(least)...Double(most)).contains(seconds)
        {
            return Int64((seconds * 1_000).rounded())
        }
        issue(
            members.place(of: name), "\(FormDefinition.quoted(.string(text))) is not accepted",
            expected: "a duration such as 10s or 30m, of \(least)s to \(most / Self.daySeconds)d")
        return nil
    }
}
