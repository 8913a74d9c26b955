import EngineTestKit
import Testing

@testable import SyncCore

/// What a user has under way beside values: each kind is bounded, counted for all connections and
/// uids of the user together, and its time is charged.
@Suite struct HeldByUserTests {
    private static let forms = ["f", "g"]

    private func host(_ limits: Limits = Limits()) throws -> EngineHost {
        let host = try EngineHost(
            limits: limits, accountUID: { $0 >= 100_000 && $0 < 165_536 ? 7 : $0 })
        let root = host.connect(uid: 0, user: "root")
        for form in Self.forms {
            ask(
                host, root, "form.apply",
                #"""
                {"definition":{"form":"\#(form)","fields":[
                {"id":"t","type":"text","maxLength":9000},{"id":"a","type":"toggle"},
                {"id":"x","type":"toggle","approval":{"from":["user:root"]}},
                {"id":"b","type":"button","runs":"queue","waitsFor":"1d"}]}}
                """#)
        }
        return host
    }

    @discardableResult private func ask(
        _ host: EngineHost, _ client: ConnectionID, _ method: String, _ params: String
    ) -> String {
        host.ask(client, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
            .joined(separator: "\n")
    }

    /// Connections of one user, under its own uid and under subordinate ones.
    private func connections(_ host: EngineHost) -> [ConnectionID] {
        [7, 100_000, 100_001].map { host.connect(uid: $0, user: "mallory") }
    }

    @Test("proposals: those of all connections, uids and forms count together")
    func proposals() throws {
        var limits = Limits()
        limits.proposalsPerUserMax = 2
        let host = try host(limits)
        let clients = connections(host)
        func propose(_ client: ConnectionID, _ form: String) -> String {
            ask(
                host, client, "state.set",
                #"{"form":"\#(form)","changes":[{"field":"x","toggle":true}],"propose":true}"#)
        }
        #expect(propose(clients[0], "f").contains(#""proposal""#))
        #expect(propose(clients[1], "g").contains(#""proposal""#))
        for form in Self.forms {
            #expect(propose(clients[2], form).contains(#""limit":"proposalsPerUserMax""#))
        }
        let other = host.connect(uid: 8, user: "bob")
        #expect(propose(other, "f").contains(#""proposal""#), "others have their own")
    }

    @Test("runs: the presses of a button and the values they keep are bounded")
    func runs() throws {
        var limits = Limits()
        limits.queueMax = 4
        limits.queueBytesMax = 20_000
        let host = try host(limits)
        let clients = connections(host)
        func press(_ client: ConnectionID, _ form: String) -> String {
            ask(
                host, client, "state.set",
                #"{"form":"\#(form)","changes":[{"field":"b","press":true}]}"#)
        }
        for client in clients + [clients[0]] {
            #expect(press(client, "f").contains(#""result""#))
        }
        #expect(press(clients[0], "f").contains(#""limit":"queueMax""#))
        let long = String(repeating: "x", count: 9_000)
        ask(
            host, clients[0], "state.set",
            #"{"form":"g","changes":[{"field":"t","value":"\#(long)"}]}"#)
        for client in clients { #expect(press(client, "g").contains(#""result""#)) }
        let state = try #require(host.engine.form(named: "g")).working
        let kept = state.busyButtons.reduce(0) { $0 + $1.board.valueBytes }
        #expect(kept >= 27_000, "the presses keep their values")
        #expect(press(clients[0], "g").contains(#""limit":"queueBytesMax""#))
        // Others have a share of their own.
        let bob = host.connect(uid: 8, user: "bob")
        for form in Self.forms {
            #expect(press(bob, form).contains(#""result""#))
            #expect(press(bob, form).contains(#""limit":"queue"#))
        }
    }

    @Test("runs: all users together have at most twice a full queue")
    func fullQueue() throws {
        var limits = Limits()
        limits.queueMax = 25
        let host = try host(limits)
        var accepted = 0
        for uid in UInt32(10)..<40 {
            let client = host.connect(uid: uid, user: "u\(uid)")
            for number in 1...30 {
                let answer = ask(
                    host, client, "state.set",
                    #"{"form":"f","changes":[{"field":"b","press":true}]}"#)
                if answer.contains(#""result""#) { accepted += 1; continue }
                // The first user fills the queue, each other one has three places.
                #expect(uid == 10 ? number == 26 : number == 4 || accepted == 50, "\(answer)")
                break
            }
        }
        #expect(accepted == 50)
    }

    @Test("leases: a field keeps eight at most, and their ends are charged to who took them")
    func leases() throws {
        let host = try host()
        let clients = connections(host)
        for round in 0..<20 {
            let answer = ask(
                host, clients[round % clients.count], "state.set",
                #"{"form":"f","changes":[{"field":"a","value":\#(round.isMultiple(of: 2))}],"lease":{"seconds":60}}"#
            )
            #expect(answer.contains(#""result""#), "\(answer)")
        }
        let form = try #require(host.engine.form(named: "f"))
        let stack = try #require(form.working.cells[1].content.leases)
        #expect(stack.leases.count <= LeaseStack.depthMax)
        // The clock of the engine goes on a millisecond each time that it is read.
        var time: UInt64 = 0
        host.engine.stopwatch = {
            time += 1_000_000
            return time
        }
        let account = try #require(host.engine.scheduler.accounts[7])
        let other = host.connect(uid: 8, user: "bob")
        // Both are at work when the leases end, so time is charged.
        host.milliseconds += 59_990
        ask(host, clients[0], "ping", "{}")
        ask(host, other, "ping", "{}")
        #expect(form.working.cells[1].content.leases != nil)
        let before = account.credit
        host.milliseconds += 10
        host.run(.deadline)
        #expect(form.working.cells[1].content.leases == nil)
        #expect(account.credit < before, "its author pays")
    }

    @Test("drafts: one for each connection and form, of a bounded length, and none without it")
    func drafts() throws {
        let host = try host()
        let clients = connections(host)
        for client in clients {
            ask(host, client, "state.subscribe", #"{"form":"f","presence":true}"#)
            for round in 0..<25 {
                ask(
                    host, client, "presence.update",
                    #"{"form":"f","focus":"t","draft":"\#(String(repeating: "d", count: 4_000 + round))"}"#
                )
                host.pass(milliseconds: 100)
            }
            let long = String(repeating: "d", count: Limits().draftBytesMax)
            let refused = ask(
                host, client, "presence.update", #"{"form":"f","focus":"t","draft":"\#(long)"}"#)
            #expect(refused.contains(#""limit":"draftBytesMax""#), "\(refused.suffix(300))")
        }
        let form = try #require(host.engine.form(named: "f"))
        func drafts() -> Int { form.presence.entries.count { $0.draft != nil } }
        #expect(drafts() == clients.count)
        for client in clients { host.disconnect(client) }
        #expect(drafts() == 0)
    }
}
