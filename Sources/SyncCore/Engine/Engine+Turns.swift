// Turns: the work that the scheduler assigns to accounts, and the time that it takes.

extension Engine {
    /// When the shell calls next, and how much it may do until then.
    public var schedule: Schedule {
        scheduler.schedule(holdsEdits: holdsEdits, deadline: nextDeadline)
    }

    /// Whether requests of a connection's uid have to wait for a turn, so that the shell need not
    /// read more.
    public func mustWait(_ id: ConnectionID) -> Bool {
        guard !scheduler.spenders.isEmpty, let account = connections[id]?.account else {
            return false
        }
        return scheduler.mustWait(account)
    }

    /// Whether edits are in a batch that gathers, and wait for its commit.
    private var holdsEdits: Bool { waitsForCommits && !link.gathering.isEmpty }

    /// Whether edits wait for their commit.
    var waitsForCommits: Bool { configuration.durability == .commit }

    /// Starts the next turn of all accounts: with new units, and with the waiting requests.
    func takeTurns() {
        scheduler.beginTurns(waitsForCommits: waitsForCommits)
        while let account = scheduler.nextTurn(holdsEdits: holdsEdits) {
            let began = workBegins()
            sendWaitingFetches(of: account)
            refreshFilters(of: account)
            scheduler.markAudiences(of: account)
            while scheduler.mayBegin(account), let connection = account.dequeue() {
                guard connections[connection.id] === connection else { continue }
                resume(connection)
            }
            workEnded(began, account)
            scheduler.endTurn(of: account)
        }
    }

    // MARK: - Time

    /// Time was used outside of the engine.
    func worked(_ work: TimedWork, _ nanoseconds: UInt64) {
        switch work {
        case .connection(let id):
            if let connection = connections[id] {
                scheduler.worked(nanoseconds, for: connection.account)
            }
        case .fetch(let id): scheduler.worked(nanoseconds, forFetch: id)
        }
    }

    /// The start of work that is charged to an account; `nil` while only one uid is active.
    func workBegins() -> UInt64? { scheduler.isContended ? stopwatch?() : nil }

    /// Charges the time since `workBegins` to an account.
    func workEnded(_ began: UInt64?, _ account: Account) {
        guard let began, let stopwatch else { return }
        let took = stopwatch() &- began
        scheduler.worked(took, for: account)
    }

    /// The start of a request after which its account may have to rest; `nil` while no other user
    /// is connected.
    func requestBegins() -> UInt64? { scheduler.isShared ? stopwatch?() : nil }

    /// Tells the scheduler what a request took.
    func requestEnded(_ began: UInt64?, _ account: Account) {
        guard let stopwatch else { return }
        let time = stopwatch()
        scheduler.requestEnded(account, took: began.map { time &- $0 }, at: time)
    }
}
