// Silent writes in the oracle: edits that repeat the present value and make no revision.
//
// A silent write has a place between two revisions. It is not in any notification, so the host
// reports where it was done, and a client's token tells whether the client had seen it. Its effect
// is computed by `OracleForm.apply`, as for every other edit.

import SyncCore

/// An edit that has dots and no revision.
struct Affirmation {
    /// The number of the edit.
    let edit: Int
    let connection: Int64
    /// The newest revision when it was done.
    let revision: Int64
    let dots: [Dot]
}

/// The silent writes of a run.
final class OracleAffirmations {
    private struct Done {
        let affirmation: Affirmation
        let write: WriteID
        let changes: [(Change, Sight)]
        let owner: Owner
    }

    /// Silent writes at a revision that is not known yet.
    private var queue: [Affirmation] = []
    private var done: [Done] = []

    func enqueue(_ affirmation: Affirmation) { queue.append(affirmation) }

    /// Removes the next silent write whose revision is known.
    func next(upTo revision: Int64) -> Affirmation? {
        guard let first = queue.first, first.revision <= revision else { return nil }
        return queue.removeFirst()
    }

    func note(
        _ affirmation: Affirmation, _ write: WriteID, _ changes: [(Change, Sight)], _ owner: Owner
    ) {
        done.append(Done(affirmation: affirmation, write: write, changes: changes, owner: owner))
    }

    /// Forgets silent writes that no client can have seen.
    func forgetQueue() { queue = [] }

    var writes: Set<WriteID> { Set(done.map(\.write)) }

    func write(of edit: Int) -> WriteID? { done.last { $0.affirmation.edit == edit }?.write }

    /// The silent writes that a token covers.
    func writes(in token: String) -> Set<WriteID> {
        guard let context = try? ContextToken.parse(token) else { return [] }
        let seen = done.filter { $0.affirmation.dots.allSatisfy(context.contains) }
        return Set(seen.map(\.write))
    }

    /// Forgets the silent writes that a store has lost, and does the others again at the newest
    /// revision.
    func redo(in form: inout OracleForm, keeping context: CausalContext) {
        done.removeAll { !$0.affirmation.dots.allSatisfy(context.contains) }
        for one in done where one.affirmation.revision == form.revision {
            _ = form.apply(one.changes, write: one.write, owner: one.owner)
        }
    }
}
