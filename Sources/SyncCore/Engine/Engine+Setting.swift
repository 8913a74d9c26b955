// Setting fields: from a request to its transaction and its answer.

extension Engine {
    /// Executes a plain request. Returns `false` and does nothing if it cannot be executed now, if
    /// the form or field does not exist, or if another host has it. Then the frame is decoded into
    /// a `Request`, and `perform` makes it wait or answers it.
    func executePlain(_ plain: borrowing PlainRequest, _ connection: Connection) -> Bool {
        guard connection.isIntroduced else { return false }
        switch plain.content {
        case .ping:
            return execute(plain.id, .neither, connection) { call throws(WireError) in
                answer(call) { EmptyResult().encode(into: &$0) }
            }
        case .get(let name, let field):
            // No field has a glob as its id.
            guard let form = registry.look(up: name), form.isReadable,
                let control = form.committed.definition.index(of: field)
            else { return false }
            return execute(plain.id, .read, connection) { call throws(WireError) in
                try require(.read, form, form.committed, nil, connection.peer)
                read(CollectionOfOne(control), of: form, call)
            }
        case .set(let edit): return executeSet(plain.id, edit, connection)
        }
    }

    @inline(__always)
    private func executeSet(
        _ id: PlainRequest.Text, _ edit: borrowing PlainRequest.Edit, _ connection: Connection
    ) -> Bool {
        guard let form = registry.look(up: edit.form), form.isEditable,
            let control = form.working.definition.index(of: edit.field),
            !edit.action.isPress || hostHandling(control, of: form) == nil
        else { return false }
        var key: PendingCall.KeyUse?
        if let text = edit.idempotencyKey {
            key = use(of: String(plain: text), connection) { edit.encode(into: &$0) }
        }
        return execute(id, .edit, connection, key) { call throws(WireError) in
            try set(control, of: form, edit, call)
        }
    }

    @inline(__always)
    private func execute(
        _ id: PlainRequest.Text, _ kind: Admission.Kind, _ connection: Connection,
        _ key: PendingCall.KeyUse? = nil, _ body: (PendingCall) throws(WireError) -> Void
    ) -> Bool {
        var call = PendingCall(
            connection: connection, id: RequestID(rawText: String(plain: id)),
            target: .slot(.unowed), key: key)
        if key != nil || !runsAtOnce(kind, connection) {
            guard case .run = admit(kind, call) else { return false }
        }
        counters.requests += 1
        call.target = .slot(connection.answers.reserve())
        charge(connection) {
            run(kind, call) { () throws(WireError) in try body(call) }
        }
        return true
    }
}

// MARK: - Setting

extension Engine {
    func stateSet(_ params: StateSet, _ call: PendingCall) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        let state = form.working
        let definition = state.definition
        try requireEdits(of: form, call.peer)
        if !definition.runButtons.isEmpty || call.hostCall != nil, try passOn(params, form, call) {
            return
        }
        let claim = try params.context.map { token throws(WireError) in
            try parse(token, path: "context")
        }
        let requestContext = seen(claim, form)
        var ownClaims: [CausalContext] = []
        let transaction = begin(form, call)
        transaction.lease = try params.lease.map { end throws(WireError) in
            try leaseEnd(end, "lease.until")
        }
        if !definition.runButtons.isEmpty {
            transaction.rareOrNew.runTerms = runTerms(params.message)
        }
        workspace.patternMeter.begin(configuration.limits.patternStepsMax)
        defer { workspace.patternMeter.end() }
        var permitted = DistinctIndexes()
        for place in params.changes.indices {
            let change = params.changes[place]
            let control = try index(of: change.field, form, state)
            // Each control is checked once for writing and once for pressing.
            if permitted.insert(control << 1 | (change.action.isPress ? 1 : 0)) {
                try requireEdit(change.action, form, state, control, call.peer)
                try requireMessage(params.message, definition, control, form)
                if let end = transaction.lease {
                    try requireLeaseMax(end, definition.targets[control], form)
                }
            }
            if transaction.lease != nil { try requireLeasable(change.action, control, form) }
            var own = requestContext
            if let token = change.context {
                ownClaims.append(try parse(token, path: "changes[\(place)].context"))
                own = seen(ownClaims.last, form)
            }
            if params.requireCurrent { try requireCurrent([control], own, transaction, state) }
            try apply(change.action, to: control, own, transaction)
        }
        workspace.patternMeter.end()
        if !params.requireFields.isEmpty {
            var controls: [Int] = []
            for id in params.requireFields { controls.append(try index(of: id, form, state)) }
            try requireCurrent(controls, requestContext, transaction, state)
        }
        try transaction.checkEnabled()
        try transaction.checkRuns()
        let verdict =
            definition.guards.isEmpty ? .unguarded : try judge(transaction, params, call)
        if case .proposed = verdict { return }
        transaction.approval = verdict.approval
        finish(
            transaction, .set, named: transaction.named,
            seen: claim ?? .included(inAll: ownClaims), skipped: nil, undoes: nil,
            message: params.message, call)
        endProposals(verdict, of: form)
    }

    /// `state.set` with one change, whose control is known.
    func set(
        _ control: Int, of form: LiveForm, _ edit: borrowing PlainRequest.Edit,
        _ call: PendingCall
    ) throws(WireError) {
        let connection = call.connection
        let definition = form.working.definition
        let isOpen = definition.isOpen[control] && !edit.action.isPress
        if isOpen {
            try requireWritable(form)
        } else {
            try requireEdits(of: form, connection.peer)
        }
        let claim = try edit.context.map { token throws(WireError) in
            try parse(
                String(plain: token), path: edit.hasOwnContext ? "changes[0].context" : "context")
        }
        let transaction = begin(form, connection)
        workspace.patternMeter.begin(configuration.limits.patternStepsMax)
        defer { workspace.patternMeter.end() }
        if !isOpen {
            try requireEdit(edit.action, form, form.working, control, connection.peer)
            try requireMessage(nil, definition, control, form)
        }
        if !definition.runButtons.isEmpty {
            transaction.rareOrNew.runTerms = runTerms(nil)
        }
        try apply(edit.action, to: control, seen(claim, form), transaction)
        workspace.patternMeter.end()
        try transaction.checkEnabled()
        try transaction.checkRuns()
        if !definition.guards.isEmpty { try requireApproval(transaction) }
        finish(
            transaction, .set, named: transaction.named, seen: claim ?? CausalContext(),
            skipped: nil, undoes: nil, message: nil, call)
    }

    /// Adds a change to a transaction.
    func apply(
        _ action: Change.Action, to control: Int, _ seen: Seen, _ transaction: Transaction
    ) throws(WireError) {
        let form = transaction.form
        do {
            try transaction.apply(action, to: control, seen: seen, sealer: self)
        } catch {
            try requirePatternSteps(form.name)
            throw error
        }
        try requirePatternSteps(form.name)
    }

    /// Starts a transaction with the connection's user as author.
    func begin(_ form: LiveForm, _ connection: Connection) -> Transaction {
        Transaction(
            form, author: connection.author(of: form, replica: replica),
            stamp: clocks.newStamp(), reading: clocks.read(), connection: connection,
            valuesMax: configuration.limits.valuesMax)
    }

    /// The same for a call, which may be of another host.
    func begin(_ form: LiveForm, _ call: PendingCall) -> Transaction {
        guard let asked = call.hostCall else { return begin(form, call.connection) }
        return Transaction(
            form, author: asked.author, stamp: clocks.newStamp(), reading: clocks.read(),
            valuesMax: configuration.limits.valuesMax)
    }

    /// Rejects an edit of controls that have changed since their author has seen them.
    func requireCurrent(
        _ controls: [Int], _ seen: Seen, _ transaction: Transaction, _ state: FormState
    ) throws(WireError) {
        let stale = controls.filter { control in
            state.definition.targets[control].contains { target in
                let cell = state.cells[target]
                return !cell.content.isCurrent(for: transaction.extended(seen, for: cell))
            }
        }
        if !stale.isEmpty {
            counters.refused += 1
            throw transaction.conflict(stale, "changed since you read it")
        }
    }

    // MARK: - The end of a transaction

    /// Sends the result of a transaction to its author and to all subscribers.
    ///
    /// - Parameter seen: The request's tokens. The token in the answer contains them and the new
    ///   dots, never everything that the daemon knows (CAUSALITY.md, 3).
    func finish(
        _ transaction: Transaction, _ kind: RevisionRecord.Kind, named: Few<Int>,
        seen: CausalContext, skipped: [String]?, undoes: Transaction.UndoneRevision?,
        message: String?, _ call: PendingCall
    ) {
        let form = transaction.form
        let connection = call.connection
        // The edit itself, and the notification of each subscriber.
        scheduler.spend(2 + form.subscriptionCount >> 4, connection.account)
        transaction.finish(
            kind, session: call.session, undoes: undoes, skipped: skipped ?? [])
        // A connection has seen what it wrote itself.
        if !transaction.dots.isEmpty, call.hostCall == nil {
            connection.note(transaction) { Set(forms.map(\.key)) }
        }
        if case .connection? = transaction.lease {
            for place in transaction.touched.indices {
                let target = transaction.touched[place]
                guard let stack = form.working.cells[target].content.leases else { continue }
                hold(stack.top, of: form, connection)
            }
            tidyHolders(of: form)
        }
        // The named and the changed fields, ascending.
        let answered =
            named == transaction.touched
            ? named : Few((Array(named) + transaction.touched).sortedDistinct())
        let state = transaction.state
        publish(transaction, message)
        answerEdit(call, of: form) { writer in
            SetResult.encode(
                form.stateStart, revision: Revision(clamping: transaction.revision),
                skipped: skipped, into: &writer
            ) { writer in
                if seen.isEmpty, transaction.dots.count == 1 {
                    writer.token(transaction.dots[0])
                } else {
                    writer.token(state.answerContext(seen, transaction.dots))
                }
            } fields: { writer in
                for place in answered.indices {
                    let index = answered.element(place)
                    writer.field(
                        state.definition.controls[index].id,
                        members: transaction.text(of: index) ?? state.text(index),
                        press: transaction.press(of: index))
                }
            }
        }
        if let runs = transaction.rare?.runs { notePresses(runs, of: form) }
    }
}
