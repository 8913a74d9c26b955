// The events of a run with five stores, all from one seed.
//
// Invariant: a step is a verb and 64 random bits and is valid in any state, so that steps can be
// left out of a schedule.

import SeededRandom

/// A bug that can be put in, to show that the oracle finds it.
package enum CausalFault: CaseIterable, Sendable {
    /// A join is skipped if the own context contains the other.
    case skippedJoin
    /// A restored store continues in its old epoch.
    case reusedDot
    /// A replica's running sum starts again with each increment.
    case lostIncrement
    /// A timestamp from a clock that is ahead is changed when it arrives.
    case alteredStamp
}

/// One event.
package struct CausalStep: Sendable {
    enum Verb { case edit, remove, send, deliver, split, backUp, restore, restart, read }

    let verb: Verb
    let bits: UInt64

    init(_ random: inout SplitMix64) {
        bits = random.next()
        switch random.below(100) {
        case 0..<50: verb = .edit
        case 50..<53: verb = .remove
        case 53..<63: verb = .send
        case 63..<86: verb = .deliver
        case 86..<89: verb = .split
        case 89..<93: verb = .backUp
        case 93..<95: verb = .restore
        case 95..<97: verb = .restart
        default: verb = .read
        }
    }
}

/// A whole run of five stores.
package struct CausalSchedule: Sendable {
    /// The seed of the schedule.
    package let seed: UInt64
    /// The steps in order.
    package var steps: [CausalStep]
    /// The bug that is put in, if any.
    package var fault: CausalFault?

    /// The schedule of `seed`: 200 to 280 steps.
    package init(seed: UInt64, fault: CausalFault? = nil) {
        self.seed = seed
        self.fault = fault
        var random = SplitMix64(seed: seed)
        steps = (0..<200 + random.below(81)).map { _ in CausalStep(&random) }
    }
}

extension SplitMix64 {
    /// A number below `bound`, which is small: the bias is below one in 2^50.
    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: next().multipliedFullWidth(by: UInt64(bound)).high)
    }

    /// True with a probability of `percent`.
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
