// Output: which subscribers are told, and which connections are written to next.

extension Scheduler {
    func markReady(_ connection: Connection) {
        guard !connection.isReady, !connection.isWriting else { return }
        connection.isReady = true
        let account = connection.account
        if account.ready.isEmpty { readyAccounts.append(account) }
        account.ready.append(connection)
    }

    /// Notes that all subscribers of a form have output. They are told once per iteration instead
    /// of once per change.
    func noteNews(of form: LiveForm) {
        guard !form.hasNews else { return }
        form.hasNews = true
        news.append(form)
    }

    /// Passes up to `most` subscribers of changed forms to `body`, and returns how many. While
    /// several uids are active, subscribers are marked as ready instead: at once if there are few,
    /// otherwise some in each turn of their uid.
    func tell(atMost most: Int, _ body: (Subscription) -> Void) -> Int {
        if !news.isEmpty { beginTelling() }
        var left = most
        while left > 0, let audience = telling.first {
            guard !isContended else {
                mark(audience)
                telling.takeFirst()
                continue
            }
            left -= audience.visit(atMost: left, body)
            if audience.unvisited == 0 { telling.takeFirst() }
        }
        return most - left
    }

    private func beginTelling() {
        for form in news {
            form.hasNews = false
            form.presence.hasNews = false
            for audience in form.audiences {
                let isListed = audience.unvisited > 0
                audience.startVisit()
                if isListed { continue }
                if isContended { mark(audience) } else { telling.append(audience) }
            }
        }
        news.removeAll(keepingCapacity: true)
    }

    private func mark(_ audience: Audience) {
        if audience.members.count <= Account.contendedWrites {
            _ = audience.visit(atMost: .max) { markReady($0.connection) }
            return
        }
        audience.account.audiences.append(audience)
        noteSpent(audience.account)
    }

    /// Marks some subscribers that have notifications.
    func markAudiences(of account: Account) {
        var left = isContended ? Account.contendedMarks : Int.max
        while left > 0, let audience = account.audiences.first {
            left -= audience.visit(atMost: left) { markReady($0.connection) }
            if audience.unvisited == 0 { account.audiences.removeFirst() }
        }
    }

    /// The connections with output and no write in progress: see `Engine.takeReady`.
    func takeReady(atMost most: Int) -> [Outbox] {
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
        if ready.count > 1, ready.count <= Self.toldFirstMax {
            let subscribers = ready.filter { !$0.connection.answers.hasOutput }
            if !subscribers.isEmpty {
                ready = subscribers + ready.filter(\.connection.answers.hasOutput)
            }
        }
        return ready
    }

    /// The number of an account's connections that can be written to now, while another uid is
    /// active.
    private func writesLeft(of account: Account) -> Int {
        mayWork(account) ? max(0, account.writesLeft) : 0
    }
}
