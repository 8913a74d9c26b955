/// Promise 2: five stores exchange deltas that are lost, doubled and reordered. They are split,
/// restarted and restored from old backups, and their clocks are wrong. They always agree with an
/// oracle that keeps every write with its full causal history. The same holds for a daemon with
/// clients, store and crashes, and for five daemons whose engines continue with each other's
/// writes. The searches also find every known bug that is put in.

import Glibc

struct SimulationRow: Row {
    let number = 2
    let promise = "copies converge"
    let bar =
        "1,000,000 schedules of 200 operations and more: 0 divergences; every seeded bug caught"
    let seconds = 700.0

    private static let schedules = 1_000_000
    private static let lives = 5_000
    private static let fleets = 3_000

    func run(_ run: Run) throws -> Outcome {
        let first = run.seed % 1_000_000_000
        let searches = [
            ["causality", "\(first)", "\(LongSearch.scaled(run.count(Self.schedules)))"],
            ["engine", "\(first)", "\(LongSearch.scaled(run.count(Self.lives)))"],
            ["fleet", "\(first)", "\(LongSearch.scaled(run.count(Self.fleets)))"],
            ["faults", "1", "60"],
        ]
        return try LongSearch.outcome(of: searches, run)
    }
}
