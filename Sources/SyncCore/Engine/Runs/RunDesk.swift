/// Who handles the buttons of one form, and what is due.
///
///     handler:  free ──its press is committed as running──▶ busy ──the run ends──▶ free
///                 │                                           │
///                 └──────────── connection ends ──▶ gone ◀────┘
///
///     run without its handler:  held ──connection ends, daemon starts──▶ away ──ticket──▶ held
///                                                                         │
///                                                        reclaimSeconds   ▼
///                                                                  lost, or waiting again
///
/// It decides and keeps nothing that must survive: the runs are in `RunBoard`. Time is a parameter,
/// in milliseconds of the steady clock. Confined to the loop.
struct RunDesk {
    /// A connection that takes presses.
    private struct Handler {
        let id: ConnectionID
        /// The buttons; `nil` for all.
        var globs: GlobSet?
    }

    /// A button that has runs under way.
    struct Button {
        let index: Int
        let id: String
        let rules: RunRules
        let board: RunBoard
    }

    /// What happens next.
    enum Step: Equatable {
        case assign(Dot, of: Int, to: ConnectionID)
        /// It waits for another handler.
        case runAgain(Dot, of: Int)
        case end(Dot, of: Int, as: RunState)
    }

    /// How long a press waits for a handler.
    private enum Wait {
        /// A handler of its button is connected.
        case attended
        /// None is, until this time.
        case until(Int64)
    }

    let reclaimMilliseconds: Int64
    /// The one that has waited longest comes first.
    private var handlers: [Handler] = []
    private var holders: [Dot: ConnectionID] = [:]
    /// Runs without a handler, and when they are lost.
    private var away: [Dot: Int64] = [:]
    private var waits: [Dot: Wait] = [:]
    /// Who asked to cancel a run.
    private(set) var cancellers: [Dot: Author] = [:]
    /// The earliest time at which something is due; `nil` if nothing is.
    private(set) var deadline: Int64?

    /// A desk without handlers.
    ///
    /// - Parameter restored: The runs of before the start. A press that waited, waits for a handler
    ///   at least as long as one that runs.
    init(reclaimMilliseconds: Int64, restored: [Run] = []) {
        self.reclaimMilliseconds = reclaimMilliseconds
        for run in restored where run.state == .waiting { waits[run.press] = .attended }
    }

    /// The connection that holds a run.
    func holder(of press: Dot) -> ConnectionID? { holders[press] }

    /// The runs that a connection holds.
    func held(by id: ConnectionID) -> [Dot] {
        holders.filter { $0.value == id }.map(\.key).sorted()
    }

    /// Whether a connection takes presses or holds runs.
    func knows(_ id: ConnectionID) -> Bool {
        handlers.contains { $0.id == id } || holders.values.contains(id)
    }

    // MARK: - Handlers

    /// A connection takes presses of these buttons.
    mutating func handle(_ id: ConnectionID, _ globs: GlobSet?) {
        if let place = handlers.firstIndex(where: { $0.id == id }) {
            handlers[place].globs = globs
        } else {
            handlers.append(Handler(id: id, globs: globs))
        }
    }

    /// A connection takes no more presses. It keeps the runs that it holds.
    mutating func rest(_ id: ConnectionID) { handlers.removeAll { $0.id == id } }

    /// A connection has ended.
    mutating func leave(_ id: ConnectionID, at now: Int64) {
        rest(id)
        for press in held(by: id) {
            holders[press] = nil
            away[press] = now + reclaimMilliseconds
        }
    }

    /// A connection holds a run, because it was assigned or because its ticket came back.
    mutating func hold(_ press: Dot, _ id: ConnectionID) {
        holders[press] = id
        away[press] = nil
        waits[press] = nil
    }

    /// Somebody asked to cancel a run.
    mutating func askToCancel(_ press: Dot, _ author: Author) { cancellers[press] = author }

    /// A run has ended or waits again. Its handler is free, behind the others.
    mutating func release(_ press: Dot, waitsAgain: Bool = false) {
        away[press] = nil
        cancellers[press] = nil
        waits[press] = waitsAgain ? .attended : nil
        guard let id = holders.removeValue(forKey: press),
            let place = handlers.firstIndex(where: { $0.id == id })
        else { return }
        handlers.append(handlers.remove(at: place))
    }

    /// After a failed batch, only what is still so counts.
    mutating func forgetAll(but running: Set<Dot>) {
        holders = holders.filter { running.contains($0.key) }
        away = away.filter { running.contains($0.key) }
        cancellers = cancellers.filter { running.contains($0.key) }
    }

    // MARK: - What happens next

    /// The next step; `nil` if nothing happens before `deadline`.
    ///
    /// - Parameter mayHandle: Whether a connection may handle a button.
    mutating func next(
        _ buttons: [Button], at now: Int64, mayHandle: (ConnectionID, Int) -> Bool
    ) -> Step? {
        deadline = nil
        for button in buttons {
            for run in button.board.running {
                if let step = judge(run, button, at: now) { return step }
            }
        }
        return assignment(buttons, mayHandle) ?? expiry(buttons, at: now, mayHandle)
    }

    private mutating func judge(_ run: Run, _ button: Button, at now: Int64) -> Step? {
        if let timeout = button.rules.timeoutMilliseconds {
            if isDue(run.beganAt + timeout, at: now) {
                return .end(run.press, of: button.index, as: .timedOut)
            }
        }
        if holders[run.press] != nil { return nil }
        let lostAt = away[run.press] ?? now + reclaimMilliseconds
        away[run.press] = lostAt
        guard isDue(lostAt, at: now) else { return nil }
        return button.rules.whenLost == .again
            ? .runAgain(run.press, of: button.index)
            : .end(run.press, of: button.index, as: .lost)
    }

    /// Gives the earliest press that somebody can take to the handler that has waited longest.
    private func assignment(
        _ buttons: [Button], _ mayHandle: (ConnectionID, Int) -> Bool
    ) -> Step? {
        let busy = Set(holders.values)
        let free = handlers.filter { !busy.contains($0.id) }
        if free.isEmpty { return nil }
        var found: (run: Run, step: Step)?
        for button in buttons where button.board.running.count < RunRules.atOnceMax {
            guard let run = button.board.waiting.first else { continue }
            if let found, RunBoard.isEarlier(found.run, run) { continue }
            guard let handler = free.first(where: { handles($0, button, mayHandle) }) else {
                continue
            }
            found = (run, .assign(run.press, of: button.index, to: handler.id))
        }
        return found?.step
    }

    /// The first press that has waited too long without any handler.
    private mutating func expiry(
        _ buttons: [Button], at now: Int64, _ mayHandle: (ConnectionID, Int) -> Bool
    ) -> Step? {
        for button in buttons {
            let isAttended = handlers.contains { handles($0, button, mayHandle) }
            for run in button.board.waiting {
                if isAttended {
                    waits[run.press] = .attended
                    continue
                }
                let until: Int64
                switch waits[run.press] {
                case .until(let time): until = time
                // The handler may come back.
                case .attended:
                    until = now + max(button.rules.waitsForMilliseconds, reclaimMilliseconds)
                case nil: until = now + button.rules.waitsForMilliseconds
                }
                waits[run.press] = .until(until)
                if isDue(until, at: now) {
                    return .end(run.press, of: button.index, as: .unhandled)
                }
            }
        }
        return nil
    }

    private func handles(
        _ handler: Handler, _ button: Button, _ mayHandle: (ConnectionID, Int) -> Bool
    ) -> Bool {
        (handler.globs?.matches(button.id) ?? true) && mayHandle(handler.id, button.index)
    }

    private mutating func isDue(_ time: Int64, at now: Int64) -> Bool {
        if time <= now { return true }
        deadline = min(deadline ?? time, time)
        return false
    }
}
