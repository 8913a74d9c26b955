/// A connection's cursor into the changes of one form. Confined to the loop.
final class Subscription {
    /// The state of the subscriber.
    enum Position {
        /// The next revision that it needs is in the change log.
        case live(next: UInt64)
        /// The next revision is older than the change log. It comes from the store, page by page.
        case stored(next: UInt64)
        /// A page is being read from the store. This is rare, so the case is indirect.
        indirect case fetching(next: UInt64, FetchID)
        /// A page of the store has to be sent; `next` is the revision after it.
        indirect case page([FrameChunk], next: UInt64)
        /// Nothing more is sent.
        case ended
    }

    /// The connection, which removes its subscriptions when it ends. Not `unowned`, because a
    /// fan-out reads it for each subscriber, and that would need an atomic operation each time.
    let connection: Connection
    /// Retained until its last revisions are sent, even if the form has been deleted.
    let form: LiveForm
    var position: Position
    var index: UInt32 = 0
    /// The slot of the answer to `state.subscribe`. Notifications come after it (PROTOCOL.md, What
    /// you can rely on).
    let answer: AnswerQueue.Slot
    /// The requested fields; `nil` for all.
    private let selection: Selection?
    /// See `presenceCursor`; `.max` means `nil`.
    private var presenceAt: UInt64

    /// Some fields of a form.
    private final class Selection {
        let globs: GlobSet
        var numbers = FieldNumbers([])
        /// The number of the form's names that were compared with the globs.
        var compared = 0
        /// The form has new names, which will be matched in a turn of the subscriber's uid.
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

    /// The newest presence that was sent; `nil` unless presence was requested.
    var presenceCursor: UInt64? { presenceAt == .max ? nil : presenceAt }

    func sentPresence(upTo cursor: UInt64) {
        presenceAt = cursor
    }

    /// The requested globs; `nil` for all fields.
    var globs: GlobSet? { selection?.globs }

    /// The numbers of matching fields; `nil` for all.
    var filter: FieldNumbers? { selection?.numbers }

    /// Whether its filter has to be matched against new names. Nothing is sent until then.
    var isFilterStale: Bool { selection?.isStale ?? false }

    var wantsChangesOnly: Bool { presenceAt == .max && !isFilterStale && !hasProgress }

    /// Notes that the form may have new names. Returns whether they have to be matched.
    func noteNames(_ names: FieldNames) -> Bool {
        guard let selection, !selection.isStale, selection.compared < names.count else {
            return false
        }
        selection.isStale = true
        return true
    }

    /// All names get other numbers: none is matched yet.
    func forgetFilter() {
        selection?.numbers = FieldNumbers([])
        selection?.compared = 0
    }

    /// Matches the globs against the new names; returns how many there were. Names of removed
    /// fields keep their numbers while the change log may contain them.
    @discardableResult
    func refreshFilter(_ names: FieldNames) -> Int {
        guard let selection else { return 0 }
        let fresh = names.count - selection.compared
        if fresh > 0 {
            selection.numbers = selection.numbers.union(
                (selection.compared..<names.count).filter { selection.globs.matches(names[$0]) })
        }
        selection.compared = names.count
        selection.isStale = false
        return fresh
    }

    /// Bytes of the page that waits to be sent.
    var pageBytes: Int {
        guard case .page(let chunks, _) = position else { return 0 }
        return chunks.reduce(0) { $0 + $1.count }
    }

    /// Whether a write may hold memory that the form's log or presence board has dropped.
    var holdsDropped: Bool {
        if let cursor = presenceCursor, cursor < form.presence.sequence { return true }
        if hasProgress || hasProposals { return true }
        guard case .live(let next) = position else { return false }
        return next < form.changeLog.first
    }

    /// Whether there is something to send.
    var hasOutput: Bool {
        if isFilterStale { return false }
        switch position {
        case .live(let next) where next < form.changeLog.next: return true
        case .page: return true
        case .ended: return false
        default: break
        }
        if hasProgress || hasProposals { return true }
        return presenceCursor.map { $0 < form.presence.sequence } ?? false
    }

    private var hasProgress: Bool { form.runs?.hasProgress(for: self) ?? false }

    /// Whether there are changes of proposals that were not sent.
    private var hasProposals: Bool { form.proposals?.hasNews(for: self) ?? false }
}
