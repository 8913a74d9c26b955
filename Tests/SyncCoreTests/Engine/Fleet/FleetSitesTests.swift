import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields =
    #"{"id":"count","type":"stepper","min":0,"max":100000},{"id":"note","type":"text"}"#

/// A fleet with a stream at each site.
@Suite("Sites of a fleet")
struct FleetSitesTests {
    /// One host at the hub, two at a leaf site, and the form on all.
    private func settled(seed: UInt64, homes: [Int] = [0, 1, 1]) throws -> LinkedFleet {
        let world = try LinkedFleet(hosts: homes.count, homes: homes, seed: seed)
        world.apply(fields)
        #expect(try world.settle() == nil)
        return world
    }

    private func streams(_ host: FleetHost) -> [String] {
        host.engine.engine.fleet?.machine.readers.map { "\($0.site) \($0.phase)" } ?? []
    }

    @Test("a site that is cut off goes on among its hosts, says so, and meets the others after it")
    func cutOff() throws {
        let world = try settled(seed: 1)
        let (hub, one, two) = (world.hosts[0], world.hosts[1], world.hosts[2])
        world.sites.cut(1)
        hub.set(Change(field: "note", .value("hub")))
        world.increment(hub)
        for _ in 0..<3 { world.increment(one) }
        world.increment(two)
        two.set(Change(field: "note", .value("berlin")))
        try world.spend(seconds: 600)
        #expect([one, two].allSatisfy { $0.value("count") == 4 && $0.value("note") == "berlin" })
        #expect(hub.value("count") == 1 && hub.value("note") == "hub")
        for host in world.hosts { #expect(host.phase == .live && host.unsent == 0) }
        #expect(streams(one).last == "hub refused")
        let status = one.engine.call(one.root, .serverStatus).joined()
        #expect(status.contains(#""site":"hub","state":"refused","isReached":false"#), "\(status)")
        #expect(one.engine.log.contains { $0.message.contains("the log of hub is not read") })
        world.sites.heal()
        try world.spend(seconds: 20)
        #expect(world.missing == nil)
        for host in world.hosts {
            #expect(host.value("count") == 5)
            let counters = host.engine.engine.fleet?.counters
            #expect(counters?.disagreements == 0 && counters?.readsAnew.count == 1)
        }
    }

    @Test("a host that comes while a site is cut off gets what others have read of it")
    func newcomer() throws {
        let world = try settled(seed: 2, homes: [0, 1, 0])
        let (old, late) = (world.hosts[0], world.hosts[2])
        // The wholes that are due after a start have been sent.
        try world.spend(seconds: 30)
        world.cut(late)
        for _ in 0..<4 { world.increment(world.hosts[1]) }
        try world.spend(seconds: 5)
        #expect(old.value("count") == 4)
        world.sites.cut(1)
        late.comeUp()
        try world.spend(seconds: 20)
        #expect(late.phase == .live)
        #expect(late.value("count") == 0)
        try world.spend(seconds: 100)
        #expect(late.value("count") == 4)
        #expect(old.engine.engine.fleet?.counters.disagreements == 0)
    }

    @Test("so does one that has not even the form, as the log of its site has forgotten it")
    func newcomerWithoutForm() throws {
        let world = try LinkedFleet(hosts: 3, homes: [0, 1, 0], seed: 5)
        let (old, late) = (world.hosts[0], world.hosts[2])
        for host in [old, world.hosts[1]] { host.comeUp() }
        try world.spend(seconds: 15)
        world.apply(fields, on: 1)
        try world.spend(seconds: 5)
        #expect(old.value("count") == 0)
        world.sites.cut(1)
        world.stream.trim(.max)
        late.comeUp()
        try world.spend(seconds: 20)
        #expect(late.value("count") == nil)
        try world.spend(seconds: 80)
        #expect(late.value("count") == 0)
        try world.spend(seconds: 300)
        #expect(old.engine.engine.fleet?.counters.wholes["disagreement"] == 1)
    }

    @Test("an edit that comes before the one that it rests on replaces it all the same")
    func outOfOrder() throws {
        let world = try settled(seed: 3, homes: [0, 1, 2])
        let (hub, berlin, oslo) = (world.hosts[0], world.hosts[1], world.hosts[2])
        world.cut(oslo)
        berlin.set(Change(field: "note", .value("first")))
        try world.spend(seconds: 5)
        hub.set(Change(field: "note", .value("second")))
        try world.spend(seconds: 5)
        // Oslo reads the hub's log, and that of Berlin later.
        world.sites.cut(1)
        oslo.comeUp()
        try world.spend(seconds: 10)
        #expect(oslo.value("note") == "second")
        world.sites.heal()
        try world.spend(seconds: 20)
        #expect(world.missing == nil)
        for host in world.hosts {
            #expect(host.value("note") == "second")
            let state = host.engine.call(host.root, .stateGet(StateGet(form: "shared"))).joined()
            #expect(!state.contains(#""conflict""#), "\(state)")
        }
    }

    @Test(
        "an edit is sent until the stream of this site has it; another's that takes it is told of")
    func misdirected() throws {
        let world = try settled(seed: 6)
        let host = world.hosts[1]
        world.increment(host)
        try host.takeOrders()
        let message = try #require(host.toServer.first { $0.subject.hasPrefix("ps.ops.h1.d.") })
        host.toServer = []
        host.receive(
            LinkArrival(
                subject: message.reply ?? "",
                payload: Array(#"{"stream":"PS_ops","domain":"hub","seq":9}"#.utf8)))
        #expect(host.unsent == 1)
        #expect(
            host.engine.log.contains {
                $0.message.contains("the stream of hub takes what this host publishes")
                    && $0.message.contains("the server of berlin")
            })
        #expect(try world.settle() == nil)
    }

    @Test("a fleet with one stream gets sites: the log that was read is the hub's, and read on")
    func grows() throws {
        let world = try LinkedFleet(seed: 4)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let cursor = try #require(world.hosts[0].engine.engine.link.cursor)
        let kept = try LinkCursor(decoding: cursor)
        #expect(kept.streams.map(\.site) == [""])
        #expect(kept.stream(of: "hub", isOwn: true) == kept.streams[0])
        #expect(kept.stream(of: "hub", isOwn: false) == nil)
        let both = LinkCursor(
            ["hub", "berlin"].map {
                LinkCursor.Stream(site: $0, created: $0, place: .start)
            })
        #expect(both.stream(of: "berlin", isOwn: false)?.created == "berlin")
        #expect(both.stream(of: "", isOwn: true)?.created == "hub")
        #expect(both.stream(of: "oslo", isOwn: true) == nil)
    }
}
