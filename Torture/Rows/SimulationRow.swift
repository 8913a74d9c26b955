/// Promise 2: five stores exchange deltas that are lost, doubled and reordered. They are split,
/// restarted and restored from old backups, and their clocks are wrong. They always agree with an
/// oracle that keeps every write with its full causal history. The same holds for a daemon with
/// clients, store and crashes, for five daemons whose engines continue with each other's writes,
/// for hosts that join each other's edits out of a bad log, and for their links over a server. The
/// searches also find every known bug that is put in.

import Glibc

struct SimulationRow: Row {
    let number = 2
    let promise = "copies converge"
    let bar =
        "1,000,000 schedules of 200 operations and more, 100,000 lives of a link of 100 steps and "
        + "3,000 of 1,000: 0 divergences; every seeded bug caught"
    let seconds = 1_000.0

    private static let schedules = 1_000_000
    private static let lives = 5_000
    private static let fleets = 3_000
    private static let joins = 3_000
    /// A million of them take 40 minutes on two cores: `make simulate LINK=1000000 LINK_STEPS=100`.
    private static let shortLinks = 100_000
    private static let shortSteps = 100
    /// Of the usual length, in which more comes together.
    private static let links = 3_000

    func run(_ run: Run) throws -> Outcome {
        let first = run.seed % 1_000_000_000
        func count(_ whole: Int) -> String { "\(LongSearch.scaled(run.count(whole)))" }
        let searches = [
            ["causality", "\(first)", count(Self.schedules)],
            ["engine", "\(first)", count(Self.lives)],
            ["fleet", "\(first)", count(Self.fleets)],
            ["joins", "\(first)", count(Self.joins)],
            ["link", "\(first)", count(Self.shortLinks), "\(Self.shortSteps)"],
            ["link", "\(first)", count(Self.links)],
            // Among these lives is one for each bug.
            ["faults", "301", "60"],
        ]
        return try LongSearch.outcome(of: searches, run)
    }
}
