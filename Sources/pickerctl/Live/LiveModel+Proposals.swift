// Changes that wait for the approval of others: beside their controls, in the header, and as lines.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    /// What can be done with a proposal. No single key does it: Enter confirms each.
    enum Vote: String, Equatable {
        case approve, refuse, withdraw

        /// The beginning of the question.
        var verb: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }

        func request(_ vote: ProposalVote) -> Request {
            switch self {
            case .approve: .proposalApprove(vote)
            case .refuse: .proposalRefuse(vote)
            case .withdraw: .proposalWithdraw(vote)
            }
        }
    }

    // MARK: Words

    private var proposalText: ProposalText {
        ProposalText(
            name: { title(of: $0) },
            value: { field, json in
                guard let index = presentation.index(field) else { return ValueText.short(json) }
                return Self.brief(displayText(json, of: index))
            }, time: { around.localTime($0) },
            arrow: around.environment.glyphs.isASCII ? "->" : "→")
    }

    /// A value of a control as the form would display it: `50 %`.
    private func displayText(_ value: JSON, of index: Int) -> String {
        let definition = presentation.definition
        if case .toggle = definition.controls[index].kind { return valueText(value, of: index) }
        let targets = definition.targets[index]
        return definition.displayText(of: index) {
            targets.contains($0) ? value : presentation.stored($0)
        }
    }

    /// What a proposal changes, in the form's words.
    func words(of proposal: FormProposal) -> String { proposalText.change(proposal) }

    /// What a proposal changes in the definition, a line each; nothing for one of values.
    func definitionLines(of proposal: FormProposal) -> [String] {
        let arrow = around.environment.glyphs.isASCII ? "->" : "→"
        let lines = proposal.definitionLines(in: presentation.definition.json, arrow: arrow)
        return lines.brief(Self.definitionLinesMax)
    }

    /// The most lines about a definition; `pickerctl approve` shows all.
    private static var definitionLinesMax: Int { 8 }

    /// What became of a proposal: `deploy/12 was refused by bob`.
    private func outcome(of proposal: FormProposal) -> String {
        "\(proposal.name) \(proposal.sentence { around.localTime($0) })"
    }

    /// Whose approval these guards ask for: `1 approval of group:oncall is needed`.
    func approvalWords(_ guards: [Int]) -> String {
        LiveWords.approvals(
            guards.compactMap { presentation.definition.controls[$0].approval }
                .map { ($0.count, $0.from.approvers) })
    }

    /// Whether this user made a proposal on this host.
    func isOwn(_ proposal: FormProposal) -> Bool {
        proposal.by.user == presentation.user && proposal.host == nil
    }

    // MARK: Beside the control

    /// The oldest change of a control that waits for approval.
    func proposed(_ index: Int) -> ProposedValue? {
        if presentation.proposals.isEmpty { return nil }
        let definition = presentation.definition
        guard definition.targets[index].count == 1, let target = definition.targets[index].first
        else { return nil }
        let field = definition.controls[target].id
        let changes = presentation.proposals.compactMap { proposal in
            proposal.change(of: field).map { (proposal, $0) }
        }
        guard let (proposal, change) = changes.first else { return nil }
        let text: String
        switch change.action {
        case .value(let value): text = Self.brief(displayText(value, of: index))
        case .reset: text = LiveWords.defaultValue
        case .press: text = LiveWords.aPress
        }
        return ProposedValue(
            text: text, by: isOwn(proposal) ? nil : presentation.peer(proposal.by),
            message: proposal.message, more: changes.count - 1)
    }

    /// The same as a sentence: `bob proposes 50 %: "INC-231"`.
    func proposedWords(_ index: Int) -> String? {
        guard let proposed = proposed(index) else { return nil }
        return LiveWords.proposes(
            proposed.by?.name, proposed.text, message: proposed.message, more: proposed.more)
    }

    // MARK: What is told

    /// A proposal was made, was voted on, or has ended.
    mutating func take(_ proposal: FormProposal) {
        let earlier = presentation.note(proposal)
        if case .proposals(let selected) = page, selected == proposal.name, proposal.state.isFinal {
            page = .proposals(selected: presentation.proposals.first?.name)
        }
        if proposal.state.isFinal { return say(outcome(of: proposal)) }
        if let vote = proposal.votes.last, proposal.votes.count > (earlier?.votes.count ?? 0) {
            return say(
                LiveWords.approved(
                    presentation.peer(vote.by)?.name, proposal.name, needs: Int(proposal.needs)))
        }
        guard earlier == nil, !isOwn(proposal) else { return }
        sayProposed(proposal)
    }

    private mutating func sayProposed(_ proposal: FormProposal) {
        say(
            LiveWords.proposed(
                presentation.peer(proposal.by)?.name, words(of: proposal) + proposal.messageText,
                around.keys.name(of: .proposals)))
    }

    /// The presence changed, which has what other hosts have under way.
    mutating func take(_ change: PresenceChanged) {
        let known = Set(presentation.proposals.map(\.name))
        presentation.presence(change)
        if change.hosts == nil { return }
        let proposals = presentation.proposals
        func isThere(_ name: String) -> Bool { proposals.contains { $0.name == name } }
        if case .proposals(let selected?) = page, !isThere(selected) {
            page = .proposals(selected: proposals.first?.name)
        }
        if let new = proposals.last(where: { !known.contains($0.name) }) { sayProposed(new) }
    }

    /// The daemon answered an edit that became a proposal, or a vote.
    mutating func received(proposal json: JSON) {
        guard let result = try? ProposalResult(decoding: json) else { return }
        _ = presentation.note(result.proposal)
        say(outcome(of: result.proposal), isError: result.proposal.state == .stale)
    }

    /// What the header says of proposals and of changes without approval, each the longest wording
    /// first; a click opens the proposals.
    var attention: [[String]] {
        var parts: [[String]] = []
        if let glass = brokenGlass.text(at: around.clock(), around.localTime) {
            parts.append([glass, LiveWords.glassBroken])
        }
        let waiting = presentation.proposals.count
        if waiting > 0 {
            let mark = around.environment.glyphs.proposed
            parts.append(["\(mark) \(LiveWords.proposals(waiting))", "\(mark) \(waiting)"])
        }
        return parts
    }
}

extension FormProposal {
    /// What it changes in a field; `nil` if nothing, and for definitions and options.
    func change(of field: String) -> Change? {
        guard case .values(let changes, _) = content else { return nil }
        return changes.first { $0.field == field }
    }
}

// MARK: - As lines

extension LineForm {
    /// Prints what waits for approval.
    mutating func sayProposals() {
        let proposals = model.presentation.proposals
        if proposals.isEmpty { return say(LineWords.sentence(LiveWords.noProposal)) }
        for proposal in proposals {
            let who = model.presentation.peer(proposal.by)?.name ?? ControlWords.you
            say(
                LineWords.proposal(
                    proposal.nameInForm, model.words(of: proposal), by: who + proposal.messageText,
                    proposal.sentence { model.around.localTime($0) }))
            sayDefinition(of: proposal)
        }
        say("  " + LineWords.votes)
    }

    /// `:approve 12`: shows the change and asks.
    mutating func askForVote(_ vote: LiveModel.Vote, _ argument: String) {
        let words = argument.split(separator: " ", maxSplits: 1)
        guard let name = words.first,
            let proposal = model.presentation.proposals.first(where: { $0.nameInForm == name })
        else {
            return say(LineWords.no(LineWords.noSuchProposal))
        }
        let message = words.count > 1 ? String(words[1]) : ""
        model.askToVote(vote, proposal, message)
        sayDefinition(of: proposal)
        say(LineWords.vote(vote.verb, model.words(of: proposal) + proposal.messageText))
    }

    /// What a proposal would change in the definition.
    private mutating func sayDefinition(of proposal: FormProposal) {
        for line in model.definitionLines(of: proposal) { say("  \(line)") }
    }

    /// The answer to that question.
    mutating func takeVote(
        _ line: String, _ vote: LiveModel.Vote, _ commands: inout [LiveCommand]
    ) {
        guard case .typed(let asked)? = model.question else { return }
        guard ["y", "yes"].contains(line.lowercased()) else {
            model.withdraw(asked)
            return say(LineWords.nothingChanged)
        }
        model.typedKey(KeyEvent(.enter), asked, &commands)
    }
}
