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

    var waitsForCommits: Bool { configuration.durability == .commit }

    /// Starts the next turn of all accounts: with new units, and with the waiting requests.
    func takeTurns() {
        scheduler.beginTurns(waitsForCommits: waitsForCommits)
        while let account = scheduler.nextTurn(holdsEdits: holdsEdits) {
            let began = workBegins(account)
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

    /// The start of work that is charged to an account; `nil` while nobody else is active.
    func workBegins(_ account: Account) -> UInt64? {
        scheduler.isContended(account) ? stopwatch?() : nil
    }

    /// Charges the time since `workBegins` to an account.
    func workEnded(_ began: UInt64?, _ account: Account) {
        guard let began, let stopwatch else { return }
        let took = stopwatch() &- began
        scheduler.worked(took, for: account)
    }

    /// The start of a request, before its frame is decoded. Its account may have to rest after it.
    /// `nil` while no other user is connected.
    func requestBegins(_ account: Account) -> UInt64? {
        scheduler.isShared(account) ? stopwatch?() : nil
    }

    /// Tells the scheduler what a request took, until its memory was free.
    func requestEnded(_ began: UInt64?, _ account: Account) {
        guard let stopwatch else { return }
        let time = stopwatch()
        // Without a start it took no longer than the iteration.
        let took = time &- (began ?? scheduler.now)
        if took > workspace.longestRequest.nanoseconds {
            workspace.longestRequest = LongestRequest(method: workspace.method, nanoseconds: took)
        }
        scheduler.requestEnded(account, took: began.map { _ in took }, at: time)
    }

    /// After work outside of requests: if it took long, requests wait for the next iteration.
    func endLongIteration() {
        guard let stopwatch else { return }
        scheduler.iterationLasts(until: stopwatch())
    }

    /// The longest request since the last call, for the report about a turn.
    public func takeLongestRequest() -> LongestRequest {
        defer { workspace.longestRequest = LongestRequest() }
        return workspace.longestRequest
    }
}

/// The request that took longest in a turn of the loop.
public struct LongestRequest: Hashable, Sendable {
    /// `nil` for a frame that was refused and for the rest of a request that waited for the store.
    public var method: Method?
    /// From its bytes to the end of its memory; 0 if there was no request.
    public var nanoseconds: UInt64 = 0

    /// A request of that method.
    public init(method: Method? = nil, nanoseconds: UInt64 = 0) {
        self.method = method
        self.nanoseconds = nanoseconds
    }
}
