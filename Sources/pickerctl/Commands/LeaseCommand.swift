internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl lease`: changes when a value ends.
struct LeaseCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "lease", abstract: "Move the end of a value that ends by itself, keep it, or end it.",
        discussion: """
            pickerctl set FIELD=VALUE --for DURATION makes such a value. Exits 75 if the field has \
            no lease. A value that others guard lasts longer only when they agree: propose the \
            value again, with its new end.

            Example: pickerctl lease traffic --for 1h
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.fields)) var field: String
    @OptionGroup var ends: LeaseOptions
    @Flag(help: "The value is permanent.") var keep = false
    @Flag(help: "It ends now.") var end = false
    @OptionGroup var why: MessageOption
    @Option(name: .shortAndLong, help: "Print the new value: json.") var output: AnswerFormat?

    func validate() throws {
        if let wrong = request.misuse { throw ValidationError(wrong) }
    }

    var request: LeaseRequest {
        LeaseRequest(
            settings: common.settings, ends: ends.wish, keeps: keep, endsNow: end,
            message: why.message, output: output, field: field)
    }
}

/// The arguments of `pickerctl lease`.
struct LeaseRequest: PlainRequest {
    let settings: Settings
    let ends: LeaseWish
    let keeps: Bool
    let endsNow: Bool
    let message: String?
    let output: AnswerFormat?
    let field: String

    /// The error for options that exclude each other.
    var misuse: String? {
        let chosen = [ends != LeaseWish(), keeps, endsNow].count { $0 }
        return chosen == 1 ? nil : UsageWords.chooseOne("--for", "--until-time", "--keep", "--end")
    }

    func run() throws(Failure) {
        let session = Session(settings)
        let name = FieldName(field)
        let form = try session.form(of: [name])
        var action = keeps ? StateLease.Action.keep : .end
        if let end = try ends.end() { action = .move(end) }
        try session.require("leases")
        let message = try session.message(message)
        let request = StateLease(form: form, field: name.field, action, message: message)
        let result = try change(request, session)
        if let output { return try output.print(result, session.console) }
        guard session.console.isTerminal, !session.console.isQuiet,
            let state = result.fields[name.field]
        else { return }
        let end = state.lease?.words ?? "permanent"
        try session.console.safeLine("\(name.field) \(ValueText.short(state)), \(end)")
        try session.console.flush()
    }

    private func change(_ request: StateLease, _ session: Session) throws(Failure) -> SetResult {
        let answer: JSON
        do throws(ClientFailure) {
            answer = try session.client.call(.stateLease(request))
        } catch {
            guard case .refused(let refusal) = error, refusal.kind == .approvalNeeded else {
                throw Failure(error)
            }
            let state = try session.snapshot(request.form, [request.field]).fields[request.field]
            let value = state.map { ValueText.bare($0.value) } ?? ""
            let words = ["pickerctl", "propose", "\(request.form)/\(request.field)=\(value)"]
            let end =
                ends.duration.map { ["--for", $0] } ?? ends.time.map { ["--until-time", $0] } ?? []
            let command = (words + end).map(ValueText.shellWord).joined(separator: " ")
            throw .needsApproval(refusal.message, command)
        }
        return try session.decoded(answer) { json throws(DecodeError) in
            try SetResult(decoding: json)
        }
    }
}

extension LeaseRequest {
    init(_ words: inout PlainWords) {
        self.init(
            settings: words.settings(), ends: words.leaseWish(), keeps: words.flag("--keep"),
            endsNow: words.flag("--end"), message: words.message(),
            output: words.choice("--output", "-o"), field: words.name())
        words.require(misuse == nil)
    }
}
