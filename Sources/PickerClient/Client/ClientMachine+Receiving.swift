// Processes messages from the daemon.

internal import SyncCore

extension ClientMachine {
    /// Bytes came from the daemon.
    public mutating func received(_ bytes: [UInt8], at now: UInt64) {
        guard isOnline else { return }
        if answeredAt == nil { answeredAt = now }
        var rest = bytes[...]
        while isOnline {
            // One frame at a time: the answer to `hello` says how long the next one may be.
            var frame: [UInt8]?
            let outcome = rest.withUnsafeBytes { piece in
                decoder.feed(piece) { text in
                    frame = Array(text)
                    return false
                }
            }
            if let frame { receivedFrame(frame) }
            switch outcome {
            case .needsMore: return
            case .stopped(let consumed): rest = rest.dropFirst(consumed)
            case .frameTooLarge(let length):
                return events.append(
                    .violation(
                        "a frame of \(length) bytes; the most is \(decoder.frameBytesMax)"))
            }
        }
    }

    private mutating func receivedFrame(_ frame: [UInt8]) {
        events.frameBytes = frame.count
        defer {
            ignoredBytes += events.frameBytes
            events.frameBytes = 0
        }
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

    /// What was asked under this id. An answer that nobody waits for is a violation: without it,
    /// the request that it was meant for would wait until its deadline.
    private mutating func take(_ id: RequestID) -> Purpose? {
        guard let number = id.number, let index = sent.firstIndex(where: { $0.id == number })
        else {
            let text = id.rawText.cut(toBytes: 64).escapedForDisplay()
            events.append(.violation("an answer to no request: id \(text)"))
            return nil
        }
        return sent.remove(at: index).purpose
    }

    private mutating func answered(_ id: RequestID, _ result: JSON) throws(DecodeError) {
        guard let purpose = take(id) else { return }
        switch purpose {
        case .hello:
            let greeting = try HelloResult(decoding: result)
            if let max = greeting.limits.first(where: { $0.name == "maxFrame" })?.max, max > 0 {
                decoder.frameBytesMax = min(Int(clamping: max), configuration.frameBytesMax)
            }
            events.append(.greeted(greeting))
            greeted(by: greeting.store)
        case .watchForms:
            events.append(.forms(try FormList(decoding: result)))
        case .subscribe(let form):
            subscribed(form, try SubscribeResult(decoding: result))
        case .request(let request, let tickets):
            switch request {
            // A proposal has changed no field.
            case .stateSet where result["proposal"] != nil: break
            case .stateSet, .stateLease, .stateUndo, .stateRedo:
                let set = try SetResult(decoding: result)
                take(set.fields, of: set.form)
            case .stateGet:
                let snapshot = try StateSnapshot(decoding: result)
                take(snapshot.fields, of: snapshot.form)
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
            if !tickets.isEmpty { events.append(.answered(tickets, .refused(error))) }
        }
    }

    private mutating func greeted(by store: String) {
        let isOther = self.store.map { $0 != store } ?? false
        self.store = store
        guard awaitsReplica else { return }
        awaitsReplica = false
        if isOther { returnChanges() }
        sendWaiting()
    }

    private mutating func subscribed(_ form: String, _ result: SubscribeResult) {
        guard let index = index(of: form) else { return }
        if result.isResumed {
            subscriptions[index].replica.resumed(result)
            events.append(.resumed(result))
        } else {
            let previous = subscriptions[index].replica.fields
            subscriptions[index].replica.began(result)
            events.append(.snapshot(result, previous: previous))
        }
    }

    // MARK: Notifications

    private mutating func received(_ notification: ServerNotification) {
        switch notification {
        case .stateChanged(let change):
            guard let index = index(of: change.form),
                subscriptions[index].replica.isNewer(change.revision)
            else { return }
            subscriptions[index].replica.changed(
                change.changes, revision: change.revision, context: change.context)
            if isWithinLimits(index) { events.append(.changed(change)) }
        case .formChanged(let change):
            let index = index(of: change.form)
            guard index != nil || watchesForms else { return }
            if let index {
                switch change.content {
                case .deleted:
                    subscriptions.remove(at: index)
                case .defined(let content):
                    guard subscriptions[index].replica.isNewer(change.revision) else { return }
                    let ids = content.fieldIDs
                    subscriptions[index].replica.keep { ids.contains($0) }
                    subscriptions[index].replica.changed(
                        content.changes, revision: change.revision, context: content.context)
                    guard isWithinLimits(index) else { return }
                }
            }
            events.append(.formChanged(change))
        case .presenceChanged(let change):
            guard subscription(change.form)?.request.presence == true else { return }
            events.append(.presence(change))
        case .buttonAssigned(let assigned): events.append(.assigned(assigned))
        case .buttonCancelled(let cancelled): events.append(.cancelled(cancelled))
        case .buttonProgress(let progress):
            guard index(of: progress.form) != nil else { return }
            events.append(.progress(progress))
        case .proposalChanged(let changed):
            guard index(of: changed.proposal.form) != nil else { return }
            events.append(.proposal(changed.proposal))
        case .goodbye(let goodbye):
            // It is the last notification of a connection.
            guard retryAfter == nil else { return }
            retryAfter = 0
            if let milliseconds = goodbye.retryAfterMs, milliseconds > 0 {
                retryAfter = UInt64(min(milliseconds, 3_600_000)) * 1_000_000
            }
            events.append(.goodbye(goodbye))
        // For a bridge alone.
        case .linkDo: break
        }
    }

    private func index(of form: String) -> Int? {
        // By index: a copy of a subscription retains all that it has.
        subscriptions.indices.first { subscriptions[$0].request.form.isSameBytes(as: form) }
    }

    private mutating func take(_ fields: [NamedField], of form: String) {
        guard let index = index(of: form) else { return }
        subscriptions[index].replica.take(fields)
        _ = isWithinLimits(index)
    }

    /// All fields of a form fit in one frame. A peer that sends more is not a daemon; it would fill
    /// the memory.
    private mutating func isWithinLimits(_ index: Int) -> Bool {
        let (bytesMax, fieldsMax) = (configuration.frameBytesMax, FormReplica.fieldsMax)
        guard subscriptions[index].replica.bytes <= bytesMax else {
            events.append(.violation("a form with more fields than fit in \(bytesMax) bytes"))
            return false
        }
        guard subscriptions[index].replica.fields.count <= fieldsMax else {
            events.append(.violation("a form with more than \(fieldsMax) fields"))
            return false
        }
        return true
    }
}
