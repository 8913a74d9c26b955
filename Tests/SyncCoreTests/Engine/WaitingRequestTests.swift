import EngineTestKit
import SyncCore
import Testing

/// A request that waited for the store passes the same checks as one that arrives later.
@Suite struct WaitingRequestTests {
    /// Three revisions only in the store, and `$log`.
    private static let stored = #"""
        connect root
        root> form.apply {"definition":@ice}
        root< {"result":{"created":true}}
        root> form.apply {"definition":@guarded}
        root< {"result":{"created":true}}
        root> form.get {"form":"ice"}
        root< {"result":{"log":"$ice"}}
        root> form.get {"form":"guarded"}
        root< {"result":{"log":"$guarded"}}
        root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}],"idempotencyKey":"k"}
        root< {"result":{"revision":2}}
        root> state.set {"form":"guarded","changes":[{"field":"name","value":"n"}]}
        root< {"result":{"revision":2}}
        crash
        connect root

        """#

    @Test("subscriptions that are read at once from the store stay within subscriptionsPerUserMax")
    func subscriptions() throws {
        var limits = Limits()
        limits.subscriptionsPerUserMax = 2
        try Conversation.play(
            Self.stored + #"""
                connect one uid=1000
                connect two uid=1000
                connect three uid=1000
                hold-fetches
                one> state.subscribe {"form":"ice","since":{"log":"$ice","revision":0}}
                two> state.subscribe {"form":"ice","since":{"log":"$ice","revision":0}}
                three> state.subscribe {"form":"ice","since":{"log":"$ice","revision":0}}
                fetch
                fetch
                fetch
                fetch
                one< {"result":{"resumed":true}}
                two< {"result":{"resumed":true}}
                three< {"error":{"code":-32005,"data":{"limit":"subscriptionsPerUserMax","max":2}}}
                one< {"method":"form.changed","params":{"revision":1}}
                one< {"method":"state.changed","params":{"revision":2}}
                two< {"method":"form.changed","params":{"revision":1}}
                two< {"method":"state.changed","params":{"revision":2}}
                """#, host: EngineHost(limits: limits))
    }

    @Test("a subscription is refused where its field or its access went while the store was read")
    func fieldsAndAccess() throws {
        try Conversation.play(
            Self.stored + #"""
                connect alice user=alice
                connect bob user=bob
                hold-fetches
                alice> state.subscribe {"form":"guarded","since":{"log":"$guarded","revision":0}}
                bob> state.subscribe {"form":"guarded","fields":["fixed"],"since":{"log":"$guarded","revision":0}}
                root> form.apply {"definition":{"form":"guarded","access":{"read":["user:bob"]},"fields":[{"id":"name","type":"text"}]}}
                root< {"result":{"version":2}}
                fetch
                alice< {"error":{"code":-32004,"data":{"form":"guarded"}}}
                bob< {"error":{"code":-32001,"data":{"field":"fixed"}}}
                """#)
    }

    @Test("a history is not told to somebody who may not read the form any more")
    func history() throws {
        try Conversation.play(
            Self.stored + #"""
                connect alice user=alice
                hold-fetches
                alice> state.history {"form":"guarded"}
                root> form.apply {"definition":{"form":"guarded","access":{"read":["user:bob"]},"fields":[{"id":"name","type":"text"}]}}
                root< {"result":{"version":2}}
                fetch
                alice< {"error":{"code":-32004,"data":{"form":"guarded"}}}
                """#)
    }

    @Test("an edit that waited while the daemon began to stop is left to the next one, unanswered")
    func stop() throws {
        try Conversation.play(
            Self.stored + #"""
                connect undoer uid=0
                connect retrier uid=0
                hold-fetches
                undoer> state.undo {"form":"ice"}
                retrier> state.set {"form":"ice","changes":[{"field":"scoops","value":3}],"idempotencyKey":"k"}
                hold
                root> state.set {"form":"guarded","changes":[{"field":"name","value":"m"}]}
                shutdown
                fetch
                undoer< {"method":"goodbye","params":{"reason":"restart"}}
                retrier< {"result":{"revision":2}}
                release
                root< {"result":{"revision":3}}
                root< {"method":"goodbye"}
                retrier< {"method":"goodbye"}
                """#)
    }
}
