internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl link`: forms that the daemons of several hosts share.
struct LinkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "link", abstract: "Show the link to other hosts, and repair forms.",
        discussion: "Example: pickerctl link status",
        subcommands: [
            LinkStatusCommand.self, LinkFormCommand.self, LinkRepairCommand.self,
            LinkTestCommand.self,
        ],
        defaultSubcommand: LinkStatusCommand.self)
}

/// `pickerctl link status`.
struct LinkStatusCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "status", abstract: "The link, the other hosts, and who has the same.",
        discussion: """
            Exit status 1: the link does not work, or a form waits.

            Example: pickerctl link status
            """)
    @OptionGroup var common: CommonOptions
    @Option(name: .shortAndLong, help: "text or json.") var output = TextOrJSON.text

    var request: LinkStatusRequest {
        LinkStatusRequest(settings: common.settings, output: output)
    }
}

/// The arguments of `pickerctl link status`.
struct LinkStatusRequest: PlainRequest {
    let settings: Settings
    let output: TextOrJSON

    func run() throws(Failure) {
        let session = Session(settings)
        guard let link = LinkReport(try session.call(.serverStatus)) else {
            throw .notLinked
        }
        switch output {
        case .json: try session.console.text(link.json.prettyText + "\n")
        case .text: for line in link.lines { try session.console.safeLine(line) }
        }
        try session.console.flush()
        if !link.isWell { throw Failure.silent(.notMet) }
    }
}

/// `pickerctl link repair`.
struct LinkRepairCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "repair", abstract: "Send a whole form to the other hosts.",
        discussion: """
            Hosts that miss edits of the form get them. For admins of the form.

            Example: pickerctl link repair deploy
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.forms)) var form: String

    var request: LinkRepairRequest { LinkRepairRequest(settings: common.settings, form: form) }
}

/// The arguments of `pickerctl link repair`.
struct LinkRepairRequest: PlainRequest {
    let settings: Settings
    let form: String

    func run() throws(Failure) {
        let session = Session(settings)
        let isUp = try session.call(.linkRepair(form: form))["up"]?.boolValue == true
        session.console.note(
            isUp
                ? "form \(form) is sent as a whole"
                : "the link is not up; form \(form) is sent as a whole once it is")
    }
}

/// `pickerctl link form`.
struct LinkFormCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "form", abstract: "Say what becomes of two forms that have one name on two hosts.",
        discussion: """
            Two hosts made a form of that name before they were linked: each keeps its own until \
            somebody decides. What is dropped stays in the history. For admins of the form; decide \
            on one host.

            With --unlink the form stays on this host alone, until link form NAME shares it again.

            Example: pickerctl link form deploy --take-theirs
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.forms)) var form: String
    @Flag(help: "Keep the values of both: counts add up, other values meet as concurrent edits.")
    var merge = false
    @Flag(help: "Take the other host's definition and values in place of this host's.")
    var takeTheirs = false
    @Flag(help: "Keep this host's definition and values; the other hosts take them.")
    var keepOurs = false
    @Flag(help: "Do not share the form any more; the other hosts keep theirs.")
    var unlink = false

    func validate() throws {
        guard [merge, takeTheirs, keepOurs, unlink].count(where: { $0 }) <= 1 else {
            throw ValidationError(
                UsageWords.chooseOne("--merge", "--take-theirs", "--keep-ours", "--unlink"))
        }
    }

    var request: LinkFormRequest {
        let how: FormLinking.How? =
            merge ? .merge : takeTheirs ? .theirs : keepOurs ? .ours : nil
        return LinkFormRequest(
            settings: common.settings, form: form,
            request: unlink ? .formUnlink(form: form) : .formLink(.init(form: form, how: how)))
    }
}

/// The arguments of `pickerctl link form`.
struct LinkFormRequest: PlainRequest {
    let settings: Settings
    let form: String
    let request: Request

    func run() throws(Failure) {
        let session = Session(settings)
        var before: FormOutline?
        if case .formLink(let linking) = request, linking.how == .merge {
            before = try session.outline(form)
        }
        try session.call(request)
        session.console.note(
            request.method == .formUnlink
                ? "form \(form) stays on this host alone"
                : "form \(form) is one form on all hosts that share it")
        guard let before else { return }
        let after = try session.outline(form)
        let gone = before.fields.map(\.id).filter { after[$0] == nil }
        if !gone.isEmpty {
            session.console.note(
                "its definition is the other host's, without \(gone.joined(separator: ", ")); "
                    + "their values are kept for a definition that has them")
        }
    }
}

/// The member `link` of `server.status`, for people.
struct LinkReport {
    let json: JSON

    /// `nil` if the daemon is not linked.
    init?(_ status: JSON) {
        guard let json = status["link"], !json.isNull else { return nil }
        self.json = json
    }

    private var forms: [JSON] { json["forms"]?.arrayValue ?? [] }

    /// Whether edits go to the other hosts and come from them.
    var isWell: Bool {
        json["up"]?.boolValue == true && !forms.contains { $0["held"] != nil }
            && json["dropped"] == nil && json["unsent"]?["why"] == nil && unread.isEmpty
            && problems.isEmpty
    }

    private var hosts: [JSON] { json["hosts"]?.arrayValue ?? [] }

    /// Hosts that have read the same and have not the same.
    private var disagreements: [String] {
        forms.compactMap { form in
            let hosts = (form["disagrees"]?.arrayValue ?? []).compactMap(\.stringValue)
            guard !hosts.isEmpty else { return nil }
            let name = form["form"]?.stringValue ?? ""
            return "\(name): \(hosts.joined(separator: ", ")) and this host have read the same and "
                + "have not the same; both send the whole form, and if that does not help, see "
                + "pickerctl link repair"
        }
    }

    /// Definitions that met others and are not in force.
    private var metDefinitions: [String] {
        forms.flatMap { form in
            let others = (form["otherDefinitions"]?.arrayValue ?? []).compactMap {
                try? OtherDefinition(decoding: $0, path: "otherDefinitions")
            }
            let name = form["form"]?.stringValue ?? ""
            return others.map { "\(name): \($0.text(on: json["host"]?.stringValue))" }
        }
    }

    /// Hosts whose clocks differ. Beacons take some time, so less than a second means nothing.
    private var clocks: [String] {
        hosts.compactMap { host in
            let clock = host["clockMs"]?.integerValue ?? 0
            guard clock.magnitude >= 1_000, host["isHeard"]?.boolValue == true else { return nil }
            let name = host["host"]?.stringValue ?? ""
            return "the clock of \(name) is \(clock.magnitude / 1_000) s "
                + "\(clock > 0 ? "ahead of" : "behind") this host's: of two concurrent edits "
                + "the one of the clock ahead stays; synchronize both"
        }
    }

    /// What a person should look at although edits come and go.
    var oddities: [String] { clocks + unheard }

    /// The streams, that of this host's site first; none if the fleet has one.
    private var streams: [JSON] { json["streams"]?.arrayValue ?? [] }

    /// Other sites whose streams are not read, while the link is up.
    private var unread: [JSON] {
        json["up"]?.boolValue == true
            ? streams.filter { $0["isReached"]?.boolValue == false } : []
    }

    /// Hosts that publish at a site whose stream this host does not read.
    private var unheard: [String] {
        let read = streams.map { $0["site"]?.stringValue ?? "" }
        return hosts.compactMap { host in
            let site = host["site"]?.stringValue ?? ""
            if read.isEmpty ? site.isEmpty : read.contains(site) { return nil }
            let name = host["host"]?.stringValue ?? ""
            return site.isEmpty
                ? "\(name) has no sites: set link.streams there"
                : "\(name) publishes at \(site), which is not read here: add it to link.streams"
        }
    }

    /// The newest message that was not taken.
    private var dropped: String? {
        guard let dropped = json["dropped"] else { return nil }
        let host = dropped["host"]?.stringValue.map { " of \($0)" } ?? ""
        let seconds = (dropped["agoMs"]?.integerValue ?? 0) / 1_000
        return "a message\(host) was not taken \(StatusRequest.span(seconds)) ago: "
            + (dropped["why"]?.stringValue ?? "")
    }

    /// What is known of the server's version.
    var serverAdvice: String? {
        guard let version = json["serverVersion"]?.stringValue else { return nil }
        let faults = Self.faults(ofServer: version)
        if faults.isEmpty { return nil }
        let server = json["server"]?.stringValue ?? "the server"
        return "\(server) is nats-server \(version), which has "
            + "\(faults.joined(separator: " and ")) unless its distributor has repaired it: others "
            + "may get in there or delete the log, though not read or forge edits; use a newer one"
    }

    /// What a power cut of the server costs. No server tells its clients `sync_interval`, which
    /// versions before 2.10 have not.
    var serverSync: String? {
        guard let version = json["serverVersion"]?.stringValue else { return nil }
        let server = json["server"]?.stringValue ?? "the server"
        let isFixed =
            ["0.", "1."].contains { version.hasPrefix($0) }
            || (0..<10).contains { version.hasPrefix("2.\($0).") }
        let condition = isFixed ? "" : "without sync_interval: always, which hosts cannot see, "
        return "\(condition)\(server) may lose the last 2 minutes of its log in a power cut; then "
            + "hosts send them again"
    }

    /// Published faults of a version of nats-server by which others get in or delete streams.
    static func faults(ofServer version: String) -> [String] {
        let parts = version.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 3, let major = parts[0], let minor = parts[1], let patch = parts[2]
        else { return [] }
        func isBefore(_ repaired: [(minor: Int, patch: Int)]) -> Bool {
            if major != 2 { return major < 2 }
            // Each branch that was repaired has its own version; those before have none.
            let branch = repaired.first { $0.minor >= minor }
            return branch.map { $0.minor > minor || $0.patch > patch } ?? false
        }
        return [
            ("CVE-2023-47090", isBefore([(9, 23), (10, 2)])),
            ("CVE-2025-30215", isBefore([(10, 27), (11, 1)])),
        ].filter(\.1).map(\.0)
    }

    /// What somebody should do something about.
    var problems: [String] {
        waiting + disagreements + metDefinitions + [dropped].compactMap(\.self)
    }

    /// The forms that wait, and for what.
    private var waiting: [String] {
        forms.compactMap { form in
            form["held"]?.stringValue.map { "\(form["form"]?.stringValue ?? "") waits: \($0)" }
        }
    }

    /// `link ops: up (nats1:4222, 0.4 ms), nothing unsent`.
    var summary: String {
        "link \(json["fleet"]?.stringValue ?? ""): \(state), "
            + unread.map { "cut off from \($0["site"]?.stringValue ?? ""), " }.joined()
            + (json["mode"]?.stringValue == "follow" ? "follows: edits nothing" : unsent)
    }

    private var state: String {
        if let reason = json["refused"]?.stringValue { return "not used: \(reason)" }
        if let down = json["down"] {
            let since = down["since"]?.stringValue.flatMap { Timestamp($0) }
            let reason = down["reason"]?.stringValue ?? ""
            return "cut off" + (since.map { " since \(LocalTime.text($0))" } ?? "")
                + " (\(reason)); forms go on here"
        }
        let server = json["server"]?.stringValue ?? ""
        let microseconds = json["rttUs"]?.integerValue ?? 0
        let rtt = "\(microseconds / 1_000).\(microseconds / 100 % 10) ms"
        if json["up"]?.boolValue == true { return "up (\(server), \(rtt))" }
        let left = json["behind"]?["messages"]?.integerValue ?? 0
        let seconds = (json["behind"]?["ms"]?.integerValue ?? 0) / 1_000
        let age = seconds > 0 ? ", \(StatusRequest.span(seconds)) old" : ""
        return "catching up (\(server), \(rtt)), \(left) messages behind\(age)"
    }

    private var unsent: String {
        let edits = json["unsent"]?["transactions"]?.integerValue ?? 0
        let bytes = json["unsent"]?["bytes"]?.integerValue ?? 0
        let why = json["unsent"]?["why"]?.stringValue.map { ": the server refuses them: \($0)" }
        return edits == 0
            ? "nothing unsent" : "\(edits) unsent (\(Examination.size(bytes)))\(why ?? "")"
    }

    /// `deploy agrees with 3 of 3 hosts`; `nil` while nothing is known of other hosts.
    var agreement: String? {
        let shared = forms.filter { ($0["hosts"]?.integerValue ?? 0) > 0 }
        guard json["up"]?.boolValue == true, let first = shared.first else { return nil }
        guard shared.count == 1 else {
            let agreeing = shared.count { $0["agrees"] == $0["hosts"] }
            return "\(agreeing) of \(shared.count) forms agree with all hosts"
        }
        return "\(first["form"]?.stringValue ?? "") agrees \(Self.agreement(of: first))"
    }

    private static func agreement(of form: JSON) -> String {
        "with \(form["agrees"]?.integerValue ?? 0) of \(form["hosts"]?.integerValue ?? 0) hosts"
    }

    /// The whole report.
    var lines: [String] {
        var lines = [summary, "host: \(json["host"]?.stringValue ?? "")"]
        for (place, stream) in streams.enumerated() {
            let site = stream["site"]?.stringValue ?? ""
            let since = stream["since"]?.stringValue.flatMap { Timestamp($0) }
            let why = stream["why"]?.stringValue.map { " (\($0))" } ?? ""
            lines.append(
                place == 0
                    ? "site: \(site)"
                    : stream["isReached"]?.boolValue == true
                        ? "\(site): its log is read"
                        : "\(site): not read" + (since.map { " since \(LocalTime.text($0))" } ?? "")
                            + why)
        }
        for host in hosts {
            let name = host["host"]?.stringValue ?? ""
            let seconds = (host["heardMs"]?.integerValue ?? 0) / 1_000
            let isHeard = host["isHeard"]?.boolValue == true
            let clock = host["clockMs"]?.integerValue ?? 0
            let isOff = clock.magnitude >= 1_000
            lines.append(
                "\(name): \(isHeard ? "heard" : "away, last heard") "
                    + "\(StatusRequest.span(seconds)) ago"
                    + (isOff ? ", clock \(clock > 0 ? "+" : "")\(clock / 1_000) s" : "")
                    + (host["server"]?.stringValue.map { ", \($0)" } ?? ""))
        }
        for form in forms {
            if form["held"] != nil { continue }
            let name = form["form"]?.stringValue ?? ""
            let unsent = form["unsent"]?.integerValue ?? 0
            let of = Self.agreement(of: form)
            lines.append(
                unsent == 0 ? "\(name): agrees \(of)" : "\(name): \(unsent) unsent, agreed \(of)")
        }
        return lines + unheard + problems
    }
}

extension OtherDefinition {
    /// For people on a host.
    func text(on host: String?) -> String {
        "two definitions met; that of \(by.name(on: host)), \(LocalTime.text(at)), is not in "
            + "force; pickerctl form apply replaces both"
    }
}

extension LinkStatusRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), output: words.choice("--output", "-o") ?? .text)
    }
}
