import EngineTestKit
import Testing

@testable import SyncCore

/// The memory of a subscriber that is far behind is charged to its user.
struct HeldPagesTests {
    private static let revisions = 200

    private func host(_ limits: Limits) throws -> (EngineHost, log: String) {
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[{"id":"t","type":"text","maxLength":5000}]}}}"#
        )
        for number in 0..<Self.revisions {
            let value = "\(number)" + String(repeating: "x", count: 3000)
            host.ask(
                root,
                #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#(value)"}]}}"#
            )
        }
        return (host, try #require(host.engine.form(named: "f")).log)
    }

    private static func subscribe(_ log: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","since":{"log":"\#(log)","revision":1}}}"#
    }

    @Test("pages of the store that nobody takes are bounded for each user")
    func pages() throws {
        var limits = Limits()
        limits.changeLogBytesMax = 8 << 10
        limits.heldBytesPerUserMax = 96 << 10
        let (host, log) = try host(limits)
        let greedy = (0..<16).map { _ in host.connect(uid: 7, user: "mallory") }
        let bystander = host.connect(uid: 8, user: "bob")
        for id in greedy + [bystander] {
            host.stopped.insert(id)
            host.send(id, Self.subscribe(log))
        }
        host.settle()
        #expect(!host.closed.isEmpty && host.closed.allSatisfy(greedy.contains))
        let held = host.engine.scheduler.accounts[7]?.heldBytes ?? 0
        #expect(held <= limits.heldBytesPerUserMax)
        // The remaining clients get every revision, and the account returns to zero.
        for id in greedy + [bystander] where !host.closed.contains(id) {
            host.resumeReading(id)
            #expect(host.take(id).count == 1 + Self.revisions)
        }
        #expect(host.engine.scheduler.accounts[7]?.heldBytes == 0)
        #expect(host.engine.scheduler.accounts[8]?.heldBytes == 0)
    }

    @Test("a page that is not wanted any more is not paid for")
    func unwanted() throws {
        var limits = Limits()
        limits.changeLogBytesMax = 8 << 10
        let (host, log) = try host(limits)
        let client = host.connect(uid: 7, user: "mallory")
        host.stopped.insert(client)
        host.send(client, Self.subscribe(log))
        host.settle()
        #expect(host.engine.scheduler.accounts[7]?.heldBytes ?? 0 > 10 << 10)
        host.ask(
            client,
            #"{"jsonrpc":"2.0","id":2,"method":"state.unsubscribe","params":{"form":"f"}}"#)
        host.resumeReading(client)
        #expect(host.take(client).count == 2)
        #expect(host.engine.scheduler.accounts[7]?.heldBytes == 0)
    }

    @Test("who is present and takes nothing holds a bounded part of what others hold in hand")
    func presence() throws {
        var limits = Limits()
        limits.retainedBytesMax = 256 << 10
        let (host, _) = try host(limits)
        let join =
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","presence":true}}"#
        let draft = String(repeating: "y", count: 4000)
        let attentive = host.connect(uid: 8, user: "bob")
        host.ask(attentive, join)
        var stalled: [ConnectionID] = []
        for _ in 0..<60 {
            let id = host.connect(uid: 7, user: "mallory")
            stalled.append(id)
            host.slow.insert(id)
            host.ask(id, join)
            host.ask(
                id,
                #"{"jsonrpc":"2.0","id":2,"method":"presence.update","params":{"form":"f","focus":"t","draft":"\#(draft)"}}"#
            )
            // Each new subscriber gets all drafts at once, which is a different text each time.
            #expect(host.engine.registry.retained.bytes <= limits.retainedBytesMax + (300 << 10))
        }
        #expect(!host.closed.isEmpty && host.closed.allSatisfy(stalled.contains))
        #expect(host.take(attentive).contains { $0.contains(draft) })
    }
}
