// The results and the notification of proposals: see Results.swift.

/// A proposal: the result of `state.set`, `form.apply` and `form.setOptions` with `propose`, of
/// `proposal.approve`, `proposal.refuse` and `proposal.withdraw`, and the params of the
/// notification `proposal.changed`.
public struct ProposalResult: Hashable, Sendable {
    public var proposal: FormProposal

    /// A proposal.
    public init(_ proposal: FormProposal) { self.proposal = proposal }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("form", proposal.form)
        writer.key("proposal")
        proposal.encode(into: &writer)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        let reader = try WireReader(json, "result")
        proposal = try FormProposal(decoding: try reader.value("proposal"))
    }
}

/// The result of `proposal.list`.
public struct ProposalListResult: Hashable, Sendable {
    /// Those that wait, oldest first, or those that have ended, newest first.
    public var proposals: [FormProposal]

    /// A list of proposals.
    public init(proposals: [FormProposal]) { self.proposals = proposals }

    /// Writes the object.
    public func encode(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("proposals")
        proposals.encode(into: &writer)
        writer.endObject()
    }

    /// Reads the object.
    public init(decoding json: JSON) throws(DecodeError) {
        proposals = try WireReader(json, "result").each("proposals") {
            json, path throws(DecodeError) in try FormProposal(decoding: json, path: path)
        }
    }
}

extension [FormProposal] {
    func encode(into writer: inout JSONWriter) {
        writer.beginArray()
        for proposal in self { proposal.encode(into: &writer) }
        writer.endArray()
    }
}
