// The methods of `state`: read, set, undo.

extension Engine {
    // MARK: - Reading

    func stateGet(_ params: StateGet, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.peer)
        let state = form.committed
        read(try matching(params.fields, form, state, call.connection), of: form, call)
    }

    func read(_ fields: some Collection<Int>, of form: LiveForm, _ call: PendingCall) {
        let state = form.committed
        answer(call) { writer in
            StateSnapshot.encode(
                form: form.name, log: form.log, revision: Revision(clamping: state.revision),
                into: &writer
            ) {
                state.writeToken(into: &$0)
            } fields: { writer in
                for index in fields {
                    writer.field(state.definition.controls[index].id, members: state.text(index))
                }
            }
        }
    }

    /// The fields that a read asks for, in form order.
    private func matching(
        _ names: [String]?, _ form: LiveForm, _ state: FormState, _ connection: Connection
    ) throws(WireError) -> [Int] {
        if let names, names.count == 1, Glob.isLiteral(names[0]) {
            // Nearly every read of a program names one field. It is looked up, however large the
            // form is.
            return [try index(of: names[0], form, state)]
        }
        let globs = names.map { GlobSet($0) }
        scheduler.spend(Self.units(matching: globs, fields: state.cells.count), connection.account)
        try requireMatches(globs, form, state)
        return state.indexes(matching: globs)
    }

    /// The units for matching globs against this many fields, or for sending them.
    static func units(matching globs: GlobSet?, fields: Int) -> Int {
        ((fields * (globs?.steps ?? 0)) >> 11) + (fields >> 4)
    }

    /// A glob without `*` and `?` is a field name, and the field must exist.
    func requireMatches(_ globs: GlobSet?, _ form: LiveForm, _ state: FormState) throws(WireError) {
        for name in globs?.literals ?? [] { _ = try index(of: name, form, state) }
    }

    /// The form with that name as readers see it, if the peer may read it.
    func readableForm(_ name: String, _ peer: Peer) throws(WireError) -> LiveForm {
        guard let form = durableForm(name) else { throw noForm(name, peer) }
        try require(.read, form, form.committed, nil, peer)
        return form
    }

    /// The form with that name as readers see it. While a form is being deleted and another one
    /// with its name is being created, that is the first.
    func durableForm(_ name: String) -> LiveForm? {
        if let form = form(named: name), form.isReadable { return form }
        return forms.first { $0.isReadable && $0.name.isSameBytes(as: name) }
    }

    /// The form with that name as edits see it.
    func editableForm(_ name: String, _ connection: Connection) throws(WireError) -> LiveForm {
        guard let form = form(named: name), form.isEditable else {
            throw noForm(name, connection.peer)
        }
        return form
    }

    /// Suggests only names of forms that the peer may read.
    func noForm(_ name: String, _ peer: Peer) -> WireError {
        let names = forms.filter { $0.isReadable && mayRead($0, peer) }.map(\.name)
        return .missing(
            "no form \"\(name.escapedForDisplay())\"", Similar.names(to: name, among: names),
            elseSee: "form list", form: name)
    }

    /// The index of a field, which must exist.
    func index(of id: String, _ form: LiveForm, _ state: FormState) throws(WireError) -> Int {
        guard let index = state.definition.index(of: id) else { throw noField(id, form, state) }
        return index
    }

    private func noField(_ id: String, _ form: LiveForm, _ state: FormState) -> WireError {
        .missing(
            "no field \"\(id.escapedForDisplay())\" in form \(form.name)",
            state.definition.idsSimilar(to: id), elseSee: "describe \(form.name)/",
            form: form.name, field: id)
    }

    // MARK: - Setting

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

extension FormState {
    /// The indexes of matching fields, in form order; all fields without globs.
    func indexes(matching globs: GlobSet?) -> [Int] {
        guard let globs else { return Array(cells.indices) }
        return cells.indices.filter { globs.matches(definition.controls[$0].id) }
    }

    func fields(matching globs: GlobSet?) -> [NamedField] {
        indexes(matching: globs).map {
            NamedField(id: definition.controls[$0].id, state: field($0))
        }
    }
}

extension WireError {
    /// Something does not exist; these names are similar.
    fileprivate static func missing(
        _ what: String, _ similar: [String], elseSee command: String, form: String,
        field: String? = nil
    ) -> WireError {
        let hint = similar.first.map { "did you mean \($0)?" } ?? "see pickerctl \(command)"
        var error = WireError(.notFound, "\(what); \(hint)", form: form, field: field)
        error.similar = similar
        return error
    }
}
