internal import ArgumentParser
internal import FormFile
internal import SyncCore

/// `pickerctl form`: commands for whole forms.
struct FormCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "form", abstract: "Apply, list, show, check, preview, make and delete forms.",
        discussion: "Example: pickerctl form apply deploy.yaml && pickerctl form list",
        subcommands: [
            FormApplyCommand.self, FormListCommand.self, FormShowCommand.self,
            FormDeleteCommand.self, FormCheckCommand.self, FormPreviewCommand.self,
            FormOptionsCommand.self, FormNewCommand.self, FormImportCommand.self,
        ])
}

/// `pickerctl form list`.
struct FormListCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "list", abstract: "The daemon's forms.",
        discussion: """
            Example: pickerctl form list -o text
            """)
    enum Format: String, ExpressibleByArgument, CaseIterable { case table, text, json }
    @OptionGroup var common: CommonOptions
    @Option(name: .shortAndLong, help: "table, text (names alone) or json.")
    var output = Format.table

    var request: FormListRequest {
        FormListRequest(settings: common.settings, output: output)
    }
}

/// The arguments of `pickerctl form list`.
struct FormListRequest: PlainRequest {
    let settings: Settings
    let output: FormListCommand.Format

    func run() throws(Failure) {
        let session = Session(settings)
        let list = try session.call(.formList) { json throws(DecodeError) in
            try FormList(decoding: json)
        }
        switch output {
        case .json:
            var writer = JSONWriter()
            list.encode(into: &writer)
            try session.console.line(String(decoding: writer.take(), as: UTF8.self))
        case .text:
            for form in list.forms { try session.console.safeLine(form.form) }
        case .table:
            // Most daemons guard nothing.
            let isGuarded = list.forms.contains { $0.proposals != nil }
            var table = Table(
                ["FORM", "TITLE", "FIELDS", "WATCHED BY", "REVISION"]
                    + (isGuarded ? ["PROPOSALS"] : []))
            for form in list.forms {
                var row = [
                    form.form, form.title ?? "", String(form.fields), String(form.subscribers),
                    String(form.revision),
                ]
                if isGuarded { row.append(form.proposals.map { String($0) } ?? "") }
                table.append(row)
            }
            if table.isEmpty {
                session.console.note("no forms; apply one with pickerctl form apply FILE")
            } else {
                try table.print(session.console)
            }
        }
        try session.console.flush()
    }
}

extension FormListRequest {
    init(_ words: inout PlainWords) {
        self.init(settings: words.settings(), output: words.choice("--output", "-o") ?? .table)
    }
}

/// `pickerctl form show`.
struct FormShowCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "show", abstract: "A form's definition, as a form file.",
        discussion: """
            Example: pickerctl form show deploy > deploy.yaml
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.forms)) var name: String?
    @Option(name: .shortAndLong, help: "yaml or json.") var output = DumpCommand.Format.yaml

    var request: FormShowRequest {
        FormShowRequest(settings: common.settings, output: output, name: name)
    }
}

/// The arguments of `pickerctl form show`.
struct FormShowRequest: PlainRequest {
    let settings: Settings
    let output: DumpCommand.Format
    let name: String?

    func run() throws(Failure) {
        let session = Session(settings)
        let form = try session.form(at: name)
        let result = try session.definition(form)
        let definition = result.definition
        for other in result.link?.otherDefinitions ?? [] {
            session.console.note("form \(form): \(other.text(on: nil))")
        }
        switch output {
        case .yaml: try session.console.text(YAMLWriter.text(of: definition))
        case .json: try session.console.text(definition.prettyText + "\n")
        }
        try session.console.flush()
    }
}

extension FormShowRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), output: words.choice("--output", "-o") ?? .yaml,
            name: words.nameIfAny())
    }
}

/// `pickerctl form delete`.
struct FormDeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "delete", abstract: "Delete a form, its values and its history.",
        discussion: """
            A form with approval in its definition is deleted by those whom breakGlass names, with \
            --break-glass; others first propose a definition without approval.

            Example: pickerctl form delete --yes old-form
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Argument(completion: .custom(Completion.forms)) var name: String
    @Flag(name: .shortAndLong, help: "Do not ask.") var yes = false
    @Flag(help: "Delete it without approval, which is logged; needs -m.") var breakGlass = false

    func run() throws {
        let session = Session(common.settings)
        let form = try session.form(at: name)
        // A form that does not exist is reported before the question.
        _ = try session.definition(form)
        try Console.confirm(
            QuestionWords.delete(form), isAgreed: yes,
            orElse: .unchanged("form \(form)"))
        var delete = FormDelete(form: form, message: try session.message(why.message))
        delete.breaksGlass = breakGlass
        try session.call(.formDelete(delete))
    }
}

/// `pickerctl form options`.
struct FormOptionsCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "options", abstract: "Replace a picker's options at run time.",
        discussion: """
            An option is TAG or TAG=LABEL; - reads one a line from standard input. They survive \
            a restart, until that picker's options change in the form file.

            Example: git branch --format='%(refname:short)' | pickerctl form options branch -
            """)
    @OptionGroup var common: CommonOptions
    @OptionGroup var why: MessageOption
    @Argument(completion: .custom { Completion.fields($0, $1, $2, [.picker]) })
    var field: String
    @Argument(help: "TAG or TAG=LABEL, or - for standard input.") var option: [String]

    func run() throws {
        let session = Session(common.settings)
        let name = FieldName(field)
        let form = try session.form(of: [name])
        let outline = try session.outline(form)
        let control = try session.field(name.field, in: outline)
        guard control.kind == .picker else {
            throw Failure.wrongKind(control, "replace the options of", "name a picker")
        }
        var lines = option
        if option == ["-"] {
            let text = try Console.readStandardInput()
            lines = text.split(separator: UInt8(ascii: "\n")).map {
                String(decoding: $0.last == UInt8(ascii: "\r") ? $0.dropLast() : $0, as: UTF8.self)
            }
        }
        guard !lines.isEmpty else { throw Failure.noOptions }
        guard lines.allSatisfy({ !$0.isEmpty && !$0.hasPrefix("=") }) else { throw Failure.noTag }
        let options = lines.map { Self.option($0, like: control.options.first?.tag) }
        let request = FormSetOptions(
            form: form, field: control.id, options: options,
            message: try session.message(why.message))
        let result = try session.call(.formSetOptions(request)) { json throws(DecodeError) in
            try ApplyResult(decoding: json)
        }
        if !result.invalid.isEmpty {
            session.console.note(
                "kept, but not an option any more: \(result.invalid.joined(separator: ", "))"
            )
        }
    }

    /// Tags have the same type as the picker's current tags.
    static func option(_ line: String, like tag: JSON?) -> JSON {
        let equals = line.firstIndex(of: "=")
        let text = String(equals.map { line[..<$0] } ?? line[...])
        var typed = JSON.string(text)
        if case .number? = tag, let number = ValueParser.number(text) { typed = .number(number) }
        if case .bool? = tag, text == "true" || text == "false" { typed = .bool(text == "true") }
        guard let equals else { return .members(("tag", typed), ("label", .string(text))) }
        let label = String(line[line.index(after: equals)...])
        return .members(("tag", typed), ("label", .string(label)))
    }
}
