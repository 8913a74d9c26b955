// Subscriptions: `since`, filters, and notifications.

extension Engine {
    /// The most revisions and bytes in one page from the store.
    private static var pageRowsMax: Int { 512 }
    private static var pageBytesMax: Int { 256 << 10 }

    // MARK: - Subscribing

    func subscribe(_ params: StateSubscribe, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        let form = try subscribableForm(params, connection)
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
            fetch(query, for: .resume(call, params, from: seen + 1), connection)
        }
    }

    /// The form, if the peer may subscribe to it now. Checked again when the store has answered.
    private func subscribableForm(
        _ params: StateSubscribe, _ connection: Connection
    ) throws(WireError) -> LiveForm {
        let form = try readableForm(params.form, connection.peer)
        let globs = params.fields.map { GlobSet($0) }
        scheduler.spend(
            2 * Self.units(matching: globs, fields: form.committed.cells.count), connection.account)
        try requireMatches(globs, form, form.committed)
        if connection.subscription(to: form) == nil {
            let max = configuration.limits.subscriptionsPerUserMax
            guard connection.account.subscriptions < max else {
                throw .limit(
                    "subscriptionsPerUserMax", max: max,
                    "you have \(max) subscriptions already; end some first")
            }
        }
        return form
    }

    private func accept(
        _ params: StateSubscribe, _ form: LiveForm, _ position: Subscription.Position,
        isResumed: Bool, _ call: PendingCall
    ) {
        let connection = call.connection
        if let old = connection.subscription(to: form) { end(old) }
        let subscription = Subscription(
            connection: connection, form: form, position: position,
            globs: params.fields.map { GlobSet($0) }, presence: params.presence, answer: call.slot)
        connection.subscriptions.append(subscription)
        connection.account.subscriptions += 1
        form.add(subscription)
        if params.presence {
            form.presence.update(connection, focus: nil, draft: nil)
            noteHosts(of: form)
        }
        let state = form.committed
        form.proposals?.add(subscription)
        var result = SubscribeResult(
            form: form.name, log: form.log, revision: Revision(clamping: state.revision),
            context: state.token, isResumed: isResumed,
            fields: isResumed ? nil : state.fields(matching: subscription.globs))
        result.proposals = waitingProposals(of: form)
        answer(call) { result.encode(into: &$0) }
        if params.presence { notifyPresence(of: form) }
        fetchNextPage(of: subscription)
        scheduler.markReady(connection)
    }

    /// The first page of a resuming subscriber has arrived. It shows whether the store still has
    /// the revision.
    func resumed(
        _ rows: [RevisionRow], _ call: PendingCall, _ params: StateSubscribe, from: UInt64
    ) throws(WireError) {
        let form = try subscribableForm(params, call.connection)
        let isThere = rows.first?.revision == from && params.since?.log == form.log
        accept(
            params, form, isThere ? .stored(next: from) : .live(next: form.committed.revision + 1),
            isResumed: isThere, call)
    }

    func unsubscribe(_ name: String, _ call: PendingCall) throws(WireError) {
        let connection = call.connection
        let subscription = connection.subscriptions.first { $0.form.name.isSameBytes(as: name) }
        if let subscription {
            end(subscription)
        } else if durableForm(name) == nil {
            throw noForm(name, connection.peer)
        }
        answer(call) { EmptyResult().encode(into: &$0) }
    }

    /// Ends a subscription. Its connection gets no more notifications of the form.
    func end(_ subscription: Subscription) {
        subscription.connection.subscriptions.remove(subscription)
        leave(subscription)
    }

    /// Removes a subscription from its form's lists.
    func leave(_ subscription: Subscription) {
        let form = subscription.form
        form.remove(subscription)
        form.runs?.forget(subscription)
        form.proposals?.forget(subscription)
        subscription.connection.addPageBytes(-subscription.pageBytes)
        subscription.position = .ended
        subscription.connection.account.subscriptions -= 1
        if form.presence.remove(subscription.connection.id) { notifyPresence(of: form) }
    }

    // MARK: - Writing to subscribers

    /// Adds notifications that a subscriber has not received to a write.
    func collect(_ subscription: Subscription, into output: inout Output, bytesMax: Int) {
        if subscription.isFilterStale { return }
        let form = subscription.form
        if case .page(let chunks, let next) = subscription.position {
            for chunk in chunks { output.append(own: chunk) }
            // From now on these bytes count as part of the write.
            subscription.connection.addPageBytes(-subscription.pageBytes)
            subscription.position = .stored(next: next)
        }
        if case .live(var next) = subscription.position {
            if next < form.changeLog.first {
                coalesce(subscription, from: next, into: &output)
                if case .ended = subscription.position { return }
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
            form.presence.read(
                from: &cursor, form: form.name, into: &output, retained: registry.retained)
            subscription.sentPresence(upTo: cursor)
        }
        if let runs = form.runs, output.byteCount < bytesMax {
            runs.readProgress(for: subscription, into: &output)
        }
        if let proposals = form.proposals, output.byteCount < bytesMax {
            proposals.read(for: subscription, of: form.committed, into: &output)
        }
    }

    /// One notification that brings a subscriber up to date: the newest value of each changed field
    /// (PROTOCOL.md, What you can rely on, 2).
    private func coalesce(_ subscription: Subscription, from: UInt64, into output: inout Output) {
        let form = subscription.form
        let state = form.committed
        counters.coalesced += 1
        if form.existence == .gone {
            append(form.changed(.deleted, at: form.working.revision), to: &output)
            return
        }
        var changes: [FieldChange] = []
        for (index, control) in state.definition.controls.enumerated()
        where state.cells[index].revision >= from
            && subscription.filter?.contains(form.names.number(of: control.id)) ?? true
        {
            changes.append(FieldChange(field: control.id, state: state.field(index), was: nil))
        }
        let revision = Revision(clamping: state.revision)
        if state.definitionRevision >= from {
            let definition = state.described(
                context: state.token, changes, coalescedFrom: Revision(clamping: from))
            let frame = form.changed(.defined(definition), at: state.revision)
            if frame.count - Frame.headerBytes > configuration.limits.maxFrame {
                // A frame holds the definition or the values, not both. The client comes again,
                // and reads revision after revision from the store, or a snapshot.
                subscription.connection.farewell = GoodbyeReason.restart.frame
                return end(subscription)
            }
            append(frame, to: &output)
        } else if !changes.isEmpty || subscription.globs == nil {
            let changed = StateChanged(
                form: form.name, revision: revision, context: state.token, changes: changes,
                coalescedFrom: Revision(clamping: from))
            append(Answer.frame(.stateChanged(changed)), to: &output)
        }
    }

    private func append(_ frame: [UInt8], to output: inout Output) {
        output.append(own: FrameChunk(frame))
    }

    /// Reads the next page for a subscriber that is behind the change log, when the last page is
    /// written.
    func fetchNextPage(of subscription: Subscription) {
        guard case .stored(let next) = subscription.position else { return }
        if next >= subscription.form.changeLog.first {
            subscription.position = .live(next: next)
            return
        }
        let query = StoreQuery.revisions(
            form: subscription.form.key, from: next, rowsMax: Self.pageRowsMax,
            bytesMax: Self.pageBytesMax)
        let id = request(query, for: .page(subscription), subscription.connection)
        subscription.position = .fetching(next: next, id)
    }

    /// A page has arrived. It is ignored if the subscription has ended or was replaced.
    func page(_ rows: [RevisionRow], _ subscription: Subscription, _ id: FetchID) {
        guard case .fetching(let from, id) = subscription.position else { return }
        guard rows.first?.revision == from, let last = rows.last?.revision else {
            // Pruned in the meantime. The change log brings the subscriber up to date.
            subscription.position = .live(next: from)
            scheduler.markReady(subscription.connection)
            return
        }
        let wanted = self.wanted(rows, by: subscription)
        let chunks = wanted.map { FrameChunk($0.frame) }
        if chunks.isEmpty {
            subscription.position = .stored(next: last + 1)
            fetchNextPage(of: subscription)
        } else {
            subscription.position = .page(chunks, next: last + 1)
            subscription.connection.addPageBytes(subscription.pageBytes)
            chargeHeld(subscription.connection)
        }
        scheduler.markReady(subscription.connection)
    }

    /// The revisions that touch a field of the subscriber's filter. Each name is matched once.
    private func wanted(_ rows: [RevisionRow], by subscription: Subscription) -> [RevisionRow] {
        guard let globs = subscription.globs else { return rows }
        let form = subscription.form
        let touched = rows.map { row -> FieldNumbers? in
            guard let details = RevisionRecord(row.record)?.details, !details.touchesAll else {
                return nil
            }
            return form.numbers(of: details.touched)
        }
        let fresh = subscription.refreshFilter(form.names)
        scheduler.spend(Self.units(matching: globs, fields: fresh), subscription.connection.account)
        guard let filter = subscription.filter else { return rows }
        return zip(rows, touched).filter { $1?.intersects(filter) ?? true }.map(\.0)
    }

    // MARK: - New names

    /// A form has a new definition. Filters are matched against its new names in turns of their
    /// accounts, because there may be thousands.
    func renewFilters(of form: LiveForm) {
        form.noteNames()
        for subscription in form.subscriptions where subscription.noteNames(form.names) {
            let account = subscription.connection.account
            account.staleFilters.append(subscription)
            scheduler.noteSpent(account)
        }
    }

    /// Matches some of an account's filters against new names.
    func refreshFilters(of account: Account) {
        while account.unitsLeft > 0, let subscription = account.staleFilters.takeFirst() {
            guard subscription.isFilterStale else { continue }
            if case .ended = subscription.position { continue }
            let fresh = subscription.refreshFilter(subscription.form.names)
            scheduler.spend(1 + Self.units(matching: subscription.globs, fields: fresh), account)
            if subscription.hasOutput { scheduler.markReady(subscription.connection) }
        }
    }
}
