// Hosts that share a form, over a bad log: the short search. `make simulate JOINS=…` is the long
// one.

import Simulation
import TestKit
import Testing

@Suite("Shared forms: hosts over a bad log, against the causal core") struct JoinSimulationTests {
    @Test("hosts agree through lost, doubled and reordered changes, and changing definitions")
    func agrees() {
        let first = SplitMix64.seed(from: "PICKERSYNC_JOIN_SEED")
        for seed in (0..<40).map({ first &+ $0 }) {
            guard let failure = JoinWorld.failure(of: seed) else { continue }
            Issue.record("\(failure)")
            return
        }
    }

    @Test("a bug that is put in is found", arguments: JoinFault.allCases)
    func findsFaults(fault: JoinFault) {
        #expect(JoinWorld.finds(fault, in: 1..<61), "60 seeds and nobody noticed")
    }
}
