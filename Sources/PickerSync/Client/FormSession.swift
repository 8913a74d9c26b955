// A form that the program has opened.

public import SyncCore
internal import Synchronization

/// An open form.
///
/// Each call of ``FormClient/open(_:applying:presence:timeout:)`` gives a session of its own, also
/// for a form that the program has open already: the form is followed until the last of them is
/// closed. A session keeps its ``FormClient`` alive; the properties of the form do not, so keep the
/// session or the client. It stays open until ``close()`` or the end of its client.
///
/// After that every method of the session and every edit that can be awaited throws
/// ``FormError/closed``. Properties keep their last values; an assignment to one of them has no
/// effect, and the client's log reports it.
public final class FormSession: Sendable {
    let attachment: FormAttachment
    /// Keeps the client alive.
    private let client: (any AnyObject & Sendable)?

    init(_ attachment: FormAttachment, client: (any AnyObject & Sendable)? = nil) {
        self.attachment = attachment
        self.client = client
    }

    var feed: FormFeed { attachment.feed }

    /// The form's name.
    public var name: String { feed.name }

    /// The newest revision that has arrived.
    public var revision: Int64 { feed.state.withLock { $0.replica.revision ?? 0 } }

    /// Whether there is a connection to the daemon. Without one, the form shows its last values and
    /// accepts edits.
    public var isOnline: Bool {
        attachment.end == nil && feed.state.withLock { $0.isOnline && $0.isOpen }
    }

    /// The people who have the form open, if presence was requested.
    public var peers: [FormPeer] {
        feed.state.withLock { $0.replica.peers }.map { FormPeer($0) }
    }

    /// The revisions of the form from now on.
    public var changes: FormChanges { FormChanges(attachment: attachment) }

    /// All events of the form from now on.
    public var events: FormEvents { FormEvents(attachment: attachment) }

    /// Ends this session. The form is followed until the last session of it is closed.
    public func close() {
        attachment.close()
    }

    // MARK: Edits

    /// Sends everything that `edits` writes to the form as one transaction: all edits are applied,
    /// or none.
    ///
    ///     try await session.transaction("load test", ends: .after(.seconds(3_600))) {
    ///         values.traffic = 20
    ///     }
    ///
    /// - Parameters:
    ///   - message: why: one line, which everybody who may read the form sees.
    ///   - requireCurrent: refuse all edits if somebody has changed one of the fields and this
    ///     program has not read the change.
    ///   - end: when the values end by themselves; `nil` for never, or for the `leaseMax` of their
    ///     controls.
    ///   - timeout: how long to wait for the answer; by default
    ///     ``ConnectionOptions/answerSeconds``.
    ///   - edits: writes to properties of the form; its writes to other forms are sent as always.
    ///     If it throws, nothing is sent and its error is thrown.
    /// - Returns: what `edits` returns.
    /// - Throws: the error of `edits`, or a ``FormError``.
    @discardableResult
    public func transaction<Value>(
        _ message: String? = nil, requireCurrent: Bool = false, ends end: ValueEnd? = nil,
        timeout: Duration? = nil, _ edits: () throws -> Value
    ) async throws -> Value {
        if let end = attachment.end { throw end }
        let (value, gathered) = try feed.gather(edits)
        let terms = EditTerms(message: message, end: end)
        try await feed.machine.answer(timeout: timeout) { [feed] call in
            feed.send(gathered, requireCurrent: requireCurrent, terms, call: call.id) {
                call.finish($0.map { .failure($0) } ?? .success(()))
            }
        }
        return value
    }

    /// Changes when a value ends that ends by itself.
    ///
    /// - Parameters:
    ///   - field: the id of its control.
    ///   - change: what happens to the end. A later end takes what setting the value takes.
    ///   - message: why: one line, which everybody who may read the form sees.
    /// - Throws: ``FormError/refused(_:)`` with `conflict` if the value does not end.
    public func changeEnd(
        of field: String, _ change: ValueEndChange, message: String? = nil
    ) async throws(FormError) {
        let request = StateLease(form: name, field: field, change, message)
        _ = try feed.take(await ask(.stateLease(request)))
    }

    /// Undoes the last transaction of this program's user.
    ///
    /// - Parameter scope: whose transactions count.
    /// - Returns: the fields that were not changed, because somebody has changed them since.
    @discardableResult
    public func undo(scope: UndoScope = .mine) async throws(FormError) -> [String] {
        try feed.take(await ask(.stateUndo(scope.request(name)))).skipped ?? []
    }

    /// Redoes what ``undo(scope:)`` reverted.
    @discardableResult
    public func redo(scope: UndoScope = .mine) async throws(FormError) -> [String] {
        try feed.take(await ask(.stateRedo(scope.request(name)))).skipped ?? []
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
        return try decoded(await ask(.stateHistory(request)), HistoryPage.init(decoding:))
    }

    /// Why a field has its value: where it comes from, who changed it last and why, which rule
    /// chose among concurrent values, and whether this user may change it.
    ///
    /// - Parameters:
    ///   - field: the id of the control.
    ///   - revision: explains the value at an earlier revision; `nil` for now.
    public func explain(
        _ field: String, at revision: Int64? = nil
    ) async throws(FormError) -> Explanation {
        let request = StateExplain(form: name, field: field, at: revision)
        return try decoded(await ask(.stateExplain(request)), Explanation.init(decoding:))
    }

    /// Overwrites the message of a revision, for an admin of the form. The history says who did so.
    ///
    /// - Parameters:
    ///   - revision: the revision that has the message.
    ///   - message: why: one line, which everybody who may read the form sees.
    /// - Returns: the revision that says so.
    @discardableResult
    public func redact(
        messageOf revision: Int64, message: String? = nil
    ) async throws(FormError) -> Int64 {
        let request = HistoryRedact(form: name, revision: revision, message: message)
        return try decoded(await ask(.historyRedact(request)), RedactResult.init(decoding:))
            .revision
    }

    /// The fields that were set by several people at once, each with the values that they set, in
    /// the order of their ids. Setting a field settles its conflict.
    public var conflicts: [FieldConflict] {
        feed.state.withLock { $0.replica.fields }.filter { !$0.state.conflict.isEmpty }
            .map { FieldConflict(field: $0.id, state: $0.state) }
    }

    func ask(_ request: Request) async throws(FormError) -> JSON {
        if let end = attachment.end { throw end }
        return try await feed.machine.ask(request, timeout: nil)
    }
}

/// A field that several people set at the same time.
public struct FieldConflict: Sendable, Hashable {
    /// The id of the control.
    public let field: String
    /// Its state: the value that it shows, and the other values.
    public let state: FieldState

    /// The other values, with their authors and times.
    public var siblings: [Sibling] { state.conflict }
}
