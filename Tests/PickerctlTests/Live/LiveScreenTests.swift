import Foundation
import PickerClient
import SyncCore
import TestKit
import Testing

@testable import TerminalUI
@testable import pickerctl

/// Whole screens, kept with their colours: `cat` shows a golden in a terminal, `make screens` makes
/// pictures of all of them.
@Suite("whole screens")
struct LiveScreenTests {
    typealias Look = ScreenGolden.Look

    private static let sizes = [(80, 24), (100, 30), (40, 10)]

    /// `RECORD_GOLDENS=1` writes them again: look at the pictures before you keep them.
    private func check(_ name: String, _ bench: LiveBench, _ look: Look) throws {
        var bench = bench
        bench.model.around.environment = look.environment
        let canvas = bench.model.draw()
        let size = "\(canvas.buffer.columns)x\(canvas.buffer.lines)"
        try ScreenGolden.compare(
            ScreenGolden.transcript(canvas.buffer, look.environment),
            with: "\(name)-\(size)-\(look.rawValue).ansi", shown: bench.screen())
    }

    func check(
        _ name: String, _ looks: [Look], _ make: (Int, Int) throws -> LiveBench
    ) throws {
        for (columns, lines) in Self.sizes {
            let bench = try make(columns, lines)
            for look in looks { try check(name, bench, look) }
        }
    }

    @Test(
        "every example form is whole at each size, with every kind of terminal",
        arguments: ["controls", "deploy", "ice-cream", "income"])
    func examples(_ name: String) throws {
        try check(name, Look.allCases) { columns, lines in
            try LiveBench(example: name, columns: columns, lines: lines)
        }
    }

    @Test("every control in one picture")
    func everyControl() throws {
        var bench = try LiveBench(example: "controls", columns: 96, lines: 86)
        bench.focus("speed")
        try check("gallery", bench, .truecolor)
        try check("gallery", bench, .light)
    }

    /// An example form with its file changed.
    private func bench(
        _ name: String, _ columns: Int, _ lines: Int, _ change: (String) -> String
    ) throws -> LiveBench {
        let file = sourceTree.appending(path: "Examples/forms/\(name).yaml")
        let text = change(try String(contentsOf: file, encoding: .utf8))
        return try LiveBench(text, columns: columns, lines: lines)
    }

    private func trailing(_ name: String, _ columns: Int, _ lines: Int) throws -> LiveBench {
        try bench(name, columns, lines) {
            $0.replacing(#/\nform: \S+\n/#) { "\($0.output)labelAlignment: trailing\n" }
        }
    }

    @Test("labels that end where the values begin")
    func labelAlignment() throws {
        try check("trailing-labels", Self.busyLooks) { columns, lines in
            var bench = try trailing("deploy", columns, lines)
            bench.focus("token")
            bench.bobIs(at: "traffic", draft: 40)
            return bench
        }
        var bench = try trailing("controls", 96, 86)
        bench.focus("speed")
        try check("trailing-gallery", bench, .truecolor)
        // What is read to somebody does not depend on it.
        for name in ["controls", "deploy"] {
            #expect(
                sentences(try trailing(name, 80, 24))
                    == sentences(try LiveBench(example: name, columns: 80, lines: 24)))
        }
    }

    /// The deploy form with a load over its thresholds.
    private func loaded(_ columns: Int, _ lines: Int) throws -> LiveBench {
        var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
        bench.changed("errors", 72)
        bench.pass(milliseconds: 61_000)
        bench.focus("errors")
        return bench
    }

    @Test("a gauge over its thresholds: it is said in words")
    func thresholds() throws {
        try check("thresholds", Self.busyLooks, loaded)
        let text = sentences(try loaded(80, 24))
        #expect(text.contains("Errors per minute: 72, over 60\n"), "\(text)")
    }

    @Test("each control that has the focus is seen, its cursor too")
    func focusIsSeen() throws {
        for (columns, lines) in Self.sizes {
            for name in ["controls", "deploy", "ice-cream", "income"] {
                var bench = try LiveBench(example: name, columns: columns, lines: lines)
                for focus in bench.model.focusable {
                    bench.model.moveFocus(to: focus)
                    let canvas = bench.model.draw()
                    let cursor = try #require(
                        canvas.cursor, "\(name) \(columns)x\(lines): \(focus) is not seen")
                    #expect(bench.model.geometry.window.contains(cursor))
                }
            }
        }
    }

    static let busyLooks: [Look] = [.truecolor, .sixteen, .plain, .ascii]

    /// The deploy form after what somebody did in one control.
    private func check(
        _ name: String, at field: String, _ act: (inout LiveBench) throws -> Void
    ) throws {
        try check(name, Self.busyLooks) { columns, lines in
            var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
            bench.focus(field)
            try act(&bench)
            return bench
        }
    }

    /// People, a draft of one of them, and a conflict.
    func busy(_ columns: Int, _ lines: Int) throws -> LiveBench {
        var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
        bench.bobIs(at: "traffic", draft: 40)
        let sibling = Sibling(
            value: "staging", by: LiveBench.author(LiveBench.me, "ann"),
            at: Timestamp("2026-11-21T14:02:09.000Z"))
        bench.changed("environment", "production", conflict: [sibling])
        return bench
    }

    @Test("a busy moment: people, a draft, a conflict")
    func conflict() throws {
        try check("conflict", Self.busyLooks, busy)
    }

    @Test("what happens beside one's own edit: a change that waits, and no daemon")
    func held() throws {
        try check("held", Self.busyLooks) { columns, lines in
            var bench = try busy(columns, lines)
            bench.focus("traffic")
            bench.press(.right)
            bench.changed("traffic", 40)
            bench.bobIs(at: nil)
            bench.disconnect()
            return bench
        }
    }

    @Test("an open menu, with what filters it")
    func menu() throws {
        try check("menu", at: "region") { bench in
            bench.press(.enter)
            bench.type("ame")
        }
    }

    @Test("a text that was refused, and a slider that is not set yet")
    func refused() throws {
        try check("refused", at: "version") { bench in
            bench.press(.enter)
            bench.type("x")
            bench.press(.enter)
        }
        try check("settling", at: "traffic") { $0.press(.right, .right, .right) }
    }

    @Test("a button that asks, a question about a reset, and edits for another daemon")
    func questions() throws {
        try check("confirm", at: "rollback") { $0.press(.enter) }
        try check("reset", at: "region") { bench in
            bench.changed("region", "us-east-1")
            bench.press(.backspace)
        }
        try check("another-daemon", at: "replicas") { bench in
            bench.disconnect()
            bench.type("7")
            bench.press(.enter)
            let (number, request) = try #require(bench.sent.first)
            bench.connect(replica: "b")
            bench.feed(.answered([number], .otherReplica(request)))
            bench.type("K")
        }
    }

    @Test("the keys of the focused control, and all keys")
    func help() throws {
        try check("keys", at: "traffic") { $0.type("?") }
        try check("help", Self.busyLooks) { columns, lines in
            var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
            bench.type(columns > 40 ? "??" : "?")
            return bench
        }
    }

    @Test("pages over the form: commands, people, controls, why a value is there, its history")
    func pages() throws {
        func page(_ name: String, _ open: (inout LiveBench) -> Void) throws {
            try check(name, Self.busyLooks) { columns, lines in
                var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
                bench.model.around.clock = { Timestamp(milliseconds: LiveHistoryTests.noon) }
                bench.focus("traffic")
                bench.bobIs(at: "region")
                open(&bench)
                return bench
            }
        }
        try page("commands") { $0.type(":") }
        try page("people") { $0.type("w") }
        try page("find") { $0.type("/re") }
        try page("explanation") { bench in
            bench.type("E")
            bench.answer(
                .result(
                    LiveExplainTests.answer(
                        20, message: "INC-231", form: "deploy", field: "traffic",
                        locked: "maintenance")))
        }
        try page("history") { bench in
            bench.type("H")
            bench.answer(
                .result(LiveHistoryTests.page([(5, 20, 80), (30, 50, 20)], of: "traffic")))
        }
    }
}
