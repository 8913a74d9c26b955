internal import ArgumentParser
internal import FormFile
internal import Glibc
internal import PickerClient
internal import SyncCore

/// `pickerctl form apply`: applies forms, after a preview of what would be lost.
struct FormApplyCommand: ParsableCommand {
    static let configuration = CommandConfiguration.leaf(
        "apply", abstract: "Create or change forms from files.",
        discussion: """
            Shows which fields are added, kept, invalid, reset and removed, and asks before a \
            value is lost. All files are read before the first is applied; - is standard input.

            Example: pickerctl form apply --dry-run deploy.yaml
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .file(extensions: ["yaml", "yml", "json"])) var file: [String]
    @Flag(name: .shortAndLong, help: "Do not ask.") var yes = false
    @Flag(help: "Show the changes, and apply nothing.") var dryRun = false
    @OptionGroup var why: MessageOption
    @Flag(help: "Propose a form that changes what is guarded.") var propose = false
    @Flag(help: "Change what is guarded without approval; needs -m, and is logged.")
    var breakGlass = false
    @Option(name: .shortAndLong, help: "text or json (one result per line).")
    var output = TextOrJSON.text

    func validate() throws {
        if propose, breakGlass {
            throw ValidationError(UsageWords.exclude("--propose", "--break-glass"))
        }
    }

    private var guarded: GuardedEdit {
        propose ? .proposed : breakGlass ? .breaksGlass : .refused
    }

    func run() throws {
        let session = Session(common.settings)
        if guarded != .refused { try session.require("proposals") }
        var definitions: [(file: String, definition: JSON)] = []
        for file in file { definitions.append((file, try FormFiles.read(file))) }
        for (file, definition) in definitions { try apply(definition, file, session) }
        try session.console.flush()
    }

    private func apply(_ definition: JSON, _ file: String, _ session: Session) throws(Failure) {
        let form = definition["form"]?.stringValue ?? ""
        var trial = FormApply(definition: definition, isDryRun: true)
        trial.guarded = guarded
        let preview = try send(trial, session)
        let present = preview.isCreated ? nil : try session.definition(form)
        let isSame = present?.definition == definition
        if dryRun { return try show(preview, isSame: isSame, isDone: false, session.console) }
        let lost = preview.invalid + preview.reset + preview.removed
        if !lost.isEmpty, !yes {
            try show(preview, isSame: isSame, isDone: false, session.console)
            try session.console.flush()
            try Console.confirm(
                QuestionWords.apply(InputFile.name(file), to: form), isAgreed: false,
                orElse: .unchanged("form \(form)"))
        }
        // Applies exactly what was shown: if the form has changed in the meantime, that is a
        // conflict.
        var wanted = FormApply(
            definition: definition, ifVersion: present?.version,
            message: try session.message(why.message))
        wanted.guarded = guarded
        let answer = try session.call(.formApply(wanted))
        warnOfLonelyGuards(definition, session)
        if answer["proposal"] != nil {
            let proposal = try session.decoded(answer) { json throws(DecodeError) in
                try ProposalResult(decoding: json).proposal
            }
            try session.print(proposal, output == .json ? .json : nil, proposal.name)
            return session.console.note("\(proposal.name) \(proposal.sentence)")
        }
        let result = try session.decoded(answer) { json throws(DecodeError) in
            try ApplyResult(decoding: json)
        }
        let isUnchanged = result.version == present?.version
        try show(result, isSame: isUnchanged, isDone: true, session.console)
    }

    /// Warns of guarded fields of which too few but this user may approve changes: a vote of the
    /// proposer does not count.
    private func warnOfLonelyGuards(_ definition: JSON, _ session: Session) {
        guard let me = session.client.greeting?.you else { return }
        let own: Set<String> = ["owner", "user:\(me.user)", "uid:\(me.uid)"]
        for field in FormOutline(definition).fields {
            guard let approval = field.json["approval"],
                let from = approval["from"]?.arrayValue?.compactMap(\.stringValue)
            else { continue }
            let others = from.filter { !own.contains($0) }
            let count = approval["count"]?.integerValue ?? 1
            let areKnown = others.allSatisfy { $0.hasPrefix("user:") || $0.hasPrefix("uid:") }
            guard areKnown, others.count < count else { continue }
            session.console.note(
                others.isEmpty
                    ? "warning: only you may approve changes of \(field.id), and never your own; "
                        + "name others in approval.from"
                    : "warning: changes of \(field.id) need \(count) approvals, and approval.from "
                        + "names only \(others.joined(separator: ", ")) besides you; name more")
        }
    }

    private func send(_ apply: FormApply, _ session: Session) throws(Failure) -> ApplyResult {
        try session.call(.formApply(apply)) { json throws(DecodeError) in
            try ApplyResult(decoding: json)
        }
    }

    private func show(
        _ result: ApplyResult, isSame: Bool, isDone: Bool, _ console: Console
    ) throws(Failure) {
        if output == .json {
            var writer = JSONWriter()
            result.encode(into: &writer)
            return try console.line(String(decoding: writer.take(), as: UTF8.self))
        }
        if console.isQuiet { return }
        for line in Self.lines(result, isSame: isSame, isDone: isDone) {
            try console.safeLine(line)
        }
    }

    /// The result of an apply or of a preview; `isSame` if the definition is unchanged.
    static func lines(_ result: ApplyResult, isSame: Bool, isDone: Bool) -> [String] {
        if isSame { return ["form \(result.form) unchanged, version \(result.version)"] }
        var lines: [String] = []
        let keepsAll =
            result.added.isEmpty && result.invalid.isEmpty && result.reset.isEmpty
            && result.removed.isEmpty
        let verb = result.isCreated ? "created" : keepsAll ? "applied, all values kept" : "changed"
        let would =
            result.isCreated ? "would be created" : keepsAll ? "keeps all values" : "would change"
        lines.append("form \(result.form) \(isDone ? verb : would), version \(result.version)")
        guard !result.isCreated else { return lines }
        for (name, ids, why) in [
            ("added", result.added, ""),
            ("invalid", result.invalid, " (kept, outside the new domain)"),
            ("reset", result.reset, " (to the default, because the type changed)"),
            ("removed", result.removed, ""),
        ] where !ids.isEmpty {
            lines.append("  \(name): \(ids.joined(separator: ", "))\(why)")
        }
        if !keepsAll, !result.kept.isEmpty { lines.append("  kept: \(result.kept.count) fields") }
        return lines
    }
}

/// `pickerctl form check`: needs no daemon.
struct FormCheckCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "check", abstract: "Check form files; needs no daemon.",
        discussion: """
            Each error is a line FILE:LINE:COLUMN: MESSAGE on standard error, as editors read it.

            Example: pickerctl form check *.yaml
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .file(extensions: ["yaml", "yml", "json"])) var file: [String]

    var request: FormCheckRequest {
        FormCheckRequest(settings: common.settings, file: file)
    }
}

/// The arguments of `pickerctl form check`.
struct FormCheckRequest: PlainRequest {
    let settings: Settings
    let file: [String]

    func run() throws(Failure) {
        let console = Console(color: settings.color, isQuiet: settings.isQuiet)
        var worst: Failure?
        for file in file {
            do throws(Failure) {
                let definition = try FormFiles.read(file, showsEveryIssue: true)
                if !console.isQuiet {
                    let form = definition["form"]?.stringValue ?? ""
                    try console.safeLine("\(InputFile.name(file)): form \(form) is valid")
                }
            } catch {
                if worst == nil || error.status == .noInput { worst = .silent(error.status) }
                if error.beginsWithPlace {
                    Console.complain(error.message)
                } else if !error.message.isEmpty {
                    Console.error(error.message)
                }
            }
        }
        try console.flush()
        if let worst { throw worst }
    }
}

extension FormCheckRequest {
    init(_ words: inout PlainWords) {
        self.init(settings: words.settings(), file: words.names(atLeast: 1))
    }
}

/// Reads form files.
enum FormFiles {
    /// The definition in a file, `-` for standard input, checked like in the daemon.
    static func read(_ path: String, showsEveryIssue: Bool = false) throws(Failure) -> JSON {
        let name = InputFile.name(path)
        let bytes = try InputFile.bytes(path)
        switch FormFile.load(bytes, name: name) {
        case .success((_, let json)): return json
        case .failure(let issues): throw report(issues, name, showsEveryIssue)
        }
    }

    /// Prints each issue on its own line as compilers do, then throws the failure.
    private static func report(
        _ error: FileIssues, _ name: String, _ showsEveryIssue: Bool
    ) -> Failure {
        guard showsEveryIssue || error.issues.count > 1 else {
            return .file(.data, error.issues[0])
        }
        for issue in error.issues { Console.complain("\(issue)") }
        return showsEveryIssue
            ? .silent(.data)
            : .manyErrors(error.issues.count, in: name)
    }
}
