// Presets: save all values, and load them in one transaction.

internal import ArgumentParser
internal import FormFile
internal import SyncCore

/// `pickerctl dump`.
struct DumpCommand: PlainCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case yaml, json }

    static let configuration = CommandConfiguration.leaf(
        "dump", abstract: "Print all values, for load.",
        discussion: """
            Secrets, buttons and controls that show another control's value are left out.

            Example: pickerctl dump > friday.yaml
            """)

    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.forms)) var form: String?
    @Option(name: .shortAndLong, help: "yaml or json.") var output = Format.yaml
    @Flag(help: "Only values that were set, no defaults.") var setOnly = false

    var request: DumpRequest {
        DumpRequest(settings: common.settings, output: output, setOnly: setOnly, form: form)
    }
}

/// The arguments of `pickerctl dump`.
struct DumpRequest: PlainRequest {
    let settings: Settings
    let output: DumpCommand.Format
    let setOnly: Bool
    let form: String?

    func run() throws(Failure) {
        let session = Session(settings)
        let form = try session.form(at: form)
        let outline = try session.outline(form)
        let snapshot = try session.snapshot(form)
        let states = snapshot.fields.byID
        var values: [(String, JSON)] = []
        for field in outline.fields where field.holdsValue && field.isRoot {
            guard let state = states[field.id], state.isSet || !setOnly else { continue }
            values.append((field.id, state.value))
        }
        let preset = JSON.members(
            ("form", .string(form)), ("values", .object(JSONObject(values))))
        switch output {
        case .yaml: try session.console.text(YAMLWriter.text(of: preset))
        case .json: try session.console.text(preset.prettyText + "\n")
        }
        try session.console.flush()
    }
}

extension DumpRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), output: words.choice("--output", "-o") ?? .yaml,
            setOnly: words.flag("--set-only"), form: words.nameIfAny())
    }
}

/// `pickerctl load`.
struct LoadCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "load", abstract: "Set all values of a dump, or none.",
        discussion: """
            FILE is YAML or JSON as dump writes it, or FIELD: VALUE alone; - reads standard input.

            Example: pickerctl load --dry-run friday.yaml
            """)

    @OptionGroup var common: CommonOptions
    @Argument(completion: .file()) var file: String
    @Flag(help: "Show the changes, and change nothing.") var dryRun = false
    @Option(help: ArgumentHelp("What you have seen: a token of get --context.", valueName: "token"))
    var context: String?
    @OptionGroup var why: MessageOption

    var request: LoadRequest {
        LoadRequest(
            settings: common.settings, dryRun: dryRun, context: context, message: why.message,
            file: file)
    }
}

/// The arguments of `pickerctl load`.
struct LoadRequest: PlainRequest {
    let settings: Settings
    let dryRun: Bool
    let context: String?
    let message: String?
    let file: String

    func run() throws(Failure) {
        let session = Session(settings)
        let context = try Session.token(context, of: "--context")
        let tree = try InputFile.tree(file)
        let isWrapped = tree["values"]?.objectValue != nil && tree["form"]?.stringValue != nil
        guard let values = isWrapped ? tree["values"]?.objectValue : tree.objectValue else {
            throw .noValues(
                InputFile.name(file), expected: "FIELD: VALUE, as dump writes it")
        }
        let form =
            isWrapped && session.settings.form == nil
            ? tree["form"]?.stringValue ?? "" : try session.form()
        let outline = try session.outline(form)
        let snapshot = try session.snapshot(form)
        let states = snapshot.fields.byID
        var changes: [Change] = []
        for (id, value) in values.members {
            let field = try session.field(id, in: outline)
            guard field.holdsValue else {
                throw .notInPreset(field, id, InputFile.name(file))
            }
            if states[id]?.value != value {
                changes.append(Change(field: id, .value(value)))
            }
        }
        if dryRun {
            for change in changes {
                guard case .value(let value) = change.action else { continue }
                let was = states[change.field].map { ValueText.short($0) } ?? "—"
                try session.console.safeLine(
                    "\(change.field)=\(ValueText.bare(value)) (was \(was))")
            }
            if changes.isEmpty { session.console.note("nothing would change") }
        } else if !changes.isEmpty {
            try session.set(
                StateSet(
                    form: form, changes: changes, context: context,
                    message: try session.message(message)))
        }
        try session.console.flush()
    }
}

extension LoadRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), dryRun: words.flag("--dry-run"),
            context: words.value("--context"), message: words.message(), file: words.name())
    }
}
