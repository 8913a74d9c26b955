/// Promise 6: a full disk, or a file system that becomes read-only.
///
/// A small file system in memory is filled to its last byte while writers and watchers work. If
/// this machine does not allow mounts, the daemon's system calls fail in the same way (faults.c),
/// and the figure says so. A file system that becomes read-only under open files is always
/// simulated, because mount(2) refuses it.

import Glibc
import SyncCore

struct FullDiskRow: Row {
    let number = 6
    let promise = "full disk, read-only file system"
    let bar = "reads live, edits unavailable, none falsely acknowledged, back < 1 s, CPU < 5 %"
    let seconds = 60.0
    let isTimed = true

    private static let writers = 4

    func run(_ run: Run) throws -> Outcome {
        let library = try FaultShim.build(
            source: run.sources + "/Faults/faults.c", into: run.folder)
        var findings = Findings()
        var figures: [String] = []
        for kind in Disk.Trouble.allCases {
            let folder = "\(run.folder)/\(kind)"
            try Folder.make(folder)
            let disk = try Disk(folder, library)
            let figure = try trouble(kind, disk, run, folder, &findings)
            figures.append(
                "\(kind.rawValue)\(disk.isReal || kind != .full ? "" : " (simulated: no mount here)"): "
                    + figure)
        }
        return Outcome(
            figures.joined(separator: "; "), isWhole: run.isWhole, findings: findings.lines)
    }

    private func trouble(
        _ kind: Disk.Trouble, _ disk: Disk, _ run: Run, _ folder: String,
        _ findings: inout Findings
    ) throws -> String {
        // A history that fits on the disk: something else must fill it.
        let daemon = try DaemonUnderTest(
            run, folder: folder, state: disk.state,
            arguments: ["--limit", "historyRevisionsMax=500"])
        daemon.environment = disk.environment
        let crowd = Crowd(
            writers: Self.writers, depth: 4, watchers: 2, tally: run.tally, prefix: "\(kind)")
        // A rebuilt store starts new logs.
        for watcher in crowd.watchers { watcher.mustResume = false }
        try TortureForm.apply(writers: Self.writers, by: daemon.startAndWait())
        crowd.connect(to: daemon)
        var worst = 0.0
        var reads = 0
        var cpu = 0.0
        for round in 0..<run.count(6) {
            crowd.work(seconds: 0.3, on: daemon)
            disk.begin(kind)
            let refused = crowd.unavailable
            try crowd.work(until: "edits are refused", on: daemon) {
                crowd.unavailable > refused + Self.writers
            }
            let before = crowd.acknowledged
            reads += try read(crowd, daemon, &findings, "\(kind), round \(round)")
            try doctor(run, daemon, folder, &findings)
            let asked = crowd.unavailable
            crowd.work(seconds: 0.2, on: daemon)
            findings.require(crowd.unavailable > asked, "\(kind): nothing was refused any more")
            findings.require(
                crowd.acknowledged == before, "\(kind): an edit was answered without space")
            for writer in crowd.writers { writer.isOpen = false }
            cpu = max(cpu, try idleShare(daemon, seconds: run.isWhole ? 4 : 1.5))
            // Killed while the disk is full: what was acknowledged must still be there.
            if !round.isMultiple(of: 2) {
                daemon.kill()
                crowd.bereave()
            }
            disk.end()
            let mended = monotonicNanoseconds()
            if daemon.process == nil {
                try crowd.examine(
                    daemon.startAndWait(), "\(kind), round \(round), killed without space")
                crowd.connect(to: daemon)
            }
            for writer in crowd.writers { writer.isOpen = true }
            try crowd.work(until: "edits are accepted again", on: daemon) {
                crowd.acknowledged > before
            }
            worst = max(worst, Double(monotonicNanoseconds() - mended) / 1e9)
            if round.isMultiple(of: 2) {
                daemon.kill()
                crowd.bereave()
                try crowd.examine(daemon.startAndWait(), "\(kind), round \(round), killed")
                crowd.connect(to: daemon)
            }
        }
        try crowd.settle(on: daemon, "\(kind), settled")
        for line in crowd.findings.lines { findings.add(line) }
        findings.require(
            worst < 1 || !run.isTimed, "\(kind): edits were taken again after \(tenths(worst)) s")
        // A daemon built for debugging, on a slow machine, needs more than 5 % to encode its state
        // for the new store. One that does not wait between its attempts needs a whole core.
        findings.require(
            cpu < (run.isTimed ? 0.05 : 0.5),
            "\(kind): \(tenths(cpu * 100)) % of a core while it waited")
        return "\(crowd.unavailable) refused, \(crowd.acknowledged) answered, \(reads) reads live, "
            + "back in \(tenths(worst)) s, \(tenths(cpu * 100)) % CPU"
    }

    private func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }

    /// Reads while nothing can be written; returns the number of answers.
    private func read(
        _ crowd: Crowd, _ daemon: DaemonUnderTest, _ findings: inout Findings, _ when: String
    ) throws -> Int {
        guard let peer = try daemon.connection() else { throw Trouble("it ended: \(daemon.said)") }
        for _ in 0..<20 { try crowd.examine(peer, when) }
        let status = try peer.result("server.status", [:])
        findings.require(
            status["writable"]?.boolValue == false, "\(when): server.status says it is writable")
        return 20
    }

    private func doctor(
        _ run: Run, _ daemon: DaemonUnderTest, _ folder: String, _ findings: inout Findings
    ) throws {
        // Between two attempts to rebuild the store, the daemon reports that instead.
        for _ in 0..<20 {
            let (status, text) = try Child.output(
                [run.executables + "/pickerctl", "doctor", "--socket", daemon.socket],
                scratch: folder)
            if status != 0, text.contains("the store cannot be written") { return }
            usleep(50_000)
        }
        findings.add("pickerctl doctor does not say that the store cannot be written")
    }

    /// The share of a core that an idle daemon uses.
    private func idleShare(_ daemon: DaemonUnderTest, seconds: Double) throws -> Double {
        guard let process = daemon.process else { throw Trouble("no daemon") }
        // Pending edits are rejected first.
        usleep(300_000)
        let before = process.processorSeconds
        usleep(UInt32(seconds * 1e6))
        return (process.processorSeconds - before) / seconds
    }
}

/// A small file system that can be filled, and whose files can become read-only.
private final class Disk {
    enum Trouble: String, CaseIterable { case full, readOnly = "read-only" }

    /// Whether it is a mounted file system.
    let isReal: Bool
    /// The state directory.
    let state: String
    let environment: [String: String]
    private let place: String
    private let shim: FaultShim
    private var ballast: String { place + "/ballast" }

    init(_ folder: String, _ library: String) throws {
        place = folder + "/disk"
        state = place + "/state"
        try Folder.make(place)
        // Space for a second store, which a rebuild needs.
        isReal = mount("torture", place, "tmpfs", 0, "size=64m,mode=0700") == 0
        shim = try FaultShim(folder: folder, library: library)
        environment = shim.environment(directory: state)
    }

    deinit { if isReal { umount2(place, Int32(MNT_DETACH)) } }

    func begin(_ trouble: Trouble) {
        if trouble == .readOnly || !isReal {
            shim[.writeErrno] = UInt64(trouble == .full ? ENOSPC : EROFS)
            return
        }
        let descriptor = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(descriptor, block, block.count) > 0 {}
    }

    func end() {
        shim.heal()
        unlink(ballast)
    }
}
