/// A connection's cursor into the changes of one form. Confined to the loop.
final class Subscription {
    /// Where the subscriber stands.
    enum Position {
        /// The next revision that it is to see.
        case live(next: UInt64)
        /// The next revision is older than the change log: it comes from the store, page by page.
        case stored(next: UInt64)
        /// A page of the store is on its way.
        case fetching(next: UInt64, FetchID)
    }

    unowned let connection: Connection
    /// Kept alive for as long as its last revisions are to be written, though it was deleted.
    let form: LiveForm
    var position: Position
    /// The globs of the fields asked for; `nil` for all.
    let globs: [Glob]?
    /// The fields that match, by their numbers; `nil` for all. Made anew when the form has new
    /// names.
    var filter: FieldNumbers?
    /// The newest presence that it has been sent; `nil` unless it asked for presence.
    var presenceCursor: UInt64?
    /// Where it stands in the form's list of subscriptions.
    var index = 0

    init(
        connection: Connection, form: LiveForm, position: Position, globs: [Glob]?,
        presence: Bool
    ) {
        self.connection = connection
        self.form = form
        self.position = position
        self.globs = globs
        presenceCursor = presence ? 0 : nil
    }

    /// The next revision that it is to see.
    var next: UInt64 {
        switch position {
        case .live(let next), .stored(let next), .fetching(let next, _): next
        }
    }

    /// Whether there is something to write to it.
    var hasOutput: Bool {
        if case .live(let next) = position, next < form.changeLog.next { return true }
        return presenceCursor.map { $0 < form.presence.sequence } ?? false
    }
}
