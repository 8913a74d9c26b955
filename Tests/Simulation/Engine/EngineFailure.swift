// What is said of a plan that a daemon and its clients did not survive.

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
        replay: make simulate CAUSALITY=0 ENGINE=1 FIRST=\(plan.seed)
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
