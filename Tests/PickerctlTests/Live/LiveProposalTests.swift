import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("Proposals in the live form")
struct LiveProposalTests {
    private static let form = """
        form: deploy
        fields:
          - id: traffic
            type: slider
            label: Traffic
            max: 100
            approval: {from: ["group:oncall"], when: {traffic: {atLeast: 20}}}
            breakGlass: ["user:dave"]
          - {id: note, type: text, label: Note}
          - {id: go, type: button, label: Go, approval: {from: ["group:oncall"], count: 2}}
        """

    static func bench(columns: Int = 80, lines: Int = 24) throws -> LiveBench {
        var bench = try LiveBench(form, columns: columns, lines: lines)
        bench.model.around.clock = { Timestamp(milliseconds: 1_700_000_000_000) }
        return bench
    }

    /// A proposal of bob, or of the user.
    static func proposal(
        _ id: Int64 = 12, to value: JSON = 50, by user: String = "bob",
        _ change: (inout FormProposal) -> Void = { _ in }
    ) -> FormProposal {
        var proposal = FormProposal(
            id: id, form: "deploy",
            by: LiveBench.author(user == "bob" ? LiveBench.bob : LiveBench.me, user),
            at: Timestamp(milliseconds: 1_700_000_000_000),
            until: Timestamp(milliseconds: 1_700_001_800_000), message: "INC-231",
            content: .values([.init(field: "traffic", .value(value), was: 20)], lease: nil),
            fields: ["traffic"], needs: 1)
        change(&proposal)
        return proposal
    }

    private func sets(_ bench: LiveBench) -> [StateSet] {
        bench.sent.compactMap { if case .stateSet(let set) = $0.request { set } else { nil } }
    }

    private static func result(_ proposal: FormProposal) -> RequestOutcome {
        var writer = JSONWriter()
        ProposalResult(proposal).encode(into: &writer)
        let text = String(decoding: writer.take(), as: UTF8.self)
        return .result((try? JSON(parsing: text)) ?? .null)
    }

    private static func page(
        _ entries: [HistoryPage.Entry], more: Bool = false
    ) throws -> RequestOutcome {
        var writer = JSONWriter()
        HistoryPage(entries: entries, more: more).encode(into: &writer)
        return .result(try JSON(parsing: String(decoding: writer.take(), as: UTF8.self)))
    }

    @Test(
        "a narrow row does without the message, the focus, who set it and who proposed it, in turn")
    func narrow() throws {
        let wordings = [
            #"bob, 2 s  ⇢ 50  bob: "INC-231"  ● bob"#, "bob, 2 s  ⇢ 50  bob  ● bob",
            "bob, 2 s  ⇢ 50  bob  ●", "⇢ 50  bob  ●", "⇢ 50  ●",
        ]
        var seen: Set<String> = []
        let form = Self.form.replacing("label: Traffic", with: "label: Traffic to canary")
        for columns in 60...130 {
            var bench = try LiveBench(form, columns: columns)
            bench.changed("traffic", 20)
            bench.feed(.client(.proposal(Self.proposal())))
            bench.bobIs(at: "traffic")
            bench.pass(milliseconds: 3_000)
            let screen = bench.screen()
            let row = screen.split(separator: "\n").first { $0.contains("Traffic") } ?? ""
            let wording = wordings.first { row.hasSuffix(" " + $0) }
            #expect(wording != nil, "\(columns): \(row)")
            if let wording { seen.insert(wording) }
        }
        #expect(seen.count == wordings.count, "\(seen)")
    }

    @Test("a guarded edit asks why, and becomes a proposal; what nobody guards is set at once")
    func proposes() throws {
        var bench = try Self.bench()
        bench.type("10")
        bench.press(.enter)
        #expect(sets(bench).map(\.guarded) == [.refused])
        bench.answer()
        bench.sent = []
        bench.type("50")
        bench.press(.enter)
        #expect(sets(bench).isEmpty)
        let asked = bench.screen()
        #expect(asked.contains("Traffic → 50: why?"), "\(asked)")
        #expect(asked.contains("1 approval of group:oncall is needed"), "\(asked)")
        #expect(asked.contains("propose"), "\(asked)")
        bench.type("INC-231")
        bench.press(.enter)
        #expect(sets(bench).map(\.guarded) == [.proposed])
        #expect(sets(bench).map(\.message) == ["INC-231"])
        #expect(bench.value("traffic") == 10, "a proposal changes nothing")
        bench.answer(Self.result(Self.proposal(by: "ann")))
        let screen = bench.screen()
        #expect(screen.contains("⇢ 50  you: \"INC-231\""), "\(screen)")
        #expect(screen.contains("deploy/12 waits for 1 approval until"), "\(screen)")
        #expect(screen.contains("⇢ 1 proposal"), "\(screen)")
    }

    @Test("a press asks too; Esc proposes nothing")
    func press() throws {
        var bench = try Self.bench()
        bench.focus("go")
        bench.press(.enter)
        #expect(bench.screen().contains("2 approvals of group:oncall are needed"))
        bench.press(.escape)
        #expect(bench.sent.isEmpty && bench.model.question == nil)
    }

    @Test("proposals of others: beside the value, in the header, until they end")
    func beside() throws {
        var bench = try Self.bench(columns: 100)
        bench.feed(.client(.proposal(Self.proposal())))
        let screen = bench.screen()
        #expect(screen.contains("⇢ 50  bob"), "\(screen)")
        #expect(screen.contains("⇢ 1 proposal"), "\(screen)")
        #expect(screen.contains("proposes Traffic 20 → 50"), "\(screen)")
        bench.feed(.client(.proposal(Self.proposal(13, to: 60))))
        #expect(bench.screen().contains("⇢ 50 +1  bob"))
        #expect(bench.screen().contains("⇢ 2 proposals"))
        bench.feed(
            .client(
                .proposal(
                    Self.proposal { proposal in
                        proposal.state = .refused
                        proposal.ended = .init(
                            at: proposal.at, by: LiveBench.author(LiveBench.bob, "erin"),
                            message: "not now")
                    })))
        let after = bench.screen()
        #expect(after.contains("deploy/12 was refused by erin: not now"), "\(after)")
        #expect(after.contains("⇢ 60  bob"), "\(after)")
        #expect(bench.model.presentation.proposals.map(\.id) == [13])
    }

    @Test("P lists them; a, r and w ask, and only Enter does it")
    func page() throws {
        var bench = try Self.bench()
        bench.type("P")
        #expect(bench.screen().contains("no proposal waits"))
        bench.feed(.client(.proposal(Self.proposal())))
        bench.feed(.client(.proposal(Self.proposal(14, to: 70, by: "ann"))))
        bench.type("P")
        let page = bench.screen()
        #expect(page.contains("What waits for approval"), "\(page)")
        #expect(page.contains("12  Traffic 20 → 50"), "\(page)")
        #expect(page.contains("14  Traffic 20 → 70"), "\(page)")
        #expect(page.contains("a approve"), "\(page)")
        bench.type("w")
        #expect(bench.model.question == nil && bench.sent.isEmpty, "it is not one's own")
        bench.type("P")
        bench.type("a")
        #expect(bench.screen().contains("Approve Traffic 20 → 50?"), "\(bench.screen())")
        #expect(bench.sent.isEmpty)
        bench.press(.escape)
        #expect(bench.sent.isEmpty && bench.model.question == nil)
        bench.type("a")
        bench.press(.enter)
        #expect(
            bench.sent.map(\.request) == [
                .proposalApprove(ProposalVote(form: "deploy", proposal: 12))
            ])
        bench.answer(
            Self.result(
                Self.proposal { proposal in
                    proposal.state = .applied
                    proposal.ended = .init(at: proposal.at, revision: 7)
                }))
        #expect(bench.screen().contains("deploy/12 is applied, revision 7"), "\(bench.screen())")
        #expect(bench.screen().contains("w withdraw"), "\(bench.screen())")
        bench.type("w")
        bench.type("later")
        bench.press(.enter)
        #expect(
            bench.sent.last?.request
                == .proposalWithdraw(
                    ProposalVote(form: "deploy", proposal: 14, message: "later")))
        bench.answer(
            Self.result(
                Self.proposal(14) { proposal in
                    proposal.state = .withdrawn
                    proposal.ended = .init(at: proposal.at)
                }))
        #expect(bench.screen().contains("No proposal waits for approval"), "\(bench.screen())")
    }

    @Test("a proposed definition is shown with what it changes, and the status line is about it")
    func definition() throws {
        var bench = try Self.bench(columns: 100)
        let new = try JSON(
            parsing: #"""
                {"form":"deploy","title":"Deployment","fields":[
                  {"id":"traffic","type":"slider","label":"Traffic","max":50,
                   "breakGlass":["user:dave"],
                   "approval":{"from":["group:oncall"],"when":{"traffic":{"atLeast":20}}}},
                  {"id":"comment","was":"note","type":"text","label":"Note"},
                  {"id":"size","type":"picker","options":["s","m"]}]}
                """#)
        bench.feed(
            .client(
                .proposal(
                    Self.proposal {
                        $0.content = .definition(new)
                        $0.fields = ["go"]
                    })))
        bench.pass(milliseconds: 7_000)
        bench.type("P")
        let page = bench.screen()
        for line in [
            "12  another definition of form deploy", "title: none → Deployment",
            "traffic.max: 100 → 50", "renamed: note → comment", "added: size", "removed: go",
            "deploy/12 · 2 approvals of group:oncall are needed",
        ] {
            #expect(page.contains(line), "\(line): \(page)")
        }
        #expect(!page.contains("traffic.approval") && !page.contains("0 to 100"), "\(page)")
        bench.press(.escape)
        #expect(bench.screen().contains("0 to 100"), "\(bench.screen())")
        var form = LineForm(bench.model, isPerson: true)
        form.begin()
        var commands: [LiveCommand] = []
        form.answer(":proposals", &commands)
        #expect(form.takeOutput().contains("  traffic.max: 100 → 50"))
    }

    @Test("options that are proposed: which ones come and go")
    func options() throws {
        var bench = try LiveBench(
            """
            form: deploy
            fields:
              - id: size
                type: picker
                label: Size
                options: [s, {tag: m, label: Medium}, l]
                approval: {from: [anyone]}
            """)
        bench.feed(
            .client(
                .proposal(
                    Self.proposal(by: "ann") {
                        $0.content = .options(
                            field: "size", ["xl", ["tag": "m", "label": "Middle"], "l"])
                        $0.fields = ["size"]
                    })))
        bench.type("P")
        let page = bench.screen()
        #expect(page.contains("size.options: + xl, - s, ~ m"), "\(page)")
        #expect(page.contains("your own vote does not count"), "\(page)")
    }

    @Test("a value that others guard lasts longer by a proposal")
    func longer() throws {
        var bench = try Self.bench()
        bench.changed(
            "traffic", 50,
            lease: FieldLease(
                id: "a.1:1", until: Timestamp(milliseconds: 1_700_000_600_000),
                by: LiveBench.author(LiveBench.me, "ann"), then: 10))
        bench.focus("traffic")
        bench.type("L2h")
        bench.press(.enter)
        guard case .stateLease? = bench.sent.last?.request else {
            Issue.record("nothing was sent")
            return
        }
        bench.answer(
            .refused(
                WireError(
                    .approvalNeeded, "traffic: this change needs the approval of others",
                    form: "deploy", field: "traffic")))
        let asked = bench.screen()
        #expect(asked.contains("1 approval of group:oncall is needed"), "\(asked)")
        bench.type("load test")
        bench.press(.enter)
        let set = try #require(sets(bench).last)
        #expect(set.guarded == .proposed && set.message == "load test")
        #expect(set.lease == .seconds(7_200) && set.changes.map(\.action) == [.value(50)])
    }

    @Test("a broken glass behind thousands of other changes is found; an old one is not looked for")
    func buriedGlass() throws {
        var bench = try Self.bench(columns: 100)
        func entry(_ revision: Int64, minutesAgo: Int64, isGlass: Bool = false) -> HistoryPage.Entry
        {
            var entry = HistoryPage.Entry(
                revision: revision,
                at: Timestamp(milliseconds: 1_700_000_000_000 - minutesAgo * 60_000),
                by: LiveBench.author(LiveBench.bob, "dave"), kind: "set", changes: [])
            entry.isBreakGlass = isGlass
            return entry
        }
        func asked() throws -> (Int, Revision?) {
            let number = try #require(bench.model.purposes.first { $0.value == .brokenGlass }).key
            let request = bench.sent.last { $0.number == number }?.request
            guard case .stateHistory(let ask)? = request else { return (number, nil) }
            return (number, ask.before)
        }
        func answer(_ entries: [HistoryPage.Entry]) throws {
            bench.feed(.answered([try asked().0], try Self.page(entries, more: true)))
        }
        try answer((0..<200).map { entry(1_000 - $0, minutesAgo: 1) })
        #expect(try asked().1 == 801)
        // A change that comes meanwhile is searched afterwards, down to what was searched.
        bench.changed("traffic", 30)
        try answer([entry(800, minutesAgo: 20), entry(799, minutesAgo: 30, isGlass: true)])
        #expect(bench.screen().contains("glass broken by dave"), "\(bench.screen())")
        #expect(try asked().1 == nil)
        try answer([entry(1_001, minutesAgo: 0), entry(1_000, minutesAgo: 1)])
        #expect(!bench.model.purposes.values.contains(.brokenGlass))
        // Nothing older than an hour is asked for.
        bench.changed("traffic", 40)
        try answer([entry(2_000, minutesAgo: 61)])
        #expect(!bench.model.purposes.values.contains(.brokenGlass))
    }

    @Test("the glass was broken: the header says so for an hour")
    func brokenGlass() throws {
        var bench = try Self.bench(columns: 100)
        // It is asked for when the form opens.
        let first = try #require(bench.model.purposes.first { $0.value == .brokenGlass })
        bench.feed(.answered([first.key], try Self.page([])))
        bench.changed("traffic", 30)
        guard case .stateHistory(let asked)? = bench.sent.last?.request else {
            Issue.record("the history was not asked for")
            return
        }
        #expect(asked.field == nil)
        var entry = HistoryPage.Entry(
            revision: 2, at: Timestamp(milliseconds: 1_699_999_940_000),
            by: LiveBench.author(LiveBench.bob, "dave"), kind: "set", changes: [])
        entry.isBreakGlass = true
        bench.answer(try Self.page([entry]))
        #expect(bench.screen().contains("glass broken by dave"), "\(bench.screen())")
        bench.model.around.clock = { Timestamp(milliseconds: 1_700_003_540_000) }
        bench.pass(milliseconds: 3_540_000)
        #expect(!bench.screen().contains("glass broken"), "\(bench.screen())")
        // A field that nobody guards asks nothing.
        bench.sent = []
        bench.changed("note", "x")
        #expect(bench.sent.isEmpty)
    }

    @Test("as lines: the same words, :proposals, :approve and a question")
    func lines() throws {
        var bench = try Self.bench()
        bench.feed(.client(.proposal(Self.proposal())))
        var form = LineForm(bench.model, isPerson: true)
        form.begin()
        var commands: [LiveCommand] = []
        #expect(
            form.takeOutput().contains {
                $0.contains("Traffic: 0, bob proposes 50: \"INC-231\"")
            })
        form.answer(":proposals", &commands)
        #expect(
            form.takeOutput().contains {
                $0.hasPrefix("12. Traffic 20 → 50, by bob  \"INC-231\", waits for 1 approval")
            })
        form.answer(":approve 12 looks good", &commands)
        #expect(form.takeOutput() == ["Approve Traffic 20 → 50  \"INC-231\"? yes or no:"])
        form.answer("no", &commands)
        #expect(commands.isEmpty && form.takeOutput().last == "Nothing was changed.")
        form.answer(":approve 12 looks good", &commands)
        form.answer("yes", &commands)
        #expect(
            commands == [
                .request(
                    1,
                    .proposalApprove(
                        ProposalVote(form: "deploy", proposal: 12, message: "looks good")))
            ] || commands.count == 1)
        form.answer(":approve 99", &commands)
        #expect(form.takeOutput().contains { $0.hasPrefix("No: the number of a proposal") })
        form.answer("60", &commands)
        let asked = form.takeOutput()
        #expect(
            asked.contains("It becomes a proposal: 1 approval of group:oncall is needed."),
            "\(asked)")
        form.answer("INC-9", &commands)
        guard case .request(_, .stateSet(let set))? = commands.last else {
            Issue.record("nothing was proposed")
            return
        }
        #expect(set.guarded == .proposed && set.message == "INC-9")
    }
}
