// When a commit waits a little for somebody who is about to be back.
//
// Who writes, waits for the answer and writes again is never there when a commit ends; a flood
// always is, so that each second commit would be its alone and everybody else would wait for two.
// A disk that is left idle for a moment, for who has had less of it, serves both: the flood's
// edits travel in the other's commit. (Anticipatory scheduling: Iyer and Druschel, "Anticipatory
// Scheduling: A Disk Scheduling Framework to Overcome Deceptive Idleness in Synchronous I/O", SOSP
// 2001.)
//
// Always holds: nobody waits where one uid is at work alone; a batch waits no longer than a commit
// takes, and only for a uid that has had less than all whose edits are in it, was in the last
// commit, and came back within a commit's time before.

extension Engine {
    /// Nanoseconds that a batch waits at most, however slow the disk is.
    private static var waitMax: UInt64 { 20_000_000 }
    /// What an edit adds to a commit, about (nanoseconds).
    private static var editNanoseconds: UInt64 { 12_000 }
    /// The least number of edits that a batch takes of one uid.
    private static var editsMin: Int { 4 }

    /// When the batch that gathers waits for nobody any more (monotonic nanoseconds); `nil` where
    /// it does not wait.
    var batchWaitsUntil: UInt64? {
        guard !awaited.isEmpty, lifecycle == .serving, isContended,
            now.monotonicNanoseconds < awaitedUntil
        else { return nil }
        let isWorthIt = awaited.contains { absent in
            accounts[absent.uid] === absent && editors.allSatisfy { $0.credit <= absent.credit }
        }
        return isWorthIt ? awaitedUntil : nil
    }

    /// A commit has ended: whoever was in it and has nothing on its way may soon be back.
    func awaitReturns(_ accounts: [Account], commitTook took: UInt64) {
        commitNanoseconds =
            commitNanoseconds == 0 ? took : commitNanoseconds - commitNanoseconds / 4 + took / 4
        let now = now.monotonicNanoseconds
        let wait = min(commitNanoseconds, Self.waitMax)
        awaited.removeAll(keepingCapacity: true)
        awaitedUntil = now &+ wait
        for account in accounts where account.gatheredEdits == 0 {
            account.settledAt = now
            if account.returnNanoseconds <= wait { awaited.append(account) }
        }
    }

    /// Somebody edits: how long it was away says whether it is worth waiting for.
    func noteReturn(_ account: Account) {
        guard let settled = account.settledAt else { return }
        account.settledAt = nil
        awaited.removeAll { $0 === account }
        // One long break is forgotten after a few short ones.
        let away = min(now.monotonicNanoseconds &- settled, 4 * Self.waitMax)
        account.returnNanoseconds = (account.returnNanoseconds + away) / 2
    }

    /// Edits of one uid that a batch takes: they are not to make the commit longer by more than
    /// a third, as whoever else is in it waits for them too.
    var batchEditsMax: Int {
        // A quarter of the whole is a third of the rest.
        let room = Int(clamping: commitNanoseconds / 4 / Self.editNanoseconds)
        return min(Account.contendedEdits, max(Self.editsMin, room))
    }
}
