// Five daemons with real engines against the oracle: the short search. `make simulate FLEET=…` is
// the long one.

import Simulation
import TestKit
import Testing

@Suite("Five daemons, joined: simulation against full histories")
struct FleetTests {
    @Test("five daemons agree with the oracle through partitions, loss, kills and old backups")
    func agrees() {
        let first = SplitMix64.seed(from: "PICKERSYNC_SIMULATION_SEED")
        for seed in (0..<25).map({ first &+ $0 }) {
            guard let failure = FleetFailure.found(in: FleetPlan(seed: seed)) else { continue }
            Issue.record("\(failure)")
            return
        }
    }

    @Test(
        "a bug that is put into a fleet is found, shrunk and told", arguments: FleetFault.allCases)
    func findsFaults(fault: FleetFault) throws {
        let found = (1...40).lazy.map { FleetPlan(seed: $0, fault: fault) }
            .first { FleetFailure.finds(fault, in: CollectionOfOne($0.seed)) }
        let plan = try #require(found, "40 seeds and nobody noticed")
        let failure = try #require(FleetFailure.found(in: plan))
        #expect(failure.plan.steps.count <= 40, "\(failure)")
        #expect(!failure.story.isEmpty)
    }

    @Test(
        "a join whose batch waits, and an undo below a value from a clock that is far ahead",
        arguments: [20_261_309, 20_262_796] as [UInt64])
    func knownSeeds(seed: UInt64) {
        let failure = FleetFailure.found(in: FleetPlan(seed: seed))
        #expect(failure == nil, "\(failure?.description ?? "")")
    }

    @Test("a seed of a fleet replays to the same end")
    func replays() throws {
        let plan = FleetPlan(seed: 1, fault: .lostField)
        let first = try #require(FleetFailure.found(in: plan))
        #expect(FleetFailure.found(in: plan)?.description == first.description)
    }
}
