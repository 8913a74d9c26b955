// The end of a transaction: checks on the resulting state, and the result.

extension Transaction {
    // MARK: - Checks

    /// A conflict error, which contains the current values.
    func conflict(_ controls: [Int], _ why: String) -> WireError {
        // The edit may name a field twice, but the error lists it once.
        let controls = Set(controls).sorted()
        let ids = controls.map { definition.controls[$0].id }
        var error = WireError(
            .conflict,
            "\(ids.joined(separator: ", ")): \(why); read the values again and decide",
            form: form.name, field: ids.first)
        error.fields = controls.map {
            NamedField(id: definition.controls[$0].id, state: state.field($0))
        }
        return error
    }

    /// Checks the conditions of controls, the named ones by default, on the state after all
    /// changes.
    func checkEnabled(_ controls: Few<Int>? = nil) throws(WireError) {
        let named = controls ?? named
        // Most controls have no condition.
        if named.allSatisfy({ !definition.mayBeDisabled($0) }) { return }
        var checked = DistinctIndexes()
        let judge = ConditionEvaluator(definition) { self.value($0) }
        for control in named where checked.insert(control) && !judge.isEnabled(control) {
            let id = definition.controls[control].id
            throw WireError(
                .disabled,
                "\(id) is disabled; pickerctl describe \(id) shows what it depends on",
                form: form.name, field: id)
        }
    }

    // MARK: - The end

    /// Whether nothing would change.
    var isIdle: Bool { written.isEmpty && (rare?.leased.isEmpty ?? true) }

    /// Applies all changes to the form's working state as one revision.
    func finish(
        _ kind: RevisionRecord.Kind, session: String?, undoes: UndoneRevision?, skipped: [String]
    ) {
        var written = written.sortedDistinct()
        if let leased = rare?.leased, !leased.isEmpty {
            written = Few((Array(written) + leased).sortedDistinct())
        }
        revision = state.revision
        silent = onlySilent(but: written)
        shared = form.link == nil ? nil : sharedChange(written, silent)
        for index in silent {
            state.cells[index] = state.cells[index].withSilentWrites(content(index))
        }
        guard !isIdle else {
            state.context = context
            return
        }
        let order = definition.withDependents(written)
        // The earlier values of all fields are computed before any cell changes.
        before = order.mapped { state.cellAsShown($0) }
        if let rare, !rare.concurrent.isEmpty {
            rare.concurrent = definition.withDependents(rare.concurrent.sortedDistinct())
        }
        record = RevisionRecord(
            kind: kind, at: stamp.milliseconds, by: author, session: session,
            isJoined: form.link.map { author.host != nil && author.host != $0.host } ?? false,
            usualContent(order, kind) ?? content(order, written, undoes, skipped: skipped))
        revision += 1
        for place in order.indices {
            let index = order.element(place)
            let cell = self.cell(index)
            // What only derives from written controls has no cell of this revision yet.
            state.cells[index] =
                cell.revision == revision
                ? cell
                : Cell(
                    cell.content, revision: revision, at: stamp.milliseconds, by: author,
                    runs: state.cells[index].runs)
        }
        addRuns()
        touched = order
        state.revision = revision
        // Only a change without a write has a dot of its own.
        let isWritten = !dots.isEmpty
        state.context = isWritten ? context : shared.map { context.union($0.context) } ?? context
    }

    /// What the record of nearly every transaction has; `nil` if it needs more.
    private func usualContent(
        _ order: Few<Int>, _ kind: RevisionRecord.Kind
    ) -> RevisionRecord.Content? {
        guard kind == .set, rare == nil, order.count == 1,
            let last = lastWrite(of: order.element(0))
        else { return nil }
        let before = state.cells[order.element(0)]
        guard case .register(let register) = before.content.store, register.siblings.count < 2,
            before.content.silentWrites.isEmpty, before.content.leases == nil
        else { return nil }
        return .write(
            RevisionRecord.RegisterWrite(
                field: definition.controls[order.element(0)].id, dot: last.dot,
                over: register.siblings.first?.dot, was: before.isSet ? before.value : nil))
    }

    private func content(
        _ order: Few<Int>, _ written: Few<Int>, _ undoes: UndoneRevision?, skipped: [String]
    ) -> RevisionRecord.Content {
        func ids(_ indexes: some Collection<Int>) -> [String] {
            indexes.map { definition.controls[$0].id }
        }
        var lost = JSONObject()
        for index in concurrent where written.contains(sorted: index) {
            lost[definition.controls[index].id] = content(index).lost(
                { !state.context.contains($0) }, index, of: definition)
        }
        return .details(
            RevisionRecord.Details(
                derived: ids(order.filter { !written.contains(sorted: $0) }),
                concurrent: ids(concurrent), lost: lost, undo: undoSteps(),
                undoes: undoes?.revision, isPartialUndo: undoes?.isPart ?? false,
                skipped: skipped,
                redoEnd: undoes?.redoEnd, touched: order.mapped { definition.controls[$0].id },
                met: rare?.meetings ?? [], approval: approval))
    }

    /// The controls with a silent write that were not changed otherwise; ascending.
    private func onlySilent(but written: Few<Int>) -> Few<Int> {
        guard let silent = rare?.silent, !silent.isEmpty else { return Few() }
        return Few(silent.sortedDistinct().filter { !written.contains(sorted: $0) })
    }

    // MARK: - The result

    /// The last press of a button with `runs`, or of the one that it binds.
    func press(of index: Int) -> Dot? {
        guard let runs = rare?.runs, !runs.isEmpty else { return nil }
        guard let root = definition.targets[index].first else { return nil }
        let id = definition.controls[root].id
        return runs.last { $0.field == id && !$0.run.state.isFinal }?.run.press
    }

    /// The members of a field in the notification; `nil` if it was not touched.
    func text(of index: Int) -> SharedBytes? {
        touched.index(ofSorted: index).map { texts.element($0) }
    }
}

extension FormDefinition {
    /// The controls given, ascending and distinct, and those whose shown value derives from theirs.
    func withDependents(_ controls: Few<Int>) -> Few<Int> {
        if controls.allSatisfy({ dependents[$0].isEmpty }) { return controls }
        var all = Array(controls)
        for control in controls { all += dependents[control] }
        return Few(all.sortedDistinct())
    }
}

extension WireError {
    /// A value or edit that a control does not accept.
    init(invalid error: InvalidValue, form: String) {
        self.init(
            .invalidValue, error.description.escapedForDisplay(), form: form, field: error.field,
            expected: error.expected)
    }
}
