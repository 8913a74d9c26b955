import SyncCore
import Testing

@testable import TerminalUI
@testable import pickerctl

private let form = """
    form: t
    title: Grid
    fields:
      - {id: region, type: picker, style: menu, options: [eu, us, asia]}
      - {id: name, type: text, label: Name, required: true, pattern: "[a-z]+"}
      - {id: on, type: toggle, label: Maintenance mode, default: false}
      - {id: box, type: toggle, style: checkbox, label: Boxed}
      - {id: speed, type: slider, min: 0, max: 100, step: 5, enabledWhen: {on: false}}
      - {id: count, type: stepper, min: 0, max: 64, default: 9}
      - {id: load, type: gauge, min: 0, max: 1, default: 0.4}
      - {id: go, type: button, label: Go}
      - {id: stop, type: button, label: Stop, role: destructive}
      - {id: env, type: picker, options: [a, b], onConflict: ask}
    """

@Suite("one grid")
struct LiveGridTests {
    private func line(_ bench: inout LiveBench, with text: String) throws -> String {
        let lines = bench.screen().split(separator: "\n").map(String.init)
        return try #require(lines.first { $0.contains(text) }, "\(lines)")
    }

    /// The column of a mark in its line.
    private func column(of mark: Character, in line: String) throws -> Int {
        let place = try #require(line.firstIndex(of: mark), "\(line)")
        return line.distance(from: line.startIndex, to: place)
    }

    @Test("values begin in one column, also boxes and buttons", arguments: [80, 100, 200])
    func oneColumn(columns: Int) throws {
        var bench = try LiveBench(form, columns: columns, lines: 40)
        let toggle = try column(of: "(", in: line(&bench, with: "Maintenance"))
        #expect(try column(of: "[", in: line(&bench, with: "Boxed")) == toggle)
        #expect(try column(of: "[", in: line(&bench, with: "+")) == toggle)
        #expect(try column(of: "●", in: line(&bench, with: "speed")) == toggle)
        // An input's text is one column inside of its ground.
        let menu = try line(&bench, with: "Eu ")
        #expect(menu.dropFirst(toggle).hasPrefix(" Eu "))
    }

    @Test("labels end two columns before the values, in a narrow form they are above them")
    func labelAlignment() throws {
        let trailing = form.replacing("title: Grid", with: "labelAlignment: trailing")
        for columns in [64, 80, 200] {
            var bench = try LiveBench(trailing, columns: columns, lines: 40)
            bench.focus("speed")
            let value = try column(of: "(", in: line(&bench, with: "Maintenance"))
            for label in ["Maintenance mode", "Name *", "speed", "count", "env"] {
                let line = try line(&bench, with: label)
                let end = try #require(line.firstRange(of: label)).upperBound
                #expect(line.distance(from: line.startIndex, to: end) == value - 2, "\(line)")
            }
            // The bar of the focus is at the left edge.
            #expect(try column(of: "▌", in: line(&bench, with: "speed")) < 2)
        }
        var (narrow, leading) = (
            try LiveBench(
                trailing.replacing("form: t", with: "form: t\ntitle: Grid"), columns: 40, lines: 40),
            try LiveBench(form, columns: 40, lines: 40)
        )
        #expect(narrow.screen() == leading.screen())
    }

    @Test("the words about a threshold are whole", arguments: [40, 64, 80, 100])
    func threshold(columns: Int) throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: requestsPerSecond, type: gauge, min: 0, max: 5000, minLabel: none, maxLabel: all,
                 currentValueLabel: "${requestsPerSecond} req/s", default: 3999,
                 thresholds: [{from: 1000, tint: yellow}, {from: 4000, tint: red}]}
              - {id: load, type: gauge, min: 0, max: 1, thresholds: [{from: 0.6, tint: red}]}
            """, columns: columns)
        func expect(_ value: JSON, _ words: String) throws {
            bench.changed("requestsPerSecond", value)
            let line = try line(&bench, with: "all")
            // Beside so long a value, a narrow form has space for the mark only.
            let shown = columns < 100 ? String(words.prefix { $0 != "▲" }) : words
            #expect(line.contains(shown) && line.contains("▲") == words.contains("▲"), "\(line)")
        }
        try expect(999, "999 req/s")
        try expect(1000, "1000 req/s  ▲ at 1000")
        try expect(3999, "3999 req/s  ▲ over 1000")
        let bar = try line(&bench, with: "all").firstIndex(of: "a")
        try expect(4500, "4500 req/s  ▲ over 4000")
        #expect(try line(&bench, with: "all").firstIndex(of: "a") == bar, "the bar moved")
        bench.changed("load", .number(try #require(DecimalNumber("0.75"))))
        #expect(try line(&bench, with: "▲ over 60 %").contains("75 %"))
    }

    @Test("a number that is typed is where the number was", arguments: ["count", "power"])
    func typedNumber(field: String) throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: count, type: stepper, min: 0, max: 64, default: 9}
              - {id: power, type: slider, min: 0, max: 9, step: 1, default: 9, maxLabel: all}
            """)
        bench.focus(field)
        let before = try column(of: "9", in: line(&bench, with: "▌"))
        bench.type("8")
        #expect(try column(of: "8", in: line(&bench, with: "▌")) == before, "\(bench.screen())")
    }

    @Test("the form is at most 96 columns wide, and at the left")
    func width() throws {
        var bench = try LiveBench(form, columns: 200, lines: 40)
        let widest = bench.screen().split(separator: "\n").map(\.count).max() ?? 0
        #expect(widest <= 96)
        bench.bobIs(at: "speed", draft: 40)
        #expect(try line(&bench, with: "bob: 40").count <= 96)
    }

    @Test("the cards of a conflict are side by side, also for two terminals of one user")
    func cards() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        let at = Timestamp("2026-11-21T14:02:09.000Z")
        let theirs = Sibling(value: "staging", by: LiveBench.author(17, "ann"), at: at)
        bench.changed("environment", "production", conflict: [theirs])
        #expect(try line(&bench, with: "Production").contains("Staging"), "\(bench.screen())")
        #expect(try line(&bench, with: "ann pts/17").contains("bob"), "\(bench.screen())")
        #expect(bench.screen().contains("14:02:09"), "the time is not cut")
    }

    @Test("the run of a button is below it, in the column of values")
    func run() throws {
        var bench = try LiveBench(example: "deploy", columns: 100, lines: 30)
        bench.changed("start", 1, runs: ButtonRuns(waiting: 1, running: [], last: nil))
        let run = try line(&bench, with: "waits for a handler")
        let buttons = try line(&bench, with: "Start")
        #expect(try column(of: "…", in: run) == column(of: "[", in: buttons))
    }

    @Test("a number of somebody else has its unit")
    func unit() throws {
        var bench = try LiveBench(example: "deploy", columns: 100, lines: 30)
        bench.bobIs(at: "traffic", draft: 40)
        #expect(try line(&bench, with: "bob: 40 %").contains("0 %"))
    }

    @Test("inputs are apart where the height allows it, before what is not as wide")
    func apart() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        let lines = bench.screen().split(separator: "\n", omittingEmptySubsequences: false)
        let region = try #require(lines.firstIndex { $0.contains("Region") })
        let window = try #require(lines.firstIndex { $0.contains("Window opens") })
        #expect(lines[region + 1].isEmpty && lines[region + 2].contains("Version"))
        #expect(lines[window + 1].isEmpty && lines[window + 2].contains("Deploy token"))
        let all = bench.model.geometry
        #expect(all.contentLines <= all.window.lines)
    }

    @Test("buttons that follow one another are side by side, and arrows go between them")
    func buttons() throws {
        var bench = try LiveBench(form, columns: 80, lines: 30)
        let row = try line(&bench, with: "Go")
        #expect(row.contains("! Stop…"))
        bench.focus("go")
        bench.press(.right)
        #expect(bench.model.focusedField == "stop")
        bench.press(.left)
        #expect(bench.model.focusedField == "go")
        // The line of keys names all arrows there, and only there.
        #expect(bench.screen().contains("arrows move"))
        bench.focus("region")
        #expect(bench.screen().contains("↑↓ move"))
        // The question is below, so that the buttons stay.
        bench.focus("stop")
        bench.press(.enter)
        #expect(try line(&bench, with: "Go").contains("! Stop…"))
        #expect(bench.screen().contains("Stop?"))
        // A click finds the second of them.
        bench.press(.escape)
        let y = bench.screen().split(separator: "\n", omittingEmptySubsequences: false)
            .firstIndex { $0.contains("Stop") }
        let x = row.distance(from: row.startIndex, to: row.firstIndex(of: "!") ?? row.endIndex)
        bench.focus("region")
        bench.mouse(.press(.left), x, try #require(y))
        #expect(bench.model.focusedField == "stop")
    }

    @Test("nothing moves when something is told", arguments: [80, 40])
    func nothingMoves(columns: Int) throws {
        var bench = try LiveBench(form, columns: columns, lines: 30)
        _ = bench.model.draw()
        let before = bench.model.geometry.frames
        bench.focus("name")
        bench.type("i1")
        bench.press(.enter)
        bench.bobIs(at: "speed", draft: 40)
        bench.changed("count", 12)
        _ = bench.model.draw()
        #expect(bench.model.geometry.frames == before)
        #expect(bench.model.problems["name"] != nil)
        bench.focus("speed")
        bench.press(.right)
        bench.changed("speed", 50)
        _ = bench.model.draw()
        #expect(bench.model.geometry.frames == before)
    }

    @Test("a disabled control says what it needs")
    func reason() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.changed("on", true)
        #expect(try line(&bench, with: "speed").contains("needs Maintenance mode off"))
    }

    @Test("a reason without space for all of it is one word, never half a sentence")
    func shortReason() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        bench.changed("maintenance", true)
        bench.pass(milliseconds: 70_000)
        let row = try line(&bench, with: "Traffic to the new version")
        #expect(row.hasSuffix(" disabled"), "\(row)")
        bench.focus("traffic")
        #expect(bench.screen().contains("needs Maintenance mode off"))
    }

    @Test("a counter is whole beside a long note, which is cut", arguments: [80, 60, 40])
    func counter(columns: Int) throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: name, type: text, maxLength: 60}
            """, columns: columns, lines: 24)
        bench.focus("name")
        bench.press(.enter)
        bench.type(String(repeating: "x", count: 59))
        bench.changed("name", .string(String(repeating: "y", count: 50)))
        #expect(bench.screen().contains("59/60"), "\(bench.screen())")
    }

    @Test("how a value ends has space before who set it", arguments: [(80, true), (40, false)])
    func lease(columns: Int, hasAuthor: Bool) throws {
        var bench = try LiveBench(example: "deploy", columns: columns, lines: 24)
        bench.changed(
            "maintenance", true,
            lease: FieldLease(
                id: "a.1:1", until: Timestamp(milliseconds: 7_152_000),
                by: LiveBench.author(LiveBench.bob, "bob"), then: nil))
        bench.pass(milliseconds: 3_000)
        bench.focus("maintenance")
        #expect(bench.screen().contains("then off"))
        #expect(bench.screen().contains("bob, 2 s") == hasAuthor)
    }

    @Test("a question of a button moves nothing", arguments: [(100, 30), (80, 24)])
    func question(columns: Int, lines: Int) throws {
        var bench = try LiveBench(example: "deploy", columns: columns, lines: lines)
        bench.focus("rollback")
        let before = bench.screen().split(separator: "\n", omittingEmptySubsequences: false)
        let row = try #require(before.firstIndex { $0.contains("Roll back…") })
        bench.press(.enter)
        let after = bench.screen().split(separator: "\n", omittingEmptySubsequences: false)
        #expect(after[..<row] == before[..<row])
        // The answers have the focus now, so the button has other edges at the same places.
        let idle = before[row].replacing("▌ ! Roll back… ▐", with: "[ ! Roll back… ]")
        #expect(after[row] == idle)
        #expect(after[row + 1].contains("Roll back production?"))
        #expect(after[row + 1].contains("Cancel"), "the answers are beside it")
    }

    @Test("buttons that touch an input have edges instead of its ground")
    func tightButtons() throws {
        func ground(lines: Int) throws -> CellStyle {
            var bench = try LiveBench(example: "deploy", columns: 80, lines: lines)
            bench.model.around.environment = StyleEnvironment(theme: .harbor, depth: .trueColor)
            let buffer = bench.model.draw().buffer
            let y = try #require(
                (0..<buffer.lines).first { y in
                    buffer.line(y).map { String($0.cluster) }.joined().contains("Start")
                })
            let x = try #require(buffer.line(y).firstIndex { $0.cluster == "S" })
            return buffer.line(y)[x].style
        }
        #expect(try ground(lines: 24).background == .standard)
        #expect(try ground(lines: 40).background != .standard)
    }

    @Test("a required field says so after it was left empty, not before")
    func required() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        #expect(!bench.screen().contains("required"))
        #expect(bench.screen().contains("Name *"))
        bench.focus("name")
        bench.press(.down)
        #expect(try line(&bench, with: "Name *").contains("✗ required"))
    }

    @Test("the buttons of a stepper stay where they are")
    func stepper() throws {
        var bench = try LiveBench(form, columns: 80, lines: 30)
        let before = try column(of: "+", in: line(&bench, with: "count"))
        bench.changed("count", 64)
        #expect(try column(of: "+", in: line(&bench, with: "count")) == before)
    }

    @Test("the line above the keys describes the control in focus")
    func status() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.focus("speed")
        #expect(bench.screen().contains("0 to 100 in steps of 5"))
        bench.press(.right)
        #expect(bench.screen().contains("5 · sets in a moment · Esc keeps 0"))
        bench.press(.escape)
        #expect(!bench.screen().contains("sets in a moment"))
    }

    @Test("`n` goes to the next conflict, and clicks on header and footer are keys")
    func conflicts() throws {
        var bench = try LiveBench(form, columns: 100, lines: 40)
        bench.type("n")
        #expect(bench.screen().contains("there is no conflict"))
        bench.changed(
            "env", "b",
            conflict: [Sibling(value: "a", by: LiveBench.author(LiveBench.me, "ann"), at: nil)])
        bench.type("n")
        #expect(bench.model.focusedField == "env")
        bench.focus("region")
        let header = try line(&bench, with: "1 conflict")
        let x = header.distance(
            from: header.startIndex, to: try #require(header.firstIndex(of: "⇄")))
        bench.mouse(.press(.left), x + 3, 0)
        #expect(bench.model.focusedField == "env")
        bench.focus("region")
        let footer = try line(&bench, with: "help")
        let y = 39
        let place = footer.distance(
            from: footer.startIndex, to: try #require(footer.firstIndex(of: "?")))
        bench.mouse(.press(.left), place, y)
        #expect(bench.screen().contains("Menu: region"))
        bench.type("?")
        #expect(bench.screen().contains("the control above"))
    }
}
