// What befalls five daemons and their clients, all from one seed.
//
// Invariant: a step is a verb and 64 random bits and makes sense in any state, so that steps can
// be left out of a plan and the rest still means something.

import EngineTestKit
import SeededRandom

/// A bug that can be put in, to see that the oracle finds it.
package enum FleetFault: CaseIterable, Sendable {
    /// A field of what another daemon says is left out of a join, and counts as known.
    case skippedJoin
    /// A store that was put back to a backup goes on in its old epoch.
    case reusedEpoch
    /// What others say is joined into the store as it was before its last commit.
    case lostCommit
    /// A token of another daemon counts for knowing everything.
    case foreignToken
    /// A stamp from a clock that is ahead is altered when it arrives.
    case alteredStamp
    /// The answer comes before the commit.
    case earlyAnswer
    /// Each commit forgets its last field.
    case lostField
    /// A revision is never told.
    case skippedRevision
    /// A field that was joined is not told to those who watched before.
    case silentJoin

    /// The mistake that each host makes.
    var ofHosts: HostFaults {
        switch self {
        case .earlyAnswer: .answersBeforeCommit
        case .lostField: .losesIncrement
        case .skippedRevision: .skipsRevision
        case .skippedJoin, .reusedEpoch, .lostCommit, .foreignToken, .alteredStamp, .silentJoin:
            []
        }
    }
}

/// One thing that happens.
package struct FleetStep: Sendable {
    enum Verb {
        case edit, undo, comeBack, leave, send, take, split, backUp, restore, kill, restart
        case jumpClock, hold, commit, failCommit, mend, wait
    }

    let verb: Verb
    let bits: UInt64

    /// How often each verb comes in a hundred.
    private static let weights: [(Verb, Int)] = [
        (.edit, 41), (.undo, 6), (.comeBack, 8), (.leave, 4), (.send, 9), (.take, 11), (.split, 2),
        (.backUp, 2), (.restore, 2), (.kill, 2), (.restart, 1), (.jumpClock, 2), (.hold, 2),
        (.commit, 3), (.failCommit, 2), (.mend, 1), (.wait, 2),
    ]
    /// The verb of each of a hundred.
    private static let verbs = weights.flatMap { Array(repeating: $0.0, count: $0.1) }

    init(_ random: inout SplitMix64) {
        verb = random.pick(Self.verbs)
        bits = random.next()
    }
}

/// A whole life of five daemons.
package struct FleetPlan: Sendable {
    /// What it was made from.
    package let seed: UInt64
    /// What happens, in order.
    package var steps: [FleetStep]
    /// The bug that is put in.
    package var fault: FleetFault?

    /// The plan of `seed`: from 100 to 180 steps.
    package init(seed: UInt64, fault: FleetFault? = nil) {
        self.seed = seed
        self.fault = fault
        var random = SplitMix64(seed: seed)
        steps = (0..<100 + random.below(81)).map { _ in FleetStep(&random) }
    }
}
