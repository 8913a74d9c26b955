// The search: many seeds, each a whole life of a daemon and its clients.
//
// `PICKERSYNC_SIMULATION_SEED=17 swift test --filter SimulationTests` replays one;
// `PICKERSYNC_SIMULATION_SEEDS` and `PICKERSYNC_SIMULATION_FIRST` say how many and from where on.

import EngineTestKit
import Foundation
import SyncCore
import Testing

@testable import Simulation

/// What a search was asked for.
private enum Search {
    static func number(_ name: String) -> UInt64? {
        ProcessInfo.processInfo.environment[name].flatMap(UInt64.init)
    }

    static var seeds: Range<UInt64> {
        if let seed = number("PICKERSYNC_SIMULATION_SEED") { return seed..<seed + 1 }
        let first = number("PICKERSYNC_SIMULATION_FIRST") ?? 1
        return first..<first + (number("PICKERSYNC_SIMULATION_SEEDS") ?? 40)
    }
}

@Test("whatever befalls daemon and clients, every promise of the stream holds")
func everySeedHolds() {
    var failures = 0
    for seed in Search.seeds {
        guard let found = EngineFailure.found(seed: seed) else { continue }
        failures += 1
        Issue.record("\(found)")
        if failures == 3 { break }
    }
}

@Test("a seed gives the same story twice")
func seedsReplay() throws {
    for seed in Search.seeds.prefix(3) {
        let worlds = try [World(Plan(seed: seed)), World(Plan(seed: seed))]
        for world in worlds { try? world.run() }
        #expect(worlds[0].story == worlds[1].story)
        #expect(worlds[0].oracle.frames == worlds[1].oracle.frames)
    }
}

@Test("where work takes time, users wait for their turns")
func timeIsDealtOut() throws {
    let worlds = try (1...20).map { try World(Plan(seed: $0)) }
    for world in worlds { try world.run() }
    #expect(worlds.contains { $0.plan.takesTime && $0.host.waits > 0 })
    #expect(worlds.allSatisfy { $0.plan.takesTime || $0.host.waits == 0 })
}

@Test("a host that makes a mistake on purpose is found out")
func faultsAreFound() {
    #expect(EngineFailure.faultsMissed(in: 1...60) == [])
}
