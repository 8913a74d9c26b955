// The results and the notification of proposals: see Results.swift.

/// A proposal: the result of `state.set`, `form.apply` and `form.setOptions` with `propose`, of
/// `proposal.approve`, `proposal.refuse` and `proposal.withdraw`, and the params of the
/// notification `proposal.changed`.
public struct ProposalResult: Hashable, Sendable, WireObject {
    public var proposal: FormProposal

    /// A proposal.
    public init(_ proposal: FormProposal) { self.proposal = proposal }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", proposal.form)
        writer.member("proposal", proposal)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        proposal = try FormProposal(decoding: try reader.value("proposal"))
    }
}

/// The result of `proposal.list`.
public struct ProposalListResult: Hashable, Sendable, WireObject {
    /// Those that wait, oldest first, or those that have ended, newest first.
    public var proposals: [FormProposal]
    /// Those that wait on other hosts. Their numbers are of their hosts.
    public var others: [FormProposal]

    /// A list of proposals.
    public init(proposals: [FormProposal], others: [FormProposal] = []) {
        self.proposals = proposals
        self.others = others
    }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("proposals", proposals)
        if !others.isEmpty { writer.member("others", others) }
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        proposals = try reader.objects("proposals")
        others = try reader.list("others")
    }
}
