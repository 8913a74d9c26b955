// Changes that wait for the approval of others: beside their controls, in the header, and on a page
// on which they are approved and refused.

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

    /// What became of a proposal: `deploy/12 was refused by bob`.
    private func outcome(of proposal: FormProposal) -> String {
        "\(proposal.name) \(proposal.sentence { around.localTime($0) })"
    }

    /// Whose approval these guards ask for: `1 approval of group:oncall is needed`.
    func approvalWords(_ guards: [Int]) -> String {
        let rules = guards.compactMap { presentation.definition.controls[$0].approval }
        let parts = rules.map { rule in
            let count = Self.count(rule.count, "approval")
            let who = rule.from.principals.prefix(4).map(\.description).joined(separator: ", ")
            return "\(count) of \(who)"
        }
        if parts.isEmpty { return "others must agree" }
        let isOne = rules.count == 1 && rules[0].count == 1
        return parts.joined(separator: " and ") + (isOne ? " is needed" : " are needed")
    }

    /// Whether this user made a proposal.
    private func isOwn(_ proposal: FormProposal) -> Bool {
        proposal.by.user == presentation.user
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
        case .reset: text = "default"
        case .press: text = "press"
        }
        return ProposedValue(
            text: text, by: isOwn(proposal) ? nil : presentation.peer(proposal.by),
            message: proposal.message, more: changes.count - 1)
    }

    /// The same as a sentence: `bob proposes 50 %: "INC-231"`.
    func proposedWords(_ index: Int) -> String? {
        guard let proposed = proposed(index) else { return nil }
        let who = proposed.by.map { "\($0.name) proposes" } ?? "you propose"
        let why = proposed.message.map { ": \"\($0)\"" } ?? ""
        let more = proposed.more > 0 ? ", and \(proposed.more) more" : ""
        return "\(who) \(proposed.text)\(why)\(more)"
    }

    // MARK: What is told

    /// A proposal was made, was voted on, or has ended.
    mutating func take(_ proposal: FormProposal) {
        let earlier = presentation.note(proposal)
        let name = presentation.peer(proposal.by)?.name ?? "you"
        if case .proposals(let selected) = page, selected == proposal.id, proposal.state.isFinal {
            page = .proposals(selected: presentation.proposals.first?.id)
        }
        if proposal.state.isFinal { return say(outcome(of: proposal)) }
        if let vote = proposal.votes.last, proposal.votes.count > (earlier?.votes.count ?? 0) {
            let who = presentation.peer(vote.by)?.name ?? "you"
            return say("\(who) approved \(proposal.name); \(proposal.needs) more to go")
        }
        guard earlier == nil, !isOwn(proposal) else { return }
        let key = around.keys.name(of: .proposals)
        say("\(name) proposes \(words(of: proposal))\(proposal.messageText); \(key) to see it")
    }

    /// The daemon answered an edit that became a proposal, or a vote.
    mutating func received(proposal json: JSON) {
        guard let result = try? ProposalResult(decoding: json) else { return }
        _ = presentation.note(result.proposal)
        say(outcome(of: result.proposal), isError: result.proposal.state == .stale)
    }

    /// What the header says of proposals and of changes without approval; a click opens the
    /// proposals.
    var attention: [String] {
        var parts: [String] = []
        if let glass = brokenGlass.text(at: around.clock(), around.localTime) {
            parts.append(glass)
        }
        let waiting = presentation.proposals.count
        if waiting > 0 {
            let mark = around.environment.glyphs.proposed
            parts.append("\(mark) \(Self.count(waiting, "proposal"))")
        }
        return parts
    }

    // MARK: The page

    mutating func openProposals() {
        guard mode == .form else { return }
        guard let first = presentation.proposals.first else {
            return say("no proposal waits for approval")
        }
        // The one of the focused control, if there is one.
        let field = focusedField
        let ofFocus = presentation.proposals.first { proposal in
            field.map { proposal.change(of: $0) != nil } ?? false
        }
        page = .proposals(selected: (ofFocus ?? first).id)
    }

    private func place(of selected: Int64?) -> Int {
        presentation.proposals.firstIndex { $0.id == selected } ?? 0
    }

    mutating func proposalsKey(_ event: KeyEvent, _ selected: Int64?) {
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
        case .act?: say(isOwn(proposal) ? "w takes it back" : "a approves, r refuses")
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

    private mutating func select(_ place: Int) {
        page = .proposals(selected: presentation.proposals[place].id)
    }

    func proposalHints(_ selected: Int64?) -> [(String, String)] {
        let place = place(of: selected)
        guard presentation.proposals.indices.contains(place) else { return [("Esc", "back")] }
        let keys =
            isOwn(presentation.proposals[place])
            ? [("w", "withdraw")] : [("a", "approve"), ("r", "refuse")]
        return keys + [("↑↓", "move"), ("Esc", "back")]
    }

    /// What the keys do while an answer is typed or proposals are shown, for the cache of hints.
    var answerHints: [String] {
        if case .typed(let asked)? = question { return hints(of: asked).map(\.1) }
        guard case .proposals(let selected) = page else { return [] }
        return proposalHints(selected).map(\.1)
    }

    /// Sends a vote.
    mutating func carryOut(
        _ vote: Vote, _ proposal: FormProposal, _ message: String?,
        _ commands: inout [LiveCommand]
    ) {
        let params = ProposalVote(form: proposal.form, proposal: proposal.id, message: message)
        request(vote.request(params), .vote, &commands)
        if !isOnline { say("the daemon is asked when it is back") }
    }

    // MARK: Drawing

    func draw(
        proposals selected: Int64?, into canvas: inout Canvas, in window: Rect,
        _ environment: StyleEnvironment
    ) {
        let place = place(of: selected)
        let blocks = presentation.proposals.enumerated().map { number, proposal in
            block(of: proposal, isSelected: number == place, environment)
        }
        let heading = StyledText("What waits for approval", environment.roles.heading)
        let content = Column([heading.truncated()] + blocks.flatMap(\.self))
        var scroll = ScrollState()
        let top = 1 + blocks.prefix(place).reduce(0) { $0 + $1.count }
        let lines = 1 + blocks.reduce(0) { $0 + $1.count }
        let own = blocks.indices.contains(place) ? blocks[place].count : 1
        scroll.show(top..<top + own, content: lines, window: window.lines)
        Viewport(scroll, lines: window.lines, environment: environment, content)
            .render(into: &canvas, in: window)
    }

    /// A proposal in three lines: the change, who and why, and what is missing.
    private func block(
        of proposal: FormProposal, isSelected: Bool, _ environment: StyleEnvironment
    ) -> [StyledText] {
        let (roles, glyphs) = (environment.roles, environment.glyphs)
        let pointer = isSelected ? glyphs.pointer : " "
        let peer = isOwn(proposal) ? nil : presentation.peer(proposal.by)
        let votes = proposal.votes.map { $0.by.user }.joined(separator: ", ")
        return [
            StyledText("\(pointer) ", roles.accent).appending("\(proposal.id)  ", roles.dim)
                .appending(words(of: proposal), isSelected ? roles.text.adding(.bold) : roles.text),
            StyledText("    ", roles.dim)
                .appending(peer?.name ?? "you", peer.map { roles.peer($0.number) } ?? roles.text)
                .appending(", \(around.localTime(proposal.at))", roles.dim)
                .appending(proposal.messageText, roles.text),
            StyledText("    \(proposal.sentence { around.localTime($0) })", roles.dim)
                .appending(votes.isEmpty ? "" : "; approved by \(votes)", roles.dim),
        ].map { $0.truncated() }
    }
}

extension FormProposal {
    /// What it changes in a field; `nil` if nothing, and for definitions and options.
    fileprivate func change(of field: String) -> Change? {
        guard case .values(let changes, _) = content else { return nil }
        return changes.first { $0.field == field }
    }
}

// MARK: - Changes without approval

/// The newest change without approval that is known. The header shows it for an hour.
struct BrokenGlass: Equatable {
    /// Who made it; `nil` if none is known.
    var by: String?
    var at = Timestamp(milliseconds: 0)
    /// Whether a guarded field has changed since the daemon was asked.
    var isStale = false

    /// How long the header shows it, in milliseconds.
    static let span: Int64 = 3_600_000
    /// The newest changes that are asked for.
    static let entriesMax: Int64 = 200

    func text(at now: Timestamp, _ time: (Timestamp) -> String) -> String? {
        guard let by, now.milliseconds < at.milliseconds + Self.span else { return nil }
        return "glass broken by \(by), \(time(at))"
    }
}

extension LiveModel {
    /// Whether somebody may change a control without approval.
    private func canBreak(_ index: Int) -> Bool {
        presentation.definition.controls[index].approval?.breakGlass.principals.isEmpty == false
    }

    /// Asks for the newest changes if some of them may be without approval.
    mutating func askForBrokenGlass(_ commands: inout [LiveCommand]) {
        guard mode == .form, presentation.definition.guards.contains(where: canBreak) else {
            return
        }
        if purposes.values.contains(.brokenGlass) {
            brokenGlass.isStale = true
            return
        }
        let ask = StateHistory(form: presentation.form, limit: BrokenGlass.entriesMax)
        request(.stateHistory(ask), .brokenGlass, &commands)
    }

    /// A change may be without approval: only the history says so.
    mutating func glassMayHaveBroken(
        _ changes: [FieldChange], _ commands: inout [LiveCommand]
    ) {
        if presentation.definition.guards.isEmpty { return }
        let isGuarded = changes.contains { change in
            presentation.index(change.field).map(canBreak) ?? false
        }
        if isGuarded { askForBrokenGlass(&commands) }
    }

    mutating func received(changes json: JSON, _ commands: inout [LiveCommand]) {
        let entries = (try? HistoryPage(decoding: json))?.entries ?? []
        let isStale = brokenGlass.isStale
        if let entry = entries.first(where: \.isBreakGlass), let at = entry.at {
            brokenGlass = BrokenGlass(by: entry.by?.user ?? "the daemon", at: at)
        }
        brokenGlass.isStale = false
        if isStale { askForBrokenGlass(&commands) }
    }

    /// When the header forgets the change (monotonic nanoseconds).
    var glassTick: UInt64? {
        guard brokenGlass.by != nil else { return nil }
        let left =
            brokenGlass.at.milliseconds + BrokenGlass.span - around.clock().milliseconds
        return left > 0 ? now &+ UInt64(left) * 1_000_000 : nil
    }
}

// MARK: - As lines

extension LineForm {
    /// Prints what waits for approval.
    mutating func sayProposals() {
        let proposals = model.presentation.proposals
        if proposals.isEmpty { return say("No proposal waits for approval.") }
        for proposal in proposals {
            let who = model.presentation.peer(proposal.by)?.name ?? "you"
            say(
                "\(proposal.id). \(model.words(of: proposal)), by \(who)\(proposal.messageText), "
                    + proposal.sentence { model.around.localTime($0) })
        }
        say("  :approve N, :refuse N or :withdraw N, and a message if you like.")
    }

    /// `:approve 12`: shows the change and asks.
    mutating func askForVote(_ vote: LiveModel.Vote, _ argument: String) {
        let words = argument.split(separator: " ", maxSplits: 1)
        guard let id = words.first.flatMap({ Int64($0) }),
            let proposal = model.presentation.proposals.first(where: { $0.id == id })
        else {
            return say("No: the number of a proposal, as :proposals lists them.")
        }
        let message = words.count > 1 ? String(words[1]) : ""
        model.askToVote(vote, proposal, message)
        say("\(vote.verb) \(model.words(of: proposal))\(proposal.messageText)? yes or no:")
    }

    /// The answer to that question.
    mutating func takeVote(
        _ line: String, _ vote: LiveModel.Vote, _ commands: inout [LiveCommand]
    ) {
        guard case .typed(let asked)? = model.question else { return }
        guard ["y", "yes"].contains(line.lowercased()) else {
            model.withdraw(asked)
            return say("Nothing is done.")
        }
        model.typedKey(KeyEvent(.enter), asked, &commands)
    }
}
