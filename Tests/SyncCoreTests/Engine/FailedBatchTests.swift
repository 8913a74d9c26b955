import EngineTestKit
import Testing

@testable import SyncCore

/// What was dropped with a batch, and what comes back with the store.
@Suite struct FailedBatchTests {
    @Test("leases that fell due while their form was read only end once the store was rebuilt")
    func dueWhileReadOnly() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}],"lease":{"seconds":60}}
            root< {"result":{"revision":2}}
            refuse ice
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
            root< {"error":{"code":-32603}}
            pass 120000
            refuse
            hold
            root> state.set {"form":"policies","changes":[{"field":"stop","value":true}]}
            fail
            root< {"error":{"data":{"kind":"unavailable"}}}
            release
            pass 1000
            root> state.get {"form":"ice","fields":["scoops"]}
            root< {"result":{"fields":{"scoops":{"value":2,"!lease":0}}}}
            """#)
    }

    @Test("who held a lease that a failed batch brings back has time to come again")
    func holders() throws {
        var conversation = try Conversation(["deploy": LeaseTests.form])
        try conversation.play(
            #"""
            connect root
            connect alice
            connect bob
            root> form.apply {"definition":@deploy}
            root< {"result":{"created":true}}
            bob> state.set {"form":"deploy","changes":[{"field":"traffic","value":20}],"lease":{"seconds":10}}
            bob< {"result":{"revision":2}}
            alice> state.set {"form":"deploy","changes":[{"field":"maintenance","value":true}],"lease":{"while":"connection"}}
            alice< {"result":{"revision":3}}
            disconnect alice
            hold
            bob> state.set {"form":"deploy","changes":[{"field":"maintenance","value":false}]}
            pass 11000
            fail
            bob< {"error":{"data":{"kind":"unavailable"}}}
            release
            pass 1000
            bob> state.get {"form":"deploy","fields":["maintenance"]}
            bob< {"result":{"fields":{"maintenance":{"value":true,"lease":{"while":"connection"}}}}}
            pass 60000
            bob> state.get {"form":"deploy","fields":["maintenance"]}
            bob< {"result":{"fields":{"maintenance":{"value":false,"!lease":0}}}}
            """#)
    }

    @Test("a key whose answer was sent is not pending once the store has it")
    func sentAnswers() throws {
        let host = try EngineHost(durability: .memory)
        let root = host.connect(uid: 0, user: "root")
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[{"id":"t","type":"text"}]}}}"#
        )
        host.pass(milliseconds: 11_000)
        host.holdsCommits = true
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"a"}],"idempotencyKey":"k"}}"#
        )
        host.failCommit()
        host.settle()
        let knowledge = host.engine.link.keys.lookUp(host.engine.link.keys.id(0, "k"))
        guard case .answered(_, _, let pending) = knowledge else {
            Issue.record("the key is not known")
            return
        }
        #expect(pending == nil, "it would never leave the memory")
    }

    @Test("a read behind an edit that was refused for another replica id is answered")
    func anotherReplica() throws {
        let fleet = try JoinTests.Fleet(JoinTests.note)
        let copy = fleet.hosts[0].store
        for text in ["a", "b"] { fleet.set("note", .string(text), 0) }
        let newest = try fleet.hosts[0].engine.takeShared().suffix(1)
        let twin = try EngineHost(
            seed: 7, replica: fleet.hosts[0].replica, copyOf: copy,
            link: LinkConfiguration(host: "h0", forms: [Glob("shared")]))
        twin.settle()
        let client = twin.connect(uid: 0, user: "root")
        twin.send(
            client,
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"shared","changes":[{"field":"note","value":"c"}]}}"#
        )
        twin.send(
            client, #"{"jsonrpc":"2.0","id":2,"method":"state.get","params":{"form":"shared"}}"#)
        #expect(twin.join(Array(newest)) == [.notNow])
        twin.settle()
        let frames = twin.take(client)
        #expect(frames.count == 2, "\(frames)")
        #expect(frames.first?.contains("unavailable") == true)
        #expect(frames.last?.contains(#""result""#) == true)
    }
}
