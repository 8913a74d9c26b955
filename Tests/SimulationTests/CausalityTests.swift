// Five stores against the oracle: the short search. `make simulate` is the long one.

import Simulation
import TestKit
import Testing

@Suite("Causality: simulation against full histories")
struct CausalityTests {
    @Test("five stores agree with the oracle through partitions, loss, restarts and old backups")
    func agrees() {
        let first = SplitMix64.seed(from: "PICKERSYNC_SIMULATION_SEED")
        for seed in (0..<400).map({ first &+ $0 }) {
            guard let failure = CausalFailure.found(in: CausalSchedule(seed: seed)) else {
                continue
            }
            Issue.record("\(failure)")
            return
        }
    }

    @Test("a seeded bug is found by the oracle, shrunk and told", arguments: CausalFault.allCases)
    func findsFaults(fault: CausalFault) throws {
        let found = (1...60).lazy.compactMap { seed in
            CausalFailure.found(in: CausalSchedule(seed: seed, fault: fault))
        }.first
        let failure = try #require(found, "60 seeds and nobody noticed")
        #expect(failure.schedule.steps.count <= 40, "\(failure)")
        #expect(!failure.story.isEmpty)
        // It is the mistake that is found, and nothing else.
        var healthy = failure.schedule
        healthy.fault = nil
        #expect(CausalFailure.found(in: healthy) == nil)
    }

    @Test("a seed replays to the same end")
    func replays() throws {
        let ends = try (0..<2).map { _ -> String in
            let found = (1...60).lazy.compactMap { seed in
                CausalFailure.found(in: CausalSchedule(seed: seed, fault: .reusedDot))
            }.first
            return try #require(found).description
        }
        #expect(ends[0] == ends[1])
    }
}
