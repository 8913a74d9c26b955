import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// Presses of buttons whose `handledAt` names a host.
@Suite("Presses that another host handles")
struct FleetPressTests {
    private let fleet: VerbFleet
    private let handler: ConnectionID

    /// The first host handles all presses, and Bob is at the second one.
    init() throws {
        fleet = try VerbFleet(
            more: #"""
                ,{"id":"far","type":"button","runs":"queue","waitsFor":"10m","handledAt":"h0",
                "access":{"handle":["anyone"],"press":["user:ann","user:bob"]}},
                {"id":"lone","type":"button","runs":"one","waitsFor":"10m","handledAt":"h0"},
                {"id":"lost","type":"button","runs":"one","handledAt":"h9"},
                {"id":"kept","type":"button","runs":"queue","waitsFor":"10m","handledAt":"h0",
                "approval":{"from":["user:ann"]}},
                {"id":"shown","type":"button","binds":"far"}
                """#)
        handler = fleet.world.hosts[0].engine.connect(uid: 1005, user: "hand")
    }

    private func press(_ field: String, _ place: Int = 1, _ more: String = "") throws -> String {
        let id = place == 0 ? fleet.ann : fleet.bob
        return try fleet.set(place, id, #"{"field":"\#(field)","press":true}"#, more)
    }

    private func presses(_ field: String) -> [JSON?] {
        fleet.world.hosts.map { $0.value(field)?["presses"] }
    }

    private func pressed(_ answer: String) throws -> String {
        let json = try JSON(parsing: answer)
        let result = try SetResult(decoding: try #require(json["result"]))
        return try #require(result.fields.lazy.compactMap(\.state.press).first)
    }

    private func outcome(_ press: String, _ place: Int = 1) throws -> String {
        try fleet.call(
            place, place == 0 ? fleet.ann : fleet.bob, "button.outcome",
            #"{"form":"shared","press":"\#(press)"}"#)
    }

    @Test("the host that is named makes the press, runs it and says how it went")
    func handled() throws {
        let answer = try press("far")
        let dot = try pressed(answer)
        #expect(Dot(dot)?.replica == fleet.world.hosts[0].engine.replica)
        // Who was answered sees it.
        #expect(answer.contains(#""presses":1"#))
        #expect(presses("far") == [1, 1])
        #expect(try outcome(dot).contains(#""state":"waiting""#))
        #expect(fleet.world.hosts[1].engine.engine.form(named: "shared")?.runs == nil)

        _ = try fleet.call(0, handler, "button.handle", #"{"form":"shared","fields":["far"]}"#)
        let assigned = (fleet.world.hosts[0].engine.received[handler] ?? []).last ?? ""
        let params = try #require(try JSON(parsing: assigned)["params"])
        #expect(params["press"]?.stringValue == dot)
        #expect(params["by"]?["user"] == "bob" && params["by"]?["host"] == "h1")
        #expect(try outcome(dot).contains(#""state":"running""#))
        let ticket = try #require(params["ticket"]?.stringValue)
        _ = try fleet.call(
            0, handler, "button.finish",
            #"{"press":"\#(dot)","ticket":"\#(ticket)","outcome":"done","text":"went well"}"#)
        #expect(try outcome(dot).contains(#""state":"done""#))
        // The outcome is told to those who look at the form on the other host.
        try fleet.world.spend(seconds: 1)
        let told = fleet.elsewhere(1).flatMap(\.runs).map(\.run)
        #expect(told.map(\.state) == [.done] && told.first?.text == "went well")
        // And a later one does not hide it from who asks.
        let later = try pressed(try press("far"))
        #expect(later != dot)
        try fleet.world.spend(seconds: 1)
        #expect(try outcome(dot).contains(#""text":"went well""#))
    }

    @Test("a press at the host that is named stays there, also by another button that shows it")
    func atHome() throws {
        _ = try press("far", 0)
        let dot = try pressed(try press("shown", 1))
        #expect(Dot(dot)?.replica == fleet.world.hosts[0].engine.replica)
        #expect(presses("far") == [2, 2])
    }

    @Test("what the host refuses is refused, in its words")
    func refused() throws {
        _ = try press("lone")
        let busy = try press("lone")
        #expect(busy.contains(#""busy""#) && busy.contains("handles one press at a time"))
        let carol = fleet.world.hosts[1].engine.connect(uid: 1009, user: "carol")
        let answer = try fleet.set(1, carol, #"{"field":"far","press":true}"#)
        #expect(answer.contains("forbidden"))
        let before = fleet.world.hosts.map { $0.value("level") }
        let mixed = try fleet.set(
            1, fleet.bob, #"{"field":"far","press":true},{"field":"level","value":7}"#)
        #expect(mixed.contains("send them apart"))
        #expect(presses("far") == [0, 0])
        #expect(fleet.world.hosts.map { $0.value("level") } == before)
    }

    @Test("a host that is away, or was never heard, handles nothing, and nobody else does")
    func away() throws {
        let lost = try press("lost")
        #expect(lost.contains("has not heard of it; nothing was done"), "\(lost)")
        fleet.world.cut(fleet.world.hosts[0])
        try fleet.world.spend(seconds: 40)
        #expect(try press("far").contains("h0 is away since"))
        fleet.world.cut(fleet.world.hosts[1])
        #expect(try press("far").contains("cut off from the others; nothing was done"))
        #expect(presses("far") == [0, 0])
    }

    @Test("a host that does not share the form any more makes no press for others")
    func unlinked() throws {
        let host = fleet.world.hosts[0]
        host.engine.call(host.root, .formUnlink(form: "shared"))
        let answer = try press("far")
        #expect(answer.contains("h0 does not handle the presses of far"), "\(answer)")
        #expect(host.value("far")?["presses"] == 0)
    }

    @Test("a handler runs where the presses are")
    func handlers() throws {
        func handle(_ fields: String) throws -> String {
            try fleet.call(1, fleet.bob, "button.handle", #"{"form":"shared"\#(fields)}"#)
        }
        #expect(try handle(#","fields":["far"]"#).contains("are handled at h0"))
        let all = try handle("")
        #expect(all.contains(#""fields":["go"]"#), "\(all)")
    }

    @Test("who sends many requests to a host that does not answer leaves places for others")
    func many() throws {
        let other = fleet.world.hosts[1]
        let carol = other.engine.connect(uid: 1009, user: "carol")
        let asked = #"{"jsonrpc":"2.0","id":9,"method":"button.outcome","params":"#
        let press = Dot(fleet.world.hosts[0].engine.replica, 1_000)
        let params = #"{"form":"shared","press":"\#(press)"}}"#
        for _ in 0..<300 { other.engine.ask(carol, asked + params) }
        #expect(other.engine.ask(fleet.bob, asked + params).isEmpty)
        // Answers come in the order of the requests.
        try fleet.world.spend(seconds: 10)
        func refused(_ id: ConnectionID) -> Int {
            (other.engine.received[id] ?? []).count { $0.contains("too many") }
        }
        #expect(refused(carol) == 44 && refused(fleet.bob) == 0)
        #expect(other.engine.received[fleet.bob]?.isEmpty == false)
    }

    @Test("a press that is sent again with its key is made once")
    func sentAgain() throws {
        let first = try press("far", 1, #","idempotencyKey":"k1""#)
        let again = try press("far", 1, #","idempotencyKey":"k1""#)
        #expect(try pressed(first) == pressed(again))
        #expect(presses("far") == [1, 1])
        // The host that was asked knows the answer, also while the owner is away.
        fleet.world.sites.disconnected(0)
        #expect(try pressed(first) == pressed(press("far", 1, #","idempotencyKey":"k1""#)))
    }

    @Test("a press whose answer was lost is made once, although its owner has started again")
    func lostAnswer() throws {
        let (owner, other) = (fleet.world.hosts[0], fleet.world.hosts[1])
        other.engine.ask(
            fleet.bob,
            #"{"jsonrpc":"2.0","id":9,"method":"state.set","params":{"form":"shared","#
                + #""idempotencyKey":"k1","changes":[{"field":"far","press":true}]}}"#)
        try other.takeOrders()
        for message in other.toServer where message.isPresence { owner.receive(message) }
        other.toServer = []
        try owner.takeOrders()
        owner.toServer.removeAll(where: \.isPresence)
        #expect(presses("far")[0] == 1)
        fleet.world.sites.disconnected(0)
        try owner.killDaemon()
        owner.comeUp()
        try fleet.world.spend(seconds: 15)
        _ = try pressed(press("far", 1, #","idempotencyKey":"k1""#))
        #expect(presses("far") == [1, 1])
    }

    @Test("the answer waits until the press is here, and no longer than others")
    func late() throws {
        let (owner, other) = (fleet.world.hosts[0], fleet.world.hosts[1])
        func ask() -> [String] {
            other.engine.ask(
                fleet.bob,
                #"{"jsonrpc":"2.0","id":9,"method":"state.set","params":"#
                    + #"{"form":"shared","changes":[{"field":"far","press":true}]}}"#)
        }
        /// Carries words, and no edits.
        func carryWords() throws {
            try other.takeOrders()
            for message in other.toServer where message.isPresence { owner.receive(message) }
            other.toServer = []
            try owner.takeOrders()
            for message in owner.toServer where message.isPresence { other.receive(message) }
            owner.toServer.removeAll(where: \.isPresence)
        }
        #expect(ask().isEmpty)
        try carryWords()
        #expect(presses("far")[0] == 1)
        #expect(other.engine.received[fleet.bob]?.last?.contains(#""id":9"#) != true)
        try fleet.world.rest()
        let answer = try #require(other.engine.received[fleet.bob]?.last)
        #expect(answer.contains(#""id":9"#) && answer.contains(#""presses":1"#))
        // The log is away: the press was made all the same.
        #expect(ask().isEmpty)
        try carryWords()
        for _ in 0..<28 {
            fleet.world.pass(milliseconds: 250)
            try carryWords()
        }
        let late = try #require(other.engine.received[fleet.bob]?.last)
        #expect(late.contains(#""id":9"#) && late.contains(#""press":"#))
        #expect(presses("far")[0] == 2)
    }

    @Test("a press that needs approval is proposed and applied on the host that is named")
    func proposed() throws {
        #expect(try press("kept").contains("approvalNeeded"))
        let answer = try press("kept", 1, #","propose":true"#)
        #expect(answer.contains(#""host":"h0""#) && answer.contains(#""by":{"user":"bob""#))
        try fleet.world.spend(seconds: 1)
        let proposal = try #require(fleet.elsewhere(1).first?.proposals.first)
        let vote = try fleet.call(
            0, fleet.ann, "proposal.approve", #"{"form":"shared","proposal":\#(proposal.id)}"#)
        #expect(vote.contains("applied"), "\(vote)")
        try fleet.world.spend(seconds: 1)
        #expect(presses("kept") == [1, 1])
        #expect(fleet.elsewhere(1).flatMap(\.runs).map(\.run.state) == [.waiting])
    }

    @Test("a form that is not shared handles its presses itself")
    func alone() throws {
        let host = try EngineHost()
        let id = host.connect(uid: 0, user: "root")
        host.ask(
            id,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"f","fields":[{"id":"go","type":"button","runs":"queue","#
                + #""waitsFor":"1m","handledAt":"web1"}]}}}"#)
        let answer = host.ask(
            id,
            #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":"#
                + #"{"form":"f","changes":[{"field":"go","press":true}]}}"#
        ).joined()
        #expect(answer.contains(#""waiting":1"#))
    }
}
