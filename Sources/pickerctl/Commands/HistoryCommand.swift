// History of changes.

internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl history`.
struct HistoryCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "history", abstract: "Who changed what, when; newest first.",
        discussion: """
            A pattern (* and ?) or FORM/ chooses fields or the form. --plot draws the values over \
            time of numbers, toggles and pickers, from at most 10,000 changes of each. --redact \
            overwrites the message of one revision, for an admin of the form.

            Example: pickerctl history --plot --since 1h traffic
            """)

    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.fields))
    var field: [String] = []
    @Option(
        name: [.customShort("n"), .long],
        help: "The number of entries at most; 50 without --since.")
    var limit: Int?
    @Option(help: "Only entries before this revision.") var before: Int64?
    @Option(
        help: ArgumentHelp(
            "Only entries since then: 1h, a date, or a time of RFC 3339.", valueName: "time"),
        transform: HistorySince.parsed)
    var since: HistorySince?
    @Option(
        help: ArgumentHelp(
            "Only entries with this text in the message, the user or a field.", valueName: "text"))
    var grep: String?
    @Flag(help: "Draw the values over time.") var plot = false
    @Option(
        help: ArgumentHelp(
            "Overwrite the message of this revision, and say so in the history.",
            valueName: "revision"))
    var redact: Int64?
    @OptionGroup var why: MessageOption
    @Flag(name: .shortAndLong, help: "With --redact: do not ask.") var yes = false
    @Option(
        name: .shortAndLong,
        help: "text or json (one entry per line); with --plot text, svg or csv.")
    var output = HistoryOutput.text

    func validate() throws {
        if let limit, limit < 1 {
            throw ValidationError(
                UsageWords.number("--limit", Int64(limit), write: UsageWords.oneOrMore))
        }
        if let wrong = request.misuse { throw ValidationError(wrong) }
    }

    var request: HistoryRequest {
        HistoryRequest(
            settings: common.settings, limit: limit, before: before, since: since, grep: grep,
            isPlot: plot, redact: redact, message: why.message, isAgreed: yes, output: output,
            fields: field)
    }
}

/// How a history is printed.
enum HistoryOutput: String, ExpressibleByArgument, CaseIterable { case text, json, svg, csv }

/// Where a history begins.
enum HistorySince: Equatable {
    case seconds(Double)
    case moment(Timestamp)

    /// A duration back from now, `2026-11-21`, or `2026-11-21T14:30:05Z`.
    init?(_ text: String) {
        if let seconds = DurationText.seconds(text) {
            self = .seconds(seconds)
        } else if let moment = Timestamp(text) {
            self = .moment(moment)
        } else if let day = CivilDate(text) {
            self = .moment(LocalTime.midnight(day))
        } else {
            return nil
        }
    }

    static func parsed(_ text: String) throws -> HistorySince {
        guard let since = HistorySince(text) else { throw ValidationError(UsageWords.since) }
        return since
    }

    func moment(before now: Timestamp) -> Timestamp {
        switch self {
        case .moment(let moment): min(moment, now)
        case .seconds(let seconds):
            // No history is older than a century; more than that would overflow.
            Timestamp(milliseconds: now.milliseconds - Int64(min(seconds, 3.2e9) * 1_000))
        }
    }
}

/// The arguments of `pickerctl history`.
struct HistoryRequest: PlainRequest {
    let settings: Settings
    let limit: Int?
    let before: Int64?
    let since: HistorySince?
    let grep: String?
    let isPlot: Bool
    /// The revision whose message is to be overwritten.
    let redact: Int64?
    /// Why it is overwritten.
    let message: String?
    /// It is overwritten without a question.
    let isAgreed: Bool
    let output: HistoryOutput
    let fields: [String]

    /// The error for options that exclude each other.
    var misuse: String? {
        if redact == nil, message != nil || isAgreed { return UsageWords.redactNeeds }
        if redact != nil,
            isPlot || limit != nil || before != nil || since != nil || grep != nil
                || output != .text
        {
            return UsageWords.redactOnly
        }
        return switch (isPlot, output) {
        case (true, .json): UsageWords.plotFormats
        case (false, .svg), (false, .csv): UsageWords.needs("-o \(output)", "--plot")
        case (true, _) where limit != nil || before != nil || grep != nil:
            UsageWords.plotIsWhole
        case (true, _) where fields.isEmpty: UsageWords.plotNeedsField
        default: nil
        }
    }

    func run() throws(Failure) {
        let session = Session(settings)
        var (form, names) = try session.place(of: fields)
        if names.count == 1, Glob(names[0].field).literal != nil,
            try session.outline(form)[names[0].field] == nil
        {
            guard let whole = try session.wholeForm(fields) else {
                throw .noField(
                    names[0].field, form, among: try session.outline(form).fields.map(\.id))
            }
            (form, names) = try session.place(of: [whole])
        }
        if let redact { return try overwrite(redact, of: form, session) }
        if isPlot {
            let all = names.isEmpty ? [FieldName("*")] : names
            return try HistoryPlot(session: session, form: form, since: since, output: output)
                .draw(all)
        }
        if names.count > 1 {
            let outline = try session.outline(form)
            for name in names where Glob(name.field).literal != nil {
                _ = try session.field(name.field, in: outline)
            }
        }
        try list(form, names.map { Glob($0.field) }, session)
        try session.console.flush()
    }

    private func overwrite(
        _ revision: Int64, of form: String, _ session: Session
    ) throws(Failure) {
        try Console.confirm(
            QuestionWords.overwriteMessage(of: revision, form),
            isAgreed: isAgreed, orElse: .unchanged("form \(form)"))
        let request = HistoryRedact(
            form: form, revision: revision, message: try session.message(message))
        let result = try session.call(.historyRedact(request)) { json throws(DecodeError) in
            try RedactResult(decoding: json)
        }
        try session.console.line(
            "\(form): the message of revision \(revision) is redacted (revision "
                + "\(result.revision))")
        try session.console.flush()
    }

    /// Prints the entries, newest first.
    private func list(_ form: String, _ globs: [Glob], _ session: Session) throws(Failure) {
        let single = globs.count == 1 ? globs[0].literal : nil
        let oldest = since?.moment(before: LocalTime.now)
        var before = before
        var left = limit ?? (since == nil ? 50 : .max)
        var looked = 0
        func request() -> StateHistory {
            StateHistory(
                form: form, field: single, before: before, limit: Int64(min(left, 1_000)))
        }
        var (page, proposals) = try firstPage(request(), globs, oldest, session)
        /// Those that ended before all entries.
        func printRest() throws(Failure) {
            for proposal in proposals.reversed().prefix(left) { try print(proposal, session) }
        }
        while true {
            for var entry in page.entries where left > 0 {
                if let oldest, let at = entry.at, at < oldest { return try printRest() }
                if single == nil, !globs.isEmpty {
                    entry.changes.removeAll { change in
                        !globs.contains { $0.matches(change.field) }
                    }
                    if entry.changes.isEmpty { continue }
                }
                if let grep, !entry.has(grep) { continue }
                while left > 0, let proposal = proposals.last,
                    let at = entry.at, let ended = proposal.ended?.at, ended >= at
                {
                    try print(proposal, session)
                    proposals.removeLast()
                    left -= 1
                }
                if left == 0 { return }
                try print(entry, session)
                left -= 1
            }
            guard page.more, let last = page.entries.last else { return try printRest() }
            looked += page.entries.count
            guard left > 0, looked < Self.entriesMax else { return }
            before = last.revision
            page = try session.historyPage(request())
        }
    }

    /// The newest entries, and the proposals that ended without a revision, the last one last.
    /// They are asked for together. A page in the middle of the history begins with a revision.
    private func firstPage(
        _ request: StateHistory, _ globs: [Glob], _ oldest: Timestamp?, _ session: Session
    ) throws(Failure) -> (HistoryPage, [FormProposal]) {
        guard before == nil, try session.knows("proposals") else {
            return (try session.historyPage(request), [])
        }
        let answers = try session.call([
            .stateHistory(request), .proposalList(ProposalList(form: request.form, ended: true)),
        ])
        let page = try session.historyPage(request, answers[0])
        let proposals = try session.proposals(answers[1]).filter { proposal in
            proposal.state != .applied
                && (oldest.map { proposal.ended?.at ?? $0 >= $0 } ?? true)
                && (grep.map(proposal.has) ?? true)
                && (globs.isEmpty
                    || proposal.touchedFields.contains { field in
                        globs.contains { $0.matches(field) }
                    })
        }
        return (page, proposals.reversed())
    }

    private func print(_ proposal: FormProposal, _ session: Session) throws(Failure) {
        let at = proposal.ended.map { LocalTime.text($0.at) } ?? "—"
        try session.print(
            proposal, output == .json ? .json : nil,
            "—  \(at)  \(proposal.by.user)  proposal \(proposal.id): \(proposal.changeText)"
                + "\(proposal.messageText)  \(proposal.sentence)")
    }

    /// Entries that are looked at: as many revisions as a form can be made to keep.
    private static let entriesMax = 10_000_000

    private func print(_ entry: HistoryPage.Entry, _ session: Session) throws(Failure) {
        let console = session.console
        if output == .json {
            var writer = JSONWriter()
            entry.encode(into: &writer)
            return try console.line(String(decoding: writer.take(), as: UTF8.self))
        }
        // Appended, because an interpolation makes space for one part after the other.
        var line = String(entry.revision)
        line.reserveCapacity(200)
        line += "  "
        line += entry.at.map { LocalTime.text($0) } ?? "—"
        line += "  "
        line += ValueText.author(entry.by, on: session.host)
        if let tty = entry.by?.tty { line += " (\(tty))" }
        line += "  "
        line += Self.text(entry)
        if let message = entry.message { line += "  \"\(message)\"" }
        if entry.isUnapproved {
            line += "  (not approved)"
        } else if entry.isBreakGlass {
            line += "  (glass broken)"
        } else if let proposal = entry.proposal {
            let users = entry.approvedBy.map(\.user).joined(separator: ", ")
            line += "  (proposal \(proposal), approved by \(users))"
        }
        try console.safeLine(line)
    }

    /// The changes of an entry: the values of a set, the state of a run, the number of fields of an
    /// apply, because an apply of a new form touches all fields.
    static func text(_ entry: HistoryPage.Entry) -> String {
        if let revision = entry.redacts { return "redact: the message of \(revision)" }
        if entry.changes.isEmpty { return entry.kind }
        let changes = Table.joined(entry.changes.map(text), by: ", ")
        switch entry.kind {
        case "set", "run": return changes
        case "apply" where entry.changes.count > 1, "sync" where entry.changes.count > 1:
            return "\(entry.kind): \(entry.changes.count) fields"
        default: return "\(entry.kind) \(changes)"
        }
    }

    static func text(_ change: HistoryPage.Change) -> String {
        if let run = change.run { return "\(change.field) \(run.sentence)" }
        var text = change.field
        if let isSet = change.isSecretSet { text += isSet ? "=(secret)" : "=" }
        if let lost = change.lost {
            let current = change.value.map(ValueText.short) ?? ""
            return text + "=\(ValueText.bare(lost)) (concurrent, \(current) is current)"
        }
        if let value = change.value { text += "=\(ValueText.bare(value))" }
        if let was = change.was { text += " (was \(ValueText.short(was)))" }
        return change.isConcurrent ? text + " (concurrent)" : text
    }
}

extension HistoryPage.Entry {
    /// Whether the message, the user or a field has this text, in upper or lower case.
    fileprivate func has(_ text: String) -> Bool {
        let text = text.lowercased()
        return ([message, by?.user].compactMap(\.self) + changes.map(\.field)).contains {
            $0.lowercased().contains(text)
        }
    }
}

extension HistoryRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), limit: words.number(words.value("--limit", "-n"), from: 1),
            before: words.number(words.value("--before"), from: .min),
            since: words.since("--since"), grep: words.value("--grep"),
            isPlot: words.flag("--plot"),
            redact: words.number(words.value("--redact"), from: .min), message: words.message(),
            isAgreed: words.flag("--yes", "-y"), output: words.choice("--output", "-o") ?? .text,
            fields: words.names())
        words.require(misuse == nil)
    }
}

extension PlainWords {
    /// The value of an option that says since when.
    fileprivate mutating func since(_ name: String) -> HistorySince? {
        guard let text = value(name) else { return nil }
        let since = HistorySince(text)
        require(since != nil)
        return since
    }
}
