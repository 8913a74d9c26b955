// Memory that a user's connections hold, and which connections are closed when it is too much.

extension Engine {
    /// Charges a connection's memory to its account. That of the link has other bounds: it gets no
    /// more orders while it has `answerBytesMax` of them, and one may be larger than this limit.
    func chargeHeld(_ connection: Connection) {
        let bytes =
            connection.owedBytes + connection.inboxBytes + connection.writingBytes
            + connection.pageBytes
        guard bytes != connection.heldBytes else { return }
        let account = connection.account
        account.heldBytes += bytes - connection.heldBytes
        connection.heldBytes = bytes
        if account.heldBytes > configuration.limits.heldBytesPerUserMax, !account.isLink {
            effects.cutOff(.greedy(account))
        }
    }

    /// Closes connections that hold too much memory or are too far behind.
    func close(_ cutOff: Effects.CutOff) {
        switch cutOff {
        case .slow(let connection):
            guard connections[connection.id] === connection else { return }
            log(
                .notice, "connection \(connection.id.number) is too slow; closed",
                [.event(.slow), .connection(connection.id)] + connection.peer.logFields)
            sayGoodbye(connection, .slow)
        case .greedy(let account):
            guard account.heldBytes > configuration.limits.heldBytesPerUserMax else { return }
            cutOffGreatest(of: account)
        }
    }

    /// Closes the largest connections of an account that holds too much. They do not read, so they
    /// get no message.
    ///
    /// Down to three quarters of the limit, so that this visit to all connections is rare.
    private func cutOffGreatest(of account: Account) {
        let max = configuration.limits.heldBytesPerUserMax
        let greatest = connections.inOrder.filter { $0.account === account && $0.heldBytes > 0 }
            .sorted { ($1.heldBytes, $0.id) < ($0.heldBytes, $1.id) }
        var rest = account.heldBytes
        for connection in greatest where rest > max / 4 * 3 && connection.progress != .ending {
            rest -= connection.heldBytes
            counters.refused += 1
            log(
                .warning,
                "connection \(connection.id.number) of \(connection.peer.whom) cut off with "
                    + "\(connection.heldBytes) bytes not taken: heldBytesPerUserMax is \(max)")
            effects.append(.close(connection.id))
        }
    }

    /// Closes connections that hold dropped chunks in a write in progress, if these chunks are too
    /// many. The uid that holds most of them is first.
    func closeStalled() {
        guard registry.retained.bytes > configuration.limits.retainedBytesMax else { return }
        var stalled: [UInt32: [Connection]] = [:]
        for form in forms {
            for subscription in form.subscriptions {
                let connection = subscription.connection
                guard connection.isWriting, subscription.holdsDropped else { continue }
                stalled[connection.account.uid, default: []].append(connection)
            }
        }
        let most = stalled.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
        for connection in most?.value ?? [] {
            log(
                .notice,
                "connection \(connection.id.number) of \(connection.peer.whom) is too slow "
                    + "and was cut off: retainedBytesMax")
            effects.append(.close(connection.id))
        }
    }
}
