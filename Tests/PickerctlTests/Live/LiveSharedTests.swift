import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

private let form = """
    form: t
    title: Test
    fields:
      - {id: flavor, type: picker, style: segmented, onConflict: ask, options: [chocolate, vanilla, strawberry]}
      - {id: region, type: picker, style: menu, options: [eu, us, asia]}
      - {id: speed, type: slider, min: 0, max: 100, step: 5, default: 50}
      - {id: name, type: text}
      - {id: scoops, type: stepper, min: 1, max: 9, default: 2}
      - {id: other, type: picker, style: segmented, options: [a, b], visibleWhen: {flavor: vanilla}}
    """

@Suite("several people in one form")
struct LiveSharedTests {
    @Test("another's change is seen at once, with their name for a while")
    func flash() throws {
        var bench = try LiveBench(form)
        bench.changed("flavor", "vanilla")
        #expect(bench.value("flavor") == "vanilla")
        #expect(bench.screen().contains("← bob"))
        #expect(bench.screen().contains("Other") || bench.screen().contains("other"))
        bench.pass(milliseconds: 3_000)
        #expect(!bench.screen().contains("← bob"))
    }

    @Test("one's own change does not flash")
    func ownChange() throws {
        var bench = try LiveBench(form)
        bench.changed("flavor", "vanilla", by: LiveBench.me)
        #expect(!bench.screen().contains("← "))
    }

    @Test("everybody's focus is a mark with a name, a draft is a ghost")
    func presence() throws {
        var bench = try LiveBench(form)
        bench.bobIs(at: "speed")
        #expect(bench.screen().contains("● bob"))
        bench.bobIs(at: "speed", draft: 75)
        #expect(bench.screen().contains("◌ bob: 75"))
        bench.bobIs(at: "name", draft: "hel")
        #expect(bench.screen().contains("◌ bob: hel"))
        bench.bobIs(at: nil, isGone: true)
        #expect(!bench.screen().contains("bob"))
        #expect(bench.screen().contains("only you"))
    }

    @Test("a value under the hand stays; the other's change waits beside it, and lands on Esc")
    func heldAndPutBack() throws {
        var bench = try LiveBench(form)
        bench.focus("speed")
        bench.press(.right)
        bench.changed("speed", 90)
        #expect(bench.value("speed") == 55)
        #expect(bench.screen().contains("bob set 90"))
        bench.press(.escape)
        #expect(bench.value("speed") == 90)
        #expect(bench.screen().contains("← bob"))
        #expect(bench.edits.isEmpty)
    }

    @Test("an edit carries the token of what was shown when the control was taken")
    func heldContext() throws {
        var bench = try LiveBench(form)
        bench.focus("speed")
        bench.press(.right)
        bench.changed("speed", 90)
        bench.changed("flavor", "vanilla")
        bench.press(.enter)
        #expect(bench.edits.map(\.context) == ["a.1:1"])
        bench.focus("flavor")
        bench.press(.right, .enter)
        #expect(bench.edits.last?.context == "a.1:3")
    }

    @Test("an open menu and a text under the cursor do not move either")
    func heldMenuAndText() throws {
        var bench = try LiveBench(form)
        bench.focus("region")
        bench.press(.enter, .down)
        bench.changed("region", "asia")
        #expect(bench.screen().contains("❯   Us") || bench.screen().contains("❯   us"))
        bench.press(.escape)
        #expect(bench.value("region") == "asia")
        bench.focus("name")
        bench.press(.enter)
        bench.type("abc")
        bench.changed("name", "xyz")
        #expect(bench.screen().contains("abc") && bench.screen().contains("bob set xyz"))
        bench.press(.enter)
        #expect(bench.edits.last?.action == .value("abc"))
    }

    @Test("without a daemon editing goes on; the banner counts what waits")
    func offline() throws {
        var bench = try LiveBench(form)
        bench.disconnect()
        bench.focus("scoops")
        bench.press(.right, .right)
        #expect(bench.value("scoops") == 4)
        let screen = bench.screen()
        #expect(screen.contains("the daemon is away"))
        #expect(screen.contains("2 edits merge"))
        #expect(bench.edits.count == 2)
        bench.type("q")
        #expect(bench.ending == nil)
        bench.connect()
        #expect(!bench.screen().contains("the daemon is away"))
        #expect(bench.value("scoops") == 4)
        bench.changed("scoops", 6, by: LiveBench.me)
        bench.answer(.superseded)
    }

    @Test("a refused edit is reverted, and the reason is shown beside the control")
    func refused() throws {
        var bench = try LiveBench(form)
        bench.press(.right, .enter)
        #expect(bench.value("flavor") == "vanilla")
        bench.answer(.refused(WireError(.forbidden, "only the owner may set flavor")))
        #expect(bench.value("flavor") == "chocolate")
        #expect(bench.screen().contains("✗ invalid"))
        #expect(bench.screen().contains("\n only the owner may set flavor"))
    }

    @Test("a form that changes keeps the focus by identity, and an open list its option by tag")
    func formChanged() throws {
        var bench = try LiveBench(form)
        bench.focus("region")
        bench.press(.enter, .down)
        let other = form.replacing("[eu, us, asia]", with: "[zz, asia, us, eu]").replacing(
            "title: Test", with: "title: Changed")
        bench.feed(try LiveBench.defined(other))
        #expect(bench.model.focusedField == "region")
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value("us")])
    }

    @Test(
        "a deleted form says so, keeps what was typed, and opens again when it is created again"
    )
    func deleted() throws {
        var bench = try LiveBench(form)
        bench.focus("name")
        bench.press(.enter)
        bench.type("half")
        bench.feed(.client(.formChanged(FormChanged(form: "t", revision: 9, content: .deleted))))
        #expect(bench.screen().contains("this form was deleted"))
        #expect(bench.isAwaiting)
        bench.focus("flavor")
        bench.press(.right, .enter)
        #expect(bench.edits.isEmpty)
        // Another form is none of ours.
        let definition = bench.model.presentation.definition.json
        func defined(_ name: String) -> LiveEvent {
            .client(
                .formChanged(
                    FormChanged(
                        form: name, revision: 1,
                        content: .defined(
                            .init(
                                version: 1, context: "b.1:1", definition: definition, changes: [])))
                ))
        }
        bench.feed(defined("other"))
        #expect(bench.rejoined == 0)
        bench.feed(defined("t"))
        #expect(bench.rejoined == 1)
        bench.connect()
        #expect(bench.screen().contains("created again"))
        #expect(!bench.screen().contains("was deleted"))
        #expect(bench.screen().contains(#/half +◇ unsaved/#))
        bench.focus("flavor")
        bench.press(.right, .enter)
        #expect(bench.edits.map(\.action) == [.value("vanilla")])
    }

    @Test("a form that is gone when the daemon is back is waited for")
    func goneMeanwhile() throws {
        var bench = try LiveBench(form)
        bench.disconnect()
        bench.feed(
            .client(.subscriptionRefused(form: "t", WireError(.notFound, "no form t"))))
        #expect(bench.isAwaiting)
        #expect(bench.screen().contains("this form was deleted"))
        bench.feed(
            .client(
                .greeted(
                    HelloResult(
                        server: "t", replica: "a", features: [],
                        you: .init(connection: 8, uid: 1, gid: 1, pid: 1, user: "ann"),
                        limits: []))))
        #expect(bench.screen().contains("this form was deleted"))
    }

    @Test("under the prompt a form that is deleted ends the pick, with why")
    func deletedUnderPick() throws {
        var bench = try LiveBench(form, mode: .pick(field: "region", sets: true))
        bench.feed(.client(.formChanged(FormChanged(form: "t", revision: 9, content: .deleted))))
        #expect(bench.ending == .noInput)
        #expect(bench.model.failure?.contains("deleted") == true)
    }

    @Test("a control that goes away gives the focus to the one that came after it")
    func removedUnderFocus() throws {
        var bench = try LiveBench(form)
        bench.focus("speed")
        bench.pass(milliseconds: 1)
        bench.press(.right)
        let other = form.split(separator: "\n").filter { !$0.contains("id: speed") }
            .joined(separator: "\n")
        bench.feed(try LiveBench.defined(other))
        #expect(bench.model.focusedField == "name")
        #expect(bench.model.activeEdit == nil)
        #expect(bench.screen().contains("the form changed"))
    }

    @Test("presence is told at most 25 times a second, and the last one is not lost")
    func throttled() throws {
        var bench = try LiveBench(form)
        bench.pass(milliseconds: 100)
        bench.focus("speed")
        let before = bench.told.count
        for _ in 0..<20 {
            bench.press(.right)
            bench.pass(milliseconds: 2)
        }
        #expect(bench.told.count - before <= 3)
        bench.pass(milliseconds: 60)
        #expect(bench.told.last?.draft == 100)
    }

    @Test("a control that goes from under the hand keeps the text, and the focus stays near")
    func hidden() throws {
        var bench = try LiveBench(form)
        bench.changed("flavor", "vanilla")
        bench.focus("other")
        bench.changed("flavor", "chocolate")
        #expect(bench.model.focusedField != "other")
        #expect(bench.model.focus != nil)
    }

    @Test("of wheels only those that were turned are sent, so that two people turn two")
    func wheels() throws {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - id: source
                type: wheels
                components:
                  - {id: name, options: [salary, rent]}
                  - {id: tax, options: [fixed, variable]}
            """)
        bench.press(.enter, .down)
        bench.changed("source", ["name": "salary", "tax": "variable"])
        bench.press(.enter)
        #expect(bench.edits.map(\.action) == [.value(["name": "rent"])])
        #expect(bench.value("source") == ["name": "rent", "tax": "variable"])
    }

    @Test("under the prompt Enter ends with the value, Esc with 1, ^C with 130")
    func pick() throws {
        var bench = try LiveBench(form, mode: .pick(field: "flavor", sets: false))
        bench.press(.right, .enter)
        #expect(bench.ending == .done)
        #expect(bench.model.picked == "vanilla")
        #expect(bench.edits.isEmpty)
        var left = try LiveBench(form, mode: .pick(field: "region", sets: true))
        left.press(.escape)
        #expect(left.ending == .notMet)
        var interrupted = try LiveBench(form, mode: .pick(field: "region", sets: true))
        interrupted.press(.character("c"), .control)
        #expect(interrupted.ending == .interrupted)
        var set = try LiveBench(form, mode: .pick(field: "region", sets: true))
        set.type("us\r")
        #expect(set.ending == nil)
        set.answer()
        #expect(set.ending == .done)
        #expect(set.model.picked == "us")
    }
}
