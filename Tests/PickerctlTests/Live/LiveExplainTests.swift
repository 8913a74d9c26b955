import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("The explanation of a control")
struct LiveExplainTests {
    private static func bench() throws -> LiveBench {
        try LiveBench(
            """
            form: t
            fields:
              - {id: speed, type: slider, label: Speed, max: 100}
              - {id: note, type: text, label: Note}
            """)
    }

    static func answer(
        _ value: JSON, message: String? = nil, form: String = "t", field: String = "speed",
        locked: String = "note"
    ) -> JSON {
        var facts = Explanation(form: form, field: field, revision: 2)
        facts.state = FieldState(value: value, revision: 2, isSet: true)
        facts.origin = Explanation.Origin(.set)
        var change = Explanation.Change(revision: 2)
        change.kind = "set"
        change.message = message
        change.by = WireAuthor(
            user: "bob", uid: 7, client: nil, tty: nil, connection: 9, replica: "a.1")
        facts.change = change
        facts.permission = Explanation.Permission([Explanation.Refusal(.locked, field: locked)])
        var writer = JSONWriter()
        facts.encode(into: &writer)
        return (try? JSON(parsing: writer.take())) ?? .null
    }

    @Test("E shows sentences with the form's titles, Esc goes back")
    func page() throws {
        var bench = try Self.bench()
        bench.type("E")
        #expect(bench.screen().contains("asking the daemon"))
        guard case .stateExplain(let asked)? = bench.sent.last?.request else {
            Issue.record("nothing was asked")
            return
        }
        #expect(asked == StateExplain(form: "t", field: "speed"))
        bench.answer(.result(Self.answer(20, message: "INC-231")))
        let screen = bench.screen()
        #expect(screen.contains("Why Speed has its value"), "\(screen)")
        #expect(screen.contains("Speed is 20."), "\(screen)")
        #expect(screen.contains("bob set it (revision 2): \"INC-231\""), "\(screen)")
        #expect(screen.contains("You may not set it: Note is locked"), "\(screen)")
        bench.press(.escape)
        #expect(bench.model.page == .form)
    }

    @Test("an open explanation follows the form, one question at a time")
    func follows() throws {
        var bench = try Self.bench()
        bench.type("E")
        bench.changed("speed", 10)
        bench.changed("note", "x")
        #expect(bench.sent.count == 1)
        bench.answer(.result(Self.answer(20)))
        #expect(bench.sent.count == 1)
        bench.answer(.result(Self.answer(10)))
        #expect(bench.screen().contains("Speed is 10."))
        bench.changed("note", "y")
        #expect(bench.sent.count == 1)
    }

    @Test("a daemon that refuses says why, and the form is there again")
    func refused() throws {
        var bench = try Self.bench()
        bench.type("E")
        bench.answer(.refused(WireError(.forbidden, "bob may not read t")))
        #expect(bench.model.page == .form)
        #expect(bench.screen().contains("bob may not read t"))
    }
}
