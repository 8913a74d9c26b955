import EngineTestKit
import Testing

@testable import SyncCore

/// The debt of a user for the loop's time is paid in full, under any of its uids.
@Suite struct DebtTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#

    /// A host whose requests of uid 7 and of its subordinate uids take this long.
    private func host(milliseconds: UInt64) throws -> (EngineHost, ConnectionID) {
        let host = try EngineHost(accountUID: { $0 >= 100_000 && $0 < 165_536 ? 7 : $0 })
        let other = host.connect(uid: 8, user: "bob")
        host.ask(other, Self.ping)
        let clock = WorkClock()
        host.engine.stopwatch = { [unowned engine = host.engine] in
            let done = engine.counters.requests - clock.requests
            clock.requests += done
            if engine.scheduler.atWork?.uid == 7 {
                clock.nanoseconds += done * milliseconds * 1_000_000
            }
            return clock.nanoseconds
        }
        return (host, other)
    }

    /// Continues with only the requests of uid 7.
    private final class WorkClock {
        var requests: UInt64 = 0
        var nanoseconds: UInt64 = 0
    }

    @Test("a request that took long is paid for in full before the next, also by who reconnects")
    func debt() throws {
        let (host, other) = try host(milliseconds: 400)
        var attacker = host.connect(uid: 7, user: "mallory")
        host.ask(attacker, Self.ping)
        let account = try #require(host.engine.scheduler.accounts[7])
        #expect(account.restsUntil > 0, "it is followed by a rest")
        var done = host.engine.counters.requests
        for uid in [7, 7, 100_000, 130_000] as [UInt32] {
            host.disconnect(attacker)
            attacker = host.connect(uid: uid, user: "mallory")
            host.ask(attacker, Self.ping)
            host.pass(milliseconds: 10)
            host.ask(other, Self.ping)
            done += 1
            #expect(
                host.engine.counters.requests == done, "uid \(uid) goes on before it has paid")
        }
        #expect(host.take(other).count == 5)
        #expect(host.engine.scheduler.accounts[7] === account)
        // A request of 400 ms is followed by a rest of nearly ten seconds.
        host.pass(milliseconds: 9_000)
        host.ask(other, Self.ping)
        #expect(host.engine.counters.requests == done + 1)
        host.pass(milliseconds: 1_000)
        #expect(host.engine.counters.requests == done + 2, "it has paid, and goes on")
    }

    @Test("who is alone never rests")
    func alone() throws {
        let (host, other) = try host(milliseconds: 400)
        host.disconnect(other)
        host.pass(milliseconds: 100)
        let user = host.connect(uid: 7, user: "mallory")
        for number in 1...5 {
            host.ask(user, Self.ping)
            #expect(host.take(user).count == 1, "\(number)")
        }
    }

    @Test("an account without connections and debts is released")
    func forgotten() throws {
        let (host, _) = try host(milliseconds: 400)
        let attacker = host.connect(uid: 7, user: "mallory")
        host.ask(attacker, Self.ping)
        host.disconnect(attacker)
        #expect(host.engine.scheduler.accounts[7] != nil)
        #expect(host.engine.scheduler.usersConnected == 1)
        host.pass(milliseconds: 600_000)
        host.settle()
        #expect(host.engine.scheduler.accounts[7] == nil)
    }

    @Test("subordinate uids of one account are one user: its bounds, its turns")
    func subordinates() throws {
        var limits = Limits()
        limits.connectionsPerUserMax = 4
        let host = try EngineHost(
            limits: limits, accountUID: { $0 >= 100_000 && $0 < 165_536 ? 7 : $0 })
        var taken = 0
        for number in 0..<8 as Range<UInt32> {
            let client = host.connect(uid: 100_000 + number, user: "u\(number)")
            taken += host.ask(client, Self.ping).contains { $0.contains("result") } ? 1 : 0
        }
        #expect(taken == 4)
        #expect(host.engine.scheduler.accounts.count == 1)
        let own = host.connect(uid: 165_536, user: "another")
        #expect(host.ask(own, Self.ping).first?.contains("result") == true)
    }

    @Test("new names are tried on filters in turns of those whose they are, and nothing is missed")
    func filters() throws {
        let host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        func apply(_ ids: [String]) {
            let fields = ids.map { #"{"id":"\#($0)","type":"toggle"}"# }.joined(separator: ",")
            host.ask(
                root,
                #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[\#(fields)]}}}"#
            )
        }
        apply(["aa"])
        let watchers = (0..<40).map { host.connect(uid: 1000 + $0 % 2, user: "u") }
        for watcher in watchers {
            host.ask(
                watcher,
                #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","fields":["*b*"]}}"#
            )
            _ = host.take(watcher)
        }
        apply(["aa", "ab", "ac"])
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","changes":[{"field":"ab","value":true}]}}"#
        )
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","changes":[{"field":"ac","value":true}]}}"#
        )
        for watcher in watchers {
            let told = host.take(watcher)
            #expect(told.count == 2, "a definition and one change, not \(told)")
        }
        #expect(!host.engine.schedule.wantsIteration)
    }
}
