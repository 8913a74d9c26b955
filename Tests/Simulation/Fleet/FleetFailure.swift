// The report of a plan of five daemons that failed.

/// Why a plan failed, shrunk, and the events before the failure.
package struct FleetFailure: CustomStringConvertible, Sendable {
    /// The plan, reduced to the steps that are needed.
    package let plan: FleetPlan
    /// What went wrong.
    package let what: String
    /// The events before the failure.
    package let story: [String]

    /// Runs `plan`; `nil` if there was no failure.
    package static func found(in plan: FleetPlan) -> FleetFailure? {
        guard told(plan, isTelling: false).what != nil else { return nil }
        var fewest = plan
        fewest.steps = shrunken(plan.steps, runsMax: 600) { steps in
            var trial = plan
            trial.steps = steps
            return told(trial, isTelling: false).what != nil
        }
        let (what, story) = told(fewest, isTelling: true)
        return FleetFailure(plan: fewest, what: what ?? "nothing", story: story)
    }

    /// Whether the search finds `fault` if it is put in, and nothing otherwise.
    package static func finds(_ fault: FleetFault, in seeds: some Sequence<UInt64>) -> Bool {
        for seed in seeds
        where told(FleetPlan(seed: seed, fault: fault), isTelling: false).what != nil {
            return told(FleetPlan(seed: seed), isTelling: false).what == nil
        }
        return false
    }

    private static func told(
        _ plan: FleetPlan, isTelling: Bool
    ) -> (what: String?, story: [String]) {
        do {
            let world = try FleetWorld(plan, isTelling: isTelling)
            return (world.run(), world.story)
        } catch {
            return ("\(error)", [])
        }
    }

    package var description: String {
        """
        seed \(plan.seed), \(plan.steps.count) steps: \(what)
        \(story.suffix(80).map { "    " + $0 }.joined(separator: "\n"))
        replay: make simulate CAUSALITY=0 ENGINE=0 FLEET=1 FIRST=\(plan.seed)
        """
    }
}
