// The link under every fault that a server, a network and a host can have. `make simulate` has the
// long search.

import Simulation
import TestKit
import Testing

@Suite("Simulation: link")
struct LinkSimulationTests {
    @Test("all hosts end with the same, whatever the server and the network did")
    func converges() {
        let first = SplitMix64.seed(from: "LINK_SEED")
        for seed in (0..<12).map({ first &+ $0 }) {
            let failure = LinkWorld.failure(of: seed)
            #expect(failure == nil, "LINK_SEED=\(seed)")
        }
    }

    @Test(
        "a server that finds late that its log ends earlier keeps no two hosts apart",
        arguments: [1_956, 4_987, 6_961, 9_451] as [UInt64])
    func shorterLog(seed: UInt64) {
        #expect(LinkWorld.failure(of: seed, steps: 1_000) == nil)
    }

    @Test("each known error of a link is found", arguments: LinkBug.allCases)
    func finds(bug: LinkBug) {
        // A bug may show in one life of forty only. Among these lives is one for each.
        #expect(LinkWorld.seeds(toFind: bug, in: 301..<360) != nil)
    }
}
