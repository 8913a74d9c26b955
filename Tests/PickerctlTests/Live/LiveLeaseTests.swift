import PickerClient
import SyncCore
import TerminalUI
import Testing

@testable import pickerctl

@Suite("values that end by themselves are counted down")
struct LiveLeaseTests {
    private static let form = """
        form: t
        fields:
          - {id: maintenance, type: toggle}
          - {id: traffic, type: slider, max: 100}
        """

    /// Time passes, on the wall clock too.
    private func pass(milliseconds: UInt64, _ bench: inout LiveBench) {
        let wall = bench.model.around.clock().milliseconds + Int64(milliseconds)
        bench.model.around.clock = { Timestamp(milliseconds: wall) }
        bench.pass(milliseconds: milliseconds)
    }

    private func bench(seconds: Int64) throws -> LiveBench {
        var bench = try LiveBench(Self.form)
        bench.changed(
            "maintenance", true,
            lease: FieldLease(
                id: "a.1:1", until: Timestamp(milliseconds: seconds * 1_000),
                by: LiveBench.author(LiveBench.bob, "bob"), then: nil))
        return bench
    }

    @Test("the rest stands at the right of the value, and changes each second without the daemon")
    func countdown() throws {
        var bench = try bench(seconds: 2 * 3_600)
        #expect(bench.screen().contains("2:00:00 then off"))
        let tick = try #require(bench.model.deadline)
        #expect(tick <= bench.now + 1_000_000_000)
        pass(milliseconds: 48_000, &bench)
        #expect(bench.screen().contains("1:59:12 then off"), "\(bench.screen())")
        #expect(bench.sent.isEmpty)
        bench.changed("maintenance", true)
        #expect(!bench.screen().contains("then off"))
    }

    @Test("the last minute is in the warning colour; a value is written as the control shows it")
    func lastMinute() throws {
        var bench = try bench(seconds: 61)
        #expect(bench.model.lease(0)?.isEnding == false)
        pass(milliseconds: 1_000, &bench)
        #expect(
            bench.model.lease(0)?.text == "1:00 then off" && bench.model.lease(0)?.isEnding == true)
        pass(milliseconds: 90_000, &bench)
        #expect(bench.model.lease(0)?.text == "0:00 then off")
        bench.changed(
            "traffic", 20,
            lease: FieldLease(
                id: "a.1:2", until: nil, by: LiveBench.author(LiveBench.bob, "bob"), then: 50))
        #expect(bench.model.lease(1)?.text == "held, then 50")
    }

    @Test("an answer that is not a time is refused in words", arguments: [80, 40])
    func notTime(columns: Int) throws {
        var bench = try LiveBench(Self.form, columns: columns)
        bench.focus("traffic")
        bench.type("L")
        bench.type("5x")
        #expect(!bench.screen().contains("not a time"))
        bench.press(.enter)
        #expect(bench.screen().contains("not a time"), "\(bench.screen())")
        #expect(bench.screen().contains("5x"), "\(bench.screen())")
        bench.press(.backspace)
        #expect(!bench.screen().contains("not a time"), "\(bench.screen())")
    }

    @Test("a lease of another host is shown with it, and the host where it should have ended")
    func elsewhere() throws {
        var bench = try LiveBench(Self.form)
        bench.changed("maintenance", true)
        func tell(_ members: String) throws {
            let text = #"{"form":"t","peers":[],"hosts":[{"host":"web1"\#(members)}]}"#
            let change = try PresenceChanged(decoding: try JSON(parsing: Array(text.utf8)))
            bench.feed(.client(.presence(change)))
        }
        let lease =
            #","leases":[{"field":"maintenance","write":"a.1:1","id":"x","until":"#
            + #""1970-01-01T00:01:30Z","by":{"user":"bob","uid":1,"connection":1,"#
            + #""replica":"a.1"},"then":{"unset":true},"host":"web1"}]"#
        try tell(lease)
        #expect(bench.model.lease(0)?.text == "1:30 then off (web1)")
        #expect(bench.screen().contains("1:30 then off (web1)"), "\(bench.screen())")
        pass(milliseconds: 1_000, &bench)
        #expect(bench.screen().contains("1:29 then off (web1)"), "\(bench.screen())")
        pass(milliseconds: 90_000, &bench)
        #expect(bench.model.lease(0)?.text == "0:00 then off (web1)")
        try tell(lease + #","awaySince":"1970-01-01T00:00:30Z""#)
        #expect(bench.model.lease(0)?.text == "web1 is away")
        #expect(bench.screen().contains("web1 is away"), "\(bench.screen())")
        try tell("")
        #expect(bench.model.lease(0) == nil)
    }
}
