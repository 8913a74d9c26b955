// The end of a transaction: checks on the resulting state, and the outcome.

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
            NamedField(id: definition.controls[$0].id, state: form.working.field($0))
        }
        return error
    }

    /// Checks the conditions of controls on the state after all changes.
    func checkEnabled() throws(WireError) {
        // Most controls have no condition.
        guard named.contains(where: { definition.mayBeDisabled($0) }) else { return }
        var checked = DistinctIndexes()
        let contents = contents
        let judge = ConditionEvaluator(definition) { contents.value($0) }
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
    mutating func finish(
        _ kind: RevisionRecord.Kind, session: String?, undoes: UndoneRevision?, skipped: [String]
    ) -> Outcome {
        let state = form.working
        var written = written.indexes.sortedDistinct()
        if let leased = rare?.leased, !leased.isEmpty {
            written = Few((Array(written) + leased).sortedDistinct())
        }
        let silent = onlySilent(but: written)
        let shared = form.link == nil ? nil : sharedChange(written, silent)
        for index in silent {
            state.cells[index] = state.cells[index].withSilentWrites(content(index))
        }
        guard !isIdle else {
            state.context = context
            return Outcome(revision: state.revision, silent: silent, dots: dots, shared: shared)
        }
        let order = definition.withDependents(written)
        // The earlier values of all fields are computed before any cell changes.
        let before = order.mapped { index in
            _ = state.shown(index)
            return state.cells[index]
        }
        let concurrent =
            concurrent.isEmpty ? Few() : definition.withDependents(concurrent.sortedDistinct())
        let record = RevisionRecord(
            kind: kind, at: stamp.milliseconds, by: author, session: session,
            usualContent(order, kind)
                ?? content(order, written, concurrent, undoes: undoes, skipped: skipped))
        let revision = state.revision + 1
        for place in order.indices {
            let index = order[place]
            let cell = contents.cell(index)
            // What only derives from written controls has no cell of this revision yet.
            state.cells[index] =
                cell.revision == revision
                ? cell
                : Cell(
                    cell.content, revision: revision, at: stamp.milliseconds, by: author,
                    runs: state.cells[index].runs)
        }
        let runs = addRuns()
        state.revision = revision
        state.context = shared.map { context.union($0.context) } ?? context
        return Outcome(
            revision: revision, touched: order, silent: silent, dots: dots, before: before,
            concurrent: concurrent, record: record, runs: runs, shared: shared)
    }

    /// What the record of nearly every transaction has; `nil` if it needs more.
    private func usualContent(
        _ order: Few<Int>, _ kind: RevisionRecord.Kind
    ) -> RevisionRecord.Content? {
        guard kind == .set, rare == nil, order.count == 1, concurrent.isEmpty else { return nil }
        let before = form.working.cells[order.element(0)]
        guard case .register(let register) = before.content.store, register.siblings.count < 2,
            before.content.silentWrites.isEmpty, before.content.leases == nil
        else { return nil }
        return .write(
            RevisionRecord.RegisterWrite(
                field: definition.controls[order.element(0)].id, dot: written.value(at: 0).dot,
                over: register.siblings.first?.dot, was: before.isSet ? before.value : nil))
    }

    /// What the record of this transaction has.
    private func content(
        _ order: Few<Int>, _ written: Few<Int>, _ concurrent: Few<Int>, undoes: UndoneRevision?,
        skipped: [String]
    ) -> RevisionRecord.Content {
        func ids(_ indexes: some Collection<Int>) -> [String] {
            indexes.map { definition.controls[$0].id }
        }
        return .details(
            RevisionRecord.Details(
                derived: ids(order.filter { !written.contains(sorted: $0) }),
                concurrent: ids(concurrent), undo: undoSteps(), undoes: undoes?.revision,
                isPartialUndo: undoes?.isPart ?? false, skipped: skipped,
                redoEnd: undoes?.redoEnd,
                touched: order.mapped { definition.controls[$0].id }, met: rare?.meetings ?? [],
                approval: approval))
    }

    /// The controls with a silent write that were not changed otherwise; ascending.
    private func onlySilent(but written: Few<Int>) -> Few<Int> {
        guard let silent = rare?.silent, !silent.isEmpty else { return Few() }
        return Few(silent.sortedDistinct().filter { !written.contains(sorted: $0) })
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
