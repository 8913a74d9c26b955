// The long search: runs of five stores, of a daemon with its clients, of five joined daemons, of
// hosts with changing definitions over a bad log, and of their links over a server, by the million.
//
//     simulate causality FIRST COUNT
//     simulate engine FIRST COUNT
//     simulate fleet FIRST COUNT
//     simulate joins FIRST COUNT [STEPS]
//     simulate link FIRST COUNT [STEPS]
//     simulate verbs FIRST COUNT [STEPS]
//     simulate stories FIRST COUNT [STEPS]
//     simulate commands FIRST COUNT
//     simulate faults FIRST COUNT [STEPS]
//
// Prints a line with what was run. A failing run is shrunk and printed, and the exit status is 1.
// So it is if a hundred stories or more never come to one of the methods.
// `faults` puts in each known bug and searches for it in at most COUNT runs; STEPS are those of a
// link, and then it says how many of its runs each bug took.

import Glibc
import Simulation
import Stories

@main
struct Simulate {
    private static let workers = 2

    static func main() async {
        let arguments = CommandLine.arguments
        guard arguments.count >= 4, let first = UInt64(arguments[2]),
            let count = UInt64(arguments[3]), !first.addingReportingOverflow(count).overflow
        else { usage() }
        let search = Search(rawValue: arguments[1])
        var length: Int?
        if arguments.count > 4 {
            guard search?.hasLength ?? true, arguments.count == 5, let steps = Int(arguments[4]),
                steps > 0
            else { usage() }
            length = steps
        }
        if arguments[1] == "faults" { findFaults(in: first..<first + count, length) }
        guard let search else { usage() }
        let start = ContinuousClock.now
        let outcome = await run(search, first..<first + count, length)
        let took = start.duration(to: .now)
        let failure = outcome.failure
        if let failure { print(failure) }
        print(
            "\(count) \(search.life) from seed \(first), \(outcome.steps) steps, "
                + "\(failure == nil ? "0 divergences" : "a divergence"), \(took.components.seconds) s"
        )
        var missing: Set<String> = []
        // Of 10,000 steps each method is one, whatever the seed.
        if search == .stories, failure == nil, outcome.steps >= 10_000 {
            missing = StoryVocabulary.methodsOfOneDaemon.subtracting(outcome.methods)
            if !missing.isEmpty { print("never tried: \(missing.sorted())") }
        }
        exit(failure == nil && missing.isEmpty ? 0 : 1)
    }

    private static func usage() -> Never {
        print("usage: simulate causality|engine|fleet|commands FIRST COUNT")
        print("       simulate joins|link|verbs|stories|faults FIRST COUNT [STEPS]")
        exit(64)
    }

    private static func findFaults(in seeds: Range<UInt64>, _ length: Int?) -> Never {
        var missed = CausalFault.allCases.filter { !CausalFailure.finds($0, in: seeds) }
            .map { "\($0)" }
        missed += EngineFailure.faultsMissed(in: seeds)
        missed += FleetFault.allCases.filter { !FleetFailure.finds($0, in: seeds) }
            .map { "five daemons: \($0)" }
        for bug in LinkBug.allCases {
            let taken = LinkWorld.seeds(
                toFind: bug, in: seeds, steps: length ?? LinkWorld.usualSteps)
            if let taken, length != nil { print("a link: \(bug) found in \(taken) lives") }
            if taken == nil { missed.append("a link: \(bug)") }
        }
        missed += JoinFault.allCases.filter { !JoinWorld.finds($0, in: seeds) }
            .map { "hosts that join: \($0)" }
        let count =
            CausalFault.allCases.count + EngineFailure.faultCount + FleetFault.allCases.count
            + JoinFault.allCases.count + LinkBug.allCases.count
        for name in missed { print("not found in \(seeds.count) lives: \(name)") }
        print("\(count - missed.count) of \(count) seeded bugs caught")
        exit(missed.isEmpty ? 0 : 1)
    }

    /// Runs all seeds, a few batches at a time, and stops at the first failure.
    private static func run(
        _ search: Search, _ seeds: Range<UInt64>, _ length: Int?
    ) async -> Outcome {
        await withTaskGroup(of: Outcome.self) { group in
            var next = seeds.lowerBound
            var result = Outcome()
            func start() {
                guard next < seeds.upperBound, result.failure == nil else { return }
                let piece = next..<min(seeds.upperBound, next + search.pieceSize)
                next = piece.upperBound
                group.addTask { search.run(piece, length) }
            }
            for _ in 0..<workers { start() }
            while let outcome = await group.next() {
                result.steps += outcome.steps
                result.failure = result.failure ?? outcome.failure
                result.methods.formUnion(outcome.methods)
                start()
            }
            return result
        }
    }
}

private struct Outcome: Sendable {
    var steps = 0
    var failure: String?
    /// The methods that stories came to.
    var methods: Set<String> = []
}

private enum Search: String, Sendable {
    case causality, engine, fleet, joins, link, verbs, stories, commands

    /// The name of what is searched, in the plural.
    var life: String {
        switch self {
        case .causality: "schedules of five stores"
        case .engine: "lives of a daemon"
        case .fleet: "lives of five daemons"
        case .joins: "lives of hosts that join"
        case .link: "lives of a link"
        case .verbs: "lives of what hosts have under way"
        case .stories: "stories"
        case .commands: "stories of a daemon"
        }
    }

    /// The number of runs in a batch: at most a second's work.
    var pieceSize: UInt64 {
        switch self {
        case .causality: 500
        case .engine, .fleet, .joins: 20
        case .link, .verbs, .stories: 5
        case .commands: 1
        }
    }

    /// Whether the number of steps can be said.
    var hasLength: Bool { [.joins, .link, .verbs, .stories].contains(self) }

    /// Of so many lives of a link, one is that of a form in whole engines.
    private static var livesOfForms: UInt64 { 16 }

    /// One life in four is of daemons that write later, and half of them of slow disks.
    private static func failureOfLives(_ seed: UInt64, _ steps: Int) -> String? {
        LinkedLives.failure(
            of: seed, steps: steps, writesLater: seed / 4 % 4 == 0,
            hasSlowDisks: seed / 16 % 2 == 0)
    }

    /// The folder of the daemon and the commands: that of this program.
    private static var executables: String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        let path = String(
            decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
        return path.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    }

    /// - Parameter length: The number of steps of a run, if not the usual one.
    func run(_ seeds: Range<UInt64>, _ length: Int?) -> Outcome {
        var outcome = Outcome()
        for seed in seeds {
            switch self {
            case .causality:
                let schedule = CausalSchedule(seed: seed)
                outcome.steps += schedule.steps.count
                outcome.failure = CausalFailure.found(in: schedule)?.description
            case .engine:
                let (steps, failure) = EngineFailure.search(seed: seed)
                outcome.steps += steps
                outcome.failure = failure?.description
            case .fleet:
                let plan = FleetPlan(seed: seed)
                outcome.steps += plan.steps.count
                outcome.failure = FleetFailure.found(in: plan)?.description
            case .joins:
                let steps = length ?? JoinWorld.usualSteps
                outcome.steps += steps
                outcome.failure = JoinWorld.failure(of: seed, steps: steps)
            case .link:
                let isOfForm = seed % Self.livesOfForms == 0
                let steps = length ?? (isOfForm ? LinkedLives.usualSteps : LinkWorld.usualSteps)
                outcome.steps += steps
                outcome.failure =
                    isOfForm
                    ? Self.failureOfLives(seed / Self.livesOfForms, steps)
                        .map { "link, seed \(seed): \($0)" }
                    : LinkWorld.failure(of: seed, steps: steps)
            case .verbs:
                let steps = length ?? LinkedVerbs.usualSteps
                outcome.steps += steps
                outcome.failure = LinkedVerbs.failure(of: seed, steps: steps)
            case .stories:
                let (steps, counts, failure) = StoryKind.engine.search(seed: seed, steps: length)
                outcome.steps += steps
                outcome.methods.formUnion(counts.keys)
                outcome.failure = failure?.description
            case .commands:
                let kind = StoryKind.daemon(executables: Self.executables)
                let (steps, _, failure) = kind.search(seed: seed)
                outcome.steps += steps
                outcome.failure = failure?.description
            }
            if outcome.failure != nil { break }
        }
        return outcome
    }
}
