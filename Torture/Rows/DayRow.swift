/// Promise 14: a day's traffic in minutes. The clocks run as fast as the day, so that data that is
/// kept for hours expires. Memory, descriptors and the store must not grow.

import Glibc
import SyncCore

struct DayRow: Row {
    let number = 14
    let promise = "steady: a day's traffic in minutes"
    let bar = "memory slope < 1 MiB after warm-up, descriptors equal, store bounded"
    let seconds = 240.0

    private static let edits = 1_700_000
    private static let connects = 86_000
    private static let writers = 16
    /// The number of measurements of memory and store.
    private static let samples = 200.0

    func run(_ run: Run) throws -> Outcome {
        let library = try FaultShim.build(
            source: run.sources + "/Faults/faults.c", into: run.folder)
        // Keys are kept for one hour here, which happens 24 times in the day.
        let daemon = try DaemonUnderTest(
            run, folder: run.folder + "/d", arguments: ["--limit", "keyHours=1"])
        let shim = try FaultShim(folder: run.folder, library: library)
        daemon.environment = shim.environment(directory: daemon.state)
        let crowd = Crowd(
            writers: Self.writers, depth: 64, watchers: 2, tally: run.tally, prefix: "day")
        let first = try daemon.startAndWait()
        try TortureForm.apply(writers: Self.writers, by: first)
        guard let process = daemon.process else { throw Trouble("no daemon") }
        crowd.connect(to: daemon)
        try crowd.work(until: "everybody is served", on: daemon) {
            crowd.watchers.allSatisfy(\.isFollowing)
                && crowd.writers.allSatisfy { $0.acknowledged > 0 }
        }
        let descriptors = process.descriptors
        var samples: [Sample] = []
        var connects = 0
        let edits = Int64(run.count(Self.edits))
        let wantedConnects = run.count(Self.connects)
        while crowd.acknowledged < edits {
            crowd.turn()
            let share = Double(crowd.acknowledged) / Double(edits)
            shim.pass(Int64(share * 86_400_000))
            while Double(connects) < share * Double(wantedConnects) {
                try visit(daemon)
                connects += 1
            }
            if samples.count < Int(share * Self.samples) {
                // Measured at rest, because pending work changes it by megabytes.
                let resident = try crowd.pause(on: daemon) { _, _ in process.resident }
                samples.append(
                    Sample(
                        share: share, resident: resident,
                        store: Folder.size(daemon.state + "/pickersync.db")))
                run.say(
                    "\(Int(share * 100)) %: \(resident) KiB, "
                        + "\(samples.last?.store ?? 0) bytes")
            }
            if process.poll() != nil { throw Trouble("it ended: \(daemon.said)") }
        }
        try crowd.settle(on: daemon, "at the end of the day")
        return outcome(
            run, crowd, samples, connects,
            descriptors: (descriptors, try settled(process, descriptors)))
    }

    private struct Sample {
        var share: Double
        var resident: Int
        var store: Int
    }

    /// One short connection.
    private func visit(_ daemon: DaemonUnderTest) throws {
        guard let peer = Peer(connecting: daemon.socket) else {
            throw Trouble("cannot connect: \(daemon.said)")
        }
        try peer.result("ping", [:])
    }

    /// The number of descriptors when those of visitors are closed.
    private func settled(_ process: Child, _ before: Int) throws -> Int {
        for _ in 0..<400 where process.descriptors != before { usleep(5_000) }
        return process.descriptors
    }

    private func outcome(
        _ run: Run, _ crowd: Crowd, _ samples: [Sample], _ connects: Int,
        descriptors: (before: Int, after: Int)
    ) -> Outcome {
        let warm = samples.filter { $0.share >= 0.3 }
        let growth = slope(warm)
        let middle = warm.filter { $0.share < 0.65 }.map(\.store).max() ?? 0
        let end = warm.filter { $0.share >= 0.65 }.map(\.store).max() ?? 0
        var findings = crowd.findings
        findings.require(
            !run.isWhole || growth < 1024, "memory grew by \(Int(growth)) KiB after warm-up")
        findings.require(
            descriptors.before == descriptors.after,
            "\(descriptors.before) descriptors, then \(descriptors.after)")
        findings.require(
            !run.isWhole || Double(end) <= Double(middle) * 1.1,
            "the store grew from \(middle) to \(end) bytes")
        return Outcome(
            "\(crowd.acknowledged) edits, \(connects) connects: memory slope \(Int(growth)) KiB of "
                + "\((warm.last?.resident ?? 0) / 1024) MiB, descriptors \(descriptors.before) and "
                + "\(descriptors.after), store \(middle >> 20) MiB then \(end >> 20) MiB",
            isWhole: run.isWhole, findings: findings.lines)
    }

    /// The growth of memory from the end of the warm-up to the end of the day: least squares, in
    /// KiB.
    private func slope(_ samples: [Sample]) -> Double {
        guard samples.count > 2, let first = samples.first, let last = samples.last else {
            return 0
        }
        let count = Double(samples.count)
        let meanX = samples.reduce(0) { $0 + $1.share } / count
        let meanY = samples.reduce(0) { $0 + Double($1.resident) } / count
        var above = 0.0
        var below = 0.0
        for sample in samples {
            above += (sample.share - meanX) * (Double(sample.resident) - meanY)
            below += (sample.share - meanX) * (sample.share - meanX)
        }
        return below > 0 ? above / below * (last.share - first.share) : 0
    }
}
