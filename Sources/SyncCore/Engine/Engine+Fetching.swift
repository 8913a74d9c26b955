// Reads from the store for data that is not in memory.

extension Engine {
    /// Reads from the store; the connection's next request waits for the result.
    func fetch(_ query: StoreQuery, for purpose: Fetch, _ connection: Connection) {
        connection.await(request(query, for: purpose, connection))
    }

    func request(_ query: StoreQuery, for purpose: Fetch, _ connection: Connection) -> FetchID {
        let id = link.ask(purpose)
        let account = connection.account
        if let query = scheduler.start(id, query, for: account) {
            effects.append(.fetch(id, query, uid: account.uid))
        }
        return id
    }

    /// Starts reads of an account that waited for its turn.
    func sendWaitingFetches(of account: Account) {
        func isWanted(_ id: FetchID) -> Bool { link.fetches[id] != nil }
        while let (id, query) = scheduler.nextFetch(of: account, isWanted: isWanted) {
            effects.append(.fetch(id, query, uid: account.uid))
        }
    }

    func fetched(_ id: FetchID, _ answer: StoreAnswer) {
        let account = scheduler.fetchEnded(id)
        let began = account.flatMap(workBegins)
        let requestBegan = account.flatMap(requestBegins)
        workspace.method = nil
        let answer = link.redactions.applied(to: answer)
        defer {
            if let account {
                requestEnded(requestBegan, account)
                workEnded(began, account)
            }
        }
        let purpose = link.takeFetch(id)
        if case .page(let subscription)? = purpose {
            var rows: [RevisionRow] = []
            if case .revisions(let found) = answer { rows = found }
            return page(rows, subscription, id)
        }
        guard let purpose, let call = purpose.call,
            connections[call.connection.id] === call.connection, call.connection.awaitedFetch == id
        else {
            // The connection has ended.
            if case .backup(let number, _) = answer { deleteBackup(number) }
            return
        }
        call.connection.advance(to: .idle)
        do { try proceed(purpose, answer) } catch { refuse(call, error) }
        resume(call.connection)
    }

    private func proceed(_ purpose: Fetch, _ answer: StoreAnswer) throws(WireError) {
        switch (purpose, answer) {
        case (_, .failed(let reason)):
            log(.error, "the store could not be read: \(reason)")
            throw WireError(
                .unavailable,
                "the store cannot be read: \(reason.escapedForDisplay()); try again later")
        case (.resume(let call, let params, let from), .revisions(let rows)):
            try resumed(rows, call, params, from: from)
        case (.history(let call, let search), .revisions(let rows)):
            try continueHistory(search, rows, call)
        case (.explain(let call, let search), .revisions(let rows)):
            try continueExplaining(search, rows, call)
        case (.redaction(let call, let params, let form), .revisions(let rows)):
            try continueRedaction(params, of: form, rows, call)
        case (.key(let call, let request), .key(let row)): fetchedKey(row, call, request)
        case (.undo(let call, let request, let form), .revisions(let rows)):
            // Each record is parsed as JSON.
            scheduler.spend(rows.reduce(0) { $0 + $1.record.count } >> 7, call.connection.account)
            // During a rebuild, the rows may contain a failed batch.
            if link.isHealthy { makeUndo(of: form, rows) }
            readmit(request, call)
        case (.backup(let call, _), .backup(let number, let bytes)):
            backupBegan(number, bytes: bytes, call)
        case (.backup(let call, let offset), .backupPiece(let bytes)):
            try backupPiece(bytes, offset: offset, call)
        default: return
        }
    }
}
