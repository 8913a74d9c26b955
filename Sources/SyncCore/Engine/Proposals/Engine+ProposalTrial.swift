// What a proposal would do now, and doing it.

extension Engine {
    /// What a vote finds.
    enum Trial {
        /// It cannot be applied any more.
        case stale(FormProposal.Ended)
        /// These changes, which ask for the approval of these guards.
        case values(Transaction, guards: [Int])
        case definition(Redefinition, RevisionRecord.Kind, guards: [Int])

        var guards: [Int] {
            switch self {
            case .stale: []
            case .values(_, let guards), .definition(_, _, let guards): guards
            }
        }
    }

    /// Works out what a proposal would do now, with the rights of its proposer.
    ///
    /// - Throws: if it cannot be applied now but perhaps later: `busy`, `limit`, `unavailable`.
    func trial(of proposal: Proposal, _ form: LiveForm) throws(WireError) -> Trial {
        // What is known of rights during this request is of another peer.
        workspace.verdicts = [:]
        workspace.patternMeter.begin(configuration.limits.patternStepsMax)
        defer {
            workspace.verdicts = [:]
            workspace.patternMeter.end()
        }
        do throws(WireError) {
            switch proposal.wire.content {
            case .values(let changes, let lease):
                return try trial(of: proposal, changes, lease, form)
            case .definition(let definition):
                let params = FormApply(definition: definition)
                let change = try plan(params, by: proposal.proposer.peer)
                return try trial(of: proposal, change, .apply, form)
            case .options(let field, let options):
                let change = try plan(options, of: field, form, by: proposal.proposer.peer)
                return try trial(of: proposal, change, .options, form)
            }
        } catch {
            switch error.kind {
            case .busy, .limit, .unavailable, .internal: throw error
            default:
                return .stale(
                    FormProposal.Ended(
                        at: Timestamp(milliseconds: now.wallMilliseconds), why: error.message))
            }
        }
    }

    private func trial(
        of proposal: Proposal, _ changes: [FormProposal.Change], _ lease: LeaseEnd?,
        _ form: LiveForm
    ) throws(WireError) -> Trial {
        let state = form.working
        let definition = state.definition
        if let ended = moved(proposal.watched, since: proposal.basis, state) {
            return .stale(ended)
        }
        let peer = proposal.proposer.peer
        try require(.read, form, state, nil, peer)
        let transaction = Transaction(
            form, author: author(of: proposal), stamp: clocks.newStamp(), reading: clocks.read(),
            valuesMax: configuration.limits.valuesMax)
        transaction.lease = try lease.map { end throws(WireError) in try leaseEnd(end, "lease") }
        transaction.rareOrNew.runTerms = runTerms(proposal.wire.message)
        for id in proposal.named {
            let index = try index(of: id, form, state)
            let action: Change.Action = definition.types[index] == .button ? .press : .reset
            try requireEdit(action, form, state, index, peer)
            try requireMessage(proposal.wire.message, definition, index, form)
            if let end = transaction.lease {
                try requireLeaseMax(end, definition.targets[index], form)
            }
            transaction.named.append(index)
        }
        for change in changes {
            let index = try index(of: change.field, form, state)
            for action in change.actions {
                try apply(action, to: index, .present, transaction)
            }
        }
        try transaction.checkEnabled()
        try transaction.checkRuns()
        let guards = transaction.guardsMet()
        let ids = definition.controlsDeciding(guards).map { definition.controls[$0].id }
        if let ended = moved(ids, since: proposal.basis, state) { return .stale(ended) }
        return .values(transaction, guards: guards)
    }

    /// The end of a proposal if one of these fields has changed.
    private func moved(
        _ fields: [String], since basis: UInt64, _ state: FormState
    ) -> FormProposal.Ended? {
        for id in fields {
            guard let index = state.definition.index(of: id) else {
                return end(byChangeOf: nil, state)
            }
            if state.cells[index].revision > basis { return end(byChangeOf: index, state) }
        }
        return nil
    }

    private func trial(
        of proposal: Proposal, _ change: Redefinition, _ kind: RevisionRecord.Kind,
        _ form: LiveForm
    ) throws(WireError) -> Trial {
        guard change.form === form, form.working.version == proposal.version else {
            return .stale(end(byChangeOf: nil, form.working))
        }
        let guards = try guardsMet(by: change, author(of: proposal), proposal.wire.message)
        return .definition(change, kind, guards: guards)
    }

    private func author(of proposal: Proposal) -> Author {
        let by = proposal.wire.by
        return Author(
            user: by.user, uid: by.uid, client: by.client, tty: by.tty,
            connection: UInt64(clamping: by.connection), replica: replica, host: by.host
        ).withText()
    }

    /// Applies a proposal that everybody has approved. Returns the revision and the new runs.
    func apply(
        _ trial: Trial, _ proposal: Proposal, _ form: LiveForm
    ) throws(WireError) -> (UInt64, [RunRow]) {
        let (author, message) = (author(of: proposal), proposal.wire.message)
        let approval = RevisionRecord.Approval.proposal(
            proposal.id, by: proposal.wire.votes.map(\.by))
        switch trial {
        case .stale: return (form.working.revision, [])
        case .values(let transaction, _):
            transaction.approval = approval
            transaction.finish(.set, session: proposal.session, undoes: nil, skipped: [])
            publish(transaction, message)
            return (transaction.revision, transaction.rare?.runs ?? [])
        case .definition(let change, let kind, _):
            let result = try carryOut(
                change, kind, by: author, session: proposal.session, message: message,
                approval: approval
            ) { result in
                LogEntry(
                    .info,
                    "proposal \(proposal.wire.name) of \(author.user) applied: version "
                        + "\(result.version), revision \(result.revision)",
                    [
                        .event(.applied), .form(form.name),
                        LogEntry.Field(.version, "\(result.version)"),
                        LogEntry.Field(.revision, "\(result.revision)"),
                    ])
            }
            return (UInt64(clamping: result.revision), [])
        }
    }

    /// The guarded controls that another definition asks for approval of.
    func guardsMet(
        by change: Redefinition, _ author: Author, _ message: String?
    ) throws(WireError) -> [Int] {
        let form = change.form
        let before = form.working
        if change.isCreation || change.isIdle || before.definition.guards.isEmpty { return [] }
        let plan = change.migration
        _ = try redefine(change, plan, by: author, message, clocks.hybrid.last)
        defer { form.working = before }
        return before.guardsMet(by: form.working, plan)
    }

    /// Judges another definition. Returns how it is approved, or `nil` if it became a proposal.
    ///
    /// - Parameter content: What the proposal would be.
    func judge(
        _ change: Redefinition, _ guarded: GuardedEdit, _ message: String?,
        _ content: FormProposal.Content, _ call: PendingCall
    ) throws(WireError) -> GuardVerdict {
        let form = change.form
        let guards = try guardsMet(
            by: change, call.connection.author(of: form, replica: replica), message)
        if guards.isEmpty { return .unguarded }
        switch guarded {
        case .refused: throw approvalNeeded(guards, form)
        case .proposed:
            try requireWritable(form)
            try propose(content, guards, form, message, version: form.working.version, call)
            return .proposed
        case .breaksGlass:
            try requireBreakGlass(guards, form, message, call.connection.peer)
            return .brokenGlass(Set(guards.map { form.working.definition.controls[$0].id }))
        }
    }
}

/// What was decided about a change.
enum GuardVerdict {
    case unguarded
    /// It became a proposal, which was answered.
    case proposed
    /// It changes these guarded fields without approval.
    case brokenGlass(Set<String>)

    var approval: RevisionRecord.Approval? {
        if case .brokenGlass = self { .brokenGlass } else { nil }
    }
}

extension FormProposal.Change {
    fileprivate var actions: [SyncCore.Change.Action] {
        switch action {
        case .value(let value): [.value(value)]
        case .reset: [.reset]
        case .press(let count): Array(repeating: .press, count: Int(clamping: count))
        }
    }
}
