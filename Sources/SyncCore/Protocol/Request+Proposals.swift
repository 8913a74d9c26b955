// The params of the methods of proposals (PROTOCOL.md, Proposals).

/// What becomes of a change of a guarded field.
public enum GuardedEdit: Hashable, Sendable {
    /// It is refused with `approvalNeeded`.
    case refused
    /// It becomes a proposal: `propose: true`.
    case proposed
    /// It is made without approval, by those who may: `breakGlass: true`.
    case breaksGlass
}

/// Params of `proposal.list`.
public struct ProposalList: Hashable, Sendable {
    /// The form; `nil` for all that the sender may read.
    public var form: String?
    /// List those that have ended, not those that wait.
    public var ended: Bool

    /// Lists proposals.
    public init(form: String? = nil, ended: Bool = false) {
        self.form = form
        self.ended = ended
    }
}

/// Params of `proposal.approve`, `proposal.refuse` and `proposal.withdraw`.
public struct ProposalVote: Hashable, Sendable {
    public var form: String
    /// The number of the proposal.
    public var proposal: Int64
    /// Why: one line, which everybody who may read the form sees.
    public var message: String?
    /// The host of the proposal; `nil`: that of the daemon.
    public var host: String?

    /// A word about a proposal.
    public init(form: String, proposal: Int64, message: String? = nil, host: String? = nil) {
        self.form = form
        self.proposal = proposal
        self.message = message
        self.host = host
    }

    /// The same for the daemon of its host.
    var atHome: ProposalVote { ProposalVote(form: form, proposal: proposal, message: message) }
}

extension ProposalList {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.optionalName("form", bounds)
        ended = try reader.optionalBool("ended") ?? false
    }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        if ended { writer.member("ended", true) }
    }
}

extension ProposalVote {
    init(_ reader: inout ParamsReader, _ bounds: RequestBounds) throws(ParamsFault) {
        form = try reader.name("form", bounds)
        proposal = try reader.integer("proposal", in: 1 ... .max)
        message = try reader.message(bounds)
        host = try reader.optionalString("host", bytesMax: LinkSubject.nameBytesMax)
    }

    func encodeMembers(into writer: inout JSONWriter) {
        writer.member("form", form)
        writer.member("proposal", proposal)
        writer.member("message", message)
        writer.member("host", host)
    }
}

extension GuardedEdit {
    /// Reads `propose` and `breakGlass`.
    init(_ reader: inout ParamsReader) throws(ParamsFault) {
        self = .refused
        if reader.hasTakenAll { return }
        if try reader.flag("propose") { self = .proposed }
        guard try reader.flag("breakGlass") else { return }
        guard self == .refused else {
            throw ParamsFault("breakGlass", .shape("cannot be beside propose", expected: nil))
        }
        self = .breaksGlass
    }

    func encodeMember(into writer: inout JSONWriter) {
        switch self {
        case .refused: break
        case .proposed: writer.member("propose", true)
        case .breaksGlass: writer.member("breakGlass", true)
        }
    }
}
