// The report of a plan that failed.

import EngineTestKit
import SyncCore

/// Why a plan failed, and the events before the failure.
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

    /// Runs the plan of `seed`. Returns the number of its steps and the failure, shrunk, or `nil`.
    package static func search(seed: UInt64) -> (steps: Int, failure: EngineFailure?) {
        (Plan(seed: seed).steps.count, found(seed: seed))
    }

    /// Runs the plan of `seed`. Returns the failure, shrunk, or `nil`.
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

    /// The faults that a host can have, and the durability with which each is an error.
    static let faults: [(name: String, fault: HostFaults, durability: Durability)] = [
        ("an answer before the commit", .answersBeforeCommit, .commit),
        ("a lost increment", .losesIncrement, .commit),
        ("a skipped revision", .skipsRevision, .commit),
        ("a revision that only one subscriber gets", .tellsOneSubscriberOnly, .commit),
        ("reused dots", .reusesDots, .interval),
    ]

    /// The number of faults.
    package static var faultCount: Int { faults.count }

    /// The faults that no plan of `seeds` shows, and those that are reported without being there.
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

    /// Runs a plan. Returns its failure, if any.
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
