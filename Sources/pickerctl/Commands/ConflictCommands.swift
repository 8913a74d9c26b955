// Conflicts, and how they are resolved.

internal import ArgumentParser
internal import SyncCore

/// `pickerctl conflicts`.
struct ConflictsCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "conflicts", abstract: "Show fields that were changed at the same time.",
        discussion: """
            Exits 1 if there is a conflict, as diff does.

            Example: pickerctl conflicts || pickerctl resolve flavor=vanilla
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.forms)) var form: String?
    @Option(name: .shortAndLong, help: "text or json.") var output = TextOrJSON.text

    var request: ConflictsRequest {
        ConflictsRequest(settings: common.settings, output: output, form: form)
    }
}

/// The arguments of `pickerctl conflicts`.
struct ConflictsRequest: PlainRequest {
    let settings: Settings
    let output: TextOrJSON
    let form: String?

    func run() throws(Failure) {
        let session = Session(settings)
        let form = try session.form(at: form)
        let fields = try session.snapshot(form).fields.filter { !$0.state.conflict.isEmpty }
        switch output {
        case .json:
            var writer = JSONWriter()
            fields.encode(into: &writer)
            try session.console.line(String(decoding: writer.take(), as: UTF8.self))
        case .text:
            for field in fields {
                let first = Sibling(
                    value: field.state.value, by: field.state.by, at: field.state.at)
                for sibling in [first] + field.state.conflict {
                    let at = sibling.at.map { ", \(LocalTime.text($0))" } ?? ""
                    let by = ValueText.author(sibling.by, on: session.host)
                    try session.console.safeLine(
                        "\(field.id)=\(ValueText.bare(sibling.value)) by \(by)\(at)")
                }
            }
        }
        try session.console.flush()
        if !fields.isEmpty { throw Failure.silent(.notMet) }
    }
}

extension ConflictsRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), output: words.choice("--output", "-o") ?? .text,
            form: words.nameIfAny())
    }
}

/// `pickerctl resolve`.
struct ResolveCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "resolve", abstract: "Resolve conflicts: choose the value that stays.",
        discussion: """
            Example: pickerctl resolve flavor=vanilla
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Argument(
        help: ArgumentHelp("The value that stays.", valueName: "field=value"),
        completion: .custom(Completion.assignments))
    var assignments: [String]

    var request: ResolveRequest {
        ResolveRequest(
            settings: common.settings, message: why.message, assignments: assignments)
    }
}

/// The arguments of `pickerctl resolve`.
struct ResolveRequest: PlainRequest {
    let settings: Settings
    let message: String?
    let assignments: [String]

    func run() throws(Failure) {
        let session = Session(settings)
        let assignments = try SetCommand.assignments(assignments, verb: "resolve")
        let form = try session.form(named: assignments.map(\.form))
        var edits = EditBuilder(try session.outline(form))
        for assignment in assignments { try edits.append(assignment, session) }
        let snapshot = try session.snapshot(form, edits.changes.map(\.field))
        for change in edits.changes
        where snapshot.fields[change.field]?.conflict.isEmpty ?? true {
            throw .hasNoConflict(change.field)
        }
        // The token contains what was just read, so the siblings that the user could see are
        // replaced, and a sibling that arrives in the meantime is not.
        try session.set(
            StateSet(
                form: form, changes: edits.changes, context: snapshot.context,
                message: try session.message(message)))
    }
}

extension ResolveRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), message: words.message(),
            assignments: words.names(atLeast: 1))
    }
}
