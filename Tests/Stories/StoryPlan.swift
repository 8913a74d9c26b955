// The plan of a story. All of it follows from one seed.
//
// Invariant: a step is a verb and 64 random bits, and can be done in any state. So steps can be left
// out of a plan. The same plan gives the same story.

import SeededRandom

/// One step.
struct StoryStep {
    enum Verb: String, CaseIterable {
        case request, pipeline, together, comeAndGo, retry, connect, vanish, restart, kill, wait
        case resume, command, breakStore, mendStore
    }

    var verb: Verb
    var bits: UInt64

    private static let weights: [(Verb, Int)] = [
        (.request, 560), (.pipeline, 110), (.together, 110), (.comeAndGo, 25), (.retry, 30),
        (.connect, 40), (.vanish, 25), (.restart, 8), (.kill, 12), (.wait, 20), (.resume, 30),
        (.breakStore, 10), (.mendStore, 25),
    ]
    /// Most steps of a daemon's stories are commands.
    private static let commandWeights = weights + [(.command, 1200)]

    init(_ random: inout SplitMix64, hasCommands: Bool) {
        verb = random.pick(weighted: hasCommands ? Self.commandWeights : Self.weights)
        bits = random.next()
    }
}

/// Everything that determines a story.
struct StoryPlan {
    let seed: UInt64
    var bounds = StoryModel.Bounds()
    var changeLogBytesMax: Int
    var durability: StoryDurability
    /// The number of steps before any is left out.
    let length: Int
    var steps: [StoryStep]

    /// The plan of `seed`: for an engine in this process, or for a daemon with its commands. A
    /// longer one begins with the same steps.
    init(seed: UInt64, length: Int, hasCommands: Bool) {
        self.seed = seed
        self.length = length
        var random = SplitMix64(seed: seed)
        changeLogBytesMax = [1, 1500, 6000, 4 << 20].randomElement(using: &random) ?? 1
        bounds.mayFallBehind = changeLogBytesMax < 1 << 20
        if Bool.random(using: &random) {
            bounds.subscriptionsPerUser = Int.random(in: 1...3, using: &random)
        }
        if Int.random(in: 0..<4, using: &random) == 0 { bounds.formsPerUser = 2 }
        durability = [.commit, .commit, .commit, .interval, .memory].randomElement(using: &random)!
        if hasCommands {
            // The daemon has its default limits.
            bounds = StoryModel.Bounds()
            changeLogBytesMax = 4 << 20
        }
        steps = (0..<length).map { _ in StoryStep(&random, hasCommands: hasCommands) }
    }
}

/// A difference between the product and the model.
struct StoryDifference: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
