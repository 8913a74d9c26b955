// The report of a story in which the product and the model differ.

import Simulation

package struct StoryFailure: CustomStringConvertible {
    var plan: StoryPlan
    var what: String
    var story: [String]
    var kind: StoryKind

    package var description: String {
        """
        story \(plan.seed), durability \(plan.durability), \(plan.steps.count) steps: \(what)
        \(story.suffix(60).map { "    " + $0 }.joined(separator: "\n"))
        replay: make simulate CAUSALITY=0 ENGINE=0 FLEET=0 LINK=0 \(kind.replay(plan)) \
        FIRST=\(plan.seed)
        """
    }
}

/// The product that a story is for.
package enum StoryKind: Sendable {
    /// An engine in this process.
    case engine
    /// A daemon and commands. The programs are in a folder.
    case daemon(executables: String)

    /// The variables with which `make simulate` replays one story.
    fileprivate func replay(_ plan: StoryPlan) -> String {
        switch self {
        case .engine: "STORIES=\(plan.length) STORY=\(plan.length)"
        case .daemon: "STORIES=0 COMMANDS=\(plan.length)"
        }
    }

    private func driver(_ plan: StoryPlan) throws -> any StoryDriver {
        switch self {
        case .engine:
            try EngineDriver(
                seed: plan.seed, bounds: plan.bounds, changeLogBytesMax: plan.changeLogBytesMax,
                durability: plan.durability)
        case .daemon(let executables):
            try DaemonDriver(executables: executables, durability: plan.durability)
        }
    }

    private var hasCommands: Bool { if case .daemon = self { true } else { false } }

    /// How many steps a story usually has.
    package var steps: Int { hasCommands ? 40 : 100 }

    /// Runs the story of `seed`, with `steps` steps if given. Returns the number of its steps, how
    /// often each method and command came, and the failure, shrunk, or `nil`.
    package func search(
        seed: UInt64, steps: Int? = nil
    ) -> (steps: Int, census: [String: Int], failure: StoryFailure?) {
        let plan = StoryPlan(seed: seed, length: steps ?? self.steps, hasCommands: hasCommands)
        let (census, found) = tell(plan)
        guard let found else { return (plan.steps.count, census, nil) }
        var fewest = plan
        // A run with a daemon takes seconds.
        let runsMax = hasCommands ? 60 : 400
        fewest.steps = shrunken(plan.steps, runsMax: runsMax) { steps in
            var trial = plan
            trial.steps = steps
            return tell(trial).failure != nil
        }
        return (plan.steps.count, census, tell(fewest, tellsFrames: true).failure ?? found)
    }

    /// Runs a plan. Returns its failure, if any.
    func tell(
        _ plan: StoryPlan, tellsFrames: Bool = false
    ) -> (census: [String: Int], failure: StoryFailure?) {
        var world: StoryWorld?
        do {
            let new = StoryWorld(plan, try driver(plan))
            new.tellsFrames = tellsFrames
            world = new
            try new.run()
            return (new.census, nil)
        } catch {
            let failure = StoryFailure(
                plan: plan, what: "\(error)", story: world?.story ?? [], kind: self)
            return (world?.census ?? [:], failure)
        }
    }
}

/// The methods and commands that occur in stories.
package enum StoryVocabulary {
    /// The methods of the protocol.
    package static var methods: Set<String> { Set(RequestMaker.weights.map(\.method)) }
    /// Those that the stories of one daemon come to: it has no link, so it refuses a bridge's.
    package static var methodsOfOneDaemon: Set<String> {
        methods.filter { !$0.hasPrefix("link.") && !$0.hasSuffix("link") }
    }
    /// The methods that the model knows.
    package static var modelled: Set<String> { StoryRules.methods }
    /// The commands of pickerctl.
    package static var commands: Set<String> { Set(CommandMaker.weights.map(\.name)) }
}
