// Presses of buttons with `runs`: assignment, progress and outcome. See `RunBoard` and `RunDesk`.
//
// Invariants: each transition is a revision. A handler learns of a press only when it is committed
// as running, so a press whose handler may have begun is never `waiting` after a crash.

extension Engine {
    /// When something is due in the runs of a form, and when its progress is told again.
    static let runsDeadline = OngoingName(kind: "runs", id: "")
    static let progressDeadline = OngoingName(kind: "progress", id: "")

    func runs(of form: LiveForm) -> FormRuns {
        if let runs = form.runs { return runs }
        let runs = FormRuns(reclaimMilliseconds: reclaimMilliseconds)
        form.runs = runs
        return runs
    }

    var reclaimMilliseconds: Int64 { Int64(configuration.limits.reclaimSeconds) * 1_000 }

    // MARK: - Presses

    /// What counts for presses of one request.
    func runTerms(_ message: String?) -> Transaction.RunTerms {
        Transaction.RunTerms(
            accountUID: environment.accountUID, queueMax: configuration.limits.queueMax,
            queueBytesMax: configuration.limits.queueBytesMax, message: message)
    }

    /// A transaction has pressed buttons with `runs`.
    func notePresses(_ rows: [RunRow], of form: LiveForm) {
        if rows.isEmpty { return }
        for row in rows {
            if row.run.state.isFinal {
                noteEnd(row, of: form)
            } else {
                note(row, of: form)
            }
        }
        serveRuns(of: form)
    }

    private func note(_ row: RunRow, of form: LiveForm) {
        note(row.encoded, as: RunRow.name(row.run.press), of: form)
    }

    /// Writes the outcome of a press, and forgets the oldest one beyond the limit.
    func noteEnd(_ row: RunRow, of form: LiveForm) {
        let runs = runs(of: form)
        runs.release(row.run.press, in: row.run.revision)
        note(row, of: form)
        for old in runs.noteEnd(of: row.run.press, atMost: configuration.limits.outcomesMax) {
            note(nil, as: RunRow.name(old), of: form)
        }
    }

    // MARK: - What happens next

    /// The most steps of one event. Each is a revision, and thousands may be due together.
    static let runStepsAtOnce = 128

    /// Does what is due: assigns presses, and ends those that waited or ran too long. What is left
    /// is due again at once, and others have their turn first.
    ///
    /// - Returns: The number of steps.
    @discardableResult func serveRuns(of form: LiveForm) -> Int {
        guard meetsDeadlines, form.isEditable, form.failureReport == nil else { return 0 }
        let runs = runs(of: form)
        runs.committed(form.committed.revision)
        let time = clocks.steadyMilliseconds()
        var taken = 0
        while taken < Self.runStepsAtOnce {
            let steps = runs.desk.next(form.working.busyButtons, at: time) { id, index in
                connections[id].map { mayHandle($0, index, form) } ?? false
            }
            if steps.isEmpty {
                noteAway(of: form)
                setDeadline(Self.runsDeadline, of: form, at: runs.desk.deadline)
                return taken
            }
            for step in steps { perform(step, form, runs, at: time) }
            taken += steps.count
        }
        setDeadline(Self.runsDeadline, of: form, at: time)
        // So that deadlines pause: others would wait for the rest otherwise.
        return max(taken, Self.deadlinesAtOnce)
    }

    func setDeadline(_ name: OngoingName, of form: LiveForm, at time: Int64?) {
        let name = Deadlines.Name(form: form.key, name: name)
        if let time {
            clocks.deadlines.set(name, at: .steady(time))
        } else {
            clocks.deadlines.cancel(name)
        }
    }

    func mayHandle(_ connection: Connection, _ index: Int, _ form: LiveForm) -> Bool {
        func may(_ action: FormAction, _ control: Int?) -> Bool {
            form.working.definition.permits(
                action, control: control, peer: connection.peer,
                owner: owner(of: form, for: connection.peer, action, control),
                daemonUID: configuration.daemonUID)
        }
        return may(.handle, index) && may(.read, nil)
    }

    private func perform(
        _ step: RunDesk.Step, _ form: LiveForm, _ runs: FormRuns, at time: Int64
    ) {
        let stamp = clocks.newStamp()
        switch step {
        case .assign(let press, let index, let id):
            guard let connection = connections[id] else { return runs.desk.rest(id) }
            let author = connection.author(of: form, replica: replica)
            let ticket = RunTicket(
                form: form.key, first: environment.random(), second: environment.random())
            var board = form.working.board(index)
            guard
                let run = board.assign(
                    press, to: author, ticket, at: stamp.milliseconds, steady: time)
            else { return }
            runs.desk.hold(press, id)
            let row = revise(form, index, board, run, by: author, stamp)
            note(row, of: form)
            tell(id, assignment(of: row, ticket, form), of: form)
        case .runAgain(let press, let index):
            var board = form.working.board(index)
            guard let run = board.runAgain(press, at: stamp.milliseconds) else { return }
            runs.release(press, in: form.working.revision + 1, waitsAgain: true)
            note(revise(form, index, board, run, by: daemon(for: run.by), stamp), of: form)
        case .end(let press, let index, let state):
            let holder = runs.desk.holder(of: press)
            guard let row = endRun(press, of: index, form, as: state) else { return }
            if let holder { tell(holder, cancellation(of: row, form, state: state), of: form) }
        }
    }

    /// A press ends in a revision of its own, by its own if nobody ends it; `nil` if it has ended
    /// before.
    func endRun(
        _ press: Dot, of index: Int, _ form: LiveForm, as state: RunState, by author: Author? = nil,
        text: String? = nil, status: Int64? = nil
    ) -> RunRow? {
        let stamp = clocks.newStamp()
        var board = form.working.board(index)
        guard
            let run = board.end(
                press, as: state, at: stamp.milliseconds, in: form.working.revision + 1,
                text: text, status: status)
        else { return nil }
        let row = revise(form, index, board, run, by: author ?? daemon(for: run.by), stamp)
        noteEnd(row, of: form)
        return row
    }

    /// The author of what the daemon does by itself with a press or a lease of somebody.
    func daemon(for by: Author) -> Author {
        Author(
            user: by.user, uid: by.uid, client: "pickersyncd", connection: 0, replica: replica,
            host: by.host
        ).withText()
    }

    /// Makes a revision with the new runs of a button.
    func revise(
        _ form: LiveForm, _ index: Int, _ board: RunBoard, _ run: Run, by author: Author,
        _ stamp: HybridTimestamp
    ) -> RunRow {
        let state = form.working
        let definition = state.definition
        // Other buttons may show it.
        let order =
            ([index]
            + definition.dependents[index].filter {
                definition.types[$0] == .button
            }).sortedDistinct()
        let transaction = Transaction(form, author: author, stamp: stamp, reading: clocks.read())
        transaction.touched = Few(order)
        transaction.before = transaction.touched.mapped { state.cellAsShown($0) }
        state.revision += 1
        for place in order {
            let old = state.cells[place]
            let cell = Cell(
                old.content, revision: state.revision, at: stamp.milliseconds, by: author,
                runs: place == index ? SharedRuns(board) : old.runs)
            cell.shown = old.shown
            state.cells[place] = cell
        }
        let ids = order.map { definition.controls[$0].id }
        transaction.revision = state.revision
        transaction.record = RevisionRecord(
            kind: .run, at: stamp.milliseconds, by: author,
            .details(
                .init(
                    derived: ids.filter { $0 != definition.controls[index].id }, run: run.wire,
                    touched: Few(ids))))
        publish(transaction, nil)
        return RunRow(field: definition.controls[index].id, run: run)
    }

    // MARK: - Handlers

    /// Sends a notification to one connection, behind the commit of what it is about.
    func tell(_ id: ConnectionID, _ frame: [UInt8], of form: LiveForm) {
        guard configuration.durability == .commit,
            form.working.revision != form.committed.revision
        else { return notify(id, frame) }
        // Without changes the batch would not be written.
        link.gathering.withChanges(form) { _ in }
        link.gathering.events.append(.told(form, id, frame: frame))
    }

    /// Sends a notification to one connection, if it is still there.
    func notify(_ id: ConnectionID, _ frame: [UInt8]) {
        guard let connection = connections[id], connection.progress != .ending else { return }
        connection.answers.append(frame)
        scheduler.markReady(connection)
    }

    private func assignment(of row: RunRow, _ ticket: RunTicket, _ form: LiveForm) -> [UInt8] {
        let run = row.run
        let assigned = ButtonAssigned(
            form: form.name, field: row.field, press: run.press.description, ticket: ticket.text,
            by: run.by.wire, at: Timestamp(milliseconds: run.at), message: run.message,
            isAgain: run.isAgain, values: .null)
        return Answer.frame("button.assigned") { writer in
            assigned.encode(into: &writer) { $0.raw(run.values) }
        }
    }

    func cancellation(
        of row: RunRow, _ form: LiveForm, by author: Author? = nil, state: RunState? = nil
    ) -> [UInt8] {
        Answer.frame(
            .buttonCancelled(
                ButtonCancelled(
                    form: form.name, field: row.field, press: row.run.press.description,
                    by: author?.wire, state: state)))
    }

    /// A connection has ended: its runs wait for their tickets.
    func leaveRuns(_ connection: Connection) {
        let time = clocks.steadyMilliseconds()
        for form in connection.takeHandled() {
            guard let runs = form.runs else { continue }
            // Each of its runs is told as away.
            scheduler.spend(2 + runs.desk.leave(connection.id, at: time), connection.account)
            // Many handlers may leave together: all presses are looked at once for them.
            setDeadline(Self.runsDeadline, of: form, at: time)
        }
    }

    // MARK: - Definitions and failures

    /// A new definition is in force: presses of buttons that are gone, or have no `runs` any more,
    /// are cancelled in its revision. The others may have new names.
    func adoptRuns(of form: LiveForm, before: FormState, at milliseconds: Int64) {
        guard form.runs != nil else { return }
        let state = form.working
        var kept: Set<Dot> = []
        for button in state.busyButtons {
            for run in button.board.active {
                kept.insert(run.press)
                note(RunRow(field: button.id, run: run), of: form)
            }
        }
        for button in before.busyButtons {
            var board = button.board
            for run in button.board.active where !kept.contains(run.press) {
                let holder = form.runs?.desk.holder(of: run.press)
                guard
                    let ended = board.end(
                        run.press, as: .cancelled, at: milliseconds, in: state.revision)
                else { continue }
                let row = RunRow(field: button.id, run: ended)
                noteEnd(row, of: form)
                if let holder {
                    tell(holder, cancellation(of: row, form, state: .cancelled), of: form)
                }
            }
        }
        moveOutcomes(of: form, before: before)
        serveRuns(of: form)
    }

    /// The outcomes of a button follow it to its new name. Without the button they are past.
    private func moveOutcomes(of form: LiveForm, before: FormState) {
        let state = form.working
        var names: [String: String?] = [:]
        for index in before.definition.runButtons {
            guard let runs = before.cells[index].runs else { continue }
            let place = state.definition.runButtons.first { state.cells[$0].runs === runs }
            let id = before.definition.controls[index].id
            let name = place.map { state.definition.controls[$0].id }
            if name != id { names.updateValue(name, forKey: id) }
        }
        if names.isEmpty { return }
        for (_, bytes) in state.ongoing.rows(ofKind: RunRow.kind) {
            guard var row = try? RunRow(decoding: bytes), row.run.state.isFinal, !row.isPast,
                let name = names[row.field]
            else { continue }
            row.field = name ?? row.field
            row.isPast = name == nil
            note(row, of: form)
        }
    }

    /// The form is as it was committed: runs are held by those who held them then.
    func rollBackRuns(of form: LiveForm) {
        form.runs?.rolledBack(to: form.working) { connections[$0] != nil }
    }

    func restoreRuns(of form: LiveForm, _ state: FormState) throws(EngineStartError) {
        var byField: [String: [Run]] = [:]
        var all: [Run] = []
        for (id, bytes) in state.ongoing.rows(ofKind: RunRow.kind) {
            do {
                let row = try RunRow(decoding: bytes)
                all.append(row.run)
                if !row.isPast { byField[row.field, default: []].append(row.run) }
            } catch {
                throw EngineStartError("press \(id) of form \(form.name) cannot be read: \(error)")
            }
        }
        if all.isEmpty { return }
        form.runs = FormRuns(reclaimMilliseconds: reclaimMilliseconds, restored: all)
        for index in state.definition.runButtons {
            guard let runs = byField[state.definition.controls[index].id] else { continue }
            state.cells[index] = state.cells[index].with(RunBoard(runs))
        }
        // The first event looks at what is due.
        setDeadline(Self.runsDeadline, of: form, at: clocks.steadyMilliseconds())
    }
}
