import Foundation
import TestKit
import Testing

/// A daemon that is killed at a chosen system call: strace(1) sends SIGKILL as the call begins.
@Suite("kill -9 at each write of a start", .serialized)
struct KillTests {
    /// What a start writes by: each of them in each thread is one cut.
    private static let calls = "pwrite64,write,fsync,fdatasync,rename,unlink,ftruncate,link"

    /// Runs a daemon until its `count`th such call, or until it has acknowledged an increment.
    /// - Returns: whether the increment was acknowledged.
    private func run(_ folder: TemporaryFolder, killedAt count: Int) throws -> Bool {
        let words =
            ["/usr/bin/strace", "-f", "-qqq", "-o", "/dev/null", "-e", "trace=\(Self.calls)"]
            + ["-e", "inject=\(Self.calls):signal=SIGKILL:when=\(count)"]
            + [builtProgram("pickersyncd")] + DaemonProcess.standardArguments(folder)
        let strace = try ChildProcess(
            words, environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path],
            isEnvironmentWhole: true)
        var isAcknowledged = false
        try eventually("an answer or the end of the daemon") {
            guard strace.isRunning else { return true }
            guard let client = try? WireClient(folder("sock")) else { return false }
            isAcknowledged = (try? client.increment("scoops")) != nil
            return isAcknowledged
        }
        if strace.isRunning, let pid = holder(folder) { kill(pid, SIGKILL) }
        _ = strace.outcome()
        return isAcknowledged
    }

    /// The daemon that holds the store, by its lock file.
    private func holder(_ folder: TemporaryFolder) -> pid_t? {
        let text = try? String(contentsOfFile: folder("state/lock"), encoding: .utf8)
        return text?.split(separator: "\n").first.flatMap { pid_t($0) }
    }

    @Test("however many in a row, the next daemon continues the same log")
    func everyCut() throws {
        let folder = try TemporaryFolder()
        var daemon = try DaemonProcess(folder).ready()
        var client = try WireClient(folder("sock"))
        try client.apply()
        func log() throws -> String? {
            try client.call("state.get", ["form": "ice-cream"])["log"] as? String
        }
        let name = try log()
        #expect(name != nil)
        try daemon.killHard()
        var acknowledged = 0
        var cuts = 0
        // The daemon has two threads, so that a count beyond one's calls may still cut the other.
        while acknowledged < 4 {
            cuts += 1
            for _ in 0..<2 where try run(folder, killedAt: cuts) { acknowledged += 1 }
        }
        #expect(cuts > 4, "a start writes more than that")
        daemon = try DaemonProcess(folder).ready()
        client = try WireClient(folder("sock"))
        #expect(try log() == name)
        #expect(!daemon.said.contains("replica"), "\(daemon.said)")
        let scoops = try client.value("scoops") as? Int ?? 0
        #expect(scoops >= acknowledged)
    }
}
