import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

private let form = """
    form: t
    title: A title that is so much longer than any line of any terminal that somebody has open now
    fields:
      - {id: region, type: picker, style: menu, options: [eu, us, asia]}
      - {id: day, type: date, mode: date, style: graphical, default: "2026-11-05"}
      - {id: speed, type: slider, min: 0, max: 100, step: 5, default: 50}
      - {id: name, type: text, onConflict: ask}
      - {id: note, type: text, multiline: true}
    """

@Suite("what somebody did in a form is not lost")
struct LiveKeptTests {
    @Test("picking the old value again is an edit if another user has changed it meanwhile")
    func pickOfTheSame() throws {
        var bench = try LiveBench(form)
        bench.focus("region")
        bench.press(.enter)
        bench.changed("region", "asia")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("eu")])
        #expect(bench.edits.map(\.context) == ["a.1:1"])
        bench.answer()
        bench.focus("day")
        bench.press(.enter)
        bench.changed("day", "2026-11-20")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("2026-11-05")])
        bench.answer()
        // Where nothing waited there is nothing to say.
        bench.press(.enter, .enter)
        #expect(bench.edits.isEmpty)
    }

    @Test("a rejected number is a draft, and Enter continues with it")
    func numbers() throws {
        var bench = try LiveBench(form)
        bench.focus("speed")
        for wrong in ["7x", "700"] {
            bench.type("7")
            bench.type(String(wrong.dropFirst()))
            bench.press(.enter)
            #expect(bench.edits.isEmpty)
            #expect(bench.model.drafts["speed"]?.text == wrong)
            #expect(bench.screen().contains(" \(wrong) "), "\(bench.screen())")
        }
        bench.press(.enter, .backspace, .enter)
        #expect(bench.edits.map(\.action) == [.value(70)])
        #expect(!bench.screen().contains("unsaved"))
        // What was only looked at is not a draft.
        bench.answer()
        bench.press(.enter)
        bench.feed(.client(.formChanged(deletion)))
        #expect(!bench.screen().contains("unsaved"))
    }

    private var deletion: FormChanged {
        FormChanged(form: "t", revision: 50, content: .deleted)
    }

    @Test("a text that the daemon refuses is a draft again")
    func refusedText() throws {
        var bench = try LiveBench(form)
        bench.focus("name")
        bench.press(.enter)
        bench.type("a long story")
        bench.press(.enter)
        bench.answer(.refused(WireError(.forbidden, "only the owner may set name")))
        #expect(bench.screen().contains("only the owner may set name"))
        #expect(bench.screen().contains("unsaved: a long story"))
        bench.press(.enter)
        bench.type("!")
        #expect(bench.screen().contains("a long story!"))
    }

    @Test("a form that takes the text's control away says by its name that the text is kept")
    func removed() throws {
        var bench = try LiveBench(form)
        bench.focus("note")
        bench.press(.enter)
        bench.type("one")
        bench.press(.enter)
        bench.type("two")
        bench.feed(try LiveBench.defined("form: t\nfields:\n  - {id: region, type: toggle}\n"))
        #expect(bench.screen().contains("note with it; what you typed is kept"))
        bench.type("q")
        #expect(bench.ending == nil)
        bench.type("q")
        #expect(bench.ending == .done)
    }

    @Test(
        "a conflict tells who and when whole, and a long pick is cut for them", arguments: [80, 40])
    func conflict(columns: Int) throws {
        var bench = try LiveBench(form, columns: columns)
        bench.changed(
            "name", .string(String(repeating: "long ", count: 20) + "\nsecond line"),
            conflict: [
                Sibling(
                    value: "short", by: LiveBench.author(7, "deployer"),
                    at: Timestamp("2026-11-21T14:02:11.000Z"))
            ])
        bench.press(.down, .down, .down)
        let screen = bench.screen()
        #expect(screen.contains("bob · 14:02:11"), "\(screen)")
        #expect(screen.contains("deployer · 14:02:11"), "\(screen)")
        #expect(!screen.contains("second line"))
    }

    /// An edit made while the daemon was away, and another daemon that answers.
    private func other() throws -> LiveBench {
        var bench = try LiveBench(form)
        bench.disconnect()
        bench.focus("speed")
        bench.type("70")
        bench.press(.enter)
        let (number, request) = try #require(bench.sent.first)
        bench.sent = []
        bench.connect(replica: "b")
        bench.feed(.answered([number], .otherReplica(request)))
        return bench
    }

    @Test("edits for another replica wait until their owner decides")
    func anotherReplica() throws {
        var bench = try other()
        #expect(bench.value("speed") == 50)
        #expect(bench.screen().contains("another daemon answers now; 1 edit not sent"))
        #expect(bench.screen().contains("not sent: 70"))
        #expect(bench.edits.isEmpty)
        // Leaving asks; the question begins at the choice that does nothing.
        bench.type("q")
        #expect(bench.ending == nil)
        bench.type("K")
        #expect(bench.screen().contains("[keep]"))
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        // In its own replica it is made without a question, in the context that it had.
        bench.disconnect()
        bench.connect(replica: "a")
        #expect(bench.edits.map(\.action) == [.value(70)])
        #expect(bench.edits.map(\.context) == ["a.1:1"])
        #expect(!bench.screen().contains("another daemon"))
    }

    @Test("kept edits are applied over what is shown, or discarded", arguments: [true, false])
    func decided(isApplied: Bool) throws {
        var bench = try other()
        bench.type("K")
        bench.press(.right)
        if !isApplied { bench.press(.right) }
        bench.press(.enter)
        #expect(
            bench.edits.filter { $0.field == "speed" }.map(\.action)
                == (isApplied ? [.value(70)] : []))
        #expect(bench.edits.map(\.context).allSatisfy { $0 == "b.1:1" })
        #expect(bench.value("speed") == (isApplied ? 70 : 50))
        #expect(!bench.screen().contains("not sent"))
    }

    @Test("an edit in progress is not set by itself in another replica")
    func heldInAnotherReplica() throws {
        var bench = try LiveBench(form)
        bench.focus("speed")
        bench.press(.right)
        bench.disconnect()
        bench.connect(replica: "b")
        bench.pass(milliseconds: 5_000)
        #expect(bench.edits.isEmpty)
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value(55)])
        #expect(bench.edits.map(\.context) == ["b.1:1"])
    }

    @Test("a value that a snapshot has before the definition of its control is shown with it")
    func earlyValue() throws {
        var bench = try LiveBench(form)
        let size = FieldState(value: "large", revision: 20, isSet: true)
        bench.feed(
            .client(
                .snapshot(
                    SubscribeResult(
                        form: "t", log: "l", revision: 20, context: "a.1:20", isResumed: false,
                        fields: [NamedField(id: "size", state: size)]), previous: [])))
        bench.feed(
            try LiveBench.defined(
                "form: t\nfields:\n  - {id: size, type: picker, options: [small, large]}\n"))
        #expect(bench.value("size") == "large")
    }

    @Test("a title of any length leaves space for the list of people", arguments: [80, 40])
    func header(columns: Int) throws {
        var bench = try LiveBench(form, columns: columns, lines: 10)
        #expect(bench.screen().split(separator: "\n")[0].hasSuffix("only you"))
        bench.bobIs(at: "speed")
        #expect(bench.screen().split(separator: "\n")[0].contains("●"))
    }
}
