import Foundation
import TestKit
import Testing

// The main job over a real socket: several clients, one form, and a daemon that dies and comes
// back.

@Suite("The real daemon serves", .serialized)
struct ServingTests {
    @Test("two watchers see the same changes in the same order, and nothing is missed over kill -9")
    func killAndResume() throws {
        let folder = try TemporaryFolder()
        var daemon = try DaemonProcess(folder).ready()
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        let watchers = [try WireClient(daemon.socket), try WireClient(daemon.socket)]
        var log: Any?
        var revision = 0
        for watcher in watchers {
            let subscribed = try watcher.subscribe()
            log = subscribed["log"]
            revision = try #require(subscribed["revision"] as? Int)
        }
        try writer.set("flavor", "vanilla")
        for _ in 0..<3 { try writer.increment("scoops") }
        var seen: [[String]] = []
        for watcher in watchers {
            var lines: [String] = []
            for step in 1...4 {
                let (number, changes) = try watcher.change()
                #expect(number == revision + step)
                lines += changes
            }
            seen.append(lines)
        }
        #expect(seen[0] == ["flavor=vanilla", "scoops=1", "scoops=2", "scoops=3"])
        #expect(seen[0] == seen[1])
        revision += 4

        try daemon.killHard()
        #expect(FileManager.default.fileExists(atPath: daemon.socket), "the stale socket stays")
        daemon = try DaemonProcess(folder).ready()
        let again = try WireClient(daemon.socket)
        #expect(try again.value("flavor") as? String == "vanilla")
        #expect(try again.value("scoops") as? Int == 3)
        let late = try WireClient(daemon.socket)
        try again.set("flavor", "strawberry")
        // Seen up to two revisions before the kill: those two come again, and the new one.
        let since: Object = ["log": try #require(log), "revision": revision - 2]
        let resumed = try late.subscribe(since: since)
        #expect(resumed["resumed"] as? Bool == true)
        #expect(try late.change().changes == ["scoops=2"])
        #expect(try late.change().changes == ["scoops=3"])
        let last = try late.change()
        #expect(last.changes == ["flavor=strawberry"])
        #expect(last.revision == revision + 1)
    }

    @Test("everything that was answered is there after each of several kills")
    func repeatedKills() throws {
        let folder = try TemporaryFolder()
        var acknowledged = 0
        for round in 0..<4 {
            let daemon = try DaemonProcess(folder).ready()
            let clients = try (0..<3).map { _ in try WireClient(daemon.socket) }
            if round == 0 { try clients[0].apply() }
            #expect(try clients[0].value("scoops") as? Int == acknowledged)
            for number in 0..<30 {
                try clients[number % 3].increment("scoops")
                acknowledged += 1
            }
            try daemon.killHard()
        }
        let daemon = try DaemonProcess(folder).ready()
        #expect(try WireClient(daemon.socket).value("scoops") as? Int == acknowledged)
    }

    @Test("a retry under the same key after a kill changes nothing")
    func idempotency() throws {
        let folder = try TemporaryFolder()
        var daemon = try DaemonProcess(folder).ready()
        var client = try WireClient(daemon.socket)
        try client.apply()
        let params: Object = [
            "form": "ice-cream", "idempotencyKey": "once",
            "changes": [["field": "scoops", "increment": 5] as Object],
        ]
        let first = try client.call("state.set", params)
        try daemon.killHard()
        daemon = try DaemonProcess(folder).ready()
        client = try WireClient(daemon.socket)
        let second = try client.call("state.set", params)
        #expect(first["revision"] as? Int == second["revision"] as? Int)
        #expect(try client.value("scoops") as? Int == 5)
    }

    @Test("hostile frames end at most their own connection while a bystander works")
    func hostileFrames() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let bystander = try WireClient(daemon.socket)
        try bystander.apply()
        let watcher = try WireClient(daemon.socket)
        try watcher.subscribe()
        let attacks: [[UInt8]] = [
            [0, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0x7F, 0xFF, 0xFF, 0xFF, 1],
            [0, 0, 0, 2], [0], [],
            WireClient.frame("{"), WireClient.frame("\u{0}"), WireClient.frame("nul"),
            [0, 0, 0, 3, 0xFF, 0xFE, 0x41], [0, 0, 0, 2, 0xC0, 0x80],
            WireClient.frame(String(repeating: "[", count: 100_000)),
            WireClient.frame("{\"a\":" + String(repeating: "9", count: 100_000) + "}"),
            WireClient.frame("[" + String(repeating: "1,", count: 50_000) + "1]"),
            WireClient.frame("{\"jsonrpc\":\"2.0\",\"id\":1e999,\"method\":\"ping\"}"),
            WireClient.frame(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"state.set\",\"params\":7}"),
            WireClient.frame(
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"method\":\"ping\"}"),
            WireClient.frame("{\"jsonrpc\":\"2.0\",\"id\":\"\\ud800\",\"method\":\"ping\"}"),
            Array(repeating: 0x20, count: 1 << 20), Array("GET / HTTP/1.1\r\n\r\n".utf8),
        ]
        var held: [WireClient] = []
        for (number, attack) in attacks.enumerated() {
            let attacker = try WireClient(daemon.socket)
            attacker.send(raw: attack)
            // Half of them hold their half frame open, the others hang up.
            if number.isMultiple(of: 2) { held.append(attacker) } else { attacker.endSending() }
            try bystander.increment("scoops")
            #expect(try watcher.change().changes == ["scoops=\(number + 1)"])
        }
        #expect(try bystander.value("scoops") as? Int == attacks.count)
        #expect(held.count == (attacks.count + 1) / 2)
    }

    @Test("a length of nothing and a length beyond the limit are answered and closed")
    func frameTooLarge() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder, more: ["--limit", "maxFrame=4KiB"]).ready()
        for bytes: [UInt8] in [[0, 0, 0, 0], [0, 0, 0x10, 1]] {
            let client = try WireClient(daemon.socket)
            client.send(raw: bytes)
            let answer = try #require(try client.message())
            let error = try #require(answer["error"] as? Object)
            #expect((error["data"] as? Object)?["kind"] as? String == "frameTooLarge")
            #expect(answer["id"] is NSNull)
            #expect(try client.message() == nil)
        }
    }

    @Test("a watcher that stops reading costs nobody else anything and ends with the final state")
    func slowReader() throws {
        let folder = try TemporaryFolder()
        let more = ["--limit", "changeLogBytesMax=64KiB", "--durability", "memory"]
        let daemon = try DaemonProcess(folder, more: more).ready()
        let writer = try WireClient(daemon.socket)
        try writer.apply()
        let stopped = try WireClient(daemon.socket)
        try stopped.subscribe()
        for _ in 0..<5_000 { try writer.increment("scoops") }
        var last = ""
        var previous = -1
        while last != "scoops=5000" {
            let change = try stopped.change()
            #expect(change.revision > previous)
            previous = change.revision
            last = change.changes.last ?? ""
        }
        #expect(try writer.value("scoops") as? Int == 5_000)
    }

    @Test("what a client asked before it ended its side is still answered")
    func halfClosed() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let client = try WireClient(daemon.socket)
        try client.apply()
        let change: Object = ["field": "flavor", "value": "vanilla"]
        for id in 100..<110 {
            try client.send("state.set", ["form": "ice-cream", "changes": [change]], id: id)
        }
        client.endSending()
        var answered: [Int] = []
        while let message = try client.message() {
            if let id = message["id"] as? Int { answered.append(id) }
        }
        #expect(answered == Array(100..<110))
    }

    @Test("out of descriptors the others wait, and are served when somebody leaves")
    func fewDescriptors() throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder, limits: "-n 64").ready()
        let first = try WireClient(daemon.socket)
        try first.apply()
        var crowd = try (0..<200).map { _ in try WireClient(daemon.socket) }
        try first.set("flavor", "vanilla")
        crowd.removeAll()
        try eventually("a new connection is served") {
            let client = try WireClient(daemon.socket)
            return (try? client.value("flavor") as? String) == "vanilla"
        }
        #expect(daemon.said.contains("connectionsMax is"))
    }
}
