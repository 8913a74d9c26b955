// Connections: start, input, end. Output is in Engine+Writing.swift.

extension Engine {
    // MARK: - Coming and going

    func connect(_ id: ConnectionID, _ peer: Peer) {
        let account = scheduler.join(environment.accountUID(peer.uid))
        let connection = Connection(
            id, peer: peer, account: account, frameBytesMax: frameBytesMax(of: peer))
        connections.insert(connection)
        counters.connections += 1
        let limits = configuration.limits
        if connections.count > limits.connectionsMax {
            refuse(connection, "connectionsMax", limits.connectionsMax)
        } else if account.connections > limits.connectionsPerUserMax {
            refuse(connection, "connectionsPerUserMax", limits.connectionsPerUserMax)
        } else if let reason = lifecycle.reasonToLeave {
            sayGoodbye(connection, reason)
        } else {
            log(
                .debug, "connection \(id.number) from \(peer.whom)",
                [.connection(id)] + peer.logFields)
        }
    }

    /// What the bridge brings has a size of its own. The fleet keeps it, and it would come again
    /// after each reconnection.
    private func frameBytesMax(of peer: Peer) -> Int {
        let max = configuration.limits.maxFrame
        guard peer.uid == configuration.link?.bridgeUID else { return max }
        return Swift.max(max, LinkMessage.frameBytesMax)
    }

    /// Whether one more connection of a uid would be beyond a limit.
    public func isFull(for uid: UInt32) -> Bool {
        let limits = configuration.limits
        let account = scheduler.accounts[environment.accountUID(uid)]
        return connections.count >= limits.connectionsMax
            || account?.connections ?? 0 >= limits.connectionsPerUserMax
    }

    /// Tells a connection which limit it has reached, and closes it.
    private func refuse(
        _ connection: Connection, _ limit: String, _ max: Int, _ message: String? = nil
    ) {
        counters.refused += 1
        log(
            .warning, "refused \(connection.peer.whom): \(limit) is \(max)",
            connection.refusalFields(limit: limit))
        let message =
            message ?? "too many connections (\(limit) is \(max)); close some and try again"
        connection.answers.append(Answer.frame(.null, .limit(limit, max: max, message)))
        sayGoodbye(connection, .policy)
    }

    func disconnect(_ id: ConnectionID) {
        guard let connection = connections.remove(id) else { return }
        connection.isGone = true
        startReclaimTime(of: connection)
        connection.owner = nil
        connection.account.unfinishedBytes -= connection.decoder.gatheredBytes
        _ = withdraw(connection)
        endBackup(of: connection)
        let account = connection.account
        account.heldBytes -= connection.heldBytes
        connection.heldBytes = 0
        scheduler.leave(account)
        log(
            .debug, "connection \(id.number) from \(connection.peer.whom) ended",
            [.event(.disconnected), .connection(id)] + connection.peer.logFields)
    }

    /// The peer has shut down its writing side. Its requests are still answered.
    func endOfStream(_ id: ConnectionID) {
        guard let connection = connections[id] else { return }
        connection.isAtEnd = true
        closeIfDone(connection)
    }

    /// Closes a connection whose peer sends no more, when all its requests are answered.
    func closeIfDone(_ connection: Connection) {
        guard connection.isAtEnd, connection.canStartRequest, !connection.answers.isWaiting,
            connection.subscriptions.isEmpty, connection.catalogCursor == nil
        else { return }
        end(connection)
    }

    /// Stops reading, and closes when all output is written.
    func end(_ connection: Connection) {
        guard connection.progress != .ending else { return }
        let calls = withdraw(connection)
        connection.advance(to: .ending)
        // Every reserved slot must be filled, or later answers would wait forever. While the daemon
        // stops, requests that have not started stay unanswered: the client sends them to the next
        // daemon.
        for call in calls {
            if lifecycle != .serving, case .slot(let slot) = call.target {
                connection.answers.fill(slot, with: [])
                continue
            }
            refuse(call, .notStarted("the connection closes; ask again on a new one"))
        }
        closeOnceSettled(connection)
        scheduler.markReady(connection)
    }

    /// Removes a connection from all lists; returns its unanswered calls.
    private func withdraw(_ connection: Connection) -> [PendingCall] {
        var calls: [PendingCall] = []
        if let id = connection.awaitedFetch, let call = link.takeFetch(id)?.call {
            calls.append(call)
        }
        for case .call(_, let id, let target) in connection.dropInbox() {
            calls.append(PendingCall(connection: connection, id: id, target: target))
        }
        calls += fleet?.verbs.takeCalls(of: connection) ?? []
        connection.subscriptions.forEach { leave($0) }
        connection.subscriptions = .none
        leaveRuns(connection)
        detach(connection)
        registry.catalog.unwatch(connection)
        return calls
    }

    /// Closes an ending connection when its own edits are committed and answered.
    func closeOnceSettled(_ connection: Connection) {
        guard connection.progress == .ending, connection.editsPending == 0 else { return }
        effects.append(.closeAfterOutput(connection.id))
    }

    /// Sends `goodbye`, the last notification of a connection.
    func sayGoodbye(_ connection: Connection, _ reason: GoodbyeReason) {
        guard connection.progress != .ending else { return }
        connection.farewell = nil
        connection.answers.append(reason.frame)
        end(connection)
    }

    // MARK: - Receiving

    /// Processes bytes of a connection. They are borrowed for this call.
    public func received(
        _ id: ConnectionID, _ bytes: UnsafeRawBufferPointer, at now: Moment,
        into shell: inout [Effect]
    ) {
        defer { effects.drain(into: &shell) }
        advance(to: now)
        guard let connection = connections[id], connection.progress != .ending, !connection.isAtEnd
        else { return }
        let began = workBegins(connection.account)
        defer { workEnded(began, connection.account) }
        let gathered = connection.decoder.gatheredBytes
        let outcome = connection.decoder.feed(bytes) { text in
            receive(text, from: connection)
            return connection.progress != .ending
        }
        if case .frameTooLarge(let length) = outcome, connection.progress != .ending {
            connection.isAtEnd = true
            connection.enqueueLast(.frameTooLarge(length))
            resume(connection)
        }
        let more = connection.decoder.gatheredBytes - gathered
        if more != 0 { chargeUnfinished(more, connection) }
        throttle(connection)
        chargeHeld(connection)
    }

    /// Charges the bytes of an incomplete frame to its uid. Beyond the limit the connection is
    /// closed, because an incomplete frame cannot be processed later. The link has one connection,
    /// and so one frame.
    private func chargeUnfinished(_ more: Int, _ connection: Connection) {
        let account = connection.account
        account.unfinishedBytes += more
        let max = configuration.limits.unfinishedBytesPerUserMax
        guard connection.decoder.gatheredBytes > 0, account.unfinishedBytes > max, !account.isLink
        else { return }
        account.unfinishedBytes -= connection.decoder.gatheredBytes
        connection.decoder = FrameDecoder(frameBytesMax: configuration.limits.maxFrame)
        refuse(
            connection, "unfinishedBytesPerUserMax", max,
            "your connections hold too many frames half sent; finish some, try again")
    }

    private func receive(_ text: UnsafeRawBufferPointer, from connection: Connection) {
        connection.leaseHolder?.lastFrame = clocks.steadyMilliseconds()
        if connection.canStartRequest, scheduler.mayBegin(connection.account),
            connection.owedBytes <= configuration.limits.answerBytesMax
        {
            receiveFrame(text, connection)
            if connection.hasWork { resume(connection) }
        } else {
            connection.enqueue(frame: Array(text))
            awaitTurn(connection)
        }
    }

    /// Queues the connection if its request waits only for its uid's next turn.
    private func awaitTurn(_ connection: Connection) {
        let account = connection.account
        guard connection.hasWork, connection.progress == .idle, account.unitsLeft <= 0,
            connection.owedBytes <= configuration.limits.answerBytesMax
        else { return }
        account.enqueue(connection)
    }

    /// Processes a frame. Its text costs one unit for every 128 bytes, in addition to the requests.
    private func receiveFrame(_ text: UnsafeRawBufferPointer, _ connection: Connection) {
        scheduler.spend(1 + text.count >> 7, connection.account)
        let began = requestBegins(connection.account)
        workspace.method = nil
        if fleet == nil || !isBridgeAlone(connection.peer.uid), let plain = PlainRequest(text),
            executePlain(plain, connection)
        {
            return requestEnded(began, connection.account)
        }
        take(decoder.decode(text), connection)
        requestEnded(began, connection.account)
    }

    private func refuseFrame(_ connection: Connection, length: UInt32) {
        counters.refused += 1
        let max = connection.decoder.frameBytesMax
        let error = WireError.limit(
            "maxFrame", max: max,
            length == 0
                ? "a frame of 0 bytes; send a length of 1 to \(max), then that many bytes of JSON"
                : "a frame of \(length) bytes; the most is \(max) (maxFrame)", .frameTooLarge)
        log(
            .notice, "frame of \(length) bytes from \(connection.peer.whom) refused",
            connection.refusalFields(limit: "maxFrame"))
        connection.answers.append(Answer.frame(.null, error))
        end(connection)
    }

    /// Stops reading a connection that does not read its answers or whose requests accumulate.
    /// Resumes when the amount has decreased.
    func throttle(_ connection: Connection) {
        guard connection.progress != .ending else { return }
        let limits = configuration.limits
        let isFull =
            connection.owedBytes > limits.answerBytesMax
            || connection.inboxBytes > limits.inboxBytesMax
        if isFull != connection.isReadingPaused {
            connection.isReadingPaused = isFull
            effects.append(isFull ? .pauseReading(connection.id) : .resumeReading(connection.id))
        }
    }

    /// Continues with the requests behind the one that waited.
    func resume(_ connection: Connection) {
        while connection.hasWork, connection.progress == .idle,
            scheduler.mayBegin(connection.account),
            connection.owedBytes <= configuration.limits.answerBytesMax,
            let work = connection.dequeue()
        {
            switch work {
            case .frameTooLarge(let length): refuseFrame(connection, length: length)
            case .frame(let text):
                text.withUnsafeBytes { receiveFrame($0, connection) }
            case .call(let request, let id, let target):
                let began = requestBegins(connection.account)
                perform(request, id, target, connection)
                requestEnded(began, connection.account)
            case .joins:
                let began = requestBegins(connection.account)
                charge(connection) { performJoins(connection) }
                requestEnded(began, connection.account)
            }
        }
        awaitTurn(connection)
        throttle(connection)
        chargeHeld(connection)
        closeIfDone(connection)
    }

    // MARK: - Answering

    private func take(_ frame: IncomingFrame, _ connection: Connection) {
        switch frame {
        case .refused(let error):
            counters.refused += 1
            connection.answers.append(Answer.frame(.null, error))
            scheduler.markReady(connection)
        case .single(let call): start(call, nil, connection)
        case .batch(let calls):
            let answered = calls.count { $0.id != nil }
            let batch =
                answered > 0
                ? BatchAnswer(slot: connection.answers.reserve(), requests: answered) : nil
            // The elements take turns one by one, before the requests behind the batch.
            var works: [Connection.Work] = []
            for call in calls {
                switch call.content {
                case .success(let request):
                    let target =
                        call.id == nil ? AnswerTarget.nowhere : batch.map { .batch($0) } ?? .nowhere
                    works.append(.call(request, call.id, target))
                case .failure: start(call, batch, connection)
                }
            }
            connection.enqueueFirst(works)
        }
    }

    private func start(_ call: Call, _ batch: BatchAnswer?, _ connection: Connection) {
        switch call.content {
        case .success(let request):
            let target: AnswerTarget =
                call.id == nil ? .nowhere : .slot(connection.answers.reserve())
            perform(request, call.id, target, connection)
        case .failure(let error):
            counters.refused += 1
            guard let id = call.id else { return }
            let target = batch.map { AnswerTarget.batch($0) } ?? .slot(connection.answers.reserve())
            answer(connection, target, id) { Answer.encode(id, error, into: &$0) }
        }
    }

    /// Encodes a response and delivers it.
    func answer(
        _ connection: Connection, _ target: AnswerTarget, _ id: RequestID?,
        _ body: (inout JSONWriter) -> Void
    ) {
        guard id != nil else { return }
        deliver(workspace.encoded(body), to: target, connection)
    }

    /// Delivers a response (JSON text) to its target.
    func deliver(
        _ response: UnsafeBufferPointer<UInt8>, to target: AnswerTarget, _ connection: Connection
    ) {
        switch target {
        case .nowhere: return
        case .host(let call): return tell(response, to: call)
        case .slot(let slot): connection.answers.fill(slot, text: response)
        case .batch(let batch):
            guard let frame = batch.add(response) else { return }
            connection.answers.fill(batch.slot, with: frame)
        }
        scheduler.markReady(connection)
    }
}

extension GoodbyeReason {
    /// The notification. After a restart the daemon is back soon.
    var frame: [UInt8] {
        let retryAfterMs: Int64? =
            switch self {
            case .restart: 200
            case .slow, .policy: 1_000
            case .shutdown: nil
            }
        return Answer.frame(
            .goodbye(Goodbye(reason: Goodbye.Reason(text: rawValue), retryAfterMs: retryAfterMs)))
    }
}

extension Connection {
    fileprivate func refusalFields(limit: String) -> [LogEntry.Field] {
        [.event(.refused), LogEntry.Field(.limit, limit), .connection(id)] + peer.logFields
    }
}
