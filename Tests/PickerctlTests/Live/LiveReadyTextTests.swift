import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("a text that is ready for typing")
struct LiveReadyTextTests {
    @Test("typing appends to a text: the caret is at its end before a letter, and ^U clears")
    func appends() throws {
        var bench = try LiveBench(LiveTypingTests.form)
        bench.changed("name", "1.0.0")
        bench.press(.down)
        let screen = bench.screen()
        #expect(screen.contains("typing appends to the text"), "\(screen)")
        #expect(screen.contains("a-z append   ^U clear   Enter edit"), "\(screen)")
        let canvas = bench.model.draw()
        let before = try #require(canvas.cursor)
        bench.type("4")
        #expect(bench.model.activeEdit?.draft == "1.0.04")
        #expect(bench.model.draw().cursor == Point(x: before.x + 1, y: before.y))
        bench.press(.escape)
        #expect(bench.edits.isEmpty)
        // A text that is only visited is not changed by leaving it.
        bench.press(.up, .down, .left, .up)
        #expect(bench.model.drafts["name"]?.text == "1.0.04" && bench.edits.isEmpty)
    }

    @Test(
        "a text that is ready has readline's keys, and none of them reaches the form",
        arguments: [
            (KeyEvent(.backspace), "1.0."), (KeyEvent(.character("u"), .control), ""),
            (KeyEvent(.character("w"), .control), "1.0."),
        ])
    func readlineKeys(_ key: (event: KeyEvent, text: String)) throws {
        var bench = try LiveBench(LiveTypingTests.form)
        bench.changed("name", "1.0.0")
        bench.press(.down)
        bench.feed(.input(.key(key.event)))
        #expect(bench.model.question == nil)
        #expect(bench.model.activeEdit?.draft == .string(key.text))
        bench.type("x")
        #expect(bench.model.activeEdit?.draft == .string(key.text + "x"))
        #expect(bench.edits.isEmpty)
    }

    @Test("a caret that moves in a text does not change it; at rest, Backspace asks for a reset")
    func caret() throws {
        var bench = try LiveBench(LiveTypingTests.form)
        bench.changed("name", "1.0.0")
        bench.press(.down, .left, .left, .up)
        #expect(bench.model.drafts.isEmpty && bench.edits.isEmpty)
        bench.press(.down, .left, .left)
        bench.type("9")
        #expect(bench.model.activeEdit?.draft == "1.09.0")
        bench.press(.escape, .backspace)
        #expect(bench.model.drafts.isEmpty)
        bench.press(.backspace)
        #expect(bench.screen().contains("for everybody?"), "\(bench.screen())")
    }

    @Test("a text that was emptied and not set says so, not only its prompt")
    func emptied() throws {
        var bench = try LiveBench(LiveTypingTests.form)
        bench.changed("name", "1.0.0")
        bench.press(.down)
        bench.press(.character("u"), .control)
        bench.press(.escape)
        #expect(bench.screen().contains("unsaved: empty · Enter to edit"), "\(bench.screen())")
        #expect(bench.edits.isEmpty)
    }

    @Test("what is typed replaces a secret and a number")
    func replaces() throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: on, type: toggle}
              - {id: token, type: secure}
              - {id: count, type: stepper, min: 0, max: 64, default: 5}
            """)
        bench.changed("token", .null, isSecretSet: true)
        bench.press(.down)
        #expect(!bench.screen().contains("append"))
        bench.press(.backspace)
        #expect(bench.screen().contains("Clear token for everybody?"), "\(bench.screen())")
        bench.press(.escape, .up, .down)
        bench.type("s")
        #expect(bench.model.activeEdit?.draft == "s")
        bench.press(.escape, .down)
        bench.type("7")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value(7)])
    }
}
