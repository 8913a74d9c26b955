// `state.undo` and `state.redo`.

extension Engine {
    /// The most bytes of revision records from which a journal is created.
    private static var undoBytesMax: Int { 8 << 20 }

    func undoOrRedo(
        _ direction: UndoJournal.Direction, _ params: StateUndo, _ call: PendingCall,
        _ request: Request
    ) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        let connection = call.connection
        let definition = form.working.definition
        try require(.read, form, form.working, nil, connection.peer)
        try requireWritable(form)
        if let field = params.field { _ = try index(of: field, form, form.working) }
        let owner =
            params.scope == .mine
            ? UndoJournal.Owner(
                uid: connection.peer.uid, session: connection.session, host: form.link?.host,
                user: form.link != nil && configuration.link?.users == .same
                    ? connection.peer.user : nil) : nil
        scheduler.spend(4, connection.account)
        guard !form.isUndoStored else {
            let query = StoreQuery.journal(
                form: form.key, rowsMax: configuration.limits.undoDepthMax,
                bytesMax: Self.undoBytesMax)
            return fetch(query, for: .undo(call, request, form), connection)
        }
        guard let target = form.undo.newest(direction, owner: owner, field: params.field) else {
            throw WireError(
                .conflict,
                "nothing to \(direction == .undo ? "undo" : "redo")"
                    + (params.scope == .mine ? " of yours in form \(form.name)" : ""),
                form: form.name, field: params.field)
        }
        let transaction = begin(form, connection)
        transaction.allowsSilentWrites = false
        var skipped: [String] = []
        var named = Few<Int>()
        // One step per field, or a few (see `UndoStep.merged`). With several, a restored value may
        // belong to an earlier write of the same transaction.
        var steps = target.steps
        var renewals: [String: UndoRenewals] = [:]
        let hasRepeats = Set(steps.lazy.map(\.field)).count < steps.count
        while var step = steps.popLast() {
            if let renewals = renewals[step.field] { step.renew(by: renewals) }
            guard let control = definition.index(of: step.field) else {
                skipped.append(step.field)
                continue
            }
            try requireEdit(.reset, form, form.working, control, connection.peer)
            try transaction.spend(on: control)
            if try transaction.undo(step, control: control) {
                named.append(control)
                if hasRepeats {
                    renewals[step.field] = transaction.undoStep(of: control).map {
                        UndoRenewals([$0])
                    }
                }
            } else {
                skipped.append(step.field)
            }
        }
        guard !named.isEmpty else {
            form.undo.consume(target.revision, fields: skipped)
            throw transaction.conflict(
                target.steps.compactMap { definition.index(of: $0.field) },
                "overwritten since, so nothing is left to undo")
        }
        try transaction.checkEnabled()
        try requireApproval(transaction, "propose the values instead")
        // Other hosts read it too, and number their revisions by themselves.
        let place = form.link.map { " of \($0.host)" } ?? ""
        form.undo.consume(target.revision, fields: target.steps.map(\.field))
        finish(
            transaction, direction == .undo ? .undo : .redo, named: named,
            seen: CausalContext(), skipped: skipped,
            undoes: Transaction.UndoneRevision(
                revision: target.revision, isPart: target.isPart, redoEnd: target.redoEnd),
            message: params.message ?? "undoes revision \(target.revision)\(place)", call)
    }

    /// Creates the journal of a form from the newest stored revisions of each uid and from those
    /// that are not stored yet. No batch was committed since the store answered.
    func makeUndo(of form: LiveForm, _ stored: [RevisionRow]) {
        guard form.isUndoStored else { return }
        form.isUndoStored = false
        var rows = stored.sorted { $0.revision < $1.revision }
        // Revisions that undid a part of another one cannot be undone themselves.
        let parts = Set(stored.lazy.filter { $0.undoes != nil }.map(\.revision))
        var unsaved: [RevisionRow] = []
        link.scanRevisions(of: form, after: rows.last?.revision ?? 0, before: .max) { row in
            unsaved.append(row)
            return true
        }
        rows += unsaved.reversed()
        let records = rows.compactMap { row in
            RevisionRecord(row.record).map {
                UndoJournal.Stored(
                    revision: row.revision, record: $0, isPart: parts.contains(row.revision))
            }
        }
        form.undo = UndoJournal(records, depthMax: configuration.limits.undoDepthMax)
    }
}
