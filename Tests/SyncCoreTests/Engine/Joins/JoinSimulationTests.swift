import SeededRandom
import Testing

@Suite("Shared forms: hosts over a bad log, against the causal core") struct JoinSimulationTests {
    private func failure(seed: UInt64, _ fault: JoinFault? = nil) -> String? {
        do {
            let world = try JoinWorld(seed: seed, fault: fault)
            do { try world.run(steps: 120) } catch {
                return "seed \(seed): \(error)\n" + world.story.joined(separator: "\n")
            }
            return nil
        } catch { return "seed \(seed): \(error)" }
    }

    @Test("hosts agree through lost, doubled and reordered changes, and changing definitions")
    func agrees() {
        let first = SplitMix64.seed(from: "PICKERSYNC_JOIN_SEED")
        for seed in (0..<40).map({ first &+ $0 }) {
            guard let failure = failure(seed: seed) else { continue }
            Issue.record("\(failure)")
            return
        }
    }

    @Test("a bug that is put in is found", arguments: JoinFault.allCases)
    func findsFaults(fault: JoinFault) {
        let found = (1...60 as ClosedRange<UInt64>).contains { failure(seed: $0, fault) != nil }
        #expect(found, "60 seeds and nobody noticed")
    }
}
