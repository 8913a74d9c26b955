import Foundation
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("whole screens")
struct LiveScreenTests {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "Goldens")

    /// `RECORD_GOLDENS=1` writes them again: look at the difference before you keep it.
    private func check(_ name: String, _ screen: String) throws {
        let file = Self.folder.appending(path: name + ".txt")
        if ProcessInfo.processInfo.environment["RECORD_GOLDENS"] == "1" {
            try (screen + "\n").write(to: file, atomically: true, encoding: .utf8)
            return
        }
        let kept = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
        #expect(screen + "\n" == kept, "\(name) is drawn otherwise than its golden says")
    }

    @Test(
        "every example form is whole at 80x24 and at 40x10",
        arguments: ["controls", "deploy", "ice-cream", "income"])
    func examples(_ name: String) throws {
        var wide = try LiveBench(example: name, columns: 80, lines: 24)
        try check("\(name)-80x24", wide.screen())
        var narrow = try LiveBench(example: name, columns: 40, lines: 10)
        try check("\(name)-40x10", narrow.screen())
    }

    @Test("each control that has the focus is seen, its cursor too")
    func focusIsSeen() throws {
        for (columns, lines) in [(80, 24), (40, 10)] {
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

    @Test("a busy moment: people, a ghost, a conflict, a held value, a banner")
    func busy() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        bench.bobIs(at: "traffic", draft: 40)
        let sibling = Sibling(
            value: "staging", by: LiveBench.author(LiveBench.me, "ann"),
            at: Timestamp("2026-11-21T14:02:09.000Z"))
        bench.changed("environment", "production", conflict: [sibling])
        try check("busy-80x24", bench.screen())
        bench.focus("traffic")
        bench.press(.right)
        bench.changed("traffic", 40)
        bench.bobIs(at: nil)
        bench.disconnect()
        try check("held-80x24", bench.screen())
    }

    @Test("the page of keys")
    func help() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        bench.type("?")
        try check("help-80x24", bench.screen())
    }
}
