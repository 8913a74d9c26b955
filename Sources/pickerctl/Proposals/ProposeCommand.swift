internal import ArgumentParser
internal import PickerClient
internal import SyncCore

/// `pickerctl propose`.
struct ProposeCommand: PlainCommand {
    static let configuration = CommandConfiguration.leaf(
        "propose", abstract: "Propose a change that needs the approval of others.",
        discussion: """
            The changes are written as for set. Prints the name of the proposal, for approve, \
            refuse and withdraw. What nobody guards is set at once.

            With --wait the exit status is 0 applied, 1 refused or withdrawn, 75 stale (what it \
            was based on has changed), 124 expired.

            Example: pickerctl propose traffic=50 -m INC-231 --wait
            """)
    @OptionGroup var common: CommonOptions
    @Argument(
        help: ArgumentHelp("What to set.", valueName: "field=value"),
        completion: .custom(Completion.assignments))
    var assignments: [String]
    @OptionGroup var why: MessageOption
    @OptionGroup var ends: LeaseOptions
    @Flag(help: "Wait until it is applied, or has ended otherwise.") var wait = false
    @Option(name: .shortAndLong, help: "Print the proposal: json.") var output: AnswerFormat?

    var request: ProposeRequest {
        ProposeRequest(
            set: SetRequest(
                settings: common.settings, context: nil, ifCurrent: nil, output: output,
                message: why.message, ends: ends.wish, assignments: assignments), waits: wait)
    }
}

/// The arguments of `pickerctl propose`.
struct ProposeRequest: PlainRequest {
    let set: SetRequest
    let waits: Bool

    func run() throws(Failure) {
        let session = Session(set.settings)
        var (edit, _) = try set.edit(lease: set.ends.end(), session, verb: "propose")
        try session.require("proposals")
        edit.guarded = .proposed
        let answer = try session.call(.stateSet(edit))
        guard answer["proposal"] != nil else {
            session.console.note("nothing here needs approval; the change is made")
            let result = try session.decoded(answer) { json throws(DecodeError) in
                try SetResult(decoding: json)
            }
            try set.output?.print(result, session.console)
            return
        }
        let proposal = try session.decoded(answer) { json throws(DecodeError) in
            try ProposalResult(decoding: json).proposal
        }
        try session.print(proposal, set.output, proposal.name)
        session.console.note("\(proposal.name) \(proposal.sentence)")
        guard waits else { return }
        let ended = try ProposalWaiter(session: session, proposal: proposal).run()
        let line = "\(ended.name) \(ended.sentence)"
        guard ended.state == .applied else { throw Failure(ended.state.exitStatus, line) }
        session.console.note(line)
    }
}

/// Waits until a proposal has ended.
struct ProposalWaiter {
    let session: Session
    let proposal: FormProposal

    func run() throws(Failure) -> FormProposal {
        session.client.subscribe(StateSubscribe(form: proposal.form, fields: proposal.fields))
        while true {
            guard case .event(let event) = try session.wait(until: nil) else { continue }
            switch event {
            case .proposal(let changed) where changed.id == proposal.id:
                if changed.state.isFinal { return changed }
            case .snapshot(let result, _), .resumed(let result):
                // It may have ended before the subscription, or while the daemon was away.
                let waits = result.proposals?.contains { $0.id == proposal.id } ?? false
                if !waits, let ended = try session.endedProposal(proposal) { return ended }
            case .subscriptionRefused(_, let error): throw Failure(error)
            case .formChanged(let change) where change.form == proposal.form:
                if case .deleted = change.content { throw .formDeleted(proposal.form) }
            default: break
            }
        }
    }
}

extension ProposalState {
    /// What `propose --wait` exits with.
    var exitStatus: ExitStatus {
        switch self {
        case .waits, .applied: .done
        case .refused, .withdrawn: .notMet
        case .stale: .temporary
        case .expired: .timedOut
        }
    }
}
