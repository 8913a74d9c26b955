import PickerClient
import SyncCore
import TerminalUI
import TestKit
import Testing

@testable import pickerctl

private let texts = """
    form: t
    sections:
      - title: One
        fields:
          - {id: note, type: text, multiline: true}
          - {id: on, type: toggle}
          - {id: line, type: text}
          - {id: level, type: slider, min: 0, max: 10}
      - title: Two
        fields:
          - {id: more, type: text, visibleWhen: {on: false}}
    """

@Suite("the whole form, at random")
struct LiveFuzzTests {
    /// What terminals send, whole and in pieces, and what nobody sends.
    private static let bytes: [String] = [
        "\r", " ", "\t", "\u{1B}[Z", "\u{1B}", "\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[D",
        "1", "2", "9", "0", "+", "-", "a", "hjkl", "e\u{301}", "日本", "👩‍👧", "\u{7F}", "c", "/", "?",
        "u", "U", "i", "w", "\u{17}", "\u{15}", "\u{19}", "\u{0B}", "\u{1B}[1;2D", "\u{1B}[1;5C",
        "\u{1B}[<0;12;5M", "\u{1B}[<32;30;6M", "\u{1B}[<0;12;5m", "\u{1B}[<65;9;9M",
        "\u{1B}[<64;30;8M", "\u{1B}[<0;40;12M", "\u{1B}[<0;32;18M", "\u{1B}[200~x\ny\u{1B}[201~",
        "\u{1B}[200~7\u{1B}[201~", "\u{1B}[5~", "\u{1B}[6~", "\u{1B}[H", "\u{1B}[F", "\u{1B}[I",
        "\u{1B}]11;rgb:ffff/ffff/ffff\u{7}", "\u{1B}[9999;1;1u", "\u{1B}[", "\u{1B}OP", "\0",
    ]

    private func step(
        _ bench: inout LiveBench, _ random: inout SplitMix64, _ fields: [String]
    ) {
        func pick<T>(_ list: [T]) -> T { list[Int(random.next() % UInt64(list.count))] }
        switch random.next() % 16 {
        case 0: bench.changed(pick(fields), pick([true, "vanilla", 3, .null, "", ["a"], "apple"]))
        case 1: bench.answer()
        case 2: bench.pass(milliseconds: random.next() % 900)
        case 3:
            let size = Size(columns: Int(random.next() % 130), lines: Int(random.next() % 60))
            bench.feed(.resized(size))
        case 4: bench.bobIs(at: pick(fields), draft: pick([true, 5, "x", .null]))
        case 5: bench.disconnect()
        case 6: bench.connect()
        default: bench.type(pick(Self.bytes))
        }
    }

    @Test(
        "any bytes and any news leave a form that can be drawn, its cursor within the screen",
        arguments: ["controls", "deploy", "ice-cream", "income"])
    func forms(_ name: String) throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "LIVE_SEED"))
        for _ in 0..<3 {
            var bench = try LiveBench(example: name, columns: 80, lines: 24)
            let fields = bench.model.presentation.definition.controls.map(\.id)
            for _ in 0..<80 {
                step(&bench, &random, fields)
                let size = bench.model.size
                let canvas = checkFrame(&bench)
                #expect(canvas.buffer.columns == max(0, size.columns))
                if let cursor = canvas.cursor { #expect(canvas.buffer.bounds.contains(cursor)) }
                if let activeEdit = bench.model.activeEdit {
                    #expect(fields.contains(activeEdit.field))
                }
                if let focus = bench.model.focus, !bench.model.focusable.isEmpty {
                    #expect(bench.model.focusable.contains(focus))
                }
            }
        }
    }

    /// A frame is the same as one that is drawn without what was kept of the frame before, and
    /// differs from that one only in the lines that are said to differ.
    @discardableResult
    private func checkFrame(_ bench: inout LiveBench) -> Canvas {
        let last = bench.model.drawn.frame?.buffer
        let canvas = bench.model.draw()
        if let lines = bench.model.drawnLines, let last {
            #expect(last.bounds == canvas.buffer.bounds)
            for y in 0..<canvas.buffer.lines where !lines.contains(y) {
                #expect(
                    canvas.buffer.part(canvas.buffer.bounds.line(y))
                        == last.part(last.bounds.line(y)), "line \(y)")
            }
        }
        var fresh = bench.model
        fresh.drawn = DrawnParts()
        let whole = fresh.draw()
        #expect(whole.buffer == canvas.buffer && whole.cursor == canvas.cursor)
        #expect(whole.regions == canvas.regions)
        // The focus goes to the nearest of these when its control disappears.
        #expect(bench.model.order == bench.model.focusable)
        checkReadings(bench.model.presentation)
        return canvas
    }

    /// What is shown is what the form's rules give when all of them are read again.
    private func checkReadings(_ presentation: FormPresentation) {
        var again = presentation
        again.define(presentation.definition)
        #expect(again.hasOnlyValues == presentation.hasOnlyValues)
        for index in presentation.definition.controls.indices {
            let field = presentation.definition.controls[index].id
            #expect(again.text(index) == presentation.text(index))
            #expect(again.isVisible(index) == presentation.isVisible(index))
            #expect(again.isEnabled(index) == presentation.isEnabled(index))
            #expect(again.controls(showing: [field]) == presentation.controls(showing: [field]))
        }
    }

    @Test(
        "changes by others are drawn as in a whole frame, whatever is over the form",
        arguments: ["controls", "deploy", "ice-cream", "income"])
    func changesByOthers(_ name: String) throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "LIVE_SEED"))
        func pick<T>(_ list: [T]) -> T { list[Int(random.next() % UInt64(list.count))] }
        let looks =
            Theme.all.map { StyleEnvironment(theme: $0, depth: .trueColor) } + [
                StyleEnvironment(theme: .terminal, depth: .none, charset: .ascii)
            ]
        let values: [JSON] = [
            true, false, 0, 3, 40, 100, "", "staging", "production", "vanilla", "apple", .null,
            "1.2.3", "us-east-1", ["mon"], "2027-01-05", "2027-01-05T10:15", "07:45",
        ]
        var rowsOnly = 0
        for _ in 0..<4 {
            let (columns, lines) = pick([(80, 24), (100, 30), (40, 10), (96, 86), (60, 17)])
            var bench = try LiveBench(example: name, columns: columns, lines: lines)
            bench.model.around.environment = pick(looks)
            let fields = bench.model.presentation.definition.controls.map(\.id)
            for _ in 0..<60 {
                switch random.next() % 24 {
                case 0: bench.type(pick(["?", ":", "/", "w", "\u{1B}", "q", "\r", "\u{7F}"]))
                case 1: bench.press(pick([.down, .up, .right, .tab, .pageDown]))
                case 2: bench.bobIs(at: pick(fields), draft: pick([nil, 5, "x"]))
                case 3: bench.pass(milliseconds: pick([10, 1900, 2100, 61_000]))
                case 4: bench.now += 1_000_000 * pick([1, 500, 2000])
                case 5:
                    let theirs = Sibling(
                        value: pick(values), by: LiveBench.author(7, "cara"), at: nil)
                    bench.changed(pick(fields), pick(values), conflict: [theirs])
                default:
                    for _ in 0...random.next() % 3 {
                        bench.changed(pick(fields), pick(values))
                    }
                }
                if case .rows(let rows) = bench.model.stale, !rows.isEmpty { rowsOnly += 1 }
                checkFrame(&bench)
            }
        }
        #expect(rowsOnly > 0, "no frame was drawn from changed rows")
    }

    @Test("what was pasted is held, kept as a draft, or sent, however the text is left")
    func pastes() throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "LIVE_SEED"))
        let ways = [
            "\u{1B}", "\t", "\u{1B}[Z", "\r", "\u{1B}[<0;30;9M", "\u{1B}[<0;2;1M", "\u{1B}[B",
            "\u{1B}[5~", "\u{1B}[I", "日", "\u{1B}[200~more\u{1B}[201~",
        ]
        for round in 0..<60 {
            var bench = try LiveBench(texts)
            let field = ["note", "line", "more"][round % 3]
            bench.focus(field)
            let pasted = "pasted-\(random.next() % 1000)-日本-👩‍👧"
            bench.type("\u{1B}[200~\(pasted)\u{1B}[201~")
            for _ in 0..<4 {
                switch random.next() % 8 {
                case 0: bench.changed(field, "theirs")
                case 1: bench.disconnect()
                case 2: bench.connect()
                case 3: bench.feed(.resized(Size(columns: 40, lines: 10)))
                // The control may be hidden under the hand.
                case 4: bench.changed("on", true)
                default: bench.type(ways[Int(random.next() % UInt64(ways.count))])
                }
                _ = bench.model.draw()
            }
            var places = bench.edits.map { "\($0.action)" }
            places += bench.model.drafts.values.map(\.text)
            if case .text(let editor)? = bench.model.activeEdit?.kind { places.append(editor.text) }
            #expect(places.contains { $0.contains(pasted) }, "\(field): \(places)")
        }
    }

    @Test("a key writes the cells that it changes and little more, in one frame")
    func smallFrames() throws {
        var bench = try LiveBench(example: "controls", columns: 80, lines: 24)
        var encoder = FrameEncoder(options: .init(depth: .trueColor, isSynchronized: true))
        func frame() -> [UInt8] {
            let canvas = bench.model.draw()
            return encoder.encode(canvas.buffer, cursor: canvas.cursor)
        }
        let whole = frame().count
        #expect(frame().isEmpty, "nothing has changed")
        bench.press(.right)
        let turned = frame()
        #expect(!turned.isEmpty && turned.count * 5 < whole, "\(turned.count) of \(whole) bytes")
        #expect(turned.starts(with: ANSI.beginSynchronized))
        #expect(turned.suffix(ANSI.endSynchronized.count).elementsEqual(ANSI.endSynchronized))
        bench.changed("hall", true)
        #expect(frame().count < 400)
    }
}
