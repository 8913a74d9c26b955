/// A connection's cursor into the changes of one form. Confined to the loop.
final class Subscription {
    /// Where the subscriber stands.
    enum Position {
        /// The next revision that it is to see.
        case live(next: UInt64)
        /// The next revision is older than the change log: it comes from the store, page by page.
        case stored(next: UInt64)
        /// A page of the store is on its way. Few are, so that it is kept apart.
        indirect case fetching(next: UInt64, FetchID)
        /// A page of the store is to be written; `next` is the revision behind it.
        indirect case page([FrameChunk], next: UInt64)
        /// Nothing more is written to it.
        case ended
    }

    /// Which lets go of its subscriptions as they end. Not `unowned`: a fan-out asks each, and that
    /// would be a locked count of references each time.
    let connection: Connection
    /// Kept alive for as long as its last revisions are to be written, though it was deleted.
    let form: LiveForm
    var position: Position
    /// Where it stands in its audience.
    var index: UInt32 = 0
    /// The place of the answer to `state.subscribe`: nothing is told before it (PROTOCOL.md,
    /// What you can rely on).
    let answer: AnswerQueue.Slot
    /// The fields asked for; `nil` for all.
    private let selection: Selection?
    /// See `presenceCursor`; `.max` stands for `nil`.
    private var presenceAt: UInt64

    /// Some fields of a form.
    private final class Selection {
        let globs: GlobSet
        /// Those that match, by their numbers.
        var numbers = FieldNumbers([])
        /// How many of the form's names were tried.
        var tried = 0
        /// The form has new names, which are tried in a turn of the subscriber's uid.
        var isStale = false

        init(_ globs: GlobSet) {
            self.globs = globs
        }
    }

    init(
        connection: Connection, form: LiveForm, position: Position, globs: GlobSet?,
        presence: Bool, answer: AnswerQueue.Slot
    ) {
        self.connection = connection
        self.form = form
        self.position = position
        selection = globs.map { Selection($0) }
        presenceAt = presence ? 0 : .max
        self.answer = answer
    }

    /// The newest presence that it has been sent; `nil` unless it asked for presence.
    var presenceCursor: UInt64? { presenceAt == .max ? nil : presenceAt }

    /// It has been sent presence up to there.
    func sentPresence(upTo cursor: UInt64) {
        presenceAt = cursor
    }

    /// The globs of the fields asked for; `nil` for all.
    var globs: GlobSet? { selection?.globs }

    /// The fields that match, by their numbers; `nil` for all.
    var filter: FieldNumbers? { selection?.numbers }

    /// Whether its filter does not know all names of the form yet: nothing is told until it does.
    var isFilterStale: Bool { selection?.isStale ?? false }

    /// Notes that the form may have new names; whether they have to be tried.
    func noteNames(_ names: FieldNames) -> Bool {
        guard let selection, !selection.isStale, selection.tried < names.count else { return false }
        selection.isStale = true
        return true
    }

    /// Tries the globs on the names that were not tried yet; gives how many there were. A name
    /// keeps its number, those of fields that are gone too, since the change log may still tell of
    /// them.
    @discardableResult
    func refreshFilter(_ names: FieldNames) -> Int {
        guard let selection else { return 0 }
        let fresh = names.count - selection.tried
        if fresh > 0 {
            selection.numbers = selection.numbers.union(
                (selection.tried..<names.count).filter { selection.globs.matches(names[$0]) })
        }
        selection.tried = names.count
        selection.isStale = false
        return fresh
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
        if isFilterStale { return false }
        switch position {
        case .live(let next) where next < form.changeLog.next: return true
        case .page: return true
        case .ended: return false
        default: break
        }
        return presenceCursor.map { $0 < form.presence.sequence } ?? false
    }
}
