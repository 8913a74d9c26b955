import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields = LinkedFleet.countAndNote

/// A form that is deleted, made again, unlinked, linked again, met and decided upon.
@Suite("Lives of a form in a fleet")
struct FleetLivesTests {
    @Test("whatever happens to it, no edit is lost that nobody removed", arguments: 1...20)
    func random(seed: UInt64) {
        #expect(LinkedLives.failure(of: seed) == nil)
    }

    @Test("the same where daemons write later", arguments: 1...8)
    func writtenLater(seed: UInt64) {
        #expect(LinkedLives.failure(of: seed, writesLater: true) == nil)
    }

    @Test("the same where commits take their time", arguments: 1...8, [false, true])
    func slowDisks(seed: UInt64, writesLater: Bool) {
        #expect(LinkedLives.failure(of: seed, writesLater: writesLater, hasSlowDisks: true) == nil)
    }

    /// A form that became one with another in a join that the store refused was decided upon; edits
    /// of one form made of two went with the deletion of one of them; a change was not told that was
    /// gathered while an older whole was taken; an edit waited for ever of a life that a whole said
    /// which changed nothing else; a form waited for a decision although the one here was deleted; a
    /// bridge had no turn after another one that had spent its own; an old whole counted as another
    /// form, although its form had become one with the one that was deleted here.
    @Test(
        "lives that once lost an edit",
        arguments: [
            3_764_525, 3_752_793, 3_140_089, 10_626_184, 14_375_768, 38_131_221, 39_378_277,
            41_250_486, 43_125_131, 43_877_337,
        ])
    func found(seed: UInt64) {
        #expect(LinkedLives.failure(of: seed, steps: 100) == nil)
    }

    /// The whole that was due was forgotten when a form was unlinked and linked again in one batch;
    /// a log of which the store had nothing yet was not read again; a form that nobody was told of
    /// yet was compared; what a deleted form had was dropped for another form of its name, and nobody
    /// was told; a whole was wanted while the store was full, and not given once it had space.
    @Test(
        "lives that once lost an edit, or said so, where daemons write later",
        arguments: [
            41_250_019, 41_250_147, 41_312_929, 41_944_417, 41_955_633, 42_565_009, 43_127_075,
        ])
    func foundLater(seed: UInt64) {
        #expect(LinkedLives.failure(of: seed, steps: 100, writesLater: true) == nil)
    }

    /// An edit was not told that was being written when its form was shared.
    @Test(
        "lives that once lost an edit, or said so, where commits take their time",
        arguments: [44_375_915])
    func foundWithSlowDisks(seed: UInt64) {
        #expect(LinkedLives.failure(of: seed, steps: 100, hasSlowDisks: true) == nil)
    }

    @Test("a whole that is taken does not stand for a change that is gathered")
    func takenWhole() throws {
        let link = FormLink(LinkConfiguration(host: "a", forms: []))
        func whole(_ counter: UInt64) -> WholeForm {
            let dot = Dot(ReplicaID(id: 1, epoch: 1), counter)
            return WholeForm(
                form: "f", lives: .none, context: CausalContext(dots: [dot]), stores: [])
        }
        link.gatherWhole()
        #expect(try link.take { whole(1) }.map { try $0.item.context } == [whole(1).context])
        #expect(try link.seal { whole(2) }.map { try $0.item.context } == [whole(2).context])
    }

    private func says(_ host: FleetHost, _ text: String) -> Bool {
        host.engine.log.contains { $0.message.contains(text) }
    }

    @Test("a disk that was put back is noticed also if more was written since than was lost")
    func putBackLonger() throws {
        let world = try LinkedFleet.counted(seed: 1)
        let host = world.hosts[0]
        let (backup, replica) = (host.engine.store, host.engine.replica)
        for _ in 0..<2 { world.increment(host) }
        #expect(try world.settle() == nil)
        world.sites.disconnected(0)
        try host.killDaemon(over: backup)
        for _ in 0..<5 { world.increment(host) }
        #expect(!says(host, "another store has written as"))
        host.comeUp()
        for _ in 0..<4 {
            try world.rest()
            world.pass(milliseconds: 500)
        }
        #expect(says(host, "another store has written as"))
        #expect(host.engine.replica.id != replica.id)
    }

    @Test("starts of one daemon are not two machines, in whatever order the log is read")
    func manyStarts() throws {
        let world = try LinkedFleet(hosts: 3, seed: 2)
        let (host, late) = (world.hosts[0], world.hosts[2])
        world.apply(fields)
        for _ in 0..<4 {
            for other in [host, world.hosts[1]] where !other.isUp { other.comeUp() }
            try world.rest()
            world.increment(host)
            try world.rest()
            world.sites.disconnected(0)
            try host.killDaemon()
        }
        late.comeUp()
        #expect(try world.settle() == nil)
        world.stream.trim(2)
        for host in world.hosts { world.cut(host) }
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(host.engine.engine.fleet?.counters.forks == 0)
            #expect(!says(host, "another store has written as"))
        }
    }

    @Test(
        "what was answered before a form left the fleet reaches the others, over kills as well",
        arguments: [0, 1, 2], [false, true])
    func lastWhole(how: Int, isKilled: Bool) throws {
        let world = try LinkedFleet.counted(seed: 4)
        let host = world.hosts[0]
        world.cut(host)
        world.increment(host)
        if how == 2 { host.engine.configuration.link?.forms = [] }
        try host.killDaemon()
        switch how {
        case 0: host.engine.call(host.root, .formUnlink(form: "shared"))
        case 1: host.share([])
        default: break
        }
        world.increment(host)
        if isKilled { try host.killDaemon() }
        host.comeUp()
        try world.spend(seconds: 10)
        #expect(world.hosts[1].value("count") == 2)
        #expect(host.value("count") == 3)
        #expect(host.engine.engine.link.partingForms.rows.isEmpty)
    }

    @Test("a form that was deleted apart and is made again is another one; the others keep theirs")
    func deletedApart() throws {
        let world = try LinkedFleet.counted(seed: 5)
        let host = world.hosts[0]
        host.engine.call(host.root, .formUnlink(form: "shared"))
        world.cut(host)
        host.delete()
        world.apply(fields)
        host.comeUp()
        try world.spend(seconds: 10)
        #expect(host.engine.engine.fleet?.otherForms["shared"] != nil)
        #expect(host.value("count") == 0 && world.hosts[1].value("count") == 1)
        host.engine.call(host.root, .formLink(FormLinking(form: "shared", how: .theirs)))
        #expect(try world.settle() == nil)
        #expect(host.value("count") == 1)
    }

    @Test("an edit whose form was not read yet waits for that form, not for the whole of another")
    func early() throws {
        let world = try LinkedFleet.counted(seed: 10)
        let (host, maker) = (world.hosts[0], world.hosts[1])
        maker.engine.call(maker.root, .formUnlink(form: "shared"))
        world.cut(maker)
        maker.delete()
        host.delete()
        world.cut(host)
        world.apply(fields, on: 1)
        maker.comeUp()
        try world.spend(seconds: 2)
        world.increment(maker)
        try world.spend(seconds: 2)
        world.stream.trim(world.stream.log.count - 1)
        try host.killDaemon()
        #expect(try world.settle(seconds: 60) == nil)
        #expect(host.value("count") == 1)
    }

    @Test("a whole that the log has no more is asked for by the host that needs it")
    func asked() throws {
        let world = try LinkedFleet(hosts: 3, seed: 11)
        let late = world.hosts[2]
        world.apply(fields)
        for host in world.hosts.dropLast() { host.comeUp() }
        try world.spend(seconds: 2)
        world.increment(world.hosts[1])
        try world.spend(seconds: 2)
        world.stream.trim(world.stream.log.count - 1)
        late.comeUp()
        try world.spend(seconds: 30)
        #expect(late.value("count") == 1)
        for host in world.hosts {
            #expect(host.engine.engine.fleet?.counters.disagreements == 0)
            #expect(host.engine.engine.fleet?.machine.heldForms == [])
        }
        let wholes = world.hosts.reduce(0) {
            $0 + ($1.engine.engine.fleet?.counters.wholes["asked"] ?? 0)
        }
        #expect(wholes == 1, "the first one stops the other")
    }

    @Test("a host says nothing of a deleted form that it does not share any more")
    func deletedAndNotShared() throws {
        let world = try LinkedFleet.counted(hosts: 3, seed: 12)
        let former = world.hosts[2]
        world.hosts[0].delete()
        #expect(try world.settle() == nil)
        former.share([])
        world.apply(fields)
        world.increment(world.hosts[0])
        try world.spend(seconds: 30)
        #expect(world.hosts[1].value("count") == 1)
        for host in world.hosts {
            #expect(host.engine.engine.fleet?.counters.disagreements == 0)
        }
    }

    @Test("a form that was many takes no more, and says so")
    func manyLives() throws {
        #expect(FormLives(present: 1, former: Set(1...100)).former == Set(2...65))
        let elsewhere = try LinkedFleet(hosts: 3, seed: 13)
        elsewhere.apply(fields, on: 2)
        let made = try #require(elsewhere.hosts[2].engine.engine.whole(of: "shared"))
        let world = try LinkedFleet(seed: 13)
        let host = world.hosts[0]
        let many = WholeForm(
            form: made.form, lives: FormLives(present: made.lives.present, former: Set(1...64)),
            context: made.context, stores: made.stores)
        #expect(host.engine.join([.whole(many)]) == [.joined])
        host.engine.settle()
        world.apply(fields, on: 1)
        for host in world.hosts { host.comeUp() }
        try world.spend(seconds: 2)
        let decision = Request.formLink(FormLinking(form: "shared", how: .ours))
        let answer = host.engine.call(host.root, decision).joined()
        #expect(answer.contains("has become one with 64 others already"))
    }

    @Test("two hosts of one form go on while a third has another form of the name")
    func third() throws {
        let world = try LinkedFleet(hosts: 3, seed: 6)
        let (a, b, c) = (world.hosts[0], world.hosts[1], world.hosts[2])
        world.apply(fields)
        world.apply(fields, on: 2)
        for host in [a, b] { host.comeUp() }
        try world.rest()
        c.comeUp()
        try world.spend(seconds: 5)
        for host in [a, b, c] {
            #expect(host.engine.engine.fleet?.machine.heldForms == ["shared"])
        }
        world.increment(a)
        world.increment(b)
        try world.spend(seconds: 5)
        #expect(a.value("count") == 2 && b.value("count") == 2 && c.value("count") == 0)
        c.engine.call(c.root, .formLink(FormLinking(form: "shared", how: .theirs)))
        #expect(try world.settle() == nil)
        #expect(c.value("count") == 2)
    }

    @Test("a deletion is not forgotten if the store refuses the form that is made again")
    func refused() throws {
        let world = try LinkedFleet.counted(seed: 7)
        let host = world.hosts[0]
        host.delete()
        #expect(try world.settle() == nil)
        host.engine.refuseForms(["shared"])
        world.apply(fields)
        #expect(host.engine.engine.form(named: "shared") == nil)
        host.engine.refuseForms([])
        try host.killDaemon()
        let kept = try #require(host.engine.engine.link.deletedForm("shared"))
        #expect(kept.context == world.hosts[1].engine.engine.sharedContext(of: "shared"))
    }

    @Test("a form of another host that the store refuses is read again once it takes forms")
    func refusedJoin() throws {
        let world = try LinkedFleet(hosts: 2, seed: 8)
        let host = world.hosts[1]
        host.engine.refuseForms(["shared"])
        world.apply(fields)
        world.increment(world.hosts[0])
        for host in world.hosts { host.comeUp() }
        try world.spend(seconds: 5)
        #expect(host.engine.engine.form(named: "shared") == nil)
        host.engine.refuseForms([])
        world.sites.disconnected(1)
        try host.killDaemon()
        #expect(try world.settle() == nil)
        #expect(host.value("count") == 1)
    }
}
