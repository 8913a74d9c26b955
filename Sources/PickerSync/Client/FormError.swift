// The errors of the library.

internal import PickerClient
public import SyncCore

/// Why a form could not be opened or an edit was not applied.
public enum FormError: Error, Sendable {
    /// The declaration is invalid; each issue names its place.
    case declaration(FormIssues)
    /// The daemon refused the request: `kind` says why, `message` is for people.
    case refused(WireError)
    /// The form on the daemon has no such field, or its value does not fit the type of the
    /// property.
    case mismatch(form: String, field: String, shown: JSON?)
    /// No daemon can be reached.
    case unreachable(reason: String)
    /// The peer is not a daemon that this library understands.
    case incompatible(reason: String)
    /// There was no answer in time; the fate says what is known of the request.
    case timedOut(RequestFate)
    /// The task was cancelled before there was an answer; the fate says what is known of the
    /// request.
    case cancelled(RequestFate)
    /// Another daemon, with another store, answers now. Edits were kept
    /// (``FormSession/keptEdits``); any other request was not sent to it.
    case otherReplica(RequestFate)
    /// The session or the client was closed; it is unknown whether a pending edit was applied.
    case closed
    /// The property belongs to no open form.
    case notOpen
}

extension FormError: CustomStringConvertible {
    /// One line for people, or one for each issue of a declaration. It is safe to print on a
    /// terminal: texts of the daemon are escaped.
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
    /// A short text for people.
    public var description: String {
        switch self {
        case .notSent: "nothing was sent"
        case .unknown: "outcome unknown: it was sent, and may have been done"
        case .pending(let edits): "\(edits) edits have no answer yet"
        }
    }
}

extension FormError {
    /// The error of a form for a failure of the blocking client.
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
