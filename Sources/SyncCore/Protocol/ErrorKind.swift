/// What went wrong with a request, for a program: `error.data.kind` (PROTOCOL.md, Errors).
public enum ErrorKind: String, CaseIterable, Hashable, Sendable {
    /// The frame is not JSON or not UTF-8.
    case parse
    /// JSON, but no request of JSON-RPC.
    case invalidRequest
    /// A length of 0 or over the largest frame; the connection closes.
    case frameTooLarge
    case methodNotFound
    /// A missing, mistyped or unknown member of `params`.
    case invalidParams
    /// The daemon's fault.
    case `internal`
    /// No such form or field.
    case notFound
    /// Outside the control's domain.
    case invalidValue
    /// The sender is stale, and asked not to overwrite what it has not seen.
    case conflict
    /// The peer may not.
    case forbidden
    /// A quota of the peer or the daemon.
    case limit
    /// The control is disabled or locked.
    case disabled
    /// The store cannot write.
    case unavailable
    /// Another major version was asked for; the connection closes.
    case unsupportedProtocol

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
        }
    }

    /// Whether the daemon closes the connection once the answer is written.
    public var closesConnection: Bool { self == .frameTooLarge || self == .unsupportedProtocol }

    /// The kind that a code stands for where a peer's `data.kind` is missing or new to us.
    public init(code: Int) {
        self = Self.allCases.first { $0.code == code } ?? .internal
    }
}
