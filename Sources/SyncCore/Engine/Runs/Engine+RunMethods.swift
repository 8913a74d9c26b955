// The methods of `button`: see `Engine+Runs`.

extension Engine {
    // MARK: - Handlers

    /// A connection takes presses of buttons, and holds runs again whose tickets it has.
    func buttonHandle(_ params: ButtonHandle, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        let form = try editableForm(params.form, connection)
        let state = form.working
        try require(.read, form, state, nil, connection.peer)
        let globs = params.fields.map { GlobSet($0) }
        scheduler.spend(Self.units(matching: globs, fields: state.cells.count), connection.account)
        try requireMatches(globs, form, state)
        let buttons = try handled(params.fields, globs, form, connection)
        let runs = runs(of: form)
        if !buttons.isEmpty { try requireHandlersMax(runs.desk, connection, form) }
        var held: [RunRow] = []
        let active = state.busyButtons
        scheduler.spend(active.reduce(0) { $0 + $1.board.running.count } >> 4, connection.account)
        for text in params.tickets {
            guard let ticket = RunTicket(text) else { continue }
            for button in active {
                guard let run = button.board.running.first(where: { $0.ticket == ticket }) else {
                    continue
                }
                runs.desk.hold(run.press, connection.id)
                held.append(RunRow(field: button.id, run: run))
            }
        }
        if buttons.isEmpty {
            runs.desk.rest(connection.id)
        } else {
            runs.desk.handle(connection.id, globs)
        }
        connection.handles(form)
        let result = HandleResult(
            form: form.name, fields: buttons.map { state.definition.controls[$0].id },
            tickets: held.compactMap { $0.run.ticket?.text })
        answer(call) { result.encode(into: &$0) }
        for row in held {
            if let author = runs.desk.canceller(of: row.run.press) {
                notify(connection.id, cancellation(of: row, form, by: author))
            }
        }
        serveRuns(of: form)
    }

    /// Rejects a handler beyond the limit.
    private func requireHandlersMax(
        _ desk: RunDesk, _ connection: Connection, _ form: LiveForm
    ) throws(WireError) {
        let max = configuration.limits.handlersMax
        if desk.handlerCount < max || desk.takesPresses(connection.id) { return }
        throw .limit(
            "handlersMax", max: max,
            "\(max) connections handle form \(form.name) already (handlersMax)", form: form.name)
    }

    /// The buttons that a request names and the peer may handle.
    private func handled(
        _ names: [String]?, _ globs: GlobSet?, _ form: LiveForm, _ connection: Connection
    ) throws(WireError) -> [Int] {
        let state = form.working
        for name in names ?? [] where Glob.isLiteral(name) {
            guard let index = state.definition.index(of: name) else { continue }
            guard state.definition.controls[index].runs != nil else {
                throw WireError(
                    .invalidParams,
                    "\(name) has no runs, so nobody handles it; add runs to it in the form",
                    form: form.name, field: name, path: "fields")
            }
            try require(.handle, form, state, index, connection.peer)
            try requireHandledHere(index, of: form)
        }
        let buttons = state.definition.runButtons.filter {
            globs?.matches(state.definition.controls[$0].id) ?? true
        }
        guard let first = buttons.first else {
            if names?.isEmpty ?? false { return [] }
            throw WireError(
                .invalidParams, "no such button of form \(form.name) has runs; add runs to one",
                form: form.name, path: "fields")
        }
        let permitted = buttons.filter {
            mayHandle(connection, $0, form) && hostHandling($0, of: form) == nil
        }
        if permitted.isEmpty {
            try require(.handle, form, state, first, connection.peer)
            try requireHandledHere(first, of: form)
        }
        return permitted
    }

    // MARK: - Progress and outcome

    /// The run that a ticket holds.
    private func run(
        _ text: String, _ press: String
    ) throws(WireError) -> (form: LiveForm, row: RunRow) {
        let ticket = RunTicket(text)
        let form = ticket.flatMap { ticket in forms.first { $0.key == ticket.form } }
        guard let form, form.isEditable, let dot = Dot(press), let row = form.working.run(dot),
            row.run.ticket == ticket
        else {
            throw WireError(
                .forbidden,
                "another handler holds this press, or nobody does: only the ticket of "
                    + "button.assigned proves it", path: "ticket")
        }
        if row.run.state.isFinal { throw ended(row, form) }
        return (form, row)
    }

    private func ended(_ row: RunRow, _ form: LiveForm) -> WireError {
        let run = row.run.wire
        return .over(
            "run", run.state.rawValue, by: run.handler?.user, at: run.since,
            "press \(run.press) of \(row.field) has ended: it is \(run.state.rawValue)",
            form: form.name, field: row.field,
            ("run", try? JSON(parsing: JSONWriter.bytes { run.encode(into: &$0) })))
    }

    func buttonProgress(_ params: ButtonProgress, _ call: PendingCall) throws(WireError) {
        let (form, row) = try run(params.ticket, params.press)
        let runs = runs(of: form)
        // A ticket alone is not a handler that came back: only button.handle holds a run again.
        let progress = ButtonProgressed(
            form: form.name, field: row.field, press: params.press, fraction: params.fraction,
            text: params.text, isAway: runs.desk.holder(of: row.run.press) == nil)
        scheduler.spend(form.subscriptionCount >> 4, call.connection.account)
        runs.progress.note(
            row.run.press, field: form.names.number(of: row.field), progress)
        tellProgress(of: form)
        answer(call) { EmptyResult().encode(into: &$0) }
    }

    /// Notes which runs have lost their handler, or have it again, for the subscribers.
    func noteAway(of form: LiveForm) {
        let runs = runs(of: form)
        guard runs.desk.hasAway || runs.progress.hasAway else { return }
        for button in form.working.busyButtons {
            for run in button.board.running {
                let isAway = runs.desk.holder(of: run.press) == nil
                let last = runs.progress.progress(of: run.press)
                guard isAway != last?.isAway ?? false else { continue }
                runs.progress.note(
                    run.press, field: form.names.number(of: button.id),
                    ButtonProgressed(
                        form: form.name, field: button.id, press: run.press.description,
                        fraction: last?.fraction, text: last?.text, isAway: isAway))
            }
        }
        tellProgress(of: form)
    }

    /// Tells the subscribers of a form the progress of its runs, at most ten times a second.
    func tellProgress(of form: LiveForm) {
        guard let runs = form.runs else { return }
        if runs.progress.tell(at: clocks.steadyMilliseconds()) { scheduler.noteNews(of: form) }
        setDeadline(Self.progressDeadline, of: form, at: runs.progress.deadline)
    }

    func buttonFinish(_ params: ButtonFinish, _ call: PendingCall) throws(WireError) {
        let (form, row) = try run(params.ticket, params.press)
        try requireWritable(form)
        let index = try index(of: row.field, form, form.working)
        let isCancelled = runs(of: form).desk.canceller(of: row.run.press) != nil
        let state: RunState =
            params.outcome == .done ? .done : isCancelled ? .cancelled : .failed
        scheduler.spend(2 + form.subscriptionCount >> 4, call.connection.account)
        try end(row, of: index, form, as: state, text: params.text, status: params.status, call)
    }

    /// Ends a press and answers with its outcome.
    private func end(
        _ row: RunRow, of index: Int, _ form: LiveForm, as state: RunState, text: String? = nil,
        status: Int64? = nil, _ call: PendingCall
    ) throws(WireError) {
        let author = call.author(of: form, replica: replica)
        guard
            let outcome = endRun(
                row.run.press, of: index, form, as: state, by: author, text: text, status: status)
        else { throw ended(row, form) }
        answer(call, with: outcome, of: form)
        serveRuns(of: form)
    }

    func buttonCancel(_ params: ButtonCancel, _ call: PendingCall) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        try require(.read, form, form.working, nil, call.peer)
        try requireWritable(form)
        let index = try index(of: params.field, form, form.working)
        try require(.press, form, form.working, index, call.peer)
        guard let dot = Dot(params.press), let row = form.working.run(dot),
            row.field.isSameBytes(as: params.field)
        else {
            if try passOn(params, form, call) { return }
            throw noPress(params.press, form, field: params.field)
        }
        scheduler.spend(2 + form.subscriptionCount >> 4, call.connection.account)
        switch row.run.state {
        case .waiting: try end(row, of: index, form, as: .cancelled, call)
        case .running:
            let author = call.author(of: form, replica: replica)
            let runs = runs(of: form)
            // Told once: who asks again must not fill the queue of the handler's connection.
            let isKnown = runs.desk.canceller(of: dot) != nil
            runs.desk.askToCancel(
                dot, RunDesk.Cancellation(author: author, revision: form.working.revision))
            answer(call, with: row, of: form)
            if !isKnown, let holder = runs.desk.holder(of: dot) {
                tell(holder, cancellation(of: row, form, by: author), of: form)
            }
        default: throw ended(row, form)
        }
    }

    func buttonOutcome(_ params: ButtonOutcome, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.peer)
        let dot = Dot(params.press)
        guard let row = dot.flatMap(form.committed.run) else {
            let told = runElsewhere(params.press, form)
            if told?.run.state.isFinal != true {
                do throws(WireError) {
                    if let dot, try passOn(params, dot, form, call) { return }
                } catch {
                    // What was told last is better than nothing.
                    if told == nil { throw error }
                }
            }
            if let told { return answer(call) { told.encode(into: &$0) } }
            throw noPress(params.press, form)
        }
        let result = result(row, form, form.committed)
        answer(call) { result.encode(into: &$0) }
    }

    private func noPress(_ press: String, _ form: LiveForm, field: String? = nil) -> WireError {
        WireError(
            .notFound,
            "no press \(press.escapedForDisplay()) in form \(form.name); only presses of buttons "
                + "with runs are known, the newest \(configuration.limits.outcomesMax)",
            form: form.name, field: field, path: "press")
    }

    private func answer(_ call: PendingCall, with row: RunRow, of form: LiveForm) {
        let result = result(row, form, form.working)
        answerEdit(call, of: form) { result.encode(into: &$0) }
    }

    private func result(_ row: RunRow, _ form: LiveForm, _ state: FormState) -> RunResult {
        RunResult(
            form: form.name, field: row.field, revision: Revision(clamping: state.revision),
            run: row.run.wire)
    }
}
