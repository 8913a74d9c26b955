// `pickerctl proposals`, `approve`, `refuse` and `withdraw`.

internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl proposals`.
struct ProposalsCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "proposals", abstract: "Proposals that wait for approval.",
        discussion: """
            Lists those of all forms, or of one. --ended lists what became of others in the last \
            days, newest first. deploy/12@web1 waits on the host web1, which judges the votes.

            Example: pickerctl proposals deploy
            """)
    @OptionGroup var common: CommonOptions
    @Argument(completion: .custom(Completion.forms)) var form: String?
    @Flag(help: "Those that have ended.") var ended = false
    @Option(name: .shortAndLong, help: "text or json (one proposal per line).")
    var output = TextOrJSON.text

    var request: ProposalsRequest {
        ProposalsRequest(settings: common.settings, form: form, ended: ended, output: output)
    }
}

/// The arguments of `pickerctl proposals`.
struct ProposalsRequest: PlainRequest {
    let settings: Settings
    let form: String?
    let ended: Bool
    let output: TextOrJSON

    func run() throws(Failure) {
        let session = Session(settings)
        try session.require("proposals")
        let form = try form.map { form throws(Failure) in try session.form(at: form) }
        let proposals = try session.proposals(form ?? settings.form, ended: ended)
        for proposal in proposals {
            let at = LocalTime.text(proposal.ended?.at ?? proposal.at)
            try session.print(
                proposal, output == .json ? .json : nil,
                "\(proposal.name)  \(at)  \(proposal.by.user)  \(proposal.changeText)"
                    + "\(proposal.messageText)  \(proposal.sentence)")
        }
        if proposals.isEmpty {
            session.console.note(ended ? "no proposal has ended" : "no proposal waits")
        }
    }
}

/// What `approve`, `refuse` and `withdraw` take.
struct VoteOptions: ParsableArguments {
    @OptionGroup var common: CommonOptions
    @Argument(
        help: ArgumentHelp("Its name, such as deploy/12.", valueName: "form/number"),
        completion: .custom(Completion.proposals))
    var proposal: String
    @OptionGroup var why: MessageOption
    @Option(name: .shortAndLong, help: "Print the proposal: json.") var output: AnswerFormat?

    func request(_ verb: VoteRequest.Verb, isAgreed: Bool = true) -> VoteRequest {
        VoteRequest(
            settings: common.settings, verb: verb, isAgreed: isAgreed, message: why.message,
            output: output, name: proposal)
    }
}

/// `pickerctl approve`.
struct ApproveCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "approve", abstract: "Approve a proposal of somebody else.",
        discussion: """
            Shows the change and asks; where there is no terminal, --yes approves. The last vote \
            that is needed applies the change. Exits 75 if the proposal is stale or has ended.

            Example: pickerctl approve deploy/12
            """)
    @OptionGroup var vote: VoteOptions
    @Flag(name: .shortAndLong, help: "Do not ask.") var yes = false

    var request: VoteRequest { vote.request(.approve, isAgreed: yes) }
}

/// `pickerctl refuse`.
struct RefuseCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "refuse", abstract: "Refuse a proposal of somebody else, which ends it.",
        discussion: """
            Example: pickerctl refuse deploy/12 -m "not during the sale"
            """)
    @OptionGroup var vote: VoteOptions

    var request: VoteRequest { vote.request(.refuse) }
}

/// `pickerctl withdraw`.
struct WithdrawCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "withdraw", abstract: "Withdraw a proposal of yours.",
        discussion: """
            Example: pickerctl withdraw deploy/12
            """)
    @OptionGroup var vote: VoteOptions

    var request: VoteRequest { vote.request(.withdraw) }
}

/// The arguments of `pickerctl approve`, `refuse` and `withdraw`.
struct VoteRequest: PlainRequest {
    enum Verb { case approve, refuse, withdraw }

    let settings: Settings
    let verb: Verb
    let isAgreed: Bool
    let message: String?
    let output: AnswerFormat?
    let name: String

    func run() throws(Failure) {
        let session = Session(settings)
        let place = FieldName(name)
        let parts = place.field.split(separator: "@", maxSplits: 1)
        let host = parts.count == 2 ? String(parts[1]) : nil
        guard let number = parts.first, let id = Int64(number), id > 0 else {
            throw .notProposal(name)
        }
        try session.require("proposals")
        if host != nil { try session.require("verbs") }
        let form = try session.form(of: [place])
        if !isAgreed { try ask(form, id, host, session) }
        let vote = ProposalVote(
            form: form, proposal: id, message: try session.message(message), host: host)
        let request: Request =
            switch verb {
            case .approve: .proposalApprove(vote)
            case .refuse: .proposalRefuse(vote)
            case .withdraw: .proposalWithdraw(vote)
            }
        let proposal = try session.call(request) { json throws(DecodeError) in
            try ProposalResult(decoding: json).proposal
        }
        let line = "\(proposal.name) \(proposal.sentence)"
        if output == .json || proposal.state != .stale {
            try session.print(proposal, output, line)
        }
        if proposal.state == .stale { throw Failure(.temporary, line) }
    }

    /// Shows what would change, and asks. A proposal that does not wait is left to the daemon.
    private func ask(
        _ form: String, _ id: Int64, _ host: String?, _ session: Session
    ) throws(Failure) {
        let waiting = try session.proposals(form, ended: false)
        guard let proposal = waiting.first(where: { $0.id == id && $0.host == host }) else {
            return
        }
        let at = LocalTime.text(proposal.at)
        session.console.note(
            "\(proposal.name) of \(proposal.by.user), \(at): \(proposal.changeText)"
                + proposal.messageText)
        for line in try definitionLines(proposal, session) { session.console.note("  \(line)") }
        try Console.confirm(
            QuestionWords.approve(proposal.name), isAgreed: false,
            orElse: .notApproved(proposal.name))
    }

    /// What a proposal would change in the definition; nothing for one of values.
    private func definitionLines(
        _ proposal: FormProposal, _ session: Session
    ) throws(Failure) -> [String] {
        if case .values = proposal.content { return [] }
        let present = try session.definition(proposal.form).definition
        return proposal.definitionLines(in: present).brief(Self.linesMax)
    }

    /// The most lines about a definition.
    private static let linesMax = 200
}
