// What the live form asks, and what undo, leases and messages say.

internal import SyncCore
internal import TerminalUI

extension LiveWords {
    /// The keys of a question, where there is no line for keys.
    static func keys(isRoomy: Bool) -> String { isRoomy ? "" : " Enter / Esc" }

    /// Whether a field is reset: with its default, or cleared if that is nothing.
    static func reset(_ title: String, to value: String?, _ keys: String) -> [String] {
        let verb = value == nil ? "Clear" : "Reset"
        let goal = value.map { " to \($0)" } ?? ""
        return [
            "\(verb) \(title)\(goal) for everybody?\(keys)", "\(verb)\(goal) for everybody?\(keys)",
            "\(verb)\(goal)?\(keys)",
        ]
    }

    static func hasDefault(_ title: String) -> String { "\(title) has its default already" }

    // MARK: Undo

    static let conflictUndone = "conflict"
    static let leaseUndone = "lease"
    static let undo = "undo"
    static func undo(_ edit: String) -> String { "\(undo) \(edit)" }
    static func fields(_ count: Int) -> String { "\(count) fields" }
    static let noUndo = "you have no edit to undo"
    static let noRedo = "you have no edit to redo"

    /// Whether an edit is undone or done again: in whole, and shorter without its labels.
    static func turn(
        isUndo: Bool, _ whole: String?, shorter: [String], _ keys: String
    ) -> [String] {
        let verb = isUndo ? "Undo" : "Redo"
        guard let whole else { return ["\(verb) your last edit for everybody?"] }
        let texts = ["\(whole) for everybody?\(keys)", "\(whole)?\(keys)"]
        return (texts + shorter.map { "\($0)?\(keys)" } + shorter.map { "\($0)?" })
            .map { "\(verb) \($0)" }
    }

    static func turned(isUndo: Bool, _ what: String, skipped: String?) -> String {
        let verb = isUndo ? "undone" : "done again"
        let text = what.isEmpty ? verb : "\(verb): \(what)"
        return text + (skipped.map { " (not \($0): others have edited since)" } ?? "")
    }

    static func othersChanged(_ names: String) -> String {
        "others have changed \(names) since; nothing was undone"
    }

    // MARK: Messages

    static let noNextMessage = "the next change has no message"
    static func nextMessage(_ text: String) -> String { "message of the next change: \(text)" }
    static let readers = "everybody who reads this form sees it"
    static func required(_ note: String) -> String { "required; \(note)" }
    static func charactersMax(_ count: Int) -> String { "at most \(count) characters" }
    static func notPressed(_ title: String) -> String { "\(title) was not pressed" }
    static func notChanged(_ title: String) -> String { "\(title) was not changed" }
    static let defaultValue = "default"
    static func press(_ title: String) -> String { "Press \(title)" }

    /// Why something is changed: the edit, the answer as far as it is typed, and a note.
    static func why(_ edit: String?, _ typed: String, _ note: String) -> [String] {
        let what = edit.map { "\($0): why?" } ?? "Why?"
        return ["\(what) \(typed)  (\(note))", "\(what) \(typed)", "Why? \(typed)", typed]
    }

    /// What is done with a proposal.
    static func vote(
        _ verb: String, _ change: String, _ name: String, _ typed: String, _ full: String?
    ) -> [String] {
        let what = "\(verb) \(change)?"
        let note = full.map { "  (\($0))" } ?? ""
        return [
            "\(what)  Message: \(typed)\(note)", "\(what) \(typed)", "\(verb) \(name)? \(typed)",
        ]
    }

    // MARK: Leases

    /// When a value ends, or how long the next one stays.
    static func lease(
        _ title: String, isLeased: Bool, _ typed: String, isRefused: Bool
    ) -> [String] {
        let answers = "2h30m, 18:00" + (isLeased ? ", keep or end" : "")
        let what = isLeased ? "When does \(title) end?" : "How long does the next value stay?"
        if isRefused {
            let why = refused(notEnd, expected: answers)
            return ["\(what) \(typed)  (\(why))", "Ends: \(typed)  (\(notEnd))"]
        }
        return ["\(what) \(typed)  (\(answers))", "\(what) \(typed)", "Ends: \(typed)"]
    }
    private static let notEnd = "not a time"

    static func noLease(_ title: String) -> String { "\(title) cannot have a value that ends" }
    static func nextEnds(_ title: String, at time: String) -> String {
        "the next value of \(title) ends at \(time)"
    }
    static func nextLasts(_ title: String, _ duration: String) -> String {
        "the next value of \(title) lasts \(duration)"
    }
    /// `host`: the one that ends it, if it is another one.
    static func endsIn(_ countdown: String, then value: String, by host: String?) -> String {
        "\(countdown) then \(value)\(host.map { " (\($0))" } ?? "")"
    }
    static func isHeld(then value: String, by host: String?) -> String {
        "held, then \(value)\(host.map { " (\($0))" } ?? "")"
    }
    /// In the place of a countdown that has ended: the host that must end it is away.
    static func isAway(_ host: String) -> String { "\(host) is away" }
    static func isUntil(_ time: String, then value: String) -> String {
        "until \(time), then \(value)"
    }

    // MARK: Runs

    static func cancelRun(_ title: String, _ keys: String) -> [String] {
        ["Cancel the run of \(title)?\(keys)", "Cancel the run?\(keys)"]
    }

    static func noRun(_ title: String?) -> String { "\(title ?? "the form") has no run to cancel" }
    static let pressWaits = "the press waits for a handler"
    static let nothingRuns = "nothing runs"
    static let stopIsAsked = "the handler was asked to stop"
    static func isCancelled(_ title: String) -> String { "\(title) is cancelled" }
    static func handlerIsAway(_ name: String?) -> String {
        "its handler \(name.map { "\($0) " } ?? "")is away"
    }
    static let handlerIsBack = "its handler is back"
    static func wait(_ presses: Int) -> String {
        presses == 1 ? "waits for a handler" : "\(presses) presses wait for a handler"
    }
    static func waiting(_ presses: Int) -> String { "\(presses) waiting" }
    static func more(_ runs: Int) -> String { "and \(runs) more" }
    static func by(_ name: String) -> String { "by \(name)" }
}

extension RunState {
    /// The state in words.
    var words: String {
        switch self {
        case .waiting: "waits"
        case .running: "runs"
        case .done: "done"
        case .failed: "failed"
        case .cancelled: "cancelled"
        case .dropped: "replaced by a later press"
        case .unhandled: "nobody handled it"
        case .timedOut: "took too long"
        case .lost: "lost: its handler is gone"
        }
    }
}
