import PickerClient
import SyncCore
import Testing

@testable import TerminalUI
@testable import pickerctl

/// Screens of runs, values that end, and proposals.
extension LiveScreenTests {
    /// What a runbook has besides values: a run with its progress, one that failed, a value that
    /// ends by itself.
    func runbook(
        _ columns: Int, _ lines: Int, isAway: Bool = false
    ) throws -> LiveBench {
        var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
        let now = Timestamp("2026-11-21T14:03:00.000Z") ?? Timestamp(milliseconds: 0)
        bench.model.around.clock = { now }
        let run = ButtonRun(
            press: "a.1:7", by: LiveBench.author(LiveBench.me, "ann"), at: now,
            state: .running, since: Timestamp(milliseconds: now.milliseconds - 41_000),
            handler: LiveBench.author(LiveBench.bob, "bob"))
        bench.changed("start", 1, runs: ButtonRuns(waiting: 1, running: [run], last: nil))
        bench.feed(
            .client(
                .progress(
                    ButtonProgressed(
                        form: "deploy", field: "start", press: run.press,
                        fraction: DecimalNumber("0.62"), text: "copying images",
                        isAway: isAway))))
        bench.changed(
            "maintenance", true,
            lease: FieldLease(
                id: "a.1:1", until: Timestamp(milliseconds: now.milliseconds + 7_152_000),
                by: LiveBench.author(LiveBench.bob, "bob"), then: nil))
        bench.pass(milliseconds: 3_000)
        bench.focus("start")
        return bench
    }

    @Test("a runbook at work: a run with its progress, a value that ends, and what is asked")
    func runs() throws {
        try check("runbook", Look.allCases) { try runbook($0, $1) }
        try check("away-handler", Self.busyLooks) { try runbook($0, $1, isAway: true) }
        try check("cancel-run", Self.busyLooks) { columns, lines in
            var bench = try runbook(columns, lines)
            bench.type("X")
            return bench
        }
        try check("message", Self.busyLooks) { columns, lines in
            var bench = try runbook(columns, lines)
            bench.focus("rollback")
            bench.press(.enter)
            bench.type("y")
            bench.type("INC-231")
            return bench
        }
        try check("lease", Self.busyLooks) { columns, lines in
            var bench = try runbook(columns, lines)
            bench.focus("maintenance")
            bench.type("L")
            bench.type("1h")
            return bench
        }
        try check("undo", Self.busyLooks) { columns, lines in
            var bench = try runbook(columns, lines)
            bench.changed("traffic", 40, by: LiveBench.me)
            bench.type("u")
            return bench
        }
    }

    /// Changes that wait for others: of values, with an end, of the definition, and one of one's
    /// own; somebody has broken the glass.
    func proposals(_ columns: Int, _ lines: Int) throws -> LiveBench {
        var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
        let now = Timestamp("2026-11-21T14:03:00.000Z") ?? Timestamp(milliseconds: 0)
        bench.model.around.clock = { now }
        var definition = bench.model.presentation.definition.json
        definition = try JSON(
            parsing: definition.encodedText
                .replacing(#""max":64"#, with: #""max":128"#)
                .replacing(#""within":"30m""#, with: #""within":"1h""#))
        let contents: [(user: String, message: String?, FormProposal.Content)] = [
            (
                "bob", "INC-231: half of the traffic",
                .values([.init(field: "traffic", .value(50), was: 0)], lease: .seconds(7_200))
            ),
            ("bob", nil, .definition(definition)),
            (
                "ann", "INC-232",
                .values(
                    [
                        .init(field: "traffic", .value(75), was: 0),
                        .init(field: "replicas", .value(12), was: 3),
                    ], lease: nil)
            ),
        ]
        for (number, (user, message, content)) in contents.enumerated() {
            let proposal = FormProposal(
                id: Int64(number) + 12, form: "deploy",
                by: LiveBench.author(user == "bob" ? LiveBench.bob : LiveBench.me, user),
                at: Timestamp(milliseconds: now.milliseconds - 60_000),
                until: Timestamp(milliseconds: now.milliseconds + 1_740_000), message: message,
                content: content, fields: ["traffic"], needs: 1)
            bench.feed(.client(.proposal(proposal)))
        }
        bench.model.brokenGlass.by = "dave"
        bench.model.brokenGlass.at = Timestamp(milliseconds: now.milliseconds - 600_000)
        bench.pass(milliseconds: 7_000)
        bench.focus("traffic")
        return bench
    }

    @Test("what waits for approval: beside the control, on its page, and a vote")
    func approval() throws {
        try check("proposed", Self.busyLooks, proposals)
        try check("proposals", Self.busyLooks) { columns, lines in
            var bench = try proposals(columns, lines)
            bench.type("P")
            return bench
        }
        try check("approve", Self.busyLooks) { columns, lines in
            var bench = try proposals(columns, lines)
            bench.type("P")
            bench.press(.down)
            bench.type("a")
            bench.type("looks good")
            return bench
        }
    }
}
