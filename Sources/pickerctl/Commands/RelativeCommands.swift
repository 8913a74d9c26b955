// Edits that the daemon works out on what is there when it commits.

internal import ArgumentParser
internal import SyncCore

/// What the relative commands share.
enum Relative {
    /// One transaction with the same action on each field.
    static func run(
        _ session: Session, _ names: [String],
        _ action: (FieldOutline) throws(Failure) -> Change.Action
    ) throws(Failure) {
        let fields = names.map { FieldName($0) }
        let form = try session.form(of: fields)
        let outline = try session.outline(form)
        var changes: [Change] = []
        for name in fields {
            let field = try session.field(name.field, in: outline)
            changes.append(Change(field: field.id, try action(field)))
        }
        try session.set(StateSet(form: form, changes: changes))
    }

    static func mustBe(
        _ kinds: Set<FieldOutline.Kind>, _ verb: String, _ field: FieldOutline, _ step: String
    ) throws(Failure) {
        guard let kind = field.kind, !kinds.contains(kind) else { return }
        throw .usage("\(field.id) is a \(kind.rawValue), which \(verb) does not know; \(step)")
    }
}

struct ToggleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggle", abstract: "Turn toggles over.",
        discussion: """
            Example: pickerctl toggle maintenance
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.toggle]) })
    var field: [String]

    func run() throws {
        try Relative.run(Session(common.settings), field) { field throws(Failure) in
            try Relative.mustBe([.toggle], "toggle", field, "use pickerctl set or next")
            return .toggle
        }
    }
}

struct NextCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "next", abstract: "Move pickers to their next option.",
        discussion: """
            Example: pickerctl next --wrap flavor
            """)
    @OptionGroup var common: CommonOptions
    @Flag(help: "From the last option to the first.") var wrap = false
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.picker]) })
    var field: [String]

    func run() throws {
        try MoveCommand.run(Session(common.settings), field, .next, wraps: wrap)
    }
}

struct PreviousCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "previous", abstract: "Move pickers to their previous option.",
        discussion: """
            Example: pickerctl previous flavor
            """)
    @OptionGroup var common: CommonOptions
    @Flag(help: "From the first option to the last.") var wrap = false
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.picker]) })
    var field: [String]

    func run() throws {
        try MoveCommand.run(Session(common.settings), field, .previous, wraps: wrap)
    }
}

enum MoveCommand {
    static func run(
        _ session: Session, _ names: [String], _ direction: Change.Direction, wraps: Bool
    ) throws(Failure) {
        try Relative.run(session, names) { field throws(Failure) in
            try Relative.mustBe(
                [.picker], direction.rawValue, field, "use pickerctl set \(field.id)+=1")
            return .move(direction, wraps: wraps)
        }
    }
}

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Unset fields: back to their defaults.",
        discussion: """
            Example: pickerctl reset flavor scoops
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom { words, _, _ in Completion.fields(words) })
    var field: [String]

    func run() throws {
        try Relative.run(Session(common.settings), field) { field throws(Failure) in
            try Relative.mustBe(
                Set([.picker, .wheels, .toggle, .slider, .stepper, .date, .text, .secure, .gauge]),
                "reset", field, "there is nothing to set back")
            return .reset
        }
    }
}

struct PressCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "press", abstract: "Press a button.",
        discussion: """
            Example: pickerctl press rollback
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.button]) })
    var button: String

    func run() throws {
        try Relative.run(Session(common.settings), [button]) { field throws(Failure) in
            try Relative.mustBe([.button], "press", field, "use pickerctl set")
            return .press
        }
    }
}
