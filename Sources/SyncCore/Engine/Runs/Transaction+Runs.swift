// Presses of buttons with `runs` as parts of a transaction.

extension Transaction {
    /// What counts for presses of buttons with `runs`.
    struct RunTerms {
        /// The limits for presses that wait.
        var queueMax = Int.max
        var queueBytesMax = Int.max
        /// The message of the request.
        var message: String?
    }

    /// A press of a button with `runs`.
    struct RunPress {
        let control: Int
        let dot: Dot
    }

    /// Refuses a press that its button does not accept now.
    func admitPress(_ target: Int) throws(WireError) {
        guard let rules = definition.controls[target].runs else { return }
        let id = definition.controls[target].id
        let board = form.working.board(target)
        let pressed = runPresses.filter { $0.control == target }
        if rules.mode == .one, let first = pressed.first { throw busy(id, first.dot) }
        let queueMax = runTerms.queueMax - (rules.mode == .queue ? pressed.count : 0)
        do { try board.admit(rules, queueMax: queueMax) } catch {
            switch error {
            case .busy(let press): throw busy(id, press)
            case .full:
                throw .limit(
                    "queueMax", max: Int64(runTerms.queueMax),
                    "\(runTerms.queueMax) presses of \(id) wait already (queueMax); try later")
            }
        }
        // All presses of a transaction keep the same values.
        guard runPresses.isEmpty else { return }
        let kept = form.working.busyButtons.reduce(0) { $0 + $1.board.valueBytes }
        if kept >= runTerms.queueBytesMax {
            throw .limit(
                "queueBytesMax", max: Int64(runTerms.queueBytesMax),
                "the presses of form \(form.name) that wait keep \(kept) bytes (queueBytesMax); "
                    + "try later")
        }
    }

    private func busy(_ id: String, _ press: Dot) -> WireError {
        var error = WireError(
            .busy, "\(id) handles one press at a time, and \(press) waits or runs; try later",
            form: form.name, field: id)
        error.press = press.description
        return error
    }

    /// Adds the presses of this transaction to the boards of their buttons, in the new state.
    ///
    /// - Returns: the new runs, and those that they replaced, with the ids of their buttons.
    func addRuns() -> [RunRow] {
        if runPresses.isEmpty { return [] }
        let state = form.working
        let text = state.valuesText
        // Presses between which nothing has changed share one copy.
        let kept = state.busyButtons.lazy.compactMap { $0.board.newest?.values }
        let values = kept.first { $0 == text } ?? text
        var rows: [RunRow] = []
        for press in runPresses {
            guard let rules = definition.controls[press.control].runs else { continue }
            var board = state.board(press.control)
            var run = Run(
                press: press.dot, by: author, at: stamp.milliseconds,
                pressedAt: reading.steady, message: runTerms.message, values: values,
                since: stamp.milliseconds)
            run.revision = state.revision + 1
            let dropped = board.add(run, rules)
            state.cells[press.control] = state.cells[press.control].with(board)
            let id = definition.controls[press.control].id
            rows += (dropped + [run]).map { RunRow(field: id, run: $0) }
        }
        return rows
    }
}

extension Cell {
    /// The same field with other runs.
    func with(_ board: RunBoard) -> Cell {
        let cell = Cell(
            content, revision: revision, at: at, by: by, runs: SharedRuns(board))
        cell.shown = shown
        return cell
    }
}
