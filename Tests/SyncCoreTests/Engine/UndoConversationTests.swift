import EngineTestKit
import SyncCore
import Testing

// Undo and redo, and repeated requests.

@Suite struct EngineUndoTests {
    @Test("undo goes back step by step, redo forth again, also after a restart")
    func undoSteps() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice uid=1000
            alice> state.set {"form":"ice","changes":[{"field":"flavor","value":"vanilla"},{"field":"note","value":"one"}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"ice","changes":[{"field":"flavor","value":"strawberry"}]}
            alice< {"result":{"revision":3}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
            alice< {"result":{"revision":4}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}]}
            alice< {"result":{"revision":5}}
            alice> state.set {"form":"ice","changes":[{"field":"days","add":["tue"]}]}
            alice< {"result":{"revision":6,"fields":{"days":{"value":["mon","tue"]}}}}
            alice> state.set {"form":"ice","changes":[{"field":"go","press":true}]}
            alice< {"result":{"revision":7}}
            crash
            connect alice uid=1000
            alice> state.undo {"form":"ice"}
            alice< {"result":{"revision":8,"skipped":[],"fields":{"days":{"value":["mon"],"set":false}}}}
            alice> state.undo {"form":"ice"}
            alice< {"result":{"fields":{"scoops":{"value":4}}}}
            alice> state.undo {"form":"ice"}
            alice< {"result":{"fields":{"scoops":{"value":2,"set":false}}}}
            alice> state.undo {"form":"ice"}
            alice< {"result":{"fields":{"flavor":{"value":"vanilla"}}}}
            crash
            connect alice uid=1000
            alice> state.undo {"form":"ice"}
            alice< {"result":{"fields":{"flavor":{"value":"chocolate","set":false},"note":{"value":"","set":false}}}}
            alice> state.undo {"form":"ice"}
            alice< {"error":{"code":-32003}}
            alice> state.redo {"form":"ice"}
            alice< {"result":{"fields":{"flavor":{"value":"vanilla"},"note":{"value":"one"}}}}
            alice> state.redo {"form":"ice"}
            alice< {"result":{"fields":{"flavor":{"value":"strawberry"}}}}
            alice> state.redo {"form":"ice"}
            alice< {"result":{"fields":{"scoops":{"value":4}}}}
            alice> state.redo {"form":"ice"}
            alice< {"result":{"fields":{"scoops":{"value":5}}}}
            alice> state.redo {"form":"ice"}
            alice< {"result":{"fields":{"days":{"value":["mon","tue"]}}}}
            alice> state.redo {"form":"ice"}
            alice< {"error":{"code":-32003}}
            alice> state.undo {"form":"ice","field":"flavor"}
            alice< {"result":{"fields":{"flavor":{"value":"vanilla"}}}}
            # a new edit ends redo
            alice> state.set {"form":"ice","changes":[{"field":"note","value":"two"}]}
            alice< {"result":"*"}
            alice> state.redo {"form":"ice"}
            alice< {"error":{"code":-32003}}
            """#)
    }

    @Test("an undo takes back the whole increment, though a bound was moved below the sum")
    func undoBelowBound() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":{"form":"dial","fields":[{"id":"count","type":"stepper","min":0,"max":12}]}}
            root< {"result":{"created":true}}
            connect alice uid=1000
            alice> state.set {"form":"dial","changes":[{"field":"count","increment":7}]}
            alice< {"result":{"fields":{"count":{"value":7}}}}
            root> form.apply {"definition":{"form":"dial","fields":[{"id":"count","type":"stepper","min":0,"max":5}]}}
            root< {"result":{"version":2}}
            alice> state.get {"form":"dial"}
            alice< {"result":{"fields":{"count":{"value":5}}}}
            alice> state.undo {"form":"dial"}
            alice< {"result":{"fields":{"count":{"value":0}}}}
            """#)
    }

    @Test("an undo that agrees with a concurrent value leaves no conflict")
    func undoAgrees() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            connect mary
            connect peter
            mary> state.get {"form":"policies"}
            mary< {"result":{"context":"$start"}}
            mary> state.set {"form":"policies","changes":[{"field":"ask","value":"b"}],"context":"$start"}
            mary< {"result":{"revision":2}}
            peter> state.set {"form":"policies","changes":[{"field":"ask","value":"c"}],"context":"$start"}
            peter< {"result":{"fields":{"ask":{"value":"c","conflict":[{"value":"b"}]}}}}
            mary> state.subscribe {"form":"policies"}
            mary< {"result":{"revision":3}}
            peter> state.undo {"form":"policies"}
            peter< {"result":{"revision":4,"fields":{"ask":{"value":"b","!conflict":0}}}}
            mary< {"params":{"revision":4,"changes":[{"field":"ask","value":"b","!conflict":0}]}}
            mary> state.get {"form":"policies","fields":["ask"]}
            mary< {"result":{"fields":{"ask":{"value":"b","!conflict":0}}}}
            """#)
    }

    @Test("undo leaves alone what others overwrote, keeps what they added, and knows sessions")
    func undoOthers() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice uid=1000
            connect bob
            alice> state.set {"form":"ice","changes":[{"field":"flavor","value":"vanilla"},{"field":"note","value":"a"}]}
            alice< {"result":{"revision":2}}
            bob> state.set {"form":"ice","changes":[{"field":"flavor","value":"strawberry"}]}
            bob< {"result":{"revision":3}}
            alice> state.undo {"form":"ice"}
            alice< {"result":{"revision":4,"skipped":["flavor"],"fields":{"note":{"value":""},"!flavor":0}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}]}
            alice< {"result":{"fields":{"scoops":{"value":3}}}}
            bob> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}]}
            bob< {"result":{"fields":{"scoops":{"value":4}}}}
            alice> state.undo {"form":"ice"}
            alice< {"result":{"fields":{"scoops":{"value":3}}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","increment":-1}]}
            alice< {"result":{"fields":{"scoops":{"value":2}}}}
            bob> state.set {"form":"ice","changes":[{"field":"scoops","value":5}]}
            bob< {"result":{"fields":{"scoops":{"value":5}}}}
            # a set by somebody who saw it took alice's increment in: there is nothing left of it
            alice> state.undo {"form":"ice"}
            alice< {"error":{"code":-32003,"data":{"fields":{"scoops":{"value":5}}}}}
            alice> state.undo {"form":"ice","scope":"anyone"}
            alice< {"result":{"fields":{"scoops":{"value":2}}}}
            # sessions
            connect one uid=1000
            connect two uid=1000
            one> hello {"protocol":1,"client":"t/1","session":"s1"}
            one< {"result":"*"}
            two> hello {"protocol":1,"client":"t/1","session":"s2"}
            two< {"result":"*"}
            one> state.set {"form":"ice","changes":[{"field":"note","value":"by one"}]}
            one< {"result":"*"}
            two> state.undo {"form":"ice"}
            two< {"error":{"code":-32003}}
            one> state.undo {"form":"ice"}
            one< {"result":{"fields":{"note":{"value":""}}}}
            """#)
    }

    @Test("the same key answers the first answer: before the commit, later, after a restart")
    func keys() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice uid=1000
            connect again uid=1000
            connect bob
            hold
            alice> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"k"}
            again> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"k"}
            release
            alice< {"result":{"revision":2,"context":"$token","fields":{"scoops":{"value":3}}}}
            again< {"result":{"revision":2,"context":"$token","fields":{"scoops":{"value":3}}}}
            again> state.set {"form":"ice","changes":[{"field":"scoops","increment":2}],"idempotencyKey":"k"}
            again< {"error":{"code":-32602,"data":{"path":"idempotencyKey"}}}
            # each uid has its own
            bob> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"k"}
            bob< {"result":{"revision":3}}
            # a refusal is not remembered
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":99}],"idempotencyKey":"r"}
            alice< {"error":{"code":-32002}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":1}],"idempotencyKey":"r"}
            alice< {"result":{"revision":4}}
            crash
            connect alice uid=1000
            connect again uid=1000
            hold-fetches
            alice> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"k"}
            again> state.set {"form":"ice","changes":[{"field":"scoops","increment":3}],"idempotencyKey":"k"}
            fetch
            alice< {"result":{"revision":2,"context":"$token"}}
            again< {"error":{"code":-32602}}
            alice> state.get {"form":"ice"}
            alice< {"result":{"revision":4}}
            """#)
    }

    @Test("below commit, what was answered stays answered though the store failed meanwhile")
    func failureBelowCommit() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            pass 1000
            hold
            root> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"k"}
            root< {"result":{"revision":2,"fields":{"scoops":{"value":3}}}}
            pass 1000
            fail
            release
            root> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"k"}
            root< {"result":{"revision":2,"fields":{"scoops":{"value":3}}}}
            pass 1000
            crash
            connect root
            root> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"k"}
            root< {"result":{"revision":2,"fields":{"scoops":{"value":3}}}}
            root> state.get {"form":"ice"}
            root< {"result":{"revision":2}}
            """#, host: try EngineHost(durability: .interval))
    }
}
