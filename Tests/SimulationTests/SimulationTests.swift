// The search: many seeds, each a whole life of a daemon and its clients.
//
// `PICKERSYNC_SIMULATION_SEED=17 swift test --filter SimulationTests` replays one;
// `PICKERSYNC_SIMULATION_SEEDS` and `PICKERSYNC_SIMULATION_FIRST` say how many and from where on.

import EngineTestKit
import Foundation
import SyncCore
import Testing

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

/// Why a plan fails, and what happened up to then.
struct Failure: CustomStringConvertible, Equatable {
    static func == (left: Self, right: Self) -> Bool { left.description == right.description }

    var plan: Plan
    var what: String
    var story: [String]

    var description: String {
        """
        seed \(plan.seed), durability \(plan.durability.rawValue), \(plan.steps.count) steps: \
        \(what)
        \(story.suffix(60).map { "    " + $0 }.joined(separator: "\n"))
        replay: PICKERSYNC_SIMULATION_SEED=\(plan.seed) swift test --filter SimulationTests
        """
    }
}

/// Runs a plan; what is wrong with it.
func failure(of plan: Plan) -> Failure? {
    var world: World?
    do {
        let new = try World(plan)
        world = new
        try new.run()
        return nil
    } catch {
        return Failure(plan: plan, what: "\(error)", story: world?.story ?? [])
    }
}

/// Leaves out steps as long as something still goes wrong, larger pieces first.
func shrunken(_ failure: Failure, runsMax: Int = 400) -> Failure {
    var best = failure
    var runs = 0
    var size = max(1, best.plan.steps.count / 2)
    while runs < runsMax {
        var start = 0
        var hasShrunk = false
        while start < best.plan.steps.count, runs < runsMax {
            var plan = best.plan
            plan.steps.removeSubrange(start..<min(start + size, plan.steps.count))
            runs += 1
            if let smaller = SimulationTests.failure(of: plan) {
                best = smaller
                hasShrunk = true
            } else {
                start += size
            }
        }
        if size == 1, !hasShrunk { break }
        size = max(1, size / 2)
    }
    return best
}

@Test("whatever befalls daemon and clients, every promise of the stream holds")
func everySeedHolds() {
    var failures = 0
    for seed in Search.seeds {
        guard let found = failure(of: Plan(seed: seed)) else { continue }
        failures += 1
        Issue.record("\(shrunken(found))")
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

@Test(
    "a host that makes a mistake on purpose is found out",
    arguments: [
        (HostFaults.answersBeforeCommit, Durability.commit), (.losesIncrement, .commit),
        (.skipsRevision, .commit), (.tellsOneSubscriberOnly, .commit), (.reusesDots, .interval),
    ] as [(HostFaults, Durability)])
func faultsAreFound(fault: HostFaults, durability: Durability) {
    let found = (1...60).lazy.compactMap { seed -> Failure? in
        var plan = Plan(seed: UInt64(seed))
        plan.durability = durability
        plan.faults = fault
        return failure(of: plan)
    }.first
    guard var plan = found?.plan else {
        Issue.record("60 seeds and nobody noticed")
        return
    }
    // It is the mistake that is found, and nothing else.
    plan.faults = []
    #expect(failure(of: plan) == nil)
    if World.isTelling { print(found?.what ?? "") }
}
