internal import ArgumentParser
internal import SyncCore
internal import TerminalUI

/// `pickerctl describe`: what a control takes, holds and allows.
struct DescribeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "describe",
        abstract: "Tell type, options or range, value, and who may, of one field or all.",
        discussion: """
            Example: pickerctl describe flavor
            """)

    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom { words, _, _ in Completion.readable(words) })
    var field: String?
    @Option(name: .shortAndLong, help: "text or json.") var output = TextOrJSON.text

    func run() throws {
        let session = Session(common.settings)
        let name = field.map { FieldName($0) }
        let form = try session.form(of: name.map { [$0] } ?? [])
        let outline = try session.outline(form)
        let snapshot = try session.snapshot(form)
        var chosen = outline.fields
        if let name { chosen = [try session.field(name.field, in: outline)] }
        let all = chosen.map {
            FieldDescription(field: $0, form: outline, state: snapshot.fields[$0.id])
        }
        switch output {
        case .json:
            let json = name == nil ? JSON.array(all.map(\.json)) : all.first?.json ?? .null
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

/// The output formats of commands that have no values of their own.
enum TextOrJSON: String, ExpressibleByArgument, CaseIterable { case text, json }
