// The page of the changes that wait for approval.

internal import SyncCore
internal import TerminalUI

extension LiveModel {
    mutating func openProposals() {
        guard mode == .form else { return }
        guard let first = presentation.proposals.first else {
            return say(LiveWords.noProposal)
        }
        // The one of the focused control, if there is one.
        let field = focusedField
        let ofFocus = presentation.proposals.first { proposal in
            field.map { proposal.change(of: $0) != nil } ?? false
        }
        page = .proposals(selected: (ofFocus ?? first).name)
    }

    private func place(of selected: String?) -> Int {
        presentation.proposals.firstIndex { $0.name == selected } ?? 0
    }

    mutating func proposalsKey(_ event: KeyEvent, _ selected: String?) {
        let place = place(of: selected)
        let last = presentation.proposals.count - 1
        guard presentation.proposals.indices.contains(place) else { return page = .form }
        let proposal = presentation.proposals[place]
        if let vote = vote(of: event, isOwn: isOwn(proposal)) {
            return askToVote(vote, proposal)
        }
        switch around.keys[event] {
        case .up?: select(max(0, place - 1))
        case .down?: select(min(last, place + 1))
        case .first?, .pageUp?: select(0)
        case .last?, .pageDown?: select(last)
        case .act?: say(LiveWords.proposalKeys(isOwn: isOwn(proposal)))
        default: page = .form
        }
    }

    /// Asks before anything is done with a proposal.
    mutating func askToVote(_ vote: Vote, _ proposal: FormProposal, _ message: String = "") {
        question = .typed(
            TypedQuestion(
                subject: .vote(vote, proposal),
                editor: TextEditor(message, maxLength: Self.messageCharactersMax)))
    }

    private func vote(of event: KeyEvent, isOwn: Bool) -> Vote? {
        switch event {
        case KeyEvent(.character("a")) where !isOwn: .approve
        case KeyEvent(.character("r")) where !isOwn: .refuse
        case KeyEvent(.character("w")) where isOwn: .withdraw
        default: nil
        }
    }

    /// The selected proposal on the status line: who must agree.
    func words(ofProposal selected: String?) -> WordsLook {
        let place = place(of: selected)
        guard presentation.proposals.indices.contains(place) else {
            return WordsLook(LiveWords.noProposal, kind: .about)
        }
        let proposal = presentation.proposals[place]
        let who = approvalWords(proposal.fields.compactMap { presentation.index($0) })
        let votes = isOwn(proposal) ? LiveWords.ownVote : nil
        return WordsLook(
            joined([proposal.name, who] + [votes].compactMap(\.self)),
            joined([proposal.name, who]), who, kind: .about)
    }

    private mutating func select(_ place: Int) {
        page = .proposals(selected: presentation.proposals[place].name)
    }

    func proposalHints(_ selected: String?) -> [KeyHint] {
        let place = place(of: selected)
        guard presentation.proposals.indices.contains(place) else { return [("Esc", .back)] }
        let keys: [KeyHint] =
            isOwn(presentation.proposals[place])
            ? [("w", .vote(.withdraw))] : [("a", .vote(.approve)), ("r", .vote(.refuse))]
        return keys + [("↑↓", .move), ("Esc", .back)]
    }

    /// What the keys do while an answer is typed or proposals are shown, for the cache of hints.
    var answerHints: [KeyWords] {
        if case .typed(let asked)? = question { return hints(of: asked).map(\.words) }
        guard case .proposals(let selected) = page else { return [] }
        return proposalHints(selected).map(\.words)
    }

    /// Sends a vote.
    mutating func carryOut(
        _ vote: Vote, _ proposal: FormProposal, _ message: String?,
        _ commands: inout [LiveCommand]
    ) {
        let params = ProposalVote(
            form: proposal.form, proposal: proposal.id, message: message, host: proposal.host)
        request(vote.request(params), .vote, &commands)
        if !isOnline { say(LiveWords.voteLater) }
    }

    // MARK: Drawing

    func draw(
        proposals selected: String?, into canvas: inout Canvas, in window: Rect,
        _ environment: StyleEnvironment
    ) {
        let place = place(of: selected)
        let blocks = presentation.proposals.enumerated().map { number, proposal in
            block(of: proposal, isSelected: number == place, environment)
        }
        let title =
            blocks.isEmpty
            ? LiveWords.noProposal.beginningWithCapital : LiveWords.proposalsTitle
        let heading = StyledText(title, environment.roles.heading).truncated()
        // An empty line before each, as in a form, where there is enough height.
        let air = isRoomy ? 1 : 0
        let content = Column([heading] + blocks.map { Padding(top: air, $0) as any Block })
        // The scroll bar and the column before it.
        let columns = window.columns - 2
        func lines(_ blocks: some Collection<Column>) -> Int {
            blocks.reduce(0) { $0 + air + $1.measure(width: columns).lines }
        }
        var scroll = ScrollState()
        let top = 1 + lines(blocks.prefix(place))
        scroll.show(
            top..<top + max(1, lines(blocks.dropFirst(place).prefix(1))),
            content: 1 + lines(blocks), window: window.lines)
        draw(content, scroll, into: &canvas, in: window, environment)
    }

    /// A proposal: the change, who and why, and what is missing. A long line is wrapped, as nobody
    /// should approve what is cut.
    private func block(
        of proposal: FormProposal, isSelected: Bool, _ environment: StyleEnvironment
    ) -> Column {
        let (roles, glyphs) = (environment.roles, environment.glyphs)
        let pointer = isSelected ? glyphs.pointer : " "
        let peer = isOwn(proposal) ? nil : presentation.peer(proposal.by)
        let votes = proposal.votes.map { $0.by.user }.joined(separator: ", ")
        let mark = StyledText("\(pointer) ", roles.accent).appending(
            "\(proposal.nameInForm)  ", roles.dim)
        let change = StyledText(
            words(of: proposal), isSelected ? roles.text.adding(.bold) : roles.text)
        var lines = definitionLines(of: proposal).map { StyledText($0, roles.text) }
        lines += [
            StyledText(
                peer?.name ?? ControlWords.you, peer.map { roles.peer($0.number) } ?? roles.text
            )
            .appending(", \(around.localTime(proposal.at))", roles.dim)
            .appending(proposal.messageText, roles.text),
            StyledText(proposal.sentence { around.localTime($0) }, roles.dim)
                .appending(votes.isEmpty ? "" : LiveWords.approvedBy(votes), roles.dim),
        ]
        // All lines begin where the words of the first one do.
        return Column {
            Row([mark, change], spacing: 0)
            Padding(left: mark.columns, Column(lines))
        }
    }
}
