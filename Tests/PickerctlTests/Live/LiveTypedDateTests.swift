import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("dates that are typed and do not exist")
struct LiveTypedDateTests {
    private static func bench(at field: String) throws -> LiveBench {
        var bench = try LiveBench(LiveTypingTests.form, columns: 100)
        bench.focus(field)
        return bench
    }

    @Test(
        "the date stays as it was typed, and Enter does not set another one",
        arguments: [
            ("day", "2027-13-45", "there is no month 13"),
            ("day", "2027-02-31", "there is no day 31"),
            ("opens", "2027-01-05T25:10", "there is no hour 25"), ("time", "9:75", "minute 75"),
        ])
    func whole(field: String, typed: String, why: String) throws {
        var bench = try Self.bench(at: field)
        bench.type(typed)
        for _ in 0..<2 {
            #expect(bench.screen().contains(typed), "\(bench.screen())")
            #expect(bench.screen().contains("✗ "), "\(bench.screen())")
            #expect(bench.screen().contains("unsaved: \(typed) · "), "\(bench.screen())")
            #expect(bench.screen().contains(why), "\(bench.screen())")
            #expect(!bench.screen().contains("step"), "\(bench.screen())")
            bench.press(.enter)
        }
        // Nor do a step, or leaving it.
        bench.type("+")
        bench.press(.down, .up)
        bench.pass(milliseconds: 1_000)
        #expect(bench.edits.isEmpty)
        #expect(bench.screen().contains(typed), "\(bench.screen())")
        bench.press(.backspace)
        #expect(!bench.screen().contains(typed), "\(bench.screen())")
        #expect(bench.model.question == nil && bench.edits.isEmpty)
    }

    @Test("a part that was typed and refused stays in its place")
    func part() throws {
        var bench = try Self.bench(at: "opens")
        bench.press(.right)
        bench.type("13")
        #expect(bench.screen().contains("2026-13-21T14:30"), "\(bench.screen())")
        #expect(bench.screen().contains("✗ there is no month 13"), "\(bench.screen())")
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        // Typing mends it.
        bench.type("12")
        #expect(!bench.screen().contains("✗"), "\(bench.screen())")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("2026-12-21T14:30")])
        #expect(bench.model.drafts.isEmpty)
    }

    @Test("a click elsewhere sets the digits of a part as keys do, and keeps refused ones")
    func leaving() throws {
        for (typed, edits) in [("9", [Change.Action.value("2026-09-21")]), ("0", [])] {
            var bench = try Self.bench(at: "day")
            bench.press(.right)
            bench.type(typed)
            _ = bench.screen()
            let place = try #require(bench.model.geometry.regions.last { $0.owner == "on" }?.rect)
            bench.mouse(.press(.left), place.x, place.y)
            #expect(bench.edits.filter { $0.field == "day" }.map(\.action) == edits)
            #expect(bench.model.drafts["day"]?.text == (edits.isEmpty ? "2026-0-21" : nil))
        }
    }

    @Test(
        "a pasted text that is not a date survives Enter",
        arguments: ["2027-02-30", "2027-02-28 9", "2027-02-28 at 09:00"])
    func pasted(text: String) throws {
        var bench = try Self.bench(at: "opens")
        bench.feed(.input(.paste(text, isCut: false)))
        bench.press(.enter, .enter, .down, .up)
        #expect(bench.screen().contains(text), "\(bench.screen())")
        #expect(bench.screen().contains("not a date"), "\(bench.screen())")
        #expect(bench.edits.isEmpty)
        bench.type("2027-02-28")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("2027-02-28T14:30")])
    }

    @Test("under the prompt, Enter after a part that does not exist sets nothing")
    func pick() throws {
        var bench = try LiveBench(
            LiveTypingTests.form, mode: .pick(field: "day", sets: true))
        bench.focus("day")
        bench.press(.right)
        bench.type("13")
        bench.press(.enter)
        #expect(bench.edits.isEmpty && bench.ending == nil)
        #expect(bench.screen().contains("there is no month 13"), "\(bench.screen())")
    }
}
