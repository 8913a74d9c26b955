// What a form tells whoever watches it.

public import SyncCore

/// One revision of a form, or several folded into one.
public struct FormChange: Sendable, Hashable {
    /// The form's revision; each transaction that changes a form has the next one.
    public let revision: Int64
    /// The first revision that is folded into this one; `nil` where it stands for itself.
    public let coalescedFrom: Int64?
    /// The fields that changed, with what they were and who changed them.
    public let fields: [FieldChange]

    init(revision: Int64, coalescedFrom: Int64? = nil, fields: [FieldChange]) {
        self.revision = revision
        self.coalescedFrom = coalescedFrom
        self.fields = fields
    }

    /// The new value of a property; `nil` where this revision left it alone.
    public subscript<Value>(binding: Binding<Value>) -> Value? {
        guard let id = binding.id else { return nil }
        return fields.first { $0.field == id }.flatMap { Value(field: $0.state) }
    }

    /// Whether this revision changed a property.
    public func contains<Value>(_ binding: Binding<Value>) -> Bool {
        binding.id.map { id in fields.contains { $0.field == id } } ?? false
    }

    /// This change and a later one as one: the newest of each field, and what it was at first.
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
    /// A revision that this program had not seen yet.
    case changed(FormChange)
    /// The definition changed, by this program or another; its JSON, as a form file has it.
    case redefined(JSON)
    /// The daemon refused what this program wrote by assignment; the property shows again what the
    /// daemon has.
    case refused(fields: [String], FormError)
    /// Who has the form open changed; all who are there, where presence was asked for.
    case presence([FormPeer])
    /// The connection is gone; the form shows what it was last and takes edits.
    case disconnected
    /// The connection is back, and edits made meanwhile are on their way.
    case reconnected
    /// Another daemon, with another store, answers now. Edits that had no answer are kept until the
    /// first one answers again, or until the program decides
    /// (``FormSession/applyKeptEdits()``, ``FormSession/discardKeptEdits()``).
    case replicaChanged(kept: [KeptEdit])
    /// The form was deleted, or the client cannot go on; nothing comes behind it.
    case ended(FormError?)
}

/// Somebody who has the form open.
public struct FormPeer: Sendable, Hashable {
    /// The connection that the daemon knows them by.
    public let connection: Int64
    /// The name of the user.
    public let user: String
    /// The program, as it says.
    public let client: String?
    /// The terminal, as it says.
    public let tty: String?
    /// The control that they have in their hand.
    public let focus: String?
    /// What they are about to set there.
    public let draft: JSON?
}

/// How many changes wait for one reader at most; what comes behind is folded into the last.
///
/// A reader that stopped costs so much memory and no more.
let changesWaitingMax = 1_024
