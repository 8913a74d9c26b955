import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields = """
    {"id":"count","type":"stepper","min":0,"max":100000},{"id":"note","type":"text"},
    {"id":"secret","type":"secure"}
    """

/// What a daemon that was killed has not published yet.
@Suite("Outbox of a fleet over a kill")
struct FleetOutboxTests {
    /// A fleet in which the log has everything.
    private func settled(seed: UInt64) throws -> LinkedFleet {
        let world = try LinkedFleet(seed: seed)
        world.apply(fields)
        #expect(try world.settle() == nil)
        try world.spend(seconds: 2)
        return world
    }

    /// How many wholes were sent because changes were missing.
    private func wholes(of host: FleetHost) -> UInt64 {
        host.engine.engine.fleet?.counters.wholes["shared"] ?? 0
    }

    /// The edits of `note` in the history of a host: where and what.
    private func history(_ host: FleetHost) throws -> [String] {
        let told = host.engine.call(
            host.root, .stateHistory(StateHistory(form: "shared", field: "note")))
        let answer = try #require(told.first { $0.contains("entries") })
        let json = try #require(try JSON(parsing: Array(answer.utf8))["result"])
        return try HistoryPage(decoding: json).entries.filter { $0.kind == "set" }.map {
            "\($0.by?.host ?? "") \($0.changes.first?.value?.stringValue ?? "")"
        }
    }

    private func unsentRows(_ host: FleetHost) -> [OngoingRow] {
        (host.engine.store.ongoing[1] ?? [:]).values.filter { $0.name.kind == "unsent" }
    }

    @Test("its edits are told one by one after the start, each by who made it")
    func steps() throws {
        let world = try settled(seed: 1)
        let host = world.hosts[0]
        world.cut(host)
        for value in ["one", "two", "three"] {
            host.set(Change(field: "note", .value(.string(value))))
        }
        world.increment(host)
        for _ in 0..<2 {
            world.sites.disconnected(0)
            try host.killDaemon()
        }
        #expect(unsentRows(host).count == 4)
        #expect(try world.settle() == nil)
        #expect(world.hosts[1].value("note") == "three" && world.hosts[1].value("count") == 1)
        #expect(try history(world.hosts[1]) == ["h0 three", "h0 two", "h0 one"])
        #expect(wholes(of: host) == 0)
        host.set(Change(field: "note", .value("four")))
        #expect(unsentRows(host).count == 1, "the log has the others")
    }

    @Test("a daemon that has told everything has nothing unsent after a start")
    func nothing() throws {
        let world = try settled(seed: 2)
        world.increment(world.hosts[0])
        world.increment(world.hosts[0])
        #expect(try world.settle() == nil)
        for host in world.hosts {
            world.sites.disconnected(host.index)
            try host.killDaemon()
        }
        #expect(try world.settle() == nil)
        for host in world.hosts { #expect(wholes(of: host) == 0) }
        #expect(world.hosts[1].value("count") == 2)
    }

    @Test("another fleet has nothing of it: the whole goes")
    func otherFleet() throws {
        let host = try settled(seed: 3).hosts[0]
        for name in ["ops", "dev"] {
            host.engine.configuration.link?.fleet = name
            try host.killDaemon()
            host.connectBridge()
            #expect(host.unsent == (name == "ops" ? 0 : 1))
        }
    }

    @Test(
        "what the store does not keep for it goes as a whole",
        arguments: ["a secret", "so many edits", "a failed commit"])
    func gap(what: String) throws {
        let world = try settled(seed: 4)
        let host = world.hosts[0]
        world.cut(host)
        host.set(Change(field: "note", .value("before")))
        switch what {
        case "a secret":
            host.set(Change(field: "secret", .value("s3cret")))
            #expect(unsentRows(host).count == 1)
        case "so many edits":
            for _ in 0..<1_100 { world.increment(host) }
            #expect(unsentRows(host).count < 1_024)
        default:
            host.engine.storeFails = true
            world.increment(host)
            host.engine.storeFails = false
            host.engine.pass(milliseconds: 1_000)
        }
        host.set(Change(field: "note", .value("after")))
        world.sites.disconnected(0)
        try host.killDaemon()
        #expect(try world.settle() == nil)
        #expect(world.hosts[1].value("note") == "after")
        #expect(world.hosts[1].value("count") == host.value("count"))
        #expect(wholes(of: host) == 1)
        // The next start is one like any other.
        try world.spend(seconds: 2)
        world.sites.disconnected(0)
        try host.killDaemon()
        #expect(try world.settle() == nil)
        #expect(wholes(of: host) == 0)
    }

    @Test("no row keeps a message that was redacted")
    func redacted() throws {
        let world = try settled(seed: 5)
        let host = world.hosts[0]
        world.cut(host)
        var edit = StateSet(form: "shared", changes: [Change(field: "note", .value("x"))])
        edit.message = "a name that must go"
        host.engine.call(host.root, .stateSet(edit))
        func isKept() -> Bool {
            unsentRows(host).contains { row in
                String(decoding: row.state, as: UTF8.self).contains("must go")
            }
        }
        #expect(isKept())
        let revision = try #require(host.engine.engine.form(named: "shared")).committed.revision
        host.engine.call(
            host.root,
            .historyRedact(HistoryRedact(form: "shared", revision: Revision(clamping: revision))))
        #expect(!isKept())
        try host.killDaemon()
        #expect(try world.settle() == nil)
        #expect(world.hosts[1].value("note") == "x")
    }
}
