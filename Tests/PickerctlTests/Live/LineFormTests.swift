import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

private let form = """
    form: t
    title: Test
    fields:
      - {id: flavor, type: picker, label: Flavor, onConflict: ask,
         options: [chocolate, vanilla]}
      - {id: days, type: picker, label: Days, multiple: true, options: [mon, tue, wed], default: [mon]}
      - {id: cone, type: toggle, label: Cone, default: true}
      - {id: scoops, type: stepper, label: Scoops, min: 1, max: 5, default: 2}
      - {id: note, type: text, label: Note, multiline: true}
      - {id: says, type: label, text: "${flavor}!"}
      - {id: go, type: button, label: Go, confirm: "Really?"}
    """

@Suite("the form in lines")
struct LineFormTests {
    /// A form whose answers were given, with the edits they came to.
    private func answered(
        _ answers: [String], isPerson: Bool = true
    ) throws -> (
        form: LineForm, edits: [Change.Action], lines: [String], commands: [LiveCommand]
    ) {
        var lines = LineForm(try LiveBench(form).model, isPerson: isPerson)
        lines.begin()
        var commands: [LiveCommand] = []
        for answer in answers { lines.answer(answer, &commands) }
        let edits = commands.flatMap { command -> [Change.Action] in
            guard case .request(_, .stateSet(let edit)) = command else { return [] }
            return edit.changes.map(\.action)
        }
        let output = lines.takeOutput()
        return (lines, edits, output, commands)
    }

    @Test("every control is asked once in order; an empty answer keeps the value")
    func keeps() throws {
        let outcome = try answered(["", "", "", "", "", ""])
        #expect(outcome.edits.isEmpty)
        #expect(outcome.lines.contains { $0.hasPrefix("Flavor: Chocolate.") })
        #expect(outcome.lines.contains("  2. Vanilla"))
        #expect(outcome.lines.contains("Chocolate!"))
        #expect(outcome.lines.contains { $0.hasPrefix("Go: button. Really?") })
        #expect(outcome.lines.last == "That was the last question.")
    }

    @Test("a symbol is said in words where the label does not say it already")
    func symbols() throws {
        let bench = try LiveBench(
            """
            form: t
            fields:
              - id: reaction
                type: picker
                options:
                  - {tag: heart, label: Like, symbol: "❤️", symbolName: heart}
                  - {tag: up, label: Thumbs up, symbol: "👍", symbolName: thumbs up}
              - {id: go, type: button, label: Sign In, symbol: "↑", symbolName: arrow up}
            """)
        var lines = LineForm(bench.model, isPerson: true)
        lines.begin()
        var commands: [LiveCommand] = []
        lines.answer("", &commands)
        let output = lines.takeOutput()
        #expect(output.contains("  1. Like, heart") && output.contains("  2. Thumbs up"))
        #expect(output.contains { $0.hasPrefix("Sign In, arrow up: button.") })
    }

    @Test(
        ":why, :reset and :clear take another control",
        arguments: ["scoops", "Scoops", "4"])
    func named(name: String) throws {
        let outcome = try answered([":why \(name)", ":reset \(name)", ":clear note", ":why cones"])
        let asked = outcome.commands.compactMap { command -> Request? in
            if case .request(_, let request) = command { request } else { nil }
        }
        #expect(asked.first == .stateExplain(StateExplain(form: "t", field: "scoops")))
        guard case .stateSet(let edit)? = asked.dropFirst().first else {
            Issue.record("\(asked)")
            return
        }
        #expect(edit.changes.map(\.field) == ["scoops"] && edit.changes.first?.action == .reset)
        #expect(outcome.edits == [.reset, .value("")])
        #expect(
            outcome.lines.last == "No: this form has no cones; :list says the names and numbers.")
    }

    @Test("it is said that the handler of a press is away, and that it is back")
    func awayHandler() throws {
        var bench = try LiveBench(example: "deploy", columns: 80, lines: 24)
        let run = ButtonRun(
            press: "a.1:7", by: LiveBench.author(LiveBench.me, "ann"),
            at: Timestamp(milliseconds: 0), state: .running, since: Timestamp(milliseconds: 0))
        bench.changed("start", 1, runs: ButtonRuns(waiting: 0, running: [run], last: nil))
        var lines = LineForm(bench.model, isPerson: true)
        for isAway in [false, true, true, false] {
            let progress = ButtonProgressed(
                form: "deploy", field: "start", press: run.press, isAway: isAway)
            _ = lines.handle(.client(.progress(progress)), at: 0)
        }
        #expect(
            lines.takeOutput() == [
                "* Start: its handler is away", "* Start: its handler is back",
            ])
    }

    @Test("answers are numbers, words and lines, by the type of the control")
    func answers() throws {
        let outcome = try answered(["2", "1,3", "no", "+", "one", "two", ".", "yes"])
        #expect(
            outcome.edits == [
                .value("vanilla"), .value(["mon", "wed"]), .value(false),
                .increment(DecimalNumber(1)), .value("one\ntwo"), .press,
            ])
    }

    @Test("a person is asked again; out of a pipe a wrong answer ends it")
    func wrong() throws {
        let person = try answered(["9", "vanilla"])
        #expect(person.lines.contains { $0.hasPrefix("No: \"9\" is not an answer") })
        #expect(person.edits == [.value("vanilla")])
        let pipe = try answered(["9"], isPerson: false)
        #expect(pipe.form.failure != nil)
    }

    @Test("everything is reached: each control by its number, each state in words, $EDITOR too")
    func reached() throws {
        let outcome = try answered([":list", ":5", ":edit", ":back", ":help", ":1"])
        let list = outcome.lines.joined(separator: "\n")
        for line in [
            "1. Flavor: Chocolate", "2. Days: Mon", "3. Cone: on", "4. Scoops: 2", "5. Note: empty",
            "6. Chocolate!", "7. Go: button",
        ] {
            #expect(list.contains(line), "\(line)")
        }
        let texts = outcome.commands.compactMap { command -> String? in
            if case .edit("note", let text) = command { text } else { nil }
        }
        #expect(texts == [""])
        #expect(outcome.form.question == .control("flavor"))
    }

    @Test("leaving names what waits for a daemon that is away, and leaves at the second time")
    func leaving() throws {
        var bench = try LiveBench(form)
        bench.disconnect()
        var lines = LineForm(bench.model, isPerson: true)
        lines.begin()
        var commands: [LiveCommand] = []
        lines.answer("2", &commands)
        _ = lines.takeOutput()
        lines.answer(":q", &commands)
        #expect(lines.takeOutput().contains { $0.contains("1 edit waits") })
        #expect(!commands.contains(.quit(.done)))
        lines.answer(":q", &commands)
        #expect(commands.contains(.quit(.done)))
    }

    @Test("others' changes and conflicts are lines, and :choose settles it")
    func announced() throws {
        var bench = try LiveBench(form)
        var lines = LineForm(bench.model, isPerson: true)
        lines.begin()
        _ = lines.takeOutput()
        let sibling = Sibling(
            value: "chocolate", by: LiveBench.author(LiveBench.me, "ann"), at: nil)
        let state = FieldState(
            value: "vanilla", revision: 5, isSet: true, by: LiveBench.author(9, "bob"),
            conflict: [sibling])
        let change = StateChanged(
            form: "t", revision: 5, context: "a.1:5",
            changes: [FieldChange(field: "flavor", state: state, was: "chocolate")])
        _ = lines.handle(.client(.changed(change)), at: bench.now)
        let said = lines.takeOutput()
        #expect(said.contains("* bob set Flavor: Vanilla"))
        #expect(said.contains("  2. Chocolate, by you"))
        var commands: [LiveCommand] = []
        lines.answer(":choose 2", &commands)
        guard case .request(_, .stateSet(let edit))? = commands.first else {
            Issue.record("nothing was sent")
            return
        }
        #expect(edit.changes.map(\.action) == [.value("chocolate")])
        bench.pass(milliseconds: 1)
    }

    @Test("titles of sections and of groups of options are said, whatever comes first")
    func titles() throws {
        let bench = try LiveBench(
            """
            form: t
            sections:
              - title: First
                fields:
                  - {id: gone, type: toggle, hidden: true}
                  - {id: seen, type: toggle, label: Seen, subtitle: As it is}
                  - {id: more, type: toggle}
              - title: Second
                fields:
                  - {id: read, type: gauge, label: Read}
                  - id: food
                    type: picker
                    optional: true
                    options:
                      - {section: Fruit, options: [apple, pear]}
                      - {section: Roots, options: [beet]}
            """)
        var lines = LineForm(bench.model, isPerson: true)
        lines.begin()
        var commands: [LiveCommand] = []
        lines.answer("maybe", &commands)
        lines.answer("", &commands)
        lines.answer("", &commands)
        let said = lines.takeOutput()
        #expect(said.filter { $0 == "Section: First" }.count == 1)
        #expect(said.contains("  As it is"))
        #expect(said.contains { $0.hasSuffix("expected yes or no") })
        let second = try #require(said.firstIndex(of: "Section: Second"))
        #expect(
            Array(said[(second + 3)...]) == [
                "  1. None", "  Fruit:", "  2. Apple", "  3. Pear", "  Roots:", "  4. Beet",
            ])
    }

    @Test(":choose without a conflict says so and asks on")
    func takeNothing() throws {
        let outcome = try answered([":choose 1", "2"])
        #expect(outcome.lines.contains("No: there is no conflict here."))
        #expect(outcome.edits == [.value("vanilla")])
    }

    @Test("a form that changes under the question is told, and what is there still is asked")
    func changedForm() throws {
        let bench = try LiveBench(form)
        var lines = LineForm(bench.model, isPerson: true)
        lines.begin()
        _ = lines.takeOutput()
        let smaller = try LiveBench.defined(
            "form: t\nfields:\n  - {id: cone, type: toggle, label: Cone}\n")
        _ = lines.handle(smaller, at: bench.now)
        let said = lines.takeOutput()
        #expect(said.first == "* the form changed")
        #expect(said.contains("* flavor is gone"))
        #expect(said.contains { $0.hasPrefix("Cone: off.") })
        #expect(lines.question == .control("cone"))
    }
}
