import EngineTestKit
import SyncCore
import Testing

/// When the store rejects the operations of a batch on one form.
@Suite struct EngineFormFailureTests {
    /// Two forms, and alice, who watches both.
    private static let beginning = #"""
        connect root
        connect alice
        root> form.apply {"definition":@ice}
        root< {"result":{"created":true}}
        root> form.apply {"definition":@policies}
        root< {"result":{"created":true}}
        alice> state.subscribe {"form":"ice"}
        alice< {"result":{"revision":1,"log":"$ice"}}
        alice> state.subscribe {"form":"policies"}
        alice< {"result":{"revision":1,"log":"$policies"}}

        """#

    @Test("its edits are answered internal with a report; others go on in the same logs")
    func oneFormFails() throws {
        let host = try EngineHost()
        try Conversation.play(
            Self.beginning + #"""
                refuse ice
                hold
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                root> state.set {"form":"policies","changes":[{"field":"stop","value":true}]}
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]} !
                root> state.set {"form":"policies","changes":[{"field":"ask","value":"b"}]} !
                release
                root< {"error":{"code":-32603,"data":{"kind":"internal","form":"ice","report":1}}}
                root< {"result":{"revision":2}}
                root< {"error":{"code":-32603,"data":{"kind":"internal","form":"ice","report":1}}}
                root< {"result":{"revision":3}}
                alice< {"method":"state.changed","params":{"form":"policies","revision":2}}
                alice< {"method":"state.changed","params":{"form":"policies","revision":3}}
                alice> state.get {"form":"ice","fields":["scoops"]}
                alice< {"result":{"log":"$ice","revision":1,"fields":{"scoops":{"value":2}}}}
                alice> state.get {"form":"policies","fields":["ask"]}
                alice< {"result":{"log":"$policies","revision":3}}
                root> server.status
                root< {"result":{"writable":true,"forms":{"count":2,"readOnly":1}}}
                """#, host: host)
        #expect(!host.rebuildAsked)
        #expect(host.log.contains { $0.message.contains("report 1: the store refused") })
    }

    @Test("it is read only until the daemon starts again, and then as it was")
    func readOnlyUntilRestart() throws {
        try Conversation.play(
            Self.beginning + #"""
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":5}]}
                root< {"result":{"revision":2}}
                alice< {"method":"state.changed","params":{"revision":2}}
                refuse ice
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                root< {"error":{"code":-32603}}
                refuse
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                root< {"error":{"code":-32603,"data":{"report":1}}}
                root> state.undo {"form":"ice"}
                root< {"error":{"code":-32603,"data":{"report":1}}}
                root> form.setOptions {"form":"ice","field":"flavor","options":["mint"]}
                root< {"error":{"code":-32603,"data":{"report":1}}}
                root> form.apply {"definition":@ice}
                root< {"error":{"code":-32603,"data":{"report":1}}}
                root> form.apply {"definition":@ice,"dryRun":true}
                root< {"result":{"created":false}}
                root> state.history {"form":"ice"}
                root< {"result":{"entries":[{"revision":2},{"revision":1}]}}
                crash
                connect root
                root> state.get {"form":"ice","fields":["scoops"]}
                root< {"result":{"log":"$ice","revision":2,"fields":{"scoops":{"value":5}}}}
                root> state.undo {"form":"ice"}
                root< {"result":{"revision":3,"fields":{"scoops":{"value":2}}}}
                """#)
    }

    @Test("a key under which it was refused is unused; who asks again beside it gets the same")
    func keys() throws {
        try Conversation.play(
            Self.beginning + #"""
                refuse ice
                hold
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}],"idempotencyKey":"k"}
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}],"idempotencyKey":"k"} !
                release
                root< {"error":{"code":-32603}}
                root< {"error":{"code":-32603}}
                refuse
                crash
                connect root
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}],"idempotencyKey":"k"}
                root< {"result":{"revision":2}}
                """#)
    }

    @Test("a creation that is refused leaves nothing behind, a deletion leaves the form")
    func comingAndGoing() throws {
        try Conversation.play(
            Self.beginning + #"""
                refuse odd
                root> form.apply {"definition":@odd}
                root< {"error":{"code":-32603}}
                root> state.get {"form":"odd"}
                root< {"error":{"code":-32001}}
                refuse
                root> form.apply {"definition":@odd}
                root< {"result":{"created":true,"revision":1}}
                refuse ice
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                root< {"error":{"code":-32603}}
                root> form.delete {"form":"ice"}
                root< {"result":{}}
                alice< {"method":"form.changed","params":{"form":"ice","deleted":true}}
                refuse
                root> form.apply {"definition":@ice}
                root< {"result":{"created":true,"revision":1}}
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                root< {"result":{"revision":2}}
                """#)
    }

    @Test("below commit what was told remains, and no more edits are taken")
    func toldEarly() throws {
        let host = try EngineHost(durability: .memory)
        try Conversation.play(
            Self.beginning + #"""
                refuse ice
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                root< {"result":{"revision":2}}
                alice< {"method":"state.changed","params":{"form":"ice","revision":2}}
                pass 11000
                root> state.get {"form":"ice","fields":["scoops"]}
                root< {"result":{"log":"$ice","revision":2,"fields":{"scoops":{"value":3}}}}
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
                root< {"error":{"code":-32603,"data":{"report":1}}}
                root> state.set {"form":"policies","changes":[{"field":"stop","value":true}]}
                root< {"result":{"revision":2}}
                alice< {"method":"state.changed","params":{"form":"policies","revision":2}}
                """#, host: host)
        #expect(!host.rebuildAsked)
    }
}
