// Edits that the daemon computes from the current value when it commits.

internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// The arguments of `pickerctl toggle`, `next` and so on: one transaction with the same action on
/// each field.
struct RelativeRequest: PlainRequest {
    enum Verb { case toggle, next, previous, reset, press }

    let settings: Settings
    let verb: Verb
    var wraps = false
    /// `--yes` for a button with a question.
    var isAgreed = false
    /// `--wait` for the outcome of a press.
    var waits = false
    /// Seconds after which `--wait` gives up.
    var timeout: Double?
    let message: String?
    let names: [String]

    func run() throws(Failure) {
        let started = MonotonicClock.now()
        if timeout != nil, !waits { throw .usage(UsageWords.needs("--timeout", "--wait")) }
        let session = Session(settings)
        var deadline = session.end(after: timeout, since: started)
        let (form, names) = try session.place(of: names)
        if names.isEmpty { throw .needsField(form, verb.name) }
        let outline = try session.outline(form)
        let fields = try session.fields(names, in: outline) { field in
            verb != .press && field.kind.map(verb.kinds.contains) ?? false && !field.isReadOnly
        }
        var changes: [Change] = []
        for field in fields { changes.append(Change(field: field.id, try action(field))) }
        if waits { try session.require("runs") }
        if waits, let button = fields.first, button.json["runs"] == nil { throw .noRuns(button) }
        if let question = fields.first.flatMap(question) {
            try Console.confirm(question, isAgreed: isAgreed, orElse: .notPressed(names[0].field))
            // The time in which somebody thinks does not count.
            deadline = session.end(after: timeout, since: MonotonicClock.now())
        }
        let report = try EditReport(changes, outline, session)
        let result = try session.set(
            StateSet(form: form, changes: changes, message: try session.message(message)))
        try report?.print(changes, result, session.console)
        guard waits, let button = fields.first else { return }
        guard let press = result.fields[button.id]?.press else { throw .noRuns(button) }
        var waiter = PressWaiter(session, form, button, press: press, deadline: deadline)
        try waiter.run()
    }

    /// The question of a button before it is pressed.
    private func question(_ field: FieldOutline) -> String? {
        guard verb == .press else { return nil }
        if let confirm = field.json["confirm"]?.stringValue { return confirm }
        return field.json["role"] == "destructive" ? "press \(field.label)?" : nil
    }

    private func action(_ field: FieldOutline) throws(Failure) -> Change.Action {
        if let kind = field.kind, !verb.kinds.contains(kind) {
            throw .wrongKind(field, verb.phrase, otherWay(field))
        }
        return switch verb {
        case .toggle: .toggle
        case .next: .move(.next, wraps: wraps)
        case .previous: .move(.previous, wraps: wraps)
        case .reset: .reset
        case .press: .press
        }
    }

    /// The advice for a control that the verb does not apply to.
    private func otherWay(_ field: FieldOutline) -> String {
        switch field.kind {
        case .label: "it holds no value"
        case .button: "use pickerctl press \(field.name)"
        case .toggle: "use pickerctl toggle \(field.name)"
        case .slider, .stepper, .gauge: "use pickerctl set \(field.name)+=1"
        case .secure: "use pickerctl set \(field.name)=-"
        default: "use pickerctl set \(field.name)=VALUE"
        }
    }
}

extension RelativeRequest.Verb {
    var name: String {
        switch self {
        case .toggle: "toggle"
        case .next: "next"
        case .previous: "previous"
        case .reset: "reset"
        case .press: "press"
        }
    }

    /// The verb after "cannot".
    fileprivate var phrase: String {
        switch self {
        case .next, .previous: "move to the \(name) option of"
        case .toggle, .reset, .press: name
        }
    }

    /// The types of control that it applies to.
    fileprivate var kinds: Set<FieldOutline.Kind> {
        switch self {
        case .toggle: [.toggle]
        case .next, .previous: [.picker]
        case .reset:
            [.picker, .wheels, .toggle, .slider, .stepper, .date, .text, .secure, .gauge]
        case .press: [.button]
        }
    }
}

extension RelativeRequest {
    init(_ verb: Verb, _ words: inout PlainWords) {
        settings = words.settings()
        self.verb = verb
        switch verb {
        case .next, .previous: wraps = words.flag("--wrap")
        case .press:
            isAgreed = words.flag("--yes", "-y")
            waits = words.flag("--wait")
            timeout = words.seconds("--timeout")
        case .toggle, .reset: break
        }
        message = words.message()
        names = verb == .press ? [words.name()] : words.names(atLeast: 1)
    }
}

struct ToggleCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "toggle", abstract: "Switch toggles on or off.",
        discussion: """
            Patterns (* and ?) choose toggles.

            Example: pickerctl toggle maintenance
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Argument(completion: .custom { Completion.fields($0, $1, $2, [.toggle]) })
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(
            settings: common.settings, verb: .toggle, message: why.message, names: field)
    }
}

struct NextCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "next", abstract: "Move pickers to their next option.",
        discussion: """
            Example: pickerctl next --wrap flavor
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Flag(help: "From the last option to the first.") var wrap = false
    @Argument(completion: .custom { Completion.fields($0, $1, $2, [.picker]) })
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(
            settings: common.settings, verb: .next, wraps: wrap, message: why.message,
            names: field)
    }
}

struct PreviousCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "previous", abstract: "Move pickers to their previous option.",
        discussion: """
            Example: pickerctl previous flavor
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Flag(help: "From the first option to the last.") var wrap = false
    @Argument(completion: .custom { Completion.fields($0, $1, $2, [.picker]) })
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(
            settings: common.settings, verb: .previous, wraps: wrap, message: why.message,
            names: field)
    }
}

struct ResetCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "reset", abstract: "Reset fields to their defaults.",
        discussion: """
            Patterns (* and ?) choose fields; read-only ones, buttons and labels are left out.

            Example: pickerctl reset flavor scoops
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Argument(completion: .custom(Completion.fields))
    var field: [String]

    var request: RelativeRequest {
        RelativeRequest(
            settings: common.settings, verb: .reset, message: why.message, names: field)
    }
}

struct PressCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "press", abstract: "Press a button.",
        discussion: """
            A destructive button, and one with a question, asks first. Without a terminal it needs \
            --yes or PICKERSYNC_YES=1.

            --wait shows the progress of a button with runs. The exit status is 0 if the press is \
            done, 1 failed, 69 no handler came, 75 it was lost, dropped or refused as busy, 124 it \
            took too long, 130 cancelled. Interrupting pickerctl does not cancel the press.

            Example: pickerctl press start --wait
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Argument(completion: .custom { Completion.fields($0, $1, $2, [.button]) })
    var button: String
    @Flag(name: .shortAndLong, help: "Do not ask.") var yes = false
    @Flag(help: "Wait for the outcome of a button with runs.") var wait = false
    @Option(
        help: ArgumentHelp("Wait no longer than this; then 124.", valueName: "duration"),
        transform: Duration.seconds)
    var timeout: Double?

    var request: RelativeRequest {
        RelativeRequest(
            settings: common.settings, verb: .press, isAgreed: yes, waits: wait, timeout: timeout,
            message: why.message,
            names: [button])
    }
}
