// What befalls five stores, all from one seed.
//
// Invariant: a step is a verb and 64 random bits and makes sense in any state, so that steps can
// be left out of a schedule and the rest still means something.

import SeededRandom

/// A bug that can be put in, to see that the oracle finds it.
package enum CausalFault: CaseIterable, Sendable {
    /// A join is skipped where the own context covers the other.
    case skippedJoin
    /// A restored store goes on in its old epoch.
    case reusedDot
    /// A replica's running sum starts again with each increment.
    case lostIncrement
    /// A stamp from a clock that is ahead is altered when it arrives.
    case alteredStamp
}

/// One thing that happens.
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

/// A whole life of five stores.
package struct CausalSchedule: Sendable {
    /// What it was made from.
    package let seed: UInt64
    /// What happens, in order.
    package var steps: [CausalStep]
    /// The bug that is put in.
    package var fault: CausalFault?

    /// The schedule of `seed`: from 200 to 280 steps.
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

    /// Whether a thing of `percent` in a hundred happens.
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
