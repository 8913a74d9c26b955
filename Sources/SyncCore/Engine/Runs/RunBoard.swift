/// Who may still add to what is full: one user must not keep the others out of it.
enum QueueShare {
    /// Whether a user with `own` of `all` that is there may add to it. In what is full, each user
    /// has a tenth of their own, but all together have no more than twice the limit.
    static func admits(own: Int, all: Int, max: Int) -> Bool {
        all < max || (own < (max + 9) / 10 && all < max * 2)
    }
}

/// The presses of one button with `runs` (FORM.md, Buttons that answer).
///
///     press ──▶ waiting ──assign──▶ running ──finish──▶ done, failed, cancelled
///                │  ▲                 │ │
///                │  └──lost, again────┘ ├──timeout──▶ timedOut
///                │                      └──lost──▶ lost
///                ├──a later press, `latest`──▶ dropped
///                ├──no handler in time──▶ unhandled
///                └──cancel──▶ cancelled
///
/// Each transition is one revision of the form, but for `dropped`, which is part of the revision of
/// the later press. A state without an arrow out of it is final: a press has one outcome. The
/// machine reads no clock; it does not know handlers. What it keeps of a press that ended is only
/// the last one.
struct RunBoard: Sendable {
    /// The presses that wait, in the order in which they will be assigned.
    private(set) var waiting: [Run] = []
    /// The presses that handlers hold, in the order of their assignment.
    private(set) var running: [Run] = []
    /// The press that ended last.
    private(set) var last: Run?
    /// Bytes of the values that the presses that wait or run keep.
    private(set) var valueBytes = 0

    /// Why a press is refused.
    enum Refusal: Error {
        /// Another press waits or runs.
        case busy(Dot)
        /// So many presses wait, too many.
        case full(waiting: Int)
    }

    /// A button that nobody has pressed.
    init() {}

    /// A button with what the store has of it.
    init(_ runs: [Run]) {
        waiting = runs.filter { $0.state == .waiting }.sorted { Self.isEarlier($0, $1) }
        running = runs.filter { $0.state == .running }.sorted { $0.beganAt < $1.beganAt }
        last = runs.filter(\.state.isFinal).max(by: Run.endedEarlier)
        valueBytes = active.reduce(0) { $0 + $1.values.count }
    }

    /// The order of presses.
    static func isEarlier(_ left: Run, _ right: Run) -> Bool {
        left.pressedAt != right.pressedAt
            ? left.pressedAt < right.pressedAt : left.press < right.press
    }

    /// Whether a press waits or runs.
    var isActive: Bool { !waiting.isEmpty || !running.isEmpty }

    var active: [Run] { running + waiting }

    /// The press that waits or runs, and was added last.
    var newest: Run? { waiting.last ?? running.last }

    subscript(press: Dot) -> Run? {
        running.first { $0.press == press } ?? waiting.first { $0.press == press }
    }

    /// Whether another press is accepted now.
    ///
    /// - Parameters:
    ///   - added: The presses of the same transaction that were accepted before.
    ///   - isOwn: Whether a press is one of the user who presses.
    func admit(
        _ rules: RunRules, added: Int = 0, queueMax: Int, isOwn: (Run) -> Bool
    ) throws(Refusal) {
        switch rules.mode {
        case .one: if let other = running.first ?? waiting.first { throw .busy(other.press) }
        case .queue:
            let count = waiting.count + added
            if count < queueMax { return }
            let own = added + waiting.count(where: isOwn)
            guard QueueShare.admits(own: own, all: count, max: queueMax) else {
                throw .full(waiting: count)
            }
        case .latest: break
        }
    }

    /// Adds a press. Returns the presses that it replaces, with their outcome.
    mutating func add(_ run: Run, _ rules: RunRules) -> [Run] {
        var dropped: [Run] = []
        if rules.mode == .latest {
            for other in waiting {
                if let run = end(other.press, as: .dropped, at: run.at, in: run.revision) {
                    dropped.append(run)
                }
            }
        }
        waiting.append(run)
        valueBytes += run.values.count
        return dropped
    }

    /// A handler gets a press that waits; `nil` if it does not wait.
    ///
    /// - Parameters:
    ///   - at: The time in milliseconds since 1970-01-01T00:00Z.
    ///   - steady: The time on the steady clock.
    mutating func assign(
        _ press: Dot, to handler: Author, _ ticket: RunTicket, at: Int64, steady: Int64
    ) -> Run? {
        guard let place = waiting.firstIndex(where: { $0.press == press }) else { return nil }
        var run = waiting.remove(at: place)
        run.state = .running
        run.since = at
        run.beganAt = steady
        run.handler = handler
        run.ticket = ticket
        running.append(run)
        return run
    }

    mutating func runAgain(_ press: Dot, at: Int64) -> Run? {
        guard let place = running.firstIndex(where: { $0.press == press }) else { return nil }
        var run = running.remove(at: place)
        run.state = .waiting
        run.since = at
        run.handler = nil
        run.ticket = nil
        run.isAgain = true
        let next = waiting.firstIndex { Self.isEarlier(run, $0) } ?? waiting.endIndex
        waiting.insert(run, at: next)
        return run
    }

    /// A press ends in a revision; `nil` if it has ended before.
    mutating func end(
        _ press: Dot, as state: RunState, at: Int64, in revision: UInt64, text: String? = nil,
        status: Int64? = nil
    ) -> Run? {
        guard var run = self[press] else { return nil }
        waiting.removeAll { $0.press == press }
        running.removeAll { $0.press == press }
        valueBytes -= run.values.count
        run.state = state
        run.since = at
        run.revision = revision
        run.values = []
        // Only handlers get it.
        run.message = nil
        run.text = text
        run.status = status
        last = run
        return run
    }

    /// The runs as readers see them.
    var wire: ButtonRuns {
        ButtonRuns(
            waiting: Int64(waiting.count), running: running.map(\.wire), last: last?.wire)
    }
}

/// The runs of a button as a cell keeps them: shared by both states of a form.
final class SharedRuns: Sendable {
    let board: RunBoard

    init(_ board: RunBoard) { self.board = board }
}
