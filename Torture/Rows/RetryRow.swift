/// Promise 8: three of ten answers are lost and the edits are sent again with their keys, on the
/// same connection or another one, also after a kill: every counter is exact.

import Glibc

struct RetryRow: Row {
    let number = 8
    let promise = "retries are safe"
    let bar = "30 % of answers dropped: counters exact"
    let seconds = 60.0

    private static let writers = 8
    private static let edits = 300_000

    func run(_ run: Run) throws -> Outcome {
        // One user's keys of a whole run exceed the default limit.
        let daemon = try DaemonUnderTest(
            run, folder: run.folder + "/d", arguments: ["--limit", "keysPerUserMax=1000000"])
        let crowd = Crowd(
            writers: Self.writers, depth: 16, watchers: 2, tally: run.tally, prefix: "retry")
        try TortureForm.apply(writers: Self.writers, by: daemon.startAndWait())
        for writer in crowd.writers {
            writer.loses = { Int.random(in: 0..<10, using: &run.random) < 3 }
        }
        let wanted = Int64(run.count(Self.edits))
        var kills = 0
        var cuts = 0
        crowd.connect(to: daemon)
        while crowd.acknowledged < wanted {
            let chunk = min(wanted, crowd.acknowledged + max(200, wanted / 60))
            try crowd.work(until: "\(chunk) edits", on: daemon) { crowd.acknowledged >= chunk }
            for writer in crowd.writers where Bool.random(using: &run.random) {
                // Its answers are lost.
                writer.connect(nil)
                cuts += 1
            }
            if kills < 6, crowd.acknowledged > wanted * Int64(kills + 1) / 7 {
                daemon.kill()
                crowd.bereave()
                kills += 1
                try crowd.examine(daemon.startAndWait(), "killed")
            }
            crowd.connect(to: daemon)
        }
        for writer in crowd.writers { writer.loses = nil }
        try crowd.settle(on: daemon, "settled")
        daemon.kill()
        let lost = crowd.writers.reduce(0) { $0 + $1.lost }
        return Outcome(
            "\(crowd.acknowledged) edits, \(lost) answers dropped, \(cuts) connections cut, "
                + "\(kills) kills: \(crowd.findings.count) counters wrong",
            isWhole: run.isWhole, findings: crowd.findings.lines)
    }
}
