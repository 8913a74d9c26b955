/// Promise 23: random stories of every method and command, with forms that come, go, come back and
/// change, several users, restarts and kills, come out as a model in the test's own words says.

import Glibc

struct StoriesRow: Row {
    let number = 23
    let promise = "any story of any verb"
    let bar = "1,000,000 steps, 0 differences"
    let seconds = 900.0

    /// Stories of 100 steps told to an engine, and of 40 told to a daemon with its commands.
    private static let stories = 10_000
    private static let commandStories = 100

    func run(_ run: Run) throws -> Outcome {
        // Commands of another user read their standard input from a file in it.
        chmod(run.folder, 0o711)
        let first = run.seed % 1_000_000_000
        var findings: [String] = []
        var figures: [String] = []
        for (search, whole) in [("stories", Self.stories), ("commands", Self.commandStories)] {
            let count = Self.scaled(run.count(whole))
            run.say("\(search) \(first) \(count)")
            let (status, text) = try Child.output(
                ["\(run.executables)/simulate", search, "\(first)", "\(count)"],
                environment: ["TMPDIR": run.folder], scratch: run.folder)
            let lines = text.split(separator: "\n").map(String.init)
            guard let last = lines.last else { throw Trouble("simulate said nothing") }
            figures.append(last)
            if status != 0 { findings += lines.suffix(80) }
        }
        return Outcome(
            figures.joined(separator: "; "), isWhole: run.isWhole, findings: findings)
    }

    /// What is not optimized takes twenty times as long.
    private static func scaled(_ count: Int) -> Int {
        #if DEBUG
            return max(1, count / 20)
        #else
            return count
        #endif
    }
}
