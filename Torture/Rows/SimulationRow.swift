/// Promise 2: five stores joined by deltas that are lost, doubled and reordered, split, started anew
/// and put back to old backups, with clocks that are wrong, always agree with an oracle that keeps
/// every write with its full causal history; so does a daemon with its clients, its store and its
/// crashes; so do five such daemons, whose engines go on over each other's writes. The same searches
/// find every bug that is put in.

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
        var findings: [String] = []
        var figures: [String] = []
        let searches = [
            ["causality", "\(first)", "\(Self.scaled(run.count(Self.schedules)))"],
            ["engine", "\(first)", "\(Self.scaled(run.count(Self.lives)))"],
            ["fleet", "\(first)", "\(Self.scaled(run.count(Self.fleets)))"],
            ["faults", "1", "60"],
        ]
        for search in searches {
            run.say(search.joined(separator: " "))
            let (status, text) = try Child.output(
                ["\(run.executables)/simulate"] + search, scratch: run.folder)
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
