import EngineTestKit
import Testing

@testable import SyncCore

/// Many presses of buttons with `runs` in one transaction: what they cost is bounded.
@Suite struct ManyPressesTests {
    private func host(
        _ button: String, limits: Limits = Limits(), durability: Durability = .commit
    ) throws -> (host: EngineHost, client: ConnectionID) {
        let host = try EngineHost(durability: durability, limits: limits)
        let client = host.connect(uid: 0, user: "root")
        let text = #"{"id":"t","type":"text","maxLength":40000}"#
        let buttons = ["a", "b"].map { #"{"id":"\#($0)","type":"button",\#(button)}"# }
        let fields = ([text] + buttons).joined(separator: ",")
        let answers = host.ask(
            client, Self.call("form.apply", #"{"definition":{"form":"f","fields":[\#(fields)]}}"#))
        #expect(answers.contains { $0.contains(#""created":true"#) }, "\(answers)")
        return (host, client)
    }

    private static func call(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    }

    private static func press(_ count: Int, text: String? = nil) -> String {
        let presses = (0..<count).map {
            #"{"field":"\#($0.isMultiple(of: 2) ? "a" : "b")","press":true}"#
        }
        let sets = text.map { [#"{"field":"t","value":"\#($0)"}"#] } ?? []
        let changes = (sets + presses).joined(separator: ",")
        return call("state.set", #"{"form":"f","changes":[\#(changes)]}"#)
    }

    private func waiting(_ host: EngineHost) throws -> Int {
        let state = try #require(host.engine.form(named: "f")).working
        return state.busyButtons.reduce(0) { $0 + $1.board.waiting.count }
    }

    @Test("a transaction presses as often as it may write values; a press counts fifteen")
    func values() throws {
        var limits = Limits()
        limits.valuesMax = 1_500
        let (host, client) = try host(#""runs":"latest","waitsFor":"1h""#, limits: limits)
        let refused = host.ask(client, Self.press(101))
        #expect(refused.contains { $0.contains(#""limit":"valuesMax""#) }, "\(refused)")
        #expect(try waiting(host) == 0)
        let accepted = host.ask(client, Self.press(100))
        #expect(accepted.contains { $0.contains(#""result""#) }, "\(accepted)")
        #expect(try waiting(host) == 2)
    }

    @Test("the presses of one transaction keep no more values than those of several")
    func bytes() throws {
        var limits = Limits()
        limits.queueBytesMax = 100_000
        let (host, client) = try host(#""runs":"queue","waitsFor":"1h""#, limits: limits)
        // The text is part of the same transaction: each press would keep all of it.
        let long = String(repeating: "x", count: 30_000)
        let refused = host.ask(client, Self.press(5, text: long))
        #expect(refused.contains { $0.contains(#""limit":"queueBytesMax""#) }, "\(refused)")
        #expect(try waiting(host) == 0)
        #expect(try #require(host.engine.form(named: "f")).working.revision == 1)
        let accepted = host.ask(client, Self.press(4, text: long))
        #expect(accepted.contains { $0.contains(#""result""#) }, "\(accepted)")
        #expect(try waiting(host) == 4)
        let more = host.ask(client, Self.press(1))
        #expect(more.contains { $0.contains(#""limit":"queueBytesMax""#) }, "\(more)")
    }

    @Test("a form has so many handlers and no more; who is one already may ask again")
    func handlers() throws {
        var limits = Limits()
        limits.handlersMax = 3
        let (host, client) = try host(#""runs":"queue""#, limits: limits)
        func handle(_ id: ConnectionID, _ fields: String = #"["a"]"#) -> String {
            host.ask(id, Self.call("button.handle", #"{"form":"f","fields":\#(fields)}"#))
                .joined()
        }
        let others = (0..<2).map { _ in host.connect(uid: 0, user: "root") }
        for id in [client] + others { #expect(handle(id).contains(#""result""#)) }
        let late = host.connect(uid: 0, user: "root")
        #expect(handle(late).contains(#""limit":"handlersMax""#))
        #expect(handle(client, #"["b"]"#).contains(#""result""#))
        // One that rests makes place, one that has gone too.
        #expect(handle(others[0], "[]").contains(#""result""#))
        #expect(handle(late).contains(#""result""#))
        host.disconnect(others[1])
        #expect(handle(others[0]).contains(#""result""#))
    }

    @Test("a handler names few patterns, because they are matched for each press")
    func patterns() throws {
        let (host, client) = try host(#""runs":"queue""#)
        let long = (0..<6).map { #""*\#(String(repeating: "x", count: 50))\#($0)*""# }
        let answer = host.ask(
            client,
            Self.call("button.handle", #"{"form":"f","fields":[\#(long.joined(separator: ","))]}"#))
        #expect(answer.contains { $0.contains(#""limit":"globBytesMax""#) }, "\(answer)")
    }

    @Test("each press keeps the values after its transaction")
    func kept() throws {
        let (host, client) = try host(#""runs":"queue","waitsFor":"1h""#)
        host.ask(client, Self.press(2, text: "now"))
        let state = try #require(host.engine.form(named: "f")).working
        let values = state.busyButtons.flatMap { $0.board.waiting.map(\.values) }
        #expect(
            values.map { String(decoding: $0, as: UTF8.self) }
                == Array(
                    repeating: #"{"t":"now","a":{"presses":1},"b":{"presses":1}}"#, count: 2))
    }
}
