/// Promise 6: the result of a failed sync is unknown. EIO at one sync after another, under work, at
/// the start and at the stop: nothing is answered that is not there, and the daemon recovers by
/// itself.

import Glibc

struct SyncFailureRow: Row {
    let number = 6
    let promise = "EIO at each fsync"
    let bar = "edits unavailable, none falsely acknowledged, recovers by itself in < 1 s"
    let seconds = 45.0
    let isTimed = true

    private static let writers = 4

    func run(_ run: Run) throws -> Outcome {
        let library = try FaultShim.build(
            source: run.sources + "/Faults/faults.c", into: run.folder)
        var findings = Findings()
        let daemon = try DaemonUnderTest(run, folder: run.folder + "/d")
        let shim = try FaultShim(folder: run.folder, library: library)
        daemon.environment = shim.environment(directory: daemon.state)
        let crowd = Crowd(
            writers: Self.writers, depth: 4, watchers: 2, tally: run.tally, prefix: "sync")
        for watcher in crowd.watchers { watcher.mustResume = false }
        try TortureForm.apply(writers: Self.writers, by: daemon.startAndWait())
        var failures = 0
        var slowest = 0.0
        for round in 0..<run.count(200) {
            crowd.connect(to: daemon)
            // Every second one during the rebuild after the one before it.
            let next = UInt64.random(in: 1...(round.isMultiple(of: 2) ? 30 : 6), using: &run.random)
            shim[.syncFails] = shim[.syncs] + next
            let mark = shim[.syncFails]
            try crowd.work(until: "a sync fails", on: daemon) { shim[.syncs] >= mark }
            failures += 1
            let failed = monotonicNanoseconds()
            let before = crowd.acknowledged + Int64(4 * Self.writers)
            try crowd.work(until: "edits are accepted again", on: daemon) {
                crowd.acknowledged > before
            }
            slowest = max(slowest, Double(monotonicNanoseconds() - failed) / 1e9)
            guard round.isMultiple(of: 3) else { continue }
            daemon.kill()
            crowd.bereave()
            try crowd.examine(daemon.startAndWait(), "failure \(failures), killed")
        }
        crowd.connect(to: daemon)
        try crowd.settle(on: daemon, "settled")
        let ends = try startsAndStops(crowd, daemon, shim, run, &findings)
        for line in crowd.findings.lines { findings.add(line) }
        findings.require(
            slowest < 1 || !run.isTimed, "edits were taken again after \(slowest) s")
        daemon.kill()
        return Outcome(
            "\(failures) failed syncs under work, \(ends) at start and stop, \(crowd.unavailable) "
                + "refused, \(crowd.acknowledged) answered, back in "
                + "\((slowest * 10).rounded() / 10) s at most",
            isWhole: run.isWhole, findings: findings.lines)
    }

    /// A sync that fails at start or stop: whatever the daemon does, the next one must have
    /// everything.
    private func startsAndStops(
        _ crowd: Crowd, _ daemon: DaemonUnderTest, _ shim: FaultShim, _ run: Run,
        _ findings: inout Findings
    ) throws -> Int {
        let each = run.isWhole ? 12 : 4
        var count = 0
        for call in 1...each {
            daemon.stop()
            crowd.bereave()
            shim[.syncFails] = shim[.syncs] + UInt64(call)
            try daemon.start()
            if try daemon.connection() == nil {
                findings.require(
                    daemon.said.contains("pickersync"), "it ended without a word: \(daemon.said)")
            }
            daemon.stop()
            shim.heal()
            try crowd.examine(daemon.startAndWait(), "sync \(call) of a start failed")
            crowd.connect(to: daemon)
            try crowd.settle(on: daemon, "sync \(call) of a start failed, settled")
            count += 1
        }
        return count
    }
}
