import PickerClient
import SyncCore
import TerminalUI
import TestKit
import Testing

@testable import pickerctl

private let form = """
    form: t
    title: Test
    sections:
      - title: One
        fields:
          - {id: flavor, type: picker, style: segmented, options: [chocolate, vanilla, strawberry]}
          - {id: size, type: picker, style: inline, options: [s, m, l]}
          - {id: region, type: picker, style: menu, options: [eu, us, {tag: asia, disabled: true}]}
          - {id: days, type: picker, style: inline, multiple: true, options: [mon, tue], default: []}
          - {id: cone, type: toggle}
          - {id: speed, type: slider, min: 0, max: 100, step: 5, default: 50}
          - {id: scoops, type: stepper, min: 1, max: 5, default: 2}
      - title: Two
        collapsed: true
        fields:
          - {id: day, type: date, mode: date, default: "2026-11-21"}
          - {id: name, type: text, maxLength: 5}
          - {id: code, type: text, pattern: "[0-9]+", default: "1"}
          - {id: note, type: text, multiline: true}
          - {id: key, type: secure}
          - {id: go, type: button, confirm: "Really?"}
          - {id: plain, type: button, enabledWhen: {cone: true}}
    """

@Suite("keys and the mouse, type by type")
struct LiveKeysTests {
    @Test("arrows turn a segmented picker as a draft, which is set once when it settles")
    func segmented() throws {
        var bench = try LiveBench(form)
        bench.press(.right, .right)
        #expect(bench.edits.isEmpty)
        #expect(bench.value("flavor") == "strawberry")
        bench.pass(milliseconds: 100)
        #expect(bench.told.last?.draft == "strawberry")
        bench.pass(milliseconds: 500)
        #expect(bench.edits.map(\.action) == [.value("strawberry")])
        #expect(bench.model.activeEdit == nil)
    }

    @Test("a digit above the number of options says how many there are", arguments: ["4", "0"])
    func digitBeyond(_ digit: String) throws {
        var bench = try LiveBench(form)
        bench.type(digit)
        #expect(bench.screen().contains("has 3 options; there is no option \(digit)"))
        bench.pass(milliseconds: 500)
        #expect(bench.edits.isEmpty)
    }

    @Test("Esc puts a turned value back and sends nothing")
    func cancelEdit() throws {
        var bench = try LiveBench(form)
        bench.press(.right, .escape)
        bench.pass(milliseconds: 2_000)
        #expect(bench.value("flavor") == "chocolate")
        #expect(bench.edits.isEmpty)
    }

    @Test("leaving a control sets what was turned")
    func leaving() throws {
        var bench = try LiveBench(form)
        bench.press(.right, .down)
        #expect(bench.edits.map(\.action) == [.value("vanilla")])
        #expect(bench.model.focusedField == "size")
    }

    @Test("in a list the arrows move, Space picks, and past its end the next control comes")
    func list() throws {
        var bench = try LiveBench(form)
        bench.focus("size")
        bench.press(.down, .down, .character(" "))
        #expect(bench.edits.map(\.action) == [.value("l")])
        bench.press(.down)
        #expect(bench.model.focusedField == "region")
        bench.focus("size")
        bench.type("2")
        #expect(bench.edits.count == 1)
        bench.press(.enter)
        #expect(bench.edits.last?.action == .value("m"))
    }

    @Test("a menu opens on the present choice; letters filter; what is unavailable is not picked")
    func menu() throws {
        var bench = try LiveBench(form)
        bench.focus("region")
        bench.press(.enter)
        #expect(bench.screen().contains("❯ ✓ Eu"))
        #expect(bench.screen().contains("Esc close"))
        bench.type("us")
        #expect(bench.screen().contains("Esc clear"))
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("us")])
        bench.press(.enter)
        bench.type("asia")
        bench.press(.enter)
        #expect(bench.edits.count == 1)
        bench.press(.escape, .escape)
        #expect(bench.model.activeEdit == nil)
    }

    @Test("a menu covers the form, which does not scroll; a click outside only closes it")
    func floating() throws {
        var bench = try LiveBench(form)
        let before = bench.screen().split(separator: "\n", omittingEmptySubsequences: false)
        bench.focus("region")
        bench.press(.enter)
        let after = bench.screen().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(after.contains { $0.contains("/ type to filter") })
        // The last lines of the form, the message's and the keys' aside, are where they were.
        #expect(before.dropFirst(17).prefix(4) == after.dropFirst(17).prefix(4))
        #expect(
            before.dropFirst(3).prefix(4).map(\.count) == after.dropFirst(3).prefix(4).map(\.count))
        let toggle = try #require(
            bench.model.geometry.regions.first { $0.owner == "flavor" && $0.rect.y < 5 }?.rect)
        bench.mouse(.press(.left), toggle.maxX - 1, toggle.y)
        #expect(bench.model.activeEdit == nil)
        #expect(bench.edits.isEmpty)
        #expect(bench.model.focusedField == "region")
    }

    @Test("a menu is whole at 40x10, covers its control where it must, and is hit by the mouse")
    func floatingInSmallRoom() throws {
        var bench = try LiveBench(form, columns: 40, lines: 10)
        bench.focus("region")
        bench.press(.enter)
        let screen = bench.screen()
        for option in ["Eu", "Us", "Asia"] { #expect(screen.contains(option)) }
        let option = try #require(
            bench.model.geometry.regions.last { $0.target == .action(.option("us")) }?.rect)
        bench.mouse(.press(.left), option.x, option.y)
        #expect(bench.edits.map(\.action) == [.value("us")])
    }

    @Test("Caps Lock is told while a secret is typed, and nowhere else")
    func capsLock() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("key")
        bench.press(.enter)
        #expect(!bench.screen().contains("Caps Lock"))
        bench.type("\u{1B}[97;65;65u")
        #expect(bench.screen().contains("Caps Lock is on"))
        bench.type("\u{1B}[98;1;98u")
        #expect(!bench.screen().contains("Caps Lock"))
        bench.type("\u{1B}[98;65;66u")
        bench.press(.escape)
        #expect(!bench.screen().contains("Caps Lock"))
    }

    @Test("a text goes to the person's own editor and comes back as an edit")
    func external() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("note")
        bench.type("e")
        #expect(bench.edited == [""])
        bench.feed(.edited(field: "note", text: "one\ntwo"))
        #expect(bench.edits.map(\.action) == [.value("one\ntwo")])
        bench.type("e")
        bench.feed(.edited(field: "note", text: nil))
        #expect(bench.screen().contains("the editor left no text"))
        bench.type("x\u{1B}e")
        #expect(bench.edited.last == "one\ntwox")
    }

    @Test("where only ASCII is drawn a palette spells its options out")
    func plainPalette() throws {
        var bench = try LiveBench(example: "controls", columns: 80, lines: 24)
        bench.model.around.environment = StyleEnvironment(charset: .ascii)
        let screen = bench.screen()
        #expect(screen.contains("Thumbs up") && screen.contains("Thumbs down"))
        #expect(!screen.contains("?  ?"))
    }

    @Test("several are added and taken out one by one, as intents")
    func several() throws {
        var bench = try LiveBench(form)
        bench.focus("days")
        bench.type(" ")
        bench.press(.down, .character(" "))
        bench.type(" ")
        #expect(bench.edits.map(\.action) == [.add(["mon"]), .add(["tue"]), .remove(["tue"])])
        #expect(bench.value("days") == ["mon"])
    }

    @Test("a stepper sends steps, so that those of two people add up")
    func stepper() throws {
        var bench = try LiveBench(form)
        bench.focus("scoops")
        bench.press(.right, .right)
        #expect(
            bench.edits.map(\.action) == [
                .increment(DecimalNumber(1)), .increment(DecimalNumber(1)),
            ])
        bench.changed("scoops", 3)
        #expect(bench.value("scoops") == 5)
    }

    @Test("a number is typed into a slider, and one that it does not take is told beside it")
    func typedNumber() throws {
        var bench = try LiveBench(form)
        bench.focus("speed")
        bench.type("75")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value(75)])
        bench.type("900")
        bench.press(.enter)
        #expect(bench.edits.count == 1)
        #expect(bench.screen().contains("✗"))
    }

    @Test("the mouse drags a slider; it is set once, when it is let go")
    func drag() throws {
        var bench = try LiveBench(form)
        _ = bench.model.draw()
        let track = try #require(
            bench.model.geometry.regions.first { $0.owner == "speed" && $0.target == .track }?.rect)
        bench.mouse(.press(.left), track.x, track.y)
        bench.mouse(.drag(.left), track.maxX + 40, track.y + 3)
        #expect(bench.value("speed") == 100)
        #expect(bench.edits.isEmpty)
        bench.mouse(.release(.left), track.maxX, track.y)
        #expect(bench.edits.map(\.action) == [.value(100)])
    }

    @Test("a click picks, toggles, and brings the keys there")
    func click() throws {
        var bench = try LiveBench(form)
        _ = bench.model.draw()
        let option = try #require(
            bench.model.geometry.regions.first { $0.target == .action(.option("vanilla")) }?.rect)
        bench.mouse(.press(.left), option.x, option.y)
        let toggle = try #require(
            bench.model.geometry.regions.last { $0.target == .action(.toggle) }?.rect)
        bench.mouse(.press(.left), toggle.x, toggle.y)
        #expect(bench.edits.map(\.action) == [.value("vanilla"), .value(true)])
        #expect(bench.model.focusedField == "cone")
    }

    @Test("a folded section opens with Enter; its controls are reached by Tab")
    func folded() throws {
        var bench = try LiveBench(form)
        bench.press(.end)
        #expect(bench.model.focus == .section(1))
        bench.press(.enter)
        #expect(bench.model.focusedField == "day")
        // Somebody may have typed that by accident, and wonders where the controls are.
        bench.type("c")
        #expect(bench.model.focus == .section(1))
        #expect(bench.model.words.texts.first == "Two is folded; Enter shows 7 controls")
    }

    @Test("text is typed, pasted and set with Enter; what does not fit is said")
    func text() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("name")
        bench.press(.enter)
        bench.type("quit")
        bench.feed(.input(.paste("eeee", isCut: false)))
        #expect(bench.screen().contains("5/5"))
        #expect(bench.ending == nil)
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("quite")])
    }

    @Test("Esc keeps what was typed as a draft; leaving asks once")
    func draft() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("note")
        bench.press(.enter)
        bench.type("a\rb")
        bench.press(.escape)
        #expect(bench.edits.isEmpty)
        #expect(bench.screen().contains("unsaved: a"))
        bench.type("q")
        #expect(bench.ending == nil)
        bench.press(.enter)
        bench.type("c\t")
        #expect(bench.edits.map(\.action) == [.value("a\nbc")])
        bench.press(.escape)
        bench.type("q")
        #expect(bench.ending == .done)
    }

    @Test("a text that the form refuses stays under the hand as a draft")
    func refusedText() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("code")
        bench.press(.enter)
        bench.type("x\r")
        #expect(bench.edits.isEmpty)
        #expect(bench.model.drafts["code"]?.text == "1x")
        #expect(bench.screen().contains("✗"))
    }

    @Test("a secret is never shown, shared or kept as a draft")
    func secret() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("key")
        bench.press(.enter)
        bench.type("hunter2")
        bench.pass(milliseconds: 100)
        #expect(bench.told.allSatisfy { $0.draft == nil })
        #expect(!bench.screen().contains("hunter2"))
        bench.press(.escape)
        #expect(bench.model.drafts.isEmpty)
        bench.press(.enter)
        bench.type("s\r")
        #expect(bench.edits.map(\.action) == [.value("s")])
    }

    @Test("a button asks first; what is disabled says so")
    func button() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("go")
        bench.press(.enter, .enter)
        #expect(bench.edits.isEmpty)
        bench.press(.enter, .character("y"))
        #expect(bench.edits.map(\.action) == [.press])
        bench.focus("plain")
        bench.press(.enter)
        #expect(bench.edits.count == 1)
        #expect(bench.screen().contains("disabled now"))
    }

    @Test("digits are typed into the parts of a date, one after the other")
    func date() throws {
        var bench = try LiveBench(form)
        bench.model.fold(1)
        bench.focus("day")
        bench.type("20270305\r")
        #expect(bench.edits.map(\.action) == [.value("2027-03-05")])
        bench.type("+")
        bench.pass(milliseconds: 500)
        #expect(bench.edits.last?.action == .value("2027-03-06"))
    }

    @Test("a control is found by some letters of its name")
    func find() throws {
        var bench = try LiveBench(form)
        bench.type("/sco\r")
        #expect(bench.model.focusedField == "scoops")
    }

    @Test("undo and redo are asked of the daemon, and told")
    func undo() throws {
        var bench = try LiveBench(form)
        bench.type("uU")
        #expect(bench.sent.map(\.request.method) == [.stateUndo, .stateRedo])
        bench.answer(.refused(WireError(.conflict, "nothing")))
        #expect(bench.screen().contains("you have no edit to undo"))
    }

    @Test("keys can be bound otherwise, and the help page says so")
    func bound() throws {
        var keys = KeyMap()
        keys.bind(.leave, to: [try #require(KeyMap.key(named: "ctrl-x"))])
        var bench = try LiveBench(form, lines: 60, keys: keys)
        bench.type("q")
        #expect(bench.ending == nil)
        bench.type("?")
        #expect(bench.screen().contains("^X"))
        bench.type("x\u{18}")
        #expect(bench.ending == .done)
    }

    @Test("any bytes at all leave a form that can be drawn at any size")
    func fuzz() throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "LIVE_SEED"))
        for _ in 0..<12 {
            var bench = try LiveBench(
                form, columns: Int(random.next() % 100), lines: Int(random.next() % 30))
            for _ in 0..<60 {
                let keys = [
                    "\r", " ", "\t", "\u{1B}", "\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D",
                    "1", "2", "9", "+", "-", "a", "e\u{301}", "\u{7F}", "c", "/", "?", "u", "i",
                    "\u{1B}[<0;12;5M", "\u{1B}[<32;30;6M", "\u{1B}[<0;12;5m", "\u{1B}[<65;9;9M",
                    "\u{1B}[200~x\ny\u{1B}[201~", "\u{1B}[5~", "\u{1B}[6~", "\u{1B}[H", "\u{1B}[F",
                ]
                bench.type(keys[Int(random.next() % UInt64(keys.count))])
                if random.next() % 8 == 0 { bench.changed("flavor", "vanilla") }
                if random.next() % 8 == 0 { bench.answer() }
                _ = bench.model.draw()
            }
        }
    }
}
