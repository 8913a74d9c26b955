internal import ArgumentParser
internal import SyncCore

/// `pickerctl set`: one transaction.
struct SetCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "set", abstract: "Set fields, all of them or none.",
        discussion: """
            A value has the type of its control: a tag, true or false, a number, a date, text. \
            Commas separate several tags; empty or null clears an optional control. On a terminal \
            the new values are shown.

              flavor=vanilla           set
              scoops+=1  scoops-=1     add or subtract, within the control's bounds
              days+=tue  days-=mon     add to a list, remove from it
              source.name=salary       one component of wheels
              note=@FILE  key=-        read a file, standard input; use it for a secret
              note:='"@home"'          exactly this JSON

            With --for, --until-time or --while the values end by themselves, and what was \
            there before comes back, unless somebody has set the field since. --while runs a \
            command; the exit status is the command's.

            Example: pickerctl set maintenance=on --for 2h30m
            """)

    @OptionGroup var common: CommonOptions

    @Argument(
        help: ArgumentHelp("What to set.", valueName: "field=value"),
        completion: .custom(Completion.assignments))
    var assignments: [String]

    @Option(help: ArgumentHelp("What you have seen: a token of get --context.", valueName: "token"))
    var context: String?

    @Option(
        help: ArgumentHelp(
            "Set only if nothing changed since this token; else exit 75.", valueName: "token"))
    var ifCurrent: String?

    @OptionGroup var why: MessageOption
    @OptionGroup var ends: LeaseOptions

    @Flag(help: "Change a guarded field without approval; needs -m, and is logged.")
    var breakGlass = false

    @Flag(name: .customLong("while"), help: "The values end with the command after --.")
    var isHeld = false

    @Option(name: .shortAndLong, help: "Print the new values: json.")
    var output: AnswerFormat?

    func run() throws {
        if context != nil, ifCurrent != nil {
            throw ValidationError(UsageWords.exclude("--context", "--if-current"))
        }
        guard isHeld else { return try request.run() }
        if ends.wish != LeaseWish() {
            throw ValidationError(UsageWords.exclude("--while", "--for", "--until-time"))
        }
        // A command can have one list of words, in which those after -- are the last.
        let command = Array(CommandLine.arguments.drop { $0 != "--" }.dropFirst())
        guard !command.isEmpty, assignments.count > command.count else {
            throw ValidationError(
                UsageWords.needs("--while", "a command", write: "--while -- COMMAND"))
        }
        try HeldSet(request(of: assignments.dropLast(command.count)), command).run()
    }

    var request: SetRequest { request(of: assignments[...]) }

    private func request(of assignments: ArraySlice<String>) -> SetRequest {
        SetRequest(
            settings: common.settings, context: context, ifCurrent: ifCurrent, output: output,
            message: why.message, ends: ends.wish, breaksGlass: breakGlass,
            assignments: Array(assignments))
    }
}

/// The arguments of `pickerctl set`.
struct SetRequest: PlainRequest {
    let settings: Settings
    let context: String?
    let ifCurrent: String?
    let output: AnswerFormat?
    let message: String?
    let ends: LeaseWish
    var breaksGlass = false
    let assignments: [String]

    func run() throws(Failure) {
        _ = try set(lease: ends.end(), Session(settings))
    }

    /// Sets the values; returns the answer.
    func set(lease: LeaseEnd?, _ session: Session) throws(Failure) -> SetResult {
        var (edit, outline) = try edit(lease: lease, session, verb: "set")
        let report = try output == nil ? EditReport(edit.changes, outline, session) : nil
        if breaksGlass {
            try session.require("proposals")
            edit.guarded = .breaksGlass
        }
        let result = try session.set(edit)
        try output?.print(result, session.console)
        try report?.print(edit.changes, result, session.console)
        return result
    }

    /// The transaction, and the form that it is about.
    func edit(
        lease: LeaseEnd?, _ session: Session, verb: String
    ) throws(Failure) -> (StateSet, FormOutline) {
        let assignments = try SetCommand.assignments(assignments, verb: verb)
        let context = try Session.token(context, of: "--context")
        let ifCurrent = try Session.token(ifCurrent, of: "--if-current")
        let form = try session.form(named: assignments.map(\.form))
        let outline = try session.outline(form)
        var edits = EditBuilder(outline)
        for assignment in assignments { try edits.append(assignment, session) }
        if lease != nil { try session.require("leases") }
        let edit = StateSet(
            form: form, changes: edits.changes, context: ifCurrent ?? context,
            requireCurrent: ifCurrent != nil, lease: lease, message: try session.message(message))
        return (edit, outline)
    }
}

extension SetRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), context: words.value("--context"),
            ifCurrent: words.value("--if-current"), output: words.choice("--output", "-o"),
            message: words.message(), ends: words.leaseWish(),
            breaksGlass: words.flag("--break-glass"), assignments: words.names(atLeast: 1))
        words.require(context == nil || ifCurrent == nil)
    }
}

extension SetCommand {
    static func assignments(
        _ arguments: [String], verb: String
    ) throws(Failure) -> [Assignment] {
        var result: [Assignment] = []
        for (place, argument) in arguments.enumerated() {
            guard let assignment = Assignment(argument) else {
                // `traffic= 20` has its value in the next word.
                let isValue = place > 0 && arguments[place - 1].hasSuffix("=")
                throw .notAssignment(arguments[(isValue ? place - 1 : place)...], verb: verb)
            }
            result.append(assignment)
        }
        return result
    }
}

/// The output format for the result of an edit.
enum AnswerFormat: String, ExpressibleByArgument, CaseIterable {
    case json

    /// The result of the protocol, on one line.
    func print(_ result: SetResult, _ console: Console) throws(Failure) {
        var writer = JSONWriter()
        result.encode(into: &writer)
        try console.line(String(decoding: writer.take(), as: UTF8.self))
        try console.flush()
    }
}
