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

    /// A list of proposals.
    public init(proposals: [FormProposal]) { self.proposals = proposals }

    package func encodeMembers(into writer: inout JSONWriter) {
        writer.member("proposals", proposals)
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        proposals = try WireReader(json, "result").objects("proposals")
    }
}
