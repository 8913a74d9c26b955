// The scheduler: turns, credit and bytes by uid (see `Account`).

extension Engine {
    /// Two uids that take turns within this many nanoseconds both count as active.
    private static var contentionNanoseconds: UInt64 { 20_000_000 }

    /// The account of a uid, which is created if needed. For a subordinate uid (subuid(5)), the
    /// account of its owner.
    func account(of uid: UInt32) -> Account {
        let uid = environment.accountUID(uid)
        if let known = accounts[uid] { return known }
        let account = Account(uid: uid)
        accounts[uid] = account
        return account
    }

    /// Whether more than one uid is active.
    public var isContended: Bool {
        contendedUntil > now.monotonicNanoseconds
    }

    /// Whether another user is connected, active or not.
    private var isShared: Bool { usersConnected > 1 }

    /// Ends an account's turn if the iteration has taken too long, because units are only
    /// estimates.
    func lookAtClock(_ account: Account) {
        guard let stopwatch else { return }
        let most = isContended ? Account.contendedTurnNanoseconds : Account.turnNanoseconds
        guard stopwatch() > now.monotonicNanoseconds &+ most else { return }
        noteSpent(account)
        account.unitsLeft = min(account.unitsLeft, 0)
    }

    /// Charges units to an account.
    func spend(_ units: Int, _ account: Account) {
        if atWork !== account {
            if atWork != nil {
                contendedUntil = now.monotonicNanoseconds &+ Self.contentionNanoseconds
                // Until now only one uid was active. It does not keep the rest of its long turn.
                for spender in spenders { spender.unitsLeft = min(spender.unitsLeft, 0) }
            }
            atWork = account
        }
        noteSpent(account)
        account.unitsLeft -= units
    }

    /// An account has used a part of this turn.
    func noteSpent(_ account: Account) {
        guard !account.hasSpent else { return }
        account.hasSpent = true
        spenders.append(account)
    }

    /// Whether `Input.turn` has any effect. The shell checks this at the end of each iteration.
    public var wantsTurn: Bool { !spenders.isEmpty }

    /// Whether an account waits only for the next iteration.
    public var wantsIteration: Bool {
        spenders.contains { account in
            mayWork(account)
                && (account.hasWaitingRequests && !isHeldBack(account) || !account.ready.isEmpty
                    || !account.audiences.isEmpty || !account.staleFilters.isEmpty
                    || !account.fetchesWaiting.isEmpty && mayFetch(account))
        }
    }

    /// Nanoseconds until an account without credit can continue.
    public var nextTurnNanoseconds: Int64? {
        guard isContended || isShared else { return nil }
        let waits = spenders.lazy.filter { $0.connections > 0 }.compactMap { account -> Int64? in
            if self.isResting(account) {
                return Int64(clamping: account.restsUntil - self.now.monotonicNanoseconds)
            }
            return self.isContended && account.credit <= 0 ? 2 * (1 - account.credit) : nil
        }
        // The set of active uids can change before that.
        return waits.min().map { min($0, Int64(Self.contentionNanoseconds)) }
    }

    /// Whether requests of a connection's uid have to wait for a turn, so that the shell need not
    /// read more.
    public func mustWait(_ id: ConnectionID) -> Bool {
        guard !spenders.isEmpty, let account = connections[id]?.account else { return false }
        return account.hasWaitingRequests || !mayWork(account)
    }

    // MARK: - Credit

    /// Whether an account has used no more than its share of time. Without a stopwatch (in a
    /// simulation) only units count.
    private func mayWork(_ account: Account) -> Bool {
        guard stopwatch != nil else { return true }
        if isShared, isResting(account) { return false }
        return account.credit > 0 || !isContended
    }

    private func isResting(_ account: Account) -> Bool {
        account.restsUntil > now.monotonicNanoseconds
    }

    /// The start of work that is charged to an account; `nil` while only one uid is active.
    func workBegins() -> UInt64? {
        guard isContended, let stopwatch else { return nil }
        return stopwatch()
    }

    /// The start of a request after which its account may have to rest; `nil` while no other user
    /// is connected.
    func requestBegins() -> UInt64? {
        guard isShared, let stopwatch else { return nil }
        return stopwatch()
    }

    /// Charges the time since `workBegins` to an account.
    func workEnded(_ began: UInt64?, _ account: Account) {
        guard isContended, let began, let stopwatch else { return }
        charge(stopwatch() &- began, account)
    }

    /// Makes an account rest after a request that blocked the loop for long while another user is
    /// connected, active or not. A client that arrives at a random moment waits in proportion to
    /// the square of the duration (mean residual life: Feller, volume 2, chapter XI), so the rest
    /// grows with the square.
    func restAfter(_ began: UInt64?, _ account: Account) {
        guard let began, let stopwatch else { return }
        let took = stopwatch() &- began
        let free = Account.freeNanoseconds
        guard took > free else { return }
        // No request takes longer by itself. The rest of the time is due to the machine.
        let long = min(took, Account.longNanoseconds)
        let milliseconds = long / 1_000_000
        let begins = max(account.restsUntil, now.monotonicNanoseconds &+ took)
        account.restsUntil = begins &+ (long - free) * milliseconds
        account.unitsLeft = min(account.unitsLeft, 0)
        noteSpent(account)
    }

    /// Charges time that was used for a connection.
    public func charge(_ nanoseconds: UInt64, to id: ConnectionID) {
        guard isContended, let account = connections[id]?.account else { return }
        charge(nanoseconds, account)
    }

    /// Charges the store's time for a fetch to the account that asked for it.
    public func charge(_ nanoseconds: UInt64, to fetch: FetchID) {
        guard isContended, let account = fetchers[fetch] else { return }
        charge(nanoseconds, account)
    }

    func charge(_ nanoseconds: UInt64, _ account: Account) {
        guard stopwatch != nil else { return }
        // Only time from now on earns credit.
        if account.credit >= Account.creditMax { account.creditAt = now.monotonicNanoseconds }
        // At most a day, in case the clock leaps.
        account.credit -= Int64(min(nanoseconds, 86_400_000_000_000))
        guard account.credit <= 0 else { return }
        account.unitsLeft = min(account.unitsLeft, 0)
        noteSpent(account)
    }

    /// Adds half of the elapsed time, or all of it if only this uid is active.
    private func addCredit(_ account: Account) {
        let passed = now.monotonicNanoseconds &- account.creditAt
        account.creditAt = now.monotonicNanoseconds
        let earned = Int64(clamping: passed >> 1) * 2
        account.credit = min(
            Account.creditMax, account.credit + (isContended ? earned / 2 : earned))
    }

    /// Whether an account owes no time, no units and no rest.
    private func owesNothing(_ account: Account) -> Bool {
        account.credit > 0 && account.unitsLeft >= 0 && !isResting(account)
    }

    /// Deletes an account without connections when it owes nothing. Until then, its user finds the
    /// debt again after a reconnect.
    func close(_ account: Account) {
        guard account.connections == 0 else { return }
        guard owesNothing(account) else { return noteSpent(account) }
        if accounts[account.uid] === account { accounts[account.uid] = nil }
    }

    // MARK: - Fetches

    /// Whether another read may start for an account. While several uids are active, each has one
    /// read in progress, so that a commit never waits for a queue of reads.
    private func mayFetch(_ account: Account) -> Bool {
        account.fetchesUnderWay < (isContended ? 1 : Account.fetchesMax) && mayWork(account)
    }

    /// Starts a read for an account or queues it. The size of the read depends on who is active
    /// when it starts.
    func send(_ id: FetchID, _ query: StoreQuery, _ account: Account, _ effects: inout [Effect]) {
        fetchers[id] = account
        if account.fetchesWaiting.isEmpty, mayFetch(account) {
            account.fetchesUnderWay += 1
            effects.append(.fetch(id, isContended ? query.inPieces : query))
        } else {
            account.fetchesWaiting.append((id, query))
            noteSpent(account)
        }
    }

    /// A read has ended.
    func fetchEnded(_ id: FetchID) {
        guard let account = fetchers.removeValue(forKey: id) else { return }
        account.fetchesUnderWay -= 1
        if !account.fetchesWaiting.isEmpty { noteSpent(account) }
    }

    private func sendWaiting(_ account: Account, _ effects: inout [Effect]) {
        while mayFetch(account), let fetch = account.fetchesWaiting.takeFirst() {
            guard fetches[fetch.id] != nil else {
                // The connection has ended.
                fetchers[fetch.id] = nil
                continue
            }
            account.fetchesUnderWay += 1
            effects.append(.fetch(fetch.id, isContended ? fetch.query.inPieces : fetch.query))
        }
    }

    /// The number of an account's connections that can be written to now, while another uid is
    /// active.
    func writesLeft(of account: Account) -> Int {
        mayWork(account) ? max(0, account.writesLeft) : 0
    }

    // MARK: - Turns

    /// Whether an account has used its part of the gathering batch.
    private func isHeldBack(_ account: Account) -> Bool {
        configuration.durability == .commit && isContended && !batches.gathering.isEmpty
            && account.gatheredEdits >= batchEditsMax
    }

    /// Starts the next turn of all accounts: with new units, and with the waiting requests.
    func takeTurns(_ effects: inout [Effect]) {
        noteContention()
        swap(&takingTurns, &spenders)
        defer { takingTurns.removeAll(keepingCapacity: true) }
        let units = isContended ? Account.contendedUnits : Account.loneUnits
        for account in takingTurns {
            account.hasSpent = false
            account.writesLeft = Account.contendedWrites
            addCredit(account)
            if account.connections == 0, owesNothing(account) {
                close(account)
                continue
            }
            let may = mayWork(account)
            if !may || isHeldBack(account) {
                account.unitsLeft = min(account.unitsLeft, 0)
            } else {
                account.unitsLeft = min(units, account.unitsLeft + units)
            }
            if may { work(account, &effects) }
            // Accounts with debts or waiting requests stay in the list for the next turn.
            if account.unitsLeft < units || account.hasWaitingRequests || !account.audiences.isEmpty
                || !account.staleFilters.isEmpty
                || !account.fetchesWaiting.isEmpty || account.credit < Account.creditMax
            {
                noteSpent(account)
            }
        }
    }

    /// Marks uids as active that wait for a turn, for the store or for a commit, however long that
    /// takes.
    private func noteContention() {
        var first: Account?
        func isSecond(_ account: Account) -> Bool {
            if first == nil { first = account }
            return first !== account
        }
        // Below `commit`, nothing waits for a commit.
        let waitsForCommit = configuration.durability == .commit
        if waitsForCommit && committers.contains(where: { isSecond($0.account) })
            || waitsForCommit && editors.contains(where: isSecond)
            || spenders.contains(where: { $0.isWaiting && isSecond($0) })
        {
            contendedUntil = now.monotonicNanoseconds &+ Self.contentionNanoseconds
        }
    }

    /// The work of an account in its turn.
    private func work(_ account: Account, _ effects: inout [Effect]) {
        let began = workBegins()
        sendWaiting(account, &effects)
        refreshFilters(of: account)
        markAudiences(of: account)
        while account.unitsLeft > 0, let connection = account.dequeue() {
            guard connections[connection.id] === connection else { continue }
            resume(connection, &effects)
        }
        workEnded(began, account)
    }

    /// Marks some subscribers that have notifications.
    private func markAudiences(of account: Account) {
        var left = isContended ? Account.contendedMarks : Int.max
        while left > 0, let audience = account.audiences.first {
            left -= audience.mark(atMost: left) { markReady($0.connection) }
            if audience.unmarked == 0 { account.audiences.removeFirst() }
        }
    }

    /// Counts an edit in the gathering batch.
    func countEdit(_ account: Account) {
        noteReturn(account)
        if account.gatheredEdits == 0 { editors.append(account) }
        account.gatheredEdits += 1
    }

    /// A batch has been sent to the store: records each account's part of it. One edit per uid is
    /// free, because a client that waits for each answer uses the disk nearly all the time without
    /// taking it from others.
    func noteCommitters() {
        let edits = editors.reduce(0) { $0 + $1.gatheredEdits }
        committers = editors.map { ($0, UInt64(($0.gatheredEdits - 1) * 1000 / max(1, edits))) }
    }

    /// A commit has ended. Its time is charged in proportion to edits.
    func commitEnded(_ nanoseconds: UInt64) {
        if isContended, configuration.durability == .commit {
            for (account, part) in committers { charge(nanoseconds / 1000 * part, account) }
            awaitReturns(committers.map(\.account), commitTook: nanoseconds)
        }
        committers.removeAll(keepingCapacity: true)
    }

    /// The gathered batch was sent or dropped. The next one is empty.
    func forgetEdits() {
        for account in editors { account.gatheredEdits = 0 }
        editors.removeAll(keepingCapacity: true)
    }
}

extension StoreQuery {
    /// A smaller read for the time while another uid is active, if the rest can be read later.
    fileprivate var inPieces: StoreQuery {
        switch self {
        case .revisions(let form, let from, let rowsMax, let bytesMax):
            .revisions(
                form: form, from: from, rowsMax: rowsMax,
                bytesMax: min(bytesMax, Account.contendedPageBytes))
        case .history(let form, let before, let rowsMax, let bytesMax) where bytesMax < .max:
            .history(
                form: form, before: before, rowsMax: rowsMax,
                bytesMax: min(bytesMax, Account.contendedHistoryBytes))
        // A journal is useful only if it is complete.
        case .history, .journal, .key, .backup, .backupPiece, .backupEnd: self
        }
    }
}
