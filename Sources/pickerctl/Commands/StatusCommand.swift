internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl status`: the daemon's state.
struct StatusCommand: PlainCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, prometheus }

    static let configuration = CommandConfiguration.leaf(
        "status", abstract: "The daemon's state.",
        discussion: """
            -o prometheus writes metrics for node_exporter's textfile collector.

            Example: pickerctl status -o prometheus > /var/lib/node_exporter/pickersync.prom
            """)
    @OptionGroup var common: CommonOptions
    @Option(name: .shortAndLong, help: "text, json or prometheus.") var output = Format.text

    var request: StatusRequest {
        StatusRequest(settings: common.settings, output: output)
    }
}

/// `pickerctl status` as it was asked for.
struct StatusRequest: PlainRequest {
    let settings: Settings
    let output: StatusCommand.Format

    func run() throws(Failure) {
        let session = Session(settings)
        let status = try session.call(.serverStatus)
        switch output {
        case .json: try session.console.text(status.prettyText + "\n")
        case .text:
            try session.console.safeLine("socket: \(session.client.resolution.path)")
            for line in Self.lines(status, depth: 0) { try session.console.safeLine(line) }
        case .prometheus:
            for line in Metrics.lines(status) { try session.console.line(line) }
        }
        try session.console.flush()
    }

    /// Names and values, two spaces a level. The daemon says what it has; nothing is left out.
    static func lines(_ json: JSON, depth: Int) -> [String] {
        let indent = String(repeating: "  ", count: depth)
        var lines: [String] = []
        for (name, value) in json.objectValue?.members ?? [] {
            switch value {
            case .object(let object) where !object.isEmpty:
                lines.append("\(indent)\(name):")
                lines += Self.lines(value, depth: depth + 1)
            case .array(let elements) where elements.contains { $0.objectValue != nil }:
                lines.append("\(indent)\(name):")
                for element in elements {
                    let parts = (element.objectValue?.members ?? []).map {
                        "\($0.name) \(ValueText.bare($0.value))"
                    }
                    lines.append("\(indent)  " + parts.joined(separator: ", "))
                }
            default: lines.append("\(indent)\(name): \(ValueText.bare(value))")
            }
        }
        return lines
    }
}

extension StatusRequest {
    init(_ words: inout PlainWords) {
        self.init(settings: words.settings(), output: words.choice("--output", "-o") ?? .text)
    }
}
