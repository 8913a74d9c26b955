/// The kind of an error, for programs: `error.data.kind` (PROTOCOL.md, Errors).
public enum ErrorKind: String, CaseIterable, Hashable, Sendable {
    /// The frame is not JSON or not UTF-8.
    case parse
    /// JSON, but not a JSON-RPC request.
    case invalidRequest
    /// A length of 0 or beyond the largest frame. The connection is closed.
    case frameTooLarge
    case methodNotFound
    /// A missing, mistyped or unknown member of `params`.
    case invalidParams
    /// An error of the daemon.
    case `internal`
    /// The form or field does not exist.
    case notFound
    /// Outside the control's domain.
    case invalidValue
    /// The sender has not seen the current value and asked not to overwrite it.
    case conflict
    /// The peer does not have permission.
    case forbidden
    /// A limit of the peer or the daemon.
    case limit
    /// The control is disabled or locked.
    case disabled
    /// The store cannot write.
    case unavailable
    /// Another major version was requested. The connection is closed.
    case unsupportedProtocol
    /// The change needs the approval of others.
    case approvalNeeded
    /// A button handles one press at a time, and one waits or runs.
    case busy

    /// `error.code` of JSON-RPC.
    public var code: Int {
        switch self {
        case .parse: -32700
        case .invalidRequest, .frameTooLarge: -32600
        case .methodNotFound: -32601
        case .invalidParams: -32602
        case .internal: -32603
        case .notFound: -32001
        case .invalidValue: -32002
        case .conflict: -32003
        case .forbidden: -32004
        case .limit: -32005
        case .disabled: -32006
        case .unavailable: -32007
        case .unsupportedProtocol: -32008
        case .approvalNeeded: -32009
        case .busy: -32010
        }
    }

    /// The kind for a code if the peer's `data.kind` is missing or unknown.
    public init(code: Int) {
        self = Self.allCases.first { $0.code == code } ?? .internal
    }
}
