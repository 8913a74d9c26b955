import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("What other hosts have under way, in the live form")
struct LiveElsewhereTests {
    private static let form = """
        form: deploy
        fields:
          - id: traffic
            type: slider
            label: Traffic
            max: 100
            approval: {from: ["group:oncall"], when: {traffic: {atLeast: 20}}}
          - {id: start, type: button, label: Start, runs: queue}
        """

    private func bench(columns: Int = 100) throws -> LiveBench {
        var bench = try LiveBench(Self.form, columns: columns)
        bench.model.around.clock = { Timestamp(milliseconds: 1_700_000_012_000) }
        return bench
    }

    private func tell(_ bench: inout LiveBench, _ host: HostUnderWay) {
        bench.feed(
            .client(.presence(PresenceChanged(form: "deploy", peers: [], hosts: [host]))))
    }

    private var proposing: HostUnderWay {
        var host = HostUnderWay("web1")
        host.proposals = [
            LiveProposalTests.proposal(12, by: "ann") {
                $0.host = "web1"
                $0.by.host = "web1"
            }
        ]
        return host
    }

    @Test("a proposal of another host is listed with it, and a vote goes there")
    func proposals() throws {
        var bench = try bench()
        bench.feed(.client(.proposal(LiveProposalTests.proposal(12, to: 70))))
        tell(&bench, proposing)
        let screen = bench.screen()
        #expect(screen.contains("⇢ 2 proposals"), "\(screen)")
        #expect(screen.contains("ann@web1 proposes Traffic 20 → 50"), "\(screen)")
        bench.type("P")
        bench.press(.down)
        let page = bench.screen()
        #expect(page.contains("12  Traffic 20 → 70"), "\(page)")
        #expect(page.contains("12@web1  Traffic 20 → 50"), "\(page)")
        // The user ann of another host is somebody else.
        bench.type("a")
        bench.press(.enter)
        #expect(
            bench.sent.map(\.request) == [
                .proposalApprove(ProposalVote(form: "deploy", proposal: 12, host: "web1"))
            ])
        tell(&bench, HostUnderWay("web1"))
        #expect(bench.model.presentation.proposals.map(\.name) == ["deploy/12"])
        #expect(bench.model.page == .proposals(selected: "deploy/12"))
    }

    @Test("a proposal of a host that is away says so")
    func away() throws {
        var bench = try bench()
        var host = proposing
        host.awaySince = Timestamp(milliseconds: 1_700_000_000_000)
        tell(&bench, host)
        bench.type("P")
        #expect(bench.screen().contains("web1 is away since"), "\(bench.screen())")
    }

    @Test("a run of another host is below its button, and is cancelled there")
    func runs() throws {
        var bench = try bench()
        let run =
            #"{"form":"deploy","peers":[],"hosts":[{"host":"web1","runs":[{"field":"start","#
            + #""press":"b.1:4","at":"2023-11-14T22:13:20Z","since":"2023-11-14T22:13:20Z","#
            + #""state":"running","host":"web1","by":{"user":"bob","uid":1,"connection":1,"#
            + #""replica":"b.1"},"handler":{"user":"runner","uid":2,"connection":2,"#
            + #""replica":"b.1"}}]}]}"#
        let change = try PresenceChanged(decoding: try JSON(parsing: Array(run.utf8)))
        bench.feed(.client(.presence(change)))
        let screen = bench.screen()
        #expect(screen.contains("0:12  by runner@web1"), "\(screen)")
        bench.focus("start")
        bench.type("X")
        bench.press(.enter)
        #expect(
            bench.sent.map(\.request) == [
                .buttonCancel(ButtonCancel(form: "deploy", field: "start", press: "b.1:4"))
            ])
        tell(&bench, HostUnderWay("web1"))
        #expect(!bench.screen().contains("runner"), "\(bench.screen())")
    }
}
