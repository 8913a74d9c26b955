import TestKit
import Testing

@testable import TerminalUI

@Suite struct FrameEncoderTests {
    private static let clusters: [String] = [
        "a", "b", "x", " ", " ", " ", "é", "日", "👍", "👩‍👩‍👧‍👦", "❤️", "e\u{301}", "🇩🇪", "🇩", "한",
        "\u{1112}", "\u{1161}", "─", "●", "1️⃣", "ः",
    ]
    private static let colors: [TerminalColor] = [
        .standard, .standard, .ansi(1), .ansi(12), .palette(130), .rgb(10, 200, 30),
    ]

    private static func style(_ random: inout SplitMix64) -> CellStyle {
        if Int.random(in: 0..<3, using: &random) > 0 { return .plain }
        return CellStyle(
            colors.randomElement(using: &random) ?? .standard,
            on: colors.randomElement(using: &random) ?? .standard,
            CellAttributes(rawValue: UInt8.random(in: 0..<64, using: &random)))
    }

    private static func change(_ buffer: inout CellBuffer, _ random: inout SplitMix64) {
        for _ in 0..<Int.random(in: 0...6, using: &random) {
            let point = Point(
                x: Int.random(in: -2..<buffer.columns + 2, using: &random),
                y: Int.random(in: 0..<max(1, buffer.lines), using: &random))
            let style = style(&random)
            if Int.random(in: 0..<5, using: &random) == 0 {
                buffer.fill(
                    Rect(
                        x: point.x, y: point.y, columns: Int.random(in: 0...12, using: &random),
                        lines: Int.random(in: 0...3, using: &random)), style: style)
            } else {
                let text = (0..<Int.random(in: 1...6, using: &random)).map { _ in
                    clusters.randomElement(using: &random) ?? "a"
                }.joined()
                buffer.write(text, at: point, style: style)
            }
        }
    }

    @Test(
        "what is written brings a terminal from any frame to the next",
        arguments: [TestTerminal.Kind.modern, .legacy], [FrameEncoder.Addressing.screen, .inline])
    func frames(kind: TestTerminal.Kind, addressing: FrameEncoder.Addressing) {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        for round in 0..<150 {
            let options = FrameEncoder.Options(
                depth: ColorDepth.allCases.randomElement(using: &random) ?? .trueColor,
                charset: round % 5 == 0 ? .ascii : .unicode, isSynchronized: round % 3 == 0,
                addressing: addressing)
            var encoder = FrameEncoder(options: options)
            let lines = Int.random(in: 1...6, using: &random)
            let columns = Int.random(in: 2...24, using: &random)
            var buffer = CellBuffer(columns: columns, lines: lines)
            // An inline frame begins on any line, and the terminal scrolls where it must.
            let begin = addressing == .inline ? Int.random(in: 0..<8, using: &random) : 0
            let top = addressing == .inline ? min(begin, 8 - lines) : 0
            var terminal = TestTerminal(
                columns: columns, lines: addressing == .inline ? 8 : lines, kind: kind,
                cursor: Point(x: 0, y: begin))
            for _ in 0..<12 {
                let before = buffer
                Self.change(&buffer, &random)
                let differing =
                    buffer.bounds == before.bounds
                    ? (0..<buffer.lines).filter { !buffer.hasLine($0, of: before) } : nil
                let changed = differing.map { ($0.first ?? 0)..<($0.last.map { $0 + 1 } ?? 0) }
                let cursor =
                    Bool.random(using: &random)
                    ? Point(
                        x: Int.random(in: 0..<columns, using: &random),
                        y: Int.random(in: 0..<lines, using: &random)) : nil
                terminal.feed(
                    encoder.encode(
                        buffer, cursor: cursor,
                        changed: Bool.random(using: &random) ? changed : nil))
                let target = buffer.reduced(to: options.depth, charset: options.charset)
                let difference = terminal.difference(from: target, top: top)
                #expect(difference == nil)
                #expect(terminal.unknown.isEmpty)
                #expect(terminal.isCursorShown == (cursor != nil))
                if let cursor {
                    #expect(Point(x: terminal.x, y: terminal.y - top) == cursor)
                }
                #expect(!terminal.isSynchronized)
                if difference != nil { return }
            }
            terminal.feed(encoder.leave())
            #expect(terminal.style == .plain && terminal.isCursorShown)
        }
    }

    private func encoded(_ change: (inout CellBuffer) -> Void, cursor: Point? = nil) -> String {
        var encoder = FrameEncoder()
        var buffer = CellBuffer(columns: 80, lines: 24)
        buffer.write("Flavor   vanilla", at: Point(x: 2, y: 2))
        _ = encoder.encode(buffer, cursor: cursor)
        change(&buffer)
        return String(decoding: encoder.encode(buffer, cursor: cursor), as: UTF8.self)
    }

    @Test("a frame without changes has no bytes")
    func nothing() {
        #expect(encoded { _ in } == "")
        #expect(encoded({ _ in }, cursor: Point(x: 3, y: 3)) == "")
    }

    @Test("one changed cell is one move and one character")
    func oneCell() {
        #expect(encoded { $0.write("V", at: Point(x: 11, y: 2)) } == "\u{1B}[7DV")
    }

    @Test("cells between two changes are written again if that is shorter than a move")
    func rewriting() {
        let bytes = encoded {
            $0.write("V", at: Point(x: 11, y: 2))
            $0.write("N", at: Point(x: 13, y: 2))
        }
        #expect(bytes == "\u{1B}[7DVaN")
    }

    @Test("the rest of a line is cleared rather than written over with spaces")
    func clearing() {
        #expect(encoded { $0.fill(Rect(x: 2, y: 2, columns: 70, lines: 1)) } == "\u{1B}[3G\u{1B}[K")
    }

    @Test("the pen changes by the shorter of the difference and a fresh start")
    func pen() {
        let bold = CellStyle(.ansi(4), .bold)
        let bytes = encoded {
            $0.write("a", at: Point(x: 0, y: 0), style: bold)
            $0.write("b", at: Point(x: 1, y: 0), style: bold.adding(.underline))
            $0.write("c", at: Point(x: 2, y: 0))
        }
        #expect(bytes == "\u{1B}[H\u{1B}[1;34ma\u{1B}[4mb\u{1B}[mc")
    }

    @Test("after a cluster of several scalars the cursor is placed again")
    func fragile() {
        let bytes = encoded { $0.write("👩‍👧x", at: Point(x: 4, y: 5)) }
        #expect(bytes == "\u{1B}[6;5H  \u{8}\u{8}👩‍👧\u{1B}[7Gx ")
    }

    @Test("without colours a frame has attributes and nothing else")
    func noColor() {
        var encoder = FrameEncoder(options: .init(depth: .none))
        var buffer = CellBuffer(columns: 4, lines: 1)
        _ = encoder.encode(buffer, cursor: nil)
        buffer.write(
            "ab", at: Point(x: 0, y: 0), style: CellStyle(.rgb(1, 2, 3), on: .ansi(4), .bold))
        let bytes = String(decoding: encoder.encode(buffer, cursor: nil), as: UTF8.self)
        #expect(bytes == "\u{1B}[1mab")
    }

    @Test("in ASCII every cluster keeps its columns")
    func ascii() {
        var buffer = CellBuffer(columns: 12, lines: 1)
        buffer.write("日é—👍●…x", at: Point(x: 0, y: 0))
        let reduced = buffer.reduced(to: .trueColor, charset: .ascii)
        #expect(reduced.text(ofLine: 0) == "??e-???~x   ")
        #expect((0..<12).allSatisfy { reduced[$0, 0].width == 1 })
    }

    @Test(
        "colours come down to the nearest that the terminal has",
        arguments: [
            (TerminalColor.rgb(255, 0, 0), ColorDepth.palette256, TerminalColor.palette(196)),
            (.rgb(128, 128, 128), .palette256, .palette(244)),
            (.rgb(0x6C, 0xB6, 0xFF), .sixteen, .ansi(14)),
            (.rgb(250, 250, 250), .sixteen, .ansi(15)),
            (.palette(196), .sixteen, .ansi(9)), (.palette(3), .sixteen, .ansi(3)),
            (.ansi(5), .none, .standard), (.standard, .sixteen, .standard),
        ])
    func reducing(color: TerminalColor, depth: ColorDepth, expected: TerminalColor) {
        #expect(color.reduced(to: depth) == expected)
    }
}

@Suite struct CellBufferTests {
    @Test("a wide cluster is never cut in half")
    func wide() {
        var buffer = CellBuffer(columns: 5, lines: 1)
        buffer.write("日本語", at: Point(x: 0, y: 0))
        #expect(buffer.text(ofLine: 0) == "日本 ")
        buffer.write("x", at: Point(x: 1, y: 0))
        #expect(buffer.text(ofLine: 0) == " x本 ")
        buffer.write("語", at: Point(x: 2, y: 0), clip: Rect(x: 3, y: 0, columns: 2, lines: 1))
        #expect(buffer.text(ofLine: 0) == " x   ")
        buffer.write("日本", at: Point(x: -1, y: 0))
        #expect(buffer.text(ofLine: 0) == " 本  ")
    }

    @Test("no text steers the terminal, whatever is in it")
    func harmless() {
        var buffer = CellBuffer(columns: 60, lines: 1)
        buffer.write("a\u{1B}[31mb\u{202E}c\u{7}\u{9B}", at: Point(x: 0, y: 0))
        let text = buffer.text(ofLine: 0)
        #expect(text.hasPrefix(#"a\u{1B}[31mb\u{202E}c\u{7}\u{9B}"#))
        var encoder = FrameEncoder()
        let bytes = encoder.encode(buffer, cursor: nil)
        let sequences = bytes.count { $0 == 0x1B }
        #expect(sequences == 4, "hide, style, home and clear alone: \(sequences)")
    }

    @Test("clusters of many bytes are told apart, and drawn byte for byte")
    func longClusters() {
        var frames: [CellBuffer] = []
        for text in ["👩‍👩‍👧‍👦", "👩‍👩‍👧‍👧", "👩‍👩‍👧‍👦"] {
            var frame = CellBuffer(columns: 4, lines: 1)
            frame.write(text, at: Point(x: 1, y: 0))
            #expect(Array(frame.text(ofLine: 0).utf8) == Array(" \(text) ".utf8))
            frames.append(frame)
        }
        #expect(!frames[0].hasLine(0, of: frames[1]))
        #expect(frames[0].hasLine(0, of: frames[2]))
    }

    @Test("however many different clusters come, so many are kept and the rest begin alike")
    func clustersAreBounded() {
        var kept = LongerClusters(max: 2)
        #expect(kept.number(of: [1]) == 0)
        #expect(kept.number(of: [2]) == 1)
        #expect(kept.number(of: [3]) == nil)
        #expect(kept.number(of: [2]) == 1)
        // Two scalars of four bytes are eight; of the third none is begun.
        #expect(Glyph.packed("👩‍👩‍👧‍👦") == 0x8D80_E2_A991_9FF0)
    }

    @Test("a cell that gets another style stays as wide")
    func styledCellsStayWide() {
        var frame = CellBuffer(columns: 2, lines: 1)
        frame.write("日", at: Point(x: 0, y: 0))
        let style = CellStyle(.rgb(255, 255, 255), on: .rgb(255, 255, 255), [.bold, .reverse])
        frame.restyle(frame.bounds) { $0 = style }
        #expect(frame[0, 0].width == 2)
        #expect(frame[0, 0].style == style)
        #expect(frame[1, 0].isContinuation)
    }

    @Test("a cluster of any number of marks is bounded")
    func bounded() {
        var buffer = CellBuffer(columns: 3, lines: 1)
        buffer.write("a" + String(repeating: "\u{301}", count: 5000) + "b", at: Point(x: 0, y: 0))
        #expect(buffer[0, 0].cluster.unicodeScalars.count == Cell.scalarsMax)
        #expect(buffer[1, 0].cluster == "b")
    }

    @Test("wide cells and their continuations always stay together")
    func invariant() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        var buffer = CellBuffer(columns: 9, lines: 3)
        for _ in 0..<3000 {
            let point = Point(
                x: Int.random(in: -3..<10, using: &random),
                y: Int.random(in: -1..<4, using: &random))
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                buffer.fill(Rect(x: point.x, y: point.y, columns: 3, lines: 2))
            case 1:
                let part = buffer.part(Rect(x: point.x, y: point.y, columns: 4, lines: 2))
                buffer.copy(part, at: Point(x: point.y, y: 0))
            case 2:
                buffer.restyle(Rect(x: point.x, y: point.y, columns: 2, lines: 1)) {
                    $0.attributes.formSymmetricDifference(.bold)
                }
            default: buffer.write("日a👍", at: point)
            }
            for y in 0..<3 {
                for x in 0..<9 {
                    let cell = buffer[x, y]
                    if cell.width == 2 {
                        #expect(x + 1 < 9 && buffer[x + 1, y].isContinuation)
                        if x + 1 < 9 { #expect(buffer[x + 1, y].style == cell.style) }
                    }
                    if cell.isContinuation { #expect(x > 0 && buffer[x - 1, y].width == 2) }
                }
            }
        }
    }
}
