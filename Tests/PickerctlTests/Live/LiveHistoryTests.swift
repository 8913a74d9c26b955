import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

private let form = """
    form: t
    title: Test
    fields:
      - {id: speed, type: slider, min: 0, max: 100, step: 5, default: 50}
      - {id: name, type: text, maxLength: 5}
      - {id: cone, type: toggle}
    """

@Suite("the history of a control, and another form in the same terminal")
struct LiveHistoryTests {
    static let noon: Int64 = 1_700_000_000_000

    private static func bench() throws -> LiveBench {
        var bench = try LiveBench(form)
        bench.model.around.clock = { Timestamp(milliseconds: noon) }
        return bench
    }

    static func page(
        _ changes: [(minutes: Int64, was: Int64, value: Int64)], of field: String = "speed"
    ) -> JSON {
        let entries = changes.enumerated().map { number, change in
            HistoryPage.Entry(
                revision: Revision(10 - number),
                at: Timestamp(milliseconds: noon - change.minutes * 60_000),
                by: LiveBench.author(LiveBench.bob, "bob"), kind: "set",
                changes: [
                    HistoryPage.Change(
                        field: field, value: .integer(change.value), was: .integer(change.was))
                ])
        }
        return json { HistoryPage(entries: entries, more: true).encode(into: &$0) }
    }

    private static func json(_ write: (inout JSONWriter) -> Void) -> JSON {
        var writer = JSONWriter()
        write(&writer)
        return (try? JSON(parsing: writer.take())) ?? .null
    }

    @Test("H shows a plot of the last hour and who set what, Esc goes back")
    func history() throws {
        var bench = try Self.bench()
        bench.type("H")
        #expect(bench.screen().contains("asking the daemon"))
        guard case .stateHistory(let asked)? = bench.sent.last?.request else {
            Issue.record("nothing was asked")
            return
        }
        #expect(asked.field == "speed" && asked.form == "t")
        bench.answer(.result(Self.page([(5, 20, 80), (30, 50, 20)])))
        let screen = bench.screen()
        #expect(screen.contains("History of speed"))
        #expect(screen.contains("bob  20 → 80"))
        #expect(screen.contains("bob  50 → 20"))
        #expect(screen.contains("80 ┤"), "\(screen)")
        #expect(screen.contains("older: pickerctl history t/speed"))
        bench.press(.escape)
        #expect(bench.model.page == .form)
    }

    @Test("a concurrent edit whose value is kept is in the plot, and is not called lost")
    func concurrent() throws {
        var bench = try Self.bench()
        bench.changed("speed", 80)
        bench.type("H")
        let entry = HistoryPage.Entry(
            revision: 10, at: Timestamp(milliseconds: Self.noon - 300_000),
            by: LiveBench.author(LiveBench.bob, "bob"), kind: "set",
            changes: [
                HistoryPage.Change(field: "speed", value: 80, was: 50, isConcurrent: true)
            ])
        bench.answer(
            .result(Self.json { HistoryPage(entries: [entry], more: false).encode(into: &$0) }))
        #expect(bench.screen().contains("bob  50 → 80 (concurrent)"))
        #expect(bench.screen().contains("80 ┤"), "\(bench.screen())")
    }

    @Test("an open history is asked for again when its field changes, once at a time")
    func changes() throws {
        var bench = try Self.bench()
        bench.type("H")
        bench.answer(.result(Self.page([])))
        #expect(bench.screen().contains("nobody has set it"))
        bench.changed("speed", 10)
        bench.changed("speed", 15)
        bench.changed("cone", true)
        #expect(bench.sent.count == 1)
        bench.answer(.result(Self.page([(1, 50, 10)])))
        // It had changed once more before the answer.
        #expect(bench.sent.count == 1)
        bench.answer(.result(Self.page([(0, 10, 15), (1, 50, 10)])))
        #expect(bench.sent.isEmpty)
        #expect(bench.screen().contains("bob  10 → 15"))
    }

    @Test("a text has no plot, and typed letters are not commands")
    func texts() throws {
        var bench = try Self.bench()
        bench.focus("name")
        bench.press(.enter)
        bench.type("Ho")
        #expect(bench.model.page == .form)
        bench.press(.escape)
        bench.type("H")
        bench.answer(.result(Self.page([])))
        #expect(bench.screen().contains("History of name"))
        #expect(!bench.screen().contains("┤"))
    }

    @Test("o lists the daemon's forms; Enter ends this one and names the next")
    func forms() throws {
        var bench = try Self.bench()
        bench.type("o")
        guard case .formList? = bench.sent.last?.request else {
            Issue.record("nothing was asked")
            return
        }
        func summary(_ name: String, _ title: String?) -> FormList.Summary {
            FormList.Summary(
                form: name, title: title, version: 1, revision: 1, fields: 3, subscribers: 0)
        }
        let list = FormList(forms: [summary("t", "Test"), summary("deploy", "Deployment")])
        bench.answer(.result(Self.json { list.encode(into: &$0) }))
        #expect(bench.screen().contains("Deployment"))
        bench.type("depl")
        bench.press(.enter)
        #expect(bench.ending == .done)
        #expect(bench.model.next == "deploy")
    }

    @Test("a form with a text that was typed and not set stays open")
    func drafts() throws {
        var bench = try Self.bench()
        bench.focus("name")
        bench.press(.enter)
        bench.type("ab")
        bench.press(.escape)
        bench.focus("speed")
        bench.type("o")
        #expect(bench.sent.isEmpty)
        #expect(bench.screen().contains("unsaved; the form stays open"))
        #expect(bench.model.next == nil)
    }
}
