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

    /// Who was the first to ask that a run be cancelled.
    struct Cancellation {
        let author: Author
        /// The last revision before it: the request is answered when that is committed.
        let revision: UInt64
    }

    struct Hold {
        let holder: ConnectionID?
        let lostAt: Int64?
        let cancellation: Cancellation?
    }

    /// How long a press waits for a handler.
    private enum Wait {
        /// A handler of its button is connected.
        case attended
        /// None is, since then. However short the button's own time is, it waits this long.
        case alone(since: Int64, atLeast: Int64)
    }

    var reclaimMilliseconds: Int64
    /// The one that has waited longest comes first.
    private var handlers: [Handler] = []
    private var holders: [Dot: ConnectionID] = [:]
    /// Runs without a handler, and when they are lost.
    private var away: [Dot: Int64] = [:]
    private var waits: [Dot: Wait] = [:]
    private var cancellations: [Dot: Cancellation] = [:]
    /// When a handler left last, until the waiting presses are looked at.
    private var leftAt: Int64?
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

    func holder(of press: Dot) -> ConnectionID? { holders[press] }

    func held(by id: ConnectionID) -> [Dot] {
        holders.filter { $0.value == id }.map(\.key).sorted()
    }

    /// Whether a run has no handler.
    var hasAway: Bool { !away.isEmpty }

    /// The number of connections that take presses.
    var handlerCount: Int { handlers.count }

    func takesPresses(_ id: ConnectionID) -> Bool { handlers.contains { $0.id == id } }

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
    ///
    /// - Returns: The number of runs that it held.
    @discardableResult
    mutating func leave(_ id: ConnectionID, at now: Int64) -> Int {
        rest(id)
        leftAt = now
        let held = held(by: id)
        for press in held {
            holders[press] = nil
            away[press] = now + reclaimMilliseconds
        }
        return held.count
    }

    /// A connection holds a run, because it was assigned or because its ticket came back.
    mutating func hold(_ press: Dot, _ id: ConnectionID) {
        holders[press] = id
        away[press] = nil
        waits[press] = nil
    }

    mutating func askToCancel(_ press: Dot, _ cancellation: Cancellation) {
        if cancellations[press] == nil { cancellations[press] = cancellation }
    }

    func canceller(of press: Dot) -> Author? { cancellations[press]?.author }

    /// A run has ended or waits again. Its handler is free, behind the others.
    ///
    /// - Returns: What a failed batch brings back.
    @discardableResult
    mutating func release(_ press: Dot, waitsAgain: Bool = false) -> Hold {
        waits[press] = waitsAgain ? .attended : nil
        // It waits from now on.
        if waitsAgain { leftAt = nil }
        let hold = Hold(
            holder: holders.removeValue(forKey: press), lostAt: away.removeValue(forKey: press),
            cancellation: cancellations.removeValue(forKey: press))
        if let place = handlers.firstIndex(where: { $0.id == hold.holder }) {
            handlers.append(handlers.remove(at: place))
        }
        return hold
    }

    /// A batch has failed.
    ///
    /// - Parameters:
    ///   - released: The runs of which the batch was to have the end.
    ///   - running: The presses that run in the committed state.
    ///   - waiting: Those that wait in it.
    ///   - revision: The committed revision.
    mutating func rolledBack(
        _ released: [Dot: Hold], running: Set<Dot>, waiting: Set<Dot>, revision: UInt64,
        isConnected: (ConnectionID) -> Bool
    ) {
        // Their handlers never heard of them.
        for press in holders.keys where waiting.contains(press) { waits[press] = .attended }
        for (press, hold) in released {
            holders[press] = hold.holder.flatMap { isConnected($0) ? $0 : nil }
            away[press] = hold.lostAt
            cancellations[press] = hold.cancellation
        }
        waits = waits.filter { waiting.contains($0.key) }
        holders = holders.filter { running.contains($0.key) }
        away = away.filter { running.contains($0.key) }
        cancellations = cancellations.filter {
            running.contains($0.key) && $0.value.revision <= revision
        }
    }

    // MARK: - What happens next

    /// The most steps that `next` finds at once.
    static let stepsAtOnce = 32

    /// The next steps, of which none changes another; empty if nothing happens before `deadline`.
    /// Each call looks at all presses, so it finds several.
    ///
    /// - Parameter mayHandle: Whether a connection may handle a button.
    mutating func next(
        _ buttons: [Button], at now: Int64, mayHandle: (ConnectionID, Int) -> Bool
    ) -> [Step] {
        deadline = nil
        var steps: [Step] = []
        for button in buttons {
            for run in button.board.running {
                guard let step = judge(run, button, at: now) else { continue }
                steps.append(step)
                if steps.count == Self.stepsAtOnce { return steps }
            }
        }
        if !steps.isEmpty { return steps }
        if let step = assignment(buttons, mayHandle) { return [step] }
        return expiries(buttons, at: now, mayHandle)
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

    /// The first presses that have waited too long without any handler.
    private mutating func expiries(
        _ buttons: [Button], at now: Int64, _ mayHandle: (ConnectionID, Int) -> Bool
    ) -> [Step] {
        var steps: [Step] = []
        for button in buttons {
            let isAttended = handlers.contains { handles($0, button, mayHandle) }
            for run in button.board.waiting {
                if isAttended {
                    waits[run.press] = .attended
                    continue
                }
                let since: Int64
                let least: Int64
                switch waits[run.press] {
                case .alone(let time, let atLeast): (since, least) = (time, atLeast)
                // The handler may come back.
                case .attended: (since, least) = (leftAt ?? now, reclaimMilliseconds)
                case nil: (since, least) = (now, 0)
                }
                waits[run.press] = .alone(since: since, atLeast: least)
                // By the definition in force, as a timeout is.
                let until = since + max(button.rules.waitsForMilliseconds, least)
                guard isDue(until, at: now) else { continue }
                steps.append(.end(run.press, of: button.index, as: .unhandled))
                if steps.count == Self.stepsAtOnce { return steps }
            }
        }
        leftAt = nil
        return steps
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
