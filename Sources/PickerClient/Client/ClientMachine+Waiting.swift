// Requests that wait for a daemon, and what happens to them when one answers.

internal import SyncCore

extension ClientMachine {
    /// Queues a request until it can be sent.
    mutating func wait(_ request: Request, _ ticket: Ticket) {
        if case .stateSet(let edit) = request, !edit.requireCurrent, edit.idempotencyKey == nil {
            queue(edit, ticket)
        } else {
            waiting.append(.request(keyed(request), [ticket]))
        }
    }

    /// Merges an edit into the waiting ones, if no later request changes something.
    private mutating func queue(_ edit: StateSet, _ ticket: Ticket) {
        // A request that only reads may see a newer value, which is correct too.
        let last = waiting.lastIndex { item in
            if case .request(let request, _) = item { request.idempotencyKey != nil } else { true }
        }
        if let last, case .edits(var edits) = waiting[last] {
            edits.append(edit, ticket: ticket)
            waiting[last] = .edits(edits)
            return
        }
        var edits = OfflineQueue()
        edits.append(edit, ticket: ticket)
        waiting.append(.edits(edits))
    }

    /// Sends the unanswered requests again, then the queued ones.
    mutating func sendWaiting() {
        let lost = unanswered
        unanswered = []
        for purpose in lost {
            switch purpose {
            // The lost connection has ended the subscription; presence is sent again below.
            case .hello, .subscribe, .watchForms, .request(.stateUnsubscribe, _): continue
            case .request(.presenceUpdate, let tickets):
                if !tickets.isEmpty { events.append(.answered(tickets, .superseded)) }
            case .request: send(purpose)
            }
        }
        let waited = waiting
        waiting = []
        for item in waited {
            switch item {
            case .request(let request, let tickets): send(.request(request, tickets))
            case .edits(var edits): send(edits.drain())
            }
        }
        for update in presences { send(.request(.presenceUpdate(update), [])) }
    }

    /// Returns to their callers the changes for another replica than the one that answers.
    mutating func returnChanges() {
        func isKept(_ request: Request, _ tickets: [Ticket]) -> Bool {
            guard request.idempotencyKey != nil else { return true }
            if !tickets.isEmpty { events.append(.answered(tickets, .otherReplica(request))) }
            return false
        }
        unanswered = unanswered.filter { purpose in
            guard case .request(let request, let tickets) = purpose else { return true }
            return isKept(request, tickets)
        }
        var kept: [Waiting] = []
        for item in waiting {
            switch item {
            case .request(let request, let tickets):
                if isKept(request, tickets) { kept.append(item) }
            case .edits(var edits):
                for merged in edits.drain() {
                    guard !merged.changes.isEmpty else {
                        events.append(.answered(merged.tickets, .superseded))
                        continue
                    }
                    let edit = StateSet(form: merged.form, changes: merged.changes)
                    _ = isKept(keyed(.stateSet(edit)), merged.tickets)
                }
            }
        }
        waiting = kept
    }

    private mutating func send(_ edits: [OfflineQueue.Transaction]) {
        for transaction in edits {
            guard !transaction.changes.isEmpty else {
                events.append(.answered(transaction.tickets, .superseded))
                continue
            }
            let edit = StateSet(form: transaction.form, changes: transaction.changes)
            send(.request(keyed(.stateSet(edit)), transaction.tickets))
        }
    }
}
