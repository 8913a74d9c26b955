import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("typing into what is only focused")
struct LiveTypingTests {
    static let form = """
        form: t
        fields:
          - {id: on, type: toggle}
          - {id: name, type: text, maxLength: 20}
          - {id: word, type: text}
          - {id: share, type: slider, min: 0, max: 1, step: 0.1, default: 0.2}
          - {id: opens, type: date, mode: dateAndTime, default: "2026-11-21T14:30"}
          - {id: day, type: date, mode: date, default: "2026-11-21"}
          - {id: time, type: date, mode: time, default: "14:30"}
          - {id: region, type: picker, style: menu, options: [
              {section: Europe, options: [eu-west, eu-north]}, {section: America, options: [us-east]}]}
        """

    @Test("a text that was reached by an arrow takes letters at once, commands' letters too")
    func atOnce() throws {
        var bench = try LiveBench(Self.form)
        bench.press(.down)
        bench.type("quick?")
        #expect(bench.ending == nil)
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("quick?")])
        // After Enter, letters are commands again.
        bench.type("q")
        #expect(bench.ending == .done)
    }

    @Test(
        "an arrow or a click keeps what was typed and does not set it",
        arguments: ["word", "share"])
    func leaving(field: String) throws {
        var bench = try LiveBench(Self.form)
        bench.focus(field)
        bench.press(.enter)
        let typed = field == "word" ? "a" : "0.5"
        bench.type(typed)
        #expect(bench.screen().contains("↑↓ keep as draft"), "\(bench.screen())")
        bench.press(.up)
        #expect(bench.edits.isEmpty)
        #expect(bench.model.drafts[field]?.text == typed)
        bench.press(.down, .enter)
        let place = try #require(bench.model.geometry.regions.last { $0.owner == "on" }?.rect)
        bench.mouse(.press(.left), place.x, place.y)
        #expect(bench.model.focusedField == "on")
        #expect(!bench.edits.contains { $0.field == field })
        #expect(bench.screen().contains("unsaved"), "\(bench.screen())")
    }

    @Test("a secret is not set by an arrow, and not lost")
    func leavingSecret() throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: token, type: secure}
              - {id: on, type: toggle}
            """)
        bench.press(.enter)
        bench.type("j")
        bench.press(.down)
        #expect(bench.edits.isEmpty)
        #expect(bench.model.focusedField == "token")
        #expect(bench.screen().contains("Enter sets what you typed, Esc discards it"))
        bench.press(.escape, .down)
        #expect(bench.model.focusedField == "on")
        #expect(bench.edits.isEmpty)
    }

    @Test("a text that was reached by a letter leaves letters to the commands")
    func byLetter() throws {
        var bench = try LiveBench(Self.form)
        bench.type("jj")
        #expect(bench.model.focusedField == "word")
        bench.type("k")
        #expect(bench.model.focusedField == "name")
        bench.press(.down)
        bench.type("j")
        #expect(bench.model.focusedField == "word")
        #expect(bench.model.activeEdit?.draft == "j")
        bench.press(.escape)
        bench.type("q")
        // The letter is a draft, so leaving asks.
        #expect(bench.ending == nil)
        #expect(bench.screen().contains("unsaved; "))
    }

    @Test("others see a draft from the second key on")
    func secondKey() throws {
        var bench = try LiveBench(Self.form)
        bench.press(.down)
        bench.told = []
        bench.type("a")
        bench.pass(milliseconds: 100)
        #expect(bench.told.allSatisfy { $0.draft == nil })
        bench.type("b")
        bench.pass(milliseconds: 100)
        #expect(bench.told.last?.draft == "ab")
    }

    @Test("with Alt a text leaves four keys to the form, and keeps what was typed")
    func alt() throws {
        var bench = try LiveBench(Self.form)
        bench.press(.down)
        bench.type("ab")
        bench.press(.character("w"), .alt)
        #expect(bench.screen().contains("Who is here"))
        bench.press(.escape)
        #expect(bench.model.drafts["name"]?.text == "ab")
        bench.press(.character("x"), .alt)
        #expect(bench.screen().contains("Commands"))
    }

    @Test("a point begins a number")
    func point() throws {
        var bench = try LiveBench(Self.form)
        bench.focus("share")
        bench.type(".5")
        bench.press(.enter)
        let half = try #require(DecimalNumber("0.5"))
        #expect(bench.edits.map(\.action) == [.value(.number(half))])
    }

    @Test(
        "a whole date or time is typed at any part",
        arguments: [
            ("opens", "2027-01-05", "2027-01-05T14:30"),
            ("opens", "2029-03-04T10:15", "2029-03-04T10:15"),
            ("opens", "09:05", "2026-11-21T09:05"), ("day", "2027-01-05", "2027-01-05"),
            ("time", "23:59", "23:59"),
        ], [0, 1, 2])
    func dates(_ typed: (field: String, text: String, value: String), part: Int) throws {
        var bench = try LiveBench(Self.form)
        bench.focus(typed.field)
        for _ in 0..<part { bench.press(.right) }
        bench.type(typed.text)
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value(.string(typed.value))])
        #expect(bench.model.problems.isEmpty)
    }

    @Test(
        "a date is pasted at any part; what is not a date says so and is kept",
        arguments: [
            ("opens", " 2029-03-04T10:15 ", "2029-03-04T10:15"),
            ("opens", "2029-03-04 10:15:30", "2029-03-04T10:15"),
            ("day", "2029-03-04T10:15", "2029-03-04"), ("time", "2029-03-04T10:15", "10:15"),
        ])
    func pasted(field: String, text: String, value: String) throws {
        var bench = try LiveBench(Self.form)
        bench.focus(field)
        bench.press(.right)
        bench.feed(.input(.paste(text, isCut: false)))
        #expect(bench.screen().contains("to \(value) for everybody"), "\(bench.screen())")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value(.string(value))])
        bench.answer()
        bench.feed(.input(.paste("tomorrow", isCut: false)))
        #expect(bench.screen().contains("unsaved: tomorrow"))
        let example = [
            "day": "date; paste one such as 2026-11-21", "time": "time; paste one such as 14:30",
        ]
        let words = example[field] ?? "date; paste one such as 2026-11-21T14:30"
        #expect(bench.screen().contains("not a \(words)"), "\(bench.screen())")
        #expect(bench.edits.isEmpty)
        bench.press(.escape)
        #expect(bench.screen().contains("unsaved: tomorrow · type or paste a date, Backspace to"))
        bench.feed(.input(.paste("2029-03-05T11:45", isCut: false)))
        bench.press(.enter)
        #expect(bench.edits.count == 1)
        #expect(bench.model.drafts.isEmpty)
    }

    /// The line of a control on the screen.
    private func row(of label: String, _ bench: inout LiveBench) -> String {
        let lines = bench.screen().split(separator: "\n").map(String.init)
        return lines.first { $0.contains(label) } ?? ""
    }

    @Test(
        "a date that is refused stays in its input, with the reason at its right",
        arguments: ["automatic", "graphical", "wheel"])
    func refused(style: String) throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: day, type: date, mode: date, style: \(style), default: "2026-11-21",
                 max: "2026-12-31"}
              - {id: on, type: toggle}
            """, columns: 100, lines: 30)
        let height = bench.screen().split(separator: "\n").firstIndex { $0.contains("on ") }
        bench.feed(.input(.paste("next friday", isCut: false)))
        #expect(row(of: "day", &bench).contains("next friday"), "\(bench.screen())")
        #expect(bench.screen().contains("✗ not a date"), "\(bench.screen())")
        bench.changed("on", true)
        bench.press(.tab)
        #expect(row(of: "day", &bench).contains("next friday"), "it stays when the focus goes")
        bench.press(.tab, .shift)
        // It is mended by another text, which may be refused too.
        bench.feed(.input(.paste("2027-01-05", isCut: false)))
        #expect(!bench.screen().contains("next friday"))
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        #expect(row(of: "day", &bench).contains("2027-01-05"), "\(bench.screen())")
        #expect(bench.screen().contains("✗"), "\(bench.screen())")
        let now = bench.screen().split(separator: "\n").firstIndex { $0.contains("on ") }
        #expect(now == height, "nothing moves")
        bench.press(.backspace)
        #expect(!bench.screen().contains("2027-01-05"))
        #expect(bench.model.drafts.isEmpty && bench.model.problems.isEmpty)
    }

    @Test("a date that the daemon refuses stays in its input")
    func refusedByDaemon() throws {
        var bench = try LiveBench(Self.form, columns: 100, lines: 30)
        bench.focus("day")
        bench.feed(.input(.paste("2027-01-05", isCut: false)))
        bench.press(.enter)
        bench.answer(.refused(WireError(.invalidValue, "the window is closed")))
        #expect(row(of: "day ", &bench).contains("2027-01-05"), "\(bench.screen())")
        #expect(row(of: "day ", &bench).contains("the window is"), "\(bench.screen())")
        // Enter edits it again.
        bench.press(.enter)
        #expect(bench.model.activeEdit?.draft == "2027-01-05")
    }

    @Test("a number that is refused stays in its input, with the reason at its right")
    func refusedNumber() throws {
        var bench = try LiveBench(Self.form, columns: 100, lines: 30)
        bench.focus("share")
        bench.type("0.x")
        bench.press(.enter)
        #expect(row(of: "share", &bench).contains("0.x"), "\(bench.screen())")
        #expect(row(of: "share", &bench).contains("✗ not a number"), "\(bench.screen())")
    }

    @Test("an open menu and a calendar say what Enter sets")
    func menuWords() throws {
        var bench = try LiveBench(Self.form, columns: 100, lines: 30)
        bench.changed("region", "eu-west")
        bench.focus("region")
        bench.press(.enter)
        #expect(!bench.screen().contains("Enter sets"))
        bench.press(.down)
        #expect(
            bench.screen().contains("Enter sets region to eu-north for everybody"),
            "\(bench.screen())")
    }

    @Test("Backspace discards what was pasted into a date, and asks nothing")
    func discarded() throws {
        var bench = try LiveBench(Self.form)
        bench.focus("day")
        bench.feed(.input(.paste("tomorrow", isCut: false)))
        bench.press(.backspace)
        #expect(bench.model.question == nil)
        #expect(!bench.screen().contains("unsaved"))
    }

    @Test("a minus after a digit belongs to the date, else it is a step")
    func minus() throws {
        var bench = try LiveBench(Self.form)
        bench.focus("day")
        bench.type("-")
        bench.pass(milliseconds: 500)
        #expect(bench.edits.map(\.action) == [.value("2025-11-21")])
    }

    @Test("the palette has every command, filtered, and the themes")
    func palette() throws {
        var bench = try LiveBench(Self.form)
        bench.type(":")
        #expect(bench.screen().contains("Commands"))
        bench.type("who")
        bench.press(.enter)
        #expect(bench.screen().contains("only you") && bench.screen().contains("Who is here"))
        bench.press(.escape)
        bench.type(":theme ember")
        bench.press(.enter)
        #expect(bench.model.around.environment.theme.name == "ember")
        bench.type(":go to share")
        bench.press(.enter)
        #expect(bench.model.focusedField == "share")
        bench.type(":zzzz")
        bench.press(.enter)
        #expect(bench.ending == nil)
    }

    @Test("every action that people can bind is in the palette, except moves and steps")
    func complete() {
        let moves: Set<KeyAction> = [
            .up, .down, .left, .right, .next, .previous, .first, .last, .pageUp, .pageDown,
            .increase, .decrease, .edit, .escape, .palette,
        ]
        let listed = Set(LiveModel.commands)
        #expect(listed == Set(KeyAction.allCases).subtracting(moves))
    }

    @Test("the palette leaves out commands without an effect now")
    func effective() throws {
        var bench = try LiveBench(Self.form)
        func lists(_ action: KeyAction) -> Bool {
            bench.model.paletteOptions.contains { $0.tag == .string("command \(action.rawValue)") }
        }
        bench.focus("day")
        for action in [KeyAction.conflict, .kept, .proposals, .cancelRun, .external, .reset] {
            #expect(!lists(action), "\(action)")
        }
        #expect(lists(.act) && lists(.history) && lists(.undo) && lists(.leave))
        bench.feed(.input(.paste("tomorrow", isCut: false)))
        #expect(lists(.reset), "the draft can be discarded")
    }

    @Test("the highlighted command is carried out, though the form changed while it was chosen")
    func fixedCommands() throws {
        var bench = try LiveBench(Self.form)
        bench.focus("day")
        bench.type(":reset")
        #expect(!bench.screen().contains(KeyAction.reset.words.beginningWithCapital))
        bench.press(.escape)
        bench.changed("day", "2030-01-01")
        bench.type(":reset")
        bench.changed("day", .null)
        bench.press(.enter)
        #expect(bench.model.question != nil || bench.screen().contains("has its default already"))
    }

    @Test("an open menu is filtered by the titles of its groups too")
    func groups() throws {
        var bench = try LiveBench(Self.form)
        bench.focus("region")
        bench.press(.enter)
        bench.type("ameri")
        #expect(bench.screen().contains("US East") || bench.screen().contains("us-east"))
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("us-east")])
    }
}
