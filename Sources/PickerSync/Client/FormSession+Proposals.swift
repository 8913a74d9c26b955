// Changes that need the approval of others.

public import SyncCore
internal import Synchronization

extension FormSession {
    /// The proposals that wait for approval, oldest first. ``events`` tells of each change of one
    /// with ``FormEvent/proposal(_:)``.
    public var proposals: [FormProposal] { feed.state.withLock { $0.proposals } }

    /// Proposes everything that `edits` writes to the form as one transaction. Properties keep
    /// their values until the others agree. What nobody guards is set at once.
    ///
    ///     let proposal = try await session.propose("INC-231") { values.traffic = 50 }
    ///
    /// - Parameters:
    ///   - message: why: one line, which everybody who may read the form sees.
    ///   - end: when the values end by themselves; the time begins when the proposal is applied.
    ///   - timeout: how long to wait for the daemon's answer, not for the votes; by default
    ///     ``ConnectionOptions/answerSeconds``.
    ///   - edits: writes to properties of the form. If it throws, nothing is sent and its error is
    ///     thrown.
    /// - Returns: the proposal; `nil` if nothing needs approval, and the edits were made.
    /// - Throws: the error of `edits`, or a ``FormError``.
    @discardableResult
    public func propose(
        _ message: String? = nil, ends end: ValueEnd? = nil, timeout: Duration? = nil,
        _ edits: () throws -> Void
    ) async throws -> FormProposal? {
        let terms = EditTerms(message: message, end: end, guarded: .proposed)
        return try Self.proposal(in: await send(edits, terms, timeout))
    }

    /// The proposal that an edit became; `nil` if it was made.
    static func proposal(in answer: JSON) throws(FormError) -> FormProposal? {
        guard answer["proposal"] != nil else { return nil }
        return try decoded(answer, ProposalResult.init(decoding:)).proposal
    }

    /// Makes the edits without the approval of others, as those may whom `breakGlass` of the
    /// controls names. The daemon logs it, and proposals that wait for these controls end.
    ///
    /// - Parameters:
    ///   - message: why: one line, which everybody who may read the form sees.
    ///   - end: when the values end by themselves.
    ///   - timeout: how long to wait for the answer; by default
    ///     ``ConnectionOptions/answerSeconds``.
    ///   - edits: writes to properties of the form.
    /// - Throws: the error of `edits`, or a ``FormError``.
    public func breakGlass(
        _ message: String, ends end: ValueEnd? = nil, timeout: Duration? = nil,
        _ edits: () throws -> Void
    ) async throws {
        let terms = EditTerms(message: message, end: end, guarded: .breaksGlass)
        _ = try await send(edits, terms, timeout)
    }

    private func send(
        _ edits: () throws -> Void, _ terms: EditTerms, _ timeout: Duration?
    ) async throws -> JSON {
        if let end = attachment.end { throw end }
        let gathered = try feed.gather(edits).edits
        if gathered.isEmpty { return .null }
        return try await feed.machine.answer(timeout: timeout) { [feed] call in
            feed.send(gathered, terms, call: call.id) { call.finish($0) }
        }
    }

    /// Approves a proposal of somebody else. The last vote that is needed makes its changes.
    ///
    /// - Parameters:
    ///   - proposal: its number, ``FormProposal/id``.
    ///   - message: why: one line, which everybody who may read the form sees.
    /// - Returns: the proposal: it waits for others, is applied, or is stale because what it was
    ///   based on has changed.
    /// - Throws: ``FormError/refused(_:)`` with `conflict` if it has ended, with `forbidden` if
    ///   this user's vote does not count.
    @discardableResult
    public func approve(
        _ proposal: Int64, message: String? = nil
    ) async throws(FormError) -> FormProposal {
        try await vote(.proposalApprove(word(proposal, message)))
    }

    /// Refuses a proposal of somebody else, which ends it.
    ///
    /// - Parameters:
    ///   - proposal: its number, ``FormProposal/id``.
    ///   - message: why: one line, which everybody who may read the form sees.
    @discardableResult
    public func refuse(
        _ proposal: Int64, message: String? = nil
    ) async throws(FormError) -> FormProposal {
        try await vote(.proposalRefuse(word(proposal, message)))
    }

    /// Takes back a proposal of this program's user.
    ///
    /// - Parameters:
    ///   - proposal: its number, ``FormProposal/id``.
    ///   - message: why: one line, which everybody who may read the form sees.
    @discardableResult
    public func withdraw(
        _ proposal: Int64, message: String? = nil
    ) async throws(FormError) -> FormProposal {
        try await vote(.proposalWithdraw(word(proposal, message)))
    }

    /// What became of the proposals that have ended: the newest 100 of the last seven days, newest
    /// first.
    public func endedProposals() async throws(FormError) -> [FormProposal] {
        let request = Request.proposalList(ProposalList(form: name, ended: true))
        return try decoded(await ask(request), ProposalListResult.init(decoding:)).proposals
    }

    private func word(_ proposal: Int64, _ message: String?) -> ProposalVote {
        ProposalVote(form: name, proposal: proposal, message: message)
    }

    private func vote(_ request: Request) async throws(FormError) -> FormProposal {
        try decoded(await ask(request), ProposalResult.init(decoding:)).proposal
    }
}
