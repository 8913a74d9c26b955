/// Promise 23: random stories of all methods and commands, in which forms are created, deleted and
/// changed, with several users, restarts and kills, have the results of a model.

import Glibc

struct StoriesRow: Row {
    let number = 23
    let promise = "any story of any verb"
    let bar = "1,000,000 steps, 0 differences"
    let seconds = 900.0

    /// Stories of 100 steps for an engine, and of 40 for a daemon with its commands.
    private static let stories = 10_000
    private static let commandStories = 100

    func run(_ run: Run) throws -> Outcome {
        // Commands of another user read their standard input from a file in it.
        chmod(run.folder, 0o711)
        let first = run.seed % 1_000_000_000
        let searches = [("stories", Self.stories), ("commands", Self.commandStories)].map {
            [$0, "\(first)", "\(LongSearch.scaled(run.count($1)))"]
        }
        return try LongSearch.outcome(of: searches, run, environment: ["TMPDIR": run.folder])
    }
}
