import Simulation
import Testing

/// Verbs between hosts under every fault: see `LinkedVerbs`.
@Suite("Verbs between hosts, at random")
struct FleetVerbSimulationTests {
    /// With the last one, an owner that was killed got a request again that it had done.
    @Test(
        "each is done once, answered once, and shown as it is",
        arguments: Array(1...24) + [9_000_038])
    func random(seed: UInt64) {
        #expect(LinkedVerbs.failure(of: seed) == nil)
    }
}
