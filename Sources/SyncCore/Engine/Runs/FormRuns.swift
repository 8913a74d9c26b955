/// What a form has for its buttons with `runs`, beside the runs themselves. A form that nobody
/// handles or presses has none. Confined to the loop.
final class FormRuns {
    var desk: RunDesk
    var progress = ProgressBoard() { didSet { if progress.isEmpty { sent = [:] } } }
    /// The newest progress that was sent to each subscriber, while there is any. Not part of
    /// `Subscription`, because most forms have no progress.
    private var sent: [ObjectIdentifier: UInt64] = [:]
    /// The presses that have ended, oldest first.
    private var ended = Queue<Dot>()
    /// What was known of runs whose end may not be committed yet, with the revision of the end.
    private var released: [(press: Dot, revision: UInt64, hold: RunDesk.Hold)] = []

    /// - Parameter restored: What the store has of the form's runs.
    init(reclaimMilliseconds: Int64, restored: [Run] = []) {
        desk = RunDesk(reclaimMilliseconds: reclaimMilliseconds, restored: restored)
        noteEnded(among: restored)
    }

    /// A run has ended or waits again, in that revision.
    func release(_ press: Dot, in revision: UInt64, waitsAgain: Bool = false) {
        released.append((press, revision, desk.release(press, waitsAgain: waitsAgain)))
        progress.remove(press)
    }

    // MARK: - Progress

    /// Whether there is progress that was not sent to a subscriber.
    func hasProgress(for subscription: Subscription) -> Bool {
        !progress.isEmpty && sent[ObjectIdentifier(subscription)] ?? 0 < progress.sequence
    }

    /// Adds the progress that was not sent to a subscriber to a write.
    func readProgress(for subscription: Subscription, into output: inout Output) {
        if progress.isEmpty { return }
        let id = ObjectIdentifier(subscription)
        var cursor = sent[id] ?? 0
        progress.read(from: &cursor, filter: subscription.filter, into: &output)
        sent[id] = cursor
    }

    /// A subscriber is gone.
    func forget(_ subscription: Subscription) { sent[ObjectIdentifier(subscription)] = nil }

    // MARK: - Outcomes

    private func noteEnded(among runs: [Run]) {
        ended = Queue()
        let final = runs.filter(\.state.isFinal)
        for run in final.sorted(by: Run.endedEarlier) { ended.append(run.press) }
    }

    /// Notes the end of a press; returns those whose outcomes are forgotten for it.
    func noteEnd(of press: Dot, atMost max: Int) -> [Dot] {
        ended.append(press)
        var gone: [Dot] = []
        while ended.count > max, let press = ended.takeFirst() { gone.append(press) }
        return gone
    }

    func committed(_ revision: UInt64) { released.removeAll { $0.revision <= revision } }

    /// A batch has failed: the runs are those of the committed state, held by those who held them.
    func rolledBack(to state: FormState, isConnected: (ConnectionID) -> Bool) {
        committed(state.revision)
        let running = state.runningPresses
        let waiting = Set(
            state.definition.runButtons.lazy.flatMap { state.board($0).waiting.map(\.press) })
        // The first end of a press was that of the run in the committed state.
        let holds = Dictionary(released.map { ($0.press, $0.hold) }) { first, _ in first }
        desk.rolledBack(
            holds, running: running, waiting: waiting, revision: state.revision,
            isConnected: isConnected)
        released = []
        progress.removeAll(but: running)
        noteEnded(
            among: state.ongoing.rows(ofKind: RunRow.kind).compactMap { row in
                try? RunRow(decoding: row.state).run
            })
    }
}

extension FormState {
    /// The runs of a control; empty for one without.
    func board(_ index: Int) -> RunBoard { cells[index].runs?.board ?? RunBoard() }

    var busyButtons: [RunDesk.Button] {
        definition.runButtons.compactMap { index in
            guard let board = cells[index].runs?.board, board.isActive,
                let rules = definition.controls[index].runs
            else { return nil }
            return RunDesk.Button(
                index: index, id: definition.controls[index].id, rules: rules, board: board)
        }
    }

    /// The presses that handlers hold.
    var runningPresses: Set<Dot> {
        Set(definition.runButtons.lazy.flatMap { self.board($0).running.map(\.press) })
    }

    /// The row of a press, whatever its state; `nil` if it is not known.
    func run(_ press: Dot) -> RunRow? {
        ongoing[RunRow.name(press)].flatMap { try? RunRow(decoding: $0) }
    }
}
