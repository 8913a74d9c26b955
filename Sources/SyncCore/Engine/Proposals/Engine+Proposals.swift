// Proposals: how they begin, wait and end. See `Proposal`.
//
// Invariants: a proposal changes nothing before its last vote. That vote and the revision are in
// one commit. Subscribers are told of a change of a proposal when it is committed.

extension Engine {
    // MARK: - Guards

    /// Refuses a change of what is guarded, with what to do instead.
    func requireApproval(
        _ transaction: Transaction, _ instead: String = "propose it"
    ) throws(WireError) {
        let guards = transaction.guardsMet()
        if !guards.isEmpty { throw approvalNeeded(guards, transaction.form, instead) }
    }

    /// The most guarded fields that an error names.
    private static var guardsNamedMax: Int { 100 }

    func approvalNeeded(
        _ guards: [Int], _ form: LiveForm, _ instead: String = "propose it"
    ) -> WireError {
        let definition = form.working.definition
        let ids = guards.map { definition.controls[$0].id }
        let rules = guards.compactMap { definition.controls[$0].approval }
        var error = WireError(
            .approvalNeeded,
            ("\(ids.prefix(8).joined(separator: ", ")): this change needs the approval of "
                + "\(rules.first?.from.approvers ?? ""); \(instead)").escapedForDisplay(),
            form: form.name, field: ids.first)
        error.approval = zip(ids, rules).prefix(Self.guardsNamedMax).map { id, rule in
            NeededApproval(
                field: id, from: rule.from.principals.map(\.description), count: Int64(rule.count),
                within: rule.withinMilliseconds / 1_000)
        }
        return error
    }

    /// Refuses somebody who may not change these fields without approval; writes the audit entry
    /// for one who may.
    func requireBreakGlass(
        _ guards: [Int], _ form: LiveForm, _ message: String?, _ peer: Peer
    ) throws(WireError) {
        let definition = form.working.definition
        for index in guards {
            guard let rule = definition.controls[index].approval,
                rule.breakGlass.permits(peer, owner: owner(of: form, for: peer))
            else {
                let id = definition.controls[index].id
                throw forbidden(
                    peer, "change \(form.name)/\(id) without approval",
                    definition.controls[index].approval?.breakGlass, form.name, id)
            }
        }
        guard let message else {
            throw WireError(
                .invalidParams, "a change without approval needs a message that says why",
                form: form.name, field: guards.first.map { definition.controls[$0].id },
                needs: "message")
        }
        let ids = guards.map { definition.controls[$0].id }
        try audit(
            form.name,
            LogEntry(
                .warning,
                "glass broken: \(peer.whom) changes \(form.name)/\(ids.joined(separator: ", ")) "
                    + "without approval: \(message)",
                [.event(.brokenGlass), .form(form.name)] + ids.map { .field($0) }
                    + peer.logFields))
    }

    // MARK: - The beginning

    /// Keeps a change as a proposal and answers the request.
    func propose(
        _ content: FormProposal.Content, _ guards: [Int], _ form: LiveForm, _ message: String?,
        version: UInt64? = nil, named: [String] = [], watched: [String] = [], _ call: PendingCall
    ) throws(WireError) {
        let definition = form.working.definition
        try requireKnownLogin(call.peer, form)
        let rules = guards.compactMap { definition.controls[$0].approval }
        try requireProposalLimits(form, call.peer)
        let within = rules.map(\.withinMilliseconds).min() ?? ApprovalRule.withinDefault
        let id = registry.newProposalNumber()
        let wire = FormProposal(
            id: id, form: form.name, by: call.author(of: form, replica: replica).wire,
            at: Timestamp(milliseconds: now.wallMilliseconds),
            until: Timestamp(milliseconds: now.wallMilliseconds &+ within), message: message,
            content: content, fields: guards.map { definition.controls[$0].id },
            needs: Int64(rules.map(\.count).max() ?? 1))
        let proposal = Proposal(
            wire, by: Person(call.peer), session: call.session,
            until: clocks.steadyMilliseconds() &+ within, basis: form.working.revision,
            version: version, named: named, watched: watched)
        try requireProposalBytes(proposal, form)
        if let row = registry.proposalNumberRow {
            link.gathering.chores.append(.putOngoing(row))
        }
        save(proposal, of: form)
        setDeadline(proposal.name, of: form, at: proposal.until)
        scheduler.spend(2 + form.subscriptionCount >> 4, call.connection.account)
        answerEdit(call, with: wire, of: form)
    }

    /// Refuses a person of whom it is not known whether they are somebody else after sudo(8).
    func requireKnownLogin(_ peer: Peer, _ form: LiveForm) throws(WireError) {
        if peer.identity.isLoginKnown { return }
        throw WireError(
            .forbidden,
            "the process that connected has ended, so the user who logged in is not known; "
                + "propose and vote from the process that connects",
            form: form.name)
    }

    private func requireProposalLimits(_ form: LiveForm, _ peer: Peer) throws(WireError) {
        let limits = configuration.limits
        guard form.waitingProposals(of: form.working).count < limits.proposalsMax else {
            throw .limit(
                "proposalsMax", max: limits.proposalsMax,
                "\(limits.proposalsMax) proposals of form \(form.name) wait already "
                    + "(proposalsMax); approve or refuse some first")
        }
        let user = environment.accountUID(peer.uid)
        let own = forms.reduce(0) { sum, form in
            sum
                + form.waitingProposals(of: form.working).count {
                    environment.accountUID($0.proposer.peer.uid) == user
                }
        }
        guard own < limits.proposalsPerUserMax else {
            throw .limit(
                "proposalsPerUserMax", max: limits.proposalsPerUserMax,
                "\(limits.proposalsPerUserMax) proposals of yours wait already "
                    + "(proposalsPerUserMax); withdraw some first")
        }
    }

    private func requireProposalBytes(_ proposal: Proposal, _ form: LiveForm) throws(WireError) {
        let max = configuration.limits.proposalBytes
        let bytes = form.waitingProposals(of: form.working).reduce(proposal.bytes) {
            $0 + $1.bytes
        }
        guard bytes > max else { return }
        throw .limit(
            "proposalBytesMax", max: max,
            "the proposals of form \(form.name) that wait take \(bytes) bytes with this one, and "
                + "at most \(max) (proposalBytesMax); propose less at once")
    }

    /// Keeps a change of a proposal. Its subscribers are told when it is committed.
    func save(_ proposal: Proposal, of form: LiveForm) {
        let proposals = form.proposals ?? FormProposals()
        form.proposals = proposals
        note(proposal.encoded, as: proposal.name, of: form)
        if proposal.wire.state.isFinal {
            setDeadline(proposal.name, of: form, at: nil)
            dropEnded(of: form)
        }
        let event = OpenBatch.Event.proposal(form, proposal.id)
        if configuration.durability == .commit {
            link.gathering.events.append(event)
        } else {
            makeVisible(event)
        }
    }

    /// Forgets proposals that ended long ago, or before many others.
    private func dropEnded(of form: LiveForm) {
        let limits = configuration.limits
        var (count, bytes) = (0, 0)
        for proposal in form.endedProposals(of: form.working) {
            count += 1
            bytes += proposal.bytes
            guard
                count > limits.proposalsEndedMax || bytes > limits.proposalBytes
                    || isForgotten(proposal)
            else { continue }
            note(nil, as: proposal.name, of: form)
            form.proposals?.forget(proposal.id)
        }
    }

    /// Whether a proposal ended so long ago that it is not shown any more.
    func isForgotten(_ proposal: Proposal) -> Bool {
        let days = Int64(configuration.limits.proposalDaysMax) * 86_400_000
        return proposal.endedAt < now.wallMilliseconds &- days
    }

    // MARK: - The end

    /// Proposals expire whose deadlines have passed.
    func expireProposals(_ ids: [String], of form: LiveForm) {
        let time = clocks.steadyMilliseconds()
        for id in ids.compactMap({ Int64($0) }).sorted() {
            guard var proposal = form.proposals?.proposal(id, of: form.working),
                !proposal.wire.state.isFinal
            else { continue }
            guard proposal.until <= time else {
                setDeadline(proposal.name, of: form, at: proposal.until)
                continue
            }
            proposal.end(
                as: .expired,
                FormProposal.Ended(at: Timestamp(milliseconds: now.wallMilliseconds)))
            save(proposal, of: form)
        }
    }

    /// After a change without approval, proposals that are based on its fields end.
    func endProposals(_ verdict: GuardVerdict, of form: LiveForm) {
        guard case .brokenGlass(let fields) = verdict else { return }
        for var proposal in form.waitingProposals(of: form.working) {
            let fields = (proposal.watched + proposal.wire.fields).filter(fields.contains)
            guard !fields.isEmpty else { continue }
            let index = fields.lazy.compactMap(form.working.definition.index).first
            proposal.end(as: .stale, end(byChangeOf: index, form.working))
            save(proposal, of: form)
        }
    }

    func end(byChangeOf index: Int?, _ state: FormState) -> FormProposal.Ended {
        var ended = FormProposal.Ended(at: Timestamp(milliseconds: now.wallMilliseconds))
        guard let index, let by = state.cells[index].by else {
            ended.why = "the form has another definition"
            return ended
        }
        let id = state.definition.controls[index].id
        let value = state.shown(index).value
        let text = (value.stringValue ?? value.encodedText).cut(toBytes: 100)
        ended.by = by.wire
        ended.why =
            (state.cells[index].isSet || state.definition.types[index] == .button
            ? "\(by.user) set \(id) to \(text)" : "\(by.user) reset \(id)").escapedForDisplay()
        return ended
    }

    // MARK: - Failures and restarts

    /// Sets the deadlines of all proposals of a form: after a start or a failed batch.
    func armProposals(of form: LiveForm) {
        for proposal in form.waitingProposals(of: form.working) {
            setDeadline(proposal.name, of: form, at: proposal.until)
        }
    }

    /// Checks the proposals of a form that the store has.
    func restoreProposals(of form: LiveForm, _ state: FormState) throws(EngineStartError) {
        let rows = state.ongoing.rows(ofKind: Proposal.kind)
        if rows.isEmpty { return }
        form.proposals = FormProposals()
        for (id, bytes) in rows {
            do { _ = try Proposal(decoding: bytes) } catch {
                throw EngineStartError(
                    "proposal \(id) of form \(form.name) cannot be read: \(error)")
            }
        }
    }
}

extension Proposal {
    var bytes: Int { JSONWriter.bytes { wire.encode(into: &$0) }.count }
}

extension Limits {
    /// Bytes of the proposals of a form that wait. They are in one answer, beside the values.
    var proposalBytes: Int { min(proposalBytesMax, maxFrame / 4) }
}
