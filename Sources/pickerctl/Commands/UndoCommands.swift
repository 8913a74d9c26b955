// Undo and redo.

internal import ArgumentParser
internal import SyncCore

/// `pickerctl undo`.
struct UndoCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "undo", abstract: "Undo your last edit, of one field or of any.",
        discussion: """
            Example: pickerctl undo flavor
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var options: UndoOptions

    var request: UndoRequest { options.request(common.settings, isRedo: false) }
}

/// `pickerctl redo`.
struct RedoCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "redo", abstract: "Redo what undo reverted.",
        discussion: """
            Example: pickerctl redo
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var options: UndoOptions

    var request: UndoRequest { options.request(common.settings, isRedo: true) }
}

/// The common options of undo and redo.
struct UndoOptions: ParsableArguments {
    @Argument(completion: .custom(Completion.fields))
    var field: String?
    @Flag(help: "Anyone's edit, not only yours.") var anyone = false
    @OptionGroup var why: MessageOption
    @Option(name: .shortAndLong, help: "Print the new values: json.") var output: AnswerFormat?

    func request(_ settings: Settings, isRedo: Bool) -> UndoRequest {
        UndoRequest(
            settings: settings, isRedo: isRedo, anyone: anyone, output: output,
            message: why.message, field: field)
    }
}

/// The arguments of `pickerctl undo` and `redo`.
struct UndoRequest: PlainRequest {
    let settings: Settings
    let isRedo: Bool
    let anyone: Bool
    let output: AnswerFormat?
    let message: String?
    let field: String?

    func run() throws(Failure) {
        let session = Session(settings)
        let (form, names) = try session.place(of: field.map { [$0] } ?? [])
        let undo = StateUndo(
            form: form, field: names.first?.field, scope: anyone ? .anyone : .mine,
            message: try session.message(message))
        let request: Request = isRedo ? .stateRedo(undo) : .stateUndo(undo)
        let result = try session.call(request) { json throws(DecodeError) in
            try SetResult(decoding: json)
        }
        if let output { return try output.print(result, session.console) }
        let outline = try session.outline(form)
        for field in result.fields where outline[field.id]?.kind != .label {
            try session.console.safeLine("\(field.id)=\(ValueText.bare(field.state.value))")
        }
        let skipped = result.skipped ?? []
        if !skipped.isEmpty {
            session.console.note(
                "not reverted, because others changed it since: "
                    + skipped.joined(separator: ", "))
        }
        try session.console.flush()
    }
}

extension UndoRequest {
    init(isRedo: Bool, _ words: inout PlainWords) {
        self.init(
            settings: words.settings(), isRedo: isRedo, anyone: words.flag("--anyone"),
            output: words.choice("--output", "-o"), message: words.message(),
            field: words.nameIfAny())
    }
}
