import EngineTestKit
import Testing

@testable import SyncCore

/// History and undo of one user while another one floods.
@Suite("Another's flood and my history")
struct KeptHistoryTests {
    private static let form = #"""
        {"form":"f","fields":[{"id":"count","type":"stepper","min":0,"max":1000},
          {"id":"note","type":"text"}]}
        """#

    private func host(_ durability: Durability = .commit) throws -> EngineHost {
        var limits = Limits()
        limits.historyRevisionsMax = 50
        limits.historyRevisionsPerUser = 10
        let host = try EngineHost(durability: durability, limits: limits)
        let root = host.connect(uid: 0, user: "root")
        ask(host, root, "form.apply", #"{"definition":\#(Self.form)}"#)
        return host
    }

    @discardableResult
    private func ask(
        _ host: EngineHost, _ client: ConnectionID, _ method: String, _ params: String
    ) -> String {
        host.ask(client, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
            .joined()
    }

    private func add(_ host: EngineHost, _ client: ConnectionID, _ amount: Int) {
        let change = #"{"field":"count","increment":\#(amount)}"#
        ask(host, client, "state.set", #"{"form":"f","changes":[\#(change)]}"#)
    }

    /// Six hundred edits, after which the store is asked to prune.
    private func flood(_ host: EngineHost, _ client: ConnectionID) {
        for number in 0..<600 {
            let change = #"{"field":"note","value":"\#(number)"}"#
            ask(host, client, "state.set", #"{"form":"f","changes":[\#(change)]}"#)
        }
        host.pass(milliseconds: 700_000)
    }

    private func undo(_ host: EngineHost, _ client: ConnectionID, _ more: String = "") -> String {
        ask(host, client, "state.undo", #"{"form":"f"\#(more)}"#)
    }

    private func crash(_ host: EngineHost, _ durability: Durability) throws {
        try host.crash(newEpoch: durability != .commit, newLogs: durability != .commit)
    }

    @Test(
        "six hundred edits of another leave my undo and my history", arguments: [false, true],
        [Durability.commit, .memory])
    func flooded(isRestarted: Bool, durability: Durability) throws {
        let host = try host(durability)
        var alice = host.connect(uid: 1000, user: "alice")
        add(host, alice, 5)
        add(host, alice, 7)
        flood(host, host.connect(uid: 1001, user: "mallory"))
        #expect((host.store.revisions[1] ?? [:]).count == 50)
        if isRestarted {
            try crash(host, durability)
            alice = host.connect(uid: 1000, user: "alice")
        }
        let history = ask(host, alice, "state.history", #"{"form":"f","limit":1000}"#)
        #expect(history.contains(#""value":5,"#) && history.contains(#""value":12,"#))
        #expect(history.contains(#""more":false"#))
        #expect(undo(host, alice).contains(#""value":5,"#))
        #expect(undo(host, alice).contains(#""value":0,"#))
        #expect(undo(host, alice).contains("nothing to undo"))
        // A client cannot resume from what is kept beyond the newest.
        guard isRestarted else { return }
        let since = #"{"form":"f","since":{"log":"\#(try log(host))","revision":2}}"#
        #expect(ask(host, alice, "state.subscribe", since).contains(#""resumed":false"#))
    }

    private func log(_ host: EngineHost) throws -> String {
        try #require(host.store.forms.values.first).log
    }

    @Test(
        "what another took back is not taken back once more after a flood and a start",
        arguments: [Durability.commit, .memory])
    func takenBackOnce(durability: Durability) throws {
        let host = try host(durability)
        let root = host.connect(uid: 0, user: "root")
        let alice = host.connect(uid: 1000, user: "alice")
        add(host, root, 100)
        add(host, alice, 5)
        #expect(undo(host, root, #","scope":"anyone""#).contains(#""value":100,"#))
        flood(host, root)
        try crash(host, durability)
        let again = host.connect(uid: 1000, user: "alice")
        #expect(undo(host, again).contains("nothing to undo"))
    }

    @Test("what another did again is not done once more after a flood and a start")
    func doneAgainOnce() throws {
        let host = try host()
        let root = host.connect(uid: 0, user: "root")
        let alice = host.connect(uid: 1000, user: "alice")
        add(host, root, 100)
        add(host, alice, 5)
        #expect(undo(host, alice).contains(#""value":100,"#))
        let again = ask(host, root, "state.redo", #"{"form":"f","scope":"anyone"}"#)
        #expect(again.contains(#""value":105,"#))
        flood(host, root)
        try host.crash()
        let back = host.connect(uid: 1000, user: "alice")
        #expect(ask(host, back, "state.redo", #"{"form":"f"}"#).contains("nothing to redo"))
        #expect(undo(host, back).contains("nothing to undo"))
    }

    @Test(
        "what another took a part of can be taken back in its other fields after a start",
        arguments: [0, 5, 40], [Durability.commit, .memory])
    func otherFields(edits: Int, durability: Durability) throws {
        var limits = Limits()
        limits.undoDepthMax = 20
        let host = try EngineHost(durability: durability, limits: limits)
        let root = host.connect(uid: 0, user: "root")
        ask(host, root, "form.apply", #"{"definition":\#(Self.form)}"#)
        var alice = host.connect(uid: 1000, user: "alice")
        add(host, alice, 1)
        let both = #"{"field":"count","value":7},{"field":"note","value":"both"}"#
        ask(host, alice, "state.set", #"{"form":"f","changes":[\#(both)]}"#)
        let part = undo(host, root, #","scope":"anyone","field":"note""#)
        #expect(part.contains(#""value":"","#))
        // So many that root's own undo is not in what is read back.
        for number in 0..<edits {
            let change = #"{"field":"note","value":"\#(number)"}"#
            ask(host, root, "state.set", #"{"form":"f","changes":[\#(change)]}"#)
        }
        host.pass(milliseconds: 20_000)
        try crash(host, durability)
        alice = host.connect(uid: 1000, user: "alice")
        let undone = undo(host, alice)
        #expect(undone.contains(#""value":1,"#) && undone.contains(#""skipped":[]"#))
        #expect(!undone.contains("note"), "that is root's by now")
        #expect(undo(host, alice).contains(#""value":0,"#))
        #expect(undo(host, alice).contains("nothing to undo"))
    }

    @Test("after a start all of it can be taken back, though another is at work")
    func contended() throws {
        let host = try host()
        let alice = host.connect(uid: 1000, user: "alice")
        for _ in 0..<30 { add(host, alice, 1) }
        try host.crash()
        let again = host.connect(uid: 1000, user: "alice")
        let flooder = host.connect(uid: 1001, user: "mallory")
        let ping = Frame.encode(text: Array(#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.utf8))
        for left in (0..<30).reversed() {
            host.sendBytes(flooder, (0..<200).flatMap { _ in ping })
            #expect(undo(host, again).contains(#""value":\#(left),"#))
        }
    }

    @Test(
        "with too many transactions, the user with the most loses the oldest, by number and bytes")
    func journal() {
        func record(_ uid: UInt32, _ number: UInt64) -> RevisionRecord {
            let replica = ReplicaID(id: 1, epoch: 1)
            let step = UndoStep(
                field: "a",
                action: .write(UndoStep.Trace(dot: Dot(replica, number), over: []), was: nil))
            return RevisionRecord(
                kind: .set, at: 0,
                by: Author(
                    user: "u", uid: uid, client: nil, tty: nil, connection: 1, replica: replica),
                .details(.init(undo: [step])))
        }
        var journal = UndoJournal()
        var revision: UInt64 = 0
        func append(_ uid: UInt32, _ count: Int, bytes: Int = 1) {
            for _ in 0..<count {
                revision += 1
                journal.append(
                    record(uid, revision), bytes: bytes, revision: revision, depthMax: 12)
            }
        }
        /// The revisions that `uid` can undo, newest first.
        func kept(_ uid: UInt32) -> [UInt64] {
            var (journal, found) = (journal, [UInt64]())
            let owner = UndoJournal.Owner(uid: uid, session: nil)
            while let next = journal.newest(.undo, owner: owner, field: nil) {
                found.append(next.revision)
                journal.consume(next.revision, fields: ["a"])
            }
            return found
        }
        append(1, 3)
        append(2, 100)
        #expect(kept(1) == [3, 2, 1])
        #expect(kept(2) == Array(UInt64(95)...103).reversed())
        append(3, 100)
        #expect(kept(1) == [3, 2, 1])
        #expect(kept(2).count + kept(3).count == 9 && kept(2).count >= 4)
        #expect(journal.count == 12)
        #expect(journal.newest(.undo, owner: nil, field: "a")?.revision == 203)
        append(3, 4, bytes: 2 << 20)
        #expect(kept(1) == [3, 2, 1], "who holds most bytes pays")
        #expect(kept(3).count <= 2 && kept(3).first == 207)
    }

    @Test("the forms of a user take no more history together than the bound, the largest pays")
    func bytesPerUser() throws {
        var limits = Limits()
        limits.historyBytesMax = 1 << 20
        limits.historyBytesPerUserMax = 1 << 20
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        for name in ["a", "b", "c", "quiet"] {
            let fields = #"[{"id":"t","type":"text","maxLength":4000}]"#
            ask(
                host, root, "form.apply",
                #"{"definition":{"form":"\#(name)","fields":\#(fields)}}"#)
        }
        for number in 0..<900 {
            let name = ["a", "b", "c"][number % 3]
            let value = String(repeating: "x", count: 3000) + "\(number)"
            for form in number % 60 == 0 ? [name, "quiet"] : [name] {
                ask(
                    host, root, "state.set",
                    #"{"form":"\#(form)","changes":[{"field":"t","value":"\#(value)"}]}"#)
            }
        }
        let revisions = host.store.revisions.mapValues(\.values)
        let bytes = revisions.mapValues { $0.reduce(0) { $0 + $1.frame.count + $1.record.count } }
        let all = bytes.values.reduce(0, +)
        #expect(all < 5 << 18, "\(all) bytes")
        #expect(all > 3 << 18, "\(all) bytes")
        #expect(revisions[4]?.count == 16, "the small one keeps all")
        for form in 1...3 as ClosedRange<FormKey> {
            #expect(bytes[form, default: 0] > 1 << 17)
            #expect(revisions[form]?.map(\.revision).max() == 301)
        }
    }
}
