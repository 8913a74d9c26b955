import Foundation
import TestKit
import Testing

// Work under way while clients come and go and the daemon stops.

@Suite("The real daemon under work", .serialized)
struct UnderWorkTests {
    @Test("a stop in the middle of work loses nothing that was answered and doubles nothing")
    func stopUnderLoad() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let clients = try (0..<4).map { _ in try WireClient(daemon.socket) }
        try clients[0].apply()
        let change: Object = ["field": "scoops", "increment": 1]
        for client in clients {
            for id in 1...200 {
                try client.send("state.set", ["form": "ice-cream", "changes": [change]], id: id)
            }
        }
        // Whenever it comes, it comes between two requests of somebody.
        daemon.signal(SIGTERM)
        var answered = 0
        for client in clients {
            while let message = try client.message() {
                if message["result"] != nil { answered += 1 }
            }
        }
        #expect(try daemon.wait() == 0)
        let again = try DaemonProcess(folder).ready()
        #expect(try WireClient(again.socket).value("scoops") as? Int == answered)
    }

    @Test("connections that come and go leave no descriptor behind")
    func noLeak() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let first = try WireClient(daemon.socket)
        try first.apply()
        func descriptors() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(daemon.pid)/fd").count
        }
        let before = try descriptors()
        for number in 0..<300 {
            let client = try WireClient(daemon.socket)
            if number.isMultiple(of: 2) { try client.subscribe() }
            if number.isMultiple(of: 3) { client.send(raw: [0, 0, 1]) }
            if number.isMultiple(of: 5) { client.endSending() }
        }
        try eventually("all descriptors are given back") { try descriptors() == before }
        let status = try first.call("server.status")
        #expect((status["connections"] as? Object)?["count"] as? Int == 1)
    }

    @Test("a watcher that ended its sending side still watches, and is noticed when it goes")
    func halfClosedWatcher() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        var watcher: WireClient? = try WireClient(daemon.socket)
        try watcher?.subscribe()
        watcher?.endSending()
        // Long enough for the daemon to have looked whether it is gone.
        usleep(100_000)
        try writer.set("flavor", "vanilla")
        #expect(try watcher?.change().changes == ["flavor=vanilla"])
        watcher = nil
        try eventually("the connection is gone") {
            let status = try writer.call("server.status")
            return (status["connections"] as? Object)?["count"] as? Int == 1
        }
    }

    @Test("a second signal ends it at once, also if a client does not read its goodbye")
    func secondSignal() throws {
        let folder = try TemporaryFolder()
        let more = ["--durability", "memory"]
        let daemon = try DaemonProcess(folder, more: more).ready()
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        let stopped = try WireClient(daemon.socket)
        try stopped.subscribe()
        for _ in 0..<3_000 { try writer.increment("scoops") }
        daemon.signal(SIGTERM)
        #expect(try writer.notification("goodbye") != nil)
        daemon.signal(SIGTERM)
        #expect(try daemon.wait() == 128 + SIGTERM)
        _ = stopped
    }

    @Test(
        "--help names every option, --limits every limit with its unit, --version the version",
        arguments: [
            (
                "--help",
                [
                    "--socket", "--state-directory", "--config", "--durability", "--group",
                    "--form", "--idle-exit", "--log-level", "--limit", "--new-replica", "--check",
                    "--limits",
                ]
            ),
            (
                "--limits",
                [
                    "maxFrame", "1048576 bytes", "connectionsPerUserMax", "intervalMilliseconds",
                    "100 ms",
                ]
            ),
        ])
    func help(option: String, words: [String]) throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder, arguments: [option])
        #expect(try daemon.wait() == 0)
        let text = try String(contentsOfFile: folder("stdout"), encoding: .utf8)
        for word in words { #expect(text.contains(word), "\(word)") }
        #expect(
            text.split(separator: "\n").filter { !$0.hasPrefix("USAGE") && $0.count > 80 } == [])
        let version = try DaemonProcess(folder, arguments: ["--version"])
        #expect(try version.wait() == 0)
    }

    @Test("--new-replica writes as another replica and begins new logs")
    func newReplica() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let client = try WireClient(daemon.socket)
        try client.apply()
        let before = try client.subscribe()["log"] as? String
        let replica = try client.call("server.status")["replica"] as? String
        daemon.signal(SIGTERM)
        try daemon.wait()
        let again = try DaemonProcess(folder, more: ["--new-replica"]).ready()
        let back = try WireClient(again.socket)
        #expect(try back.subscribe()["log"] as? String != before)
        #expect(try back.call("server.status")["replica"] as? String != replica)
    }
}
