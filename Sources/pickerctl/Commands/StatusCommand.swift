internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl status`: the daemon's state.
struct StatusCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, prometheus }

    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "The daemon's state.",
        discussion: """
            -o prometheus writes metrics for node_exporter's textfile collector.

            Example: pickerctl status -o prometheus > /var/lib/node_exporter/pickersync.prom
            """)
    @OptionGroup var common: CommonOptions
    @Option(name: .shortAndLong, help: "text, json or prometheus.") var output = Format.text

    func run() throws {
        let session = Session(common.settings)
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

/// `server.status` in Prometheus' text format (exposition formats, version 0.0.4).
///
/// Every number becomes `pickersync_` and its path in snake case; those under `counters` are
/// counters and end in `_total`, as the naming conventions ask for; texts become labels of
/// `pickersync_info`; elements of a list are told apart by their first text.
enum Metrics {
    static func lines(_ status: JSON) -> [String] {
        var lines: [String] = []
        var info: [String] = []
        for (name, value) in status.objectValue?.members ?? [] {
            if let text = value.stringValue { info.append("\(snake(name))=\(quoted(text))") }
        }
        if !info.isEmpty {
            lines.append("# TYPE pickersync_info gauge")
            lines.append("pickersync_info{\(info.joined(separator: ","))} 1")
        }
        var samples: [(name: String, line: String)] = []
        for (name, value) in status.objectValue?.members ?? [] {
            collect(value, snake(name), isCounter: name == "counters", label: nil, into: &samples)
        }
        var told: [String] = []
        for (name, _) in samples where !told.contains(name) {
            told.append(name)
            lines.append("# TYPE \(name) \(name.hasSuffix("_total") ? "counter" : "gauge")")
            lines += samples.filter { $0.name == name }.map(\.line)
        }
        return lines
    }

    private static func collect(
        _ value: JSON, _ path: String, isCounter: Bool, label: String?,
        into samples: inout [(name: String, line: String)]
    ) {
        switch value {
        case .number(let number):
            let short = path.hasPrefix("counters_") ? String(path.dropFirst(9)) : path
            let name = "pickersync_\(short)" + (isCounter ? "_total" : "")
            samples.append((name, "\(name)\(label.map { "{\($0)}" } ?? "") \(number)"))
        case .bool(let flag):
            let name = "pickersync_\(path)"
            samples.append((name, "\(name)\(label.map { "{\($0)}" } ?? "") \(flag ? 1 : 0)"))
        case .object(let object):
            for (name, value) in object.members {
                collect(
                    value, "\(path)_\(snake(name))", isCounter: isCounter, label: label,
                    into: &samples)
            }
        case .array(let elements):
            for element in elements {
                let first = element.objectValue?.members.first { $0.value.stringValue != nil }
                guard let first, let text = first.value.stringValue else { continue }
                collect(
                    element, path, isCounter: isCounter,
                    label: "\(snake(first.name))=\(quoted(text))", into: &samples)
            }
        case .null, .string: break
        }
    }

    static func snake(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "A"..."Z":
                if !result.isEmpty, result.last != "_" { result += "_" }
                result.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
            case "a"..."z", "0"..."9": result.unicodeScalars.append(scalar)
            default: result += "_"
            }
        }
        return result
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for character in text.escapedForDisplay() {
            switch character {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            default: result.append(character)
            }
        }
        return result + "\""
    }
}
