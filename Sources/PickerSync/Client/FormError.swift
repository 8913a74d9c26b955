// Why something about a form did not happen: a closed list, each case with what a program needs.

internal import PickerClient
public import SyncCore

/// Why a form could not be opened, or an edit was not done.
public enum FormError: Error, Sendable {
    /// The declaration breaks a rule of forms; each issue names its place.
    case declaration(FormIssues)
    /// The daemon said no: `kind` says why, `message` says it to a person.
    case refused(WireError)
    /// The form on the daemon has no such field, or its value is none of the property's type.
    case mismatch(form: String, field: String, shown: JSON?)
    /// No daemon can be reached.
    case unreachable(reason: String)
    /// The peer is not a daemon that this library understands.
    case incompatible(reason: String)
    /// No answer came in time; the fate says what became of the request.
    case timedOut(RequestFate)
    /// The task was cancelled before an answer came; the fate says what became of the request.
    case cancelled(RequestFate)
    /// Another daemon, with another store, answers now. Edits were kept
    /// (``FormSession/keptEdits``); any other request was not sent to it.
    case otherReplica(RequestFate)
    /// The session or the client was closed; whether an edit under way was done is unknown.
    case closed
    /// The property belongs to no open form.
    case notOpen
}

extension FormError: CustomStringConvertible {
    /// One line for a person; several where a declaration has several issues. It may be printed on
    /// a terminal: what the daemon says is escaped.
    public var description: String {
        if case .declaration(let issues) = self { return issues.description }
        return line.cut(toBytes: Self.lineBytesMax).escapedForDisplay()
    }

    private static let lineBytesMax = 4 << 10

    private var line: String {
        switch self {
        case .declaration(let issues): issues.description
        case .refused(let error): error.message
        case .mismatch(let form, let field, nil): "\(form) has no control \(field)"
        case .mismatch(let form, let field, .some(let shown)):
            "\(form): \(field) shows \(shown.encodedText), which is not a value of the property"
        case .unreachable(let reason): reason
        case .incompatible(let reason): "the daemon is not understood: \(reason)"
        case .timedOut(let fate): "no answer in time; \(fate)"
        case .cancelled(let fate): "cancelled; \(fate)"
        case .otherReplica(let fate): "another daemon answers now; \(fate)"
        case .closed: "the session or its client is closed"
        case .notOpen: "the form is not open"
        }
    }
}

extension RequestFate: CustomStringConvertible {
    /// Half a line for a person.
    public var description: String {
        switch self {
        case .notSent: "nothing was sent"
        case .unknown: "outcome unknown: it was sent, and may have been done"
        case .pending(let edits): "\(edits) edits have no answer yet"
        }
    }
}

extension FormError {
    /// What a failure of the client below means for forms.
    init(_ failure: ClientFailure) {
        switch failure {
        case .refused(let error): self = .refused(error)
        case .incompatible(let error): self = .incompatible(reason: error.message)
        case .violation(let reason): self = .incompatible(reason: reason)
        case .timedOut: self = .timedOut(.unknown(nil))
        case .lost: self = .closed
        case .unreachable(.stranger(let path, let uid), _):
            self = .unreachable(
                reason: "the process that listens at \(path) is of uid \(uid), not your daemon")
        case .unreachable(.unsafeFolder(let folder), _):
            self = .unreachable(
                reason: "somebody else could have made \(folder.path): \(folder.words)")
        case .unreachable(_, let resolution):
            self = .unreachable(reason: "no daemon answers at \(resolution.path)")
        case .launch(let error, let resolution):
            self = .unreachable(
                reason: "no daemon could be started at \(resolution.path): \(error)")
        }
    }
}
