import EngineTestKit
import SyncCore
import Testing

/// The undo journal, created from the store's revisions when it is first needed.
@Suite("Undo from the store")
struct StoredUndoTests {
    private func host(_ durability: Durability = .commit) throws -> (EngineHost, ConnectionID) {
        let host = try EngineHost(durability: durability)
        let root = host.connect(uid: 0, user: "root")
        let definition = #"{"form":"f","fields":[{"id":"note","type":"text"}]}"#
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(definition)}}"#
        )
        return (host, root)
    }

    private func set(_ host: EngineHost, _ client: ConnectionID, _ text: String) {
        host.call(
            client,
            .stateSet(StateSet(form: "f", changes: [Change(field: "note", .value(.string(text)))])))
    }

    private func connect(
        _ host: EngineHost, _ uid: UInt32, _ session: String
    ) -> ConnectionID {
        let client = host.connect(uid: uid, user: "user\(uid)")
        host.call(client, .hello(Hello(client: "test", session: session)))
        return client
    }

    private func value(_ host: EngineHost) throws -> String? {
        let client = host.connect(uid: 0, user: "root")
        let answer = host.call(client, .stateGet(StateGet(form: "f")))[0]
        return ["one", "two", "three", "four"].first { answer.contains("\"value\":\"\($0)\"") }
    }

    @Test("edits from before a restart are taken back behind those after it, each once")
    func acrossARestart() throws {
        let (host, before) = try host()
        for text in ["one", "two", "three"] { set(host, before, text) }
        #expect(try host.restart())
        let root = host.connect(uid: 0, user: "root")
        set(host, root, "four")
        for expected in ["three", "two", "one"] {
            host.call(root, .stateUndo(StateUndo(form: "f")))
            #expect(try value(host) == expected)
        }
        host.call(root, .stateRedo(StateUndo(form: "f")))
        #expect(try value(host) == "two")
    }

    @Test("edits on their way to the store are taken back too", arguments: Durability.allCases)
    func onTheirWay(durability: Durability) throws {
        let (host, before) = try host(durability)
        set(host, before, "one")
        #expect(try host.restart())
        let root = host.connect(uid: 0, user: "root")
        host.holdsCommits = true
        set(host, root, "two")
        set(host, root, "three")
        host.holdsFetches = true
        host.call(root, .stateUndo(StateUndo(form: "f")))
        host.answerFetches()
        host.holdsCommits = false
        host.commit()
        host.settle()
        #expect(try value(host) == "two")
        host.call(root, .stateUndo(StateUndo(form: "f")))
        #expect(try value(host) == "one")
    }

    @Test("undo reverts the edits before a failed batch, and not those in it")
    func afterAFailure() throws {
        let (host, root) = try host()
        for text in ["one", "two"] { set(host, root, text) }
        host.holdsCommits = true
        set(host, root, "three")
        host.failCommit()
        host.holdsCommits = false
        host.settle()
        #expect(try value(host) == "two")
        host.call(root, .stateUndo(StateUndo(form: "f")))
        #expect(try value(host) == "one")
    }

    /// A reset is undone, redone and undone again by several users, so the store returns only the
    /// last of these undos for the journal. It restores the value of alice's edit all the same.
    @Test(
        "an edit whose value others restored several times is undone, also after a restart",
        arguments: [
            #"{"type":"text"}"#: #""one""#, #"{"type":"slider","min":0,"max":9}"#: "5",
            #"{"type":"picker","multiple":true,"options":["a","b"]}"#: #"["a"]"#,
            #"{"type":"wheels","components":[{"id":"y","options":["a","b"]}]}"#: #"{"y":"b"}"#,
        ], 0...3)
    func restoredByOthers(field: (key: String, value: String), redos: Int) throws {
        let host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        func ask(_ client: ConnectionID, _ method: String, _ params: String) -> String {
            host.ask(
                client, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(params)}}"#
            ).joined()
        }
        let control = #"{"id":"x",\#(field.key.dropFirst())"#
        _ = ask(root, "form.apply", #""definition":{"form":"f","fields":[\#(control)]}"#)
        let (alice, bob) = (connect(host, 1000, "a"), connect(host, 1001, "b"))
        let carol = connect(host, 1002, "c")
        _ = ask(
            alice, "state.set", #""form":"f","changes":[{"field":"x","value":\#(field.value)}]"#)
        _ = ask(bob, "state.set", #""form":"f","changes":[{"field":"x","reset":true}]"#)
        _ = ask(bob, "state.undo", #""form":"f""#)
        for _ in 0..<redos {
            _ = ask(carol, "state.redo", #""form":"f","scope":"anyone""#)
            let undone = ask(bob, "state.undo", #""form":"f","scope":"anyone""#)
            #expect(undone.contains(#""value":\#(field.value)"#), "\(undone)")
        }
        #expect(try host.restart())
        let again = connect(host, 1000, "a")
        let answer = ask(again, "state.undo", #""form":"f""#)
        #expect(answer.contains(#""set":false"#), "\(answer)")
    }

    @Test("tags that were added one by one, and restored together, are undone one by one")
    func tagsRestoredByOthers() throws {
        let host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        let tags = (1...12).map { "t\($0)" }
        let options = tags.map { #""\#($0)""# }.joined(separator: ",")
        let control = #"{"id":"x","type":"picker","multiple":true,"options":[\#(options)]}"#
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","#
                + #""fields":[\#(control)]}}}"#)
        func change(_ client: ConnectionID, _ action: Change.Action) {
            host.call(
                client, .stateSet(StateSet(form: "f", changes: [Change(field: "x", action)])))
        }
        let (alice, bob) = (connect(host, 1000, "a"), connect(host, 1001, "b"))
        let carol = connect(host, 1002, "c")
        for tag in tags { change(alice, .add([.string(tag)])) }
        change(bob, .reset)
        let anyone = StateUndo(form: "f", field: nil, scope: .anyone)
        host.call(bob, .stateUndo(anyone))
        for _ in 0..<2 {
            host.call(carol, .stateRedo(anyone))
            host.call(bob, .stateUndo(anyone))
        }
        #expect(try host.restart())
        let again = connect(host, 1000, "a")
        for _ in tags {
            let answer = host.call(again, .stateUndo(StateUndo(form: "f"))).joined()
            #expect(answer.contains(#""skipped":[]"#), "\(answer)")
        }
        #expect(
            host.call(again, .stateGet(StateGet(form: "f"))).joined().contains(#""value":[]"#))
    }

    /// One user undoes an edit and makes another, which ends their redo. Then others undo that edit,
    /// and undo or redo this again: as many times as there are users. Each has a session.
    @Test("a redo that an edit ended remains ended after a restart", arguments: 0...3)
    func endedRedo(others: Int) throws {
        let (host, _) = try host()
        let alice = connect(host, 1000, "a")
        set(host, alice, "one")
        host.call(alice, .stateUndo(StateUndo(form: "f")))
        set(host, alice, "two")
        for number in 0..<others {
            let other = connect(host, 1001 + UInt32(number), "b")
            let params = StateUndo(form: "f", field: nil, scope: .anyone)
            host.call(other, number == 1 ? .stateRedo(params) : .stateUndo(params))
        }
        let before = try value(host)
        #expect(before == (others % 2 == 0 ? "two" : nil))
        for restarts in 0...1 {
            if restarts > 0 { #expect(try host.restart()) }
            let again = restarts > 0 ? connect(host, 1000, "a") : alice
            let answer = host.call(again, .stateRedo(StateUndo(form: "f")))
            #expect(answer.contains { $0.contains("nothing to redo") })
            #expect(try value(host) == before)
        }
    }

    @Test("an edit that others have undone does not end the redo of another session of its author")
    func redoOfAnotherSession() throws {
        let (host, _) = try host()
        let (one, other) = (connect(host, 1000, "one"), connect(host, 1000, "other"))
        set(host, one, "one")
        host.call(one, .stateUndo(StateUndo(form: "f")))
        set(host, other, "two")
        host.call(
            connect(host, 1001, "b"), .stateUndo(StateUndo(form: "f", field: nil, scope: .anyone)))
        #expect(try host.restart())
        host.call(connect(host, 1000, "one"), .stateRedo(StateUndo(form: "f")))
        #expect(try value(host) == "one")
    }

    @Test("two retries of one undo that wait for the store take back one edit")
    func retried() throws {
        let (host, before) = try host()
        for text in ["one", "two", "three"] { set(host, before, text) }
        #expect(try host.restart())
        let (one, two) = (host.connect(uid: 0, user: "root"), host.connect(uid: 0, user: "root"))
        host.holdsFetches = true
        var undo = StateUndo(form: "f")
        undo.idempotencyKey = "k"
        host.call(one, .stateUndo(undo))
        host.call(two, .stateUndo(undo))
        host.answerFetches()
        host.settle()
        #expect(try value(host) == "two")
    }
}
