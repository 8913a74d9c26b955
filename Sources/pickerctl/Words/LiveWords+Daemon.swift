// What the live form says of the daemon, of other hosts and people, and of proposals.

internal import TerminalUI

extension LiveWords {
    // MARK: The connection

    static let connecting = "connecting"
    static let offline = "offline"
    static let live = "live"
    static let noAnswer = "the daemon does not answer"
    static func staysOpen(_ why: String) -> String { "\(why); the form stays open" }
    static let noAnswerYet = "no answer yet"
    static let daemonIsAway = "the daemon is away"
    static let daemonIsBack = "the daemon is back"
    static let setLater = "not sent yet; it is set when the daemon is back"
    static let askedLater = "the daemon is asked when it is back"
    static let voteLater = "the vote is sent when the daemon is back"
    static let asking = "asking the daemon"
    static func invalidMessage(_ why: String) -> String { "it sent an invalid message (\(why))" }

    /// The banner while the daemon is away.
    static func away(_ reason: String?, waiting: Int) -> [String] {
        let what = waiting == 0 ? "edits" : count(waiting, "edit")
        let when = "\(what) \(waiting == 1 ? "merges" : "merge") when it is back"
        let why = reason.map { " (\($0))" } ?? ""
        return [
            "\(daemonIsAway)\(why): continue editing; \(when)", "\(daemonIsAway): \(when)",
            "away: \(when)",
        ]
    }

    /// The key that leaves though something would be lost.
    static func leave(_ key: String, isOne: Bool) -> String {
        "\(key) again quits without \(isOne ? "it" : "them")"
    }

    /// What would be lost by leaving, and the key that leaves all the same.
    static func leave(_ loss: String, _ leave: String) -> String { "\(loss); \(leave)" }

    static func unsaved(in names: String) -> String { "\(names): \(unsaved)" }
    static func waits(_ edits: Int) -> String {
        "\(count(edits, "edit")) \(edits == 1 ? "waits" : "wait") for the daemon"
    }
    static func notSentYet(_ edits: Int) -> String { "\(count(edits, "edit")) not sent yet" }

    // MARK: The form

    static let formWasDeleted = "the form was deleted"
    static let formIsDeleted = "this form was deleted; it opens again when somebody creates it"
    static let formIsBack = "the form was created again"
    static let formChanged = "the form changed"
    static let formIsUnknown = "the form changed to one that this pickerctl cannot show"

    static func formChanged(with title: String, isKept: Bool) -> String {
        "\(formChanged), and \(title) with it"
            + (isKept ? "; what you typed is kept until you leave" : "")
    }

    static func deletedWhilePicking(_ form: String, _ field: String) -> String {
        "the form \(form) was deleted while \(field) was picked"
    }

    // MARK: Another daemon

    /// Edits that were made for another daemon.
    static func kept(_ edits: Int) -> String {
        "another daemon answers now; \(count(edits, "edit")) not sent"
    }
    static func keptBrief(_ edits: Int) -> String { "\(count(edits, "edit")) not sent" }
    static func toChoose(_ key: String) -> String { "\(key) to choose" }
    static let nothingKept = "no edits wait for another daemon"
    static let notDone = "nothing was done: another daemon answers now"
    static func noForm(_ form: String) -> String { "this daemon has no form \(form)" }
    static func editsAreKept(_ why: String) -> String { "\(why); the edits are kept" }
    static func editIsKept(without fields: String) -> String {
        "this form has no \(fields); the edit is kept"
    }
    static func keptForOther(_ edits: Int) -> String {
        "\(count(edits, "edit")) kept for the other daemon"
    }
    static func keptDiscarded(_ edits: Int) -> String { "\(count(edits, "edit")) discarded" }
    static let notSent = "not sent: "
    static let newSecret = "a new secret"
    static let pressed = "pressed"
    static let theDefault = "the default"
    static let anotherValue = "another value"

    static func choice(_ choice: KeptChoice) -> String {
        switch choice {
        case .keep: "wait until the other daemon answers again"
        case .apply: "set them in this daemon, for everybody"
        case .discard: "forget them"
        }
    }

    // MARK: Other hosts

    /// The banner while hosts are away.
    static func cutOff(from hosts: [String], since time: String) -> [String] {
        let names = hosts.count > 3 ? count(hosts.count, "host") : list(hosts)
        let cutOff = "cut off from \(names) since \(time)"
        return ["\(cutOff): your edits are kept", cutOff, "cut off from \(names)", "cut off"]
    }

    // MARK: Pages, and people

    static let commands = "Commands"
    static let openForm = "Open a form"
    static let findControl = "Find a control"
    static let onlyYou = "only you"
    static let whoIsHere = "Who is here"
    static func others(_ count: Int) -> String { self.count(count, "other") }
    static func you(_ name: String?) -> String {
        ControlWords.you + (name.map { " (\($0))" } ?? "")
    }
    static func at(_ title: String) -> String { "at \(title)" }
    static func on(_ terminal: String) -> String { " on \(terminal)" }

    // MARK: Why, and since when

    static func history(_ title: String) -> String { "History of \(title)" }
    static let nobodySetIt = "nobody has set it"
    static func older(_ form: String, _ field: String) -> String {
        "older: pickerctl history \(form)/\(field)"
    }
    static func concurrent(isKept: Bool) -> String {
        isKept ? " (concurrent)" : " (concurrent, not kept)"
    }
    static func explanation(_ title: String) -> String { "Why \(title) has its value" }

    // MARK: Proposals

    static let noProposal = "no proposal waits for approval"
    static let proposalsTitle = "What waits for approval"
    static let ownVote = "your own vote does not count"
    static func proposalKeys(isOwn: Bool) -> String {
        isOwn ? "w withdraws it" : "a approves, r refuses"
    }
    static func approvedBy(_ names: String) -> String { "; approved by \(names)" }
    static func proposals(_ count: Int) -> String { self.count(count, "proposal") }
    static let glassBroken = "glass broken"
    static func glassBroken(by name: String, _ time: String) -> String {
        "\(glassBroken) by \(name), \(time)"
    }
    static let theDaemon = "the daemon"
    static let aPress = "press"

    /// Whose approval is asked for: `1 approval of group:oncall is needed`.
    static func approvals(_ rules: [(count: Int, of: String)]) -> String {
        if rules.isEmpty { return "others must approve" }
        let isOne = rules.count == 1 && rules[0].count == 1
        return rules.map { "\(count($0.count, "approval")) of \($0.of)" }
            .joined(separator: and) + (isOne ? " is needed" : " are needed")
    }

    /// What is proposed for a control: `bob proposes 50 %: "INC-231"`.
    static func proposes(_ name: String?, _ value: String, message: String?, more: Int) -> String {
        (name.map { "\($0) proposes" } ?? "you propose") + " \(value)"
            + (message.map { ": \"\($0)\"" } ?? "") + (more > 0 ? ", and \(more) more" : "")
    }

    static func approved(_ name: String?, _ proposal: String, needs: Int) -> String {
        "\(name ?? ControlWords.you) approved \(proposal); \(needs) more needed"
    }

    static func proposed(_ name: String?, _ change: String, _ key: String) -> String {
        "\(name ?? ControlWords.you) proposes \(change); \(key) to see it"
    }
}
