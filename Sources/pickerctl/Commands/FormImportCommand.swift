internal import ArgumentParser
internal import FormFile
internal import SyncCore

/// `pickerctl form import`: makes a form from another format.
struct FormImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "import", abstract: "Make a form file from existing settings.",
        discussion: """
            FILE is YAML or JSON with names and values (groups become sections), or NAME=VALUE \
            lines as in an .env file; - is standard input. Types are guessed: read the result \
            before you apply it. Standard error names what cannot be imported.

            --home-assistant reads a configuration.yaml, a package or a file of helpers: \
            input_boolean, input_select, input_number, input_text, input_datetime, input_button. \
            --gsettings reads a .gschema.xml file or the id of an installed schema.

            Example: pickerctl form import --gsettings org.gnome.desktop.interface > desktop.yaml
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .file()) var file: String?
    @Option(
        name: .customLong("home-assistant"),
        help: ArgumentHelp("A configuration file of Home Assistant.", valueName: "file"),
        completion: .file(extensions: ["yaml", "yml"]))
    var homeAssistant: String?
    @Option(
        help: ArgumentHelp("A settings schema: a file, or an id.", valueName: "schema"),
        completion: .file(extensions: ["xml"]))
    var gsettings: String?

    func validate() throws {
        guard [file, homeAssistant, gsettings].count(where: { $0 != nil }) == 1 else {
            throw ValidationError(
                UsageWords.nothing(
                    to: "import", write: "FILE, --home-assistant FILE or --gsettings SCHEMA"))
        }
    }

    func run() throws {
        let console = Console(color: .never, isQuiet: common.quiet)
        let definition = try made(console)
        // Does not print a form that the daemon would reject.
        do throws(FormIssues) {
            _ = try FormDefinition.parse(
                definition, limits: FormLimits(), compile: RegularExpression.compiler)
        } catch {
            let issue = error.issues.first
            let path = issue.map { $0.path.isEmpty ? "" : "\(Self.place($0.path, definition)): " }
            throw Failure.notForm(path ?? "", issue?.message)
        }
        try console.text("# yaml-language-server: $schema=\(FormSchema.location)\n")
        try console.text(YAMLWriter.text(of: definition))
        try console.flush()
    }

    /// The id of the control with the error.
    private static func place(_ path: [PathStep], _ definition: JSON) -> String {
        var json = definition
        var id = "the form"
        for step in path {
            switch step {
            case .key(let name): json = json[name] ?? .null
            case .index(let index):
                let elements = json.arrayValue ?? []
                json = elements.indices.contains(index) ? elements[index] : .null
            }
            if let found = json["id"]?.stringValue { id = found }
        }
        return id
    }

    /// The definition. Parts that could not be imported are reported even if the import fails.
    private func made(_ console: Console) throws(Failure) -> JSON {
        if let homeAssistant {
            let slash = homeAssistant.lastIndex(of: "/")
            return try assistant(
                name(homeAssistant), try HomeAssistantImport.read(homeAssistant),
                folder: slash.map { String(homeAssistant[..<$0]) } ?? ".", console)
        }
        if let gsettings {
            let (path, id) = try GSettingsImport.file(of: gsettings)
            var maker = GSettingsImport()
            defer { for note in maker.notes { console.note(note) } }
            try maker.read(path)
            return try maker.definition(name(gsettings), schema: id)
        }
        let file = file ?? "-"
        var maker = FormImport()
        defer { for note in maker.notes { console.note(note) } }
        var tree: JSON? = try maker.variables(file)
        if tree == nil { tree = try HomeAssistantImport.read(file) }
        guard let tree, let object = tree.objectValue, !object.isEmpty else {
            throw .noValues(InputFile.name(file), expected: "NAME: VALUE or NAME=VALUE")
        }
        // Home Assistant's helpers are recognized by their names.
        if object.members.contains(where: { HomeAssistantHelper(rawValue: $0.name) != nil }) {
            return try assistant(name(file), tree, folder: ".", console)
        }
        return maker.definition(name(file), object)
    }

    private func assistant(
        _ form: String, _ configuration: JSON, folder: String, _ console: Console
    ) throws(Failure) -> JSON {
        var maker = HomeAssistantImport(folder: folder)
        defer { for note in maker.notes { console.note(note) } }
        return try maker.definition(form, configuration)
    }

    /// The form's name: `--form`, or the file's, or the schema's.
    private func name(_ source: String) -> String {
        if let form = common.form { return form }
        guard source != "-" else { return "imported" }
        let base = source.split(separator: "/").last.map(String.init) ?? source
        // The file's name without its extension, or the last two words of a schema's id.
        let words = base.split(separator: ".")
        let isFile = source.contains("/") || base.contains(".xml") || base.contains(".y")
        if base.hasSuffix(".gschema.xml") {
            return FormImport.formName(words.dropLast(2).suffix(2).joined(separator: "-"))
        }
        return FormImport.formName(
            isFile || words.count < 3
                ? words.first.map(String.init) ?? base : words.suffix(2).joined(separator: "-"))
    }
}
