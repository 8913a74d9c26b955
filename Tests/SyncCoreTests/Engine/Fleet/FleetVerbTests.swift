import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields = #"""
    {"id":"level","type":"slider","max":100},
    {"id":"spare","type":"slider","max":100,"leaseMax":"1h"},
    {"id":"traffic","type":"slider","max":100,
    "approval":{"from":["user:alice","user:bob","user:erin"]}},
    {"id":"two","type":"stepper","max":9,"approval":{"from":["anyone"],"count":2}},
    {"id":"go","type":"button","runs":"queue","waitsFor":"10m",
    "access":{"handle":["anyone"],"press":["user:ann","user:bob"]}}
    """#

/// A fleet whose hosts tell each other what they have under way.
final class VerbFleet {
    let world: LinkedFleet
    let ann: ConnectionID
    let bob: ConnectionID

    /// Ann is connected to the first host, and Bob to the second.
    ///
    /// - Parameter more: Further controls, after a comma.
    init(
        seed: UInt64 = 90, users: LinkConfiguration.Users = .apart, more: String = ""
    ) throws {
        world = try LinkedFleet(seed: seed, configure: { $1.users = users })
        for host in world.hosts { host.payloadMax = 65_536 }
        world.apply((fields + more).split(separator: "\n").joined())
        let missing = try world.settle()
        #expect(missing == nil)
        ann = world.hosts[0].engine.connect(uid: 1000, user: "ann")
        bob = world.hosts[1].engine.connect(uid: 1000, user: "bob")
        try world.spend(seconds: 12)
    }

    /// Calls a method, without any time passing; returns what the client got.
    func call(
        _ place: Int, _ id: ConnectionID, _ method: String, _ params: String
    ) throws -> String {
        let engine = world.hosts[place].engine
        let before = engine.received[id]?.count ?? 0
        engine.ask(
            id, #"{"jsonrpc":"2.0","id":7,"method":"\#(method)","params":\#(params)}"#)
        try world.rest()
        return (engine.received[id] ?? []).dropFirst(before).joined(separator: "\n")
    }

    func set(_ place: Int, _ id: ConnectionID, _ change: String, _ more: String = "") throws
        -> String
    {
        try call(place, id, "state.set", #"{"form":"shared","changes":[\#(change)]\#(more)}"#)
    }

    /// What a host shows of the others.
    func elsewhere(_ place: Int) -> [HostUnderWay] {
        let engine = world.hosts[place].engine.engine
        return engine.form(named: "shared").map(engine.underWayElsewhere) ?? []
    }

    /// How many revisions a host has.
    func revision(_ place: Int) -> UInt64 {
        world.hosts[place].engine.engine.form(named: "shared")?.committed.revision ?? 0
    }
}

/// Leases, runs and proposals of one host as another sees them, and verbs on them.
@Suite("Verbs between hosts")
struct FleetVerbTests {
    private func lease(_ fleet: VerbFleet, _ place: Int, _ more: String) throws -> String {
        let id = place == 0 ? fleet.ann : fleet.bob
        return try fleet.call(
            place, id, "state.lease", #"{"form":"shared","field":"level",\#(more)}"#)
    }

    private func leased(_ fleet: VerbFleet) throws {
        _ = try fleet.set(0, fleet.ann, #"{"field":"level","value":5}"#)
        let answer = try fleet.set(
            0, fleet.ann, #"{"field":"level","value":20}"#, #","lease":{"seconds":600}"#)
        #expect(answer.contains(#""lease""#))
        try fleet.world.spend(seconds: 1)
    }

    @Test("a lease is shown on the other host with its end, and somebody there ends it")
    func lease() throws {
        let fleet = try VerbFleet()
        try leased(fleet)
        let shown = try #require(fleet.elsewhere(1).first)
        #expect(shown.host == "h0" && shown.awaySince == nil)
        #expect(shown.leases.map(\.field) == ["level"])
        #expect(shown.leases.first?.lease.by.user == "ann")
        #expect(shown.leases.first?.lease.then == 5)
        let form = try fleet.call(1, fleet.bob, "form.get", #"{"form":"shared"}"#)
        #expect(form.contains(#""underWay":[{"host":"h0","leases":[{"field":"level""#))
        let why = try fleet.call(
            1, fleet.bob, "state.explain", #"{"form":"shared","field":"level"}"#)
        #expect(why.contains(#""host":"h0""#))
        #expect(try lease(fleet, 1, #""seconds":1200"#).contains("result"))
        try fleet.world.spend(seconds: 1)
        let later = try #require(fleet.elsewhere(1).first?.leases.first?.lease.until)
        let earlier = try #require(shown.leases.first?.lease.until)
        #expect(later.milliseconds - earlier.milliseconds > 590_000)
        #expect(try lease(fleet, 1, #""end":true"#).contains("result"))
        #expect(try fleet.world.settle() == nil)
        for host in fleet.world.hosts { #expect(host.value("level") == 5) }
        let history = try fleet.call(0, fleet.ann, "state.history", #"{"form":"shared"}"#)
        #expect(history.contains(#""kind":"ended""#))
        #expect(history.contains(#""user":"bob""#) && history.contains(#""host":"h1""#))
        try fleet.world.spend(seconds: 1)
        #expect(fleet.elsewhere(1).isEmpty)
        #expect(try lease(fleet, 1, #""end":true"#).contains("has no lease"))
    }

    @Test("an edit on the other host ends a lease, and then nothing is shown of it")
    func edit() throws {
        let fleet = try VerbFleet()
        try leased(fleet)
        _ = try fleet.set(1, fleet.bob, #"{"field":"level","value":7}"#)
        let why = try fleet.call(
            1, fleet.bob, "state.explain", #"{"form":"shared","field":"level"}"#)
        #expect(!why.contains(#""ends""#))
        try fleet.world.spend(seconds: 1)
        #expect(fleet.elsewhere(1).isEmpty)
        try fleet.world.spend(seconds: 700)
        for host in fleet.world.hosts { #expect(host.value("level") == 7) }
    }

    @Test("the owner judges: who may not write the field there ends nothing")
    func judged() throws {
        let fleet = try VerbFleet()
        let answer = try fleet.set(
            0, fleet.ann, #"{"field":"spare","value":20}"#, #","lease":{"seconds":600}"#)
        #expect(answer.contains("result"))
        try fleet.world.spend(seconds: 1)
        let long = try fleet.call(
            1, fleet.bob, "state.lease", #"{"form":"shared","field":"spare","seconds":7200}"#)
        #expect(long.contains("leaseMax") && long.contains(#""id":7"#))
        #expect(fleet.elsewhere(1).first?.leases.count == 1)
    }

    @Test("while the owner is away nothing is done, and the answer says since when")
    func away() throws {
        let fleet = try VerbFleet()
        try leased(fleet)
        fleet.world.cut(fleet.world.hosts[0])
        try fleet.world.spend(seconds: 40)
        #expect(fleet.elsewhere(1).first?.awaySince != nil)
        let answer = try lease(fleet, 1, #""end":true"#)
        #expect(answer.contains("h0 is away since") && answer.contains("nothing was done"))
        fleet.world.hosts[0].comeUp()
        try fleet.world.spend(seconds: 20)
        #expect(fleet.elsewhere(1).first?.leases.count == 1)
        #expect(fleet.elsewhere(1).first?.awaySince == nil)
        #expect(try lease(fleet, 1, #""end":true"#).contains("result"))
        fleet.world.cut(fleet.world.hosts[1])
        #expect(fleet.world.hosts[0].value("level") == 5)
    }

    /// A lease of the first host is ended on the second one.
    private static let leaseEnd =
        #"{"jsonrpc":"2.0","id":8,"method":"state.lease","params":"#
        + #"{"form":"shared","field":"level","end":true}}"#

    /// Lets time pass, and returns what the second host said meanwhile, which nobody got.
    private func hold(
        _ what: (LinkPublication) -> Bool, seconds: Int, _ fleet: VerbFleet
    ) throws -> [LinkPublication] {
        let other = fleet.world.hosts[1]
        var kept: [LinkPublication] = []
        for _ in 0..<seconds * 4 {
            try other.takeOrders()
            kept += other.toServer.filter(what)
            other.toServer.removeAll(where: what)
            try fleet.world.rest()
            fleet.world.pass(milliseconds: 250)
        }
        return kept
    }

    @Test(
        "a verb that gets no answer is given up, and one that comes later is not done",
        arguments: [false, true])
    func late(heldWithBeacon: Bool) throws {
        let fleet = try VerbFleet()
        try leased(fleet)
        let (owner, other) = (fleet.world.hosts[0], fleet.world.hosts[1])
        let before = fleet.revision(0)
        let what = heldWithBeacon ? \LinkPublication.isEphemeral : \.isPresence
        // A late beacon before the verb must not make the owner think that it comes in time.
        var kept = try hold({ $0[keyPath: what] }, seconds: heldWithBeacon ? 11 : 0, fleet)
        #expect(kept.contains { !$0.isPresence } == heldWithBeacon)
        #expect(other.engine.ask(fleet.bob, Self.leaseEnd).isEmpty)
        kept += try hold({ $0[keyPath: what] }, seconds: 7, fleet)
        // It is said again each second.
        #expect(kept.count(where: \.isPresence) >= 5)
        let answers = (other.engine.received[fleet.bob] ?? []).suffix(1).joined()
        #expect(answers.contains("unavailable") && answers.contains("nothing was done"))
        for message in kept { owner.receive(message) }
        try fleet.world.rest()
        #expect(fleet.revision(0) == before && owner.value("level") == 20)
    }

    @Test("a verb that arrives in time is done once, however often it comes")
    func repeated() throws {
        let fleet = try VerbFleet()
        try leased(fleet)
        let (owner, other) = (fleet.world.hosts[0], fleet.world.hosts[1])
        let before = fleet.revision(0)
        #expect(other.engine.ask(fleet.bob, Self.leaseEnd).isEmpty)
        try other.takeOrders()
        let verbs = other.toServer.filter(\.isPresence)
        #expect(verbs.count == 1)
        for _ in 0..<5 { for message in verbs { owner.receive(message) } }
        try fleet.world.rest()
        #expect(fleet.revision(0) == before + 1 && owner.value("level") == 5)
        #expect((other.engine.received[fleet.bob] ?? []).suffix(1).joined().contains("result"))
    }

    @Test("a client that leaves gets no answer, and others get theirs")
    func left() throws {
        let fleet = try VerbFleet()
        try leased(fleet)
        let other = fleet.world.hosts[1]
        let gone = other.engine.connect(uid: 1001, user: "gone")
        let request =
            #"{"jsonrpc":"2.0","id":8,"method":"state.lease","params":"#
            + #"{"form":"shared","field":"level","keep":true}}"#
        #expect(other.engine.ask(gone, request).isEmpty)
        other.engine.disconnect(gone)
        #expect(try lease(fleet, 1, #""end":true"#).contains("id"))
        try fleet.world.spend(seconds: 10)
        #expect(fleet.elsewhere(1).isEmpty)
    }

    @Test("what is lost on the way, and starts of either daemon, heal by themselves")
    func healing() throws {
        let fleet = try VerbFleet()
        try leased(fleet)
        try fleet.world.hosts[1].killDaemon()
        fleet.world.hosts[1].comeUp()
        try fleet.world.spend(seconds: 15)
        #expect(fleet.elsewhere(1).first?.leases.count == 1)
        try fleet.world.hosts[0].killDaemon()
        fleet.world.hosts[0].comeUp()
        for _ in 0..<60 {
            try fleet.world.spend(seconds: 1)
            #expect(fleet.elsewhere(1).first?.leases.count == 1)
        }
        // The word that it is over is lost.
        let owner = fleet.world.hosts[0]
        let ann = owner.engine.connect(uid: 1000, user: "ann")
        owner.engine.ask(
            ann,
            #"{"jsonrpc":"2.0","id":8,"method":"state.lease","params":"#
                + #"{"form":"shared","field":"level","keep":true}}"#)
        for _ in 0..<4 {
            fleet.world.pass(milliseconds: 100)
            try owner.takeOrders()
            owner.toServer.removeAll(where: \.isPresence)
            try fleet.world.rest()
        }
        #expect(fleet.elsewhere(1).first?.leases.count == 1)
        try fleet.world.spend(seconds: 50)
        #expect(fleet.elsewhere(1).isEmpty)
    }

    @Test("a press that waits or runs is shown and cancelled from the other host")
    func presses() throws {
        let fleet = try VerbFleet()
        let handler = fleet.world.hosts[0].engine.connect(uid: 1005, user: "hand")
        _ = try fleet.call(
            0, handler, "button.handle", #"{"form":"shared","fields":["go"]}"#)
        _ = try fleet.set(0, fleet.ann, #"{"field":"go","press":true}"#)
        _ = try fleet.set(0, fleet.ann, #"{"field":"go","press":true}"#)
        try fleet.world.spend(seconds: 1)
        let runs = try #require(fleet.elsewhere(1).first).runs
        #expect(runs.map(\.run.state) == [.running, .waiting])
        #expect(runs.map(\.run.host) == ["h0", "h0"])
        let presses = runs.map(\.run.press)
        func cancel(_ press: String, _ id: ConnectionID) throws -> String {
            try fleet.call(
                1, id, "button.cancel",
                #"{"form":"shared","field":"go","press":"\#(press)"}"#)
        }
        let carol = fleet.world.hosts[1].engine.connect(uid: 1009, user: "carol")
        #expect(try cancel(presses[1], carol).contains("forbidden"))
        #expect(try cancel(presses[1], fleet.bob).contains(#""state":"cancelled""#))
        #expect(try cancel(presses[0], fleet.bob).contains(#""state":"running""#))
        #expect(
            (fleet.world.hosts[0].engine.received[handler] ?? []).joined()
                .contains("button.cancelled"))
        let outcome = try fleet.call(
            1, fleet.bob, "button.outcome", #"{"form":"shared","press":"\#(presses[0])"}"#)
        #expect(outcome.contains(#""state":"running""#) && outcome.contains(#""host":"h0""#))
    }

    @Test("nothing under way: nothing is said of it")
    func silence() throws {
        let fleet = try VerbFleet()
        _ = try fleet.set(0, fleet.ann, #"{"field":"level","value":5}"#)
        let said = try fleet.world.spend(seconds: 60, keeping: \.isPresence)
        #expect(said.isEmpty)
    }
}
