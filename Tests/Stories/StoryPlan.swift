// What a story is made of, all from one seed.
//
// Invariant: a step is a verb and 64 random bits and makes sense in any state, so that steps can
// be left out of a plan and the rest still means something; the same plan gives the same story.

import SeededRandom

/// What happens next.
struct StoryStep {
    enum Verb: String, CaseIterable {
        case request, pipeline, together, comeAndGo, retry, connect, vanish, restart, kill, wait
        case resume, command
    }

    var verb: Verb
    var bits: UInt64

    private static let weights: [(Verb, Int)] = [
        (.request, 560), (.pipeline, 110), (.together, 110), (.comeAndGo, 25), (.retry, 30),
        (.connect, 40), (.vanish, 25), (.restart, 8), (.kill, 12), (.wait, 20), (.resume, 30),
    ]
    /// Of a daemon's stories commands are the greater part.
    private static let commandWeights = weights + [(.command, 1200)]

    init(_ random: inout SplitMix64, hasCommands: Bool) {
        let weights = hasCommands ? Self.commandWeights : Self.weights
        var place = Int.random(in: 0..<weights.reduce(0) { $0 + $1.1 }, using: &random)
        var verb = Verb.request
        for (candidate, weight) in weights {
            if place < weight {
                verb = candidate
                break
            }
            place -= weight
        }
        self.verb = verb
        bits = random.next()
    }
}

/// All that a story is made of.
struct StoryPlan {
    let seed: UInt64
    var bounds = StoryModel.Bounds()
    var changeLogBytesMax: Int
    var steps: [StoryStep]

    /// The plan of `seed`: for an engine in this process, or for a daemon with its commands.
    init(seed: UInt64, hasCommands: Bool = false) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        changeLogBytesMax = [1, 1500, 6000, 4 << 20].randomElement(using: &random) ?? 1
        bounds.mayFallBehind = changeLogBytesMax < 1 << 20
        if Bool.random(using: &random) {
            bounds.subscriptionsPerUser = Int.random(in: 1...3, using: &random)
        }
        if Int.random(in: 0..<4, using: &random) == 0 { bounds.formsPerUser = 2 }
        if hasCommands {
            // The daemon has the bounds that it is shipped with.
            bounds = StoryModel.Bounds()
            changeLogBytesMax = 4 << 20
        }
        let count = hasCommands ? 40 : 100
        steps = (0..<count).map { _ in StoryStep(&random, hasCommands: hasCommands) }
    }
}

/// A difference between what happened and what had to.
struct StoryDifference: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
