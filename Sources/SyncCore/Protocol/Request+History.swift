// The requests for what happened: `state.history`, `history.redact`, `state.explain`, `state.undo`
// and `state.redo`.

/// Params of `state.history`.
public struct StateHistory: Hashable, Sendable {
    public var form: String
    public var field: String?
    /// Only revisions before this one.
    public var before: Revision?
    /// The most entries.
    public var limit: Int64?

    /// A page of history.
    public init(
        form: String, field: String? = nil, before: Revision? = nil, limit: Int64? = nil
    ) {
        self.form = form
        self.field = field
        self.before = before
        self.limit = limit
    }
}

/// Params of `history.redact`.
public struct HistoryRedact: Hashable, Sendable {
    public var form: String
    /// The revision whose message is overwritten.
    public var revision: Revision
    /// Why it is overwritten: one line, which everybody who may read the form sees.
    public var message: String?

    /// Overwrites the message of one revision.
    public init(form: String, revision: Revision, message: String? = nil) {
        self.form = form
        self.revision = revision
        self.message = message
    }
}

/// Params of `state.explain`.
public struct StateExplain: Hashable, Sendable {
    public var form: String
    public var field: String
    /// Explain the field as it was at this revision; `nil` for now.
    public var at: Revision?

    /// Asks why a field has its value.
    public init(form: String, field: String, at: Revision? = nil) {
        self.form = form
        self.field = field
        self.at = at
    }
}

/// Params of `state.undo` and `state.redo`.
public struct StateUndo: Hashable, Sendable {
    public var form: String
    public var field: String?
    public var scope: Scope
    public var idempotencyKey: String?
    /// Why it is changed: one line, which everybody who may read the form sees.
    public var message: String?

    /// Whose transactions are undone.
    public enum Scope: String, CaseIterable, Hashable, Sendable {
        case mine, anyone
    }

    /// An undo, by default of one's own edits.
    public init(
        form: String, field: String? = nil, scope: Scope = .mine, idempotencyKey: String? = nil,
        message: String? = nil
    ) {
        self.form = form
        self.field = field
        self.scope = scope
        self.idempotencyKey = idempotencyKey
        self.message = message
    }
}
