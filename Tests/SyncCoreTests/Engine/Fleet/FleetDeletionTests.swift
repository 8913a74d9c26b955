import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields = """
    {"id":"count","type":"stepper","min":0,"max":100000},{"id":"note","type":"text"},
    {"id":"secret","type":"secure"}
    """

/// A shared form is deleted on one host.
@Suite("Deletion in a fleet")
struct FleetDeletionTests {
    private func settled(seed: UInt64, hosts: Int = 3) throws -> LinkedFleet {
        let world = try LinkedFleet(hosts: hosts, seed: seed)
        world.apply(fields)
        world.increment(world.hosts[0])
        world.hosts[0].set(Change(field: "secret", .value("s")))
        #expect(try world.settle() == nil)
        return world
    }

    private func isThere(_ host: FleetHost) -> Bool {
        host.engine.engine.form(named: "shared") != nil
    }

    @Test("a deleted form is deleted on all hosts, and stays deleted over kills and a lost log")
    func everywhere() throws {
        let world = try settled(seed: 1)
        let watcher = world.hosts[1].engine.connect(uid: 0)
        world.hosts[1].engine.call(
            watcher, .stateSubscribe(StateSubscribe(form: "shared", since: nil)))
        world.hosts[0].delete()
        #expect(try world.settle() == nil)
        #expect(!world.hosts.contains(where: isThere))
        let told = world.hosts[1].engine.take(watcher)
        #expect(told.contains { $0.contains("form.changed") && $0.contains("deleted") }, "\(told)")
        for host in world.hosts { try host.killDaemon() }
        #expect(try world.settle() == nil)
        world.stream.delete()
        for host in world.hosts { world.cut(host) }
        #expect(try world.settle() == nil)
        #expect(!world.hosts.contains(where: isThere))
    }

    @Test("a host that was away hears of the deletion; its edits do not bring the form back")
    func away() throws {
        let world = try settled(seed: 2)
        let away = world.hosts[2]
        world.cut(away)
        world.increment(away)
        world.hosts[0].delete()
        try world.rest()
        // The log loses the deletion, so that only those who know of it can tell.
        world.stream.forgetTail(1)
        for host in world.hosts { world.cut(host) }
        #expect(try world.settle() == nil)
        #expect(!world.hosts.contains(where: isThere))
    }

    @Test("a definition that is applied elsewhere at the same time brings the form back")
    func applied() throws {
        let world = try settled(seed: 3)
        let other = world.hosts[1]
        world.cut(other)
        world.apply(fields + #",{"id":"extra","type":"text"}"#, on: 1)
        world.increment(other)
        world.hosts[0].delete()
        try world.rest()
        #expect(!isThere(world.hosts[2]))
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(host.value("extra") == "")
            #expect(host.value("count") == 1, "what the deletion has seen is gone")
        }
    }

    @Test("a form that is made again continues above the deleted one; old messages have no effect")
    func again() throws {
        let world = try settled(seed: 4)
        let away = world.hosts[2]
        world.cut(away)
        world.hosts[0].delete()
        try world.rest()
        #expect(!isThere(world.hosts[1]))
        try world.hosts[1].killDaemon()
        world.apply(fields, on: 1)
        world.increment(world.hosts[1])
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(host.value("count") == 1 && host.value("note") == "")
            let state = try #require(host.engine.engine.form(named: "shared")).committed
            let secret = try #require(state.definition.index(of: "secret"))
            #expect(!state.cells[secret].isSet)
        }
        // Everything that was ever sent arrives once more.
        let everything = world.stream.everTaken
        world.stream.delete()
        for host in world.hosts { world.cut(host) }
        #expect(try world.settle() == nil)
        world.hosts[0].toServer += everything
        #expect(try world.settle() == nil)
        for host in world.hosts { #expect(host.value("count") == 1) }
    }

    @Test("a deletion whose batch fails did not happen")
    func failed() throws {
        let world = try settled(seed: 5)
        let host = world.hosts[0]
        host.engine.storeFails = true
        host.delete()
        host.engine.storeFails = false
        host.engine.pass(milliseconds: 1_000)
        #expect(isThere(host))
        world.increment(host)
        #expect(try world.settle() == nil)
        for host in world.hosts { #expect(host.value("count") == 2) }
    }

    @Test("the log is told of a deletion once, not by all that hear of it, nor at each start")
    func once() throws {
        let world = try settled(seed: 7)
        try world.spend(seconds: 30)
        func isWhole(_ message: LinkPublication) -> Bool { message.subject.contains(".s.") }
        let before = world.stream.everTaken.count(where: isWhole)
        world.hosts[0].delete()
        try world.spend(seconds: 30)
        #expect(!world.hosts.contains(where: isThere))
        for host in world.hosts {
            world.sites.disconnected(host.index)
            try host.killDaemon()
            host.comeUp()
        }
        try world.spend(seconds: 30)
        #expect(world.stream.everTaken.count(where: isWhole) == before + 1)
        // What is written later is told as well.
        world.apply(fields, on: 1)
        #expect(try world.settle() == nil)
        world.hosts[2].delete()
        #expect(try world.settle() == nil)
        #expect(!world.hosts.contains(where: isThere))
        // Another log has nothing of it.
        world.stream.delete()
        for host in world.hosts { world.cut(host) }
        #expect(try world.settle() == nil)
        let late = try world.spend(seconds: 30, keeping: isWhole)
        #expect(!late.isEmpty)
    }

    @Test("a form that came as a whole is not sent as one by those who got it")
    func wholeOnce() throws {
        let world = try settled(seed: 8)
        try world.spend(seconds: 30)
        let wholes = world.stream.everTaken.filter { $0.subject.contains(".s.") }
        #expect(wholes.map(\.subject) == ["ps.ops.h0.s.shared"])
    }

    @Test("a newcomer hears of deleted forms from the log alone")
    func newcomer() throws {
        let world = try LinkedFleet(hosts: 3, seed: 6)
        let late = world.hosts[2]
        world.apply(fields)
        for host in world.hosts.dropLast() { host.comeUp() }
        try world.rest()
        world.hosts[0].delete()
        try world.rest()
        #expect(try world.settle() == nil)
        #expect(!isThere(late))
        world.apply(fields, on: 2)
        world.increment(late)
        #expect(try world.settle() == nil)
        #expect(world.hosts[0].value("count") == 1)
    }

    @Test(
        "deletions, definitions, kills, cuts and a log that forgets: in the end all have the same",
        arguments: 1...30)
    func random(seed: UInt64) throws {
        let world = try settled(seed: seed &+ 1_000)
        for _ in 0..<250 { try world.step(deletingAndApplying: fields) }
        let missing = try world.settle()
        #expect(missing == nil, "seed \(seed)")
        #expect(Set(world.hosts.map(isThere)).count == 1, "seed \(seed)")
        world.apply(fields, on: 1)
        let before = world.hosts[1].value("count")
        for host in world.hosts { world.increment(host) }
        #expect(try world.settle() == nil, "seed \(seed)")
        for host in world.hosts { #expect(host.value("count") != before, "seed \(seed)") }
        #expect(Set(world.hosts.map { $0.value("count") }).count == 1, "seed \(seed)")
    }
}
