internal import ArgumentParser
internal import SyncCore
internal import TerminalUI

/// `pickerctl describe`: what a control accepts, contains and allows.
struct DescribeCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "describe",
        abstract: "Show type, options or range, value, and access of one field or all.",
        discussion: """
            A pattern (* and ?) or FORM/ chooses fields or the form.

            Example: pickerctl describe flavor
            """)

    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.readable))
    var field: String?
    @Option(name: .shortAndLong, help: "text or json.") var output = TextOrJSON.text

    var request: DescribeRequest {
        DescribeRequest(settings: common.settings, output: output, field: field)
    }
}

/// The arguments of `pickerctl describe`.
struct DescribeRequest: PlainRequest {
    let settings: Settings
    let output: TextOrJSON
    let field: String?

    func run() throws(Failure) {
        let session = Session(settings)
        var (form, names) = try session.place(of: field.map { [$0] } ?? [])
        var outline = try session.outline(form)
        if let field, let name = names.first, outline[name.field] == nil,
            let whole = try session.wholeForm([field])
        {
            (form, names) = try session.place(of: [whole])
            outline = try session.outline(form)
        }
        let snapshot = try session.snapshot(form)
        let chosen =
            names.isEmpty
            ? outline.fields : try session.fields(names, in: outline) { _ in true }
        let isSingle = names.first.map { Glob($0.field).literal != nil } ?? false
        let states = Dictionary(
            snapshot.fields.map { ($0.id, $0.state) }, uniquingKeysWith: { first, _ in first })
        let all = chosen.map {
            FieldDescription(
                field: $0, form: outline, state: states[$0.id], host: session.host)
        }
        switch output {
        case .json:
            let json = isSingle ? all.first?.json ?? .null : JSON.array(all.map(\.json))
            try session.console.text(json.prettyText + "\n")
        case .text:
            for (place, description) in all.enumerated() {
                if place > 0 { try session.console.line("") }
                try Self.print(description, session.console)
            }
        }
        try session.console.flush()
    }

    private static func print(
        _ description: FieldDescription, _ console: Console
    ) throws(Failure) {
        let field = description.field
        let label = field.label == field.id ? "" : "  \(field.label)"
        try console.line(console.bold((field.id + label).escapedForDisplay()))
        let width = description.lines.map(\.name.count).max() ?? 0
        for (name, text) in description.lines {
            try console.safeLine("  \(DisplayWidth.padded(name, to: width))  \(text)")
        }
    }
}

extension DescribeRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), output: words.choice("--output", "-o") ?? .text,
            field: words.nameIfAny())
    }
}

/// The output formats of commands with no other formats.
enum TextOrJSON: String, ExpressibleByArgument, CaseIterable { case text, json }
