import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// Proposals of one host, and votes from another.
@Suite("Votes between hosts")
struct FleetVoteTests {
    private func vote(
        _ fleet: VerbFleet, _ id: ConnectionID, _ verb: String = "approve", _ number: Int = 1
    ) throws -> String {
        try fleet.call(
            1, id, "proposal.\(verb)", #"{"form":"shared","proposal":\#(number),"host":"h0"}"#)
    }

    private func proposed(_ fleet: VerbFleet, _ change: String, by: ConnectionID? = nil) throws {
        let answer = try fleet.set(
            0, by ?? fleet.ann, change, #","propose":true,"message":"INC-231""#)
        #expect(answer.contains(#""proposal""#))
        try fleet.world.spend(seconds: 1)
    }

    @Test("a proposal is listed on the other host, and approved there")
    func approved() throws {
        let fleet = try VerbFleet(seed: 91)
        try proposed(fleet, #"{"field":"traffic","value":50}"#)
        let list = try fleet.call(1, fleet.bob, "proposal.list", #"{"form":"shared"}"#)
        #expect(list.contains(#""proposals":[],"others":[{"id":1"#))
        #expect(list.contains(#""host":"h0""#) && list.contains("INC-231"))
        let answer = try vote(fleet, fleet.bob)
        #expect(answer.contains(#""state":"applied""#) && answer.contains(#""host":"h0""#))
        #expect(try fleet.world.settle() == nil)
        for host in fleet.world.hosts { #expect(host.value("traffic") == 50) }
        let history = try fleet.call(0, fleet.ann, "state.history", #"{"form":"shared"}"#)
        #expect(history.contains(#""approvedBy":[{"user":"bob""#))
        try fleet.world.spend(seconds: 1)
        #expect(try vote(fleet, fleet.bob).contains("notFound"))
        #expect(fleet.elsewhere(1).isEmpty)
    }

    @Test("where a name is one person on all hosts, the proposer does not count on another")
    func proposer() throws {
        for users in [LinkConfiguration.Users.same, .apart] {
            let fleet = try VerbFleet(seed: 92, users: users)
            let alice = fleet.world.hosts[0].engine.connect(uid: 1020, user: "alice")
            let again = fleet.world.hosts[1].engine.connect(uid: 2020, user: "alice")
            try proposed(fleet, #"{"field":"traffic","value":50}"#, by: alice)
            let answer = try vote(fleet, again)
            #expect(answer.contains("forbidden") == (users == .same), "\(answer)")
            if users == .same {
                #expect(answer.contains("alice proposed"))
                #expect(try vote(fleet, again, "withdraw").contains(#""state":"withdrawn""#))
            } else {
                #expect(answer.contains(#""state":"applied""#))
            }
        }
    }

    @Test("who became another user after the login counts nowhere else")
    func login() throws {
        let fleet = try VerbFleet(seed: 93, users: .same)
        let alice = fleet.world.hosts[0].engine.connect(uid: 1020, user: "alice")
        try proposed(fleet, #"{"field":"traffic","value":50}"#, by: alice)
        let erin = fleet.world.hosts[1].engine.connect(uid: 1012, user: "erin", loginUID: 2020)
        #expect(try vote(fleet, erin).contains("forbidden"))
        let gone = fleet.world.hosts[1].engine.connect(
            uid: 1012, user: "erin", isLoginKnown: false)
        #expect(try vote(fleet, gone).contains("forbidden"))
        let own = fleet.world.hosts[1].engine.connect(uid: 1012, user: "erin", loginUID: 1012)
        #expect(try vote(fleet, own).contains(#""state":"applied""#))
    }

    @Test("each person of each host has one vote, and numbers of users mean nothing elsewhere")
    func counted() throws {
        let fleet = try VerbFleet(seed: 94)
        try proposed(fleet, #"{"field":"two","value":3}"#)
        // Bob has the number of Ann on her host.
        #expect(try vote(fleet, fleet.bob).contains(#""needs":1"#))
        #expect(try vote(fleet, fleet.bob).contains(#""needs":1"#))
        let root = fleet.world.hosts[1].root
        #expect(try vote(fleet, root).contains("forbidden"))
        let carol = fleet.world.hosts[0].engine.connect(uid: 1001, user: "carol")
        let last = try fleet.call(
            0, carol, "proposal.approve", #"{"form":"shared","proposal":1}"#)
        #expect(last.contains(#""state":"applied""#))
        #expect(try fleet.world.settle() == nil)
        for host in fleet.world.hosts { #expect(host.value("two") == 3) }
    }

    @Test("somebody whom no rule names, and the proposal's number of another host, are refused")
    func refused() throws {
        let fleet = try VerbFleet(seed: 95)
        try proposed(fleet, #"{"field":"traffic","value":50}"#)
        let carol = fleet.world.hosts[1].engine.connect(uid: 1009, user: "carol")
        #expect(try vote(fleet, carol).contains("forbidden"))
        #expect(try vote(fleet, fleet.bob, "withdraw").contains("forbidden"))
        #expect(try vote(fleet, fleet.bob, "approve", 2).contains("notFound"))
        let own = try fleet.call(
            1, fleet.bob, "proposal.approve", #"{"form":"shared","proposal":1}"#)
        #expect(own.contains("notFound"))
        #expect(try vote(fleet, fleet.bob, "refuse").contains(#""state":"refused""#))
        fleet.world.cut(fleet.world.hosts[0])
    }

    @Test("votes from other hosts outlast a start of the daemon")
    func restarted() throws {
        let fleet = try VerbFleet(seed: 96)
        try proposed(fleet, #"{"field":"two","value":3}"#)
        #expect(try vote(fleet, fleet.bob).contains(#""needs":1"#))
        try fleet.world.hosts[0].killDaemon()
        fleet.world.hosts[0].comeUp()
        try fleet.world.spend(seconds: 15)
        #expect(try vote(fleet, fleet.bob).contains(#""needs":1"#))
        let carol = fleet.world.hosts[1].engine.connect(uid: 1009, user: "carol")
        #expect(try vote(fleet, carol).contains(#""state":"applied""#))
    }
}
