import EngineTestKit
import Testing

@testable import SyncCore

/// What a form has under way beside its values, in the engine.
@Suite struct OngoingTests {
    private let first = OngoingName(kind: "test", id: "1")
    private let second = OngoingName(kind: "test", id: "2")

    private func started() throws -> EngineHost {
        let host = try EngineHost()
        let alice = host.connect(uid: 0)
        apply(Forms.ice, alice, host)
        return host
    }

    private func apply(_ definition: String, _ client: ConnectionID, _ host: EngineHost) {
        host.ask(
            client,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + definition + "}}")
    }

    private func form(_ host: EngineHost) throws -> LiveForm {
        try #require(host.engine.forms.first)
    }

    @Test("it is visible and stored with its batch, and read at the next start")
    func committed() throws {
        let host = try started()
        let form = try form(host)
        host.holdsCommits = true
        host.engine.note([1], as: first, of: form)
        host.engine.note([2], as: second, of: form)
        #expect(form.working.ongoing[first] == [1] && form.committed.ongoing[first] == nil)
        host.settle()
        host.engine.note(nil, as: second, of: form)
        host.commit()
        #expect(form.committed.ongoing[second] == [2], "its removal is in the next batch")
        host.settle()
        host.commit()
        #expect(form.committed.ongoing[second] == nil)
        try host.crash()
        let again = try self.form(host).committed.ongoing
        #expect(again[first] == [1] && again[second] == nil)
        #expect(again.rows(ofKind: "test").map(\.id) == ["1"])
    }

    @Test("a failed batch takes it back, and the rebuilt store has what was committed")
    func failed() throws {
        let host = try started()
        let form = try form(host)
        host.engine.note([1], as: first, of: form)
        host.settle()
        host.holdsCommits = true
        host.engine.note([9], as: first, of: form)
        host.engine.note([2], as: second, of: form)
        host.settle()
        host.failCommit(isWritten: true)
        host.settle()
        #expect(form.working.ongoing[first] == [1] && form.working.ongoing[second] == nil)
        #expect(host.store.ongoing[form.key]?.mapValues(\.state) == [first: [1]])
    }

    @Test("it stays through a new definition, and goes with the form")
    func redefined() throws {
        let host = try started()
        host.engine.note([1], as: first, of: try form(host))
        let root = host.connect(uid: 0)
        let other = Forms.ice.replacing(#""maxLength":20"#, with: #""maxLength":30"#)
        apply(other, root, host)
        #expect(try form(host).committed.version == 2)
        #expect(try form(host).committed.ongoing[first] == [1])
        let key = try form(host).key
        host.ask(
            root, #"{"jsonrpc":"2.0","id":2,"method":"form.delete","params":{"form":"ice"}}"#)
        #expect(host.store.ongoing[key] == nil)
    }

    @Test("ten thousand deadlines want one timer, for the earliest")
    func oneTimer() throws {
        let host = try started()
        let form = try form(host)
        let steady = host.engine.clocks.steadyMilliseconds()
        for number in 1...10_000 {
            host.engine.clocks.deadlines.set(
                Deadlines.Name(form: form.key, name: OngoingName(kind: "test", id: "\(number)")),
                at: .steady(steady + 4_000 + Int64(number)))
        }
        host.settle()
        let now = host.engine.now.monotonicNanoseconds
        #expect(host.engine.nextDeadline == now + 4_001_000_000)
        host.milliseconds += 3_000
        host.run(.iterationEnded)
        #expect(
            host.engine.nextDeadline == now + 4_001_000_000, "time that passed is not counted twice"
        )
    }
}
