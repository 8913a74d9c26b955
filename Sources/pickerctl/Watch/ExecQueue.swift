/// Changes for a child, one at a time and in order.
///
///     idle --offer--> running --ended--> running with the next one, or idle
///
/// With `latest` a change that waits gives way to a newer one of its field: a slow child skips to
/// the newest and is told what it skipped.
struct ExecQueue {
    private enum State: Equatable { case idle, running }

    let keepsLatest: Bool
    private var state = State.idle
    private var waiting: [WatchedChange] = []

    init(keepsLatest: Bool) {
        self.keepsLatest = keepsLatest
    }

    /// Changes that may wait before the socket is read no further: the daemon then folds what we do
    /// not take, and neither side grows.
    static let waitingMax = 1_000

    var isIdle: Bool { state == .idle }
    var isFull: Bool { waiting.count >= Self.waitingMax }

    /// Takes a change; gives it back where the child should be started with it now.
    mutating func offer(_ change: WatchedChange) -> WatchedChange? {
        if state == .idle {
            state = .running
            return change
        }
        if keepsLatest, let place = waiting.firstIndex(where: { $0.field == change.field }) {
            waiting.append(change.folding(waiting.remove(at: place)))
        } else {
            waiting.append(change)
        }
        return nil
    }

    /// The child ended; gives what to start it with next.
    mutating func ended() -> WatchedChange? {
        guard !waiting.isEmpty else {
            state = .idle
            return nil
        }
        return waiting.removeFirst()
    }
}
