/// Shares the loop's time among users: whose requests, reads of the store, edits and writes are
/// next, and how many of them.
///
/// Time is an input: `now` comes with each event, and what work took comes with `worked` and
/// `requestEnded`. What follows for the shell is one value, `Schedule`. The same calls give the
/// same schedule.
///
/// An account (see `Account`):
///
///     (none) ──first connection──▶ open ──last connection ends──▶ closed ──owes nothing──▶ (none)
///                                    ▲                              │
///                                    └──────── a new connection ────┘
///
/// Its part of the loop:
///
///     in credit ──spends──▶ spender ──its turn: all paid, nothing waits──▶ in credit
///                            ▲   │
///                            └───┘ its turn: debts, or something waits
///
/// A class, because a struct would be copied at each call of the engine.
final class Scheduler {
    /// Two uids that take turns within this many nanoseconds both count as active.
    static var contentionNanoseconds: UInt64 { 20_000_000 }
    /// How many connections are at most sorted, so that those without an answer come first. The
    /// process that asked starts to work when it has its answer, and if it is given the daemon's
    /// processor, the others wait for it. An answer must not wait for many subscribers.
    static var toldFirstMax: Int { 8 }

    /// By uid: accounts with connections, and accounts without that still owe something.
    private(set) var accounts: [UInt32: Account] = [:]
    /// The account of the bridge's connection.
    private(set) var link: Account?
    private(set) var usersConnected = 0
    /// The account of the last request, and until when more than one uid counts as active
    /// (monotonic nanoseconds). `atWork` is cleared when its last connection ends; a weak reference
    /// would make every retain of an account slower.
    private(set) var atWork: Account?
    var contendedUntil: UInt64 = 0
    /// Until when any uid counts as active (monotonic nanoseconds). Only the link looks at this.
    var activeUntil: UInt64 = 0
    /// When a user last edited (monotonic nanoseconds).
    var editedAt: UInt64?
    /// Accounts that have used a part of this turn or owe units, in the order of their first use.
    var spenders: [Account] = []
    /// Accounts in the current turn, which of them is next, and the units of each. Empty between
    /// turns; kept to reuse its capacity.
    var takingTurns: [Account] = []
    var nextTaker = 0
    var turnUnits = 0
    /// Accounts with edits in the batch that gathers.
    var editors: [Account] = []
    /// Accounts in the committing batch, with their parts of it in thousandths.
    var committers: [(account: Account, part: UInt64)] = []
    /// Accounts from the last commit that may return soon, and until when the gathering batch waits
    /// for them (monotonic nanoseconds).
    var awaited: [Account] = []
    var awaitedUntil: UInt64 = 0
    /// The moving average of the duration of a commit while more than one uid is active.
    var commitNanoseconds: UInt64 = 0
    private var fetchers: [FetchID: Account] = [:]
    /// Forms with changes whose subscribers have not been told.
    var news: [LiveForm] = []
    /// Audiences that `tell` has not finished, while only one uid is active.
    var telling = Queue<Audience>()
    /// Accounts with connections that have output, in order.
    var readyAccounts: [Account] = []
    /// The time of the current event (monotonic nanoseconds).
    var now: UInt64 = 0
    /// Whether the time that work takes is measured. Otherwise only units count.
    var measuresTime = false
    /// The iteration (`now`) in which no further request of any user begins.
    private var usedUpAt: UInt64?

    // MARK: - Accounts

    func join(_ uid: UInt32) -> Account {
        let account = accounts[uid] ?? Account(uid: uid)
        accounts[uid] = account
        if account.connections == 0 { usersConnected += 1 }
        account.connections += 1
        return account
    }

    /// One connection of an account has ended.
    func leave(_ account: Account) {
        account.connections -= 1
        guard account.connections == 0 else { return }
        if !account.isLink { usersConnected -= 1 }
        if atWork === account { atWork = nil }
        close(account)
    }

    /// From now on, the link pays for a connection. Its subscribers are counted by account, so it
    /// has no subscriptions.
    func moveToLink(_ connection: Connection) {
        let former = connection.account
        let account = link ?? Account(uid: former.uid, isLink: true)
        link = account
        account.connections += 1
        account.heldBytes += connection.heldBytes
        account.unfinishedBytes += connection.decoder.gatheredBytes
        former.heldBytes -= connection.heldBytes
        former.unfinishedBytes -= connection.decoder.gatheredBytes
        connection.account = account
        leave(former)
    }

    /// Deletes an account without connections when it owes nothing. Until then, its user finds the
    /// debt again after a reconnect.
    func close(_ account: Account) {
        guard account.connections == 0 else { return }
        guard owesNothing(account) else { return noteSpent(account) }
        if accounts[account.uid] === account { accounts[account.uid] = nil }
        if link === account { link = nil }
    }

    /// Whether an account owes no time, no units and no rest.
    func owesNothing(_ account: Account) -> Bool {
        account.credit > 0 && account.unitsLeft >= 0 && !isResting(account)
    }

    var subscriptionCount: Int {
        accounts.values.reduce(link?.subscriptions ?? 0) { $0 + $1.subscriptions }
    }

    /// Releases the connections in the queues, which hold references to their accounts. Called when
    /// the engine ends.
    func releaseConnections() {
        // Accounts with connections, and those whose connections ended since the last turn.
        for account in accounts.values { account.releaseConnections() }
        for account in readyAccounts + spenders { account.releaseConnections() }
        link?.releaseConnections()
        telling = Queue()
    }

    // MARK: - Units

    /// Whether more than one uid is active.
    var isContended: Bool { contendedUntil > now }

    /// Whether an account must leave time to others, who are active.
    func isContended(_ account: Account) -> Bool {
        (account.isLink ? activeUntil : contendedUntil) > now
    }

    /// Whether a user other than the account's is connected, active or not.
    func isShared(_ account: Account) -> Bool { usersConnected > (account.isLink ? 0 : 1) }

    func spend(_ units: Int, _ account: Account) {
        if !account.isLink { noteActive(account) }
        noteSpent(account)
        account.unitsLeft -= units
    }

    /// A user begins some work.
    @inline(__always)
    private func noteActive(_ account: Account) {
        activeUntil = now &+ Self.contentionNanoseconds
        guard atWork !== account else { return }
        if atWork != nil {
            contendedUntil = activeUntil
            // Until now only one uid was active. It does not keep the rest of its long turn.
            for spender in spenders { spender.unitsLeft = min(spender.unitsLeft, 0) }
        }
        atWork = account
    }

    /// An account has used a part of this turn.
    func noteSpent(_ account: Account) {
        guard !account.hasSpent else { return }
        account.hasSpent = true
        spenders.append(account)
    }

    /// An account begins nothing more before the next turn.
    func leaveTurn(_ account: Account) {
        noteSpent(account)
        account.unitsLeft = min(account.unitsLeft, 0)
    }

    // MARK: - Time

    /// Whether an account has used no more than its share of time.
    func mayWork(_ account: Account) -> Bool {
        guard measuresTime else { return true }
        if isShared(account), isResting(account) { return false }
        return account.credit > 0 || !isContended(account)
    }

    func isResting(_ account: Account) -> Bool { account.restsUntil > now }

    /// Charges time to an account, while others are active.
    func worked(_ nanoseconds: UInt64, for account: Account) {
        guard isContended(account), measuresTime else { return }
        // Only time from now on earns credit.
        if account.credit >= Account.creditMax { account.creditAt = now }
        // No work takes longer by itself. The rest is due to the machine, such as a disk that
        // hangs, and users who have to pay for it would all wait while nobody works.
        account.credit -= Int64(min(nanoseconds, Account.longNanoseconds))
        if account.credit <= 0 { leaveTurn(account) }
    }

    /// Charges the store's time for a fetch to the account that asked for it.
    func worked(_ nanoseconds: UInt64, forFetch id: FetchID) {
        if let account = fetchers[id] { worked(nanoseconds, for: account) }
    }

    /// Whether this iteration has taken so long that the requests of all users wait for the next
    /// one. Otherwise one long request of each of several users would add up.
    var isIterationUsedUp: Bool { usedUpAt == now }

    /// Whether an account may begin a request in this iteration.
    func mayBegin(_ account: Account) -> Bool {
        if isIterationUsedUp { leaveTurn(account) }
        return account.unitsLeft > 0
    }

    /// The iteration has lasted until `time`, whatever its work was.
    func iterationLasts(until time: UInt64) {
        if time > now &+ Account.turnNanoseconds { usedUpAt = now }
    }

    /// A request took this long. Ends the account's turn if the iteration has taken too long until
    /// `time`, because units are only estimates.
    func requestEnded(_ account: Account, took: UInt64?, at time: UInt64) {
        if let took { rest(account, after: took) }
        iterationLasts(until: time)
        let most =
            isContended || account.isLink
            ? Account.contendedTurnNanoseconds : Account.turnNanoseconds
        if time > now &+ most { leaveTurn(account) }
    }

    /// Makes an account rest after a request that blocked the loop for long while another user is
    /// connected, active or not. A client that arrives at a random moment waits in proportion to
    /// the square of the duration (mean residual life: Feller, volume 2, chapter XI), so the rest
    /// grows with the square.
    func rest(_ account: Account, after took: UInt64) {
        let free = Account.freeNanoseconds
        guard took > free else { return }
        // The rest of the time is due to the machine.
        let long = min(took, Account.longNanoseconds)
        let milliseconds = long / 1_000_000
        let begins = max(account.restsUntil, now &+ took)
        account.restsUntil = begins &+ (long - free) * milliseconds
        leaveTurn(account)
    }

    // MARK: - Fetches

    /// Whether another read may start for an account. While several uids are active, each has one
    /// read in progress, so that a commit never waits for a queue of reads.
    func mayFetch(_ account: Account) -> Bool {
        account.fetchesUnderWay < (isContended ? 1 : Account.fetchesMax) && mayWork(account)
    }

    /// A read for an account: the query if it may start now, `nil` if it is queued. The size of the
    /// read depends on who is active when it starts.
    func start(_ id: FetchID, _ query: StoreQuery, for account: Account) -> StoreQuery? {
        fetchers[id] = account
        guard account.fetchesWaiting.isEmpty, mayFetch(account) else {
            account.fetchesWaiting.append((id, query))
            noteSpent(account)
            return nil
        }
        account.fetchesUnderWay += 1
        return isContended ? query.inPieces : query
    }

    /// The next queued read of an account that may start now. Reads that nobody waits for any more
    /// are dropped.
    func nextFetch(
        of account: Account, isWanted: (FetchID) -> Bool
    ) -> (id: FetchID, query: StoreQuery)? {
        while mayFetch(account), let fetch = account.fetchesWaiting.takeFirst() {
            guard isWanted(fetch.id) else {
                fetchers[fetch.id] = nil
                continue
            }
            account.fetchesUnderWay += 1
            return (fetch.id, isContended ? fetch.query.inPieces : fetch.query)
        }
        return nil
    }

    /// A read has ended. Returns the account that pays for it.
    func fetchEnded(_ id: FetchID) -> Account? {
        guard let account = fetchers.removeValue(forKey: id) else { return nil }
        account.fetchesUnderWay -= 1
        if !account.fetchesWaiting.isEmpty { noteSpent(account) }
        return account
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
