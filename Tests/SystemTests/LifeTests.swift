import Foundation
import TestKit
import Testing

// How the daemon starts, reloads and ends.

@Suite("The real daemon lives", .serialized)
struct LifeTests {
    @Test(
        "SIGTERM and SIGINT say goodbye to everybody, remove the socket and exit 0",
        arguments: [SIGTERM, SIGINT])
    func goodbye(signal: Int32) throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let clients = try (0..<5).map { _ in try WireClient(daemon.socket) }
        try clients[0].apply()
        for client in clients { try client.subscribe() }
        try clients[0].set("flavor", "vanilla")
        daemon.signal(signal)
        for client in clients {
            let goodbye = try #require(try client.notification("goodbye"))
            #expect(goodbye["reason"] as? String == "shutdown")
            #expect(try client.message() == nil, "goodbye is the last")
        }
        #expect(try daemon.wait() == 0)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
        let again = try DaemonProcess(folder).ready()
        #expect(try WireClient(again.socket).value("flavor") as? String == "vanilla")
    }

    @Test("with durability memory a clean stop loses nothing")
    func memoryIsWritten() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder, more: ["--durability", "memory"]).ready()
        let client = try WireClient(daemon.socket)
        try client.apply()
        for _ in 0..<100 { try client.increment("scoops") }
        let log = try client.subscribe()["log"] as? String
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
        let again = try DaemonProcess(folder, more: ["--durability", "memory"]).ready()
        let back = try WireClient(again.socket)
        #expect(try back.value("scoops") as? Int == 100)
        #expect(try back.subscribe()["log"] as? String == log)
    }

    @Test("after a kill below commit every log is new, so that nobody resumes into what is lost")
    func newLogAfterLoss() throws {
        let folder = try TemporaryFolder()
        let first = try DaemonProcess(folder).ready()
        try WireClient(first.socket).apply()
        first.signal(SIGTERM)
        #expect(try first.wait() == 0)
        let daemon = try DaemonProcess(folder, more: ["--durability", "interval"]).ready()
        let client = try WireClient(daemon.socket)
        let before = try client.subscribe()
        try client.set("flavor", "vanilla")
        try daemon.killHard()
        let again = try DaemonProcess(folder).ready()
        let back = try WireClient(again.socket)
        let since: Object = [
            "log": try #require(before["log"]), "revision": try #require(before["revision"]),
        ]
        let after = try back.subscribe(since: since)
        #expect(after["resumed"] as? Bool == false)
        #expect(after["log"] as? String != before["log"] as? String)
    }

    @Test(
        "a second daemon exits 75, on the same socket and on the same store, and the first goes on")
    func secondDaemon() throws {
        let folder = try TemporaryFolder()
        let first = try DaemonProcess(folder).ready()
        let sameSocket = try DaemonProcess(
            folder, arguments: ["--socket", folder("sock"), "--state-directory", folder("other")])
        #expect(try sameSocket.wait() == 75)
        #expect(sameSocket.said.contains("pid \(first.pid)"))
        let sameStore = try DaemonProcess(
            folder, arguments: ["--socket", folder("sock2"), "--state-directory", folder("state")])
        #expect(try sameStore.wait() == 75)
        #expect(!FileManager.default.fileExists(atPath: folder("sock2")))
        let client = try WireClient(first.socket)
        try client.apply()
        #expect(try client.value("flavor") as? String == "chocolate")
    }

    @Test("of daemons that start at once exactly one serves")
    func race() throws {
        let folder = try TemporaryFolder()
        let daemons = try (0..<5).map { _ in try DaemonProcess(folder) }
        defer { withExtendedLifetime(daemons) {} }
        try eventually("one is ready") { daemons.contains { $0.said.contains("ready: ") } }
        let winners = daemons.filter { $0.said.contains("ready: ") }
        #expect(winners.count == 1)
        for daemon in daemons where daemon !== winners[0] { #expect(try daemon.wait() == 75) }
        try WireClient(winners[0].socket).apply()
    }

    @Test("a start that fails says why with its status and leaves no socket")
    func exitStatuses() throws {
        let folder = try TemporaryFolder()
        let bad = try folder.write("bad.yaml", "durability: sometimes\nsockt: x\n")
        let form = try folder.write("form.yaml", "form: x\ntitle: [\n")
        try folder.write("file", "")
        let rows: [(more: [String], status: Int32, word: String)] = [
            (["--durability", "no"], 64, "--durability"), (["--config", bad], 78, "bad.yaml:2:1"),
            (["--form", form], 65, "form.yaml:"),
            (["--group", "no-such-group"], 78, "no-such-group"),
            (["--state-directory", folder("file/state")], 73, "file"),
            (["--socket", folder("file/sock")], 73, "file"),
            (["--no-such-flag"], 64, "no-such-flag"),
        ]
        for row in rows {
            let daemon = try DaemonProcess(folder, more: row.more)
            #expect(try daemon.wait() == row.status, "\(row.more): \(daemon.said)")
            #expect(daemon.said.contains(row.word), "\(row.more): \(daemon.said)")
            #expect(!FileManager.default.fileExists(atPath: folder("sock")), "\(row.more)")
        }
    }

    @Test("SIGHUP takes new limits, levels and forms; a mistake leaves everything as it was")
    func reload() throws {
        let folder = try TemporaryFolder()
        let form = try String(
            decoding: JSONSerialization.data(withJSONObject: WireClient.form), as: UTF8.self)
        let path = try folder.write("form.yaml", form)
        try folder.write("config.yaml", "forms: [\(path)]\nlimits: {maxFrame: 64KiB}\n")
        let daemon = try DaemonProcess(folder, more: ["--config", folder("config.yaml")]).ready()
        let client = try WireClient(daemon.socket)
        #expect(try client.value("flavor") as? String == "chocolate")
        func maxFrame() throws -> Int? {
            (try client.call("hello", ["protocol": 1, "client": "test"])["limits"] as? Object)?[
                "maxFrame"] as? Int
        }
        #expect(try maxFrame() == 65_536)
        try folder.write("config.yaml", "limits: {maxFrame: 1}\n")
        daemon.signal(SIGHUP)
        try eventually("the mistake is said") { daemon.said.contains("config.yaml:1:") }
        #expect(try maxFrame() == 65_536)
        try folder.write("form.yaml", form.replacingOccurrences(of: "strawberry", with: "mint"))
        try folder.write(
            "config.yaml",
            "forms: [\(path)]\nlimits: {maxFrame: 32KiB}\ndurability: memory\n")
        daemon.signal(SIGHUP)
        try eventually("reloaded") { daemon.said.contains("reloaded") }
        #expect(try maxFrame() == 32_768)
        #expect(daemon.said.contains("durability needs a restart"))
        try client.set("flavor", "mint")
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 0)
    }

    @Test(
        "a connection never has the number of one that edited in an earlier run",
        arguments: [SIGTERM, SIGKILL])
    func connectionNumbers(signal: Int32) throws {
        let folder = try TemporaryFolder()
        var last = 0
        for run in 0..<3 {
            let daemon = try DaemonProcess(folder).ready()
            for flavor in ["vanilla", "strawberry"] {
                let client = try WireClient(daemon.socket)
                let greeting = try client.call("hello", ["protocol": 1, "client": "test"])
                let number = try #require((greeting["you"] as? Object)?["connection"] as? Int)
                #expect(number > last)
                last = number
                if run == 0, flavor == "vanilla" { try client.apply() }
                try client.set("flavor", flavor)
            }
            daemon.signal(signal)
            _ = try daemon.wait()
        }
    }

    @Test("a socket from the service manager is served, outlives the daemon and says restart")
    func activation() throws {
        let folder = try TemporaryFolder()
        let listener = try ListeningSocket(folder("passed"))
        // Who comes before the daemon waits for it.
        let early = try WireClient(folder("passed"))
        try early.send("ping", [:], id: 1)
        let daemon = try DaemonProcess(
            folder, arguments: ["--state-directory", folder("state")],
            passing: [listener.descriptor]
        ).ready()
        #expect(daemon.said.contains("ready: \(folder("passed"))"))
        #expect(try early.message()?["id"] as? Int == 1)
        daemon.signal(SIGTERM)
        let goodbye = try #require(try early.notification("goodbye"))
        #expect(goodbye["reason"] as? String == "restart")
        #expect(try daemon.wait() == 0)
        #expect(FileManager.default.fileExists(atPath: folder("passed")))
        let again = try DaemonProcess(
            folder, arguments: ["--state-directory", folder("state")],
            passing: [listener.descriptor]
        ).ready()
        try WireClient(folder("passed")).call("ping")
        again.signal(SIGTERM)
        #expect(try again.wait() == 0)
    }

    @Test("the service manager hears READY, STATUS, WATCHDOG, RELOADING and STOPPING")
    func notifications() throws {
        let folder = try TemporaryFolder()
        let socket = try ListeningSocket(folder("notify"), .datagrams)
        let daemon = try DaemonProcess(
            folder,
            environment: ["NOTIFY_SOCKET": folder("notify"), "WATCHDOG_USEC": "20000"])
        func hear(_ word: String) throws {
            try eventually("the manager hears \(word)") {
                socket.datagram()?.contains(word) == true
            }
        }
        try hear("READY=1\nSTATUS=")
        try hear("WATCHDOG=1")
        try hear("WATCHDOG=1")
        daemon.signal(SIGHUP)
        try hear("RELOADING=1")
        try hear("READY=1")
        daemon.signal(SIGTERM)
        try hear("STOPPING=1")
        #expect(try daemon.wait() == 0)
    }

    @Test("nobody connected for the time of --idle-exit ends it, somebody keeps it")
    func idleExit() throws {
        let folder = try TemporaryFolder()
        func start() throws -> DaemonProcess {
            try DaemonProcess(folder, more: ["--idle-exit", "1"]).ready()
        }
        func joined(_ daemon: DaemonProcess) -> WireClient? {
            guard let client = try? WireClient(daemon.socket), (try? client.call("ping")) != nil
            else { return nil }
            return client
        }
        var daemon = try start()
        var client = joined(daemon)
        // A test that needs more than that second to connect finds that it ended, as it should.
        for _ in 0..<30 where client == nil {
            #expect(try daemon.wait() == 0)
            daemon = try start()
            client = joined(daemon)
        }
        try #require(client != nil)
        usleep(1_500_000)
        try client?.call("ping")
        client = nil
        #expect(try daemon.wait() == 0)
        #expect(!FileManager.default.fileExists(atPath: daemon.socket))
    }

    @Test("only the owner may read what it leaves on disk, and nobody its memory")
    func permissions() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        try WireClient(daemon.socket).apply()
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder("state"))
        for file in files.map({ folder("state/\($0)") }) + [folder("state"), folder("sock")] {
            let mode =
                try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect((mode ?? 0o777) & 0o077 == 0, "\(file)")
        }
        let limits = try String(contentsOfFile: "/proc/\(daemon.pid)/limits", encoding: .utf8)
        #expect(limits.contains(/Max core file size\s+0\s+0/))
    }

    @Test("a check changes nothing and reports what prevents a start")
    func check() throws {
        let folder = try TemporaryFolder()
        let good = try DaemonProcess(folder, more: ["--check"])
        #expect(try good.wait() == 0)
        let plan = try String(contentsOfFile: folder("stdout"), encoding: .utf8)
        #expect(plan.contains("socket: \(folder("sock")), mode 0600, to be made"))
        #expect(!FileManager.default.fileExists(atPath: folder("state")))
        let daemon = try DaemonProcess(folder).ready()
        let served = try DaemonProcess(folder, more: ["--check"])
        #expect(try served.wait() == 75)
        try WireClient(daemon.socket).call("ping")
    }

    @Test("a named pipe in the place of a file is refused at once", arguments: [[], ["--check"]])
    func pipes(more: [String]) throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder("pipe"), 0o600) == 0)
        for (option, status) in [("--config", 78), ("--form", 65)] as [(String, Int32)] {
            let daemon = try DaemonProcess(folder, more: more + [option, folder("pipe")])
            #expect(try daemon.wait() == status, "\(option)")
            #expect(daemon.said.contains("pipe: it is not a regular file"), "\(daemon.said)")
        }
    }

    @Test("a named pipe in the place of a backup is refused at once")
    func backupPipe() throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder("pipe"), 0o600) == 0)
        let daemon = try DaemonProcess(folder, more: ["--restore", folder("pipe")])
        #expect(try daemon.wait() == 73)
        #expect(daemon.said.contains("it has no SQLite header"), "\(daemon.said)")
    }

    @Test("a named pipe in the place of the key holds no start: there are no secrets then")
    func keyPipe() throws {
        let folder = try TemporaryFolder()
        try #require(mkdir(folder("state"), 0o700) == 0)
        try #require(mkfifo(folder("state/key"), 0o600) == 0)
        let daemon = try DaemonProcess(folder).ready()
        #expect(daemon.said.contains("not a regular file"), "\(daemon.said)")
    }
}
