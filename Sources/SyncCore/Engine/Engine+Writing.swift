// Who has something to be written, and what: the way of a change to thousands of subscribers.
//
// Always holds: nothing here looks a connection up by its number, and a subscriber that is up to
// date is given the very list of slices that the one before it was given.

/// A connection's way out: what `Engine.takeReady` gives. Of one that is gone nothing comes.
public struct Outbox {
    let connection: Connection

    /// Whose it is.
    public var id: ConnectionID { connection.id }

    /// What the shell has of the connection, held until that is gone: a fan-out looks at each, and
    /// a reference is a twentieth of a hash.
    public var owner: AnyObject? {
        get { connection.owner }
        nonmutating set { connection.owner = connection.isGone ? nil : newValue }
    }
}

extension Engine {
    // MARK: - Readiness

    /// Notes that there may be something to write to a connection.
    func markReady(_ connection: Connection) {
        guard !connection.isReady, !connection.isWriting else { return }
        connection.isReady = true
        let account = connection.account
        if account.ready.isEmpty { readyAccounts.append(account) }
        account.ready.append(connection)
    }

    /// Notes that there is something to write to all who watch a form: they are marked once for all
    /// changes of an iteration, as the marking costs each of them for each change otherwise.
    func noteNews(of form: LiveForm) {
        guard !form.hasNews else { return }
        form.hasNews = true
        news.append(form)
    }

    /// The members of an audience have something to be written to them: at once where they are
    /// few or alone, otherwise some in each turn of their uid.
    private func tell(_ audience: Audience) {
        if !isContended || audience.members.count <= Account.contendedWrites {
            for subscription in audience.members { markReady(subscription.connection) }
            return
        }
        if audience.unmarked == 0 { audience.account.audiences.append(audience) }
        audience.hasNews()
        noteSpent(audience.account)
    }

    /// The connections that have something to be written and no write under way; each is given
    /// once. While more than one uid is at work, those of one that has had its writes of this turn
    /// wait for the next.
    ///
    /// - Parameter most: connections of one uid at once; the others are given by the next call.
    public func takeReady(atMost most: Int = .max) -> [Outbox] {
        if !news.isEmpty {
            for form in news {
                form.hasNews = false
                for audience in form.audiences { tell(audience) }
            }
            news.removeAll(keepingCapacity: true)
        }
        guard !readyAccounts.isEmpty else { return [] }
        let isContended = isContended
        var ready: [Outbox] = []
        for account in readyAccounts {
            let count = min(
                isContended ? min(most, writesLeft(of: account)) : most, account.ready.count)
            noteSpent(account)
            ready.reserveCapacity(ready.count + count)
            account.ready.take(count) { connection in
                connection.isReady = false
                guard !connection.isGone else { return }
                account.writesLeft -= 1
                ready.append(Outbox(connection: connection))
            }
        }
        readyAccounts.removeAll { $0.ready.isEmpty }
        return ready
    }

    // MARK: - Writing

    /// The way out of a connection; `nil` where there is none of that number.
    public func outbox(of id: ConnectionID) -> Outbox? {
        connections[id].map { Outbox(connection: $0) }
    }

    /// The next write of a connection, of about `bytesMax` bytes; `nil` where there is nothing. A
    /// write is under way from then until `wrote`.
    public func nextOutput(_ outbox: Outbox, bytesMax: Int = 256 << 10) -> Output? {
        let connection = outbox.connection
        guard !connection.isGone, !connection.isWriting else { return nil }
        var output = Output()
        if connection.answers.hasOutput { connection.answers.take(into: &output) }
        connection.subscriptions.forEach { subscription in
            guard connection.answers.isAnswered(subscription.answer) else { return }
            collect(subscription, into: &output, bytesMax: bytesMax)
        }
        let isAtRest = connection.isAtRest && output.privateBytes == 0
        if !isAtRest { collectRest(connection, into: &output, bytesMax: bytesMax) }
        guard output.byteCount > 0 else { return nil }
        connection.isWriting = true
        if isAtRest { return output }
        // What is left of the queue of answers is now in this write.
        connection.writingBytes = output.privateBytes
        chargeHeld(connection)
        return output
    }

    /// Adds to a write what few are owed.
    private func collectRest(
        _ connection: Connection, into output: inout Output, bytesMax: Int
    ) {
        if var cursor = connection.catalogCursor {
            collectCatalog(connection, &cursor, into: &output, bytesMax: bytesMax)
            connection.catalogCursor = cursor
        }
        if let farewell = connection.farewell, !hasUnsentNotifications(connection) {
            connection.farewell = nil
            connection.hasLeave = true
            output.append(FrameChunk(farewell), 0..<farewell.count)
        }
    }

    /// The write that `nextOutput` gave has left, and the next may be asked for: `Input.wrote`.
    public func wrote(_ outbox: Outbox, at now: Moment, into effects: inout [Effect]) {
        self.now = now
        wrote(outbox.connection, &effects)
    }

    func wrote(_ connection: Connection, _ effects: inout [Effect]) {
        guard !connection.isGone else { return }
        connection.isWriting = false
        connection.writingBytes = 0
        if connection.hasLeave { return end(connection, &effects) }
        connection.subscriptions.forEach { fetchNextPage(of: $0, &effects) }
        if connection.isAtRest {
            if connection.subscriptions.contains(where: \.hasOutput) { markReady(connection) }
            return
        }
        resume(connection, &effects)
        if connection.answers.hasOutput || connection.subscriptions.contains(where: \.hasOutput)
            || connection.catalogCursor.map({ $0 < catalog.next }) ?? false
            || connection.farewell != nil
        {
            markReady(connection)
        }
    }
}
