/// Promise 7: what all watchers of this run's rows saw. If no other row ran, it lets writers and
/// watchers work across kills itself.

struct WatchRow: Row {
    let number = 7
    let promise = "the watch contract: every watcher of these rows"
    let bar = "no gap, repeat or step back; coalescing is said"
    let seconds = 10.0
    let comesLast = true

    func run(_ run: Run) throws -> Outcome {
        if run.tally.counts.revisions == 0 { try ownWork(run) }
        let tally = run.tally.counts
        return Outcome(
            "\(tally.revisions) revisions looked at, \(tally.resumed) subscriptions went on, "
                + "\(tally.restarted) began again after a rebuild, \(tally.coalesced) coalesced: "
                + "\(tally.findings.count) gaps, repeats or steps back",
            isWhole: tally.revisions >= 100_000, findings: tally.findings.lines)
    }

    private func ownWork(_ run: Run) throws {
        let daemon = try DaemonUnderTest(run, folder: run.folder + "/d")
        let crowd = Crowd(writers: 4, depth: 16, watchers: 4, tally: run.tally, prefix: "watch")
        try TortureForm.apply(writers: 4, by: daemon.startAndWait())
        for _ in 0..<max(2, run.count(10)) {
            crowd.connect(to: daemon)
            crowd.work(seconds: run.isWhole ? 0.8 : 0.2, on: daemon)
            daemon.kill()
            crowd.bereave()
            try crowd.examine(daemon.startAndWait(), "killed")
        }
        try crowd.settle(on: daemon, "settled")
        for line in crowd.findings.lines { run.tally.counts.findings.add(line) }
    }
}
