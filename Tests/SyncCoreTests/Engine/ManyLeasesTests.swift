import EngineTestKit
import Testing

@testable import SyncCore

/// Values that end by themselves, in numbers that a user can reach: others are served meanwhile.
@Suite struct ManyLeasesTests {
    private let host: EngineHost
    private let alice: ConnectionID

    init() throws {
        host = try EngineHost()
        alice = host.connect(uid: 0, user: "root")
    }

    private func apply(_ form: String, fields: Int) {
        let fields = (0..<fields).map { #"{"id":"t\#($0)","type":"toggle"}"# }
        succeed(
            alice, "form.apply",
            #"{"definition":{"form":"\#(form)","fields":[\#(fields.joined(separator: ","))]}}"#)
    }

    private func succeed(_ client: ConnectionID, _ method: String, _ params: String) {
        let answer = host.ask(
            client, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
        #expect(answer.contains { $0.contains(#""result""#) }, "\(answer)")
    }

    private func lease(
        _ client: ConnectionID, _ form: String, _ fields: Range<Int>, _ end: String,
        value: Bool = true
    ) {
        let changes = fields.map { #"{"field":"t\#($0)","value":\#(value)}"# }
        succeed(
            client, "state.set",
            #"{"form":"\#(form)","changes":[\#(changes.joined(separator: ","))],"lease":\#(end)}"#)
    }

    /// The fields of a form that are leased.
    private func leased(_ form: String) throws -> Int {
        try #require(host.engine.form(named: form)).working.cells.count {
            $0.content.leases != nil
        }
    }

    @Test("of many forms whose leases end together, some end in one event, and all end")
    func together() throws {
        let forms = (0..<6).map { "f\($0)" }
        for form in forms {
            apply(form, fields: 300)
            lease(alice, form, 0..<300, #"{"until":"2026-11-18T12:00:00Z"}"#)
        }
        #expect(try forms.map(leased) == Array(repeating: 300, count: 6))
        host.milliseconds += 3_600_000
        for ended in [2, 2] {
            host.run(.iterationEnded)
            #expect(try forms.count { try leased($0) == 0 } == ended, "others are served first")
        }
        #expect(host.engine.schedule.deadline > host.engine.now.monotonicNanoseconds)
        for _ in 0..<2 { host.pass(milliseconds: 1_000) }
        #expect(try forms.map(leased) == Array(repeating: 0, count: 6))
        for form in forms {
            #expect(host.engine.form(named: form)?.working.revision == 3, "one revision a form")
        }
    }

    @Test("10,000 leases want one timer, for the earliest of them")
    func oneTimer() throws {
        let forms = (0..<10).map { "f\($0)" }
        for (number, form) in forms.enumerated() {
            apply(form, fields: 1_000)
            for part in 0..<10 {
                let seconds = 3_600 + 10 * number + part
                let fields = part * 100..<(part + 1) * 100
                lease(alice, form, fields, #"{"seconds":\#(seconds)}"#)
            }
        }
        #expect(host.engine.clocks.deadlines.count == 10_000)
        // The timer is the longest wait until the first lease is due, whatever happens meanwhile.
        host.pass(milliseconds: 3_599_000)
        for _ in 0..<3 {
            host.ask(alice, #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)
            let now = host.engine.now.monotonicNanoseconds
            #expect((now + 1...now + 1_000_000_000).contains(host.engine.schedule.deadline))
            #expect(host.engine.clocks.deadlines.count == 10_000)
        }
        host.pass(milliseconds: 1_000)
        #expect(try leased("f0") == 900 && leased("f1") == 1_000)
        #expect(host.engine.clocks.deadlines.count == 9_900)
    }

    @Test("what was due while the daemon was away ends before the first request, all of it")
    func start() throws {
        let forms = (0..<6).map { "f\($0)" }
        for form in forms {
            apply(form, fields: 300)
            lease(alice, form, 0..<300, #"{"seconds":60}"#)
        }
        host.kill()
        host.milliseconds += 3_600_000
        try host.start()
        #expect(try forms.map(leased) == Array(repeating: 0, count: 6))
    }

    @Test("holders that leave together cost nothing then; their leases end together")
    func departures() throws {
        apply("f", fields: 40)
        let holders = (0..<20).map { _ in host.connect() }
        for (place, holder) in holders.enumerated() {
            lease(holder, "f", 2 * place..<2 * place + 2, #"{"while":"connection"}"#)
        }
        let before = host.engine.clocks.deadlines
        for holder in holders { host.disconnect(holder) }
        let form = try #require(host.engine.form(named: "f"))
        #expect(host.engine.clocks.deadlines.count == before.count)
        for field in 0..<40 {
            let name = Deadlines.Name(
                form: form.key, name: OngoingName(kind: Engine.leaseKind, id: "t\(field)"))
            #expect(host.engine.clocks.deadlines[name] == before[name])
        }
        let revision = form.working.revision
        host.pass(milliseconds: 29_999)
        #expect(try leased("f") == 40)
        host.pass(milliseconds: 1)
        #expect(try leased("f") == 0)
        #expect(form.working.revision == revision + 1)
    }

    @Test("who held leases that others replaced is forgotten in the end")
    func replaced() throws {
        apply("f", fields: 1)
        let form = try #require(host.engine.form(named: "f"))
        for round in 0..<5_000 {
            lease(
                alice, "f", 0..<1, #"{"while":"connection"}"#, value: round.isMultiple(of: 2))
        }
        #expect(form.leaseHolders.count <= 2 * LeaseHolders.replacedMax)
        #expect(try leased("f") == 1)
        // The one before is still held, so an undo brings it back.
        succeed(alice, "state.undo", #"{"form":"f"}"#)
        host.pass(milliseconds: 10)
        #expect(try leased("f") == 1)
    }

    @Test("a connection that leases fields of one form after the other forgets those that are gone")
    func goneForms() throws {
        for _ in 0..<500 {
            apply("f", fields: 1)
            lease(alice, "f", 0..<1, #"{"while":"connection"}"#)
            succeed(alice, "form.delete", #"{"form":"f"}"#)
        }
        let holder = try #require(host.engine.connections[alice]?.leaseHolder)
        #expect(holder.forms.count <= 64)
    }
}
