// `history.redact`: the message of a revision is overwritten.

extension Engine {
    func redact(_ params: HistoryRedact, _ call: PendingCall) throws(WireError) {
        let form = try redactableForm(params, call)
        guard params.revision <= Revision(clamping: form.committed.revision) else {
            throw noRevision(params)
        }
        let query = StoreQuery.history(
            form: form.key, before: UInt64(clamping: params.revision) + 1, rowsMax: 1)
        fetch(query, for: .redaction(call, params, form), call.connection)
    }

    private func redactableForm(
        _ params: HistoryRedact, _ call: PendingCall
    ) throws(WireError) -> LiveForm {
        let form = try editableForm(params.form, call.connection)
        try requireEdits(of: form, call.connection.peer)
        try require(.admin, form, form.working, nil, call.connection.peer)
        return form
    }

    private func noRevision(_ params: HistoryRedact) -> WireError {
        WireError(
            .notFound,
            "the history of \(params.form) does not have revision \(params.revision); see "
                + "pickerctl history \(params.form)/", form: params.form)
    }

    func continueRedaction(
        _ params: HistoryRedact, of asked: LiveForm, _ rows: [RevisionRow], _ call: PendingCall
    ) throws(WireError) {
        // During the read, the peer's permission may have changed, and another form may have come
        // in the place of this one.
        let form = try redactableForm(params, call)
        guard form === asked else { throw noRevision(params) }
        guard link.isHealthy else {
            throw .storeUnavailable(link.trouble ?? "")
        }
        var search = RowSearch(form: form, revision: UInt64(clamping: params.revision))
        _ = try look(through: rows, for: &search, call)
        guard let row = search.found else { throw noRevision(params) }
        // The notification is parsed as JSON: one unit for every 128 bytes.
        scheduler.spend(2 + row.told.count >> 7, call.connection.account)
        guard let frame = row.redactedFrame else {
            throw WireError(
                .notFound,
                "revision \(params.revision) of \(params.form) has no message; see pickerctl "
                    + "history \(params.form)/", form: form.name)
        }
        let peer = call.connection.peer
        try audit(
            form.name,
            LogEntry(
                .notice,
                "message of revision \(params.revision) of form \(form.name) redacted by "
                    + peer.whom,
                [.event(.redacted), .form(form.name)] + peer.logFields))
        let state = form.working
        redactProposal(of: row, form)
        overwrite(row, with: frame, form)
        state.revision += 1
        let revision = Revision(clamping: state.revision)
        publish(
            RevisionRecord(
                kind: .redact, at: clocks.newStamp().milliseconds,
                by: call.connection.author(of: form, replica: replica)),
            append(
                Answer.frame("state.changed") { writer in
                    StateChanged.encode(
                        form.stateStart, revision: revision, message: params.message,
                        redacts: params.revision, into: &writer
                    ) {
                        state.writeToken(into: &$0)
                    } changes: { _ in
                    }
                }, touched: FieldNumbers([]), to: form), cells: Few(), of: form)
        let result = RedactResult(form: form.name, revision: revision)
        answerEdit(call, of: form) { result.encode(into: &$0) }
    }

    /// Overwrites a notification in the store and in memory.
    private func overwrite(_ row: RevisionRow, with frame: [UInt8], _ form: LiveForm) {
        link.redact(
            row.revision, of: form.key, frame, isVisible: configuration.durability != .commit)
        // Who is behind gets one coalesced change, without messages.
        form.changeLog.dropShown(registry.retained)
        link.gathering.chores += form.link?.outbox.removeRows(of: form.key) ?? []
    }

    /// A proposal that was applied has the message of its revision.
    private func redactProposal(of row: RevisionRow, _ form: LiveForm) {
        guard case .proposal(let id, _)? = RevisionRecord(row.record)?.details.approval,
            var proposal = form.proposals?.proposal(id, of: form.working)
        else { return }
        proposal.redact(to: Redactions.text)
        note(proposal.encoded, as: proposal.name, of: form)
    }
}

private struct RowSearch: RevisionSearch {
    let form: LiveForm
    let revision: UInt64
    var found: RevisionRow?

    var before: UInt64 { revision + 1 }

    mutating func take(_ row: RevisionRow) -> Bool {
        if row.revision == revision { found = row }
        return false
    }
}

extension RevisionRow {
    /// The notification with another message; `nil` if it has none.
    fileprivate var redactedFrame: [UInt8]? {
        guard let json = try? JSON(stored: Array(frame.dropFirst(Frame.headerBytes))),
            let params = json["params"], params["message"] != nil
        else { return nil }
        let redacted = params.with(.string(Redactions.text), of: "message")
        return Frame.encode(text: json.with(redacted, of: "params").encoded)
    }
}

extension JSON {
    /// The object with another value of a member.
    fileprivate func with(_ value: JSON, of name: String) -> JSON {
        .object(
            JSONObject(
                (objectValue?.members ?? []).map {
                    ($0.name, $0.name.isSameBytes(as: name) ? value : $0.value)
                }))
    }
}
