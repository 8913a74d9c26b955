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
        /// A page of the store is to be written; `next` is the revision behind it.
        case page([FrameChunk], next: UInt64)
        /// Nothing more is written to it.
        case ended
    }

    /// Which lets go of its subscriptions as they end. Not `unowned`: a fan-out asks each, and that
    /// would be a locked count of references each time.
    let connection: Connection
    /// Kept alive for as long as its last revisions are to be written, though it was deleted.
    let form: LiveForm
    var position: Position
    /// The newest presence that it has been sent; `nil` unless it asked for presence.
    var presenceCursor: UInt64?
    /// The place of the answer to `state.subscribe`: nothing is told before it (PROTOCOL.md,
    /// Promises of the stream, 2). `nil` where none is owed.
    let answer: AnswerQueue.Slot?
    /// The fields that match, by their numbers; `nil` for all. Made anew when the form has new
    /// names.
    var filter: FieldNumbers?
    /// The globs of the fields asked for; `nil` for all.
    let globs: [Glob]?
    /// Where it stands in its audience.
    var index = 0

    init(
        connection: Connection, form: LiveForm, position: Position, globs: [Glob]?,
        presence: Bool, answer: AnswerQueue.Slot?
    ) {
        self.connection = connection
        self.form = form
        self.position = position
        self.globs = globs
        presenceCursor = presence ? 0 : nil
        self.answer = answer
    }

    /// Bytes of the page that waits to be written.
    var pageBytes: Int {
        guard case .page(let chunks, _) = position else { return 0 }
        return chunks.reduce(0) { $0 + $1.count }
    }

    /// Whether a write to it may hold what the form's log or board has dropped since.
    var holdsDropped: Bool {
        if let cursor = presenceCursor, cursor < form.presence.sequence { return true }
        guard case .live(let next) = position else { return false }
        return next < form.changeLog.first
    }

    /// Whether there is something to write to it.
    var hasOutput: Bool {
        switch position {
        case .live(let next) where next < form.changeLog.next: return true
        case .page: return true
        case .ended: return false
        default: break
        }
        return presenceCursor.map { $0 < form.presence.sequence } ?? false
    }
}
