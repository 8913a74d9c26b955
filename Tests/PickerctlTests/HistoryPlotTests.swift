import Foundation
import SyncCore
import TerminalUI
import TestKit
import Testing

@testable import pickerctl

@Suite("values over time as a picture")
struct HistoryPlotTests {
    private static func moment(_ seconds: Int64) -> Timestamp {
        Timestamp(milliseconds: 1_700_000_000_000 + seconds * 1_000)
    }

    private static func field(_ text: String) throws -> FieldOutline {
        let form = FormOutline(
            try JSON(parsing: #"{"form": "f", "sections": [{"fields": [\#(text)]}]}"#))
        return try #require(form.fields.first)
    }

    private static func series(
        _ field: String, _ values: [(Int64, JSON)], was: JSON? = nil
    ) throws -> ValueSeries {
        let changes = values.enumerated().map { number, value in
            ValueSeries.Change(
                at: moment(value.0), revision: Revision(number + 1), value: value.1,
                was: number == 0 ? was : values[number - 1].1, user: "alice")
        }
        return try ValueSeries(
            Self.field(field), changes: changes, current: values.last?.1 ?? was ?? .null,
            start: moment(0))
    }

    private static func lines(_ series: ValueSeries, _ charset: Charset) -> [String] {
        let plot = TextPlot(columns: 44, charset: charset)
        return plot.lines(
            series, moment(0)...moment(100), Console(color: .never, isQuiet: false))
    }

    @Test("a number that rises in steps")
    func numbers() throws {
        let series = try Self.series(
            #"{"id": "traffic", "type": "slider", "label": "Traffic"}"#,
            [(25, 50), (50, 75), (75, 100)], was: 0)
        #expect(
            Self.lines(series, .unicode).dropLast() == [
                "traffic (Traffic): 100 now, 3 changes",
                "100 ┤                            ⢰⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒",
                "    │                            ⢸",
                "    │                   ⡖⠒⠒⠒⠒⠒⠒⠒⠒⠚",
                "    │                   ⡇",
                " 50 ┤         ⢰⠒⠒⠒⠒⠒⠒⠒⠒⠒⠃",
                "    │         ⢸",
                "    │         ⢸",
                "    │         ⢸",
                "  0 ┤⠒⠒⠒⠒⠒⠒⠒⠒⠒⠚",
                "    └───────────────┬───────────────────────",
            ])
        let ascii = Self.lines(series, .ascii)
        #expect(ascii.allSatisfy { $0.allSatisfy(\.isASCII) })
        #expect(ascii[1].hasSuffix("''''"))
    }

    @Test(
        "ticks are the same number of lines apart", arguments: [1, 2, 3, 4, 5, 7, 9, 30, 80, 100])
    func evenTicks(highest: Int) throws {
        let series = try Self.series(
            #"{"id": "n", "type": "stepper"}"#, [(25, .integer(Int64(highest)))], was: 0)
        let lines = Self.lines(series, .unicode)
        let ticks = lines.indices.filter { lines[$0].contains("┤") }
        #expect(Set(zip(ticks, ticks.dropFirst()).map { $1 - $0 }).count == 1, "\(lines)")
    }

    @Test("a value that is not set leaves a gap, and one that nobody changed is a line")
    func gaps() throws {
        let gap = try Self.series(
            #"{"id": "n", "type": "stepper"}"#, [(25, .null), (75, 3)], was: 3)
        #expect(gap.steps.map(\.level) == [3, nil, 3])
        #expect(
            Self.lines(gap, .ascii).contains { line in
                let drawn = line.dropFirst(6)
                return drawn.first != " " && drawn.last != " "
                    && drawn.contains(String(repeating: " ", count: 15))
            })
        let still = try Self.series(#"{"id": "n", "type": "stepper"}"#, [], was: 3)
        #expect(still.steps.map(\.level) == [3])
        let drawn = Self.lines(still, .unicode).dropFirst().dropLast(2)
        #expect(drawn.count { $0.unicodeScalars.contains { (0x2801...0x28FF) ~= $0.value } } == 1)
    }

    @Test("names are rows in the order of the options; a removed option is one too")
    func names() throws {
        let series = try Self.series(
            #"{"id": "p", "type": "picker", "options": ["a", {"tag": 2, "label": "Two"}, "c"]}"#,
            [(10, "c"), (20, 2), (30, "gone")], was: "c")
        #expect(series.axis == .names(["Two", "c", "gone"]))
        #expect(series.steps.map(\.level) == [1, 1, 0, 2])
        let toggle = try Self.series(#"{"id": "t", "type": "toggle"}"#, [(10, true)], was: false)
        #expect(toggle.axis == .names(["on", "off"]))
        #expect(Self.lines(toggle, .ascii)[1].hasPrefix(" on + "))
    }

    @Test("many names share the last row")
    func manyNames() throws {
        let options = (0..<40).map { "\"o\($0)\"" }.joined(separator: ",")
        let series = try Self.series(
            #"{"id": "p", "type": "picker", "options": [\#(options)]}"#,
            (0..<40).map { (Int64($0), .string("o\($0)")) })
        guard case .names(let names) = series.axis else {
            Issue.record("a picker has names")
            return
        }
        #expect(names.count == ValueSeries.namesMax)
        #expect(names.last == "25 others")
        #expect(series.steps.compactMap(\.level).max() == Double(names.count - 1))
    }

    @Test("a clock that was set back does not turn the series around")
    func clockSetBack() throws {
        let series = try Self.series(#"{"id": "n", "type": "gauge"}"#, [(50, 1), (20, 2), (60, 3)])
        #expect(series.steps.map(\.at) == [Self.moment(50), Self.moment(50), Self.moment(60)])
    }

    @Test("ticks are exact, few, in order, and every level lies between them: PLOT_SEED replays")
    func scales() throws {
        var random = SplitMix64(seed: SplitMix64.seed(from: "PLOT_SEED"))
        for _ in 0..<2_000 {
            let size = [1e-9, 0.01, 1, 1, 100, 1e6, 1e14][Int(random.next() % 7)]
            let levels = (0..<1 + Int(random.next() % 6)).map { _ in
                (Double(Int(random.next() % 20_001)) - 10_000) / 10_000 * size
            }
            let ticksMax = 2 + Int(random.next() % 8)
            let scale = PlotScale(over: levels, ticksMax: ticksMax)
            let ticks = scale.ticks
            #expect((2...ticksMax).contains(ticks.count), "\(levels) \(ticks)")
            #expect(ticks.first?.place == 0 && ticks.last?.place == 1)
            let labels = try ticks.map { try #require(Double($0.label), "\($0.label)") }
            #expect(zip(labels, labels.dropFirst()).allSatisfy { $0 < $1 }, "\(ticks)")
            for level in levels {
                #expect((-1e-6...1 + 1e-6).contains(scale.place(of: level)), "\(level) \(ticks)")
            }
            let seconds = Int64(1 + random.next() % 100_000_000)
            let time = TimeScale(Self.moment(0)...Self.moment(seconds), ticksMax: 7)
            #expect(time.ticks.count <= 8)
            #expect(time.ticks.allSatisfy { (0...1).contains($0.place) })
        }
    }

    @Test("a number that is always 0 has whole numbers beside it")
    func zero() {
        for ticksMax in 2...9 {
            let labels = PlotScale(over: [0, 0], ticksMax: ticksMax).ticks.map(\.label)
            #expect(labels == ["0", "1"])
        }
    }

    @Test("history --plot draws, and gives the numbers and a picture")
    func commands() throws {
        let bench = try Bench()
        bench.environment["LANG"] = "C.UTF-8"
        try bench.apply(
            Bench.iceCream.replacingOccurrences(of: "label: Flavor", with: "label: 'F<l>&'"))
        for scoops in [3, 5, 1] { try bench.run("set", "scoops=\(scoops)") }
        try bench.run("set", "flavor=vanilla", "cone=false")
        let plot = try bench.run("history", "--plot", "scoops", "flavor", "cone")
        #expect(plot.status == 0, "\(plot.err)")
        for heading in [
            "scoops: 1 now, 4 changes", "flavor (F<l>&): vanilla now", "cone: false now",
        ] {
            #expect(plot.out.contains(heading), "\(plot.out)")
        }
        let csv = try bench.run("history", "--plot", "-o", "csv", "--since", "1h", "scoops")
        let rows = csv.out.components(separatedBy: "\r\n").map { $0.components(separatedBy: ",") }
        #expect(rows.first == ["at", "revision", "field", "value", "user"])
        #expect(rows.dropFirst().dropLast().map { $0[3] } == ["2", "3", "5", "1"])
        let svg = try bench.run("history", "--plot", "-o", "svg", "*")
        let picture = try bench.file("picture.svg", svg.out)
        let parsed = try ChildProcess([
            "/usr/bin/env", "python3", "-c",
            "import sys, xml.dom.minidom as m; d = m.parse(sys.argv[1]); "
                + "print(len([p for p in d.getElementsByTagName('path') "
                + "if p.getAttribute('class') == 'line']))", picture,
        ]).outcome()
        #expect(parsed.out == "4\n", "\(parsed.err)")
    }

    @Test("what cannot be drawn is said in a sentence")
    func refused() throws {
        let bench = try Bench(applying: Bench.iceCream)
        let cases: [([String], String)] = [
            (["--plot", "note"], "cannot plot note, which is a text; choose a slider"),
            (["--plot", "key"], "cannot plot key, which is a secure field;"),
            (["--plot"], "--plot needs a field"),
            (["--plot", "-n", "3", "scoops"], "use --since"),
            (["--plot", "-o", "json", "scoops"], "--plot prints text, svg or csv"),
            (["-o", "svg", "scoops"], "-o svg needs --plot"),
            (["--since", "soon", "scoops"], "a duration such as 1h"),
        ]
        for (words, sentence) in cases {
            let outcome = try bench.launch(["history"] + words).outcome()
            #expect(outcome.status == 64, "\(words) \(outcome.out)")
            #expect(outcome.err.contains(sentence), "\(words): \(outcome.err)")
        }
        #expect(try bench.run("history", "--plot", "scops").err.contains("did you mean scoops?"))
    }

    @Test("--since and several fields choose entries of a list too")
    func lists() throws {
        let bench = try Bench(applying: Bench.iceCream)
        try bench.run("set", "scoops=3")
        try bench.run("set", "flavor=vanilla")
        try bench.run("set", "cone=false")
        let two = try bench.run("history", "-n", "2", "scoops", "cone").lines
        #expect(two.count == 2)
        #expect(two.first?.contains("cone=false") == true && two.last?.contains("scoops=3") == true)
        #expect(try bench.run("history", "--since", "1h").lines.count == 4)
        #expect(try bench.run("history", "--since", "2100-01-01").lines.isEmpty)
    }
}
