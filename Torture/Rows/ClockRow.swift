/// The wall clock jumps by minutes and by decades, while edits and retries are pending and across
/// restarts: counters are exact, revisions continue, and a plain set wins over the earlier value.

import Glibc

struct ClockRow: Row {
    let number = 14
    let promise = "clock jumps"
    let bar = "edits, retries and watchers go on as if nothing had happened"
    let seconds = 20.0

    /// The offsets of the clock in minutes.
    private static let minutes: [Int64] = [
        60, -120, 1_440, -1_440, 0, 525_600, -525_600, 5_256_000, 0, -31_536_000, 0, 5, -5, 0,
    ]

    func run(_ run: Run) throws -> Outcome {
        let library = try FaultShim.build(
            source: run.sources + "/Faults/faults.c", into: run.folder)
        let daemon = try DaemonUnderTest(run, folder: run.folder + "/d")
        let shim = try FaultShim(folder: run.folder, library: library)
        daemon.environment = shim.environment(directory: daemon.state)
        let crowd = Crowd(writers: 4, depth: 8, watchers: 2, tally: run.tally, prefix: "clock")
        try TortureForm.apply(writers: 4, by: daemon.startAndWait())
        for writer in crowd.writers {
            writer.loses = { Int.random(in: 0..<10, using: &run.random) == 0 }
        }
        var jumps = 0
        for minutes in Self.minutes.prefix(max(4, run.count(Self.minutes.count))) {
            crowd.connect(to: daemon)
            crowd.work(seconds: run.isWhole ? 0.4 : 0.1, on: daemon)
            shim.clockShift = minutes * 60_000
            jumps += 1
            crowd.work(seconds: run.isWhole ? 0.4 : 0.1, on: daemon)
            guard jumps.isMultiple(of: 2) else { continue }
            daemon.kill()
            crowd.bereave()
            try crowd.examine(daemon.startAndWait(), "the clock off by \(minutes) minutes, killed")
        }
        for writer in crowd.writers { writer.loses = nil }
        crowd.connect(to: daemon)
        try crowd.settle(on: daemon, "after \(jumps) jumps")
        daemon.kill()
        return Outcome(
            "\(jumps) jumps of 5 minutes to 60 years, \(crowd.acknowledged) edits: "
                + "\(crowd.findings.count) counters wrong",
            isWhole: run.isWhole, findings: crowd.findings.lines)
    }
}
