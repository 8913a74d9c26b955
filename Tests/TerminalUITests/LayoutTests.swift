import SyncCore
import TestKit
import Testing

@testable import TerminalUI

@Suite struct LayoutTests {
    private func lines(_ block: some Block, columns: Int, lines: Int? = nil) -> [String] {
        let canvas = Canvas.drawing(block, columns: columns, lines: lines)
        return (0..<canvas.buffer.lines).map { canvas.buffer.text(ofLine: $0) }
    }

    @Test(
        "text is wrapped by words and by columns",
        arguments: [
            ("one two three", 7, ["one two", "three  "]), ("abcdefgh", 3, ["abc", "def", "gh "]),
            ("日本語 です", 5, ["日本 ", "語 で", "す   "]), ("a\nb", 4, ["a   ", "b   "]),
            ("", 3, ["   "]), ("aa 👩‍👧bb", 5, ["aa 👩‍👧", "bb   "]), ("a  b", 2, ["a ", "b "]),
        ])
    func wrapping(text: String, columns: Int, expected: [String]) {
        #expect(lines(StyledText(text), columns: columns) == expected)
    }

    @Test("no line of any text is wider than its area, and no word is lost")
    func wrappingLaw() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        let alphabet = ["a", "b", " ", " ", "日", "👍", "e\u{301}", "-", "\n"]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? "a"
            }.joined()
            let width = Int.random(in: 2...12, using: &random)
            let wrapped = StyledText(text).wrapped(width: width)
            for line in wrapped {
                let shown = line.spans.map(\.text).joined()
                #expect(DisplayWidth.columns(of: shown) <= width)
            }
            let kept = wrapped.flatMap { $0.spans.map(\.text) }.joined()
            #expect(kept.filter { $0 != " " } == text.filter { $0 != " " && $0 != "\n" })
        }
    }

    @Test("a row gives spacers what is left, and a flow goes on in the next line")
    func rows() {
        let row = Row {
            StyledText("a"); Spacer(); StyledText("b")
        }
        #expect(lines(row, columns: 7) == ["a     b"])
        let flow = Flow(["one", "two", "three"].map { StyledText($0) }, spacing: 1)
        #expect(lines(flow, columns: 8) == ["one two ", "three   "])
    }

    @Test("a border keeps its title and its contents within the area")
    func border() {
        let block = Bordered(
            title: StyledText("Title"), note: StyledText("3"), style: .plain, glyphs: .unicode,
            StyledText("content"))
        #expect(lines(block, columns: 13) == ["╭─ Title ───╮", "│ content   │", "╰─ 3 ───────╯"])
    }

    @Test("scrolling moves as little as shows the focus")
    func scrolling() {
        var scroll = ScrollState()
        scroll.show(3..<5, content: 40, window: 10)
        #expect(scroll.offset == 0)
        scroll.show(12..<14, content: 40, window: 10)
        #expect(scroll.offset == 5)
        scroll.show(8..<9, content: 40, window: 10)
        #expect(scroll.offset == 5)
        scroll.show(2..<3, content: 40, window: 10)
        #expect(scroll.offset == 1)
        scroll.show(38..<40, content: 40, window: 10)
        #expect(scroll.offset == 30)
        scroll.show(10..<30, content: 40, window: 10)
        #expect(scroll.offset == 10)
        scroll.scroll(by: Int.max, content: 40, window: 10)
        #expect((0...30).contains(scroll.offset))
    }

    @Test("at 40x10 each control of a form can be scrolled to, and its region lies on the screen")
    func forms() throws {
        let environment = StyleEnvironment()
        let views = FormSample.views()
        let content = Column(
            views.map { Owned(by: $0.0, AnyBlock($0.1.block(in: environment))) as any Block })
        let frames = Canvas.frames(of: content, width: 39)
        #expect(frames.map(\.owner) == views.map(\.0))
        let total = content.measure(width: 39).lines
        for frame in frames {
            var scroll = ScrollState()
            scroll.show(frame.rect.y..<frame.rect.maxY, content: total, window: 10)
            let canvas = Canvas.drawing(
                Viewport(scroll, lines: 10, environment: environment, content), columns: 40,
                lines: 10)
            let region = try #require(canvas.regions.first { $0.owner == frame.owner })
            #expect(region.rect.y == frame.rect.y - scroll.offset)
            #expect(canvas.regions.allSatisfy { $0.rect.y >= 0 && $0.rect.maxY <= 10 })
        }
    }
}

@Suite struct RegionTests {
    private func canvas(_ view: some ControlView) -> Canvas {
        Canvas.drawing(
            Owned(by: "it", AnyBlock(view.block(in: StyleEnvironment()))), columns: 80)
    }

    /// What a click on the first cell that shows `text` does.
    private func click(_ text: String, _ canvas: Canvas) throws -> ControlAction? {
        for y in 0..<canvas.buffer.lines {
            let line = canvas.buffer.text(ofLine: y)
            guard let range = line.firstRange(of: text) else { continue }
            let x = DisplayWidth.columns(of: line[..<range.lowerBound])
            let point = Point(x: x, y: y)
            return canvas.region(at: point)?.action(at: point)
        }
        return nil
    }

    private let flavors = ["chocolate", "vanilla"].map { PickerOption(tag: .string($0)) }

    private func picker(_ state: ControlState = ControlState()) -> PickerView {
        PickerView(
            PickerStyleConfiguration(
                label: ControlLabel("Flavor"), options: flavors, selection: .tags(["vanilla"]),
                state: state))
    }

    @Test("a click on an option picks it, in every style that shows it")
    func options() throws {
        #expect(
            try click("Chocolate", canvas(picker().pickerStyle(.inline))) == .option("chocolate"))
        #expect(
            try click("Chocolate", canvas(picker().pickerStyle(.segmented))) == .option("chocolate")
        )
        #expect(
            try click("Chocolate", canvas(picker().pickerStyle(.radioGroup)))
                == .option("chocolate"))
        #expect(
            try click("Chocolate", canvas(picker().pickerStyle(.wheel))) == .option("chocolate"))
        #expect(try click("Vanilla", canvas(picker().pickerStyle(.menu))) == .open)
        #expect(try click("Vanilla", canvas(picker().pickerStyle(.navigationLink))) == .open)
    }

    @Test(
        "what cannot be edited takes the focus and no more",
        arguments: [ControlState.Availability.disabled, .locked, .readOnly])
    func unavailable(availability: ControlState.Availability) throws {
        let state = ControlState(availability: availability)
        let drawn = canvas(picker(state).pickerStyle(.inline))
        #expect(try click("Chocolate", drawn) == .focus)
        let slider = SliderView(
            SliderStyleConfiguration(
                label: ControlLabel("S"), value: .zero,
                range: TrackRange(min: .zero, max: DecimalNumber(10)), valueText: "0", state: state)
        )
        #expect(canvas(slider).regions.allSatisfy { $0.target == .action(.focus) })
    }

    @Test("a slider answers along its track, and beyond its ends with them")
    func slider() throws {
        let view = SliderView(
            SliderStyleConfiguration(
                label: ControlLabel("Speed"), value: .zero,
                range: TrackRange(min: .zero, max: DecimalNumber(100)), valueText: "0"))
        let track = try #require(canvas(view).regions.first { $0.target == .track })
        let last = track.rect.columns - 1
        #expect(track.action(at: track.rect.origin) == .track(position: 0, last: last))
        #expect(
            track.action(at: Point(x: track.rect.maxX - 1, y: 0))
                == .track(position: last, last: last))
        #expect(track.action(at: Point(x: 500, y: 9)) == .track(position: last, last: last))
        #expect(track.action(at: Point(x: -500, y: 9)) == .track(position: 0, last: last))
    }

    @Test("a click in text puts the cursor before what was clicked, after a wide one too")
    func text() throws {
        let view = TextView(
            label: ControlLabel("Text"), editor: TextEditor("a日b"), isEditing: true)
        let drawn = canvas(view)
        let region = try #require(
            drawn.regions.first { if case .text = $0.target { true } else { false } })
        let offsets = (0..<6).map { region.action(at: Point(x: region.rect.x + $0, y: 0)) }
        #expect(offsets == [0, 1, 1, 2, 3, 3].map { .cursor(offset: $0) })
        #expect(drawn.cursor == Point(x: region.rect.x + 4, y: 0))
    }

    @Test("calendars, steppers, buttons, wheels and conflicts answer by what is clicked")
    func others() throws {
        let date = DatePickerView(
            DatePickerStyleConfiguration(
                label: ControlLabel("Day"), mode: .date,
                value: DateValue("2021-06-15", mode: .date),
                min: DateValue("2021-06-10", mode: .date)))
        let calendar = canvas(date.datePickerStyle(.graphical))
        #expect(try click("28", calendar) == CivilDate("2021-06-28").map { .day($0) })
        #expect(try click(" 7 ", calendar) == .focus, "a day before the first cannot be chosen")
        #expect(try click("›", calendar) == .turn(months: 1))
        #expect(
            try click("14", canvas(date.datePickerStyle(.wheel)))
                == .row(part: 2, tag: "2021-06-14"))
        #expect(try click("-06", canvas(date.datePickerStyle(.compact))) == .focus)
        #expect(try click("06", canvas(date.datePickerStyle(.compact))) == .part(1))
        let stepper = canvas(
            StepperView(label: ControlLabel("Count"), valueText: "3", canDecrement: false))
        #expect(try click("[+", stepper) == .increment)
        #expect(try click("[−", stepper) == .focus)
        let button = ButtonView(
            PrimitiveButtonStyleConfiguration(
                label: ControlLabel("Go"), confirm: "Really?", phase: .confirming(onConfirm: false))
        )
        #expect(try click("Go", canvas(button)) == .confirm)
        #expect(try click("Cancel", canvas(button)) == .cancel)
        let picks = ["vanilla", "chocolate"].map {
            PeerValue(value: .string($0), text: $0, by: Peer(name: "bob", number: 0))
        }
        let conflict = canvas(
            ConflictView(
                label: ControlLabel("Flavor"), cards: picks, choice: 0, state: ControlState()))
        #expect(try click("chocolate", conflict) == .take(1))
        #expect(conflict.regions.allSatisfy { $0.owner == "it" })
    }
}

@Suite struct StyleTests {
    struct Shout: PickerStyle {
        func makeBody(configuration: Configuration) -> StyledText {
            StyledText("\(configuration.label.title)!")
        }
    }

    private func text(_ view: some ControlView) -> String {
        let canvas = Canvas.drawing(AnyBlock(view.block(in: StyleEnvironment())), columns: 60)
        return (0..<canvas.buffer.lines).map { canvas.buffer.text(ofLine: $0) }
            .joined(separator: "\n")
    }

    @Test("a style set on a container reaches what is inside; the nearest wins")
    func inheritance() {
        let options = ["a", "b"].map { PickerOption(tag: .string($0)) }
        func picker(_ label: String) -> PickerView {
            PickerView(
                PickerStyleConfiguration(
                    label: ControlLabel(label), options: options, selection: .tags(["a"])))
        }
        let inner = ControlGroup([picker("near")]).pickerStyle(.menu)
        let form = ControlGroup([picker("far"), ControlGroup([inner, picker("middle")])])
            .pickerStyle(Shout())
        let shown = text(form)
        #expect(shown.contains("far!") && shown.contains("middle!"))
        #expect(!shown.contains("near!") && shown.contains("▾"))
    }

    @Test("a style that a form names is the built-in one, and automatic keeps the container's")
    func named() {
        let view = PickerView(
            PickerStyleConfiguration(
                label: ControlLabel("it"), options: [PickerOption(tag: "a")],
                selection: .tags(["a"])))
        let shouting = StyleEnvironment().with { $0.pickerStyle = AnyPickerStyle(Shout()) }
        func shown(_ environment: StyleEnvironment) -> String {
            Canvas.drawing(AnyBlock(view.block(in: environment)), columns: 60).buffer
                .text(ofLine: 0)
        }
        #expect(shown(shouting.styled(.automatic, for: .picker)).contains("it!"))
        #expect(shown(shouting.styled(.circular, for: .picker)).contains("it!"))
        #expect(!shown(shouting.styled(.menu, for: .picker)).contains("it!"))
    }

    @Test(
        "automatic follows the number and kind of the options",
        arguments: [
            (1, false, ControlStyle.inline), (2, false, .segmented), (5, false, .segmented),
            (6, false, .menu), (20, false, .menu), (21, false, .navigationLink),
            (4, true, .palette),
        ])
    func automatic(count: Int, hasSymbols: Bool, expected: ControlStyle) {
        let options = (0..<count).map { number in
            var option = PickerOption(tag: .integer(number))
            if hasSymbols { option.symbol = "⚑" }
            return option
        }
        let configuration = PickerStyleConfiguration(
            label: ControlLabel("it"), options: options, selection: .tags([0]))
        #expect(configuration.automaticStyle == expected)
    }

    @Test("a row of a wheel takes the lines that it is given", arguments: [1, 2, 3])
    func itemHeight(lines: Int) {
        var configuration = PickerStyleConfiguration(
            label: ControlLabel("it"),
            options: ["a", "b", "c"].map { PickerOption(tag: .string($0)) },
            selection: .tags(["b"]))
        configuration.wheelItemHeight = lines
        let view = PickerView(configuration).pickerStyle(.wheel)
        let buffer = Canvas.drawing(
            AnyBlock(view.block(in: StyleEnvironment())), columns: 80
        ).buffer
        #expect(buffer.lines == 3 * lines + 2)
        let marked = (0..<buffer.lines).filter { buffer.text(ofLine: $0).contains("▸") }
        #expect(marked == [1 + lines + (lines - 1) / 2])
    }

    @Test("every theme is found by its name, and text is read on a dark background in a dark one")
    func themes() {
        for theme in Theme.all { #expect(Theme.named(theme.name) == theme) }
        #expect(Theme.named("no such") == nil)
        #expect(Theme.automatic(isDark: true).isDark == true)
        #expect(Theme.automatic(isDark: false).isDark == false)
        #expect(TerminalReply.isDark(red: 30, green: 30, blue: 46))
        #expect(!TerminalReply.isDark(red: 250, green: 250, blue: 240))
    }

    @Test("no theme has a colour where none is wanted, and all have enough peers")
    func bare() {
        for theme in Theme.all {
            let roles = RoleStyles(theme, depth: .none)
            for style in [
                roles.heading, roles.dim, roles.accent, roles.selection, roles.selectionAway,
                roles.field, roles.error, roles.warning, roles.success, roles.border, roles.ghost,
                roles.peer(0), roles.peer(-7), roles.peer(Int.max),
            ] {
                #expect(style.foreground == .standard && style.background == .standard)
            }
            let peers = RoleStyles(theme, depth: .trueColor)
            #expect(Set((0..<6).map { peers.peer($0).foreground }).count >= 5)
        }
    }

    @Test("the environment says what a terminal can show")
    func environment() {
        func depth(_ variables: [String: String]) -> ColorDepth { ColorDepth { variables[$0] } }
        #expect(depth(["TERM": "xterm-256color"]) == .palette256)
        #expect(depth(["TERM": "xterm-256color", "COLORTERM": "truecolor"]) == .trueColor)
        #expect(depth(["TERM": "linux"]) == .sixteen)
        #expect(depth(["TERM": "dumb"]) == .none)
        #expect(depth(["TERM": "vt220"]) == .none)
        #expect(depth(["TERM": "vte-256color"]) == .palette256)
        #expect(depth(["TERM": "xterm-256color", "NO_COLOR": "1"]) == .none)
        #expect(depth(["TERM": "xterm-256color", "NO_COLOR": ""]) == .palette256)
        #expect(Charset { ["LANG": "de_DE.UTF-8"][$0] } == .unicode)
        #expect(Charset { ["LANG": "de_DE.UTF-8", "LC_ALL": "C"][$0] } == .ascii)
    }
}
