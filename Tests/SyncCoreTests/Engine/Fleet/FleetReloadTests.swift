import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields = LinkedFleet.countAndNote

/// A reload or a restart, after which other forms are shared.
@Suite("Forms that are shared from now on, or not any more")
struct FleetReloadTests {
    @Test("a form that is shared from now on has what others did before", arguments: [true, false])
    func sharedLater(restarts: Bool) throws {
        let world = try LinkedFleet(
            hosts: 2, seed: 3,
            configure: { index, link in
                if index == 1 { link.forms = [Glob("other")] }
            })
        let late = world.hosts[1]
        world.apply(fields)
        for host in world.hosts { host.comeUp() }
        world.increment(world.hosts[0])
        try world.rest()
        #expect(late.engine.engine.form(named: "shared") == nil)
        if restarts {
            late.engine.configuration.link?.forms.append(Glob("shared"))
            world.sites.disconnected(1)
            try late.killDaemon()
        } else {
            late.share([Glob("other"), Glob("shared")])
        }
        #expect(try world.settle(seconds: 30) == nil)
        #expect(late.value("count") == 1)
        for host in world.hosts { #expect(host.engine.engine.fleet?.counters.disagreements == 0) }
    }

    @Test("a form that a reload shares again is told without another edit")
    func toldLater() throws {
        let world = try LinkedFleet(seed: 9)
        let host = world.hosts[0]
        for host in world.hosts { host.comeUp() }
        try world.rest()
        host.share([])
        world.apply(fields)
        world.increment(host)
        host.share([Glob("shared")])
        try world.spend(seconds: 5)
        #expect(world.hosts[1].value("count") == 1)
    }

    @Test(
        "a form that is shared again while the store writes is told and compared once it is done",
        arguments: ["shared", "apart"])
    func toldAfterWriting(form: String) throws {
        let world = try LinkedFleet(seed: 11, durability: .memory)
        world.apply(fields)
        let (host, other) = (world.hosts[0], world.hosts[1])
        host.engine.ask(
            host.root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"apart","fields":[{"id":"count","type":"stepper","max":9}]}}}"#)
        #expect(try world.settle() == nil)
        host.share([])
        world.increment(host)
        try world.spend(seconds: 1)
        host.engine.holdsCommits = true
        let change = Change(field: "count", .increment(DecimalNumber(1)))
        host.engine.call(host.root, .stateSet(StateSet(form: form, changes: [change])))
        // With this durability, a write begins after ten seconds.
        world.pass(milliseconds: 10_500)
        #expect(host.engine.engine.link.isCommitting)
        host.share([Glob("shared")])
        host.engine.holdsCommits = false
        host.engine.commit()
        try world.spend(seconds: 60)
        #expect(other.value("count") == host.value("count"))
        let beacon = host.engine.engine.fleet?.machine.ownBeacon
        #expect(beacon?.form(named: "shared")?.unsent == 0)
    }

    @Test(
        "a reload while a form is being made shares it, or not, as one that is there",
        arguments: [true, false])
    func reloadWhileMade(isShared: Bool) throws {
        let world = try LinkedFleet(seed: 12)
        let (host, other) = (world.hosts[0], world.hosts[1])
        for host in world.hosts { host.comeUp() }
        try world.rest()
        let shared = [Glob("shared")]
        host.share(isShared ? [] : shared)
        host.engine.holdsCommits = true
        world.apply(fields)
        host.share(isShared ? shared : [])
        host.engine.holdsCommits = false
        host.engine.commit()
        try world.spend(seconds: 5)
        #expect((host.engine.engine.form(named: "shared")?.link != nil) == isShared)
        world.increment(host)
        try world.spend(seconds: 5)
        // What was made before the reload is told all the same.
        #expect(other.value("count") == (isShared ? 1 : 0))
    }

    @Test("an edit that is being written when its form is shared is told")
    func sharedWhileWritten() throws {
        let world = try LinkedFleet.counted(seed: 13)
        let host = world.hosts[0]
        host.share([])
        host.engine.holdsCommits = true
        world.increment(host)
        host.share([Glob("shared")])
        host.engine.holdsCommits = false
        host.engine.commit()
        try world.spend(seconds: 5)
        for host in world.hosts {
            #expect(host.value("count") == 2)
            #expect(host.engine.engine.fleet?.counters.disagreements == 0)
        }
    }

    @Test("nobody hears of a form that was refused, although a reload made it leave before")
    func refusedWhileLeaving() throws {
        let world = try LinkedFleet(seed: 14)
        let host = world.hosts[0]
        for host in world.hosts { host.comeUp() }
        try world.rest()
        host.engine.holdsCommits = true
        world.apply(fields)
        host.share([])
        host.engine.holdsCommits = false
        host.engine.failCommit()
        host.engine.settle()
        try world.spend(seconds: 30)
        #expect(host.engine.engine.form(named: "shared") == nil)
        #expect(world.hosts[1].engine.engine.form(named: "shared") == nil)
    }

    @Test(
        "what is done without a link, or for another fleet, is not told", arguments: [nil, "dev"])
    func otherFleet(name: String?) throws {
        let world = try LinkedFleet.counted(seed: 15)
        let host = world.hosts[0]
        let link = host.engine.configuration.link
        host.engine.configuration.link?.fleet = name ?? ""
        host.engine.configuration.link?.forms = [Glob("other")]
        if name == nil { host.engine.configuration.link = nil }
        world.sites.disconnected(0)
        try host.killDaemon()
        world.increment(host)
        if name == nil {
            host.engine.configuration.link = link
            host.engine.configuration.link?.forms = [Glob("other")]
            try host.killDaemon()
        }
        host.connectBridge()
        try world.spend(seconds: 10)
        #expect(host.value("count") == 2)
        #expect(world.hosts[1].value("count") == 1)
        #expect(host.engine.engine.link.partingForms.wholes(for: "dev").isEmpty)
    }

    @Test("a deletion is told to the fleet that shared the form, and to no other")
    func deletionInOtherFleet() throws {
        let world = try LinkedFleet.counted(seed: 16)
        let (host, other) = (world.hosts[0], world.hosts[1])
        world.cut(host)
        host.delete()
        let link = host.engine.configuration.link
        host.engine.configuration.link?.fleet = "dev"
        host.engine.configuration.link?.forms = [Glob("other")]
        // A second start must know as much.
        for _ in 0..<2 {
            try host.killDaemon()
            #expect(host.engine.engine.link.deletedForms.names.isEmpty)
            #expect(host.engine.engine.whole(of: "shared") == nil)
        }
        host.engine.configuration.link = link
        try host.killDaemon()
        #expect(try world.settle() == nil)
        #expect(host.engine.engine.form(named: "shared") == nil)
        #expect(other.engine.engine.form(named: "shared") == nil)
    }
}
