// The report of a schedule that failed.

/// Why a schedule fails, shrunk, and the events before the failure.
package struct CausalFailure: CustomStringConvertible, Sendable {
    /// The schedule, reduced to the steps that are needed.
    package let schedule: CausalSchedule
    /// What went wrong.
    package let what: String
    /// The events before the failure.
    package let story: [String]

    /// Runs `schedule`; `nil` if there was no failure.
    package static func found(in schedule: CausalSchedule) -> CausalFailure? {
        let world = CausalWorld(schedule)
        guard world.run() != nil else { return nil }
        var fewest = schedule
        fewest.steps = shrunken(schedule.steps, runsMax: 2_000) { steps in
            var trial = schedule
            trial.steps = steps
            let world = CausalWorld(trial)
            return world.run() != nil
        }
        let told = CausalWorld(fewest, isTelling: true)
        let what = told.run()
        return CausalFailure(schedule: fewest, what: what ?? "nothing", story: told.story)
    }

    /// Whether the search finds `fault` if it is put in, and nothing otherwise.
    package static func finds(_ fault: CausalFault, in seeds: some Sequence<UInt64>) -> Bool {
        for seed in seeds where CausalWorld(CausalSchedule(seed: seed, fault: fault)).run() != nil {
            return CausalWorld(CausalSchedule(seed: seed)).run() == nil
        }
        return false
    }

    package var description: String {
        """
        seed \(schedule.seed), \(schedule.steps.count) steps: \(what)
        \(story.map { "    " + $0 }.joined(separator: "\n"))
        replay: make simulate CAUSALITY=1 ENGINE=0 FLEET=0 FIRST=\(schedule.seed)
        """
    }
}
