import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields = """
    {"id":"target","type":"picker","options":["test","prod","lab"],"onConflict":"ask"},
    {"id":"count","type":"stepper","min":0,"max":100000},{"id":"note","type":"text"}
    """

/// The worked examples of the manual that need a log or a backup; those of joins alone are in
/// `JoinTests`.
@Suite("Worked examples of a fleet")
struct FleetExampleTests {
    @Test("1: with onConflict ask both values stay until somebody chooses one")
    func ask() throws {
        let world = try LinkedFleet(hosts: 3, seed: 11)
        world.apply(fields)
        #expect(try world.settle() == nil)
        for (host, value) in zip(world.hosts, ["prod", "test"]) {
            world.cut(host)
            host.set(Change(field: "target", .value(.string(value))))
        }
        #expect(try world.settle() == nil)
        for host in world.hosts { #expect(try conflict(host) == 1) }
        world.hosts[2].set(Change(field: "target", .value("lab")))
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(try conflict(host) == 0)
            #expect(host.value("target") == "lab")
        }
    }

    /// How many values of `target` are concurrent with the current one.
    private func conflict(_ host: FleetHost) throws -> Int {
        let state = try #require(host.engine.engine.form(named: "shared")).committed
        return state.field(try #require(state.definition.index(of: "target"))).conflict.count
    }

    @Test("1: with the policy latest every history has both edits, also the one that lost")
    func latest() throws {
        let world = try LinkedFleet(hosts: 3, seed: 12)
        world.apply(fields)
        #expect(try world.settle() == nil)
        for (host, value) in zip(world.hosts, ["first", "second"]) {
            world.cut(host)
            host.set(Change(field: "note", .value(.string(value))))
            world.pass(milliseconds: 10)
        }
        #expect(try world.settle() == nil)
        for host in world.hosts {
            let told = host.engine.call(
                host.root, .stateHistory(StateHistory(form: "shared", field: "note")))
            let answer = try #require(told.first { $0.contains("entries") })
            let json = try #require(try JSON(parsing: Array(answer.utf8))["result"])
            let page = try HistoryPage(decoding: json)
            func set(by name: String) -> [JSON?] {
                page.entries.filter { $0.kind == "set" && $0.by?.host == name }.flatMap { entry in
                    entry.changes.map { $0.lost ?? $0.value }
                }
            }
            #expect(set(by: "h0") == ["first"])
            #expect(set(by: "h1") == ["second"])
            #expect(page.entries.filter { $0.changes.contains { $0.lost != nil } }.count <= 1)
        }
    }

    @Test("two definitions that met are shown on every host until the next one is applied")
    func metDefinitions() throws {
        let world = try LinkedFleet(hosts: 3, seed: 13)
        let longer = fields + #",{"id":"extra","type":"text"}"#
        let own = #",{"id":"own","type":"text"}"#
        world.apply(fields)
        #expect(try world.settle() == nil)
        // The same at the same time does not conflict.
        for (both, number) in [(true, 0), (false, 1)] {
            for host in world.hosts[..<2] {
                world.cut(host)
                let file = both ? longer : host.index == 0 ? fields : longer + own
                world.apply(file, on: host.index)
                world.pass(milliseconds: 10)
            }
            #expect(try world.settle() == nil)
            for host in world.hosts {
                let form = try #require(host.engine.engine.form(named: "shared"))
                #expect(form.committed.otherDefinitions.count == number)
                #expect(form.committed.definition.index(of: "own") != nil || both)
                let status = host.engine.call(host.root, .serverStatus).joined()
                #expect(status.contains(#""otherDefinitions":[{"by""#) == !both)
                let shown = host.engine.call(host.root, .formGet(form: "shared")).joined()
                #expect(shown.contains(#""host":"h0""#) == !both)
                #expect(
                    host.engine.log.contains { $0.message.contains("two definitions met") }
                        == !both)
            }
        }
        // Also the one that is in force replaces both.
        world.apply(longer + own, on: 2)
        #expect(try world.settle() == nil)
        for host in world.hosts {
            let form = try #require(host.engine.engine.form(named: "shared"))
            #expect(form.committed.otherDefinitions.isEmpty)
        }
    }

    @Test("2: increments go with the value that they were added to, where another has replaced it")
    func replaced() throws {
        let world = try LinkedFleet(hosts: 3, seed: 22)
        world.apply(fields)
        world.hosts[0].set(Change(field: "count", .value(50)))
        #expect(try world.settle() == nil)
        for host in world.hosts { world.cut(host) }
        world.hosts[0].set(Change(field: "count", .increment(DecimalNumber(10))))
        world.hosts[1].set(Change(field: "count", .increment(DecimalNumber(5))))
        world.hosts[2].set(Change(field: "count", .value(0)))
        #expect(try world.settle() == nil)
        for host in world.hosts { #expect(host.value("count") == 0) }
    }

    @Test("5: the server loses its last messages and gives their numbers again: nothing is lost")
    func lostTail() throws {
        let world = try LinkedFleet(hosts: 3, seed: 55)
        world.apply(fields)
        #expect(try world.settle() == nil)
        for _ in 0..<50 {
            world.increment(world.hosts[1])
            try world.rest()
        }
        world.stream.forgetTail(50)
        for host in world.hosts { world.cut(host) }
        // Only b and c are back, and take the numbers that a has read already.
        for _ in 0..<60 { world.increment(world.hosts[1]) }
        for host in world.hosts.dropFirst() { host.comeUp() }
        try world.rest()
        #expect(try world.settle(seconds: 12) == nil)
        for host in world.hosts { #expect(host.value("count") == 110) }
    }

    @Test("6: a host that is put back to a backup gets its own edits from the log")
    func backup() throws {
        let world = try LinkedFleet(seed: 66)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let backup = world.hosts[1].engine.store
        world.increment(world.hosts[1])
        world.increment(world.hosts[0])
        #expect(try world.settle() == nil)
        world.cut(world.hosts[1])
        world.hosts[1].set(Change(field: "note", .value("never sent")))
        try world.restore(1, from: backup)
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(host.value("count") == 2)
            #expect(host.value("note") == "", "what was not sent is lost, and nothing else")
        }
    }

    /// Two hosts that made the form before they were linked.
    private func lives() throws -> LinkedFleet {
        let world = try LinkedFleet(seed: 99)
        world.apply(fields)
        world.apply(fields + #",{"id":"extra","type":"text"}"#, on: 1)
        for (host, count) in zip(world.hosts, [3, 4]) {
            for _ in 0..<count { world.increment(host) }
        }
        world.hosts[0].set(Change(field: "note", .value("a")))
        world.hosts[1].set(Change(field: "extra", .value("b")))
        for host in world.hosts { host.comeUp() }
        try world.rest()
        // Both go on while nobody has decided.
        world.increment(world.hosts[0])
        world.increment(world.hosts[1])
        try world.rest()
        #expect(world.hosts.map { $0.value("count") } == [4, 5])
        return world
    }

    private func link(_ host: FleetHost, _ how: FormLinking.How?) -> String {
        host.engine.call(host.root, .formLink(FormLinking(form: "shared", how: how))).joined()
    }

    @Test(
        "9: of two forms of one name each host keeps its own until somebody chooses",
        arguments: FormLinking.How.allCases)
    func twoForms(how: FormLinking.How) throws {
        let world = try lives()
        let (a, b) = (world.hosts[0], world.hosts[1])
        let status = a.engine.call(a.root, .serverStatus).joined()
        #expect(status.contains("another host has another form of that name"), "\(status)")
        #expect(link(a, nil).contains("conflict"))
        let answer = link(a, how)
        #expect(answer.contains(#""result""#), "\(answer)")
        world.increment(b)
        #expect(try world.settle() == nil)
        // b's last increment is concurrent with the decision. With `ours` it goes with the number
        // that it was added to.
        let count: JSON = how == .merge ? 10 : how == .ours ? 4 : 6
        for host in world.hosts {
            #expect(host.value("count") == count)
            #expect(host.value("note") == (how == .theirs ? "" : "a"))
            #expect((host.value("extra") == nil) == (how == .ours), "the definition")
        }
        #expect(a.value("extra") == (how == .ours ? nil : "b"))
        let after = a.engine.call(a.root, .serverStatus).joined()
        #expect(!after.contains("another form"), "\(after)")
        // One form from here on, also for who applies a definition.
        world.apply(fields + #",{"id":"later","type":"text"}"#, on: 1)
        world.increment(a)
        #expect(try world.settle() == nil)
        #expect(a.value("later") == "")
        #expect(link(b, nil).contains(#""result""#), "there is only one")
    }

    @Test("9: both decide at once, and have the same")
    func bothDecide() throws {
        for first in FormLinking.How.allCases {
            for second in FormLinking.How.allCases {
                let world = try lives()
                let answers = [link(world.hosts[0], first), link(world.hosts[1], second)]
                #expect(answers.allSatisfy { $0.contains(#""result""#) }, "\(answers)")
                #expect(try world.settle() == nil, "\(first), \(second)")
                for host in world.hosts { #expect(link(host, nil).contains(#""result""#)) }
            }
        }
    }

    @Test("9: of two forms of one name one is deleted: the other is the one of the fleet")
    func otherDeleted() throws {
        let world = try lives()
        world.hosts[0].delete()
        #expect(try world.settle() == nil)
        for host in world.hosts { #expect(host.value("count") == 5) }
        world.increment(world.hosts[0])
        #expect(try world.settle() == nil)
        #expect(world.hosts[1].value("count") == 6)
        for host in world.hosts { try host.killDaemon() }
        #expect(try world.settle() == nil)
        #expect(world.hosts[0].value("count") == 6)
    }

    @Test("a form that is unlinked is its host's alone, until it is linked again")
    func unlinked() throws {
        let world = try LinkedFleet(seed: 12)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let (a, b) = (world.hosts[0], world.hosts[1])
        let answer = b.engine.call(b.root, .formUnlink(form: "shared")).joined()
        #expect(answer.contains(#""result""#), "\(answer)")
        world.increment(a)
        b.set(Change(field: "note", .value("alone")))
        try world.rest()
        try b.killDaemon()
        b.comeUp()
        try world.rest()
        #expect(a.value("note") == "" && b.value("count") == 0)
        #expect(link(b, nil).contains(#""result""#))
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(host.value("count") == 1 && host.value("note") == "alone")
        }
    }

    @Test("an unlinked form that is deleted is deleted here alone, and the fleet's takes its place")
    func unlinkedDeleted() throws {
        let world = try LinkedFleet(seed: 13)
        world.apply(fields)
        world.increment(world.hosts[0])
        #expect(try world.settle() == nil)
        let (a, b) = (world.hosts[0], world.hosts[1])
        b.engine.call(b.root, .formUnlink(form: "shared"))
        world.increment(b)
        b.delete()
        #expect(try world.settle() == nil)
        #expect(a.value("count") == 1 && b.value("count") == 1)
        world.increment(b)
        #expect(try world.settle() == nil)
        #expect(a.value("count") == 2)
    }

    @Test("10: an edit that requires what is current succeeds, and meets what nobody here had seen")
    func unseen() throws {
        let world = try LinkedFleet(seed: 10)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let (a, b) = (world.hosts[0], world.hosts[1])
        world.cut(b)
        b.set(Change(field: "target", .value("prod")))
        let form = try #require(a.engine.engine.form(named: "shared"))
        let answer = a.engine.call(
            a.root,
            .stateSet(
                StateSet(
                    form: "shared", changes: [Change(field: "target", .value("lab"))],
                    context: form.committed.token, requireCurrent: true))
        ).joined()
        #expect(answer.contains(#""result""#), "\(answer)")
        #expect(try world.settle() == nil)
        for host in world.hosts { #expect(try conflict(host) == 1) }
    }
}
