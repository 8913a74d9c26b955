// `state.history`: pages of old revisions from the store.

extension Engine {
    /// Revisions that are searched at once for those of one field.
    private static var historyRowsMax: Int { 512 }

    func history(_ params: StateHistory, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.peer)
        if let field = params.field { _ = try index(of: field, form, form.committed) }
        let search = HistorySearch(
            form: form, field: params.field, limit: Int(min(max(params.limit ?? 50, 1), 1000)),
            before: params.before.flatMap { UInt64(exactly: $0) } ?? form.committed.revision + 1)
        ask(search, call)
    }

    private func ask(_ search: HistorySearch, _ call: PendingCall) {
        // One more row than requested shows whether there is another page.
        let rows =
            search.field == nil ? search.limit - search.entries.count + 1 : Self.historyRowsMax
        let query = StoreQuery.history(
            form: search.form.key, before: search.before, rowsMax: rows,
            bytesMax: HistorySearch.bytesMax)
        fetch(query, for: .history(call, search), call.connection)
    }

    func continueHistory(
        _ search: HistorySearch, _ rows: [RevisionRow], _ call: PendingCall
    ) throws(WireError) {
        var search = search
        let isCut = try look(through: rows, for: &search, call)
        // Each notification is parsed as JSON: one unit for every 128 bytes.
        scheduler.spend(
            rows.reduce(0) { $0 + $1.told.count } >> 7, call.connection.account)
        if !search.isFull, isCut || !rows.isEmpty, search.before > 1 {
            ask(search, call)
            return
        }
        let page = HistoryPage(
            entries: Array(search.entries.prefix(search.limit)),
            more: search.entries.count > search.limit || search.isFull && search.before > 1)
        answer(call) { page.encode(into: &$0) }
    }
}

extension HistorySearch: RevisionSearch {
    /// Adds the entry of the next older revision, if it matches.
    mutating func take(_ row: RevisionRow) -> Bool {
        if isFull { return false }
        before = row.revision
        guard let entry = HistoryPage.Entry(row, field: field) else { return true }
        entries.append(entry)
        bytes += row.told.count
        return true
    }
}

extension HistoryPage.Entry {
    /// The entry of a stored revision; `nil` if it does not touch `field` or cannot be parsed.
    fileprivate init?(_ row: RevisionRow, field: String?) {
        guard let record = RevisionRecord(row.record) else { return nil }
        let details = record.details
        if let field, !details.touchesAll,
            !details.touched.contains(where: { $0.isSameBytes(as: field) })
        {
            return nil
        }
        let told = Self.told(in: row.frame)
        let changes = told.changes.filter { change in
            !details.derived.contains { $0.isSameBytes(as: change.field) }
                && (field.map { $0.isSameBytes(as: change.field) } ?? true)
        }
        if field != nil, changes.isEmpty { return nil }
        self.init(
            revision: Revision(clamping: row.revision), at: Timestamp(milliseconds: record.at),
            by: record.by.wire, kind: record.kind.rawValue,
            changes: changes.map { change in
                var entry = HistoryPage.Change(
                    field: change.field, value: change.state.value, was: change.was,
                    isConcurrent: details.concurrent.contains { $0.isSameBytes(as: change.field) },
                    run: details.run)
                entry.isSecretSet = change.state.isSecretSet
                entry.lost = details.lost[change.field]
                return entry
            }, message: told.message)
        redacts = told.redacts
        switch details.approval {
        case .proposal(let id, let authors):
            proposal = id
            approvedBy = authors
        case .brokenGlass: isBreakGlass = true
        case .missing: isUnapproved = true
        case nil: break
        }
    }

    /// The changes in a stored notification, why they were made, and the revision whose message it
    /// overwrote.
    static func told(
        in frame: [UInt8]
    ) -> (changes: [FieldChange], message: String?, redacts: Revision?) {
        var decoder = ServerMessageDecoder()
        let text = Array(frame.dropFirst(Frame.headerBytes))
        guard case .notification(let notification)? = try? decoder.decode(text).first else {
            return ([], nil, nil)
        }
        switch notification {
        case .stateChanged(let params):
            return (params.changes, params.message, params.redacts)
        case .formChanged(let params):
            guard case .defined(let content) = params.content else {
                return ([], params.message, nil)
            }
            return (content.changes, params.message, nil)
        case .presenceChanged, .buttonAssigned, .buttonCancelled, .buttonProgress,
            .proposalChanged, .goodbye, .linkDo:
            return ([], nil, nil)
        }
    }
}
