// Who may go on, and who pays: turns, credit and bytes by uid (see `Account`).

extension Engine {
    /// Nanoseconds for which two uids that took turns count as both at work.
    private static var contentionNanoseconds: UInt64 { 20_000_000 }

    /// The account that a uid's use is counted to, opened where there is none: that of the user
    /// whose range a subordinate uid comes from (subuid(5)).
    func account(of uid: UInt32) -> Account {
        let uid = environment.accountUID(uid)
        if let known = accounts[uid] { return known }
        let account = Account(uid: uid)
        accounts[uid] = account
        return account
    }

    /// Whether more than one uid is at work.
    public var isContended: Bool {
        contendedUntil > now.monotonicNanoseconds
    }

    /// Whether somebody else is connected, at work or not.
    private var isShared: Bool { usersConnected > 1 }

    /// Ends an account's turn where the iteration has taken its time: units are guesses.
    func lookAtClock(_ account: Account) {
        guard let stopwatch else { return }
        let most = isContended ? Account.contendedTurnNanoseconds : Account.turnNanoseconds
        guard stopwatch() > now.monotonicNanoseconds &+ most else { return }
        noteSpent(account)
        account.unitsLeft = min(account.unitsLeft, 0)
    }

    /// Charges units to the account of a connection.
    func spend(_ units: Int, _ account: Account) {
        if atWork !== account {
            if atWork != nil {
                contendedUntil = now.monotonicNanoseconds &+ Self.contentionNanoseconds
                // Somebody was alone until now: what is left of a long turn is not theirs alone.
                for spender in spenders { spender.unitsLeft = min(spender.unitsLeft, 0) }
            }
            atWork = account
        }
        noteSpent(account)
        account.unitsLeft -= units
    }

    /// An account has used something of this turn.
    func noteSpent(_ account: Account) {
        guard !account.hasSpent else { return }
        account.hasSpent = true
        spenders.append(account)
    }

    /// Whether `Input.turn` would do anything: at the end of each iteration the shell asks.
    public var wantsTurn: Bool { !spenders.isEmpty }

    /// Whether somebody waits for the next iteration and for nothing else.
    public var wantsIteration: Bool {
        spenders.contains { account in
            mayWork(account)
                && (account.hasWaitingRequests && !isHeldBack(account) || !account.ready.isEmpty
                    || !account.audiences.isEmpty || !account.staleFilters.isEmpty
                    || !account.fetchesWaiting.isEmpty && mayFetch(account))
        }
    }

    /// Nanoseconds after which somebody who has had too much of the time may go on.
    public var nextTurnNanoseconds: Int64? {
        guard isContended || isShared else { return nil }
        let waits = spenders.lazy.filter { $0.connections > 0 }.compactMap { account -> Int64? in
            if self.isResting(account) {
                return Int64(clamping: account.restsUntil - self.now.monotonicNanoseconds)
            }
            return self.isContended && account.credit <= 0 ? 2 * (1 - account.credit) : nil
        }
        // Who else is there changes meanwhile.
        return waits.min().map { min($0, Int64(Self.contentionNanoseconds)) }
    }

    /// Whether requests of a connection's uid wait for a turn: nothing more need be read of it.
    public func mustWait(_ id: ConnectionID) -> Bool {
        guard !spenders.isEmpty, let account = connections[id]?.account else { return false }
        return account.hasWaitingRequests || !mayWork(account)
    }

    // MARK: - Credit

    /// Whether an account has not had more of the time than the others; without a stopwatch (a
    /// simulation) units alone count.
    private func mayWork(_ account: Account) -> Bool {
        guard stopwatch != nil else { return true }
        if isShared, isResting(account) { return false }
        return account.credit > 0 || !isContended
    }

    private func isResting(_ account: Account) -> Bool {
        account.restsUntil > now.monotonicNanoseconds
    }

    /// When work for an account begins that is to be charged to it; `nil` while it is alone.
    func workBegins() -> UInt64? {
        guard isContended, let stopwatch else { return nil }
        return stopwatch()
    }

    /// When a request begins that may be followed by a rest; `nil` while nobody else is connected.
    func requestBegins() -> UInt64? {
        guard isShared, let stopwatch else { return nil }
        return stopwatch()
    }

    /// Charges an account the time since `workBegins`.
    func workEnded(_ began: UInt64?, _ account: Account) {
        guard isContended, let began, let stopwatch else { return }
        charge(stopwatch() &- began, account)
    }

    /// Makes an account rest after a request that held the loop up for long while somebody else is
    /// connected, at work or not: whoever comes at a random moment waits for half of the square of
    /// it (the mean residual life: Feller, volume 2, chapter XI), so the rest grows with the
    /// square.
    func restAfter(_ began: UInt64?, _ account: Account) {
        guard let began, let stopwatch else { return }
        let took = stopwatch() &- began
        let free = Account.freeNanoseconds
        guard took > free else { return }
        // No request takes longer by itself: what is more is the machine's.
        let long = min(took, Account.longNanoseconds)
        let milliseconds = long / 1_000_000
        let begins = max(account.restsUntil, now.monotonicNanoseconds &+ took)
        account.restsUntil = begins &+ (long - free) * milliseconds
        account.unitsLeft = min(account.unitsLeft, 0)
        noteSpent(account)
    }

    /// Charges the time of something that was done for a connection.
    public func charge(_ nanoseconds: UInt64, to id: ConnectionID) {
        guard isContended, let account = connections[id]?.account else { return }
        charge(nanoseconds, account)
    }

    /// Charges the time that the store took for a fetch to whoever wanted it.
    public func charge(_ nanoseconds: UInt64, to fetch: FetchID) {
        guard isContended, let account = fetchers[fetch] else { return }
        charge(nanoseconds, account)
    }

    func charge(_ nanoseconds: UInt64, _ account: Account) {
        guard stopwatch != nil else { return }
        // Only time that passes from here on pays for it.
        if account.credit >= Account.creditMax { account.creditAt = now.monotonicNanoseconds }
        // A day is more than a clock that leaps can make of it.
        account.credit -= Int64(min(nanoseconds, 86_400_000_000_000))
        guard account.credit <= 0 else { return }
        account.unitsLeft = min(account.unitsLeft, 0)
        noteSpent(account)
    }

    /// Half of the time that has passed, or all of it for who is alone.
    private func addCredit(_ account: Account) {
        let passed = now.monotonicNanoseconds &- account.creditAt
        account.creditAt = now.monotonicNanoseconds
        let earned = Int64(clamping: passed >> 1) * 2
        account.credit = min(
            Account.creditMax, account.credit + (isContended ? earned / 2 : earned))
    }

    /// Whether an account owes neither time nor units nor a rest.
    private func owesNothing(_ account: Account) -> Bool {
        account.credit > 0 && account.unitsLeft >= 0 && !isResting(account)
    }

    /// Lets go of an account without connections, once it owes nothing: who comes back finds what
    /// they owe.
    func close(_ account: Account) {
        guard account.connections == 0 else { return }
        guard owesNothing(account) else { return noteSpent(account) }
        if accounts[account.uid] === account { accounts[account.uid] = nil }
    }

    // MARK: - Fetches

    /// Whether the store may be asked once more for an account: of several uids each has one read
    /// under way, so that a commit never waits for a queue of them.
    private func mayFetch(_ account: Account) -> Bool {
        account.fetchesUnderWay < (isContended ? 1 : Account.fetchesMax) && mayWork(account)
    }

    /// Asks the store for an account, at once where it may, and for as much as is good then: who
    /// waited may not be alone any more.
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

    /// The store has answered.
    func fetchEnded(_ id: FetchID) {
        guard let account = fetchers.removeValue(forKey: id) else { return }
        account.fetchesUnderWay -= 1
        if !account.fetchesWaiting.isEmpty { noteSpent(account) }
    }

    private func sendWaiting(_ account: Account, _ effects: inout [Effect]) {
        while mayFetch(account), let fetch = account.fetchesWaiting.takeFirst() {
            guard fetches[fetch.id] != nil else {
                // Whoever asked is gone.
                fetchers[fetch.id] = nil
                continue
            }
            account.fetchesUnderWay += 1
            effects.append(.fetch(fetch.id, isContended ? fetch.query.inPieces : fetch.query))
        }
    }

    /// Connections of an account that may be written to now, while somebody else is at work.
    func writesLeft(of account: Account) -> Int {
        mayWork(account) ? max(0, account.writesLeft) : 0
    }

    // MARK: - Turns

    /// Whether an account has its part of the batch that gathers.
    private func isHeldBack(_ account: Account) -> Bool {
        configuration.durability == .commit && isContended && !batches.gathering.isEmpty
            && account.gatheredEdits >= batchEditsMax
    }

    /// Everybody's next turn: units anew, and whoever waits goes on.
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
            // Debts and those who wait are looked after in the next turn.
            if account.unitsLeft < units || account.hasWaitingRequests || !account.audiences.isEmpty
                || !account.staleFilters.isEmpty
                || !account.fetchesWaiting.isEmpty || account.credit < Account.creditMax
            {
                noteSpent(account)
            }
        }
    }

    /// Whoever waits for a turn, for the store or for a commit is at work too, however long that
    /// takes.
    private func noteContention() {
        var first: Account?
        func isSecond(_ account: Account) -> Bool {
            if first == nil { first = account }
            return first !== account
        }
        // Nobody waits for a commit otherwise.
        let waitsForCommit = configuration.durability == .commit
        if waitsForCommit && committers.contains(where: { isSecond($0.account) })
            || waitsForCommit && editors.contains(where: isSecond)
            || spenders.contains(where: { $0.isWaiting && isSecond($0) })
        {
            contendedUntil = now.monotonicNanoseconds &+ Self.contentionNanoseconds
        }
    }

    /// What an account does in its turn.
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

    /// Marks some of those who are to be told something.
    private func markAudiences(of account: Account) {
        var left = isContended ? Account.contendedMarks : Int.max
        while left > 0, let audience = account.audiences.first {
            left -= audience.mark(atMost: left) { markReady($0.connection) }
            if audience.unmarked == 0 { account.audiences.removeFirst() }
        }
    }

    /// Counts an edit into the batch that gathers.
    func countEdit(_ account: Account) {
        noteReturn(account)
        if account.gatheredEdits == 0 { editors.append(account) }
        account.gatheredEdits += 1
    }

    /// A batch is on its way: whose edits it has. One edit of each uid costs it nothing: whoever
    /// waits for each answer uses the disk for nearly all of the time, and takes it from nobody.
    func noteCommitters() {
        let edits = editors.reduce(0) { $0 + $1.gatheredEdits }
        committers = editors.map { ($0, UInt64(($0.gatheredEdits - 1) * 1000 / max(1, edits))) }
    }

    /// A commit has ended; its time is charged by edits.
    func commitEnded(_ nanoseconds: UInt64) {
        if isContended, configuration.durability == .commit {
            for (account, part) in committers { charge(nanoseconds / 1000 * part, account) }
            awaitReturns(committers.map(\.account), commitTook: nanoseconds)
        }
        committers.removeAll(keepingCapacity: true)
    }

    /// The batch that gathered is on its way, or is given up: the next one is empty.
    func forgetEdits() {
        for account in editors { account.gatheredEdits = 0 }
        editors.removeAll(keepingCapacity: true)
    }
}

extension StoreQuery {
    /// What is asked for while somebody else is at work, where the rest can be asked for later.
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
        // A journal is made of all of it or is no journal.
        case .history, .journal, .key, .backup, .backupPiece, .backupEnd: self
        }
    }
}
