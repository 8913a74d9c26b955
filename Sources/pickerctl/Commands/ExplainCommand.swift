internal import ArgumentParser
internal import SyncCore

/// `pickerctl explain`: why a field has its value.
struct ExplainCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "explain", abstract: "Say why a field has its value: who, when, why, and which rule chose.",
        discussion: """
            --at explains the value at an earlier revision, as pickerctl history lists them.

            Example: pickerctl explain flavor
            """)

    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.readable))
    var field: String
    @Option(help: ArgumentHelp("Explain the value at this revision.", valueName: "revision"))
    var at: Int64?
    @Option(name: .shortAndLong, help: "text or json.") var output = TextOrJSON.text

    func validate() throws {
        if let at, at < 0 {
            throw ValidationError(UsageWords.number("--at", at, write: UsageWords.revision))
        }
    }

    var request: ExplainRequest {
        ExplainRequest(settings: common.settings, at: at, output: output, field: field)
    }
}

/// The arguments of `pickerctl explain`.
struct ExplainRequest: PlainRequest {
    let settings: Settings
    let at: Int64?
    let output: TextOrJSON
    let field: String

    func run() throws(Failure) {
        let session = Session(settings)
        let name = FieldName(field)
        let form = try session.form(of: [name])
        try session.require("explain")
        let request = StateExplain(form: form, field: name.field, at: at)
        let facts = try session.call(.stateExplain(request)) { json throws(DecodeError) in
            try Explanation(decoding: json)
        }
        switch output {
        case .json:
            var writer = JSONWriter()
            facts.encode(into: &writer)
            try session.console.line(String(decoding: writer.take(), as: UTF8.self))
        case .text:
            let text = ExplanationText(
                name: { $0 }, value: { ValueText.short($1) }, time: { LocalTime.text($0) },
                host: session.host)
            for line in text.lines(facts) { try session.console.safeLine(line) }
        }
        try session.console.flush()
    }
}

extension ExplainRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), at: words.number(words.value("--at"), from: 0),
            output: words.choice("--output", "-o") ?? .text, field: words.name())
    }
}
