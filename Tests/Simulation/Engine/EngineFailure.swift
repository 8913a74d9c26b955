// What is said of a plan that a daemon and its clients did not survive.

import EngineTestKit
import SyncCore

/// Why a plan fails, and what happened up to then.
package struct EngineFailure: CustomStringConvertible, Equatable {
    package static func == (left: Self, right: Self) -> Bool {
        left.description == right.description
    }

    var plan: Plan
    var what: String
    var story: [String]

    package var description: String {
        """
        seed \(plan.seed), durability \(plan.durability.rawValue), \(plan.steps.count) steps: \
        \(what)
        \(story.suffix(World.isTelling ? 400 : 60).map { "    " + $0 }.joined(separator: "\n"))
        replay: make simulate CAUSALITY=0 ENGINE=1 FLEET=0 FIRST=\(plan.seed)
        """
    }

    /// Runs the plan of `seed`: how many steps it has, and what is wrong, shrunk, or `nil`.
    package static func search(seed: UInt64) -> (steps: Int, failure: EngineFailure?) {
        (Plan(seed: seed).steps.count, found(seed: seed))
    }

    /// Runs the plan of `seed`; what is wrong, shrunk, or `nil`.
    package static func found(seed: UInt64) -> EngineFailure? {
        guard let found = failure(of: Plan(seed: seed)) else { return nil }
        var fewest = found.plan
        fewest.steps = shrunken(fewest.steps, runsMax: 400) { steps in
            var trial = found.plan
            trial.steps = steps
            return failure(of: trial) != nil
        }
        return failure(of: fewest) ?? found
    }

    /// The mistakes that a host can make on purpose, and where each would be one.
    static let faults: [(name: String, fault: HostFaults, durability: Durability)] = [
        ("an answer before the commit", .answersBeforeCommit, .commit),
        ("a lost increment", .losesIncrement, .commit),
        ("a skipped revision", .skipsRevision, .commit),
        ("one subscriber alone is told", .tellsOneSubscriberOnly, .commit),
        ("reused dots", .reusesDots, .interval),
    ]

    /// How many mistakes there are.
    package static var faultCount: Int { faults.count }

    /// The mistakes that no life of `seeds` shows, or that are found where they were not made.
    package static func faultsMissed(in seeds: some Sequence<UInt64>) -> [String] {
        faults.filter { _, fault, durability in
            for seed in seeds {
                var plan = Plan(seed: seed)
                plan.durability = durability
                plan.faults = fault
                guard failure(of: plan) != nil else { continue }
                plan.faults = []
                return failure(of: plan) != nil
            }
            return true
        }.map(\.name)
    }

    /// Runs a plan; what is wrong with it.
    static func failure(of plan: Plan) -> EngineFailure? {
        var world: World?
        do {
            let new = try World(plan)
            world = new
            try new.run()
            return nil
        } catch {
            return EngineFailure(plan: plan, what: "\(error)", story: world?.story ?? [])
        }
    }
}
