// The events of a form.

public import SyncCore

/// One revision of a form, or several merged into one.
public struct FormChange: Sendable, Hashable {
    /// The form's revision; each transaction that changes a form has the next one.
    public let revision: Int64
    /// The first revision that was merged into this one; `nil` for a single revision.
    public let coalescedFrom: Int64?
    /// The fields that changed, with their previous values and authors.
    public let fields: [FieldChange]

    init(revision: Int64, coalescedFrom: Int64? = nil, fields: [FieldChange]) {
        self.revision = revision
        self.coalescedFrom = coalescedFrom
        self.fields = fields
    }

    /// The new value of a property; `nil` if this revision did not change it.
    public subscript<Value>(binding: Binding<Value>) -> Value? {
        guard let id = binding.id else { return nil }
        return fields.first { $0.field == id }.flatMap { Value(field: $0.state) }
    }

    /// Whether this revision changed a property.
    public func contains<Value>(_ binding: Binding<Value>) -> Bool {
        binding.id.map { id in fields.contains { $0.field == id } } ?? false
    }

    /// Merges this change with a later one: the newest state of each field, with the oldest
    /// previous value.
    func folded(with later: FormChange) -> FormChange {
        var fields = fields
        for change in later.fields {
            if let place = fields.firstIndex(where: { $0.field == change.field }) {
                fields[place].state = change.state
            } else {
                fields.append(change)
            }
        }
        return FormChange(
            revision: later.revision, coalescedFrom: coalescedFrom ?? revision, fields: fields)
    }
}

/// Something about an open form.
public enum FormEvent: Sendable {
    /// A revision that is new to this program.
    case changed(FormChange)
    /// The definition was changed, by this program or another; its JSON, as in a form file.
    case redefined(JSON)
    /// The daemon refused an assignment of this program; the property shows the daemon's value
    /// again.
    case refused(fields: [String], FormError)
    /// A change that waits for the approval of others was proposed or voted on, or has ended.
    case proposal(FormProposal)
    /// The people who have the form open, if presence was requested and they have changed.
    case presence([FormPeer])
    /// The connection was lost. The form shows its last values and accepts edits.
    case disconnected
    /// The connection is back, and the edits made meanwhile are being sent.
    case reconnected
    /// Another daemon, with another store, answers now. Edits that had no answer are kept until the
    /// first one answers again, or until the program decides
    /// (``FormSession/applyKeptEdits()``, ``FormSession/discardKeptEdits()``).
    case replicaChanged(kept: [KeptEdit])
    /// The form was deleted, or the client cannot continue. It is the last event.
    case ended(FormError?)
}

/// A user who has the form open.
public struct FormPeer: Sendable, Hashable {
    /// The number of their connection.
    public let connection: Int64
    /// The name of the user.
    public let user: String
    /// The program, as it says.
    public let client: String?
    /// The terminal, as it says.
    public let tty: String?
    /// The control that has their focus.
    public let focus: String?
    /// The value that they are entering there.
    public let draft: JSON?

    init(_ peer: PresenceChanged.Peer) {
        connection = peer.connection
        user = peer.user
        client = peer.client
        tty = peer.tty
        focus = peer.focus
        draft = peer.draft
    }
}

/// The most changes that wait for one reader; later ones are merged into the last.
///
/// This bounds the memory of a reader that has stopped.
let changesWaitingMax = 1_024
