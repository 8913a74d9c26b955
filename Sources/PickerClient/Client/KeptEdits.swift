// Edits that were made for another store than the one whose daemon answers now, as when another
// daemon was started on the socket.
//
//   unanswered ──another store answers──▶ kept ──its store answers again──▶ sent there, once
//                                          │ ──apply──▶ sent to the daemon that answers
//                                          └ ──discard──▶ gone
//
// Invariant: no kept edit reaches another store before its owner says so; sent to its own store it
// has its idempotency key, so it is applied once.

package import SyncCore

/// The kept edits of a client; `Owner` is who waits for their answers.
package struct KeptEdits<Owner: Sendable>: Sendable {
    /// An edit that was made for one store.
    package struct Edit: Sendable {
        package let store: String
        package let edit: StateSet
        package let owner: Owner

        /// The ids of the fields that it writes.
        package var fields: [String] { edit.changes.map(\.field) }

        /// The edit for the store that answers now, over what is there. Contexts and keys have a
        /// meaning in their own store only.
        package func renewed(context: String?) -> StateSet {
            StateSet(
                form: edit.form,
                changes: edit.changes.map {
                    Change(field: $0.field, context: context, $0.action)
                })
        }
    }

    /// In the order in which they were made.
    package private(set) var edits: [Edit] = []
    /// The store whose daemon answers; `nil` before the first greeting.
    package private(set) var store: String?
    /// The store that answered before it.
    private var formerStore: String?

    /// No edits.
    package init() {}

    /// The daemon has said whose store it has.
    ///
    /// - Returns: the edits that were kept for it, which are sent as they are.
    package mutating func greeted(by store: String) -> [Edit] {
        if self.store != store { formerStore = self.store }
        self.store = store
        return take { $0.store == store }
    }

    /// Keeps an edit that was not sent.
    ///
    /// - Parameter store: the store that it was made for; by default the one that answered before.
    /// - Returns: whether it is known for which store it was made.
    package mutating func keep(_ edit: StateSet, for store: String? = nil, _ owner: Owner) -> Bool {
        guard let store = store ?? formerStore else { return false }
        edits.append(Edit(store: store, edit: edit, owner: owner))
        return true
    }

    /// Takes edits out, to send or to discard them.
    package mutating func take(where isTaken: (Edit) -> Bool = { _ in true }) -> [Edit] {
        defer { edits.removeAll(where: isTaken) }
        return edits.filter(isTaken)
    }
}
