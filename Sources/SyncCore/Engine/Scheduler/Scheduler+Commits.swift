// Whose edits are in a commit, and when a commit waits briefly for a client that is likely to edit
// again soon.
//
// A client that sends an edit, waits for the answer and sends the next edit never has an edit
// queued when a commit ends. A client that floods always has. Without a wait, every second commit
// would contain only edits of the flood, and all others would wait for two commits per edit. A
// short wait helps both: the edits of the flood are in the same commit as the other client's.
// (Anticipatory scheduling: Iyer and Druschel, "Anticipatory Scheduling: A Disk Scheduling
// Framework to Overcome Deceptive Idleness in Synchronous I/O", SOSP 2001.)
//
// Invariants: nothing waits while only one uid is active. A batch waits no longer than a commit
// takes. It waits only for a uid that has used less than all uids with edits in the batch, that was
// in the last commit, and that last returned within the duration of a commit.

extension Scheduler {
    /// The longest wait of a batch (nanoseconds), however slow the disk is.
    private static var waitMax: UInt64 { 20_000_000 }
    private static var editNanoseconds: UInt64 { 12_000 }
    /// The least number of edits that a batch accepts from one uid.
    private static var editsMin: Int { 4 }

    /// A user who has edited within this time edits on (nanoseconds).
    private static var pauseMax: UInt64 { 1_000_000_000 }

    /// Whether a user edits now.
    var isEdited: Bool { editedAt.map { now &- $0 < Self.pauseMax } ?? false }

    /// The end of the gathering batch's wait (monotonic nanoseconds); `nil` if it does not wait.
    var batchWaitsUntil: UInt64? {
        guard !awaited.isEmpty, isContended, now < awaitedUntil else { return nil }
        let isWorthIt = awaited.contains { absent in
            accounts[absent.uid] === absent && editors.allSatisfy { $0.credit <= absent.credit }
        }
        return isWorthIt ? awaitedUntil : nil
    }

    /// The most edits of one uid in a batch. They must not make the commit more than a third
    /// longer, because the other uids in the batch wait for them too.
    var batchEditsMax: Int {
        // A quarter of the whole is a third of the rest.
        let edits = Int(clamping: commitNanoseconds / 4 / Self.editNanoseconds)
        return min(Account.contendedEdits, max(Self.editsMin, edits))
    }

    /// Counts an edit in the gathering batch.
    func countEdit(_ account: Account) {
        editedAt = now
        noteReturn(account)
        if account.gatheredEdits == 0 { editors.append(account) }
        account.gatheredEdits += 1
    }

    /// An edit arrived. The time since the account's last commit predicts its next return.
    private func noteReturn(_ account: Account) {
        guard let settled = account.settledAt else { return }
        account.settledAt = nil
        awaited.removeAll { $0 === account }
        // The bound lets the average forget one long pause after a few short ones.
        let away = min(now &- settled, 4 * Self.waitMax)
        account.returnNanoseconds = (account.returnNanoseconds + away) / 2
    }

    /// The gathered batch was sent to the store: records each account's part of it. One edit per
    /// uid is free, because a client that waits for each answer uses the disk nearly all the time
    /// without taking it from others.
    func commitBegan() {
        let edits = editors.reduce(0) { $0 + $1.gatheredEdits }
        committers = editors.map { ($0, UInt64(($0.gatheredEdits - 1) * 1000 / max(1, edits))) }
        forgetEdits()
    }

    /// A commit has ended. While more than one uid is active, its time is charged in proportion to
    /// edits, if edits wait for it.
    func commitEnded(took: UInt64, waitsForCommits: Bool) {
        if isContended, waitsForCommits {
            for (account, part) in committers { worked(took / 1000 * part, for: account) }
            awaitReturns(commitTook: took)
        }
        committers.removeAll(keepingCapacity: true)
    }

    /// Uids that were in the commit and have no other edit pending may return soon.
    private func awaitReturns(commitTook took: UInt64) {
        commitNanoseconds =
            commitNanoseconds == 0 ? took : commitNanoseconds - commitNanoseconds / 4 + took / 4
        let wait = min(commitNanoseconds, Self.waitMax)
        awaited.removeAll(keepingCapacity: true)
        awaitedUntil = now &+ wait
        for (account, _) in committers where account.gatheredEdits == 0 {
            account.settledAt = now
            if account.returnNanoseconds <= wait { awaited.append(account) }
        }
    }

    /// A commit failed, and the gathering batch was dropped with it.
    func commitFailed() {
        forgetEdits()
        committers.removeAll(keepingCapacity: true)
        awaited.removeAll(keepingCapacity: true)
    }

    /// The next batch is empty.
    private func forgetEdits() {
        for account in editors { account.gatheredEdits = 0 }
        editors.removeAll(keepingCapacity: true)
    }
}
