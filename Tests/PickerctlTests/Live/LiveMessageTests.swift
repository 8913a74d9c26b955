import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("Messages and leases in the live form")
struct LiveMessageTests {
    private static func bench() throws -> LiveBench {
        var bench = try LiveBench(
            """
            form: t
            fields:
              - {id: traffic, type: slider, label: Traffic, max: 100, message: required}
              - {id: note, type: text, label: Note, message: required}
              - {id: on, type: toggle, label: Maintenance}
              - {id: speed, type: stepper, label: Speed, max: 9}
              - {id: days, type: picker, label: Days, multiple: true, options: [mon, tue]}
            """)
        bench.model.around.clock = { Timestamp(milliseconds: 1_700_000_000_000) }
        return bench
    }

    private func sets(_ bench: LiveBench) -> [StateSet] {
        bench.sent.compactMap { if case .stateSet(let set) = $0.request { set } else { nil } }
    }

    @Test("an edit that needs a message asks for it, with the last one as the answer")
    func required() throws {
        var bench = try Self.bench()
        bench.type("20")
        bench.press(.enter)
        #expect(sets(bench).isEmpty)
        #expect(bench.screen().contains("Traffic → 20: why?"), "\(bench.screen())")
        bench.press(.enter)
        #expect(sets(bench).isEmpty, "an empty message is none")
        bench.type("INC-231")
        bench.press(.enter)
        #expect(sets(bench).map(\.message) == ["INC-231"])
        #expect(sets(bench).first?.changes.first?.action == .value(20))
        bench.type("30")
        bench.press(.enter)
        #expect(bench.screen().contains("INC-231"))
        bench.press(.enter)
        #expect(sets(bench).map(\.message) == ["INC-231", "INC-231"])
    }

    @Test("a button that waits for its message is not drawn as pressed")
    func button() throws {
        var bench = try LiveBench(
            "form: t\nfields: [{id: go, type: button, label: Go, message: required}]")
        bench.press(.enter)
        #expect(bench.screen().contains("Press Go: why?") && bench.model.pressed == nil)
        bench.type("now")
        bench.press(.enter)
        #expect(sets(bench).count == 1)
    }

    @Test("Esc sends nothing; what was typed into a text stays as a draft")
    func withdrawn() throws {
        var bench = try Self.bench()
        bench.press(.down)
        bench.type("hello")
        bench.press(.enter)
        bench.type("half a reason")
        bench.press(.escape)
        #expect(sets(bench).isEmpty)
        #expect(bench.model.drafts["note"]?.text == "hello")
        #expect(bench.screen().contains("Note was not changed"), "\(bench.screen())")
    }

    @Test("a control without the rule asks nothing; M gives the next change a message, once")
    func anywhere() throws {
        var bench = try Self.bench()
        bench.focus("on")
        bench.type("M")
        bench.type("load test")
        bench.press(.enter)
        bench.press(.character(" "))
        bench.press(.character(" "))
        #expect(sets(bench).map(\.message) == ["load test", nil])
    }

    @Test("an invalid value is refused before anybody is asked why")
    func invalid() throws {
        var bench = try Self.bench()
        bench.type("900")
        bench.press(.enter)
        #expect(bench.model.question == nil)
        #expect(bench.model.problems["traffic"] != nil || sets(bench).isEmpty)
    }

    @Test("L: how long the next value stays; an increment becomes a set")
    func nextLease() throws {
        var bench = try Self.bench()
        bench.focus("on")
        bench.type("L")
        bench.type("never")
        bench.press(.enter)
        #expect(bench.model.question != nil, "not an end")
        for _ in 0..<5 { bench.press(.backspace) }
        bench.type("2h30m")
        bench.press(.enter)
        bench.press(.character(" "))
        #expect(sets(bench).map(\.lease) == [.seconds(9_000)])
        bench.focus("speed")
        bench.type("L")
        bench.type("90s")
        bench.press(.enter)
        bench.press(.character("+"))
        #expect(sets(bench).last?.lease == .seconds(90))
        #expect(sets(bench).last?.changes.first?.action == .value(1))
        bench.focus("days")
        bench.type("L")
        #expect(bench.screen().contains("Days cannot have a value that ends"))
    }

    @Test("L on a leased value: keep, end, or another time")
    func lease() throws {
        var bench = try Self.bench()
        bench.focus("on")
        let lease = FieldLease(
            id: "a", until: Timestamp(milliseconds: 1_700_000_600_000),
            by: LiveBench.author(LiveBench.bob, "bob"), then: nil)
        bench.changed("on", true, lease: lease)
        for (answer, action) in [
            ("keep", StateLease.Action.keep), ("end", .end), ("1h", .move(.seconds(3_600))),
        ] {
            bench.type("L")
            #expect(bench.screen().contains("When does Maintenance end?"), "\(bench.screen())")
            bench.type(answer)
            bench.press(.enter)
            guard case .stateLease(let sent)? = bench.sent.last?.request else {
                Issue.record("nothing was sent for \(answer)")
                continue
            }
            #expect(sent.action == action && sent.field == "on")
        }
    }
}
