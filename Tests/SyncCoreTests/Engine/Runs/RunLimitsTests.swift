import EngineTestKit
import Testing

@testable import SyncCore

/// Limits of presses that are reached, or change while the daemon runs.
@Suite struct RunLimitsTests {
    private let host: EngineHost
    private let root: ConnectionID
    private let handler: ConnectionID

    init() throws {
        var limits = Limits()
        limits.outcomesMax = 2
        host = try EngineHost(limits: limits)
        root = host.connect(uid: 0, user: "root")
        handler = host.connect(uid: 0, user: "root")
        let form = #"{"form":"f","fields":[{"id":"go","type":"button","runs":"queue"}]}"#
        ask(root, "form.apply", #"{"definition":\#(form)}"#)
        ask(handler, "button.handle", #"{"form":"f"}"#)
    }

    @discardableResult
    private func ask(_ id: ConnectionID, _ method: String, _ params: String) -> [String] {
        host.ask(id, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
    }

    /// Presses the button; returns what ends the run.
    private func press() throws -> String {
        _ = host.take(handler)
        ask(root, "state.set", #"{"form":"f","changes":[{"field":"go","press":true}]}"#)
        let assigned = try #require(host.take(handler).last { $0.contains("button.assigned") })
        let run = try #require(try JSON(parsing: assigned)["params"])
        let (press, ticket) = (try #require(run["press"]), try #require(run["ticket"]))
        return #"{"press":\#(press.encodedText),"ticket":\#(ticket.encodedText),"outcome":"done"}"#
    }

    private func finish(_ run: String) -> Bool {
        ask(handler, "button.finish", run).contains { $0.contains(#""result""#) }
    }

    private func outcomes() throws -> Int {
        let form = try #require(host.engine.form(named: "f"))
        return form.working.ongoing.rows(ofKind: RunRow.kind)
            .compactMap { try? RunRow(decoding: $0.state) }.count(where: \.run.state.isFinal)
    }

    @Test("an outcome that a failed batch would have forgotten is forgotten by the next end")
    func failedBatch() throws {
        for _ in 0..<2 { #expect(try finish(press())) }
        let run = try press()
        host.storeFails = true
        #expect(!finish(run))
        host.storeFails = false
        host.pass(milliseconds: 31_000)
        #expect(!host.isStoreBroken)
        #expect(finish(run))
        #expect(try outcomes() == 2)
    }

    private func configure(_ change: (inout Limits) -> Void) {
        var configuration = host.configuration
        change(&configuration.limits)
        host.run(.configure(configuration))
    }

    @Test("a time in which a handler may come back holds from its change on")
    func reclaimSeconds() throws {
        _ = try press()
        configure { $0.reclaimSeconds = 1 }
        host.disconnect(handler)
        host.pass(milliseconds: 2_000)
        #expect(try outcomes() == 1)
    }

    @Test("a lower number of outcomes holds from the next end on")
    func lowerLimit() throws {
        for _ in 0..<2 { #expect(try finish(press())) }
        configure { $0.outcomesMax = 1 }
        #expect(try finish(press()))
        #expect(try outcomes() == 1)
    }
}
