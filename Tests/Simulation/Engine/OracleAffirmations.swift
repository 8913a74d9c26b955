// Edits that say what is there already, in the oracle's eyes: writes that make no revision.
//
// A write has its place behind a revision and before the next; nobody is told of it, so the host
// says where that is, and the token that somebody holds says whether they had seen it. What it does
// is worked out by `OracleForm.apply`, as for every other edit.

import SyncCore

/// An edit that took dots and made no revision.
struct Affirmation {
    /// The number of the edit.
    let edit: Int
    let connection: Int64
    /// The newest revision when it was done.
    let revision: Int64
    let dots: [Dot]
}

/// Those of a run.
final class OracleAffirmations {
    private struct Done {
        let affirmation: Affirmation
        let write: WriteID
        let changes: [(Change, Sight)]
        let owner: Owner
    }

    /// Those whose revision is not known yet.
    private var queue: [Affirmation] = []
    private var done: [Done] = []

    func enqueue(_ affirmation: Affirmation) { queue.append(affirmation) }

    /// Takes the next one that stands behind a revision that is known.
    func next(upTo revision: Int64) -> Affirmation? {
        guard let first = queue.first, first.revision <= revision else { return nil }
        return queue.removeFirst()
    }

    func note(
        _ affirmation: Affirmation, _ write: WriteID, _ changes: [(Change, Sight)], _ owner: Owner
    ) {
        done.append(Done(affirmation: affirmation, write: write, changes: changes, owner: owner))
    }

    /// Those that nobody can have seen are not done any more.
    func forgetQueue() { queue = [] }

    var writes: Set<WriteID> { Set(done.map(\.write)) }

    func write(of edit: Int) -> WriteID? { done.last { $0.affirmation.edit == edit }?.write }

    /// Those that a token covers.
    func writes(in token: String) -> Set<WriteID> {
        guard let context = try? ContextToken.parse(token) else { return [] }
        let seen = done.filter { $0.affirmation.dots.allSatisfy(context.contains) }
        return Set(seen.map(\.write))
    }

    /// Forgets those that a store has lost, and does the others behind the newest revision again.
    func redo(in form: inout OracleForm, keeping context: CausalContext) {
        done.removeAll { !$0.affirmation.dots.allSatisfy(context.contains) }
        for one in done where one.affirmation.revision == form.revision {
            _ = form.apply(one.changes, write: one.write, owner: one.owner)
        }
    }
}
