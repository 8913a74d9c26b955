import EngineTestKit
import SyncCore
import Testing

// Each kind of error: code, kind and details; nothing changes, and nobody else is notified.

@Suite struct EngineRefusalTests {
    @Test("JSON-RPC is followed exactly")
    func jsonRPC() throws {
        try Conversation.play(
            #"""
            connect alice
            alice>> nonsense
            alice< {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"data":{"kind":"parse"}}}
            alice>> {"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}
            alice< {"id":null,"error":{"code":-32700}}
            alice>> {"jsonrpc":"2.0","id":7}
            alice< {"id":7,"error":{"code":-32600,"data":{"kind":"invalidRequest"}}}
            alice>> {"jsonrpc":"1.0","id":8,"method":"ping"}
            alice< {"id":8,"error":{"code":-32600}}
            alice>> []
            alice< {"id":null,"error":{"code":-32600}}
            alice>> [1]
            alice< [{"id":null,"error":{"code":-32600}}]
            alice>> {"jsonrpc":"2.0","id":"a","method":"state.gte","params":{}}
            alice< {"id":"a","error":{"code":-32601,"data":{"kind":"methodNotFound","similar":["state.get","state.set"]}}}
            alice>> {"jsonrpc":"2.0","id":1.5,"method":"ping"}
            alice< {"id":1.5,"result":{}}
            alice>> {"jsonrpc":"2.0","id":null,"method":"ping","params":[]}
            alice< {"id":null,"error":{"code":-32602}}
            alice>> {"jsonrpc":"2.0","method":"ping"}
            alice>> {"jsonrpc":"2.0","method":"no.such"}
            alice>> {"jsonrpc":"2.0","method":"state.get","params":{"form":"none"}}
            alice>> [{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","method":"ping"}]
            alice>> [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","id":2,"method":"nope"}]
            alice< [{"id":2,"error":"*"},{"id":1,"result":{}}]
            alice>> {"jsonrpc":"2.0","id":3,"method":"a\u001b[31m","params":{}}
            alice< {"id":3,"error":{"code":-32601,"message":"no method a\\u{1B}[31m"}}
            alice> hello {"protocol":1,"client":"t/1","future":1}
            alice< {"result":{"protocol":1,"server":"pickersyncd/test","you":{"user":"alice"},"limits":{"maxFrame":1048576}}}
            alice> ping {"x":1}
            alice< {"error":{"code":-32602,"data":{"kind":"invalidParams","path":"x"}}}
            """#)
    }

    @Test(
        "another protocol, or a frame too large, is answered in its turn, and the connection closed"
    )
    func closingErrors() throws {
        var talk = try Conversation()
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice
            connect bob
            alice> hello {"protocol":1}
            alice< {"error":{"code":-32602,"message":"client is missing"}}
            alice> hello {"protocol":2,"name":"t/2"}
            alice< {"error":{"code":-32008,"data":{"kind":"unsupportedProtocol"}}}
            closed alice
            hold
            bob> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            bob> state.get {"form":"ice"}
            """#)
        let bob = ConnectionID(3)
        talk.host.sendBytes(bob, [0xff, 0xff, 0xff, 0xff, 1, 2, 3])
        talk.host.sendBytes(bob, [1, 2, 3])
        try talk.play(
            #"""
            release
            bob< {"result":{"revision":2}}
            bob< {"result":{"revision":2}}
            bob< {"id":null,"error":{"code":-32600,"data":{"kind":"frameTooLarge","max":1048576}}}
            closed bob
            connect carol
            hold
            carol>> [{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"ice","changes":[{"field":"scoops","value":4}]}},{"jsonrpc":"2.0","id":2,"method":"hello","params":{"protocol":9,"client":"x"}},{"jsonrpc":"2.0","id":3,"method":"ping"}]
            release
            carol< [{"id":2,"error":{"code":-32008}},{"id":3,"error":"*"},{"id":1,"result":{"revision":3}}]
            closed carol
            """#)
    }

    @Test("a refusal names the thing, the reason and the next step, and changes nothing")
    func refusals() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect bob
            bob> state.subscribe {"form":"ice"}
            bob< {"result":{"revision":1}}
            connect alice
            alice> state.get {"form":"icy"}
            alice< {"error":{"code":-32001,"message":"~did you mean ice","data":{"kind":"notFound","form":"icy","similar":["ice"]}}}
            alice> state.get {"form":"ice","fields":["flavour"]}
            alice< {"error":{"code":-32001,"data":{"kind":"notFound","field":"flavour","similar":["flavor"]}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":3},{"field":"flavr","value":1}]}
            alice< {"error":{"code":-32001,"data":{"field":"flavr"}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":3},{"field":"flavor","value":"mint"}]}
            alice< {"error":{"code":-32002,"message":"~flavor","data":{"kind":"invalidValue","field":"flavor","expected":"*"}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":9}]}
            alice< {"error":{"code":-32002,"data":{"field":"scoops"}}}
            alice> state.set {"form":"ice","changes":[{"field":"go","value":1}]}
            alice< {"error":{"code":-32002}}
            alice> state.set {"form":"ice","changes":[{"field":"flavor","press":true}]}
            alice< {"error":{"code":-32002}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":1,"reset":true}]}
            alice< {"error":{"code":-32602,"data":{"kind":"invalidParams","path":"changes[0]"}}}
            alice> state.set {"form":"ice","changes":[{"field":"note","value":"a\u0007b"}]}
            alice< {"error":{"code":-32002,"data":{"field":"note"}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":1}],"require":"current"}
            alice< {"error":{"code":-32602,"data":{"path":"context"}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":1}],"context":"rubbish!"}
            alice< {"error":{"code":-32602,"data":{"path":"context"}}}
            alice> form.apply {"definition":@policies}
            alice< {"error":{"code":-32004,"data":{"kind":"forbidden","form":"policies"}}}
            alice> form.delete {"form":"ice"}
            alice< {"error":{"code":-32004,"data":{"kind":"forbidden","form":"ice"}}}
            alice> form.setOptions {"form":"ice","field":"flavor","options":["x"]}
            alice< {"error":{"code":-32004}}
            alice> state.reveal {"form":"ice","field":"note"}
            alice< {"error":{"code":-32002}}
            alice> presence.update {"form":"ice","focus":null}
            alice< {"error":{"code":-32602,"data":{"path":"form"}}}
            alice> state.undo {"form":"ice"}
            alice< {"error":{"code":-32003,"data":{"kind":"conflict"}}}
            alice> state.undo {"form":"ice","field":"nope"}
            alice< {"error":{"code":-32001}}
            root> form.apply {"definition":{"form":"x","fields":[{"id":"a","type":"slider","min":3,"max":1}]}}
            root< {"error":{"code":-32602,"data":{"kind":"invalidParams","path":"~definition.","problems":["*"]}}}
            root> form.apply {"definition":@ice,"ifVersion":7}
            root< {"error":{"code":-32003,"data":{"kind":"conflict"}}}
            root> form.apply {"definition":@policies,"ifVersion":1}
            root< {"error":{"code":-32003}}
            root> form.setOptions {"form":"ice","field":"flavor","options":["x","x"]}
            root< {"error":{"code":-32002,"data":{"field":"flavor"}}}
            root> form.setOptions {"form":"ice","field":"scoops","options":["x"]}
            root< {"error":{"code":-32002}}
            alice> state.get {"form":"ice"}
            alice< {"result":{"revision":1}}
            """#)
    }

    @Test("access: each action, for the form and for a control, and no way around by binding")
    func access() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@guarded}
            root< {"result":{"created":true}}
            connect alice
            connect bob
            connect eve
            eve> state.get {"form":"guarded"}
            eve< {"error":{"code":-32004,"message":"~user:alice","data":{"form":"guarded"}}}
            eve> form.get {"form":"guarded"}
            eve< {"error":{"code":-32004}}
            eve> state.subscribe {"form":"guarded"}
            eve< {"error":{"code":-32004}}
            eve> state.history {"form":"guarded"}
            eve< {"error":{"code":-32004}}
            eve> form.watch
            eve< {"result":{"forms":[]}}
            alice> form.watch
            alice< {"result":{"forms":[{"form":"guarded"}]}}
            alice> state.set {"form":"guarded","changes":[{"field":"name","value":"n"}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"guarded","changes":[{"field":"mine","value":"n"}]}
            alice< {"error":{"code":-32004,"data":{"field":"mine"}}}
            bob> state.set {"form":"guarded","changes":[{"field":"mine","value":"b"}]}
            bob< {"result":{"revision":3}}
            # bob may write the shadow, not what it shows
            bob> state.set {"form":"guarded","changes":[{"field":"shadow","value":"b"}]}
            bob< {"error":{"code":-32004,"data":{"field":"name"}}}
            bob> state.set {"form":"guarded","changes":[{"field":"all","value":true}]}
            bob< {"error":{"code":-32004,"data":{"field":"x"}}}
            bob> state.set {"form":"guarded","changes":[{"field":"y","value":true}]}
            bob< {"result":{"revision":4}}
            alice> state.set {"form":"guarded","changes":[{"field":"go","press":true}]}
            alice< {"error":{"code":-32004,"data":{"field":"go"}}}
            bob> state.set {"form":"guarded","changes":[{"field":"go","press":true}]}
            bob< {"result":{"revision":5}}
            alice> state.set {"form":"guarded","changes":[{"field":"fixed","value":"a"}]}
            alice< {"error":{"code":-32006,"data":{"kind":"disabled","field":"fixed"}}}
            root> state.set {"form":"guarded","changes":[{"field":"fixed","value":"a"}]}
            root< {"result":{"revision":6}}
            alice> state.set {"form":"guarded","changes":[{"field":"password","value":"s3cret"}]}
            alice< {"result":{"revision":7,"fields":{"password":{"value":null,"secret":{"set":true}}}}}
            alice> state.reveal {"form":"guarded","field":"password"}
            alice< {"error":{"code":-32004,"data":{"field":"password"}}}
            bob> state.reveal {"form":"guarded","field":"password"}
            bob< {"result":{"value":"s3cret"}}
            # bob may not take back what he may not write
            bob> state.undo {"form":"guarded","scope":"anyone","field":"name"}
            bob< {"error":{"code":-32004}}
            # presence: a draft from those who may write, never of a secret
            bob> state.subscribe {"form":"guarded","presence":true}
            bob< {"result":{"revision":7}}
            bob< {"method":"presence.changed"}
            bob> presence.update {"form":"guarded","focus":"name","draft":"x"}
            bob< {"error":{"code":-32004}}
            bob> presence.update {"form":"guarded","focus":"shadow","draft":"x"}
            bob< {"error":{"code":-32004,"data":{"field":"name"}}}
            bob> presence.update {"form":"guarded","focus":"fixed","draft":"x"}
            bob< {"error":{"code":-32006}}
            """#)
    }

    @Test("who may not read a form any more is not told of it any more")
    func accessRevoked() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":{"form":"f","fields":[{"id":"a","type":"text"}]}}
            root< {"result":{"created":true}}
            connect alice
            alice> form.watch
            alice< {"result":{"forms":["*"]}}
            alice> state.subscribe {"form":"f"}
            alice< {"result":{"revision":1}}
            root> form.apply {"definition":{"form":"f","access":{"read":["owner"]},"fields":[{"id":"a","type":"text"},{"id":"b","type":"text"}]}}
            root< {"result":{"version":2}}
            alice< {"method":"form.changed","params":{"form":"f","revision":2,"deleted":true,"!definition":0}}
            root> state.set {"form":"f","changes":[{"field":"a","value":"x"}]}
            root< {"result":{"revision":3}}
            """#)
    }

    @Test("conditions are judged on the state after the whole transaction")
    func conditions() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@conditions}
            root< {"result":{"created":true}}
            connect alice
            alice> state.set {"form":"conditions","changes":[{"field":"name","value":"x"}]}
            alice< {"error":{"code":-32006,"data":{"kind":"disabled","field":"name"}}}
            alice> state.set {"form":"conditions","changes":[{"field":"name","value":"x"},{"field":"on","value":true}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"conditions","changes":[{"field":"name","value":"y"},{"field":"on","value":false}]}
            alice< {"error":{"code":-32006}}
            alice> state.set {"form":"conditions","changes":[{"field":"never","value":"x"}]}
            alice< {"error":{"code":-32006,"data":{"field":"never"}}}
            alice> state.set {"form":"conditions","changes":[{"field":"send","press":true}]}
            alice< {"error":{"code":-32006,"data":{"field":"send"}}}
            alice> state.get {"form":"conditions","fields":["must"]}
            alice< {"result":{"fields":{"must":{"missing":true}}}}
            alice> state.set {"form":"conditions","changes":[{"field":"send","press":true},{"field":"must","value":"x"}]}
            alice< {"result":{"revision":3}}
            """#)
    }

    @Test("quotas: connections, subscriptions, keys, drafts, forms")
    func quotas() throws {
        var limits = Limits()
        limits.connectionsPerUserMax = 2
        limits.subscriptionsPerUserMax = 1
        limits.formsPerUserMax = 2
        limits.keysPerUserMax = 1
        limits.draftsPerSecondMax = 2
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice,"idempotencyKey":"a"}
            root< {"result":{"created":true}}
            root> form.apply {"definition":@policies,"idempotencyKey":"b"}
            root< {"error":{"code":-32005,"data":{"kind":"limit","limit":"keysPerUserMax","max":1}}}
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            root> form.apply {"definition":@odd}
            root< {"error":{"code":-32005,"data":{"limit":"formsPerUserMax","max":2}}}
            root> state.subscribe {"form":"ice","presence":true}
            root< {"result":{"revision":1}}
            root< {"method":"presence.changed"}
            root> state.subscribe {"form":"policies"}
            root< {"error":{"code":-32005,"data":{"limit":"subscriptionsPerUserMax"}}}
            root> presence.update {"form":"ice","focus":"note","draft":"a"}
            root< {"result":{}}
            root< {"method":"presence.changed","params":{"peers":[{"focus":"note","draft":"a"}]}}
            root> presence.update {"form":"ice","focus":"note","draft":"a\u0007"}
            root< {"error":{"code":-32002}}
            root> presence.update {"form":"ice","focus":"note","draft":"ab"}
            root< {"error":{"code":-32005,"data":{"limit":"draftsPerSecondMax","max":2}}}
            pass 1000
            root> presence.update {"form":"ice","focus":"note","draft":"abc"}
            root< {"result":{}}
            root< {"method":"presence.changed"}
            connect two uid=0
            two> ping
            two< {"result":{}}
            connect three uid=0
            three< {"id":null,"error":{"code":-32005,"data":{"limit":"connectionsPerUserMax","max":2}}}
            three< {"method":"goodbye","params":{"reason":"policy"}}
            closed three
            """#, host: try EngineHost(limits: limits))
    }
}
