import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

private let form = """
    form: t
    title: Test
    fields:
      - {id: environment, label: Environment, type: picker, style: radioGroup, onConflict: ask,
         options: [staging, production, testing], default: staging}
      - {id: days, type: picker, style: inline, multiple: true, options: [mon, tue], default: []}
      - {id: month, type: picker, style: wheel, options: [jan, feb, mar]}
      - {id: traffic, label: Traffic, type: slider, min: 0, max: 100, step: 5, default: 35}
      - {id: name, label: Name, type: text, pattern: "[a-z]*", default: ann}
      - {id: rollback, label: Rollback, type: button, role: destructive}
      - {id: last, type: picker, style: inline, onConflict: latest, options: [a, b], default: a}
    """

private func sibling(_ value: JSON, _ connection: Int64 = LiveBench.me) -> Sibling {
    Sibling(
        value: value, by: LiveBench.author(connection, connection == LiveBench.me ? "ann" : "cara"),
        at: Timestamp("2026-11-21T14:02:09.000Z"))
}

/// The requests that carry an edit.
private func sets(_ bench: LiveBench) -> [StateSet] {
    bench.sent.compactMap { if case .stateSet(let set) = $0.request { set } else { nil } }
}

@Suite("nothing by accident")
struct LiveAccidentTests {
    @Test("a visit changes nothing: the highlight goes back to the selection when focus leaves")
    func visit() throws {
        var bench = try LiveBench(form)
        bench.press(.down, .down, .home, .enter)
        #expect(bench.edits.isEmpty)
        #expect(bench.model.focusedField == "environment")
        bench.press(.down)
        #expect(bench.screen().contains("Enter sets Environment to Production for everybody"))
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("production")])
        #expect(!bench.screen().contains("Enter sets"))
    }

    @Test("Enter on what another chose meanwhile does not set the value that one chose before")
    func afterAnother() throws {
        var bench = try LiveBench(form)
        bench.press(.down, .enter)
        bench.answer()
        bench.changed("environment", "testing")
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
    }

    @Test("Enter changes no selection of several; Space does")
    func several() throws {
        var bench = try LiveBench(form)
        bench.focus("days")
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        #expect(bench.screen().contains("Space selects"))
        bench.type(" ")
        #expect(bench.edits.map(\.action) == [.add(["mon"])])
    }

    @Test("Enter goes past a toggle and does not turn it; Space does")
    func toggle() throws {
        var bench = try LiveBench("form: t\nfields: [{id: on, label: Maintenance, type: toggle}]")
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        #expect(bench.screen().contains("Space sets Maintenance on"))
        bench.type(" ")
        #expect(bench.edits.map(\.action) == [.value(true)])
        #expect(!bench.screen().contains("Space sets"))
    }

    @Test("a digit in a list moves the highlight; in a row it is a draft that Esc drops")
    func digits() throws {
        var bench = try LiveBench(form)
        bench.type("2")
        #expect(bench.edits.isEmpty)
        #expect(bench.screen().contains("Enter sets Environment to Production for everybody"))
        bench.focus("days")
        bench.type("2")
        #expect(bench.edits.isEmpty)
        bench.focus("month")
        bench.type("2")
        #expect(bench.value("month") == "feb")
        bench.press(.escape)
        bench.pass(milliseconds: 1_000)
        #expect(bench.edits.isEmpty && bench.value("month") == "jan")
    }

    @Test("Esc takes the highlight back, so that Enter sets nothing")
    func escape() throws {
        var bench = try LiveBench(form)
        bench.press(.down, .escape, .enter)
        #expect(bench.edits.isEmpty)
        #expect(!bench.screen().contains("Enter sets"))
    }

    @Test("undo of a control that is not in focus asks first", arguments: [true, false])
    func undoElsewhere(isMeant: Bool) throws {
        var bench = try LiveBench(form, columns: 100)
        bench.changed("traffic", 70, by: LiveBench.me)
        bench.focus("days")
        bench.type("u")
        #expect(bench.sent.isEmpty)
        #expect(bench.screen().contains("Undo Traffic 35 → 70 for everybody?"))
        bench.press(isMeant ? .enter : .escape)
        #expect(bench.sent.map(\.request) == (isMeant ? [.stateUndo(StateUndo(form: "t"))] : []))
    }

    @Test("a conflict is settled by a card and Enter, with the token of what was shown; no digit")
    func cards() throws {
        var bench = try LiveBench(form)
        bench.changed("environment", "production", conflict: [sibling("staging")])
        #expect(bench.screen().contains("⇄ 1 conflict"))
        #expect(bench.screen().contains("picked at the same time; choose one"))
        bench.pass(milliseconds: 600)
        bench.type("2")
        #expect(bench.edits.isEmpty)
        bench.press(.right)
        #expect(bench.screen().contains("◉ Staging"))
        bench.press(.enter)
        let set = try #require(sets(bench).first)
        #expect(set.changes.map(\.action) == [.value("staging")])
        #expect(set.requireCurrent && set.context == "a.1:2")
        #expect(!bench.screen().contains("picked at the same time"))
    }

    @Test("cards that have just come or changed are not settled by a key that was on its way")
    func cardsThatChange() throws {
        var bench = try LiveBench(form)
        bench.changed("environment", "production", conflict: [sibling("staging")])
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        bench.pass(milliseconds: 600)
        bench.press(.right)
        // Another sibling comes, and the list has another order.
        bench.changed(
            "environment", "testing", conflict: [sibling("staging"), sibling("production", 9)])
        #expect(bench.screen().contains("◉ Staging"))
        bench.press(.enter)
        let set = try #require(sets(bench).first)
        // The token is of the cards that were read, so the daemon refuses.
        #expect(set.changes.map(\.action) == [.value("staging")])
        #expect(set.requireCurrent && set.context == "a.1:2")
        bench.answer(.refused(WireError(.conflict, "changed since you looked")))
        let screen = bench.screen()
        #expect(screen.contains("picked at the same time"))
        #expect(screen.contains("bob set Environment to Testing meanwhile; choose again"))
    }

    @Test("a conflict that is put aside is still one, and Enter shows its cards again")
    func cardsPutAside() throws {
        var bench = try LiveBench(form, columns: 100)
        bench.changed("environment", "production", conflict: [sibling("staging")])
        bench.pass(milliseconds: 600)
        bench.press(.right, .escape)
        #expect(bench.screen().contains("⇄ 1 conflict"))
        #expect(!bench.screen().contains("choose one"))
        bench.press(.enter)
        #expect(bench.screen().contains("choose one") && bench.edits.isEmpty)
        bench.press(.escape, .down)
        #expect(bench.model.focusedField == "days")
        bench.press(.up, .left)
        bench.pass(milliseconds: 600)
        #expect(bench.screen().contains("◉ Production"))
        bench.press(.escape)
        bench.changed(
            "environment", "production", conflict: [sibling("staging"), sibling("testing")])
        #expect(bench.screen().contains("choose one"))
        #expect(bench.edits.isEmpty)
    }

    @Test("a click on a control whose cards are put aside shows them and sets nothing")
    func clickOnPutAside() throws {
        var bench = try LiveBench(form, columns: 100)
        bench.changed("environment", "production", conflict: [sibling("staging")])
        bench.press(.escape)
        _ = bench.screen()
        let region = try #require(
            bench.model.geometry.regions.last {
                $0.owner == "environment" && $0.target == .action(.option("testing"))
            })
        bench.mouse(.press(.left), region.rect.x, region.rect.y)
        #expect(bench.edits.isEmpty && bench.screen().contains("choose one"))
    }

    @Test("arrows beside cards move the focus, and no highlight that nobody sees")
    func arrowsBesideCards() throws {
        var bench = try LiveBench(form)
        bench.changed("environment", "production", conflict: [sibling("staging")])
        bench.press(.down)
        #expect(bench.model.focusedField == "days")
    }

    @Test("undo of a choice among cards is not called a lease")
    func undoOfAChoice() throws {
        var bench = try LiveBench(form, columns: 100)
        bench.changed("environment", "production", conflict: [sibling("staging")])
        bench.pass(milliseconds: 600)
        bench.press(.enter)
        bench.answer()
        #expect(bench.screen().contains("undo Environment conflict"), "\(bench.screen())")
    }

    @Test("undo of an edit to the same value is not called a lease")
    func undoOfTheSame() throws {
        var bench = try LiveBench(form, columns: 100)
        bench.changed("traffic", 35, by: LiveBench.me)
        bench.focus("traffic")
        #expect(bench.screen().contains("undo 35→35"), "\(bench.screen())")
    }

    @Test("a number says to what Enter sets it, also if it snaps")
    func snappedNumber() throws {
        var bench = try LiveBench(form)
        bench.focus("traffic")
        bench.type("43")
        #expect(bench.screen().contains("Enter sets Traffic to 45 for everybody"))
        bench.type("0")
        #expect(!bench.screen().contains("Enter sets"))
    }

    @Test("an edit that the daemon does not answer is not shown as set for ever")
    func noAnswer() throws {
        var bench = try LiveBench(form)
        bench.press(.down, .enter)
        bench.pass(milliseconds: 900)
        #expect(bench.screen().contains("live"))
        #expect(bench.model.deadline.map { $0 <= bench.now + 100_000_000 } ?? false)
        bench.pass(milliseconds: 100)
        #expect(bench.screen().contains("no answer yet"))
        bench.answer()
        #expect(!bench.screen().contains("no answer yet"))
    }

    @Test("a change by somebody else at that moment does not hide that the daemon does not answer")
    func noAnswerAmongChanges() throws {
        var bench = try LiveBench(form)
        bench.press(.down, .enter)
        bench.pass(milliseconds: 900)
        #expect(bench.screen().contains("live"))
        bench.now += 100_000_000
        bench.changed("traffic", 40)
        #expect(bench.screen().contains("no answer yet"))
    }

    @Test("what another policy decided is said, and leaves no cards")
    func decided() throws {
        var bench = try LiveBench(form, columns: 100)
        bench.changed("last", "b", conflict: [sibling("a")])
        let screen = bench.screen()
        #expect(!screen.contains("conflict"))
        #expect(screen.contains("last was edited twice at once: B (bob) is kept"))
        #expect(screen.contains("B (bob) is kept, A (you) is in the history"))
        bench.feed(.resized(Size(columns: 50, lines: 24)))
        #expect(bench.screen().contains("\n B (bob) is kept, A (you) is in the history"))
    }

    @Test("Backspace asks before it resets a value for everybody", arguments: [Key.escape, .down])
    func reset(no: Key) throws {
        var bench = try LiveBench(form)
        bench.changed("environment", "production")
        bench.press(.backspace)
        #expect(bench.screen().contains("Reset Environment to Staging for everybody?"))
        bench.press(no)
        #expect(bench.edits.isEmpty)
        #expect(!bench.screen().contains("Reset Environment"))
        bench.focus("environment")
        bench.press(.delete, .enter)
        #expect(bench.edits.map(\.action) == [.reset])
    }

    @Test("the wheel scrolls, and turns a value only while it is being edited")
    func wheel() throws {
        var bench = try LiveBench(form, columns: 80, lines: 40)
        bench.focus("month")
        _ = bench.screen()
        let frame = try #require(bench.model.geometry.regions.first { $0.owner == "month" }?.rect)
        bench.mouse(.wheelDown, frame.x, frame.y)
        bench.pass(milliseconds: 1_000)
        #expect(bench.edits.isEmpty && bench.value("month") == "jan")
        bench.focus("month")
        bench.press(.enter)
        bench.mouse(.wheelDown, frame.x, frame.y)
        #expect(bench.value("month") == "feb")
    }

    @Test("undo promises nothing that others have made impossible")
    func undoOverwritten() throws {
        var bench = try LiveBench(example: "deploy", columns: 100, lines: 30)
        bench.focus("traffic")
        bench.changed("traffic", 40, by: LiveBench.me)
        #expect(bench.screen().contains("undo 0 %→40 %"))
        bench.changed("traffic", 60)
        #expect(!bench.screen().contains("undo"), "\(bench.screen())")
        bench.type("u")
        bench.answer(.refused(WireError(.conflict, "overwritten since")))
        #expect(bench.screen().contains("others have changed Traffic to the new version since"))
        bench.type("u")
        bench.answer(.refused(WireError(.conflict, "nothing to undo")))
        #expect(bench.screen().contains("you have no edit to undo"))
    }

    @Test("what somebody else sets is beside a draft, never instead of it")
    func besideDraft() throws {
        var bench = try LiveBench(example: "deploy", columns: 100, lines: 30)
        bench.changed("version", "1.0.0")
        bench.pass(milliseconds: 70_000)
        bench.focus("version")
        bench.press(.enter)
        bench.type("x")
        bench.press(.enter)
        #expect(bench.screen().contains("1.0.0x"))
        // What was set before has no place beside the reason.
        #expect(bench.screen().contains("✗ must match the pattern\n"), "\(bench.screen())")
        for wait in [0, 70_000] {
            bench.changed("version", "9.9.9")
            bench.pass(milliseconds: UInt64(wait))
            let screen = bench.screen()
            #expect(screen.contains("1.0.0x"))
            #expect(screen.contains("✗ invalid  ◇ bob set 9.9.9"), "\(screen)")
            #expect(screen.contains("unsaved: 1.0.0x · must match the pattern"), "\(screen)")
        }
    }

    @Test("a destructive button asks, with a question of its own or not")
    func destructive() throws {
        var bench = try LiveBench(form)
        bench.focus("rollback")
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        #expect(bench.screen().contains("Rollback?"))
        bench.press(.enter)
        #expect(bench.edits.isEmpty, "the keys begin at Cancel")
        bench.press(.enter)
        bench.type("y")
        #expect(bench.edits.map(\.action) == [.press])
    }

    @Test("a refused text stays typed, and the draft of another is beside the value")
    func kept() throws {
        var bench = try LiveBench(form, columns: 100)
        bench.bobIs(at: "name", draft: "bobby")
        let line = try #require(
            bench.screen().split(separator: "\n").first { $0.contains("Name") })
        #expect(line.contains("ann") && line.contains("bobby"))
        bench.focus("name")
        bench.press(.enter)
        bench.type("42")
        bench.press(.enter)
        #expect(bench.edits.isEmpty)
        let screen = bench.screen()
        #expect(screen.contains("ann42") && screen.contains("unsaved"))
        bench.press(.backspace)
        #expect(!bench.screen().contains("ann42"))
    }

    @Test("a number that the daemon refuses is not lost")
    func refusedNumber() throws {
        var bench = try LiveBench(form)
        bench.focus("traffic")
        bench.type("70")
        bench.press(.enter)
        bench.answer(.refused(WireError(.disabled, "traffic is disabled")))
        let screen = bench.screen()
        #expect(screen.contains("unsaved: 70") && screen.contains("traffic is disabled"))
    }

    @Test("undo says what it takes back, before and after")
    func undo() throws {
        var bench = try LiveBench(form, columns: 100)
        bench.focus("traffic")
        bench.type("70")
        bench.press(.enter)
        bench.answer()
        #expect(bench.screen().contains("u undo 35→70"))
        bench.type("u")
        #expect(bench.sent.count == 1)
        bench.changed("traffic", 35, by: LiveBench.me)
        bench.answer()
        #expect(bench.screen().contains("undone: Traffic 35 → 70"))
        #expect(!bench.screen().contains("undo 70→35"))
    }
}
