// Seeded randomness for the tests of causality.
//
// A failing run prints its seed; PICKERSYNC_SEED=<seed> runs that seed alone, and PICKERSYNC_RUNS
// multiplies how many are tried.

import Foundation
import TestKit

/// The numbers of one seed.
struct CausalityRandom: RandomNumberGenerator {
    private var generator: SplitMix64

    init(seed: UInt64) { generator = SplitMix64(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    /// A number below `bound`.
    mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// Whether a thing of `percent` in a hundred happens.
    mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// The seeds to run: those from 1 to `count` times PICKERSYNC_RUNS, or PICKERSYNC_SEED alone.
    static func seeds(_ count: Int) -> [UInt64] {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["PICKERSYNC_SEED"].flatMap(UInt64.init) { return [seed] }
        let runs = environment["PICKERSYNC_RUNS"].flatMap(Int.init) ?? 1
        return (1...UInt64(count * max(runs, 1))).map { $0 }
    }
}
