import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

/// All commands of a test are those of one user, whose votes do not count.
@Suite("propose, proposals, approve, refuse and withdraw")
struct ProposalCommandTests {
    let bench: Bench

    init() throws {
        bench = try Bench()
        try bench.apply(
            """
            form: deploy
            fields:
              - id: traffic
                type: slider
                max: 100
                approval: {from: ["uid:\(getuid())", "uid:4711"], within: 1h}
                breakGlass: ["uid:\(getuid())"]
              - {id: note, type: text}
            """)
    }

    @Test("a guarded change is refused, and can be proposed and withdrawn")
    func propose() throws {
        let set = try bench.run("set", "traffic=50")
        #expect(set.status == 77)
        #expect(set.err.contains("needs the approval of"), "\(set.err)")
        let made = try bench.run("propose", "traffic+=50", "-m", "INC-231")
        #expect(made.status == 0, "\(made.err)")
        #expect(made.out == "deploy/1\n")
        #expect(made.err.contains("deploy/1 waits for 1 approval until"), "\(made.err)")
        let list = try bench.run("proposals")
        #expect(list.out.contains("deploy/1"), "\(list.out)")
        #expect(list.out.contains("traffic 0 → 50  \"INC-231\""), "\(list.out)")
        let json = try JSON(parsing: Array(try bench.run("proposals", "-o", "json").out.utf8))
        #expect(json["id"] == 1 && json["state"] == "waits")
        // The proposer's own vote does not count.
        let own = try bench.run("approve", "deploy/1", "--yes")
        #expect(own.status == 77)
        #expect(own.err.contains("does not count"), "\(own.err)")
        #expect(try bench.run("refuse", "1", "-f", "deploy").status == 77)
        let back = try bench.run("withdraw", "deploy/1", "-m", "later")
        #expect(back.status == 0)
        #expect(back.out == "deploy/1 was withdrawn: later\n")
        #expect(try bench.run("withdraw", "deploy/1").status == 75)
        #expect(try bench.run("approve", "deploy/2", "--yes").status == 66)
        #expect(try bench.run("approve", "traffic", "--yes").status == 64)
        #expect(try bench.run("get", "traffic").out == "0\n")
    }

    @Test("history since a time has proposals that ended later, also if every revision is older")
    func historySince() throws {
        let newest = try JSON(parsing: Array(try bench.run("history", "-o", "json").out.utf8))
        let at = try #require(newest["at"]?.stringValue.flatMap { Timestamp($0) })
        let since = Timestamp(milliseconds: at.milliseconds + 1).description
        // The next entry is of a later millisecond.
        while Date().timeIntervalSince1970 * 1_000 < Double(at.milliseconds + 2) {}
        #expect(try bench.run("history", "--since", since).lines.isEmpty)
        #expect(try bench.run("propose", "traffic=50").status == 0)
        #expect(try bench.run("withdraw", "deploy/1").status == 0)
        let lines = try bench.run("history", "--since", since).lines
        #expect(lines.count == 1 && lines[0].contains("proposal 1: traffic 0 → 50"), "\(lines)")
    }

    @Test("explain says whose approval is needed")
    func explain() throws {
        let explained = try bench.run("explain", "traffic")
        #expect(
            explained.out.contains(
                "You may not set it directly: 1 approval of uid:\(getuid()), uid:4711 is needed for "
                    + "traffic; use pickerctl propose."), "\(explained.out)")
        #expect(try bench.run("explain", "note").out.contains("You may set it.\n"))
    }

    @Test("without a terminal, approve asks for --yes")
    func noTerminal() throws {
        try bench.run("propose", "traffic=50")
        let asked = try bench.run("approve", "deploy/1")
        #expect(asked.status == 1, "\(asked.err)")
        #expect(asked.err.contains("traffic 0 → 50"), "\(asked.err)")
    }

    @Test("approve shows what a definition would change")
    func definition() throws {
        let made = try bench.run(
            "form", "apply", "--propose", "-y", "-",
            input: """
                form: deploy
                fields:
                  - {id: traffic, type: slider, max: 50}
                  - {id: note, type: text}
                """)
        #expect(made.status == 0 && made.out == "deploy/1\n", "\(made.err)")
        let asked = try bench.run("approve", "deploy/1")
        #expect(asked.status == 1)
        for line in ["traffic.max: 100 → 50", "traffic.approval: {", "→ none"] {
            #expect(asked.err.contains(line), "\(asked.err)")
        }
        #expect(!asked.err.contains("note"), "\(asked.err)")
    }

    @Test("a value that others guard lasts longer by a proposal, which the refusal says")
    func lasting() throws {
        try bench.run("set", "traffic=50", "--for", "10m", "--break-glass", "-m", "now")
        let longer = try bench.run("lease", "traffic", "--for", "2h")
        #expect(longer.status == 77)
        let command = "pickerctl propose deploy/traffic=50"
        #expect(longer.err.hasSuffix(": \(command) --for 2h\n"), "\(longer.err)")
        let kept = try bench.run("lease", "traffic", "--keep")
        #expect(kept.status == 77 && kept.err.hasSuffix(": \(command)\n"), "\(kept.err)")
        let proposed = try bench.run("propose", "deploy/traffic=50", "--for", "2h")
        #expect(proposed.status == 0, "\(proposed.err)")
        #expect(try bench.run("proposals").out.contains("traffic 50 → 50 for 2h"))
        #expect(try bench.run("lease", "traffic", "--for", "5m").status == 0)
    }

    @Test("what nobody guards is changed at once")
    func unguarded() throws {
        let made = try bench.run("propose", "note=x")
        #expect(made.status == 0)
        #expect(made.err.contains("nothing here needs approval"), "\(made.err)")
        #expect(try bench.run("get", "note").out == "x\n")
    }

    @Test("--wait exits with the end: withdrawn, and stale after a broken glass")
    func waits() throws {
        func waiting(_ id: Int) throws -> TestKit.ChildProcess {
            let child = try bench.launch(["propose", "traffic=50", "--wait"])
            while try !bench.run("proposals").out.contains("deploy/\(id)") {}
            return child
        }
        let first = try waiting(1)
        try bench.run("withdraw", "deploy/1")
        let withdrawn = first.outcome()
        #expect(withdrawn.status == 1)
        #expect(withdrawn.err.contains("deploy/1 was withdrawn"), "\(withdrawn.err)")
        let second = try waiting(2)
        #expect(try bench.run("set", "traffic=30", "--break-glass").status == 64)
        let broken = try bench.run("set", "traffic=30", "--break-glass", "-m", "now")
        #expect(broken.status == 0, "\(broken.err)")
        let stale = second.outcome()
        #expect(stale.status == 75)
        #expect(stale.err.contains("set traffic to 30"), "\(stale.err)")
        // The form is found by asking, or it is named.
        for words in [["history"], ["history", "-f", "deploy"], ["history", "traffic"]] {
            let history = try bench.launch(words).outcome().out
            #expect(history.contains("(glass broken)"), "\(history)")
            #expect(history.contains("proposal 2: traffic 0 → 50"), "\(history)")
            #expect(history.contains("proposal 1: traffic 0 → 50"), "\(history)")
        }
        let ended = try bench.run("proposals", "--ended").out.split(separator: "\n")
        #expect(ended.count == 2 && ended[0].hasPrefix("deploy/2"), "\(ended)")
    }

    @Test(
        "another user approves",
        .enabled(if: SecondUser.isPossible, "needs root, setpriv, and a build that others may run"))
    func approve() throws {
        try bench.apply(
            """
            form: shared
            fields:
              - {id: share, type: slider, max: 100, approval: {from: ["uid:65534"]}}
            """)
        chmod(bench.socket, 0o666)
        let waiting = try bench.launch(["propose", "shared/share=50", "-m", "why", "--wait"])
        while try !bench.run("proposals").out.contains("shared/1") {}
        let approved = try bench.launch(
            ["approve", "shared/1", "--yes", "-m", "fine"], asSecondUser: true
        ).outcome()
        #expect(approved.status == 0, "\(approved.err)")
        #expect(approved.out == "shared/1 is applied, revision 2\n")
        let applied = waiting.outcome()
        #expect(applied.status == 0, "\(applied.err)")
        #expect(applied.err.contains("shared/1 is applied"), "\(applied.err)")
        #expect(try bench.run("get", "shared/share").out == "50\n")
        let history = try bench.run("history", "-n", "1", "shared/").out
        #expect(history.contains("\"why\"  (proposal 1, approved by"), "\(history)")
    }

    @Test("a form whose guards nobody else can satisfy is warned of; --break-glass changes it")
    func forms() throws {
        let lonely = """
            form: alone
            fields:
              - id: lamp
                type: toggle
                approval: {from: [owner]}
                breakGlass: [owner]
            """
        let warned = try bench.run("form", "apply", "-y", "-", input: lonely)
        #expect(warned.status == 0)
        let warning = "warning: only you may approve changes of lamp"
        #expect(warned.err.contains(warning), "\(warned.err)")
        func noted(of approval: String) throws -> String {
            let field = "{id: lamp, type: toggle, approval: {\(approval)}}"
            let form = "form: pair\nfields: [\(field)]\n"
            _ = try bench.run("form", "delete", "pair", "--yes", "--break-glass", "-m", "test")
            return try bench.run("form", "apply", "-y", "-", input: form).err
        }
        let two = try noted(of: #"from: ["user:bob", owner], count: 2"#)
        #expect(two.contains("need 2 approvals, and approval.from names only user:bob"), "\(two)")
        let bare = "form: alone\nfields:\n  - {id: lamp, type: toggle}\n"
        #expect(try bench.run("form", "apply", "-y", "-", input: bare).status == 77)
        let proposed = try bench.run("form", "apply", "-y", "--propose", "-", input: bare)
        #expect(proposed.status == 0)
        #expect(proposed.out == "alone/1\n", "\(proposed.out)")
        #expect(try bench.run("form", "delete", "alone", "--yes").status == 77)
        let broken = try bench.run(
            "form", "apply", "-y", "--break-glass", "-m", "bare", "-", input: bare)
        #expect(broken.status == 0, "\(broken.err)")
        #expect(try bench.run("form", "delete", "alone", "--yes").status == 0)
    }
}
