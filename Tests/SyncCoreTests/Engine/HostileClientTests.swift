import EngineTestKit
import TestKit
import Testing

@testable import SyncCore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Clients that send invalid frames and random requests, while a bystander works.
///
/// `ENGINE_SEED=N` replays one run, `ENGINE_ROUNDS=N` makes it longer.
@Suite struct EngineHostileTests {
    private static func number(_ name: String) -> UInt64? {
        getenv(name).flatMap { UInt64(String(cString: $0)) }
    }

    private static let seeds: [UInt64] = number("ENGINE_SEED").map { [$0] } ?? [1, 2, 3, 4, 5, 6]

    private static let fields = [
        "flavor", "scoops", "days", "note", "go", "ask", "latest", "first", "stop", "consent",
        "when", "bold", "b1", "title", "copy", "shown", "volume", "level", "pin", "nope", "", "*",
    ]
    private static let forms = ["ice", "policies", "odd", "conditions", "nope"]
    private static let values = [
        "null", "true", "false", "0", "-1", "3", "1e15", "9223372036854775807", "0.1", "1e-15",
        "99999999999999999999", "\"\"", "\"vanilla\"", "\"a\"", "\"b\"", "[]", "[\"mon\",\"wed\"]",
        "[\"mon\",\"mon\"]", "{}", "{\"month\":\"feb\"}", "{\"day\":3}", "\"\\u0000\"",
        "\"\u{1F469}\u{200D}\u{1F52C}\"", "[[[[[[]]]]]]",
    ]
    private static let tokens = [
        "\"\"", "\"3f9a.1:0\"", "\"3f9a.1:9\"", "\"3f9a.1:9223372036854775807\"",
        "\"3f9a.1:18446744073709551615\"", "\"3f9a.1:0+2+4+6\"", "\"ffff.9:1\"", "\"x\"", "7",
    ]

    /// Edits that a form usually accepts.
    private static let good = [
        #""ice","changes":[{"field":"scoops","increment":1}]"#,
        #""ice","changes":[{"field":"scoops","increment":-1},{"field":"flavor","move":"next","wraps":true}]"#,
        #""ice","changes":[{"field":"scoops","value":4}]"#,
        #""ice","changes":[{"field":"days","add":["wed"]}]"#,
        #""ice","changes":[{"field":"days","remove":["mon","wed"]}]"#,
        #""ice","changes":[{"field":"flavor","reset":true},{"field":"go","press":true}]"#,
        #""policies","changes":[{"field":"ask","value":"b"}]"#,
        #""policies","changes":[{"field":"ask","value":"c"},{"field":"stop","toggle":true}]"#,
        #""policies","changes":[{"field":"latest","move":"next","wraps":true}]"#,
        #""policies","changes":[{"field":"first","value":"c"}]"#,
        #""odd","changes":[{"field":"when","value":{"month":"feb","day":2}}]"#,
        #""odd","changes":[{"field":"when","value":{"month":"jan"}},{"field":"bold","toggle":true}]"#,
        #""odd","changes":[{"field":"volume","increment":0.3},{"field":"copy","value":"x"}]"#,
        #""odd","changes":[{"field":"pin","value":"1234"}]"#,
    ]

    /// A subscriber that checks its notifications: every revision once and in order, and at the end
    /// the same values as all others.
    private struct Watcher {
        var revisions: [String: Int64] = [:]
        var values: [String: JSON] = [:]

        mutating func see(_ frame: String, seed: UInt64) {
            guard let json = try? JSON(parsing: Array(frame.utf8)), let params = json["params"],
                let form = params["form"]?.stringValue,
                let revision = params["revision"]?.integerValue
            else { return }
            let first = params["coalesced"]?["from"]?.integerValue ?? revision
            if let last = revisions[form] {
                #expect(first == last + 1 && revision >= first, "seed \(seed): a gap in \(form)")
            }
            revisions[form] = revision
            for change in params["changes"]?.arrayValue ?? [] {
                values["\(form)/\(change["field"]?.stringValue ?? "")"] = change["value"]
            }
        }
    }

    private struct Wild {
        var random: SplitMix64

        mutating func pick<C: Collection>(_ all: C) -> C.Element where C.Index == Int {
            all[Int(random.next() % UInt64(all.count))]
        }

        mutating func change() -> String {
            let field = pick(fields)
            let actions = [
                #""value":\#(pick(values))"#, #""increment":\#(pick(values))"#, #""toggle":true"#,
                #""move":"next","wraps":true"#, #""reset":true"#, #""press":true"#,
                #""add":[\#(pick(values))]"#, #""remove":["mon"]"#,
            ]
            let own = random.next() % 8 == 0 ? #","context":\#(pick(tokens))"# : ""
            return #"{"field":"\#(field)",\#(pick(actions))\#(own)}"#
        }

        mutating func request(_ id: Int) -> String {
            let form = pick(forms)
            let key = random.next() % 6 == 0 ? #","idempotencyKey":"k\#(random.next() % 5)""# : ""
            let context = random.next() % 3 == 0 ? #","context":\#(pick(tokens))"# : ""
            let require = random.next() % 9 == 0 ? #","require":"current""# : ""
            let changes = (0..<(1 + random.next() % 3)).map { _ in change() }.joined(separator: ",")
            let set =
                #"state.set","params":{"form":"\#(form)","changes":[\#(changes)]"#
                + "\(context)\(require)\(key)}"
            let edit = #"state.set","params":{"form":\#(pick(good))\#(context)\#(key)}"#
            let all = [
                set, set, edit, edit, edit, edit, edit,
                #"state.get","params":{"form":"\#(form)","fields":["*o*"]}"#,
                #"state.subscribe","params":{"form":"\#(form)","presence":true}"#,
                #"state.subscribe","params":{"form":"\#(form)","since":{"log":"x","revision":\#(pick(values))}}"#,
                #"state.unsubscribe","params":{"form":"\#(form)"}"#,
                #"state.undo","params":{"form":"\#(form)","scope":"anyone"\#(key)}"#,
                #"state.redo","params":{"form":"\#(form)"\#(key)}"#,
                #"state.history","params":{"form":"\#(form)","limit":3}"#,
                #"presence.update","params":{"form":"\#(form)","focus":"\#(pick(fields))","draft":\#(pick(values))}"#,
                #"form.setOptions","params":{"form":"\#(form)","field":"\#(pick(fields))","options":[\#(pick(values))]}"#,
                #"form.delete","params":{"form":"\#(pick(["odd", "nope"]))"}"#,
                #"form.apply","params":{"definition":\#(pick([Forms.odd, Forms.conditions, "{}"]))\#(key)}"#,
                #"form.watch""#, #"server.status""#, #"ping""#,
                #"hello","params":{"protocol":1,"client":"w","session":"s\#(random.next() % 2)"}"#,
            ]
            let name = random.next() % 12 == 0 ? "" : #""id":\#(id),"#
            return #"{"jsonrpc":"2.0",\#(name)"method":"\#(pick(all))}"#
        }

        mutating func frame(_ id: Int) -> [UInt8] {
            var text = request(id)
            if random.next() % 10 == 0 { text = "[\(text),\(request(id + 1)),\(request(id + 2))]" }
            var bytes = Array(text.utf8)
            if random.next() % 4 == 0 {
                for _ in 0..<(1 + random.next() % 4) where !bytes.isEmpty {
                    let place = Int(random.next() % UInt64(bytes.count))
                    switch random.next() % 3 {
                    case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                    case 1: bytes.remove(at: place)
                    default: bytes.insert(UInt8(ascii: "\""), at: place)
                    }
                }
            }
            return Frame.encode(text: bytes)
        }
    }

    @Test("nothing that clients send harms a bystander or grows the daemon", arguments: seeds)
    func storm(seed: UInt64) throws {
        var limits = Limits()
        limits.changeLogBytesMax = 16 << 10
        limits.answerBytesMax = 16 << 10
        let host = try EngineHost(
            durability: seed % 3 == 0 ? .interval : .commit, limits: limits, seed: seed)
        var talk = try Conversation(host: host)
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":"*"}
            root> form.apply {"definition":@policies}
            root< {"result":"*"}
            root> form.apply {"definition":{"form":"still","fields":[{"id":"n","type":"text"}]}}
            root< {"result":"*"}
            """#)
        var watchers = [Watcher(), Watcher()]
        let watching = [
            host.connect(uid: 5001, user: "quick"), host.connect(uid: 5002, user: "lazy"),
        ]
        for id in watching {
            for form in ["ice", "policies"] {
                host.ask(
                    id,
                    #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"\#(form)"}}"#
                )
            }
            _ = host.take(id)
        }
        var wild = Wild(random: SplitMix64(seed: seed))
        var clients: [ConnectionID] = []
        let rounds = Int(Self.number("ENGINE_ROUNDS") ?? 1500)
        for round in 0..<rounds {
            if clients.count < 6 || wild.random.next() % 50 == 0 {
                clients.append(
                    host.connect(uid: UInt32(wild.random.next() % 3) * 900, user: "w\(round)"))
            }
            let client = wild.pick(clients)
            host.sendBytes(client, wild.frame(round))
            switch wild.random.next() % 24 {
            case 0: host.holdsCommits.toggle()
            case 1: host.holdsFetches.toggle()
            case 2: host.disconnect(client)
            case 3: host.stopped.insert(client)
            case 4: host.resumeReading(client)
            case 5: if host.holdsCommits { host.failCommit(isWritten: wild.random.next() % 2 == 0) }
            case 6: host.pass(milliseconds: Int64(wild.random.next() % 2000))
            case 7: host.sendBytes(client, [0xff, 0, 0, 0, 1])
            case 8: host.answerFetches()
            case 9 where round % 5 == 0: host.run(.endOfStream(client))
            default: if wild.random.next() % 2 == 0 { host.settle() }
            }
            if !host.holdsCommits { host.commit() }
            for id in clients { _ = host.take(id) }
            if round % 40 == 0 { host.stopped.insert(watching[1]) }
            if round % 40 == 30 { host.resumeReading(watching[1]) }
            for (place, id) in watching.enumerated() {
                for frame in host.take(id) { watchers[place].see(frame, seed: seed) }
            }
        }
        host.resumeReading(watching[1])
        host.holdsCommits = false
        host.holdsFetches = false
        host.commit()
        host.answerFetches()
        host.pass(milliseconds: 5000)
        for (place, id) in watching.enumerated() {
            for frame in host.take(id) { watchers[place].see(frame, seed: seed) }
        }
        #expect(watchers[0].revisions == watchers[1].revisions, "seed \(seed)")
        #expect(watchers[0].values == watchers[1].values, "seed \(seed)")
        try talk.play(
            #"""
            connect still uid=5000
            still> state.subscribe {"form":"still"}
            still< {"result":{"revision":1,"resumed":false}}
            still> state.set {"form":"still","changes":[{"field":"n","value":"x"}]}
            still< {"result":{"revision":2}}
            still< {"params":{"revision":2}}
            still> state.get {"form":"ice"}
            still< {"result":{"revision":"$r"}}
            """#)
        let revision = talk.variables["r"]?.integerValue ?? 0
        #expect(revision > 10, "seed \(seed): hardly anything happened")
        for client in clients { host.disconnect(client) }
        #expect(host.engine.connections.count == 4, "seed \(seed)")
        #expect(host.engine.statusLine.contains("4 connections, 5 subscriptions"), "seed \(seed)")
        #expect(host.engine.link.fetches.isEmpty && host.engine.link.awaitingCommit.isEmpty)
        #expect(host.engine.registry.catalog.watchers.isEmpty)
        #expect(host.engine.effects.cutOffs.isEmpty)
        for form in host.engine.forms {
            #expect(form.subscriptions.allSatisfy { $0.form === form }, "seed \(seed)")
            #expect(form.working.revision == form.committed.revision, "seed \(seed)")
            #expect(form.changeLog.next == form.committed.revision + 1, "seed \(seed)")
        }
        // Everything that was durable is there and unchanged.
        let before = host.ask(
            ConnectionID(1),
            #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"ice"}}"#)
        try host.crash()
        let root = host.connect(uid: 0, user: "root")
        let after = host.ask(
            root, #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"ice"}}"#)
        #expect(before == after, "seed \(seed)")
    }

    @Test("a thousand batches behind a commit are answered without deep recursion")
    func manyBatches() throws {
        let host = try EngineHost()
        var talk = try Conversation(host: host)
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":"*"}
            hold
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
            root> state.get {"form":"ice"}
            """#)
        let frame = Frame.encode(text: Array(#"[{"jsonrpc":"2.0","method":"ping"}]"#.utf8))
        for _ in 0..<20 {
            host.sendBytes(ConnectionID(1), (0..<1000).flatMap { _ in frame })
        }
        host.holdsCommits = false
        host.commit()
        host.settle()
        #expect(host.take(ConnectionID(1)).count == 2)
    }

    @Test("a batch is answered in one frame that a client takes; the rest of it is a limit")
    func bigBatch() throws {
        let host = try EngineHost()
        var talk = try Conversation(host: host)
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":"*"}
            """#)
        let one = #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"ice"}}"#
        let all = Array(repeating: one, count: 1000).joined(separator: ",")
        let frames = host.ask(ConnectionID(1), "[\(all)]")
        #expect(frames.count == 1)
        #expect(frames[0].utf8.count <= 1 << 20)
        #expect(frames[0].contains("answerBytesMax"))
    }

    @Test("peers that come and go cost a bounded amount, though somebody reads nothing")
    func presenceIsBounded() throws {
        let host = try EngineHost()
        var talk = try Conversation(host: host)
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":"*"}
            connect slow
            slow> state.subscribe {"form":"ice","presence":true}
            slow< {"result":"*"}
            slow< {"method":"presence.changed"}
            stop slow
            """#)
        let subscribe =
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"ice","presence":true}}"#
        for _ in 0..<1200 {
            let id = host.connect()
            host.ask(id, subscribe)
            host.disconnect(id)
        }
        host.resumeReading(ConnectionID(2))
        #expect(host.take(ConnectionID(2)).last?.contains("\"slow\"") ?? false)
        #expect(host.closed.contains(ConnectionID(2)))
    }
}
