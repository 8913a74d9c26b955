/// What one uid costs the daemon, and its share of the daemon's time.
///
/// Always holds: what is bounded by uid is counted here and nowhere else; the time of a loop
/// iteration is shared by uid, so that no number of connections and no flood of requests by one
/// takes it from another. An account lives from its first connection to its last.
///
/// Two measures, since each alone can be fooled. *Units*, guesses of some microseconds, bound what
/// one turn does before others are looked at: whoever has used them up waits for the next turn with
/// all its connections; a request that took more than was left is paid off by the turns that follow
/// (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995). *Credit*, time as it was measured,
/// bounds what many turns take together: while somebody else is at work a uid has half of the time
/// at most, whatever its requests really cost, on the loop and in the store.
final class Account {
    /// Units a turn while somebody else is at work: less than a round trip takes anyway, so that
    /// the others keep more than half of their time.
    static let contendedUnits = 16
    /// Units a turn for the only one at work: some milliseconds, so that timers and newcomers get
    /// their turn, and few enough turns that they cost nothing.
    static let loneUnits = 16_384
    /// Connections written to in a turn while somebody else is at work: each write takes some
    /// microseconds.
    static let contendedWrites = 6
    /// Subscribers of a form marked in a turn while somebody else is at work.
    static let contendedMarks = 128
    /// Credit that a uid may save up (nanoseconds): what it may take at once, in turns.
    static let creditMax: Int64 = 1_000_000
    /// Debt beyond which no time is owed (nanoseconds): one mistake is not paid for ever.
    static let debtMax: Int64 = 200_000_000
    /// Edits of one batch while somebody else is at work: a commit that is longer for them makes
    /// everybody wait.
    static let contendedEdits = 32

    let uid: UInt32
    var connections = 0
    var subscriptions = 0
    /// Bytes of frames that have not come whole.
    var unfinishedBytes = 0
    /// Bytes of requests that wait, of answers that were not taken, and of writes under way that
    /// are nobody else's.
    var heldBytes = 0
    /// Units left of this turn; below 0 where a request took more.
    var unitsLeft = Account.contendedUnits
    /// Whether units of this turn were spent.
    var hasSpent = false
    /// Edits in the batch that gathers.
    var gatheredEdits = 0
    /// Writes left of this turn, where somebody else is at work.
    var writesLeft = Account.contendedWrites
    /// Nanoseconds that it may take before others have had as many; below 0, it waits.
    var credit = Account.creditMax
    /// When credit was added last (monotonic nanoseconds).
    var creditAt: UInt64 = 0
    /// Audiences whose members are to be marked as ready.
    var audiences: [Audience] = []
    /// Reads of the store that wait for a turn, and how many are under way.
    var fetchesWaiting: [(id: FetchID, query: StoreQuery)] = []
    var fetchesUnderWay = 0
    /// Connections that have something to be written.
    var ready = ConnectionLine()
    /// Connections with a request whose turn it is not, in their order.
    private var waiting = ConnectionLine()

    init(uid: UInt32) {
        self.uid = uid
    }

    /// Whether a connection waits for the next turn.
    var isBehind: Bool { !waiting.isEmpty }

    /// Whether something of it waits for a turn or for the store.
    var isWaiting: Bool {
        isBehind || !ready.isEmpty || !audiences.isEmpty || fetchesUnderWay > 0
            || !fetchesWaiting.isEmpty
    }

    /// Puts a connection behind the others.
    func enqueue(_ connection: Connection) {
        guard !connection.isAwaitingTurn else { return }
        connection.isAwaitingTurn = true
        waiting.append(connection)
    }

    /// Takes the connection whose turn it is.
    func dequeue() -> Connection? {
        guard let connection = waiting.take(1).first else { return nil }
        connection.isAwaitingTurn = false
        return connection
    }
}

/// The subscribers of one form that belong to one uid: they are marked as ready in its turn and at
/// its cost, as there may be thousands.
final class Audience {
    let account: Account
    private(set) var members: [Subscription] = []
    /// The member that is marked next, and how many are to be.
    private var next = 0
    private(set) var unmarked = 0

    init(_ account: Account) {
        self.account = account
    }

    func add(_ subscription: Subscription) {
        subscription.index = members.count
        members.append(subscription)
    }

    /// Takes a member out; the last one takes its place, and is marked once more where it might
    /// have been passed over.
    func remove(_ subscription: Subscription) {
        let index = subscription.index
        guard index < members.count, members[index] === subscription else { return }
        let last = members.removeLast()
        if last !== subscription {
            members[index] = last
            last.index = index
        }
        if unmarked > 0 { unmarked = members.count }
    }

    /// All are to be marked.
    func hasNews() {
        unmarked = members.count
    }

    /// Marks some; gives how many.
    func mark(atMost max: Int, _ body: (Subscription) -> Void) -> Int {
        let count = min(max, unmarked)
        for _ in 0..<count {
            if next >= members.count { next = 0 }
            body(members[next])
            next += 1
        }
        unmarked -= count
        return count
    }
}

/// Connections in their order, taken from the front.
struct ConnectionLine {
    private var connections: [Connection] = []
    private var head = 0

    var isEmpty: Bool { head == connections.count }

    var count: Int { connections.count - head }

    mutating func append(_ connection: Connection) { connections.append(connection) }

    /// Takes so many from the front, or as many as there are.
    mutating func take(_ wanted: Int) -> ArraySlice<Connection> {
        let taken = connections[head..<min(head + wanted, connections.count)]
        head += taken.count
        if head == connections.count {
            connections = []
            head = 0
        } else if head > 1024, head > connections.count / 2 {
            connections.removeFirst(head)
            head = 0
        }
        return taken
    }
}

extension Engine {
    /// Nanoseconds for which two uids that took turns count as both at work.
    private static var contentionNanoseconds: UInt64 { 20_000_000 }

    /// The account of a uid, opened where there is none.
    func account(of uid: UInt32) -> Account {
        if let known = accounts[uid] { return known }
        let account = Account(uid: uid)
        accounts[uid] = account
        return account
    }

    /// Whether more than one uid is at work.
    public var isContended: Bool {
        contendedUntil > now.monotonicNanoseconds
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
                && (account.isBehind && !isHeldBack(account) || !account.ready.isEmpty
                    || !account.audiences.isEmpty
                    || !account.fetchesWaiting.isEmpty && account.fetchesUnderWay == 0)
        }
    }

    /// Nanoseconds after which somebody who has had too much of the time may go on.
    public var nextTurnNanoseconds: Int64? {
        guard isContended else { return nil }
        let least = spenders.lazy.map(\.credit).filter { $0 <= 0 }.max()
        return least.map { 2 * (1 - $0) }
    }

    /// Whether requests of a connection's uid wait for a turn: nothing more need be read of it.
    public func isBehind(_ id: ConnectionID) -> Bool {
        guard !spenders.isEmpty, let account = connections[id]?.account else { return false }
        return account.isBehind || !mayWork(account)
    }

    // MARK: - Credit

    /// Whether an account has not had more of the time than the others; without a stopwatch (a
    /// simulation) units alone count.
    private func mayWork(_ account: Account) -> Bool {
        !isContended || account.credit > 0 || stopwatch == nil
    }

    /// When work for an account begins that is to be charged to it; `nil` while it is alone.
    func workBegins() -> UInt64? {
        guard isContended, let stopwatch else { return nil }
        return stopwatch()
    }

    /// Charges an account the time since `workBegins`.
    func workEnded(_ began: UInt64?, _ account: Account) {
        guard let began, let stopwatch else { return }
        charge(stopwatch() &- began, account)
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
        let cost = Int64(clamping: min(nanoseconds, UInt64(Account.debtMax)))
        account.credit = max(account.credit - cost, -Account.debtMax)
        guard account.credit <= 0 else { return }
        account.unitsLeft = min(account.unitsLeft, 0)
        noteSpent(account)
    }

    /// Half of the time that has passed, or all of it for who is alone.
    private func addCredit(_ account: Account) {
        let passed = now.monotonicNanoseconds &- account.creditAt
        account.creditAt = now.monotonicNanoseconds
        let earned = Int64(clamping: min(passed, UInt64(Account.debtMax) * 2))
        account.credit = min(
            Account.creditMax, account.credit + (isContended ? earned / 2 : earned))
    }

    // MARK: - Fetches

    /// Asks the store for an account, at once where it may: of several uids each has one read under
    /// way, so that a commit never waits for a queue of them.
    func send(_ id: FetchID, _ query: StoreQuery, _ account: Account, _ effects: inout [Effect]) {
        fetchers[id] = account
        if stopwatch != nil, isContended, account.fetchesUnderWay > 0 || !mayWork(account) {
            account.fetchesWaiting.append((id, query))
            noteSpent(account)
        } else {
            account.fetchesUnderWay += 1
            effects.append(.fetch(id, query))
        }
    }

    /// The store has answered.
    func fetchEnded(_ id: FetchID) {
        guard let account = fetchers.removeValue(forKey: id) else { return }
        account.fetchesUnderWay -= 1
        if !account.fetchesWaiting.isEmpty { noteSpent(account) }
    }

    private func sendWaiting(_ account: Account, _ effects: inout [Effect]) {
        var sent = 0
        for fetch in account.fetchesWaiting {
            guard account.fetchesUnderWay == 0 || !isContended else { break }
            sent += 1
            guard fetches[fetch.id] != nil else {
                // Whoever asked is gone.
                fetchers[fetch.id] = nil
                continue
            }
            account.fetchesUnderWay += 1
            effects.append(.fetch(fetch.id, fetch.query))
        }
        account.fetchesWaiting.removeFirst(sent)
    }

    /// Connections of an account that may be written to now, while somebody else is at work.
    func writesLeft(of account: Account) -> Int {
        mayWork(account) ? max(0, account.writesLeft) : 0
    }

    // MARK: - Turns

    /// Whether an account has its part of the batch that gathers.
    private func isHeldBack(_ account: Account) -> Bool {
        configuration.durability == .commit && isContended && !batches.gathering.isEmpty
            && account.gatheredEdits >= Account.contendedEdits
    }

    /// Everybody's next turn: units anew, and whoever waits goes on.
    func takeTurns(_ effects: inout [Effect]) {
        noteContention()
        var taking: [Account] = []
        swap(&taking, &spenders)
        let units = isContended ? Account.contendedUnits : Account.loneUnits
        for account in taking {
            account.hasSpent = false
            account.writesLeft = Account.contendedWrites
            addCredit(account)
            let may = mayWork(account)
            if !may || isHeldBack(account) {
                account.unitsLeft = min(account.unitsLeft, 0)
            } else {
                account.unitsLeft = min(units, account.unitsLeft + units)
            }
            if may { work(account, &effects) }
            // Debts and those who wait are looked after in the next turn.
            if account.unitsLeft < units || account.isBehind || !account.audiences.isEmpty
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
        if account.gatheredEdits == 0 { editors.append(account) }
        account.gatheredEdits += 1
    }

    /// A batch is on its way: whose edits it has.
    func noteCommitters() {
        let edits = editors.reduce(0) { $0 + $1.gatheredEdits }
        committers = editors.map { ($0, UInt64($0.gatheredEdits * 1000 / max(1, edits))) }
    }

    /// The time of a commit is charged by edits: the disk is one, like the loop.
    func chargeCommitters(_ nanoseconds: UInt64) {
        if isContended, configuration.durability == .commit {
            for (account, part) in committers { charge(nanoseconds / 1000 * part, account) }
        }
        committers.removeAll(keepingCapacity: true)
    }

    /// The batch that gathered is on its way, or is given up: the next one is empty.
    func forgetEdits() {
        for account in editors { account.gatheredEdits = 0 }
        editors.removeAll(keepingCapacity: true)
    }

    // MARK: - Bytes

    /// Counts what a connection holds of the daemon's memory to its uid.
    func chargeHeld(_ connection: Connection) {
        let bytes = connection.owedBytes + connection.inboxBytes + connection.writingBytes
        guard bytes != connection.heldBytes else { return }
        let account = connection.account
        account.heldBytes += bytes - connection.heldBytes
        connection.heldBytes = bytes
        if account.heldBytes > configuration.limits.heldBytesPerUserMax,
            !overfull.contains(where: { $0 === account })
        {
            overfull.append(account)
        }
    }

    /// Where a uid holds more than it may, its connections that hold the most are cut off. They do
    /// not read, so they are not told.
    func cutOffOverfull(_ effects: inout [Effect]) {
        let accounts = overfull
        overfull.removeAll(keepingCapacity: true)
        for account in accounts
        where account.heldBytes > configuration.limits.heldBytesPerUserMax {
            cutOffGreatest(of: account, &effects)
        }
    }

    /// Down to three quarters, so that the look at all connections is rare.
    private func cutOffGreatest(of account: Account, _ effects: inout [Effect]) {
        let max = configuration.limits.heldBytesPerUserMax
        let greatest = connections.values.filter { $0.account === account && $0.heldBytes > 0 }
            .sorted { ($1.heldBytes, $0.id) < ($0.heldBytes, $1.id) }
        var rest = account.heldBytes
        for connection in greatest where rest > max / 4 * 3 && connection.progress != .ending {
            rest -= connection.heldBytes
            counters.refused += 1
            log(
                .warning,
                "connection \(connection.id.number) of \(connection.peer.whom) cut off with "
                    + "\(connection.heldBytes) bytes not taken: heldBytesPerUserMax is \(max)",
                &effects)
            effects.append(.close(connection.id))
        }
    }

    /// Chunks that the logs have dropped and writes under way still hold: where they are too many,
    /// those who have fallen off while they were written to are let go, from the uid that has the
    /// most of them.
    func letGoOfStalled() {
        guard retained.bytes > configuration.limits.retainedBytesMax else { return }
        var stalled: [UInt32: [Connection]] = [:]
        for form in forms {
            for subscription in form.subscriptions {
                let connection = subscription.connection
                guard connection.isWriting, case .live(let next) = subscription.position,
                    next < form.changeLog.first
                else { continue }
                stalled[connection.peer.uid, default: []].append(connection)
            }
        }
        let most = stalled.max { ($0.value.count, $1.key) < ($1.value.count, $0.key) }
        stalledOff += most?.value ?? []
    }
}

/// Bytes of chunks that a log has dropped, for as long as a write holds them.
final class RetainedBytes {
    var bytes = 0
}
