import EngineTestKit
import Testing

@testable import SyncCore

/// Presses and handlers in numbers that a user can reach: others are served meanwhile.
@Suite struct ManyRunsTests {
    private let host: EngineHost
    private let root: ConnectionID
    private static let buttons = 6

    init() throws {
        host = try EngineHost()
        root = host.connect(uid: 0, user: "root")
        let buttons = (0..<Self.buttons).map { #"{"id":"b\#($0)","type":"button","runs":"queue"}"# }
        succeed(
            root, "form.apply",
            #"{"definition":{"form":"f","fields":[\#(buttons.joined(separator: ","))]}}"#)
    }

    private func succeed(_ client: ConnectionID, _ method: String, _ params: String) {
        let answer = host.ask(
            client, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
        #expect(answer.contains { $0.contains(#""result""#) }, "\(answer)")
    }

    private func pressAll(times: Int) {
        let presses = (0..<Self.buttons).map { #"{"field":"b\#($0)","press":true}"# }
        for _ in 0..<times {
            succeed(
                root, "state.set", #"{"form":"f","changes":[\#(presses.joined(separator: ","))]}"#)
        }
    }

    /// The presses that wait or run.
    private func active() throws -> Int {
        let state = try #require(host.engine.form(named: "f")).working
        return state.busyButtons.reduce(0) { $0 + $1.board.active.count }
    }

    @Test("of many presses that are due together, some end in one event, and all end")
    func together() throws {
        let handler = host.connect(uid: 0, user: "root")
        succeed(handler, "button.handle", #"{"form":"f"}"#)
        pressAll(times: 90)
        #expect(try active() == 540)
        host.disconnect(handler)
        host.run(.iterationEnded)
        // All of them wait for a handler from now on, and equally long.
        host.milliseconds += 31_000
        var left = 540
        for _ in 0..<3 {
            host.run(.iterationEnded)
            let now = try active()
            #expect(now < left && left - now <= Engine.runStepsAtOnce + 32, "\(left), then \(now)")
            left = now
            // Others have their turn.
            #expect(host.engine.schedule.deadline > host.engine.now.monotonicNanoseconds)
            host.milliseconds += 1_000
        }
        for _ in 0..<20 { host.pass(milliseconds: 1_000) }
        #expect(try active() == 0)
    }

    @Test("a press waits from the moment when its last handler left, whenever that is looked at")
    func since() throws {
        let handlers = (0..<40).map { _ in host.connect(uid: 0, user: "root") }
        for handler in handlers {
            succeed(handler, "button.handle", #"{"form":"f","fields":["b0"]}"#)
        }
        for _ in 0..<50 {
            succeed(root, "state.set", #"{"form":"f","changes":[{"field":"b0","press":true}]}"#)
        }
        #expect(try active() == 50)
        for handler in handlers { host.disconnect(handler) }
        host.pass(milliseconds: 29_999)
        #expect(try active() == 50)
        host.pass(milliseconds: 1)
        for _ in 0..<5 { host.pass(milliseconds: 12) }
        #expect(try active() == 0)
    }

    @Test("a handler is told once that its run is to be cancelled, however often somebody asks")
    func cancellations() throws {
        let stranger = host.connect(uid: 2000, user: "eve")
        let ops = host.connect(uid: 0, user: "root")
        succeed(ops, "button.handle", #"{"form":"f"}"#)
        succeed(root, "state.set", #"{"form":"f","changes":[{"field":"b0","press":true}]}"#)
        let state = try #require(host.engine.form(named: "f")).working
        let run = try #require(state.board(0).running.first)
        _ = host.take(ops)
        for _ in 0..<100 {
            succeed(
                root, "button.cancel", #"{"form":"f","field":"b0","press":"\#(run.press)"}"#)
        }
        #expect(host.take(ops).count { $0.contains("button.cancelled") } == 1)
        // One that takes the run over is told too.
        host.disconnect(ops)
        let ticket = try #require(run.ticket?.text)
        let next = host.connect(uid: 0, user: "root")
        succeed(next, "button.handle", #"{"form":"f","tickets":["\#(ticket)"]}"#)
        #expect(host.take(next).count { $0.contains("button.cancelled") } == 1)
        // A ticket is worth nothing to who does not have it.
        let guess = host.ask(
            stranger,
            #"{"jsonrpc":"2.0","id":1,"method":"button.finish","params":{"press":"\#(run.press)","ticket":"1-1-1","outcome":"done"}}"#
        )
        #expect(guess.contains { $0.contains("forbidden") })
    }
}
