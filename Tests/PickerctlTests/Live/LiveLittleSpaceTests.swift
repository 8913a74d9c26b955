import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("What must be read: in little space, and beside older messages")
struct LiveLittleSpaceTests {
    private static let form = """
        form: t
        title: Deploy
        fields:
          - {id: traffic, type: slider, label: Traffic to the new version, max: 100, step: 5}
          - id: region
            type: picker
            style: menu
            label: Region
            options: [eu-west-1, eu-central-1, us-east-1]
            onConflict: ask
        """

    private static func bench(_ columns: Int = 80, _ lines: Int = 24) throws -> LiveBench {
        try LiveBench(form, columns: columns, lines: lines)
    }

    @Test("a question about an edit of another control keeps its values in 40 columns")
    func undoQuestion() throws {
        var bench = try Self.bench(40, 10)
        bench.changed("traffic", 40, by: LiveBench.me)
        bench.focus("region")
        bench.type("u")
        #expect(bench.screen().contains("Undo Traffic to the… 0→40? Enter / Esc"))
        bench.press(.escape)
        bench.changed("region", "eu-central-1", by: LiveBench.me)
        bench.focus("traffic")
        bench.type("u")
        #expect(bench.screen().contains("Undo Region eu-west-1→eu-central-1?"))
    }

    @Test("all cards of a conflict are seen on a low screen, and the keys choose among them")
    func lowCards() throws {
        var bench = try Self.bench(40, 10)
        bench.focus("region")
        bench.changed(
            "region", "us-east-1",
            conflict: [
                Sibling(
                    value: "eu-central-1", by: LiveBench.author(LiveBench.me, "ann"),
                    at: Timestamp("2026-11-21T14:02:09.000Z"))
            ])
        var screen = bench.screen()
        #expect(screen.contains("❯ ◉ us-east-1"), "\(screen)")
        #expect(screen.contains("bob · 14:02:11 · current"), "\(screen)")
        #expect(screen.contains("  ○ eu-central-1"), "\(screen)")
        #expect(screen.contains("you · 14:02:09"), "\(screen)")
        bench.pass(milliseconds: 600)
        bench.press(.right)
        screen = bench.screen()
        #expect(screen.contains("❯ ◉ eu-central-1"), "\(screen)")
        #expect(screen.contains("Enter: eu-central-1 for everybody"), "\(screen)")
    }

    @Test("a title is whole where there is no space for people, and the marks need it")
    func title() throws {
        var bench = try Self.bench(20, 5)
        #expect(bench.screen().hasPrefix(" Deploy"))
        #expect(!bench.screen().contains("only you"))
    }

    @Test("the initial of who is at a control does not touch its label")
    func initial() throws {
        var bench = try Self.bench(20, 12)
        bench.focus("region")
        bench.bobIs(at: "traffic")
        #expect(bench.screen().contains("\nb Traffic to the"), "\(bench.screen())")
        bench.bobIs(at: "region")
        bench.press(.up)
        bench.bobIs(at: "traffic")
        #expect(bench.screen().contains("\nb Traffic to the"), "\(bench.screen())")
    }

    @Test(
        "the view begins with the first line of a control, after a resize and after each move",
        arguments: ["controls", "deploy", "ice-cream", "income"])
    func beginsWithLabel(example: String) throws {
        for (columns, lines) in [(40, 10), (20, 5), (40, 24)] {
            var bench = try LiveBench(example: example, columns: 80, lines: 24)
            func check(_ what: String) {
                let screen = bench.screen()
                let (geometry, top) = (bench.model.geometry, bench.model.scroll.offset)
                var again = bench
                again.model.drawn = DrawnParts()
                #expect(again.screen() == screen, "\(what):\n\(again.screen())")
                let cut = geometry.frames.filter { $0.rect.y < top && top < $0.rect.maxY }
                    .filter { $0.rect.lines <= geometry.window.lines / 2 + 1 }
                #expect(cut.isEmpty, "\(what):\n\(screen)")
                let lines = screen.split(separator: "\n", omittingEmptySubsequences: false)
                let first = lines.dropFirst(geometry.window.y).first ?? ""
                let isEmpty = first.allSatisfy { " │┃".contains($0) }
                #expect(top == 0 || !isEmpty, "\(what):\n\(screen)")
            }
            let all = bench.model.focusable
            for focus in all {
                bench.feed(.resized(Size(columns: 80, lines: 24)))
                bench.model.moveFocus(to: focus)
                _ = bench.screen()
                bench.feed(.resized(Size(columns: columns, lines: lines)))
                check("\(focus), resized to \(columns)x\(lines)")
            }
            for focus in all + all.reversed() {
                bench.model.moveFocus(to: focus)
                check("\(focus), moved in \(columns)x\(lines)")
            }
        }
    }

    @Test("the key that leaves though something would be lost is named in 40 columns")
    func leaving() throws {
        var bench = try Self.bench(40, 10)
        bench.disconnect()
        bench.focus("traffic")
        bench.type("5")
        bench.press(.enter)
        bench.type("q")
        #expect(bench.ending == nil)
        #expect(bench.screen().contains("q again quits without it"), "\(bench.screen())")
    }

    @Test("an explanation scrolls to its last line in 40 columns")
    func scrolls() throws {
        var bench = try Self.bench(40, 10)
        bench.type("E")
        let why = Array(repeating: "because", count: 30).joined(separator: " ")
        bench.answer(
            .result(
                LiveExplainTests.answer(20, message: why, field: "traffic", locked: "region")))
        for _ in 0..<40 { bench.press(.down) }
        #expect(bench.screen().contains("locked"), "\(bench.screen())")
    }

    @Test("an older message does not hide what a key is about to set")
    func messages() throws {
        var bench = try Self.bench()
        bench.type("n")
        #expect(bench.screen().contains("there is no conflict"))
        bench.press(.right)
        #expect(bench.screen().contains("5 · sets in a moment · Esc keeps 0"))
        bench.press(.escape)
        bench.press(.down)
        bench.press(.enter)
        bench.feed(.client(.disconnected(retryAt: bench.now)))
        bench.connect()
        #expect(bench.screen().contains("the daemon is back"))
        bench.press(.down)
        #expect(bench.screen().contains("Enter sets Region to eu-central-1"))
    }

    @Test("a message about a control that a click has left is gone")
    func clickedAway() throws {
        var bench = try Self.bench()
        bench.type("n")
        #expect(bench.screen().contains("there is no conflict"))
        let region = bench.model.geometry.regions.last { $0.owner == "region" }
        let place = try #require(region?.rect)
        bench.mouse(.press(.left), place.x, place.y)
        #expect(!bench.screen().contains("there is no conflict"))
    }

    @Test("n answers a question with no, and is not a command then")
    func no() throws {
        var bench = try Self.bench()
        bench.changed("region", "us-east-1")
        bench.focus("region")
        bench.press(.backspace)
        #expect(bench.screen().contains("Reset Region to eu-west-1 for everybody?"))
        bench.type("n")
        #expect(!bench.screen().contains("there is no conflict"))
        #expect(bench.edits.isEmpty)
    }

    @Test("two quick presses of Esc are one, as tmux sends them")
    func escapes() throws {
        var bench = try Self.bench()
        bench.focus("region")
        bench.press(.enter)
        #expect(bench.model.activeEdit != nil)
        bench.type("\u{1B}\u{1B}")
        #expect(bench.model.activeEdit == nil)
        bench.type("n")
        #expect(bench.screen().contains("there is no conflict"))
    }

    @Test("a digit on a closed menu does nothing and says nothing")
    func digits() throws {
        var bench = try Self.bench()
        bench.focus("region")
        for digit in ["2", "7"] {
            bench.type(digit)
            #expect(bench.screen().contains("one of 3 options"))
        }
    }

    @Test("a question for a required message says that it is required")
    func required() throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: stop, type: button, label: Stop, message: required}
            """)
        bench.press(.enter)
        bench.press(.enter)
        #expect(bench.screen().contains("(required; everybody who reads this form sees it)"))
    }

    @Test("a button that asks is drawn again when the one beside it goes")
    func askingAlone() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        bench.focus("rollback")
        bench.press(.enter)
        #expect(bench.screen().contains("Roll back production?"))
        bench.changed("environment", "production")
        var fresh = bench
        fresh.model.drawn = DrawnParts()
        #expect(bench.screen() == fresh.screen())
    }
}
