// Edits that the daemon works out on what is there when it commits.

internal import ArgumentParser
internal import SyncCore

/// `pickerctl toggle`, `next` and their like as they were asked for: one transaction with the same
/// action on each field.
struct RelativeRequest: PlainRequest {
    enum Verb { case toggle, next, previous, reset, press }

    let settings: Settings
    let verb: Verb
    var wraps = false
    let names: [String]

    func run() throws(Failure) {
        let session = Session(settings)
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

    private func action(_ field: FieldOutline) throws(Failure) -> Change.Action {
        switch verb {
        case .toggle:
            try mustBe([.toggle], "toggle", field, "use pickerctl set or next")
            return .toggle
        case .next: return try move(.next, field)
        case .previous: return try move(.previous, field)
        case .reset:
            try mustBe(
                Set([.picker, .wheels, .toggle, .slider, .stepper, .date, .text, .secure, .gauge]),
                "reset", field, "there is nothing to set back")
            return .reset
        case .press:
            try mustBe([.button], "press", field, "use pickerctl set")
            return .press
        }
    }

    private func move(
        _ direction: Change.Direction, _ field: FieldOutline
    ) throws(Failure) -> Change.Action {
        try mustBe([.picker], direction.rawValue, field, "use pickerctl set \(field.id)+=1")
        return .move(direction, wraps: wraps)
    }

    private func mustBe(
        _ kinds: Set<FieldOutline.Kind>, _ verb: String, _ field: FieldOutline, _ step: String
    ) throws(Failure) {
        guard let kind = field.kind, !kinds.contains(kind) else { return }
        throw .usage("\(field.id) is a \(kind.rawValue), which \(verb) does not know; \(step)")
    }
}

extension RelativeRequest {
    init(_ verb: Verb, _ words: inout PlainWords) {
        settings = words.settings()
        self.verb = verb
        switch verb {
        case .next, .previous: wraps = words.flag("--wrap")
        case .toggle, .reset, .press: break
        }
        names = verb == .press ? [words.name()] : words.names(atLeast: 1)
    }
}

struct ToggleCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "toggle", abstract: "Turn toggles over.",
        discussion: """
            Example: pickerctl toggle maintenance
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.toggle]) })
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(settings: common.settings, verb: .toggle, names: field)
    }
}

struct NextCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "next", abstract: "Move pickers to their next option.",
        discussion: """
            Example: pickerctl next --wrap flavor
            """)
    @OptionGroup var common: CommonOptions
    @Flag(help: "From the last option to the first.") var wrap = false
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.picker]) })
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(settings: common.settings, verb: .next, wraps: wrap, names: field)
    }
}

struct PreviousCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "previous", abstract: "Move pickers to their previous option.",
        discussion: """
            Example: pickerctl previous flavor
            """)
    @OptionGroup var common: CommonOptions
    @Flag(help: "From the first option to the last.") var wrap = false
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.picker]) })
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(settings: common.settings, verb: .previous, wraps: wrap, names: field)
    }
}

struct ResetCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "reset", abstract: "Unset fields: back to their defaults.",
        discussion: """
            Example: pickerctl reset flavor scoops
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom { words, _, _ in Completion.fields(words) })
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(settings: common.settings, verb: .reset, names: field)
    }
}

struct PressCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "press", abstract: "Press a button.",
        discussion: """
            Example: pickerctl press rollback
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom { words, _, _ in Completion.fields(words, [.button]) })
    var button: String

    var request: RelativeRequest {
        RelativeRequest(settings: common.settings, verb: .press, names: [button])
    }
}
