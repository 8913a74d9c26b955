import EngineTestKit
import SyncCore
import Testing

// Edits: concurrent, of every kind; secrets; forms in use.

@Suite struct EngineEditTests {
    @Test("two who picked at the same time: ask keeps both until somebody chooses")
    func askPolicy() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            connect mary
            connect peter
            connect watcher
            watcher> state.subscribe {"form":"policies"}
            watcher< {"result":{"context":"$start"}}
            mary> state.set {"form":"policies","changes":[{"field":"ask","value":"b"}],"context":"$start"}
            mary< {"result":{"revision":2,"context":"$mary","fields":{"ask":{"value":"b","!conflict":0}}}}
            watcher< {"params":{"revision":2}}
            peter> state.set {"form":"policies","changes":[{"field":"ask","value":"c"}],"context":"$start"}
            peter< {"result":{"revision":3,"context":"$peter","fields":{"ask":{"value":"c","conflict":[{"value":"b","by":{"user":"mary"}}]}}}}
            watcher< {"params":{"revision":3,"context":"$all","changes":[{"field":"ask","value":"c","was":"b","conflict":[{"value":"b"}]}]}}
            watcher> state.get {"form":"policies","fields":["ask"]}
            watcher< {"result":{"fields":{"ask":{"value":"c","conflict":[{"value":"b"}]}}}}
            # peter has not seen mary's: his next edit leaves it
            peter> state.set {"form":"policies","changes":[{"field":"ask","value":"a"}],"context":"$peter"}
            peter< {"result":{"revision":4,"fields":{"ask":{"value":"a","conflict":[{"value":"b"}]}}}}
            watcher< {"params":{"revision":4,"context":"$now"}}
            # choosing what stands, with a token that covers both, resolves it
            watcher> state.set {"form":"policies","changes":[{"field":"ask","value":"a"}],"context":"$now"}
            watcher< {"result":{"revision":5,"fields":{"ask":{"value":"a","!conflict":0}}}}
            watcher< {"params":{"revision":5,"changes":[{"field":"ask","!conflict":0}]}}
            # without a token: over what is there now
            mary> state.set {"form":"policies","changes":[{"field":"ask","value":"c"}]}
            mary< {"result":{"revision":6,"fields":{"ask":{"value":"c","!conflict":0}}}}
            watcher< {"params":{"revision":6}}
            # the empty token: nothing was seen
            peter> state.set {"form":"policies","changes":[{"field":"ask","value":"b"}],"context":""}
            peter< {"result":{"revision":7,"fields":{"ask":{"value":"b","conflict":[{"value":"c","by":{"user":"mary"}}]}}}}
            watcher< {"params":{"revision":7}}
            # peter takes his pick back; mary's is not lost with it
            peter> state.undo {"form":"policies"}
            peter< {"result":{"revision":8,"fields":{"ask":{"value":"c","!conflict":0}}}}
            watcher< {"params":{"revision":8}}
            """#)
    }

    @Test("latest tells both of the loser once; first refuses the stale; true or false wins")
    func otherPolicies() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            connect mary
            connect peter
            mary> state.subscribe {"form":"policies"}
            mary< {"result":{"context":"$start"}}
            mary> state.set {"form":"policies","changes":[{"field":"latest","value":"b"},{"field":"first","value":"b"},{"field":"stop","value":true},{"field":"consent","value":true}],"context":"$start"}
            mary< {"result":{"revision":2}}
            mary< {"params":{"revision":2}}
            peter> state.set {"form":"policies","changes":[{"field":"latest","value":"c"}],"context":"$start"}
            peter< {"result":{"revision":3,"fields":{"latest":{"value":"c","conflict":[{"value":"b"}]}}}}
            mary< {"params":{"revision":3,"changes":[{"field":"latest","value":"c","conflict":[{"value":"b","by":{"user":"mary"}}]}]}}
            mary> state.get {"form":"policies","fields":["latest"]}
            mary< {"result":{"fields":{"latest":{"value":"c","!conflict":0}}}}
            mary> state.history {"form":"policies","field":"latest","limit":1}
            mary< {"result":{"more":true,"entries":[{"revision":3,"kind":"set","by":{"user":"peter"},"changes":[{"field":"latest","value":"c","was":"b","concurrent":true,"!lost":0}]}]}}
            peter> state.set {"form":"policies","changes":[{"field":"latest","value":"a"},{"field":"first","value":"c"}],"context":"$start"}
            peter< {"error":{"code":-32003,"message":"~first","data":{"kind":"conflict","fields":{"first":{"value":"b","by":{"user":"mary"}}}}}}
            peter> state.set {"form":"policies","changes":[{"field":"stop","value":false}],"context":"$start"}
            peter< {"result":{"revision":4,"fields":{"stop":{"value":true}}}}
            mary< {"params":{"revision":4}}
            mary> state.history {"form":"policies","field":"stop","limit":1}
            mary< {"result":{"entries":[{"revision":4,"by":{"user":"peter"},"changes":[{"field":"stop","value":true,"concurrent":true,"lost":false}]}]}}
            peter> state.set {"form":"policies","changes":[{"field":"consent","value":false}],"context":"$start"}
            peter< {"result":{"revision":5,"fields":{"consent":{"value":false}}}}
            mary< {"params":{"revision":5}}
            """#)
    }

    @Test("tokens: clipped, never more than was said; require current and fields beside it")
    func tokens() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            connect mary
            connect peter
            mary> state.set {"form":"policies","changes":[{"field":"ask","value":"b"}],"context":""}
            mary< {"result":{"revision":2,"context":"$one"}}
            # a token from the future says no more than there is to say
            peter> state.set {"form":"policies","changes":[{"field":"ask","value":"c"}],"context":"3f9a.1:9223372036854775807,ffff.7:3+5"}
            peter< {"result":{"revision":3,"context":"3f9a.1:2","fields":{"ask":{"value":"c","!conflict":0}}}}
            mary> state.set {"form":"policies","changes":[{"field":"latest","value":"b"}],"context":"$one","require":"current"}
            mary< {"result":{"revision":4}}
            mary> state.set {"form":"policies","changes":[{"field":"latest","value":"c"}],"context":"$one","require":"current","requireFields":["ask"]}
            mary< {"error":{"code":-32003,"data":{"fields":{"ask":{"value":"c","revision":3}}}}}
            mary> state.set {"form":"policies","changes":[{"field":"latest","value":"c"}],"context":"$one","require":"current","requireFields":["nope"]}
            mary< {"error":{"code":-32001}}
            mary> state.set {"form":"policies","changes":[{"field":"ask","value":"a","context":"$one"}],"context":"3f9a.1:2","require":"current"}
            mary< {"error":{"code":-32003,"data":{"fields":{"ask":"*"}}}}
            """#)
    }

    @Test("a token over 4 KiB is a limit; one of many loose dots is worked out in no time")
    func hostileTokens() throws {
        var talk = try Conversation()
        let long = "3f9a.1:" + String(repeating: "9", count: 5000)
        let loose = "3f9a.1:0" + (1..<700).map { "+\($0 * 2)" }.joined()
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            root> state.set {"form":"policies","changes":[{"field":"ask","value":"b"}],"context":"\#(long)"}
            root< {"error":{"code":-32005,"data":{"limit":"contextBytesMax","max":4096}}}
            root> state.set {"form":"policies","changes":[{"field":"ask","value":"b"}],"context":"\#(loose)"}
            root< {"result":{"revision":2}}
            """#)
    }

    @Test("wheels: components are set alone, dependents move along, all of it is taken back")
    func wheels() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@odd}
            root< {"result":{"created":true}}
            root> state.set {"form":"odd","changes":[{"field":"when","value":{"day":3}}]}
            root< {"result":{"fields":{"when":{"value":{"month":"jan","day":3}}}}}
            root> state.set {"form":"odd","changes":[{"field":"when","value":{"month":"feb"}}]}
            root< {"result":{"fields":{"when":{"value":{"month":"feb","day":1}}}}}
            root> state.set {"form":"odd","changes":[{"field":"when","value":{"day":3}}]}
            root< {"error":{"code":-32002,"data":{"field":"when"}}}
            root> state.undo {"form":"odd"}
            root< {"result":{"fields":{"when":{"value":{"month":"jan","day":3}}}}}
            root> state.undo {"form":"odd"}
            root< {"result":{"fields":{"when":{"value":{"month":"jan","day":1},"set":false}}}}
            root> state.redo {"form":"odd"}
            root< {"result":{"fields":{"when":{"value":{"day":3}}}}}
            root> state.set {"form":"odd","changes":[{"field":"volume","value":3.3},{"field":"level","value":70},{"field":"level","increment":0.5}]}
            root< {"result":{"fields":{"volume":{"value":3.5},"level":{"value":70.5}}}}
            root> state.undo {"form":"odd"}
            root< {"result":{"fields":{"volume":{"value":0},"level":{"value":0,"set":false}}}}
            """#)
    }

    @Test("an emptied picker of several is empty, not its default")
    func emptiedTags() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> state.set {"form":"ice","changes":[{"field":"days","remove":["mon"]}]}
            root< {"result":{"fields":{"days":{"value":[],"set":true}}}}
            root> state.undo {"form":"ice"}
            root< {"result":{"fields":{"days":{"value":["mon"],"set":false}}}}
            root> state.set {"form":"ice","changes":[{"field":"days","value":[]}]}
            root< {"result":{"fields":{"days":{"value":[],"set":true}}}}
            """#)
    }

    @Test("a secret is in no frame, no history, no undo, no draft and no log")
    func secrets() throws {
        var talk = try Conversation()
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@guarded}
            root< {"result":{"created":true}}
            connect bob
            root> state.subscribe {"form":"guarded","presence":true}
            root< {"result":{"fields":{"password":{"value":null,"secret":{"set":false}}}}}
            root< {"method":"presence.changed"}
            root> state.set {"form":"guarded","changes":[{"field":"password","value":"hunter2"}],"idempotencyKey":"s"}
            root< {"result":{"fields":{"password":{"value":null,"secret":{"set":true}}}}}
            root< {"params":{"changes":[{"field":"password","value":null,"secret":{"set":true},"!was":0}]}}
            root> state.set {"form":"guarded","changes":[{"field":"password","value":"hunter2-far-too-long"}]}
            root< {"error":{"code":-32002,"data":{"field":"password"}}}
            root>> {"jsonrpc":"2.0","method":"state.set","params":{"form":"guarded","changes":[{"field":"password","value":"hunter2-far-too-long"}]}}
            root> presence.update {"form":"guarded","focus":"password","draft":"hunter2"}
            root< {"error":{"code":-32002}}
            root> state.history {"form":"guarded"}
            root< {"result":{"entries":[{"kind":"set","changes":[{"field":"password","value":null}]},{"kind":"apply"}]}}
            root> state.undo {"form":"guarded"}
            root< {"error":{"code":-32003}}
            root> state.reveal {"form":"guarded","field":"password"}
            root< {"result":{"value":"hunter2"}}
            root> state.set {"form":"guarded","changes":[{"field":"password","reset":true}]}
            root< {"result":{"fields":{"password":{"secret":{"set":false}}}}}
            root< {"params":"*"}
            root> state.reveal {"form":"guarded","field":"password"}
            root< {"result":{"value":null}}
            """#)
        let lines = talk.host.log + talk.host.auditLog.entries
        #expect(lines.contains { $0.message.contains("revealed guarded/password") })
        #expect(!lines.contains { $0.message.contains("hunter2") })
        for rows in talk.host.store.revisions.values {
            for row in rows.values {
                let text = String(decoding: row.frame + row.record, as: UTF8.self)
                #expect(!text.contains("hunter2"))
            }
        }
        for key in talk.host.store.keys.values {
            #expect(!String(decoding: key.result, as: UTF8.self).contains("hunter2"))
        }
    }

    @Test("a form in use is changed in one revision: dry run, kept, invalid, renamed, options")
    func redefinition() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["a","b","c"]},{"id":"t","type":"text"},{"id":"n","type":"stepper"}]}}
            root< {"result":{"created":true,"added":["p","t","n"]}}
            root> state.set {"form":"f","changes":[{"field":"p","value":"c"},{"field":"t","value":"x"},{"field":"n","value":3}]}
            root< {"result":{"revision":2}}
            connect alice
            alice> state.subscribe {"form":"f"}
            alice< {"result":{"revision":2}}
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["a","b"]},{"id":"text","was":"t","type":"text"},{"id":"n","type":"toggle"}]},"dryRun":true}
            root< {"result":{"version":1,"revision":2,"created":false,"invalid":["p"],"reset":["n"]}}
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["a","b"]},{"id":"text","was":"t","type":"text"},{"id":"n","type":"toggle"}]},"ifVersion":1}
            root< {"result":{"version":2,"revision":3,"invalid":["p"],"reset":["n"]}}
            alice< {"method":"form.changed","params":{"form":"f","version":2,"revision":3,"definition":"*","changes":[{"field":"p","value":"c","invalid":true},{"field":"text","value":"x"},{"field":"n","value":false,"was":3}]}}
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["a","b"]},{"id":"text","was":"t","type":"text"},{"id":"n","type":"toggle"}]}}
            root< {"result":{"version":2,"revision":3,"created":false}}
            root> form.setOptions {"form":"f","field":"p","options":["c","d"]}
            root< {"result":{"version":3,"revision":4}}
            alice< {"method":"form.changed","params":{"revision":4,"changes":[{"field":"p","value":"c","!invalid":0}]}}
            crash
            connect root
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["a","b"]},{"id":"text","was":"t","type":"text"},{"id":"n","type":"toggle"}]}}
            root< {"result":{"version":3,"revision":4}}
            root> state.get {"form":"f","fields":["p"]}
            root< {"result":{"fields":{"p":{"value":"c","!invalid":0}}}}
            root> state.history {"form":"f","field":"p"}
            root< {"result":{"more":false,"entries":[{"revision":4,"kind":"options"},{"revision":3,"kind":"apply"},{"revision":2,"kind":"set"},{"revision":1,"kind":"apply"}]}}
            """#)
    }

    @Test("options of the file and of the running daemon change in any order, none hides another")
    func optionsInTurn() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["a","b"]}]}}
            root< {"result":{"created":true}}
            root> form.setOptions {"form":"f","field":"p","options":["c","d"]}
            root< {"result":{"version":2}}
            root> form.apply {"definition":{"form":"f","title":"T","fields":[{"id":"p","type":"picker","options":["a","b"]}]}}
            root< {"result":{"version":3}}
            root> form.get {"form":"f"}
            root< {"result":{"definition":{"title":"T","fields":[{"id":"p","options":["c","d"]}]}}}
            root> form.setOptions {"form":"f","field":"p","options":["c",{"tag":"d","disabled":true}]}
            root< {"result":{"version":4}}
            root> state.set {"form":"f","changes":[{"field":"p","value":"d"}]}
            root< {"error":{"data":{"kind":"invalidValue"}}}
            root> form.apply {"definition":{"form":"f","fields":[{"id":"t","type":"toggle"},{"id":"p","type":"picker","options":["a","b"]}]}}
            root< {"result":{"version":5}}
            root> state.set {"form":"f","changes":[{"field":"p","value":"d"}]}
            root< {"error":{"data":{"kind":"invalidValue"}}}
            root> form.apply {"definition":{"form":"f","fields":[{"id":"p","type":"picker","options":["a","d"]}]}}
            root< {"result":{"version":6}}
            root> state.set {"form":"f","changes":[{"field":"p","value":"d"}]}
            root< {"result":{"fields":{"p":{"value":"d"}}}}
            root> state.set {"form":"f","changes":[{"field":"p","value":"c"}]}
            root< {"error":{"data":{"kind":"invalidValue"}}}
            """#)
    }

    @Test("history comes in pages, newest first, also where the store lags behind")
    func historyPages() throws {
        for durability in [Durability.commit, .interval, .memory] {
            try Conversation.play(
                #"""
                connect root
                root> form.apply {"definition":@ice}
                root< {"result":{"created":true}}
                hold
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                commit
                root< {"result":{"revision":2}}
                release
                root> state.set {"form":"ice","changes":[{"field":"note","value":"x"}]}
                root< {"result":{"revision":3}}
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
                root< {"result":{"revision":4}}
                root> state.history {"form":"ice","limit":2}
                root< {"result":{"more":true,"entries":[{"revision":4,"at":"*","by":{"user":"root"}},{"revision":3}]}}
                root> state.history {"form":"ice","limit":2,"before":3}
                root< {"result":{"more":false,"entries":[{"revision":2},{"revision":1}]}}
                root> state.history {"form":"ice","field":"note","limit":1}
                root< {"result":{"more":true,"entries":[{"revision":3,"changes":[{"field":"note","value":"x","was":""}]}]}}
                root> state.history {"form":"ice","before":0}
                root< {"result":{"more":false,"entries":[]}}
                """#, host: try EngineHost(durability: durability))
        }
    }

    @Test("presence tells where everybody is, and who left")
    func presence() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice
            connect bob
            alice> hello {"protocol":1,"client":"t/1","tty":"pts/3"}
            alice< {"result":"*"}
            alice> state.subscribe {"form":"ice","presence":true}
            alice< {"result":{"revision":1}}
            alice< {"method":"presence.changed","params":{"form":"ice","peers":[{"user":"alice","client":"t/1","tty":"pts/3","focus":null}]}}
            bob> state.subscribe {"form":"ice"}
            bob< {"result":{"revision":1}}
            bob> presence.update {"form":"ice","focus":"note","draft":"hel"}
            bob< {"result":{}}
            alice< {"params":{"peers":[{"connection":3,"user":"bob","focus":"note","draft":"hel"}]}}
            bob> presence.update {"form":"ice","focus":null,"draft":"x"}
            bob< {"error":{"code":-32602,"data":{"path":"draft"}}}
            bob> presence.update {"form":"ice","focus":"go","draft":"x"}
            bob< {"error":{"code":-32002}}
            bob> presence.update {"form":"ice","focus":"nope"}
            bob< {"error":{"code":-32001}}
            bob> state.unsubscribe {"form":"ice"}
            bob< {"result":{}}
            alice< {"params":{"peers":[{"connection":3,"gone":true,"!draft":0}]}}
            bob> state.subscribe {"form":"ice","presence":true}
            bob< {"result":{"revision":1}}
            bob< {"params":{"peers":[{"user":"alice"},{"user":"bob"}]}}
            alice< {"params":{"peers":[{"user":"bob","!gone":0}]}}
            disconnect bob
            alice< {"params":{"peers":[{"connection":3,"gone":true}]}}
            """#)
    }

    @Test("the sender of many changes gets a token short enough to be handed back")
    func longToken() throws {
        let fields = (0..<1300).map { #"{"id":"f\#($0)","type":"text","maxLength":4}"# }
        let changes = (0..<1300).map { #"{"field":"f\#($0)","value":"x"}"# }
        var talk = try Conversation()
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":{"form":"many","fields":[\#(fields.joined(separator: ","))]}}
            root< {"result":{"created":true}}
            root> state.set {"form":"many","changes":[{"field":"f7","value":"y"}]}
            root< {"result":{"revision":2}}
            root> state.set {"form":"many","changes":[\#(changes.joined(separator: ","))]}
            root< {"result":{"revision":3,"context":"$token"}}
            root> state.set {"form":"many","changes":[{"field":"f0","value":"z"}],"context":"$token","require":"current"}
            root< {"result":{"revision":4}}
            """#)
        let token = try #require(talk.variables["token"]?.stringValue)
        #expect(token.utf8.count <= 4096)
    }

    @Test("a table that is wrong fails: the runner looks")
    func runnerLooks() {
        withKnownIssue {
            try Conversation.play(
                #"""
                connect root
                root> ping
                root< {"result":{"x":1}}
                """#)
        }
        withKnownIssue {
            try Conversation.play(
                #"""
                connect root
                root> ping
                """#)
        }
    }
}
