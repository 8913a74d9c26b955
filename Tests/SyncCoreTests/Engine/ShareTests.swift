import EngineTestKit
import Testing

@testable import SyncCore

/// What one user takes of the daemon, and what remains for the others.
@Suite struct ShareTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#

    private func host(_ limits: Limits = Limits(), _ form: String? = nil) throws -> EngineHost {
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        let definition =
            form ?? #"{"form":"f","fields":[{"id":"t","type":"text","maxLength":4000}]}"#
        let answer = host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(definition)}}"#
        )
        #expect(answer.first?.contains(#""result""#) == true)
        return host
    }

    private func frames(_ count: Int, _ text: (Int) -> String) -> [UInt8] {
        (0..<count).flatMap { Frame.encode(text: Array(text($0).utf8)) }
    }

    @Test("a flood of requests delays another user by one short turn, and is answered whole")
    func flood() throws {
        let host = try host()
        let flooders = (0..<8).map { _ in host.connect(uid: 7, user: "mallory") }
        let other = host.connect(uid: 8, user: "bob")
        host.ask(other, Self.ping)
        for flooder in flooders { host.sendBytes(flooder, frames(2000) { _ in Self.ping }) }
        host.send(other, Self.ping)
        let done = flooders.reduce(0) { $0 + (host.received[$1]?.count ?? 0) }
        host.iterate()
        let pongs = host.take(other)
        #expect(pongs.count == 2, "the other user waited behind the flood")
        let meanwhile = flooders.reduce(0) { $0 + (host.received[$1]?.count ?? 0) } - done
        #expect(meanwhile < 4 * Account.contendedUnits, "the flood took \(meanwhile) turns")
        host.settle()
        for flooder in flooders { #expect(host.take(flooder).count == 2000) }
        #expect(!host.engine.schedule.wantsIteration)
    }

    @Test(
        "a released engine releases the connections that wait for a turn",
        arguments: [false, true])
    func end(areGone: Bool) throws {
        weak var connection: Connection?
        do {
            let host = try host()
            let flooders = (0..<8).map { _ in host.connect(uid: 7, user: "mallory") }
            for flooder in flooders { host.sendBytes(flooder, frames(2000) { _ in Self.ping }) }
            connection = host.engine.connections[flooders[7]]
            #expect(connection?.isAwaitingTurn == true)
            if areGone { for flooder in flooders { host.disconnect(flooder) } }
        }
        #expect(connection == nil)
    }

    @Test("a user whose turns take long has half of the time, and the others all that they want")
    func credit() throws {
        let host = try host()
        let flooders = (0..<8).map { _ in host.connect(uid: 7, user: "mallory") }
        let other = host.connect(uid: 8, user: "bob")
        host.ask(other, Self.ping)
        // Each request takes 12.5 µs, whatever it claims.
        host.engine.stopwatch = { [unowned engine = host.engine] in
            engine.counters.requests * 12_500
        }
        for flooder in flooders { host.sendBytes(flooder, frames(2000) { _ in Self.ping }) }
        let before = flooders.reduce(0) { $0 + host.take($1).count }
        let milliseconds = 50
        for _ in 0..<milliseconds {
            host.milliseconds += 1
            for _ in 0..<16 {
                host.send(other, Self.ping)
                host.iterate()
            }
        }
        #expect(host.take(other).count == 16 * milliseconds + 1)
        let done = flooders.reduce(0) { $0 + host.take($1).count } - before
        let turns = milliseconds * 500_000 / (12_500 * Account.contendedUnits)
        let saved = Int(Account.creditMax) / (12_500 * Account.contendedUnits) + 2
        #expect(done <= (turns + saved) * Account.contendedUnits, "\(done) in half of the time")
        #expect(done >= turns * Account.contendedUnits / 2, "\(done) are less than its share")
        #expect(host.engine.schedule.turnNanoseconds != nil || host.engine.schedule.wantsIteration)
        // No other user is there any more, so it continues to the end.
        host.pass(milliseconds: 1000)
        let rest = flooders.reduce(0) { $0 + host.take($1).count }
        #expect(before + done + rest == 16_000)
    }

    @Test("the reads of a single user do not make others wait for the store")
    func loneFetches() throws {
        let host = try host()
        host.engine.stopwatch = { 0 }
        let readers = (0..<8).map { _ in host.connect(uid: 7, user: "mallory") }
        host.ask(readers[0], Self.ping)
        _ = host.take(readers[0])
        host.pass(milliseconds: 100)
        host.holdsFetches = true
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"state.history","params":{"form":"f"}}"#
        for reader in readers { host.send(reader, text) }
        var answered = 0
        for _ in 0..<8 / Account.fetchesMax {
            host.settle()
            host.answerFetches()
            host.settle()
            let done = readers.reduce(0) { $0 + (host.received[$1]?.count ?? 0) }
            #expect(done == answered + Account.fetchesMax)
            answered = done
        }
        #expect(answered == 8)
        #expect(!host.engine.schedule.wantsIteration)
    }

    @Test("a read that waited is in pieces where somebody has come meanwhile")
    func pieces() throws {
        let host = try host()
        host.engine.stopwatch = { 0 }
        let reader = host.connect(uid: 7, user: "mallory")
        let other = host.connect(uid: 8, user: "bob")
        let text = String(repeating: "x", count: 1000)
        for number in 0..<50 {
            host.ask(
                reader,
                #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","changes":"#
                    + #"[{"field":"t","value":"\#(number)\#(text)"}]}}"#)
        }
        let readers = (0..<3).map { _ in host.connect(uid: 7, user: "mallory") }
        host.ask(readers[0], Self.ping)
        _ = host.take(readers[0])
        host.pass(milliseconds: 100)
        host.holdsFetches = true
        for reader in readers {
            host.send(
                reader, #"{"jsonrpc":"2.0","id":1,"method":"state.history","params":{"form":"f"}}"#)
        }
        var rounds = 0
        while host.received[readers[2]]?.isEmpty ?? true, rounds < 1000 {
            rounds += 1
            host.send(other, Self.ping)
            host.settle()
            host.answerFetches()
            host.settle()
        }
        #expect(host.received[readers[0]]?.count == 1 && host.received[readers[1]]?.count == 1)
        #expect((20..<1000).contains(rounds), "\(rounds) reads for fifty revisions")
    }

    @Test("reads of the store take turns with another user's commits, one under way at a time")
    func fetches() throws {
        let host = try host()
        host.engine.stopwatch = { 0 }
        let readers = (0..<8).map { _ in host.connect(uid: 7, user: "mallory") }
        let other = host.connect(uid: 8, user: "bob")
        host.ask(other, Self.ping)
        host.holdsFetches = true
        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"state.history","params":{"form":"f"}}"#
        host.ask(readers[0], Self.ping)
        for reader in readers { host.send(reader, text) }
        for answered in 1...8 {
            host.send(other, Self.ping)
            host.settle()
            host.answerFetches()
            host.settle()
            #expect(readers.reduce(0) { $0 + (host.received[$1]?.count ?? 0) } == answered + 1)
        }
    }

    @Test("requests of one connection keep their order over its turns")
    func order() throws {
        let host = try host()
        let flooder = host.connect(uid: 7, user: "mallory")
        host.ask(host.connect(uid: 8, user: "bob"), Self.ping)
        let text = frames(500) { #"{"jsonrpc":"2.0","id":\#($0),"method":"ping"}"# }
        host.sendBytes(flooder, text)
        host.settle()
        let ids = host.take(flooder).compactMap {
            (try? JSON(parsing: $0))?["id"]?.integerValue
        }
        #expect(ids == Array(0..<500))
    }

    @Test("somebody alone is not slowed down")
    func alone() throws {
        let host = try host()
        let one = host.connect(uid: 0, user: "root")
        host.sendBytes(one, frames(1000) { _ in Self.ping })
        host.iterate()
        #expect(host.take(one).count == 1000)
    }

    @Test("a thousand subscribers of one user are written to in turn, another user's at once")
    func fanOut() throws {
        let host = try host()
        let subscribe =
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"}}"#
        let crowd = (0..<1000).map { _ in host.connect(uid: 7, user: "mallory") }
        for id in crowd { host.ask(id, subscribe) }
        let other = host.connect(uid: 8, user: "bob")
        host.ask(other, subscribe)
        for id in crowd + [other] { _ = host.take(id) }
        for number in 0..<40 {
            host.send(
                other,
                #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#(number)"}]}}"#
            )
            host.iterate()
            host.iterate()
        }
        #expect(host.engine.scheduler.readyAccounts.count <= 2)
        let waiting = host.engine.scheduler.accounts[7]?.ready.count ?? 0
        #expect((1...1000).contains(waiting), "each waits once, however much it missed")
        host.settle()
        #expect(host.take(other).count == 80)
        for id in crowd { #expect(host.take(id).count == 40, "nobody is forgotten") }
    }

    @Test("what a heavy request takes is paid off before its user's next one")
    func debt() throws {
        let host = try host()
        let heavy = host.connect(uid: 7, user: "mallory")
        let other = host.connect(uid: 8, user: "bob")
        host.ask(other, Self.ping)
        let long = String(repeating: " ", count: 100_000)
        host.send(heavy, #"{"jsonrpc":"2.0","id":1,"method":"ping"\#(long)}"#)
        host.send(heavy, Self.ping)
        for _ in 0..<5 { host.iterate() }
        #expect(host.take(heavy).count == 1)
        host.settle()
        #expect(host.take(heavy).count == 1)
    }

    @Test("a commit holds a bounded number of a flooding user's edits")
    func batches() throws {
        let host = try host()
        let flooder = host.connect(uid: 7, user: "mallory")
        let other = host.connect(uid: 8, user: "bob")
        var edits = 0
        host.onCommit = { batch in
            let rows = batch.operations.count {
                if case .appendRevision = $0 { true } else { false }
            }
            edits = max(edits, rows)
        }
        host.ask(other, Self.ping)
        host.holdsCommits = true
        host.sendBytes(
            flooder,
            frames(500) {
                #"{"jsonrpc":"2.0","id":\#($0),"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#($0)"}]}}"#
            })
        for _ in 0..<100 {
            host.send(other, Self.ping)
            host.iterate()
        }
        #expect(host.take(other).count == 101)
        host.holdsCommits = false
        while host.batchUnderWay != nil {
            host.commit()
            host.send(other, Self.ping)
            host.settle()
        }
        #expect(host.take(flooder).count == 500)
        #expect(edits <= Account.contendedEdits + Account.contendedUnits, "\(edits) in one batch")
    }

    @Test("answers that are not taken are bounded for each user, and who holds the most goes")
    func heldBytes() throws {
        var limits = Limits()
        limits.heldBytesPerUserMax = 1 << 20
        let host = try host(limits)
        let root = ConnectionID(1)
        let value = String(repeating: "x", count: 4000)
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#(value)"}]}}"#
        )
        let read = #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"f"}}"#
        let greedy = (0..<16).map { _ in host.connect(uid: 7, user: "mallory") }
        let modest = host.connect(uid: 7, user: "mallory")
        let bystander = host.connect(uid: 8, user: "bob")
        for id in greedy + [modest, bystander] { host.stopped.insert(id) }
        for id in greedy { host.sendBytes(id, frames(60) { _ in read }) }
        host.send(modest, read)
        host.send(bystander, read)
        host.settle()
        #expect(!host.closed.isEmpty)
        #expect(host.closed.allSatisfy(greedy.contains))
        let held = host.engine.scheduler.accounts[7]?.heldBytes ?? 0
        #expect(held <= limits.heldBytesPerUserMax)
        // The remaining clients are served, and the account returns to zero.
        for id in greedy + [modest, bystander] where !host.closed.contains(id) {
            host.resumeReading(id)
        }
        #expect(host.take(modest).count == 1 && host.take(bystander).count == 1)
        #expect(host.engine.scheduler.accounts[7]?.heldBytes == 0)
    }

    @Test("writes that stall keep a bounded part of the notifications, in any order of stalls")
    func retainedChanges() throws {
        var limits = Limits()
        limits.changeLogBytesMax = 64 << 10
        limits.retainedBytesMax = 256 << 10
        let host = try host(limits)
        let root = ConnectionID(1)
        let subscribe =
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"}}"#
        let attentive = host.connect(uid: 8, user: "bob")
        host.ask(attentive, subscribe)
        var stalled: [ConnectionID] = []
        for round in 0..<60 {
            let id = host.connect(uid: 7, user: "mallory")
            host.ask(id, subscribe)
            host.slow.insert(id)
            stalled.append(id)
            for place in 0..<6 {
                let value = String(repeating: "x", count: 3000) + "\(round)/\(place)"
                host.ask(
                    root,
                    #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#(value)"}]}}"#
                )
            }
            #expect(host.engine.registry.retained.bytes <= limits.retainedBytesMax + (128 << 10))
        }
        #expect(!host.closed.isEmpty && host.closed.allSatisfy(stalled.contains))
        #expect(host.take(attentive).count == 361)
        for id in stalled where !host.closed.contains(id) {
            host.resumeReading(id)
            let last = host.take(id).last ?? ""
            #expect(last.contains("59/5"), "who is left is told the newest")
        }
    }

    @Test("who watches the list of forms and falls off it is let go, not sent all definitions")
    func slowListWatcher() throws {
        var limits = Limits()
        limits.changeLogBytesMax = 4096
        let host = try host(limits)
        let watcher = host.connect(uid: 7, user: "mallory")
        host.ask(watcher, #"{"jsonrpc":"2.0","id":1,"method":"form.watch"}"#)
        host.stopped.insert(watcher)
        for round in 0..<40 {
            host.ask(
                ConnectionID(1),
                #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"g\#(round)","fields":[{"id":"t","type":"text","label":"\#(String(repeating: "l", count: 300))"}]}}}"#
            )
        }
        host.resumeReading(watcher)
        host.settle()
        host.pass(milliseconds: 10)
        #expect(host.closed == [watcher])
        #expect(host.take(watcher).last?.contains(#""reason":"slow""#) == true)
    }

    @Test("answers kept for retries are bounded in bytes for each user")
    func keyBytes() throws {
        var limits = Limits()
        limits.keyBytesPerUserMax = 65_536
        let host = try host(limits)
        func set(_ id: ConnectionID, _ number: Int) -> String {
            let value = String(repeating: "x", count: 3000)
            return host.ask(
                id,
                #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","idempotencyKey":"k\#(number)","changes":[{"field":"t","value":"\#(value)\#(number)"}]}}"#
            ).first ?? ""
        }
        let mallory = host.connect(uid: 7, user: "mallory")
        let bob = host.connect(uid: 8, user: "bob")
        let answers = (0..<40).map { set(mallory, $0) }
        #expect(answers.first?.contains(#""result""#) == true)
        #expect(answers.last?.contains(#""limit":"keyBytesPerUserMax""#) == true)
        #expect(set(bob, 1).contains(#""result""#))
        // Used keys are still answered, and a day later new ones are accepted.
        #expect(set(mallory, 0).contains(#""revision":2,"#))
        host.pass(milliseconds: 25 * 3_600_000)
        host.pass(milliseconds: 1_000_000)
        #expect(set(mallory, 41).contains(#""result""#))
    }

    @Test("the history of a form is bounded in bytes")
    func historyBytes() throws {
        var limits = Limits()
        limits.historyBytesMax = 65_536
        let host = try host(limits)
        for number in 0..<200 {
            let value = String(repeating: "x", count: 3000)
            host.ask(
                ConnectionID(1),
                #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#(value)\#(number)"}]}}"#
            )
        }
        let rows = host.store.revisions.values.flatMap(\.values)
        let bytes = rows.reduce(0) { $0 + $1.frame.count + $1.record.count }
        #expect(bytes < 2 * limits.historyBytesMax)
        #expect(rows.map(\.revision).max() == 201, "the newest are kept")
    }

    @Test("who may not apply is refused before the definition is looked at")
    func refusedUnread() throws {
        let host = try host()
        let mallory = host.connect(uid: 7, user: "mallory")
        for definition in [#"{"form":"f","fields":7}"#, #"{"form":"new","fields":7}"#, "{}"] {
            let answer = host.ask(
                mallory,
                #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(definition),"dryRun":true}}"#
            )
            #expect(answer.first?.contains(#""kind":"forbidden""#) == true, "\(definition)")
        }
    }

    @Test("a name that is nearly right does not tell of forms that one may not read")
    func namesStayUnknown() throws {
        let host = try host(
            Limits(),
            #"{"form":"salaries","access":{"read":["owner"]},"fields":[{"id":"t","type":"text"}]}"#)
        let mallory = host.connect(uid: 7, user: "mallory")
        for method in ["state.get", "form.get", "form.delete", "state.undo"] {
            let answer = host.ask(
                mallory,
                #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{"form":"salarie"}}"#)
            #expect(answer.first?.contains("notFound") == true)
            #expect(answer.first?.contains("salaries") == false, "\(method)")
        }
    }
}
