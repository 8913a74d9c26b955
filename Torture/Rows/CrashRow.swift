/// Promise 1: answered edits are durable, whenever the daemon is killed.
///
/// Eight writers and four watchers work. The daemon is killed with SIGKILL at a random time, or
/// before, after or during the n-th write, truncation, sync, rename or removal of its store. After
/// each kill SQLite checks a copy of the files, and the next daemon must contain everything that
/// was answered or shown, once.

import Glibc
import TestKit

struct CrashRow: Row {
    let number = 1
    let promise = "acknowledged is durable: kill -9"
    let bar = "2,000 kills: 0 lost, 0 doubled, 0 damaged, 0 seen and gone"
    let seconds = 330.0

    private static let kills = 2_000
    private static let killsPerStore = 100
    private static let writers = 8
    private static let watchers = 4

    func run(_ run: Run) throws -> Outcome {
        let library = try FaultShim.build(
            source: run.sources + "/Faults/faults.c", into: run.folder)
        var total = Total()
        let kills = run.count(Self.kills)
        while total.kills < kills {
            try store(run, library, min(Self.killsPerStore, kills - total.kills), &total)
            run.say("\(total.kills) kills, \(total.edits) edits, \(total.findings.count) findings")
            if total.findings.count > 50 { break }
        }
        let found = total.findings.count
        return Outcome(
            "\(total.kills) kills (\(total.atCalls) at a write or sync), \(total.edits) edits "
                + "answered, \(total.checks) integrity checks: \(found) lost, doubled, damaged or "
                + "gone",
            isWhole: run.isWhole, findings: total.findings.lines)
    }

    private struct Total {
        var kills = 0
        var atCalls = 0
        var edits: Int64 = 0
        var checks = 0
        /// The next call to be killed at: each of the first ones is tested.
        var call: UInt64 = 0
        var findings = Findings()
    }

    /// Kills the daemons of one store this many times.
    private func store(_ run: Run, _ library: String, _ kills: Int, _ total: inout Total) throws {
        let folder = "\(run.folder)/store-\(total.kills)"
        let daemon = try DaemonUnderTest(run, folder: folder)
        let shim = try FaultShim(folder: folder, library: library)
        daemon.environment = shim.environment(directory: daemon.state)
        let crowd = Crowd(
            writers: Self.writers, depth: 4, watchers: Self.watchers, tally: run.tally,
            prefix: "store-\(total.kills)")
        try TortureForm.apply(writers: Self.writers, by: daemon.startAndWait())
        for number in 0..<kills {
            let atCall = number.isMultiple(of: 2)
            if number > 0 {
                if atCall { arm(shim, run, &total) }
                try daemon.start()
            }
            try live(crowd, daemon, atCall: atCall && number > 0, run)
            // It was killed at its call if that came before the time was over.
            let wasAtCall = atCall && number > 0 && daemon.process?.poll() == -SIGKILL
            daemon.kill()
            shim.heal()
            shim[.calls] = 0
            crowd.bereave()
            total.kills += 1
            total.atCalls += wasAtCall ? 1 : 0
            total.checks += 1
            if let damage = try damage(folder, daemon.state) {
                total.findings.add("kill \(total.kills): \(damage)")
            }
        }
        let peer = try daemon.startAndWait()
        try crowd.examine(peer, "after \(total.kills) kills")
        try crowd.settle(on: daemon, "settled after \(total.kills) kills")
        total.edits += crowd.acknowledged
        for line in crowd.findings.lines { total.findings.add(line) }
        daemon.kill()
        Folder.remove(folder)
    }

    private func arm(_ shim: FaultShim, _ run: Run, _ total: inout Total) {
        total.call += 1
        // Each of the first calls in turn; later random ones, which are in commits and checkpoints.
        let call = total.call <= 400 ? total.call : UInt64.random(in: 1...4_000, using: &run.random)
        shim[.killHow] = UInt64.random(in: 0...2, using: &run.random)
        shim[.killAt] = call
    }

    /// All clients work until the daemon is killed, at its call or at a random time.
    private func live(
        _ crowd: Crowd, _ daemon: DaemonUnderTest, atCall: Bool, _ run: Run
    ) throws {
        guard let peer = try daemon.connection() else { return }
        do {
            try crowd.examine(peer, "started")
        } catch {
            // Killed while it answered, so nothing is known. Its connection may end before it.
            for _ in 0..<500 {
                if daemon.process?.poll() != nil { return }
                usleep(10_000)
            }
            throw error
        }
        guard crowd.connect(to: daemon) else { return }
        let seconds = atCall ? 1.5 : Double.random(in: 0...0.08, using: &run.random)
        crowd.work(seconds: seconds, on: daemon)
    }

    /// The errors that SQLite finds in a copy of the files.
    private func damage(_ folder: String, _ state: String) throws -> String? {
        let copy = folder + "/copy"
        defer { Folder.remove(copy) }
        try Folder.copy(state, to: copy)
        // A file that is declared to be the store but not renamed yet.
        let names = Folder.names(copy)
        let name = names.contains("pickersync.db.new") ? "pickersync.db.new" : "pickersync.db"
        guard names.contains(name) else { return nil }
        return Integrity.check(copy + "/" + name)
    }
}
