// Output: which connections have some, and what it is. This is the path from a change to thousands
// of subscribers.
//
// Invariants: no connection is looked up by its number here. Subscribers that are up to date share
// one list of slices. Subscribers get changes from `tell`, and everything else, like those who have
// fallen behind, from `takeReady`.

/// Access to a connection's output; a result of `Engine.takeReady`. It is empty after the
/// connection has ended.
public struct Outbox {
    let connection: Connection

    /// The connection.
    public var id: ConnectionID { connection.id }

    /// The shell's object for the connection, held until the connection ends. A fan-out uses it for
    /// each connection, and a reference is cheaper than a hash look-up.
    public var owner: AnyObject? {
        get { connection.owner }
        nonmutating set { connection.owner = connection.isGone ? nil : newValue }
    }
}

extension Engine {
    /// The connections with output and no write in progress. Each is returned once. While more than
    /// one uid is active, a uid that has had its writes of this turn waits for the next turn. If
    /// they are few, those that have no answer come first.
    ///
    /// - Parameter most: the most connections of one uid per call. The next call returns the
    ///   others.
    public func takeReady(atMost most: Int = .max) -> [Outbox] { scheduler.takeReady(atMost: most) }

    /// Connections of `takeReady` that were not written to: a later call returns them.
    public func putBack(_ outboxes: some Sequence<Outbox>) {
        for outbox in outboxes where !outbox.connection.isGone {
            scheduler.markReady(outbox.connection)
        }
    }

    // MARK: - Telling

    /// The outcome of a write by `tell`.
    public enum WriteOutcome {
        /// It is complete.
        case written
        /// The rest follows: `wrote`, when it is complete.
        case underWay
        /// Nothing was written.
        case declined
    }

    /// Writes changes to their subscribers in one pass. Subscribers with the same cursor and filter
    /// share the bytes of one write. Subscribers with other output are marked as ready instead.
    ///
    /// - Parameters:
    ///   - most: the most subscribers to visit. The next call continues.
    ///   - write: writes to one connection. It must not call the engine.
    /// - Returns: how many subscribers were visited.
    public func tell(
        atMost most: Int = .max, bytesMax: Int = 256 << 10,
        _ write: (Outbox, Output) -> WriteOutcome
    ) -> Int {
        scheduler.tell(atMost: most) { subscription in
            let (connection, form) = (subscription.connection, subscription.form)
            guard connection.takesChangesOnly, subscription.wantsChangesOnly,
                form.existence == .there,
                case .live(var next) = subscription.position, next >= form.changeLog.first
            else { return scheduler.markReady(connection) }
            guard next < form.changeLog.next else { return }
            var output = Output()
            form.changeLog.read(
                from: &next, filter: subscription.filter, into: &output, bytesMax: bytesMax)
            if output.byteCount > 0 {
                switch write(Outbox(connection: connection), output) {
                case .written: break
                case .underWay: connection.isWriting = true
                case .declined: return
                }
            }
            subscription.position = .live(next: next)
            if next < form.changeLog.next { scheduler.markReady(connection) }
        }
    }

    // MARK: - Writing

    /// The outbox of a connection; `nil` if there is no connection with that number.
    public func outbox(of id: ConnectionID) -> Outbox? {
        connections[id].map { Outbox(connection: $0) }
    }

    /// The next write of a connection, of about `bytesMax` bytes; `nil` if there is nothing. The
    /// write is in progress until `wrote`.
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
        // What remained in the answer queue is now in this write.
        connection.writingBytes = output.privateBytes
        chargeHeld(connection)
        return output
    }

    /// Adds output that few connections have to a write.
    private func collectRest(_ connection: Connection, into output: inout Output, bytesMax: Int) {
        if var cursor = connection.catalogCursor {
            collectCatalog(connection, &cursor, into: &output, bytesMax: bytesMax)
            connection.catalogCursor = cursor
        }
        if let farewell = connection.farewell, !hasUnsentNotifications(connection) {
            connection.farewell = nil
            connection.isWritingGoodbye = true
            output.append(FrameChunk(farewell), 0..<farewell.count)
        }
    }

    /// The write from `nextOutput` is complete, so the next one can start: `Input.wrote`.
    public func wrote(_ outbox: Outbox, at now: Moment, into shell: inout [Effect]) {
        defer { effects.drain(into: &shell) }
        advance(to: now)
        wrote(outbox.connection)
    }

    func wrote(_ connection: Connection) {
        guard !connection.isGone else { return }
        connection.isWriting = false
        connection.writingBytes = 0
        if connection.isWritingGoodbye { return end(connection) }
        if let fleet, fleet.bridge === connection { followFleetAlone() }
        connection.subscriptions.forEach { fetchNextPage(of: $0) }
        if connection.isAtRest {
            if connection.subscriptions.contains(where: \.hasOutput) {
                scheduler.markReady(connection)
            }
            return
        }
        resume(connection)
        if connection.answers.hasOutput || connection.subscriptions.contains(where: \.hasOutput)
            || registry.catalog.hasOutput(for: connection) || connection.farewell != nil
        {
            scheduler.markReady(connection)
        }
    }
}
