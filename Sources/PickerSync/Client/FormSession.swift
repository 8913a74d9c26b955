// What a program holds of a form that it opened.

public import SyncCore
internal import Synchronization

/// An open form.
///
/// Each call of ``FormClient/open(_:applying:presence:timeout:)`` gives a session of its own,
/// also for a form that the program has open already: the form is followed until the last of them
/// is closed. A session holds its ``FormClient``; the properties of the form do not, so keep one of
/// the two. It stays open until ``close()`` or the end of its client.
///
/// After that every method of the session and every edit that can be awaited throws
/// ``FormError/closed``. Properties keep what they showed last; an assignment to one of them
/// changes nothing and is reported to the client's log.
public final class FormSession: Sendable {
    let attachment: FormAttachment
    /// Keeps the client while somebody holds the session.
    private let client: (any AnyObject & Sendable)?

    init(_ attachment: FormAttachment, client: (any AnyObject & Sendable)? = nil) {
        self.attachment = attachment
        self.client = client
    }

    var feed: FormFeed { attachment.feed }

    /// The form's name.
    public var name: String { feed.name }

    /// The newest revision that was told.
    public var revision: Int64 { feed.state.withLock { $0.revision } }

    /// Whether the daemon is there; without it the form shows what it was last and takes edits.
    public var isOnline: Bool {
        attachment.end == nil && feed.state.withLock { $0.isOnline && $0.isOpen }
    }

    /// Who has the form open, where presence was asked for.
    public var peers: [FormPeer] { feed.state.withLock { $0.peers } }

    /// The revisions of the form from now on.
    public var changes: FormChanges { FormChanges(attachment: attachment) }

    /// Everything that the form tells from now on.
    public var events: FormEvents { FormEvents(attachment: attachment) }

    /// Ends this session. The form is followed until the last session of it is closed.
    public func close() {
        attachment.close()
    }

    // MARK: Edits

    /// Sends everything that `edits` writes to the form as one revision: all of it is done, or
    /// none.
    ///
    /// - Parameters:
    ///   - requireCurrent: refuse it where somebody changed one of the fields unseen by this
    ///     program.
    ///   - timeout: how long to wait for the answer; by default as long as the client's options
    ///     say.
    ///   - edits: writes to properties of the form; what it writes to others goes as always. Where
    ///     it throws, nothing is sent and its error is thrown.
    /// - Returns: what `edits` returns.
    /// - Throws: the error of `edits`, or a ``FormError``.
    @discardableResult
    public func transaction<Value>(
        requireCurrent: Bool = false, timeout: Duration? = nil, _ edits: () throws -> Value
    ) async throws -> Value {
        if let end = attachment.end { throw end }
        let (value, gathered) = try feed.gather(edits)
        try await feed.machine.answer(timeout: timeout) { [feed] call in
            feed.send(gathered, requireCurrent: requireCurrent, call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
        return value
    }

    /// Takes back this program's user's last transaction.
    ///
    /// - Parameter scope: whose transactions count.
    /// - Returns: fields that were left alone since somebody has changed them again.
    @discardableResult
    public func undo(scope: UndoScope = .mine) async throws(FormError) -> [String] {
        try feed.take(await ask(.stateUndo(scope.request(name))))
    }

    /// Does again what ``undo(scope:)`` took back.
    @discardableResult
    public func redo(scope: UndoScope = .mine) async throws(FormError) -> [String] {
        try feed.take(await ask(.stateRedo(scope.request(name))))
    }

    // MARK: Questions

    /// Who changed what, newest first.
    ///
    /// - Parameters:
    ///   - field: the id of one control; `nil` for all.
    ///   - before: only revisions below this one.
    ///   - limit: how many entries at most.
    public func history(
        of field: String? = nil, before: Int64? = nil, limit: Int = 50
    ) async throws(FormError) -> HistoryPage {
        let request = StateHistory(
            form: name, field: field, before: before, limit: Int64(limit))
        return try HistoryPage(answer: await ask(.stateHistory(request)))
    }

    /// The fields that were set by several people at once, each with the values that they set, in
    /// the order of their ids. Setting a field settles its conflict.
    public var conflicts: [FieldConflict] {
        let fields = feed.state.withLock { $0.fields }
        return fields.sorted { $0.key < $1.key }.compactMap { id, state in
            state.conflict.isEmpty ? nil : FieldConflict(field: id, state: state)
        }
    }

    private func ask(_ request: Request) async throws(FormError) -> JSON {
        if let end = attachment.end { throw end }
        return try await feed.machine.ask(request, timeout: nil)
    }
}

/// A field that several people set at the same time.
public struct FieldConflict: Sendable, Hashable {
    /// The id of the control.
    public let field: String
    /// What it shows now, and the values that it shows instead of.
    public let state: FieldState

    /// The other values, each with who set it and when.
    public var siblings: [Sibling] { state.conflict }
}
