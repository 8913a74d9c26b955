import Simulation
import Testing

/// Verbs between hosts under every fault: see `LinkedVerbs`.
@Suite("Verbs between hosts, at random")
struct FleetVerbSimulationTests {
    @Test("each is done once, answered once, and shown as it is", arguments: 1...24)
    func random(seed: UInt64) {
        #expect(LinkedVerbs.failure(of: seed) == nil)
    }
}
