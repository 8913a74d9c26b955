import Foundation
import TestKit
import Testing

// Copies of the store of a daemon in use, and putting one back: as an administrator does it.

@Suite("The real daemon's store is copied, put back and looked at", .serialized)
struct BackupSystemTests {
    /// A command to its end: its status, and what it said on both streams.
    private func run(_ name: String, _ arguments: [String]) throws -> (Int32, String) {
        let outcome = try ChildProcess.run(
            [builtProgram(name)] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "HOME": "/nonexistent"],
            isEnvironmentWhole: true)
        return (outcome.status, outcome.out)
    }

    @Test(
        "a wrong command line of the daemon is one line that says what to do",
        arguments: [
            (["--nonsense"], "no option --nonsense"),
            (["--log-level"], "--log-level has no value; write --log-level LEVEL"),
            (["--socket", "/tmp/s", "extra"], "one argument too many: extra"),
        ])
    func usage(_ arguments: [String], _ words: String) throws {
        let (status, said) = try run("pickersyncd", arguments)
        #expect(status == 64)
        #expect(said.hasPrefix("pickersyncd: \(words); see pickersyncd --help\n"), "\(said)")
    }

    @Test("a backup taken under work is put back whole, and clients begin again with it")
    func roundTrip() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let client = try WireClient(daemon.socket)
        try client.apply()
        for _ in 0..<100 { try client.increment("scoops") }
        let log = try #require(try client.subscribe()["log"] as? String)
        // Some are on their way while the copy is made.
        let busy = try WireClient(daemon.socket)
        let change: Object = ["field": "scoops", "increment": 1]
        for id in 1...200 {
            try busy.send("state.set", ["form": "ice-cream", "changes": [change]], id: id)
        }
        let backup = folder("backup.db")
        let (status, said) = try run("pickerctl", ["backup", backup, "--socket", daemon.socket])
        #expect(status == 0, "\(said)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(files.filter { $0.hasPrefix("backup.db") } == ["backup.db"])
        let mode = try FileManager.default.attributesOfItem(atPath: backup)[.posixPermissions]
        #expect(mode as? Int == 0o600)
        // Not over a file, not under a daemon.
        #expect(try run("pickerctl", ["backup", backup, "--socket", daemon.socket]).0 == 65)
        let restore = ["--restore", backup, "--state-directory", folder("state")]
        let (refused, why) = try run("pickersyncd", restore)
        #expect(refused == 75, "\(why)")
        #expect(why.contains("pid \(daemon.pid)"), "\(why)")
        let (checked, report) = try run("pickersyncd", ["--check"] + restore.dropFirst(2))
        #expect(checked == 0 && report.contains("in use by process \(daemon.pid)"), "\(report)")
        daemon.signal(SIGTERM)
        try daemon.wait()
        let (restored, told) = try run("pickersyncd", restore)
        #expect(restored == 0 && told.contains("new replica"), "\(told)")
        let again = try DaemonProcess(folder).ready()
        let later = try WireClient(again.socket)
        let value = try #require(try later.value("scoops") as? Int)
        #expect((100...300).contains(value))
        let resumed = try later.subscribe(since: ["log": log, "revision": 101])
        #expect(resumed["resumed"] as? Bool == false)
        #expect(resumed["log"] as? String != log)
    }

    @Test("--check says how a store is, and leaves a killed daemon's as it was")
    func check() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        try WireClient(daemon.socket).apply()
        try daemon.killHard()
        let file = folder("state/pickersync.db")
        let before = try Data(contentsOf: URL(filePath: file + "-wal"))
        let check = ["--check", "--state-directory", folder("state"), "--socket", daemon.socket]
        let (status, report) = try run("pickersyncd", check)
        #expect(status == 0, "\(report)")
        #expect(report.contains("sound; schema "), "\(report)")
        #expect(report.contains("1 forms, 1 revisions"), "\(report)")
        #expect(report.contains("its daemon was killed"), "\(report)")
        #expect(try Data(contentsOf: URL(filePath: file + "-wal")) == before)
    }

    @Test("an older daemon refuses a newer store, naming both versions and the next step")
    func downgrade() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        try WireClient(daemon.socket).apply()
        daemon.signal(SIGTERM)
        try daemon.wait()
        let handle = try #require(FileHandle(forUpdatingAtPath: folder("state/pickersync.db")))
        // user_version (SQLite file format, section 1.3).
        try handle.seek(toOffset: 60)
        try handle.write(contentsOf: Data([0, 0, 0, 77]))
        try handle.close()
        let older = try DaemonProcess(folder)
        #expect(try older.wait() == 73)
        for word in ["written by pickersyncd ", "schema 77", "--restore"] {
            #expect(older.said.contains(word), "\(older.said)")
        }
        let check = ["--check", "--state-directory", folder("state"), "--socket", daemon.socket]
        let (status, report) = try run("pickersyncd", check)
        #expect(status == 73 && report.contains("schema 77"), "\(report)")
    }
}
