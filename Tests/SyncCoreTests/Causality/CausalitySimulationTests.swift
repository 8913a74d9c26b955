// The stores against the oracle.

import SyncCore
import Testing

@Suite("Causality: simulation against full histories")
struct CausalitySimulationTests {
    @Test("five stores agree with the oracle through partitions, loss, restarts and old backups")
    func agrees() {
        for seed in CausalityRandom.seeds(60) {
            var simulation = CausalitySimulation(seed: seed)
            let wrong = simulation.run(steps: 200)
            #expect(wrong == nil, "PICKERSYNC_SEED=\(seed)")
            if wrong != nil { return }
        }
    }

    @Test("a seeded bug is found by the oracle", arguments: CausalityFault.allCases)
    func findsFaults(fault: CausalityFault) {
        let isFound = (1...40).contains { seed in
            var simulation = CausalitySimulation(seed: UInt64(seed), fault: fault)
            return simulation.run(steps: 200) != nil
        }
        #expect(isFound, "\(fault)")
    }

    @Test("a seed replays to the same end")
    func replays() {
        let ends = (0..<2).map { _ -> String? in
            for seed in 1...40 {
                var simulation = CausalitySimulation(seed: UInt64(seed), fault: .reusedDot)
                if let wrong = simulation.run(steps: 200) { return "\(seed): \(wrong)" }
            }
            return nil
        }
        #expect(ends[0] != nil && ends[0] == ends[1])
    }
}
