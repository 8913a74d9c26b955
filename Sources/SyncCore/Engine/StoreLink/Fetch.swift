/// The purpose of a read of the store: data that is not in memory.
enum Fetch {
    /// The first page for a subscriber that resumes before the oldest entry of the change log.
    case resume(PendingCall, StateSubscribe, from: UInt64)
    /// Another page for a subscriber.
    case page(Subscription)
    case history(PendingCall, HistorySearch)
    case explain(PendingCall, ExplainSearch)
    /// The revision whose message is to be overwritten.
    case redaction(PendingCall, HistoryRedact, LiveForm)
    case key(PendingCall, Request)
    case undo(PendingCall, Request, LiveForm)
    /// A snapshot of the store, or a piece of it.
    case backup(PendingCall, offset: Int64)

    /// The request that waits for the fetch, if any.
    var call: PendingCall? {
        switch self {
        case .resume(let call, _, _), .history(let call, _), .explain(let call, _),
            .redaction(let call, _, _), .key(let call, _), .undo(let call, _, _),
            .backup(let call, _):
            call
        case .page: nil
        }
    }
}

/// A page of history that is being collected.
struct HistorySearch {
    /// The most bytes of notifications in one page.
    static let bytesMax = 64 << 10

    let form: LiveForm
    let field: String?
    let limit: Int
    var before: UInt64
    var entries: [HistoryPage.Entry] = []
    /// Bytes of the notifications behind the entries.
    var bytes = 0

    /// A page is one frame, so it ends before it grows too large.
    var isFull: Bool { entries.count > limit || bytes > Self.bytesMax }

    /// Overwrites the message of a revision; returns whether the page has the revision already.
    mutating func redact(_ revision: UInt64) -> Bool {
        let number = Revision(clamping: revision)
        guard let place = entries.firstIndex(where: { $0.revision == number }) else { return false }
        entries[place].message = Redactions.text
        return true
    }
}
