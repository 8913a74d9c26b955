// The events of a run with five daemons and their clients, all from one seed.
//
// Invariant: a step is a verb and 64 random bits and can be done in any state. So steps can be left
// out of a plan.

import EngineTestKit
import SeededRandom

/// A fault that can be put in, to show that the oracle finds it.
package enum FleetFault: CaseIterable, Sendable {
    /// A field in the delta of another daemon is left out of a join, and counts as known.
    case skippedJoin
    /// A store that was restored from a backup continues in its old epoch.
    case reusedEpoch
    /// A delta of another daemon is joined into the store as it was before its last commit.
    case lostCommit
    /// A token of another daemon counts as one that names everything.
    case foreignToken
    /// A timestamp from a clock that is ahead is changed when it arrives.
    case alteredStamp
    /// The answer comes before the commit.
    case earlyAnswer
    /// Each commit loses its last field.
    case lostField
    /// A revision is never notified.
    case skippedRevision
    /// Subscribers are not notified of a field that was joined.
    case silentJoin

    /// The fault of each host.
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

/// One step.
package struct FleetStep: Sendable {
    enum Verb {
        case edit, undo, comeBack, leave, send, take, split, backUp, restore, kill, restart
        case jumpClock, hold, commit, failCommit, mend, wait
    }

    let verb: Verb
    let bits: UInt64

    /// The percentage of each verb.
    private static let weights: [(Verb, Int)] = [
        (.edit, 41), (.undo, 6), (.comeBack, 8), (.leave, 4), (.send, 9), (.take, 11), (.split, 2),
        (.backUp, 2), (.restore, 2), (.kill, 2), (.restart, 1), (.jumpClock, 2), (.hold, 2),
        (.commit, 3), (.failCommit, 2), (.mend, 1), (.wait, 2),
    ]
    /// One verb for each percent.
    private static let verbs = weights.flatMap { Array(repeating: $0.0, count: $0.1) }

    init(_ random: inout SplitMix64) {
        verb = random.pick(Self.verbs)
        bits = random.next()
    }
}

/// A whole run of five daemons.
package struct FleetPlan: Sendable {
    /// The seed of the plan.
    package let seed: UInt64
    /// The steps, in order.
    package var steps: [FleetStep]
    /// The fault that is put in.
    package var fault: FleetFault?

    /// The plan of `seed`: 100 to 180 steps.
    package init(seed: UInt64, fault: FleetFault? = nil) {
        self.seed = seed
        self.fault = fault
        var random = SplitMix64(seed: seed)
        steps = (0..<100 + random.below(81)).map { _ in FleetStep(&random) }
    }
}
