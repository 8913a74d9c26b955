import Foundation
import SyncCore
import TestKit
import Testing

@testable import pickerctl

@Suite("handle and press --wait", .timeLimit(.minutes(5)))
struct HandleTests {
    let bench: Bench

    init() throws {
        bench = try Bench()
        try bench.apply(
            """
            form: deploy
            fields:
              - {id: version, type: text, default: 1.0.0}
              - {id: token, type: secure}
              - {id: start, type: button, runs: queue, waitsFor: 1d}
              - {id: now, type: button, runs: queue}
              - {id: single, type: button, runs: one, waitsFor: 1d}
              - {id: short, type: button, runs: queue, waitsFor: 1d, timeout: 1s}
              - {id: plain, type: button}
            """)
    }

    @Test("the command gets the values and the press, and its outcome is that of press --wait")
    func done() throws {
        try bench.run("set", "version=2.1.0")
        let script = """
            echo "42% copying"; echo "$PICKER_VERSION $PICKERSYNC_BUTTON $PICKERSYNC_PRESS"
            """
        let handler = try bench.launch(["handle", "start", "--", "/bin/sh", "-c", script])
        let press = try bench.run("press", "start", "--wait")
        #expect(press.status == 0, "\(press.err)")
        #expect(press.err.contains("start is done by"), "\(press.err)")
        #expect(press.err.contains("2.1.0 start"), "\(press.err)")
        handler.signal(SIGTERM)
        let outcome = handler.outcome()
        #expect(outcome.status == 143)
        #expect(outcome.out.contains("42% copying\n2.1.0 start "), "\(outcome.out)")
    }

    @Test("a command that fails gives its last line of standard error")
    func failed() throws {
        let script = "echo working; echo 'no disk' >&2; exit 3"
        let handler = try bench.launch(["handle", "start", "--", "/bin/sh", "-c", script])
        defer { handler.signal(SIGTERM) }
        let press = try bench.run("press", "start", "--wait")
        #expect(press.status == 1)
        #expect(press.err.contains("failed, handled by"), "\(press.err)")
        #expect(press.err.contains(": no disk"), "\(press.err)")
    }

    @Test("a press that is cancelled ends the command, and the handler says who did it")
    func cancelled() throws {
        let script = "echo $PICKERSYNC_PRESS; sleep 600"
        let handler = try bench.launch(["handle", "start", "--", "/bin/sh", "-c", script])
        let press = try bench.launch(["press", "start", "--wait"])
        let lines = handler.read(until: "\n").split(separator: "\n")
        _ = try WireClient(bench.socket).call(
            "button.cancel",
            ["form": "deploy", "field": "start", "press": String(try #require(lines.first))])
        let outcome = press.outcome()
        #expect(outcome.status == 130, "\(outcome.err)")
        handler.signal(SIGTERM)
        let err = handler.outcome().err
        #expect(err.contains(" was cancelled by \(NSUserName())\n"), "\(err)")
    }

    @Test("each other outcome has its exit status")
    func statuses() throws {
        #expect(try bench.run("press", "now", "--wait").status == 69)
        #expect(try bench.run("press", "start", "--wait", "--timeout", "0.05").status == 124)
        #expect(try bench.run("press", "single").status == 0)
        let busy = try bench.run("press", "single", "--wait")
        #expect(busy.status == 75 && busy.err.contains("one press at a time"), "\(busy.err)")
        #expect(try bench.run("press", "plain", "--wait").status == 64)
        #expect(try bench.run("press", "start", "--timeout", "5").status == 64)
        #expect(try bench.run("handle", "plain", "--", "true").status == 64)
        #expect(try bench.run("handle", "nothing", "--", "true").status == 66)
        let handler = try bench.launch(["handle", "short", "--", "/bin/sleep", "600"])
        defer { handler.signal(SIGTERM) }
        #expect(try bench.run("press", "short", "--wait").status == 124)
    }

    @Test("a run whose daemon is killed goes on, and is done at the next daemon")
    func killed() throws {
        let go = bench.folder.appending(path: "go").path
        let script = "echo begun; while [ ! -e \(go) ]; do sleep 0.05; done; echo over"
        let handler = try bench.launch(["handle", "start", "--", "/bin/sh", "-c", script])
        defer { handler.signal(SIGTERM) }
        let press = try bench.launch(["press", "start", "--wait"])
        _ = handler.read(until: "begun\n")
        try bench.stop(SIGKILL)
        try bench.start()
        _ = try bench.file("go", "")
        let outcome = press.outcome()
        #expect(outcome.status == 0, "\(outcome.err)")
        #expect(outcome.err.contains(": over"), "\(outcome.err)")
    }

    @Test("while the handler is away, press --wait says so, and that it is back")
    func away() throws {
        var handler: WireClient? = try WireClient(bench.socket)
        try handler?.call("button.handle", ["form": "deploy", "fields": ["start"]])
        let press = try bench.shell("exec pickerctl press start --wait 2>&1")
        let assigned = try #require(try handler?.notification("button.assigned"))
        let (number, ticket) = (assigned["press"] ?? "", assigned["ticket"] ?? "")
        handler = nil
        #expect(press.read(until: "away\n").hasSuffix("start: its handler is away\n"))
        let again = try WireClient(bench.socket)
        try again.call(
            "button.handle", ["form": "deploy", "fields": [String](), "tickets": [ticket]])
        #expect(press.read(until: "back\n").hasSuffix("start: its handler is back\n"))
        try again.call(
            "button.finish", ["press": number, "ticket": ticket, "outcome": "done"])
        #expect(press.outcome().status == 0)
    }

    @Test("a line of output is progress or a text")
    func lines() {
        #expect(ProgressLine("42% copying").fraction?.description == "0.42")
        #expect(ProgressLine("42% copying").text == "copying")
        #expect(ProgressLine(" 7/12").fraction?.description == "0.583")
        #expect(ProgressLine("7/12").text == nil)
        for text in ["7/12a", "13/12", "101%", "4 files", "0/0", "plain"] {
            #expect(ProgressLine(text).fraction == nil && ProgressLine(text).text == text)
        }
        #expect(ProgressLine("").text == nil)
    }
}
