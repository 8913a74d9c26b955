import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

@Suite("explain")
struct ExplainCommandTests {
    let bench: Bench

    init() throws {
        bench = try Bench()
        try bench.apply(
            """
            form: knobs
            fields:
              - {id: traffic, type: slider, max: 100, default: 5}
              - {id: mirror, type: slider, max: 100, binds: traffic}
              - {id: maintenance, type: toggle, leaseMax: 4h}
              - {id: also, type: toggle}
              - {id: both, type: toggle, sources: [maintenance, also]}
              - id: note
                type: text
                enabledWhen: {any: [{maintenance: true}, {traffic: {atLeast: 10}}]}
              - {id: pin, type: secure}
              - {id: go, type: button}
            """)
    }

    /// The lines of an explanation, without times.
    private func explain(_ words: String...) throws -> [String] {
        let run = try bench.launch(["explain"] + words).outcome()
        #expect(run.status == 0, "\(run.err)")
        return run.out.split(separator: "\n").map {
            String($0).replacing(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, with: "T")
                .replacing(/\ with pickerctl\/[^ ]*/, with: "")
        }
    }

    private var me: String { ProcessInfo.processInfo.userName }

    @Test("who, when, why, whether I may, and what depends on it")
    func set() throws {
        try bench.run("set", "traffic=20", "-m", "INC-231")
        #expect(
            try explain("traffic") == [
                "traffic is 20.", "\(me) set it at T (revision 2): \"INC-231\"", "You may set it.",
                "These depend on it: mirror (binds) and note (enabledWhen).",
            ])
        try bench.run("set", "traffic+=3")
        #expect(
            try explain("mirror") == [
                "mirror is 23.", "It shows traffic, which stores it.",
                "\(me) changed what it shows at T (revision 3).", "You may set it.",
                "It depends on traffic (binds).",
            ])
        #expect(try explain("traffic")[1] == "Increments were added to 20, which \(me) set.")
        #expect(
            try explain("traffic", "--at", "2") == [
                "traffic was 20 at revision 2.", "\(me) set it at T (revision 2): \"INC-231\"",
            ])
    }

    @Test("a condition that fails says what is there and what it needs")
    func condition() throws {
        #expect(
            try explain("note").contains(
                "You may not set it: note is disabled while maintenance is false (it needs true), "
                    + "or traffic is 5 (it needs at least 10)."))
    }

    @Test("leases, sources, buttons and secrets in their words")
    func kinds() throws {
        try bench.run("set", "maintenance=true", "--for", "1h")
        let lease = try explain("maintenance")
        #expect(lease[1] == "\(me)'s lease ends at T. Then it has its default.")
        #expect(lease.contains("You may set it, for at most 4h."))
        #expect(lease.contains("A set ends \(me)'s lease."))
        #expect(
            try explain("both").prefix(2) == [
                "both has no single value: its sources differ.",
                "It shows maintenance (true) and also (false).",
            ])
        #expect(try explain("go").first == "go was pressed 0 times.")
        try bench.run("press", "go")
        #expect(try explain("go").first == "go was pressed once.")
        #expect(try explain("pin").first == "pin is a secret that is not set.")
    }

    @Test("-o json has the facts; wrong input has its status")
    func others() throws {
        let json = try JSON(parsing: Array(bench.run("explain", "traffic", "-o", "json").out.utf8))
        #expect(json["origin"]?["kind"] == "default" && json["may"]?["edit"] == true)
        let missing = try bench.run("explain", "trafic")
        #expect(missing.status == 66 && missing.err.contains("did you mean traffic?"))
        #expect(try bench.run("explain", "traffic", "--at", "x").status == 64)
        #expect(try bench.run("explain", "traffic", "--at", "-1").status == 64)
        #expect(try bench.run("explain").status == 64)
    }

    @Test("concurrent values: each author, and what the policy decided by how much")
    func conflicts() {
        func sibling(_ user: String, _ value: JSON, at: Int64) -> Sibling {
            Sibling(
                value: value,
                by: WireAuthor(
                    user: user, uid: 1, client: nil, tty: nil, connection: 1, replica: "a.1"),
                at: Timestamp(milliseconds: at))
        }
        var facts = Explanation(form: "f", field: "env", revision: 3)
        facts.state = FieldState(value: "b", revision: 3, isSet: true)
        facts.origin = Explanation.Origin(.set)
        facts.permission = Explanation.Permission([])
        func lines(
            _ policy: ConflictPolicy, _ rule: Explanation.Siblings.Rule, _ lead: Int64?
        ) -> [String] {
            facts.policy = policy
            facts.concurrent = [
                Explanation.Siblings(
                    component: nil, rule: rule, lead: lead,
                    values: [sibling("bob", "b", at: 2), sibling("alice", "a", at: 1)])
            ]
            return ExplanationText(
                name: { $0 }, value: { ValueText.short($1) }, time: { "\($0.milliseconds)" }
            ).lines(facts)
        }
        let latest = lines(.latest, .latest, 1_200)
        #expect(
            latest == [
                "env is b.", "These values are concurrent: no author had seen another's.",
                "  b by bob, 2, is current", "  a by alice, 1",
                "latest: bob's stamp is 1.2 s later.", "You may set it.",
            ])
        // The last change does not always win.
        facts.change = Explanation.Change(revision: 3)
        for (user, time, deed) in [("bob", 2, "set it"), ("alice", 3, "changed it last")] {
            facts.change?.by = sibling(user, "b", at: 2).by
            facts.change?.at = Timestamp(milliseconds: Int64(time))
            let line = "\(user) \(deed) at \(time) (revision 3)."
            #expect(lines(.latest, .latest, 1_200).contains(line))
        }
        facts.change = nil
        #expect(
            lines(.ask, .latest, 90).contains(
                "ask: all are kept until somebody chooses; bob's stamp is 90 ms later."))
        #expect(
            lines(.first, .earliest, 7_200_000).contains("first: bob's stamp is 2h earlier."))
        #expect(
            lines(.trueWins, .flag, nil).contains(
                "trueWins: true is current, also if others were later."))
        #expect(
            lines(.falseWins, .latest, 0).contains(
                "falseWins: nobody set false, so the latest is current."))
    }
}
