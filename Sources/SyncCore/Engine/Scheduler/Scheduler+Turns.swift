// Turns: what each account may do in one iteration of the loop, and when the next one is.

/// When the shell calls the engine next, and how much it may do until then.
public struct Schedule: Hashable, Sendable {
    /// Whether more than one user is active, so that reads, writes and accepts must be short.
    public let isContended: Bool
    /// Whether `Input.turn` has any effect. The shell checks this at the end of each iteration.
    public let wantsTurn: Bool
    /// Whether an account waits only for the next iteration.
    public let wantsIteration: Bool
    /// Nanoseconds until an account without credit can continue; `nil` if none waits for that.
    public let turnNanoseconds: Int64?
    /// When the engine must be called next if no event arrives (`Input.deadline`, monotonic
    /// nanoseconds).
    public let deadline: UInt64
}

extension Scheduler {
    // MARK: - The schedule

    /// The schedule as of now.
    ///
    /// - Parameters:
    ///   - holdsEdits: Edits wait for a commit, so an account with many of them is held back.
    ///   - deadline: when the engine must be called for other reasons.
    func schedule(holdsEdits: Bool, deadline: UInt64) -> Schedule {
        Schedule(
            isContended: isContended, wantsTurn: !spenders.isEmpty,
            wantsIteration: wantsIteration(holdsEdits: holdsEdits),
            turnNanoseconds: turnNanoseconds, deadline: deadline)
    }

    private func wantsIteration(holdsEdits: Bool) -> Bool {
        !telling.isEmpty
            || spenders.contains { account in
                mayWork(account)
                    && (account.hasWaitingRequests && !isHeldBack(account, holdsEdits: holdsEdits)
                        || !account.ready.isEmpty || !account.audiences.isEmpty
                        || !account.staleFilters.isEmpty
                        || !account.fetchesWaiting.isEmpty && mayFetch(account))
            }
    }

    private var turnNanoseconds: Int64? {
        guard isContended || usersConnected > 1 || link != nil else { return nil }
        let waits = spenders.lazy.filter { $0.connections > 0 }.compactMap { account -> Int64? in
            if self.isShared(account), self.isResting(account) {
                return Int64(clamping: account.restsUntil - self.now)
            }
            return self.isContended(account) && account.credit <= 0
                ? account.shares * (1 - account.credit) : nil
        }
        // The set of active uids can change before that.
        return waits.min().map { min($0, Int64(Self.contentionNanoseconds)) }
    }

    /// Whether the requests of an account have to wait for a turn.
    func mustWait(_ account: Account) -> Bool { account.hasWaitingRequests || !mayWork(account) }

    // MARK: - Turns

    /// Whether an account has used its part of the gathering batch.
    private func isHeldBack(_ account: Account, holdsEdits: Bool) -> Bool {
        holdsEdits && isContended && account.gatheredEdits >= batchEditsMax
    }

    /// Starts the next turn of all accounts.
    ///
    /// - Parameter waitsForCommits: whether edits wait for a commit.
    func beginTurns(waitsForCommits: Bool) {
        noteContention(waitsForCommits: waitsForCommits)
        swap(&takingTurns, &spenders)
        turnUnits = isContended ? Account.contendedUnits : Account.loneUnits
    }

    private func units(of account: Account) -> Int {
        account.isLink && isContended(account) ? min(Account.linkUnits, turnUnits) : turnUnits
    }

    /// The next account that may work in this turn, with new units; `nil` at the end of the turn.
    /// After its work, `endTurn` follows.
    func nextTurn(holdsEdits: Bool) -> Account? {
        while nextTaker < takingTurns.count, !isIterationUsedUp {
            let account = takingTurns[nextTaker]
            nextTaker += 1
            account.hasSpent = false
            account.writesLeft = Account.contendedWrites
            addCredit(account)
            if account.connections == 0, owesNothing(account) {
                close(account)
                continue
            }
            let may = mayWork(account)
            if !may || isHeldBack(account, holdsEdits: holdsEdits) {
                account.unitsLeft = min(account.unitsLeft, 0)
            } else {
                let units = units(of: account)
                account.unitsLeft = min(units, account.unitsLeft + units)
            }
            if may { return account }
            endTurn(of: account)
        }
        // Where the iteration is used up, the others are first in the next one.
        spenders.insert(contentsOf: takingTurns[nextTaker...], at: 0)
        takingTurns.removeAll(keepingCapacity: true)
        nextTaker = 0
        return nil
    }

    /// The work of an account in this turn has ended. Accounts with debts or waiting requests stay
    /// in the list for the next turn.
    func endTurn(of account: Account) {
        if account.unitsLeft < units(of: account) || account.hasWaitingRequests
            || !account.audiences.isEmpty || !account.staleFilters.isEmpty
            || !account.fetchesWaiting.isEmpty || account.credit < Account.creditMax
        {
            noteSpent(account)
        }
    }

    /// Adds the account's share of the elapsed time, or all of it if only this uid is active.
    private func addCredit(_ account: Account) {
        let passed = now &- account.creditAt
        account.creditAt = now
        let earned = Int64(clamping: passed >> 1) * 2
        account.credit = min(
            Account.creditMax,
            account.credit + (isContended(account) ? earned / account.shares : earned))
    }

    /// Marks uids as active that wait for a turn, for the store or for a commit, however long that
    /// takes.
    private func noteContention(waitsForCommits: Bool) {
        var first: Account?
        func isSecond(_ account: Account) -> Bool {
            if account.isLink { return false }
            if first == nil { first = account }
            return first !== account
        }
        if waitsForCommits && committers.contains(where: { isSecond($0.account) })
            || waitsForCommits && editors.contains(where: isSecond)
            || spenders.contains(where: { $0.isWaiting && isSecond($0) })
        {
            contendedUntil = now &+ Self.contentionNanoseconds
        }
        if first != nil { activeUntil = now &+ Self.contentionNanoseconds }
    }
}
