internal import SyncCore

// `server.status` in Prometheus' text format (exposition formats, version 0.0.4).
//
// Invariants: names follow Prometheus' naming conventions (base units, `_total` for counters), a
// metric has HELP and TYPE, and its samples are contiguous. Names are a part of the interface: the
// dashboards and alert rules in docs/observability/ use them, and a test checks that they exist.

/// A metric and the path of its value in `server.status`.
struct Metric {
    enum Kind: String { case gauge, counter, summary }

    /// The unit of the daemon's number. Prometheus expects seconds and bytes.
    enum Scale: Int {
        case one = 0
        case milliseconds = 3
        case microseconds = 6
    }

    var name: String
    var kind: Kind
    var help: String
    /// Suffixes of samples and the paths of their values; one sample unless it is a summary.
    var samples: [(suffix: String, path: [String], scale: Scale)]
    /// What has one sample for each member of the object, or element of the array, at a path.
    var each: Each?

    /// A label, and where its values are.
    struct Each {
        var label: String
        /// Of an array: the member of an element with the value of the sample. The member with the
        /// value of the label has the label's name.
        var member: String?
    }

    init(
        _ name: String, _ kind: Kind, _ path: String, _ help: String, _ scale: Scale = .one
    ) {
        self.init(name, kind, help, samples: [("", path, scale)])
    }

    init(
        _ name: String, _ kind: Kind, each label: String, of path: String, member: String? = nil,
        _ help: String, _ scale: Scale = .one
    ) {
        self.init(name, kind, help, samples: [("", path, scale)])
        each = Each(label: label, member: member)
    }

    init(
        _ name: String, _ kind: Kind, _ help: String, samples: [(String, String, Scale)]
    ) {
        self.name = "pickersync_" + name
        self.kind = kind
        self.help = help
        self.samples = samples.map { suffix, path, scale in
            (suffix, path.split(separator: ".").map(String.init), scale)
        }
    }
}

/// `server.status` as metrics.
enum Metrics {
    static let all: [Metric] = [
        Metric("uptime_seconds", .gauge, "uptimeMs", "How long the daemon runs.", .milliseconds),
        Metric(
            "cpu_seconds_total", .counter, "cpuMs", "Processor time that the daemon has used.",
            .milliseconds),
        Metric(
            "resident_memory_bytes", .gauge, "memory.resident", "Memory that the daemon has in use."
        ),
        Metric("open_fds", .gauge, "descriptors.used", "Descriptors that the daemon has open."),
        Metric("max_fds", .gauge, "descriptors.max", "Descriptors that it may have open."),
        Metric(
            "loop_longest_turn_seconds", .gauge, "loop.longestTurnUs",
            "The longest time since the start for which the event loop looked for nothing new.",
            .microseconds),
        Metric(
            "loop_longest_turn_cpu_seconds", .gauge, "loop.longestTurnCpuUs",
            "The most processor time of one turn of the event loop since the start. If it is small "
                + "and the longest turn is not, the machine is busy.", .microseconds),
        Metric(
            "loop_long_turns_total", .counter, "loop.longTurns",
            "Turns of the event loop that took more than 50 ms."),
        Metric("forms", .gauge, "forms.count", "Forms that the daemon holds."),
        Metric(
            "forms_read_only", .gauge, "forms.readOnly",
            "Forms that accept no edits because the store refused some."),
        Metric("fields", .gauge, "forms.fields", "Controls of all forms."),
        Metric("connections", .gauge, "connections.count", "Connections that are open."),
        Metric(
            "connected_users", .gauge, "connections.users", "Users that have a connection open."),
        Metric("subscriptions", .gauge, "connections.subscriptions", "Subscriptions to forms."),
        Metric(
            "connections_accepted_total", .counter, "counters.connections",
            "Connections that were accepted."),
        Metric("requests_total", .counter, "counters.requests", "Requests that came."),
        Metric(
            "requests_refused_total", .counter, "counters.refused",
            "Requests that were answered with an error, and frames and connections refused."),
        Metric(
            "transactions_total", .counter, "counters.transactions",
            "Transactions that changed a form."),
        Metric(
            "coalesced_notifications_total", .counter, "counters.coalesced",
            "Notifications that folded several revisions for a subscriber that was behind."),
        Metric(
            "commit_duration_seconds", .summary, "Commits of the store and how long they took.",
            samples: [
                ("_sum", "counters.commitUs", .microseconds), ("_count", "counters.commits", .one),
            ]),
        Metric(
            "commit_failures_total", .counter, "counters.commitFailures",
            "Commits that failed; edits are refused until the store is rebuilt."),
        Metric(
            "store_writable", .gauge, "writable",
            "1 while edits are accepted, 0 while the store cannot be written."),
        Metric("store_bytes", .gauge, "store.bytes", "Size of the store's database."),
        Metric("store_wal_bytes", .gauge, "store.walBytes", "Size of its write-ahead log."),
        Metric("store_revisions", .gauge, "store.revisions", "Revisions kept of all forms."),
        Metric("store_pages", .gauge, "store.pages", "Pages of the database."),
        Metric("store_free_pages", .gauge, "store.freePages", "Pages of it that are free."),
        Metric(
            "link_up", .gauge, "link.up",
            "1 while edits go to other hosts and theirs come, 0 while they wait."),
        Metric(
            "link_unsent_edits", .gauge, "link.unsent.transactions",
            "Transactions that the log of the fleet does not have."),
        Metric("link_unsent_bytes", .gauge, "link.unsent.bytes", "Their bytes."),
        Metric(
            "link_behind_messages", .gauge, "link.behind.messages",
            "Messages of the fleet that are left to read after a start or a cut."),
        Metric(
            "link_behind_seconds", .gauge, "link.behind.ms",
            "While some are left, the age of the newest that was read.", .milliseconds),
        Metric(
            "link_held_forms", .gauge, "link.heldForms",
            "Forms whose joins wait for a person or an upgrade."),
        Metric(
            "link_published_total", .counter, "link.counters.published",
            "Messages that were published, beacons included."),
        Metric(
            "link_joined_total", .counter, "link.counters.joined",
            "Changes of other hosts that were joined."),
        Metric(
            "link_skipped_total", .counter, "link.counters.known",
            "Changes of other hosts that were known."),
        Metric(
            "link_refused_total", .counter, each: "why", of: "link.counters.refused",
            "Messages of the fleet that were not taken."),
        Metric(
            "link_wholes_total", .counter, each: "why", of: "link.counters.wholes",
            "Whole forms that were published."),
        Metric(
            "link_read_anew_total", .counter, each: "why", of: "link.counters.readsAnew",
            "How often the log of the fleet was read from its beginning."),
        Metric(
            "link_agrees", .gauge, each: "host", of: "link.hosts", member: "agrees",
            "1 if the host had the same of all forms that both share when it was last heard."),
        Metric(
            "link_heard_seconds", .gauge, each: "host", of: "link.hosts", member: "heardMs",
            "How long ago the host was heard.", .milliseconds),
        Metric(
            "link_clock_seconds", .gauge, each: "host", of: "link.hosts", member: "clockMs",
            "How far the clock of the host is ahead of this one's.", .milliseconds),
        Metric(
            "link_stream_up", .gauge, each: "site", of: "link.streams", member: "isReached",
            "1 while the log of the site is read; where a fleet has several."),
        Metric(
            "link_forks_total", .counter, "link.counters.forks",
            "Replicas that two machines were seen to write as."),
        Metric(
            "link_disagreements_total", .counter, "link.counters.disagreements",
            "Forms of which two hosts had read the same and had not the same."),
    ]

    static func lines(_ status: JSON) -> [String] {
        var lines = info(status)
        for metric in all {
            if let each = metric.each {
                lines += self.lines(metric, each, status)
                continue
            }
            let samples = metric.samples.compactMap { suffix, path, scale in
                value(status, path, scale).map { "\(metric.name)\(suffix) \($0)" }
            }
            // An older daemon does not report everything.
            guard samples.count == metric.samples.count else { continue }
            lines += head(metric.name, metric.kind, metric.help) + samples
        }
        for limit in Limits.all {
            guard let max = status["limits"]?[limit.name]?.integerValue else { continue }
            let (name, factor) = limitName(limit)
            lines += head(name, .gauge, "Limit \(limit.name): \(limit.reason).")
            // Milliseconds are the only unit smaller than the base unit.
            let text = limit.unit == "ms" ? decimal(max, digits: 3) : "\(max * factor)"
            lines.append("\(name) \(text)")
        }
        return lines
    }

    /// A metric with one sample for each value of a label.
    private static func lines(_ metric: Metric, _ each: Metric.Each, _ status: JSON) -> [String] {
        let (_, path, scale) = metric.samples[0]
        guard let list = find(status, path) else { return [] }
        var rows = (list.objectValue?.members ?? []).map { (snake($0.name), $0.value) }
        for row in list.arrayValue ?? [] {
            guard let name = row[each.label]?.stringValue, let value = row[each.member ?? ""] else {
                continue
            }
            rows.append((name, value))
        }
        return head(metric.name, metric.kind, metric.help)
            + rows.compactMap { name, json in
                value(json, [], scale).map {
                    "\(metric.name){\(each.label)=\(quoted(name))} \($0)"
                }
            }
    }

    private static func head(_ name: String, _ kind: Metric.Kind, _ help: String) -> [String] {
        ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
    }

    /// Constant information as labels, and the time of the start.
    private static func info(_ status: JSON) -> [String] {
        let labels = [
            ("version", status["server"]?.stringValue?.split(separator: "/").last.map(String.init)),
            ("protocol", status["protocol"]?.integerValue.map { "\($0)" }),
            ("replica", status["replica"]?.stringValue),
            ("durability", status["durability"]?.stringValue),
        ].compactMap { name, text in text.map { "\(name)=\(quoted($0))" } }
        let name = "pickersync_build_info"
        var lines = head(name, .gauge, "Which daemon this is.")
        lines.append("\(name){\(labels.joined(separator: ","))} 1")
        if let moment = status["startedAt"]?.stringValue.flatMap({ Timestamp($0) }) {
            let name = "pickersync_start_time_seconds"
            lines += head(name, .gauge, "When the daemon began, since 1970.")
            lines.append("\(name) \(decimal(moment.milliseconds, digits: 3))")
        }
        return lines
    }

    private static func find(_ status: JSON, _ path: [String]) -> JSON? {
        path.reduce(Optional(status)) { $0?[$1] }
    }

    private static func value(_ status: JSON, _ path: [String], _ scale: Metric.Scale) -> String? {
        guard let json = find(status, path) else { return nil }
        if let flag = json.boolValue { return flag ? "1" : "0" }
        return json.integerValue.map { decimal($0, digits: scale.rawValue) }
    }

    /// An integer with a decimal point before its last digits.
    private static func decimal(_ value: Int64, digits: Int) -> String {
        guard digits > 0 else { return "\(value)" }
        let text = "\(value.magnitude)"
        let padded = String(repeating: "0", count: max(0, digits + 1 - text.utf8.count)) + text
        return (value < 0 ? "-" : "") + padded.dropLast(digits) + "." + padded.suffix(digits)
    }

    /// `pickersync_limit_key_seconds` for `keyHours`, and the factor of its value.
    static func limitName(_ limit: LimitDescription) -> (name: String, factor: Int64) {
        let units: [String: (words: [String], name: String, factor: Int64)] = [
            "bytes": (["bytes"], "_bytes", 1), "ms": (["milliseconds"], "_seconds", 1),
            "hours": (["hours"], "_seconds", 3_600), "days": (["days"], "_seconds", 86_400),
        ]
        let unit = units[limit.unit]
        let drop = (unit?.words ?? []) + ["max"]
        let words = snake(limit.name).split(separator: "_").map(String.init)
        let kept = words.filter { !drop.contains($0) }
        let rest = kept.isEmpty ? words : kept
        return (
            "pickersync_limit_" + rest.joined(separator: "_") + (unit?.name ?? ""),
            unit?.factor ?? 1
        )
    }

    private static func snake(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            if ("A"..."Z").contains(scalar) {
                result += "_"
                result.unicodeScalars.append(Unicode.Scalar(UInt8(scalar.value) | 0x20))
            } else {
                result.unicodeScalars.append(scalar)
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
