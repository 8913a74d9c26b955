internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl status`: the daemon's state.
struct StatusCommand: PlainCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, prometheus }

    static let configuration = CommandConfiguration.leaf(
        "status", abstract: "Show the daemon's state.",
        discussion: """
            Shows ten lines; --all and -o json show everything that the daemon reports. \
            -o prometheus writes metrics for node_exporter's textfile collector.

            Example: pickerctl status -o prometheus > /var/lib/node_exporter/pickersync.prom
            """)
    @OptionGroup var common: CommonOptions
    @Flag(help: "The limits in force.") var limits = false
    @Flag(help: "Everything that the daemon reports.") var all = false
    @Option(name: .shortAndLong, help: "text, json or prometheus.") var output = Format.text

    func validate() throws {
        if (limits && all) || ((limits || all) && output != .text) {
            throw ValidationError(UsageWords.exclude("--limits", "--all", "-o"))
        }
    }

    var request: StatusRequest {
        StatusRequest(
            settings: common.settings, showsLimits: limits, showsAll: all, output: output)
    }
}

/// The arguments of `pickerctl status`.
struct StatusRequest: PlainRequest {
    let settings: Settings
    let showsLimits: Bool
    let showsAll: Bool
    let output: StatusCommand.Format

    func run() throws(Failure) {
        let session = Session(settings)
        let status = try session.call(.serverStatus)
        switch output {
        case .json: try session.console.text(status.prettyText + "\n")
        case .text:
            for line in lines(status, session) { try session.console.safeLine(line) }
        case .prometheus:
            for line in Metrics.lines(status) { try session.console.line(line) }
        }
        try session.console.flush()
    }

    private func lines(_ status: JSON, _ session: Session) -> [String] {
        if showsLimits { return Self.limits(status) }
        let first = "socket: \(session.client.resolution.path)"
        return [first] + (showsAll ? Self.lines(status, depth: 0) : Self.summary(status))
    }

    /// The most important lines. A number that the daemon does not report is omitted.
    static func summary(_ status: JSON) -> [String] {
        func text(_ path: String...) -> String? {
            var json = status
            for name in path { json = json[name] ?? .null }
            return json.isNull ? nil : ValueText.bare(json)
        }
        func size(_ path: String...) -> String? {
            path.reduce(status) { $0[$1] ?? .null }.integerValue.map(Examination.size)
        }
        let began = status["startedAt"]?.stringValue.flatMap { Timestamp($0) }
        let lines: [(name: String, values: [String?])] = [
            ("server", [text("server"), text("pid").map { "process \($0)" }]),
            (
                "started",
                [
                    began.map { LocalTime.text($0) },
                    status["uptimeMs"]?.integerValue.map { "up \(Self.span($0 / 1_000))" },
                ]
            ),
            ("durability", [text("durability")]),
            ("writable", [text("writable"), text("trouble")]),
            (
                "forms",
                [
                    text("forms", "count"), text("forms", "fields").map { "fields: \($0)" },
                    text("forms", "readOnly").flatMap { $0 == "0" ? nil : "read-only: \($0)" },
                ]
            ),
            (
                "connections",
                [
                    text("connections", "count"),
                    text("connections", "users").map { "users: \($0)" },
                    text("connections", "subscriptions").map { "subscriptions: \($0)" },
                ]
            ),
            (
                "transactions",
                [
                    text("counters", "transactions"),
                    text("counters", "refused").map { "refused requests: \($0)" },
                ]
            ),
            (
                "store",
                [
                    // The daemon measures the store some time after its start.
                    size("store", "bytes") ?? "not measured yet",
                    text("store", "revisions").map { "revisions: \($0)" },
                ]
            ),
            ("memory", [size("memory", "resident")]),
            (
                "link",
                LinkReport(status).map { link in
                    [String(link.summary.dropFirst("link ".utf8.count)), link.agreement]
                        + link.problems.map(Optional.some)
                } ?? []
            ),
        ]
        return lines.compactMap { name, values in
            let known = values.compactMap(\.self)
            return known.isEmpty ? nil : "\(name): \(known.joined(separator: ", "))"
        }
    }

    /// A duration in its two largest units: `3 d 4 h`, `12 min 5 s`.
    static func span(_ seconds: Int64) -> String {
        let parts = [
            (seconds / 86_400, "d"), (seconds / 3_600 % 24, "h"), (seconds / 60 % 60, "min"),
            (seconds % 60, "s"),
        ]
        let first = parts.firstIndex { $0.0 > 0 } ?? parts.count - 1
        return parts[first...].prefix(2).filter { $0.0 > 0 || parts[first].0 == 0 }
            .map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }

    /// The current limits with their units.
    static func limits(_ status: JSON) -> [String] {
        (status["limits"]?.objectValue?.members ?? []).map { name, value in
            let unit = Limits.all.first { $0.name == name }.map { " \($0.unit)" } ?? ""
            return "\(name): \(ValueText.bare(value))\(unit)"
        }
    }

    /// All names and values of the daemon's answer, indented by two spaces per level.
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
        self.init(
            settings: words.settings(), showsLimits: words.flag("--limits"),
            showsAll: words.flag("--all"), output: words.choice("--output", "-o") ?? .text)
        words.require(!(showsLimits && showsAll))
        words.require(output == .text || !(showsLimits || showsAll))
    }
}
