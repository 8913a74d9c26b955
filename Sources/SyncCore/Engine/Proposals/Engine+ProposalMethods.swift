// The methods of `proposal`, and changes that become proposals: see `Engine+Proposals`.

extension Engine {
    // MARK: - Proposing values

    /// Judges a transaction of `state.set`.
    func judge(
        _ transaction: Transaction, _ params: StateSet, _ call: PendingCall
    ) throws(WireError) -> GuardVerdict {
        let (form, definition) = (transaction.form, transaction.definition)
        let guards = transaction.guardsMet()
        if guards.isEmpty { return .unguarded }
        switch params.guarded {
        case .refused: throw approvalNeeded(guards, form)
        case .proposed:
            try propose(transaction, guards, params, call)
            return .proposed
        case .breaksGlass:
            try requireBreakGlass(guards, form, params.message, call.peer)
            let changed = guards + transaction.written
            return .brokenGlass(Set(changed.map { definition.controls[$0].id }))
        }
    }

    /// Keeps a transaction as a proposal: with the values that it would set.
    func propose(
        _ transaction: Transaction, _ guards: [Int], _ params: StateSet, _ call: PendingCall
    ) throws(WireError) {
        let (form, definition) = (transaction.form, transaction.definition)
        let targets = Array(transaction.written).sortedDistinct()
        if let secret = targets.first(where: { definition.types[$0] == .secure }) {
            throw WireError(
                .invalidParams, "a secret cannot be proposed; set it apart from the others",
                form: form.name, field: definition.controls[secret].id, path: "propose")
        }
        if params.lease == .connection {
            throw WireError(
                .invalidParams, "a proposal cannot have a lease of this connection",
                form: form.name, path: "lease", expected: "seconds or until")
        }
        let deciding = definition.controlsDeciding(guards)
        let watched = (targets + deciding).sortedDistinct().filter {
            definition.types[$0] != .button
        }
        try requireSeen(deciding, transaction, params)
        try propose(
            .values(targets.map { transaction.proposedChange($0) }, lease: params.lease), guards,
            form, params.message,
            named: Array(transaction.named.sortedDistinct()).map { definition.controls[$0].id },
            watched: watched.map { definition.controls[$0].id }, call)
    }

    /// Refuses a proposal that is based on values which its proposer had not seen.
    private func requireSeen(
        _ deciding: [Int], _ transaction: Transaction, _ params: StateSet
    ) throws(WireError) {
        let (form, definition) = (transaction.form, transaction.definition)
        func isValue(_ index: Int) -> Bool { definition.types[index] != .button }
        let seen = try seen(params.context, form, path: "context")
        try requireCurrent(deciding, seen, transaction, form.working)
        for change in params.changes {
            guard let index = definition.index(of: change.field), isValue(index) else { continue }
            let own =
                try change.context.map { token throws(WireError) in
                    try self.seen(token, form, path: "context")
                } ?? seen
            try requireCurrent([index], own, transaction, form.working)
        }
    }

    // MARK: - Votes

    func proposalApprove(_ params: ProposalVote, _ call: PendingCall) throws(WireError) {
        if try passOn(params, .proposalApprove(params.atHome), call) { return }
        let (form, found) = try waiting(params, call)
        var proposal = found
        scheduler.spend(4 + form.subscriptionCount >> 4, call.connection.account)
        let trial = try self.trial(of: proposal, form)
        try requireVoter(call.peer, proposal, trial.guards, form)
        if case .stale(let ended) = trial {
            proposal.end(as: .stale, ended)
            save(proposal, of: form)
            return answerEdit(call, with: proposal.wire, of: form)
        }
        let author = call.author(of: form, replica: replica).wire
        let at = Timestamp(milliseconds: now.wallMilliseconds)
        let voter = Person(call.peer)
        if !proposal.hasVote(of: voter, users) {
            proposal.add(
                FormProposal.Vote(by: author, at: at, message: params.message), of: voter)
        }
        let rules = trial.guards.compactMap { form.working.definition.controls[$0].approval }
        let missing = rules.map {
            proposal.votesMissing(
                $0, users, owner: { owner(of: form, for: $0) }, daemonUID: configuration.daemonUID)
        }
        let needs = missing.max() ?? 0
        if needs > 0 {
            proposal.wait(for: needs)
            save(proposal, of: form)
            return answerEdit(call, with: proposal.wire, of: form)
        }
        let (revision, runs) = try apply(trial, proposal, form)
        proposal.end(
            as: .applied,
            FormProposal.Ended(
                at: at, by: author, message: params.message,
                revision: Revision(clamping: revision)))
        save(proposal, of: form)
        answerEdit(call, with: proposal.wire, of: form)
        notePresses(runs, of: form)
    }

    func proposalRefuse(_ params: ProposalVote, _ call: PendingCall) throws(WireError) {
        if try passOn(params, .proposalRefuse(params.atHome), call) { return }
        let (form, proposal) = try waiting(params, call)
        try requireVoter(call.peer, proposal, [], form)
        end(proposal, as: .refused, params, form, call)
    }

    func proposalWithdraw(_ params: ProposalVote, _ call: PendingCall) throws(WireError) {
        if try passOn(params, .proposalWithdraw(params.atHome), call) { return }
        let (form, proposal) = try waiting(params, call)
        guard Person(call.peer).isSameUser(as: proposal.proposer, users) else {
            throw forbidden(
                call.peer, "withdraw proposal \(proposal.wire.name)",
                AccessRule([.user(proposal.proposer.peer.user)]), form.name, nil)
        }
        end(proposal, as: .withdrawn, params, form, call)
    }

    private func end(
        _ found: Proposal, as state: ProposalState, _ params: ProposalVote, _ form: LiveForm,
        _ call: PendingCall
    ) {
        var proposal = found
        proposal.end(
            as: state,
            FormProposal.Ended(
                at: Timestamp(milliseconds: now.wallMilliseconds),
                by: call.author(of: form, replica: replica).wire,
                message: params.message))
        save(proposal, of: form)
        scheduler.spend(2 + form.subscriptionCount >> 4, call.connection.account)
        answerEdit(call, with: proposal.wire, of: form)
    }

    /// The proposal that a request names, if it waits.
    private func waiting(
        _ params: ProposalVote, _ call: PendingCall
    ) throws(WireError) -> (LiveForm, Proposal) {
        let form = try editableForm(params.form, call.connection)
        try require(.read, form, form.working, nil, call.peer)
        try requireWritable(form)
        guard let proposal = form.proposals?.proposal(params.proposal, of: form.working),
            !isForgotten(proposal)
        else {
            throw WireError(
                .notFound,
                "no proposal \(params.proposal) in form \(form.name); see pickerctl proposals",
                form: form.name, path: "proposal")
        }
        guard let ended = proposal.wire.ended else { return (form, proposal) }
        let state = proposal.wire.state.rawValue
        throw .over(
            "proposal", state, by: ended.by?.user, at: ended.at,
            "proposal \(proposal.wire.name) is \(state)\(ended.why.map { ": \($0)" } ?? "")",
            form: form.name, ("why", ended.why.map { .string($0) }))
    }

    /// Who is one person among those of several hosts.
    private var users: LinkConfiguration.Users { configuration.link?.users ?? .apart }

    /// Refuses a vote that does not count: of the proposer, or of somebody whom no guard names.
    private func requireVoter(
        _ peer: Peer, _ proposal: Proposal, _ guards: [Int], _ form: LiveForm
    ) throws(WireError) {
        let definition = form.working.definition
        let name = proposal.wire.name
        try requireKnownLogin(peer, form)
        guard !Person(peer).isSame(as: proposal.proposer, users) else {
            let proposer = proposal.proposer.peer.user
            throw WireError(
                .forbidden,
                ("\(proposer) proposed \(name), so this vote does not count; "
                    + "somebody else must approve or refuse it").escapedForDisplay(),
                form: form.name)
        }
        let asked = guards + proposal.wire.fields.compactMap(definition.index)
        let rules = asked.compactMap { definition.controls[$0].approval }
        let isNamed = rules.contains {
            $0.from.names(
                peer, owner: owner(of: form, for: peer), daemonUID: configuration.daemonUID)
        }
        if isNamed { return }
        let isAnyone = rules.contains { $0.from.principals.contains(.anyone) }
        throw forbidden(
            peer, "approve or refuse proposal \(name)", rules.first?.from, form.name,
            proposal.wire.fields.first,
            because: isAnyone
                ? "approval.from does not name \(peer.user), and anyone is everybody but root and "
                    + "the daemon's user" : nil)
    }

    // MARK: - Reading

    func proposalList(_ params: ProposalList, _ call: PendingCall) throws(WireError) {
        let peer = call.connection.peer
        let named: [LiveForm]
        if let name = params.form {
            named = [try readableForm(name, call.peer)]
        } else {
            scheduler.spend(forms.count >> 2, call.connection.account)
            named = forms.filter { $0.isReadable && mayRead($0, peer) }
        }
        var proposals: [FormProposal] = []
        var others: [FormProposal] = []
        for form in named {
            if !params.ended { others += proposalsElsewhere(form) }
            proposals +=
                params.ended
                ? form.endedProposals(of: form.committed).filter { !isForgotten($0) }.map(\.wire)
                : form.waitingProposals(of: form.committed).map(\.wire)
        }
        proposals.sort { left, right in
            guard let first = left.ended?.at, let second = right.ended?.at else {
                return left.id < right.id
            }
            return (first.milliseconds, left.id) > (second.milliseconds, right.id)
        }
        let result = ProposalListResult(proposals: proposals, others: others)
        answer(call) { result.encode(into: &$0) }
    }

    /// The proposals that wait, for the answer to a subscription; `nil` if nothing is guarded.
    func waitingProposals(of form: LiveForm) -> [FormProposal]? {
        let waiting = form.waitingProposals(of: form.committed)
        if waiting.isEmpty, form.committed.definition.guards.isEmpty { return nil }
        return waiting.map(\.wire)
    }
}

extension Transaction {
    /// The change of a written control, worked out to a value.
    fileprivate func proposedChange(_ index: Int) -> FormProposal.Change {
        let id = definition.controls[index].id
        let content = content(index)
        if definition.types[index] == .button {
            func presses(_ value: JSON) -> Int64 { value["presses"]?.integerValue ?? 0 }
            let count = presses(content.value) - presses(form.working.value(index))
            return FormProposal.Change(field: id, .press(count))
        }
        let shown = definition.shown(index) { value($0) }.value
        return FormProposal.Change(
            field: id, content.isSet ? .value(shown) : .reset,
            was: form.working.shown(index).value)
    }
}
