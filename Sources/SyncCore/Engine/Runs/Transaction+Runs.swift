// Presses of buttons with `runs` as parts of a transaction.

extension Transaction {
    /// What counts for presses of buttons with `runs`.
    struct RunTerms {
        var accountUID: @Sendable (UInt32) -> UInt32 = { $0 }
        /// The limits for presses that wait.
        var queueMax = Int.max
        var queueBytesMax = Int.max
        var message: String?
    }

    /// The presses of buttons with `runs`. A class, because nearly no transaction has any, and each
    /// copies its own size.
    final class RunPresses {
        /// In the order of the request.
        private(set) var all: [(control: Int, dot: Dot)] = []
        /// The first press and the number of presses, by control.
        private var counts = IndexTable<(first: Dot, count: Int)>()
        /// The values that each keeps, as JSON text: those after the transaction.
        fileprivate(set) var values: [UInt8] = []

        /// The first press of a control, and how often it was pressed; `nil` if it was not.
        subscript(control: Int) -> (first: Dot, count: Int)? {
            counts.place(of: control).map { counts.with($0) { $0 } }
        }

        func add(_ dot: Dot, of control: Int) {
            all.append((control, dot))
            let known = self[control]
            counts.set((known?.first ?? dot, 1 + (known?.count ?? 0)), at: control)
        }
    }

    /// Refuses a press that its button does not accept now.
    func admitPress(_ target: Int) throws(WireError) {
        guard let rules = definition.controls[target].runs else { return }
        let id = definition.controls[target].id
        let (pressed, terms) = (rare?.runPresses?[target], rare?.runTerms ?? RunTerms())
        if rules.mode == .one, let pressed { throw busy(id, pressed.first) }
        let board = state.board(target)
        do {
            try board.admit(
                rules, added: pressed?.count ?? 0, queueMax: terms.queueMax, isOwn: isOwn)
        } catch {
            switch error {
            case .busy(let press): throw busy(id, press)
            case .full(let waiting):
                throw .limit(
                    "queueMax", max: terms.queueMax,
                    "\(waiting) presses of \(id) wait already (queueMax); try later")
            }
        }
    }

    /// Whether a press is one of the author of this transaction, under any uid.
    private func isOwn(_ run: Run) -> Bool {
        let account = rare?.runTerms.accountUID ?? { $0 }
        return account(run.by.uid) == account(author.uid)
    }

    /// Refuses presses whose values take too much, once all changes are known. Each press is judged
    /// by what those before it keep.
    func checkRuns() throws(WireError) {
        guard let rare, let runPresses = rare.runPresses else { return }
        runPresses.values = valuesText()
        let boards = state.busyButtons.map(\.board)
        let added = (runPresses.all.count - 1) * runPresses.values.count
        let kept = added + boards.reduce(0) { $0 + $1.valueBytes }
        let bytesMax = rare.runTerms.queueBytesMax
        if kept < bytesMax { return }
        let own = boards.lazy.flatMap(\.active).filter(isOwn).reduce(added) {
            $0 + $1.values.count
        }
        if QueueShare.admits(own: own, all: kept, max: bytesMax) { return }
        throw .limit(
            "queueBytesMax", max: bytesMax,
            "the presses of form \(form.name) that wait would keep \(kept) bytes (queueBytesMax); "
                + "try later")
    }

    /// The values of all fields after the changes so far, as JSON text without secrets.
    private func valuesText() -> [UInt8] {
        let changed = definition.withDependents(written.sortedDistinct())
        var writer = JSONWriter()
        writer.beginObject()
        for index in state.cells.indices where definition.types[index] != .secure {
            writer.key(named: definition.controls[index].id)
            let shown =
                changed.contains(sorted: index)
                ? definition.shown(index) { value($0) } : state.shown(index)
            writer.value(shown.value)
        }
        writer.endObject()
        return writer.take()
    }

    private func busy(_ id: String, _ press: Dot) -> WireError {
        var error = WireError(
            .busy, "\(id) handles one press at a time, and \(press) waits or runs; try later",
            form: form.name, field: id)
        error.press = press.description
        return error
    }

    /// Adds the presses of this transaction to the boards of their buttons, in the new state.
    func addRuns() {
        guard let rare, let runPresses = rare.runPresses else { return }
        let text = runPresses.values
        // Presses between which nothing has changed share one copy.
        let kept = state.busyButtons.lazy.compactMap { $0.board.newest?.values }
        let values = kept.first { $0 == text } ?? text
        for press in runPresses.all {
            guard let rules = definition.controls[press.control].runs else { continue }
            var board = state.board(press.control)
            var run = Run(
                press: press.dot, by: author, at: stamp.milliseconds,
                pressedAt: reading.steady, message: rare.runTerms.message, values: values,
                since: stamp.milliseconds)
            run.revision = state.revision + 1
            let dropped = board.add(run, rules)
            state.cells[press.control] = state.cells[press.control].with(board)
            let id = definition.controls[press.control].id
            rare.runs += (dropped + [run]).map { RunRow(field: id, run: $0) }
        }
    }
}

extension Cell {
    func with(_ board: RunBoard) -> Cell {
        let cell = Cell(
            content, revision: revision, at: at, by: by, runs: SharedRuns(board))
        cell.shown = shown
        return cell
    }
}
