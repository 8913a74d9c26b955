/// What a form has for its buttons with `runs`, beside the runs themselves. A form that nobody
/// handles or presses has none. Confined to the loop.
final class FormRuns {
    var desk: RunDesk
    var progress = ProgressBoard()
    /// The presses that have ended, oldest first. Some may be gone after a failed batch.
    private(set) var ended: [Dot] = []
    /// Who held runs whose end is not committed yet.
    private var released: [Dot: ConnectionID] = [:]

    /// - Parameter restored: What the store has of the form's runs.
    init(reclaimMilliseconds: Int64, restored: [Run] = []) {
        desk = RunDesk(reclaimMilliseconds: reclaimMilliseconds, restored: restored)
        ended = restored.filter(\.state.isFinal).sorted(by: Run.endedEarlier).map(\.press)
    }

    /// A run has ended or waits again.
    func release(_ press: Dot, waitsAgain: Bool = false) {
        released[press] = desk.holder(of: press)
        desk.release(press, waitsAgain: waitsAgain)
        progress.remove(press)
    }

    /// Notes the end of a press; returns the one whose outcome is forgotten for it.
    func noteEnd(of press: Dot, atMost max: Int) -> Dot? {
        ended.append(press)
        return ended.count > max ? ended.removeFirst() : nil
    }

    /// Forgets who held runs that do not run after a failed batch either.
    ///
    /// - Parameter running: The runs in the committed state.
    func forgetReleased(but running: () -> Set<Dot>) {
        if released.isEmpty { return }
        let running = running()
        released = released.filter { running.contains($0.key) }
    }

    /// A batch has failed: these runs are under way again, held by those who held them.
    func rolledBack(running: Set<Dot>, isConnected: (ConnectionID) -> Bool) {
        for (press, id) in released where running.contains(press) && isConnected(id) {
            desk.hold(press, id)
        }
        released = [:]
        desk.forgetAll(but: running)
        progress.removeAll(but: running)
        ended.removeAll(where: running.contains)
    }
}

extension FormState {
    /// The runs of a control; empty for one without.
    func board(_ index: Int) -> RunBoard { cells[index].runs?.board ?? RunBoard() }

    /// The buttons that have runs under way.
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

    /// The values of all fields as JSON text, without secrets.
    var valuesText: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for index in cells.indices where definition.types[index] != .secure {
            writer.key(named: definition.controls[index].id)
            writer.value(shown(index).value)
        }
        writer.endObject()
        return writer.take()
    }
}
