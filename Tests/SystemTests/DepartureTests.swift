import Foundation
import Glibc
import TestKit
import Testing

// A process with hundreds of connections ends: the kernel reports all of them together.

@Suite("Many connections that end at once", .serialized)
struct DepartureTests {
    /// More than the daemon handles in one iteration.
    private static let count = 600

    @Test(
        "each is noticed once, whatever it did, and others are served",
        arguments: ["plain", "list", "form", "half"])
    func together(kind: String) throws {
        let folder = try TemporaryFolder()
        let daemon = try DaemonProcess(folder).ready()
        let bystander = try WireClient(daemon.socket)
        try bystander.apply()
        var crowd: [WireClient] = []
        for _ in 0..<Self.count {
            let client = try WireClient(daemon.socket)
            switch kind {
            case "list": try client.call("form.watch")
            case "form", "half": try client.subscribe()
            default: try client.call("ping")
            }
            crowd.append(client)
        }
        #expect(try connections(bystander) == Self.count + 1)
        // Stopped, so that the daemon finds all ends in one iteration.
        kill(daemon.pid, SIGSTOP)
        if kind == "half" { for client in crowd { client.endSending() } }
        if kind != "half" { crowd = [] }
        kill(daemon.pid, SIGCONT)
        if kind == "half" {
            // Nobody is disconnected who has only shut down the sending side.
            try bystander.increment("scoops")
            for client in crowd { #expect(try client.change().changes == ["scoops=1"]) }
            #expect(try connections(bystander) == Self.count + 1)
            crowd = []
        }
        while try connections(bystander) > 1 { try bystander.increment("scoops") }
        #expect(try connections(bystander) == 1)
    }

    @Test("connections that were closed leave their places to one that is made after them")
    func places() throws {
        let folder = try TemporaryFolder()
        try folder.write("config.yaml", "limits: {connectionsPerUserMax: 3}\n")
        let daemon = try DaemonProcess(folder, more: ["--config", folder("config.yaml")]).ready()
        var old = try (0..<3).map { _ in try WireClient(daemon.socket) }
        for client in old { try client.call("ping") }
        // Stopped, so that the daemon finds the new connections and the ends in one iteration.
        kill(daemon.pid, SIGSTOP)
        old += try (0..<3).map { _ in try WireClient(daemon.socket) }
        old = []
        let late = try WireClient(daemon.socket)
        kill(daemon.pid, SIGCONT)
        try late.call("ping")
        let others = try (0..<2).map { _ in try WireClient(daemon.socket) }
        defer { withExtendedLifetime((daemon, late, others)) {} }
        for client in others { try client.call("ping") }
        // Nobody leaves, so this one is refused, with the limit's name.
        let refused = try WireClient(daemon.socket)
        let error = try #require(try refused.message()?["error"] as? Object)
        #expect((error["data"] as? Object)?["limit"] as? String == "connectionsPerUserMax")
    }

    private func connections(_ client: WireClient) throws -> Int {
        let counts = try client.call("server.status")["connections"] as? Object
        return try #require(counts?["count"] as? Int)
    }
}
