import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields =
    #"{"id":"count","type":"stepper","min":0,"max":100},{"id":"note","type":"text"}"#

/// Who may do what with a form that hosts share.
@Suite("Access between hosts")
struct FleetAccessTests {
    private func person(
        _ host: FleetHost, _ user: String, uid: UInt32
    ) -> ConnectionID {
        host.engine.connect(uid: uid, user: user, groups: [FleetHost.creatorsGID])
    }

    private func apply(
        _ host: FleetHost, _ connection: ConnectionID, access: String, form: String = "shared"
    ) -> String {
        host.engine.ask(
            connection,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"#
                + #""\#(form)","access":\#(access),"fields":[\#(fields)]}}}"#
        ).joined()
    }

    private func note(_ host: FleetHost, _ connection: ConnectionID, _ text: String) -> String {
        host.engine.call(
            connection,
            .stateSet(
                StateSet(
                    form: "shared", changes: [Change(field: "note", .value(.string(text)))]))
        ).joined()
    }

    @Test("a host that follows has what others do, edits nothing and says beacons alone")
    func follow() throws {
        let world = try LinkedFleet(
            seed: 50, configure: { index, link in if index == 1 { link.mode = .follow } })
        let (first, follower) = (world.hosts[0], world.hosts[1])
        let early = apply(follower, follower.root, access: "{}")
        #expect(early.contains("forbidden") && early.contains("h1 follows the fleet ops"))
        world.apply(fields)
        #expect(try world.settle() == nil)
        world.increment(first)
        #expect(note(first, first.root, "x").contains("result"))
        try world.rest()
        #expect(follower.value("count") == 1 && follower.value("note") == "x")
        follower.engine.call(
            follower.root, .stateSubscribe(StateSubscribe(form: "shared", presence: true)))
        for answer in [
            note(follower, follower.root, "y"), apply(follower, follower.root, access: "{}"),
            follower.engine.call(
                follower.root, .stateUndo(StateUndo(form: "shared", scope: .anyone))
            ).joined(),
            follower.engine.call(follower.root, .linkRepair(form: "shared")).joined(),
            follower.engine.ask(
                follower.root,
                #"{"jsonrpc":"2.0","id":1,"method":"form.delete","params":{"form":"shared"}}"#
            ).joined(),
        ] {
            #expect(answer.contains("forbidden") && answer.contains("edited on other hosts"))
        }
        let said = try world.spend(seconds: 25) { $0.subject.hasPrefix("ps.ops.h1.") }
        #expect(!said.isEmpty && said.allSatisfy { $0.subject == "ps.ops.h1.b" })
        #expect(try world.settle() == nil)
        #expect(follower.unsent == 0)
        let status = follower.engine.call(follower.root, .serverStatus).joined()
        #expect(status.contains(#""mode":"follow""#))
    }

    @Test("a form that a follower made itself is not shared")
    func ownFormOfFollower() throws {
        let world = try LinkedFleet(
            seed: 51, configure: { index, link in if index == 1 { link.forms = [] } })
        let follower = world.hosts[1]
        #expect(apply(follower, follower.root, access: "{}").contains("result"))
        follower.engine.configuration.link?.forms = [Glob("shared")]
        follower.engine.configuration.link?.mode = .follow
        try follower.killDaemon()
        #expect(follower.engine.engine.form(named: "shared")?.link == nil)
        #expect(note(follower, follower.root, "mine").contains("result"))
    }

    @Test("a follower writes nothing to a form that takes the name of a deleted one")
    func deletedBeforeFollower() throws {
        let world = try LinkedFleet(
            hosts: 3, seed: 54, configure: { index, link in if index == 2 { link.mode = .follow } })
        let (first, second, follower) = (world.hosts[0], world.hosts[1], world.hosts[2])
        world.apply(fields)
        #expect(try world.settle() == nil)
        world.cut(second)
        first.delete()
        try world.spend(seconds: 5)
        second.engine.call(second.root, .formUnlink(form: "shared"))
        second.delete()
        world.apply(fields, on: 1)
        #expect(try world.settle() == nil)
        let form = try #require(follower.engine.engine.form(named: "shared"))
        #expect(
            form.working.context.highestCounter(of: follower.engine.engine.replica) == 0)
        first.delete()
        try world.spend(seconds: 5)
        for host in world.hosts {
            #expect(host.engine.engine.form(named: "shared") == nil)
            #expect(host.engine.engine.fleet?.counters.disagreements == 0)
        }
    }

    @Test("a follower with edits of its own says so, and nobody takes them for an error of joins")
    func editsOfFollower() throws {
        let world = try LinkedFleet(seed: 53)
        let (first, follower) = (world.hosts[0], world.hosts[1])
        world.apply(fields)
        #expect(try world.settle() == nil)
        world.cut(follower)
        #expect(note(follower, follower.root, "mine").contains("result"))
        follower.engine.configuration.link?.mode = .follow
        try follower.killDaemon()
        world.increment(first)
        follower.comeUp()
        try world.spend(seconds: 120)
        let status = follower.engine.call(follower.root, .serverStatus).joined()
        #expect(status.contains("this host follows, and has edits of it that are not sent"))
        for host in world.hosts {
            #expect(host.engine.engine.fleet?.counters.disagreements == 0)
        }
        world.sites.disconnected(1)
        follower.engine.configuration.link?.mode = .both
        try follower.killDaemon()
        #expect(try world.settle() == nil)
        #expect(first.value("count") == 1 && first.value("note") == "mine")
    }

    @Test("my edits on another host are mine to undo only where one name is one person")
    func undo() throws {
        for users in LinkConfiguration.Users.allCases {
            let world = try LinkedFleet(seed: 52, configure: { $1.users = users })
            world.apply(fields)
            #expect(try world.settle() == nil)
            let here = person(world.hosts[0], "alice", uid: 1_000)
            let there = person(world.hosts[1], "alice", uid: 2_000)
            // Another person, with the uid that alice has on the first host.
            let bob = person(world.hosts[1], "bob", uid: 1_000)
            #expect(note(world.hosts[0], here, "one").contains("result"))
            #expect(try world.settle() == nil)
            let mine = Request.stateUndo(StateUndo(form: "shared", scope: .mine))
            let bobs = world.hosts[1].engine.call(bob, mine).joined()
            #expect(bobs.contains("nothing to undo"))
            let answer = world.hosts[1].engine.call(there, mine).joined()
            #expect(answer.contains("nothing to undo") == (users == .apart))
            #expect(try world.settle() == nil)
            #expect(world.hosts[0].value("note") == (users == .apart ? "one" : ""))
        }
    }

    @Test("the owner of a form is somebody on their own host, and elsewhere if names are the same")
    func owner() throws {
        for users in LinkConfiguration.Users.allCases {
            let world = try LinkedFleet(seed: 53, configure: { $1.users = users })
            let alice = person(world.hosts[0], "alice", uid: 1_000)
            let access = #"{"write":["owner"]}"#
            #expect(apply(world.hosts[0], alice, access: access).contains("result"))
            #expect(try world.settle() == nil)
            let there = person(world.hosts[1], "alice", uid: 2_000)
            let mallory = person(world.hosts[1], "mallory", uid: 1_000)
            #expect(note(world.hosts[0], alice, "one").contains("result"))
            #expect(note(world.hosts[1], mallory, "two").contains("forbidden"))
            #expect(note(world.hosts[1], there, "three").contains("result") == (users == .same))
            // A later definition by somebody else does not change whose it is.
            let later = #"{"write":["owner"],"press":["owner"]}"#
            #expect(apply(world.hosts[1], world.hosts[1].root, access: later).contains("result"))
            #expect(try world.settle() == nil)
            #expect(note(world.hosts[1], there, "four").contains("result") == (users == .same))
            #expect(note(world.hosts[0], alice, "five").contains("result"))
        }
    }

    @Test("users and groups by number are refused in a shared form, and not in others")
    func numbers() throws {
        let world = try LinkedFleet(seed: 54)
        let host = world.hosts[0]
        for access in [#"{"write":["uid:1000"]}"#, #"{"read":["anyone","gid:7"]}"#] {
            let answer = apply(host, host.root, access: access)
            #expect(answer.contains("use user: or group:"))
            #expect(host.engine.engine.form(named: "shared") == nil)
            #expect(apply(host, host.root, access: access, form: "own").contains("result"))
        }
        world.apply(fields)
        #expect(apply(host, host.root, access: #"{"write":["uid:1"]}"#).contains("use user:"))
        #expect(apply(host, host.root, access: #"{"write":["user:x"]}"#).contains("result"))
    }

    @Test("edits of other hosts are in nobody's quota: they leave the history before mine")
    func quotas() throws {
        var limits = Limits()
        limits.historyRevisionsMax = 50
        limits.historyRevisionsPerUser = 10
        let world = try LinkedFleet(seed: 56, limits: limits)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let bob = person(world.hosts[1], "bob", uid: 1_000)
        #expect(note(world.hosts[1], bob, "mine").contains("result"))
        #expect(try world.settle() == nil)
        let alice = person(world.hosts[0], "alice", uid: 1_000)
        for number in 0..<300 {
            let change = Change(field: "count", .value(.integer(Int64(number % 100))))
            world.hosts[0].engine.call(
                alice, .stateSet(StateSet(form: "shared", changes: [change])))
        }
        #expect(try world.settle() == nil)
        // Time for the chores of the store.
        world.hosts[1].engine.pass(milliseconds: 700_000)
        #expect((world.hosts[1].engine.store.revisions[1] ?? [:]).count == 50)
        let text = try #require(
            world.hosts[1].engine.ask(
                bob,
                #"{"jsonrpc":"2.0","id":1,"method":"state.history","params":{"form":"shared","#
                    + #""limit":1000}}"#
            ).first { $0.contains(#""id":1"#) })
        #expect(text.contains(#""value":"mine""#))
        let entries = try JSON(parsing: text)["result"]?["entries"]?.arrayValue ?? []
        #expect(entries.count { $0["by"]?["user"] == "alice" } <= 50)
        // Mine is undone also after a start, when the journal is read from the store.
        try world.hosts[1].killDaemon()
        let again = person(world.hosts[1], "bob", uid: 1_000)
        let undone = world.hosts[1].engine.call(
            again, .stateUndo(StateUndo(form: "shared", scope: .mine))
        ).joined()
        #expect(undone.contains("result"))
        #expect(world.hosts[1].value("note") == "")
    }

    @Test("form.get and form.list say how a form stands to the other hosts")
    func state() throws {
        let world = try LinkedFleet(seed: 55)
        let host = world.hosts[0]
        world.apply(fields)
        func state() throws -> SharedFormState? {
            let text = try #require(
                host.engine.call(host.root, .formGet(form: "shared")).first)
            let json = try #require(try JSON(parsing: text)["result"])
            let list = try #require(host.engine.call(host.root, .formList).first)
            let forms = try FormList(decoding: try #require(try JSON(parsing: list)["result"]))
            let link = try FormResult(decoding: json).link
            #expect(forms.forms.first { $0.form == "shared" }?.link == link)
            return link
        }
        #expect(try state()?.state == .cutOff)
        #expect(try world.settle() == nil)
        try world.spend(seconds: 12)
        #expect(try state() == SharedFormState(fleet: "ops", state: .agrees))
        world.cut(host)
        #expect(try state()?.why == "cut")
        #expect(apply(host, host.root, access: "{}", form: "own").contains("result"))
        let own = host.engine.call(host.root, .formGet(form: "own")).joined()
        #expect(!own.contains(#""link""#))
    }
}
