// Processes messages from the daemon.

internal import SyncCore

extension ClientMachine {
    /// Bytes came from the daemon.
    public mutating func received(_ bytes: [UInt8], at now: UInt64) {
        guard isOnline else { return }
        let (frames, outcome) = decoder.feed(bytes)
        for frame in frames where isOnline { receivedFrame(frame) }
        if isOnline, case .frameTooLarge(let length) = outcome {
            events.append(.violation("a frame of \(length) bytes"))
        }
    }

    private mutating func receivedFrame(_ frame: [UInt8]) {
        do throws(DecodeError) {
            for message in try messages.decode(frame) {
                switch message {
                case .notification(let notification): received(notification)
                case .result(let id, let result): try answered(id, result)
                case .failure(let id, let error): refused(id, error)
                case .unknownNotification: break
                }
            }
        } catch {
            events.append(.violation("\(error)"))
        }
    }

    // MARK: Answers

    private mutating func take(_ id: RequestID) -> Purpose? {
        guard let number = id.number else { return nil }
        guard let index = sent.firstIndex(where: { $0.id == number }) else { return nil }
        return sent.remove(at: index).purpose
    }

    private mutating func answered(_ id: RequestID, _ result: JSON) throws(DecodeError) {
        guard let purpose = take(id) else { return }
        backoff.reset()
        switch purpose {
        case .hello:
            let greeting = try HelloResult(decoding: result)
            events.append(.greeted(greeting))
            greeted(by: greeting.store)
        case .watchForms:
            events.append(.forms(try FormList(decoding: result)))
        case .subscribe(let form):
            subscribed(form, try SubscribeResult(decoding: result))
        case .request(let request, let tickets):
            switch request {
            case .stateSet, .stateUndo, .stateRedo:
                let set = try SetResult(decoding: result)
                withSubscription(set.form) { $0.take(set.fields) }
            case .stateGet:
                let snapshot = try StateSnapshot(decoding: result)
                withSubscription(snapshot.form) { $0.take(snapshot.fields) }
            default: break
            }
            if !tickets.isEmpty { events.append(.answered(tickets, .result(result))) }
        }
    }

    private mutating func refused(_ id: RequestID, _ error: WireError) {
        // An error without an id means that the daemon could not read the frame, so it cannot be
        // matched to a request.
        if id == .null { return events.append(.violation(error.message)) }
        // The daemon has not started the request and is about to close the connection. It is sent
        // again on the next connection, in the same order and with the same key, as if it had not
        // been answered.
        if error.resend, configuration.reconnects { return }
        guard let purpose = take(id) else { return }
        switch purpose {
        case .hello where error.kind == .unsupportedProtocol:
            events.append(.incompatible(error))
            stop()
        case .hello, .watchForms:
            break
        case .subscribe(let form):
            subscriptions.removeAll { $0.request.form.isSameBytes(as: form) }
            events.append(.subscriptionRefused(form: form, error))
        case .request(_, let tickets):
            backoff.reset()
            if !tickets.isEmpty { events.append(.answered(tickets, .refused(error))) }
        }
    }

    private mutating func greeted(by store: String) {
        let isOther = self.store.map { $0 != store } ?? false
        self.store = store
        guard awaitsReplica else { return }
        awaitsReplica = false
        if isOther { giveBackChanges() }
        sendWaiting()
    }

    private mutating func subscribed(_ form: String, _ result: SubscribeResult) {
        guard let index = index(of: form) else { return }
        if result.isResumed {
            subscriptions[index].resumed(result)
            events.append(.resumed(result))
        } else {
            let previous = subscriptions[index].view
            subscriptions[index].began(result)
            events.append(.snapshot(result, previous: previous))
        }
    }

    // MARK: Notifications

    private mutating func received(_ notification: ServerNotification) {
        switch notification {
        case .stateChanged(let change):
            guard let index = index(of: change.form) else { return }
            guard subscriptions[index].advance(to: change.revision) else { return }
            subscriptions[index].context = change.context
            subscriptions[index].take(change.changes)
            events.append(.changed(change))
        case .formChanged(let change):
            if let index = index(of: change.form) {
                switch change.content {
                case .deleted:
                    subscriptions.remove(at: index)
                case .defined(let content):
                    guard subscriptions[index].advance(to: change.revision) else { return }
                    subscriptions[index].context = content.context ?? subscriptions[index].context
                    subscriptions[index].take(content.changes)
                }
            }
            events.append(.formChanged(change))
        case .presenceChanged(let change):
            events.append(.presence(change))
        case .goodbye(let goodbye):
            if let milliseconds = goodbye.retryAfterMs, milliseconds > 0 {
                retryAfter = UInt64(min(milliseconds, 3_600_000)) * 1_000_000
            }
            events.append(.goodbye(goodbye))
        }
    }

    private func index(of form: String) -> Int? {
        subscriptions.firstIndex { $0.request.form.isSameBytes(as: form) }
    }

    private mutating func withSubscription(_ form: String, _ body: (inout Subscription) -> Void) {
        if let index = index(of: form) { body(&subscriptions[index]) }
    }
}
