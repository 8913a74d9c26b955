import EngineTestKit
import Testing

@testable import SyncCore

/// Requests that are cheap once: what they leave behind must not grow when they are repeated.
@Suite struct RepeatedRequestTests {
    private let host: EngineHost
    private let root: ConnectionID

    init() throws {
        host = try EngineHost()
        root = host.connect(uid: 0, user: "root")
    }

    private var form: LiveForm? { host.engine.form(named: "f") }

    private func apply(_ fields: [String]) {
        let answer = host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[\#(fields.joined(separator: ","))]}}}"#
        )
        #expect(answer.contains { $0.contains(#""result""#) }, "\(answer)")
    }

    /// An edit by a new connection that has seen nothing.
    private func edit(_ change: String) {
        let stranger = host.connect(uid: 1000, user: "alice")
        let answer = host.ask(
            stranger,
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","context":"","changes":[{"field":"m",\#(change)}]}}"#
        )
        #expect(answer.first?.contains(#""result""#) == true, "\(answer)")
        host.disconnect(stranger)
    }

    private func tags() throws -> AddWinsSet {
        guard case .tags(let set)? = form?.committed.cells[0].content.store else {
            throw WireError(.internal, "no set of tags")
        }
        return set
    }

    // MARK: - Tags

    @Test("a set of tags does not grow with writers who have seen nothing")
    func additions() throws {
        apply([#"{"id":"m","type":"picker","multiple":true,"options":["a","b","c"]}"#])
        for round in 0..<20 {
            edit(round.isMultiple(of: 2) ? #""value":["a","b"]"# : #""value":["b","c"]"#)
        }
        let set = try tags()
        #expect(set.tags == [.string("a"), .string("b"), .string("c")])
        #expect(set.entries.allSatisfy { $0.dots.count == AddWinsSet.additionsMax }, "\(set)")
        #expect(set.marks.count == AddWinsSet.additionsMax)
    }

    @Test("removals by somebody who has not seen the tag leave it, and no trace of each")
    func removals() throws {
        apply([#"{"id":"m","type":"picker","multiple":true,"options":["a","b"]}"#])
        edit(#""value":["a","b"]"#)
        for _ in 0..<20 { edit(#""remove":["a"]"#) }
        let set = try tags()
        #expect(set.tags == [.string("a"), .string("b")])
        #expect(set.marks.count == AddWinsSet.additionsMax)
    }

    @Test("the newest additions of a replica stay, and all of other replicas")
    func newest() {
        let other = ReplicaID(id: 1, epoch: 1)
        let own = ReplicaID(id: 2, epoch: 1)
        var set = AddWinsSet()
        let nothing = Seen.context(CausalContext())
        for counter in 1...6 as ClosedRange<UInt64> {
            set.assign([.integer(1)], dot: Dot(other, counter), seen: nothing)
        }
        for counter in 1...6 as ClosedRange<UInt64> {
            set.edit(add: [.integer(1)], remove: [], dot: Dot(own, counter), seen: nothing)
        }
        let newest = (3...6 as ClosedRange<UInt64>)
        let kept = newest.map { Dot(other, $0) } + newest.map { Dot(own, $0) }
        #expect(set.additions(of: .integer(1)) == kept.sorted())
        #expect(set.marks == kept.sorted())
    }

    // MARK: - Names

    @Test("definitions with ever new ids do not add to the names of a form")
    func names() throws {
        let watcher = host.connect(uid: 1000, user: "alice")
        apply([#"{"id":"a","type":"toggle"}"#, #"{"id":"b","type":"toggle"}"#])
        host.ask(
            watcher,
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","fields":["a*"]}}"#
        )
        for round in 0..<12 {
            _ = host.take(watcher)
            let fresh = (0..<1_000).map { #"{"id":"x\#(round)-\#($0)","type":"toggle"}"# }
            apply([#"{"id":"b","type":"toggle"}"#] + fresh + [#"{"id":"a","type":"toggle"}"#])
            #expect(try #require(form).names.count <= FieldNames.goneMax + 3 * 1_002)
            // The filter knows the new numbers.
            for field in ["b", "a", "x\(round)-0"] {
                host.ask(
                    root,
                    #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","changes":[{"field":"\#(field)","toggle":true}]}}"#
                )
            }
            let told = host.take(watcher)
            #expect(told.count == 2, "\(told.map { $0.prefix(120) })")
            #expect(told.first?.contains(#""method":"form.changed""#) == true)
            #expect(told.last?.contains(#""field":"a","#) == true)
        }
    }

    @Test("progress that was told before the names get other numbers is told to a later watcher")
    func namesOfProgress() throws {
        func ask(_ id: ConnectionID, _ method: String, _ params: String) -> [String] {
            host.ask(id, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
        }
        let button = #"{"id":"go","type":"button","runs":"one"}"#
        apply([#"{"id":"a","type":"toggle"}"#, button])
        let handler = host.connect(uid: 0, user: "root")
        _ = ask(handler, "button.handle", #"{"form":"f","fields":["go"]}"#)
        _ = ask(root, "state.set", #"{"form":"f","changes":[{"field":"go","press":true}]}"#)
        let assigned = try #require(host.take(handler).last { $0.contains("button.assigned") })
        let run = try #require(try JSON(parsing: assigned)["params"])
        let (press, ticket) = (try #require(run["press"]), try #require(run["ticket"]))
        _ = ask(
            handler, "button.progress",
            #"{"press":\#(press.encodedText),"ticket":\#(ticket.encodedText),"text":"half"}"#)
        host.run(.iterationEnded)
        let number = form?.names.number(of: "go")
        for round in 0..<12 {
            let fresh = (0..<1_000).map { #"{"id":"x\#(round)-\#($0)","type":"toggle"}"# }
            apply(fresh + [button])
        }
        #expect(form?.names.number(of: "go") != number)
        let watcher = host.connect(uid: 1000, user: "alice")
        _ = ask(watcher, "state.subscribe", #"{"form":"f","fields":["go"]}"#)
        host.run(.iterationEnded)
        #expect(host.take(watcher).contains { $0.contains(#""text":"half""#) })
    }

    @Test("edits of a batch whose definitions change get the numbers of their own definition")
    func namesInABatch() throws {
        let watcher = host.connect(uid: 1000, user: "alice")
        for round in 0..<4 {
            apply(
                ["a", "b"].map { #"{"id":"\#($0)","type":"toggle"}"# }
                    + (0..<1_500).map { #"{"id":"x\#(round)-\#($0)","type":"toggle"}"# })
        }
        host.ask(
            watcher,
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","fields":["a"]}}"#
        )
        _ = host.take(watcher)
        let toggle = { (field: String) in
            #"{"jsonrpc":"2.0","method":"state.set","params":{"form":"f","changes":[{"field":"\#(field)","toggle":true}]}}"#
        }
        let define = { (ids: [String]) in
            let fields = ids.map { #"{"id":"\#($0)","type":"toggle"}"# }.joined(separator: ",")
            return
                #"{"jsonrpc":"2.0","method":"form.apply","params":{"definition":{"form":"f","fields":[\#(fields)]}}}"#
        }
        // One frame is one batch: the second definition has the controls in another order.
        host.send(
            root,
            "["
                + [
                    toggle("b"), toggle("a"),
                    define(["c", "b", "a"]),
                    toggle("b"), toggle("a"), toggle("c"),
                ].joined(separator: ",") + "]")
        host.settle()
        let told = host.take(watcher)
        #expect(try #require(form).names.count == 3)
        // The definition, and before and after it the changes of its field only.
        let changes = told.filter { $0.contains(#""method":"state.changed""#) }
        #expect(told.count == 3 && told[1].contains(#""method":"form.changed""#), "\(told)")
        #expect(changes.count == 2 && changes.allSatisfy { $0.contains(#"[{"field":"a","#) })
        #expect(try #require(form).committed.revision == 10)
    }

    // MARK: - Connections

    @Test("a connection forgets its writes to forms that are gone")
    func goneForms() {
        var own = OwnDotsByForm()
        let dot = Dot(ReplicaID(id: 1, epoch: 1), 1)
        for form in 1...1_000 as ClosedRange<FormKey> {
            own.insert(in: form, held: { [] }, living: { [7, form] }) { $0.insert(dot) }
        }
        #expect(own.count <= 65)
        #expect(own[7]?.contains(dot) == true && own[1_000]?.contains(dot) == true)
        #expect(own[8] == nil)
    }

    // MARK: - Presence

    @Test("many connections that come and leave at once close nobody who reads, and leave nothing")
    func crowd() throws {
        apply([#"{"id":"a","type":"toggle"}"#])
        let subscribe =
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","presence":true}}"#
        let reader = host.connect(uid: 1000, user: "alice")
        host.ask(reader, subscribe)
        for _ in 0..<3 {
            let crowd = (0..<1_500).map { _ in host.connect(uid: 1000, user: "alice") }
            host.stopped.formUnion(crowd)
            for one in crowd { host.send(one, subscribe) }
            host.settle()
            _ = host.take(reader)
            let joined = try #require(form).subscriptionCount - 1
            #expect(joined > PresenceBoard.goneMax)
            for one in crowd { host.disconnect(one) }
            host.settle()
            let told = host.take(reader).joined(separator: "\n")
            #expect(!told.contains("goodbye"))
            #expect(told.split(separator: #""gone":true"#).count - 1 == joined)
            // Those who left before this crowd are forgotten.
            #expect(try #require(form).presence.goneCount < 3_000)
        }
    }

    @Test("who comes to a form with thousands of peers is told of them in parts, of each once")
    func newcomer() throws {
        apply([#"{"id":"a","type":"toggle"}"#])
        let subscribe =
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","presence":true}}"#
        let count = 2 * PresenceBoard.peersAtOnce + 100
        let crowd = (0..<count).map { _ in host.connect(uid: 1000, user: "alice") }
        host.stopped.formUnion(crowd)
        for one in crowd { host.send(one, subscribe) }
        host.settle()
        let form = try #require(form)
        // The first is somewhere else now, and the second has left.
        host.send(
            crowd[0],
            #"{"jsonrpc":"2.0","id":2,"method":"presence.update","params":{"form":"f","focus":"a"}}"#
        )
        host.disconnect(crowd[1])
        host.settle()
        var cursor: UInt64 = 0
        var parts = 0
        while cursor < form.presence.sequence {
            var output = Output()
            form.presence.read(
                from: &cursor, form: "f", into: &output, retained: RetainedBytes())
            parts += 1
            try #require(parts <= 3)
        }
        #expect(parts == 3)
        let reader = host.connect(uid: 1000, user: "alice")
        host.ask(reader, subscribe)
        host.settle()
        let told = host.take(reader).joined(separator: "\n")
        for one in crowd.indices where one != 1 {
            let name = #""connection":\#(crowd[one].number),"#
            #expect(told.split(separator: name).count == 2, "\(one)")
        }
        #expect(told.contains(#""focus":"a""#))
    }

    @Test("long drafts of many peers are told in parts of a bounded size, each once")
    func drafts() throws {
        apply([#"{"id":"t","type":"text","maxLength":4000}"#])
        let count = 200
        let crowd = (0..<count).map { _ in host.connect(uid: 1000, user: "alice") }
        host.stopped.formUnion(crowd)
        for (number, one) in crowd.enumerated() {
            host.send(
                one,
                #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","presence":true}}"#
            )
            let draft = "\(number)," + String(repeating: "d", count: 3_900)
            host.send(
                one,
                #"{"jsonrpc":"2.0","id":2,"method":"presence.update","params":{"form":"f","focus":"t","draft":"\#(draft)"}}"#
            )
            host.settle()
        }
        let form = try #require(form)
        var cursor: UInt64 = 0
        var told = ""
        while cursor < form.presence.sequence {
            var output = Output()
            let before = cursor
            form.presence.read(
                from: &cursor, form: "f", into: &output, retained: RetainedBytes())
            try #require(cursor > before)
            #expect(output.byteCount <= PresenceBoard.bytesAtOnce + (8 << 10))
            for segment in output.segments {
                let bytes = UnsafeRawBufferPointer(start: segment.baseAddress, count: segment.count)
                told += String(decoding: bytes, as: UTF8.self)
            }
        }
        for number in 0..<count {
            #expect(told.split(separator: #""draft":"\#(number),d"#).count == 2, "\(number)")
        }
    }
}
