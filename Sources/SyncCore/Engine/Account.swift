/// What one uid costs the daemon, and its share of the daemon's time.
///
/// Always holds: what is bounded by uid is counted here and nowhere else; the time of a loop
/// iteration is shared by uid, so that no number of connections and no flood of requests by one
/// takes it from another. An account lives from its first connection to its last.
///
/// Time is counted in *units* of about a microsecond: one for a request, and more for what is known
/// to take longer, since the core has no clock of its own. Whoever has used up a turn's units waits
/// for the next turn with all its connections; a request that took more than was left is paid off
/// by the turns that follow (deficit round robin: Shreedhar and Varghese, SIGCOMM 1995).
final class Account {
    /// Units a turn while somebody else is at work: about what an iteration takes anyway, so that
    /// the others keep more than half of their time.
    static let contendedUnits = 32
    /// Units a turn for the only one at work: some milliseconds, so that timers and newcomers get
    /// their turn, and few enough turns that they cost nothing.
    static let loneUnits = 16_384
    /// Connections written to in a turn while somebody else is at work: each write takes some
    /// microseconds.
    static let contendedWrites = 24
    /// Edits of one batch while somebody else is at work: a commit that is longer for them makes
    /// everybody wait.
    static let contendedEdits = 64

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
    /// Connections that have something to be written.
    var ready = ConnectionLine()
    /// Connections with a request whose turn it is not, in their order.
    private var waiting = ConnectionLine()

    init(uid: UInt32) {
        self.uid = uid
    }

    /// Whether a connection waits for the next turn.
    var isBehind: Bool { !waiting.isEmpty }

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
    private static var contentionNanoseconds: UInt64 { 100_000_000 }

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
        spenders.contains { $0.isBehind && !isHeldBack($0) || !$0.ready.isEmpty }
    }

    /// Whether requests of a connection's uid wait for a turn: nothing more need be read of it.
    public func isBehind(_ id: ConnectionID) -> Bool {
        !spenders.isEmpty && connections[id]?.account.isBehind ?? false
    }

    /// Whether an account has its part of the batch that gathers.
    private func isHeldBack(_ account: Account) -> Bool {
        configuration.durability == .commit && isContended && !batches.gathering.isEmpty
            && account.gatheredEdits >= Account.contendedEdits
    }

    /// Everybody's next turn: units anew, and whoever waits goes on.
    func takeTurns(_ effects: inout [Effect]) {
        var taking: [Account] = []
        swap(&taking, &spenders)
        let units = isContended ? Account.contendedUnits : Account.loneUnits
        for account in taking {
            account.hasSpent = false
            account.writesLeft = Account.contendedWrites
            if isHeldBack(account) {
                account.unitsLeft = min(account.unitsLeft, 0)
            } else {
                account.unitsLeft = min(units, account.unitsLeft + units)
            }
            while account.unitsLeft > 0, let connection = account.dequeue() {
                guard connections[connection.id] === connection else { continue }
                resume(connection, &effects)
            }
            // Debts and those who wait are looked after in the next turn.
            if account.unitsLeft < units || account.isBehind { noteSpent(account) }
        }
    }

    /// Counts an edit into the batch that gathers.
    func countEdit(_ account: Account) {
        if account.gatheredEdits == 0 { editors.append(account) }
        account.gatheredEdits += 1
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
