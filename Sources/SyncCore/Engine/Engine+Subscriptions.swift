// Who watches what: subscriptions, `since`, history, presence.

extension Engine {
    /// What a fetch from the store is for.
    enum Fetch {
        /// The first page for a subscriber that resumes behind the change log.
        case resume(PendingCall, StateSubscribe, from: UInt64)
        /// A further page for a subscriber.
        case page(Subscription, from: UInt64)
        case history(PendingCall, HistorySearch)
        case key(PendingCall, Request)
    }

    /// A page of history on its way.
    struct HistorySearch {
        let form: LiveForm
        let field: String?
        let limit: Int
        var before: UInt64
        var entries: [HistoryPage.Entry] = []
    }

    /// Revisions and bytes of one page from the store.
    private static var pageRowsMax: Int { 512 }
    private static var pageBytesMax: Int { 256 << 10 }

    // MARK: - Subscribing

    func subscribe(
        _ params: StateSubscribe, _ call: PendingCall, _ effects: inout [Effect]
    ) throws(WireError) {
        let connection = call.connection
        let form = try readableForm(params.form, connection)
        try requireMatches(params.fields.map { [Glob]($0) }, form, form.committed)
        if connection.subscription(to: form) == nil {
            let max = configuration.limits.subscriptionsPerUserMax
            guard subscriptionsByUser[connection.peer.uid] ?? 0 < max else {
                throw .limit(
                    "subscriptionsPerUserMax", max: Int64(max),
                    "you have \(max) subscriptions already; end some first")
            }
        }
        let revision = form.committed.revision
        guard let since = params.since, since.log.isSameBytes(as: form.log),
            let seen = UInt64(exactly: since.revision), seen <= revision
        else {
            accept(params, form, .live(next: revision + 1), isResumed: false, call)
            return
        }
        if seen + 1 >= form.changeLog.first {
            accept(params, form, .live(next: seen + 1), isResumed: true, call)
        } else {
            let query = StoreQuery.revisions(
                form: form.key, from: seen + 1, rowsMax: 1, bytesMax: Self.pageBytesMax)
            fetch(query, for: .resume(call, params, from: seen + 1), connection, &effects)
        }
    }

    private func accept(
        _ params: StateSubscribe, _ form: LiveForm, _ position: Subscription.Position,
        isResumed: Bool, _ call: PendingCall
    ) {
        let connection = call.connection
        if let old = connection.subscription(to: form) { end(old) }
        let subscription = Subscription(
            connection: connection, form: form, position: position,
            globs: params.fields.map { [Glob]($0) }, presence: params.presence)
        connection.subscriptions.append(subscription)
        subscriptionsByUser[connection.peer.uid, default: 0] += 1
        form.add(subscription)
        if params.presence { form.presence.update(connection, focus: nil, draft: nil) }
        let state = form.committed
        let result = SubscribeResult(
            form: form.name, log: form.log, revision: Revision(clamping: state.revision),
            context: state.token, isResumed: isResumed,
            fields: isResumed ? nil : state.fields(matching: subscription.globs))
        answer(call) { result.encode(into: &$0) }
        if params.presence { notifyPresence(of: form) }
        markReady(connection)
    }

    /// A resuming subscriber's first revision: whether the store still has it.
    private func resumed(
        _ rows: [RevisionRow], _ call: PendingCall, _ params: StateSubscribe, from: UInt64
    ) throws(WireError) {
        let form = try readableForm(params.form, call.connection)
        let isThere = rows.first?.revision == from && params.since?.log == form.log
        accept(
            params, form,
            isThere ? .stored(next: from) : .live(next: form.committed.revision + 1),
            isResumed: isThere, call)
    }

    func unsubscribe(_ name: String, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        if let subscription = connection.subscriptions.first(where: { $0.form.name == name }) {
            end(subscription)
        } else if form(named: name) == nil {
            throw noForm(name)
        }
        answer(call) { EmptyResult().encode(into: &$0) }
    }

    /// Ends a subscription: nothing more of the form is written to its connection.
    func end(_ subscription: Subscription) {
        subscription.connection.subscriptions.removeAll { $0 === subscription }
        leave(subscription)
    }

    /// Takes a subscription out of its form's lists.
    func leave(_ subscription: Subscription) {
        let form = subscription.form
        form.remove(subscription)
        release(&subscriptionsByUser, subscription.connection.peer.uid)
        if form.presence.remove(subscription.connection.id) { notifyPresence(of: form) }
    }

    // MARK: - Writing to subscribers

    /// Adds to a write what a subscriber has not seen.
    func collect(_ subscription: Subscription, into output: inout Output, bytesMax: Int) {
        let form = subscription.form
        if case .live(var next) = subscription.position {
            if next < form.changeLog.first {
                coalesce(subscription, from: next, into: &output)
                next = form.changeLog.next
            }
            form.changeLog.read(
                from: &next, filter: subscription.filter, into: &output, bytesMax: bytesMax)
            subscription.position = .live(next: next)
            if form.existence == .gone, next == form.changeLog.next {
                end(subscription)
                return
            }
        }
        if var cursor = subscription.presenceCursor, output.byteCount < bytesMax {
            form.presence.read(from: &cursor, form: form.name, into: &output)
            subscription.presenceCursor = cursor
        }
    }

    /// One notification that brings a subscriber up to date: the newest of each field that changed
    /// (PROTOCOL.md, Promises of the stream, 2).
    private func coalesce(
        _ subscription: Subscription, from: UInt64, into output: inout Output
    ) {
        let form = subscription.form
        let state = form.committed
        counters.coalesced += 1
        if form.existence == .gone {
            let gone = FormChanged(
                form: form.name, revision: Revision(clamping: state.revision), content: .deleted)
            append(Answer.frame(.formChanged(gone)), to: &output)
            return
        }
        var changes: [FieldChange] = []
        for (index, control) in state.definition.controls.enumerated()
        where state.cells[index].revision >= from
            && subscription.globs?.matches(control.id) ?? true
        {
            changes.append(
                FieldChange(field: control.id, state: state.field(index), was: nil))
        }
        let revision = Revision(clamping: state.revision)
        if state.definitionRevision >= from {
            let changed = FormChanged(
                form: form.name, revision: revision,
                content: .defined(
                    FormChanged.Definition(
                        version: Int64(clamping: state.version), context: state.token,
                        definition: state.definition.json, changes: changes,
                        coalescedFrom: Revision(clamping: from))))
            append(Answer.frame(.formChanged(changed)), to: &output)
        } else if !changes.isEmpty || subscription.globs == nil {
            let changed = StateChanged(
                form: form.name, revision: revision, context: state.token, changes: changes,
                coalescedFrom: Revision(clamping: from))
            append(Answer.frame(.stateChanged(changed)), to: &output)
        }
    }

    private func append(_ frame: [UInt8], to output: inout Output) {
        let chunk = FrameChunk(frame)
        output.append(chunk, 0..<chunk.count)
    }

    /// Asks for the next page of a subscriber that is behind the change log, once the last has
    /// left.
    func fetchNextPage(of subscription: Subscription, _ effects: inout [Effect]) {
        guard case .stored(let next) = subscription.position else { return }
        if next >= subscription.form.changeLog.first {
            subscription.position = .live(next: next)
            return
        }
        let query = StoreQuery.revisions(
            form: subscription.form.key, from: next, rowsMax: Self.pageRowsMax,
            bytesMax: Self.pageBytesMax)
        let id = request(query, for: .page(subscription, from: next), &effects)
        subscription.position = .fetching(next: next, id)
    }

    private func page(
        _ rows: [RevisionRow], _ subscription: Subscription, from: UInt64,
        _ effects: inout [Effect]
    ) {
        let connection = subscription.connection
        guard case .fetching(let next, _) = subscription.position, next == from,
            connections[connection.id] === connection
        else { return }
        guard rows.first?.revision == from, let last = rows.last?.revision else {
            // Pruned meanwhile: the change log brings it up to date.
            subscription.position = .live(next: from)
            markReady(connection)
            return
        }
        for row in rows where isWanted(row, by: subscription) {
            connection.answers.append(row.frame)
        }
        subscription.position = .stored(next: last + 1)
        if last + 1 >= subscription.form.changeLog.first {
            subscription.position = .live(next: last + 1)
        } else if !connection.answers.hasOutput {
            fetchNextPage(of: subscription, &effects)
        }
        markReady(connection)
    }

    private func isWanted(_ row: RevisionRow, by subscription: Subscription) -> Bool {
        guard let globs = subscription.globs, let record = RevisionRecord(row.record) else {
            return true
        }
        return record.touchesAll || record.touched.contains(where: globs.matches)
    }

    /// Adds to a write what somebody who watches the list of forms has not seen.
    func collectCatalog(_ cursor: inout UInt64, into output: inout Output, bytesMax: Int) {
        if cursor < catalog.first {
            // The list as it is now stands for every change that was missed.
            for form in forms where form.existence == .there {
                append(listing(of: form, form.committed), to: &output)
            }
            cursor = catalog.next
        }
        catalog.read(from: &cursor, filter: nil, into: &output, bytesMax: bytesMax)
    }

    // MARK: - Fetching

    /// Asks the store; the connection's next request waits for the answer.
    func fetch(
        _ query: StoreQuery, for purpose: Fetch, _ connection: Connection,
        _ effects: inout [Effect]
    ) {
        connection.progress = .awaitingFetch(request(query, for: purpose, &effects))
    }

    private func request(
        _ query: StoreQuery, for purpose: Fetch, _ effects: inout [Effect]
    ) -> FetchID {
        let id = FetchID(nextFetch)
        nextFetch += 1
        fetches[id] = purpose
        effects.append(.fetch(id, query))
        return id
    }

    func fetched(_ id: FetchID, _ answer: StoreAnswer, _ effects: inout [Effect]) {
        guard let purpose = fetches.removeValue(forKey: id) else { return }
        switch purpose {
        case .page(let subscription, let from):
            var rows: [RevisionRow] = []
            if case .revisions(let found) = answer { rows = found }
            page(rows, subscription, from: from, &effects)
        case .resume(let call, _, _), .history(let call, _), .key(let call, _):
            let connection = call.connection
            guard connections[connection.id] === connection,
                connection.progress == .awaitingFetch(id)
            else { return }
            connection.progress = .idle
            do {
                try proceed(purpose, answer, &effects)
            } catch {
                refuse(call, error)
            }
            flushRefusals(&effects)
            resume(connection, &effects)
        }
    }

    private func proceed(
        _ purpose: Fetch, _ answer: StoreAnswer, _ effects: inout [Effect]
    ) throws(WireError) {
        switch (purpose, answer) {
        case (_, .failed(let reason)):
            log(.error, "the store could not be read: \(reason)", &effects)
            throw WireError(
                .unavailable,
                "the store cannot be read: \(reason.escapedForDisplay()); try again later")
        case (.resume(let call, let params, let from), .revisions(let rows)):
            try resumed(rows, call, params, from: from)
        case (.history(let call, let search), .revisions(let rows)):
            try continueHistory(search, rows, call, &effects)
        case (.key(let call, let request), .key(let row)):
            fetchedKey(row, call, request, &effects)
        default: return
        }
    }

    // MARK: - History

    func history(
        _ params: StateHistory, _ call: PendingCall, _ effects: inout [Effect]
    ) throws(WireError) {
        let form = try readableForm(params.form, call.connection)
        if let field = params.field, form.committed.definition.index(of: field) == nil {
            throw noField(field, form, form.committed)
        }
        let search = HistorySearch(
            form: form, field: params.field,
            limit: Int(min(max(params.limit ?? 50, 1), 1000)),
            before: params.before.flatMap { UInt64(exactly: $0) } ?? form.committed.revision + 1)
        ask(search, call, &effects)
    }

    private func ask(_ search: HistorySearch, _ call: PendingCall, _ effects: inout [Effect]) {
        // One more than asked for says whether there is more.
        let rows = search.field == nil ? search.limit - search.entries.count + 1 : 512
        let query = StoreQuery.history(
            form: search.form.key, before: search.before, rowsMax: rows)
        fetch(query, for: .history(call, search), call.connection, &effects)
    }

    private func continueHistory(
        _ search: HistorySearch, _ rows: [RevisionRow], _ call: PendingCall,
        _ effects: inout [Effect]
    ) throws(WireError) {
        var search = search
        // Uncommitted revisions are never in the store; committed ones may be newer than what this
        // connection has been shown, which does no harm.
        for row in rows {
            guard search.entries.count <= search.limit else { break }
            search.before = row.revision
            guard let entry = HistoryPage.Entry(row, field: search.field) else { continue }
            search.entries.append(entry)
        }
        if search.entries.count <= search.limit, search.field != nil, !rows.isEmpty {
            ask(search, call, &effects)
            return
        }
        let page = HistoryPage(
            entries: Array(search.entries.prefix(search.limit)),
            more: search.entries.count > search.limit)
        answer(call) { page.encode(into: &$0) }
    }

    // MARK: - Presence

    func presenceUpdate(_ params: PresenceUpdate, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        let form = try readableForm(params.form, connection)
        let state = form.committed
        guard connection.subscription(to: form) != nil else {
            throw WireError(
                .invalidParams, "subscribe to form \(form.name) before saying where you are",
                form: form.name, path: "form")
        }
        var focus: Int?
        if let id = params.focus {
            guard let index = state.definition.index(of: id) else {
                throw noField(id, form, state)
            }
            focus = index
        }
        var draft: JSON?
        if let proposed = params.draft {
            draft = try admitDraft(proposed, focus, form, connection)
        }
        form.presence.update(connection, focus: params.focus, draft: draft)
        notifyPresence(of: form)
        answer(call) { EmptyResult().encode(into: &$0) }
    }

    /// A draft is a value that the control would take, from somebody who may write it, never of a
    /// secret.
    private func admitDraft(
        _ proposed: JSON, _ focus: Int?, _ form: LiveForm, _ connection: Connection
    ) throws(WireError) -> JSON {
        let state = form.committed
        guard let focus else {
            throw WireError(
                .invalidParams, "a draft belongs to the field that has the focus",
                form: form.name, path: "draft", expected: "a focus beside it")
        }
        let id = state.definition.controls[focus].id
        let max = configuration.limits.draftsPerSecondMax
        guard connection.draftRate.admits(max: max, at: now) else {
            throw .limit(
                "draftsPerSecondMax", max: Int64(max), "more than \(max) drafts a second; wait")
        }
        guard state.definition.controls[focus].type != .secure else {
            throw WireError(
                .invalidValue, "a secret has no draft", form: form.name, field: id,
                expected: "no draft")
        }
        try require(.write, form, state, focus, connection.peer)
        do {
            return try state.definition.admit(proposed, control: focus, values: state.value)
        } catch {
            throw WireError(invalid: error, form: form.name)
        }
    }

    private func notifyPresence(of form: LiveForm) {
        var slowest = form.presence.sequence
        for subscription in form.subscriptions {
            guard let cursor = subscription.presenceCursor else { continue }
            slowest = min(slowest, cursor)
            markReady(subscription.connection)
        }
        form.presence.forgetGone(toldTo: slowest)
    }
}

extension HistoryPage.Entry {
    /// The entry of a stored revision; `nil` where it does not touch `field`, or cannot be read.
    fileprivate init?(_ row: RevisionRow, field: String?) {
        guard let record = RevisionRecord(row.record) else { return nil }
        if let field, !record.touched.contains(where: { $0.isSameBytes(as: field) }) { return nil }
        let changes = Self.changes(in: row.frame).filter { change in
            !record.derived.contains { $0.isSameBytes(as: change.field) }
                && (field.map { $0.isSameBytes(as: change.field) } ?? true)
        }
        if field != nil, changes.isEmpty { return nil }
        self.init(
            revision: Revision(clamping: row.revision), at: Timestamp(milliseconds: record.at),
            by: record.by.wire, kind: record.kind.rawValue,
            changes: changes.map { change in
                HistoryPage.Change(
                    field: change.field, value: change.state.value, was: change.was,
                    isConcurrent: record.concurrent.contains {
                        $0.isSameBytes(as: change.field)
                    })
            })
    }

    /// The changes that a stored notification tells.
    private static func changes(in frame: [UInt8]) -> [FieldChange] {
        var decoder = ServerMessageDecoder()
        let text = Array(frame.dropFirst(Frame.headerBytes))
        guard case .notification(let notification)? = try? decoder.decode(text).first else {
            return []
        }
        switch notification {
        case .stateChanged(let params): return params.changes
        case .formChanged(let params):
            guard case .defined(let content) = params.content else { return [] }
            return content.changes
        case .presenceChanged, .goodbye: return []
        }
    }
}
