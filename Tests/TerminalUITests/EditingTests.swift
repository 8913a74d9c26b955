import SyncCore
import TestKit
import Testing

@testable import TerminalUI

@Suite struct TextEditorTests {
    private func editor(_ keys: [KeyEvent], _ text: String = "", isMultiline: Bool = false)
        -> TextEditor
    {
        var editor = TextEditor(text, isMultiline: isMultiline)
        for key in keys { _ = editor.apply(key) }
        return editor
    }

    @Test("the cursor moves and deletes by what people see as one character")
    func clusters() {
        var editor = TextEditor("a👩‍👧e\u{301}")
        #expect(editor.cursor == 3)
        editor.deleteBackward()
        #expect(editor.text == "a👩‍👧")
        editor.deleteBackward()
        #expect(editor.text == "a")
    }

    @Test("an accent that is typed after its letter becomes one character with it")
    func combining() {
        let typed = editor([KeyEvent(.character("e")), KeyEvent(.character("\u{301}"))])
        #expect(typed.clusters.count == 1 && typed.cursor == 1)
        #expect(Array(typed.text.unicodeScalars) == ["e", "\u{301}"])
    }

    @Test("words are moved over, selected, cut and put back")
    func words() {
        var editor = TextEditor("one two-three")
        _ = editor.apply(KeyEvent(.left, .control))
        #expect(editor.cursor == 8)
        _ = editor.apply(KeyEvent(.left, [.control, .shift]))
        #expect(editor.selectedText == "two-")
        _ = editor.apply(KeyEvent(.character("w"), .control))
        #expect(editor.text == "one three" && editor.killed == "two-")
        _ = editor.apply(KeyEvent(.end))
        _ = editor.apply(KeyEvent(.character("y"), .control))
        #expect(editor.text == "one threetwo-")
        _ = editor.apply(KeyEvent(.character("u"), .control))
        #expect(editor.text == "" && editor.killed == "one threetwo-")
    }

    @Test("typing replaces what is selected")
    func selection() {
        var editor = TextEditor("vanilla")
        editor.selectAll()
        #expect(editor.insert("x") == .edited)
        #expect(editor.text == "x" && editor.selection == nil)
    }

    @Test("a text of one line takes a paste of several as one, without controls")
    func paste() {
        var editor = TextEditor()
        editor.insert("a\nb\u{7}\tc")
        #expect(editor.text == "a b c")
        var area = TextEditor(isMultiline: true)
        area.insert("a\nb\u{7}\tc")
        #expect(area.text == "a\nb\tc")
    }

    @Test("text that does not fit is refused, and as much as fits is taken")
    func bounded() {
        var editor = TextEditor("abc", maxLength: 5)
        #expect(editor.insert("defg") == .refused)
        #expect(editor.text == "abcde")
        #expect(editor.insert("x") == .refused)
        #expect(editor.insert("\u{301}") == .edited, "an accent has no width")
        editor.deleteBackward()
        #expect(editor.insert("z") == .edited)
        #expect(editor.text == "abcdz")
    }

    @Test("up and down keep to the column that they came from")
    func lines() {
        var editor = TextEditor("long line\nab\nlong too", isMultiline: true)
        editor.move(to: 7)
        _ = editor.apply(KeyEvent(.down))
        #expect(editor.cursor == 12)
        _ = editor.apply(KeyEvent(.down))
        #expect(editor.cursor == 20)
        _ = editor.apply(KeyEvent(.up))
        _ = editor.apply(KeyEvent(.up))
        #expect(editor.cursor == 7)
        _ = editor.apply(KeyEvent(.up))
        #expect(editor.cursor == 0)
    }

    @Test("any keys leave cursor and selection within the text")
    func random() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        let keys: [Key] = [
            .left, .right, .up, .down, .home, .end, .backspace, .delete, .enter,
            .character("a"), .character("日"), .character("\u{301}"), .character("🇩"),
            .character("\u{200D}"), .character("👩"), .character("w"), .character("k"),
            .character("y"), .character("u"),
        ]
        for round in 0..<200 {
            var editor = TextEditor("ab c", isMultiline: round % 2 == 0, maxLength: 12)
            for _ in 0..<60 {
                let modifiers = KeyModifiers(rawValue: UInt8.random(in: 0..<8, using: &random))
                _ = editor.apply(
                    KeyEvent(
                        keys.randomElement(using: &random) ?? .left,
                        Bool.random(using: &random) ? [] : modifiers))
                #expect((0...editor.clusters.count).contains(editor.cursor))
                #expect(editor.selection.map { $0.upperBound <= editor.clusters.count } ?? true)
                #expect(editor.clusters.count <= 12)
                #expect(Array(editor.text) == editor.clusters)
                if round % 2 == 1 { #expect(!editor.text.contains("\n")) }
            }
        }
    }
}

@Suite struct ListFilterTests {
    private let regions = ["eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "sa-east-1"]

    @Test(
        "letters in order find an option, the best first",
        arguments: [
            ("", [0, 1, 2, 3, 4]), ("uw", [3, 0]), ("west", [0, 3]), ("ew1", [0]),
            ("east sa", [4, 2]), ("zz", []), ("ec", [1]),
        ])
    func order(typed: String, expected: [Int]) {
        #expect(ListFilter(typed).matches(in: regions).map(\.index) == expected)
    }

    @Test("small letters find capitals, capitals only themselves")
    func smartCase() {
        #expect(ListFilter("van").match("Vanilla")?.positions == [0, 1, 2])
        #expect(ListFilter("Van").match("vanilla") == nil)
        #expect(ListFilter("ä").match("Äpfel")?.positions == [0])
    }

    @Test("the beginning of a word counts more than its middle, a run more than gaps")
    func scores() throws {
        let filter = ListFilter("cho")
        let run = try #require(filter.match("chocolate"))
        let spread = try #require(filter.match("cat house of"))
        #expect(run.score > spread.score)
        #expect(try #require(ListFilter("b").match("foo bar")).positions == [4])
    }

    @Test("what matches is a subsequence, and every subsequence matches")
    func law() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        for _ in 0..<2000 {
            let text = String(
                (0..<Int.random(in: 0...10, using: &random)).map { _ in
                    "abAB-1".randomElement(using: &random) ?? "a"
                })
            let term = String(
                (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    "ab1".randomElement(using: &random) ?? "a"
                })
            var rest = Array(text.lowercased())[...]
            var isSubsequence = true
            for wanted in term {
                guard let place = rest.firstIndex(of: wanted) else {
                    isSubsequence = false
                    break
                }
                rest = rest[(place + 1)...]
            }
            let match = ListFilter(term).match(text)
            #expect((match != nil) == isSubsequence, "\(term) in \(text)")
            if let match {
                let letters = Array(text.lowercased())
                #expect(String(match.positions.map { letters[$0] }) == term)
            }
        }
    }
}

@Suite struct DatePartTests {
    private func date(_ text: String, _ mode: DateMode = .date) throws -> DateValue {
        try #require(DateValue(.string(text), mode: mode))
    }

    @Test(
        "a part turns within itself",
        arguments: [
            ("2026-01-31", DatePart.month, 1, "2026-02-28"),
            ("2024-01-31", .month, 1, "2024-02-29"),
            ("2026-12-05", .month, 1, "2026-01-05"), ("2026-02-28", .day, 1, "2026-02-01"),
            ("2024-02-29", .year, 1, "2025-02-28"), ("2026-03-01", .day, -1, "2026-03-31"),
        ])
    func turning(from: String, part: DatePart, rows: Int, to: String) throws {
        #expect(try date(from).turned(part, by: rows) == date(to))
    }

    @Test("minutes go by the interval and leave the hour alone; years end")
    func intervals() throws {
        let time = try date("07:55", .time)
        #expect(try time.turned(.minute, by: 1, minuteInterval: 5) == date("07:00", .time))
        #expect(try date("9999-01-01").turned(.year, by: 1) == nil)
        #expect(try date("23:00", .time).turned(.hour, by: 1) == date("00:00", .time))
        #expect(DateValue.countdown(300).turned(.minute, by: -6) == .countdown(3540))
        #expect(DateValue.countdown(300).turned(.year, by: 1) == nil)
        #expect(try date("2026-01-01").turned(.day, by: Int.max) != nil)
    }

    @Test("a value that is turned beyond a bound is the bound")
    func bounds() throws {
        let turned = try date("2021-06-15").turned(
            .year, by: 5, min: date("2021-01-01"), max: date("2021-12-31"))
        #expect(turned == (try date("2021-12-31")))
    }

    @Test("any turn of any value is a value of the same mode")
    func law() {
        var random = SplitMix64(seed: SplitMix64.seed(from: "TERMINALUI_SEED"))
        for _ in 0..<5000 {
            let day = CivilDate(daysSince1970: Int.random(in: -700_000...2_900_000, using: &random))
            let time = CivilTime(minutesAfterMidnight: Int.random(in: 0..<1440, using: &random))
            guard let day else { continue }
            let values: [(DateValue, DateMode)] = [
                (.date(day), .date), (.time(time), .time),
                (.yearAndMonth(day.yearMonth), .yearAndMonth),
                (.dateAndTime(CivilDateTime(date: day, time: time)), .dateAndTime),
                (.countdown(Int.random(in: 0...86_399, using: &random)), .countdown),
            ]
            for (value, mode) in values {
                for part in mode.parts() {
                    let rows = Int.random(in: -40...40, using: &random)
                    guard let turned = value.turned(part, by: rows) else {
                        #expect(part == .year)
                        continue
                    }
                    #expect(DateValue(turned.json, mode: mode) == turned)
                }
            }
        }
    }

    @Test(
        "weeks are counted by ISO 8601",
        arguments: [
            (2021, 1, [53, 1, 2, 3, 4, nil]), (2024, 12, [48, 49, 50, 51, 52, 1]),
            (2026, 11, [44, 45, 46, 47, 48, 49]), (2026, 2, [5, 6, 7, 8, 9, nil]),
        ] as [(Int, Int, [Int?])])
    func weekNumbers(_ year: Int, _ month: Int, _ numbers: [Int?]) throws {
        let month = try #require(YearMonth(year: year, month: month))
        #expect(CalendarMonth(month).weekNumbers == numbers)
    }

    @Test("a calendar has each day of its month once, under its day of the week")
    func calendar() throws {
        for month in 1...12 {
            let month = try #require(YearMonth(year: 2026, month: month))
            let weeks = CalendarMonth(month).weeks
            #expect(weeks.count == 6)
            #expect(weeks.flatMap { $0 }.compactMap { $0?.day } == Array(1...month.days))
            for week in weeks {
                for (column, day) in week.enumerated() {
                    if let day { #expect(day.weekday == column + 1) }
                }
            }
        }
    }
}

@Suite struct TrackRangeTests {
    private func number(_ text: String) throws -> DecimalNumber {
        try #require(DecimalNumber(text))
    }

    @Test("places and values stand for each other")
    func places() throws {
        let range = TrackRange(min: try number("0"), max: try number("1"))
        #expect(range.position(of: try number("0.1"), last: 10) == 1)
        #expect(range.position(of: try number("0.25"), last: 10) == 3)
        #expect(range.position(of: try number("7"), last: 10) == 10)
        #expect(range.value(at: 3, last: 10) == (try number("0.3")))
        for place in 0...37 {
            let value = try #require(range.value(at: place, last: 37))
            #expect(range.position(of: value, last: 37) == place)
        }
    }

    @Test("bounds of any size do not trap")
    func extremes() throws {
        let range = TrackRange(
            min: DecimalNumber(Int64.min), max: DecimalNumber(Int64.max))
        #expect(range.position(of: .zero, last: 100) == 50)
        let fine = try #require(DecimalNumber(significand: 1, exponent: -15))
        let mixed = TrackRange(min: .zero, max: DecimalNumber(Int64.max))
        #expect(mixed.position(of: fine, last: 100) == 0)
        _ = mixed.value(at: 50, last: 100)
    }
}
