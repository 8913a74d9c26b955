import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// Forms that several hosts share: what one host did becomes a revision on the others.
@Suite("Joins of a shared form") struct JoinTests {
    /// Two hosts or more that share `shared`.
    final class Fleet {
        let hosts: [EngineHost]
        let roots: [ConnectionID]

        init(_ fields: String, hosts count: Int = 2) throws {
            hosts = try (0..<count).map { place in
                try EngineHost(
                    seed: UInt64(place + 1), replica: ReplicaID(id: UInt64(0xa + place), epoch: 1),
                    link: LinkConfiguration(host: "h\(place)", forms: [Glob("shared")]))
            }
            roots = hosts.map { $0.connect(uid: 0, user: "root") }
            apply(fields, 0)
            try exchange()
            // The second host has the form now, and tells a whole once.
            try exchange()
        }

        func apply(_ fields: String, _ place: Int) {
            hosts[place].ask(
                roots[place],
                #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                    + #"{"form":"shared","fields":[\#(fields)]}}}"#)
        }

        @discardableResult
        func set(_ field: String, _ value: JSON, _ place: Int, user: String = "root") -> [String] {
            let client = hosts[place].connect(uid: user == "root" ? 0 : 1000, user: user)
            defer { hosts[place].disconnect(client) }
            return hosts[place].call(
                client,
                .stateSet(
                    StateSet(
                        form: "shared", changes: [Change(field: field, .value(value))],
                        context: nil)))
        }

        /// Everybody hears what is new at everybody; returns what became of each item by host.
        @discardableResult
        func exchange() throws -> [[JoinOutcome]] {
            let items = try hosts.map { try $0.engine.takeShared() }
            return try hosts.indices.map { place in
                let heard = items.indices.filter { $0 != place }.flatMap { items[$0] }
                defer { hosts[place].settle() }
                return hosts[place].join(try heard.map { try $0.travelled })
            }
        }

        func form(_ place: Int) throws -> FormState {
            try #require(hosts[place].engine.form(named: "shared")).committed
        }

        func field(_ id: String, _ place: Int) throws -> FieldState {
            let state = try form(place)
            let index = try #require(state.definition.index(of: id))
            var field = state.field(index)
            // A state that is not read from the wire has the author as text.
            field.by = state.cells[index].by?.wire
            return field
        }

        func agree() -> Bool {
            Set(hosts.map { $0.engine.digest(of: "shared") }).count == 1
        }
    }

    static let target = #"{"id":"target","type":"text"}"#
    static let note = #"{"id":"note","type":"text"}"#
    static let traffic = #"{"id":"traffic","type":"stepper","min":0,"max":1000}"#

    @Test("a form of one host is made on another, and an edit is one revision with its host")
    func edit() throws {
        let fleet = try Fleet(Self.target)
        #expect(try fleet.form(1).revision == 1)
        fleet.set("target", .string("prod"), 0, user: "alice")
        let before = fleet.hosts[1].connect(uid: 0)
        fleet.hosts[1].call(before, .stateSubscribe(StateSubscribe(form: "shared", since: nil)))
        _ = fleet.hosts[1].take(before)
        #expect(try fleet.exchange()[1] == [.joined])
        let told = fleet.hosts[1].take(before)
        #expect(told.count == 1 && told[0].contains(#""host":"h0""#), "\(told)")
        let field = try fleet.field("target", 1)
        #expect(field.value == .string("prod") && field.by?.user == "alice" && field.revision == 2)
        #expect(fleet.agree())
    }

    @Test("what is known makes no revision")
    func known() throws {
        let fleet = try Fleet(Self.target)
        fleet.set("target", .string("prod"), 0)
        let items = try fleet.hosts[0].engine.takeShared()
        #expect(fleet.hosts[1].join(items) == [.joined])
        fleet.hosts[1].settle()
        #expect(fleet.hosts[1].join(items) == [.known])
        let whole = try #require(fleet.hosts[0].engine.whole(of: "shared"))
        #expect(fleet.hosts[1].join([.whole(whole)]) == [.known])
        fleet.hosts[1].settle()
        #expect(try fleet.form(1).revision == 2)
    }

    @Test("1: concurrent sets have one value on all hosts, and both sides are told of both")
    func concurrent() throws {
        let fleet = try Fleet(Self.target)
        fleet.set("target", .string("prod"), 0, user: "alice")
        fleet.hosts[1].pass(milliseconds: 1_000)
        fleet.set("target", .string("test"), 1, user: "bob")
        let clients = fleet.hosts.map { host in
            let client = host.connect(uid: 0)
            host.call(client, .stateSubscribe(StateSubscribe(form: "shared", since: nil)))
            _ = host.take(client)
            return client
        }
        try fleet.exchange()
        for (place, client) in clients.enumerated() {
            let told = fleet.hosts[place].take(client)
            #expect(told.count == 1)
            #expect(told.allSatisfy { $0.contains("alice") && $0.contains("bob") }, "\(told)")
            let field = try fleet.field("target", place)
            #expect(field.value == .string("test") && field.by?.user == "bob")
            #expect(try fleet.form(place).revision == 3)
        }
        #expect(fleet.agree())
    }

    @Test("2: increments of hosts that are cut off all count")
    func increments() throws {
        let fleet = try Fleet(Self.traffic)
        fleet.set("traffic", .integer(50), 0)
        try fleet.exchange()
        for (place, amount) in [10, 5].enumerated() {
            fleet.hosts[place].call(
                fleet.roots[place],
                .stateSet(
                    StateSet(
                        form: "shared",
                        changes: [
                            Change(field: "traffic", .increment(DecimalNumber(Int64(amount))))
                        ], context: nil)))
        }
        try fleet.exchange()
        #expect(try fleet.field("traffic", 0).value == .integer(65))
        #expect(try fleet.field("traffic", 1).value == .integer(65) && fleet.agree())
    }

    @Test("3: a write to a field that another host removes waits until a definition has it again")
    func attic() throws {
        let fleet = try Fleet(Self.target + "," + Self.note, hosts: 3)
        fleet.apply(Self.target, 0)
        fleet.set("note", .string("kept"), 1)
        try fleet.exchange()
        for place in 0..<3 { #expect(try fleet.form(place).definition.index(of: "note") == nil) }
        #expect(fleet.agree())
        try fleet.hosts[1].crash()
        let root = fleet.hosts[1].connect(uid: 0)
        fleet.hosts[1].ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"shared","fields":[\#(Self.target),\#(Self.note)]}}}"#)
        try fleet.exchange()
        for place in 0..<3 { #expect(try fleet.field("note", place).value == .string("kept")) }
        fleet.apply(Self.target, 2)
        try fleet.exchange()
        fleet.apply(Self.target + "," + Self.note, 0)
        try fleet.exchange()
        for place in 0..<3 { #expect(try fleet.field("note", place).isSet == false) }
        #expect(fleet.agree())
    }

    @Test("4: a write to a field that another host gives another id is shown under that id")
    func renamed() throws {
        let fleet = try Fleet(Self.note)
        fleet.apply(#"{"id":"remark","type":"text","was":"note"}"#, 0)
        fleet.set("note", .string("text"), 1)
        try fleet.exchange()
        for place in 0..<2 { #expect(try fleet.field("remark", place).value == .string("text")) }
        // A new control with the old id is another one.
        fleet.apply(#"{"id":"remark","type":"text"},"# + Self.note, 1)
        try fleet.exchange()
        for place in 0..<2 {
            #expect(try fleet.field("note", place).isSet == false)
            #expect(try fleet.field("remark", place).value == .string("text"))
        }
        #expect(fleet.agree())
    }

    @Test("7: the same definition applied on all hosts at once changes nothing")
    func sameDefinition() throws {
        let fleet = try Fleet(Self.note, hosts: 3)
        for place in 0..<3 { fleet.apply(Self.note + "," + Self.target, place) }
        let versions = try (0..<3).map { try fleet.form($0).version }
        try fleet.exchange()
        #expect(try (0..<3).map { try fleet.form($0).version } == versions)
        #expect(fleet.agree())
    }

    @Test("8: a press on each of two hosts is two presses, each told once")
    func presses() throws {
        let fleet = try Fleet(#"{"id":"deploy","type":"button"}"#)
        for place in 0..<2 {
            fleet.hosts[place].call(
                fleet.roots[place],
                .stateSet(
                    StateSet(
                        form: "shared", changes: [Change(field: "deploy", .press)], context: nil)))
        }
        try fleet.exchange()
        for place in 0..<2 {
            #expect(try fleet.field("deploy", place).value["presses"] == 2)
            #expect(try fleet.form(place).revision == 3)
        }
    }

    @Test("9: a form that was made on two hosts independently is held")
    func twoLives() throws {
        let fleet = try Fleet(Self.note)
        let third = try EngineHost(
            seed: 9, replica: ReplicaID(id: 0xf, epoch: 1),
            link: LinkConfiguration(host: "h9", forms: [Glob("*")]))
        let root = third.connect(uid: 0)
        third.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"shared","fields":[\#(Self.note)]}}}"#)
        let whole = try #require(fleet.hosts[0].engine.whole(of: "shared"))
        let outcome = third.join([.whole(whole)], cursor: [1])
        guard case .held(let why) = outcome[0] else {
            Issue.record("\(outcome)")
            return
        }
        #expect(why.contains("another form of that name"))
        third.settle()
        #expect(third.engine.linkCursor == nil, "the cursor waits with the form")
    }

    @Test("the cursor is durable in the batch of the joins")
    func cursor() throws {
        let fleet = try Fleet(Self.note)
        fleet.set("note", .string("a"), 0)
        let items = try fleet.hosts[0].engine.takeShared()
        let host = fleet.hosts[1]
        host.holdsCommits = true
        #expect(host.join(items, cursor: [7]) == [.joined])
        host.settle()
        #expect(host.engine.linkCursor == nil)
        try host.crash()
        #expect(host.engine.linkCursor == nil)
        host.holdsCommits = false
        #expect(host.join(items, cursor: [7]) == [.joined])
        host.settle()
        #expect(host.engine.linkCursor == [7])
        try host.crash()
        #expect(host.engine.linkCursor == [7])
        #expect(try fleet.field("note", 1).value == .string("a"))
    }

    @Test("nothing that is not durable is told to other hosts")
    func durable() throws {
        let fleet = try Fleet(Self.note)
        let host = fleet.hosts[0]
        host.holdsCommits = true
        fleet.set("note", .string("a"), 0)
        #expect(try host.engine.takeShared().isEmpty)
        host.commit()
        #expect(try host.engine.takeShared().count == 1)
        fleet.set("note", .string("b"), 0)
        host.failCommit()
        host.settle()
        let items = try host.engine.takeShared()
        guard case .whole? = items.first, items.count == 1 else {
            Issue.record("\(items)")
            return
        }
    }

    @Test("a change that is not durable when the whole form is taken is told afterwards")
    func underWay() throws {
        let fleet = try Fleet(Self.note)
        let host = fleet.hosts[0]
        try host.crash()
        host.holdsCommits = true
        let client = host.connect(uid: 0)
        host.call(
            client,
            .stateSet(
                StateSet(
                    form: "shared", changes: [Change(field: "note", .value(.string("a")))],
                    context: nil)))
        try fleet.exchange()
        #expect(try !fleet.field("note", 1).isSet)
        host.holdsCommits = false
        host.commit()
        host.settle()
        try fleet.exchange()
        #expect(try fleet.field("note", 1).value == .string("a") && fleet.agree())
    }

    @Test("a store that was copied takes a replica with another id before the next edit")
    func copiedStore() throws {
        let fleet = try Fleet(Self.note)
        let copy = fleet.hosts[0].store
        fleet.set("note", .string("a"), 0)
        let items = try fleet.hosts[0].engine.takeShared()
        let twin = try EngineHost(
            seed: 7, replica: fleet.hosts[0].replica, copyOf: copy,
            link: LinkConfiguration(host: "h0", forms: [Glob("shared")]))
        twin.settle()
        let before = twin.replica
        #expect(twin.join(items) == [.notNow])
        twin.settle()
        #expect(twin.replica.id != before.id && twin.engine.replica == twin.replica)
        #expect(twin.join(items) == [.joined])
        twin.settle()
        let client = twin.connect(uid: 0)
        let answer = twin.call(
            client,
            .stateSet(
                StateSet(
                    form: "shared", changes: [Change(field: "note", .value(.string("b")))],
                    context: nil)))
        #expect(answer.contains { $0.contains(#""b""#) })
    }
}
