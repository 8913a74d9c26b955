import EngineTestKit
import SyncCore
import Testing

// The guarantees of docs/PROTOCOL.md for notifications, as conversations.

@Suite struct EngineStreamTests {
    @Test("every subscriber sees every revision once, in order, the author too")
    func gapless() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true,"version":1,"revision":1}}
            connect alice
            connect bob
            alice> state.subscribe {"form":"ice"}
            alice< {"result":{"revision":1,"resumed":false,"fields":{"scoops":{"value":2,"set":false}}}}
            bob> state.subscribe {"form":"ice","fields":["sc*"]}
            bob< {"result":{"revision":1,"fields":{"scoops":"*","!flavor":0}}}
            alice> state.set {"form":"ice","changes":[{"field":"flavor","value":"vanilla"}]}
            alice< {"result":{"revision":2,"fields":{"flavor":{"value":"vanilla","set":true,"by":{"user":"alice"}}}}}
            alice< {"method":"state.changed","params":{"revision":2,"changes":[{"field":"flavor","value":"vanilla","was":"chocolate"}]}}
            # nothing changes, nobody is told
            alice> state.set {"form":"ice","changes":[{"field":"flavor","value":"vanilla"}]}
            alice< {"result":{"revision":2}}
            bob> state.set {"form":"ice","changes":[{"field":"scoops","increment":1},{"field":"go","press":true}]}
            bob< {"result":{"revision":3,"fields":{"scoops":{"value":3},"go":{"value":{"presses":1}}}}}
            bob< {"method":"state.changed","params":{"revision":3}}
            alice< {"method":"state.changed","params":{"revision":3,"changes":[{"field":"scoops"},{"field":"go"}]}}
            # past an end nothing is left to undo
            bob> state.set {"form":"ice","changes":[{"field":"scoops","increment":9}]}
            bob< {"result":{"revision":4,"fields":{"scoops":{"value":5}}}}
            bob< {"params":{"revision":4}}
            alice< {"params":{"revision":4}}
            bob> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}]}
            bob< {"result":{"revision":4}}
            alice> state.unsubscribe {"form":"ice"}
            alice< {"result":{}}
            bob> state.set {"form":"ice","changes":[{"field":"scoops","reset":true}]}
            bob< {"result":{"revision":5,"fields":{"scoops":{"value":2,"set":false}}}}
            bob< {"params":{"revision":5}}
            """#)
    }

    @Test("derived controls are listed, and count as touched for a filter")
    func derivedTouched() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@odd}
            root< {"result":{"created":true}}
            connect alice
            alice> state.subscribe {"form":"odd","fields":["copy","shown"]}
            alice< {"result":{"fields":{"copy":{"value":""},"shown":{"value":null}}}}
            root> state.set {"form":"odd","changes":[{"field":"title","value":"x"}]}
            root< {"result":{"revision":2,"fields":{"title":{"value":"x"},"copy":{"value":"x"}}}}
            alice< {"params":{"revision":2,"changes":[{"field":"title","value":"x"},{"field":"copy","value":"x","was":""},{"field":"shown"}]}}
            root> state.set {"form":"odd","changes":[{"field":"b1","value":true}]}
            root< {"result":{"fields":{"b1":{"value":true},"bold":{"value":null,"mixed":true}}}}
            root> state.set {"form":"odd","changes":[{"field":"bold","toggle":true}]}
            root< {"result":{"revision":4,"fields":{"bold":{"value":true,"!mixed":0},"b2":{"value":true}}}}
            root> state.set {"form":"odd","changes":[{"field":"copy","value":"y"}]}
            root< {"result":{"fields":{"title":{"value":"y"},"copy":{"value":"y"}}}}
            alice< {"params":{"revision":5}}
            """#)
    }

    @Test("nothing is seen before it is durable, a refusal that shows it included")
    func conflictWaits() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            connect alice
            connect bob
            alice> state.get {"form":"policies"}
            alice< {"result":{"context":"$seen"}}
            hold
            alice> state.set {"form":"policies","changes":[{"field":"latest","value":"b"}],"context":"$seen"}
            bob> state.set {"form":"policies","changes":[{"field":"latest","value":"c"}],"context":"$seen","require":"current"}
            connect carol
            carol> state.get {"form":"policies","fields":["latest"]}
            carol< {"result":{"revision":1,"fields":{"latest":{"value":"a"}}}}
            # its own connection's read waits for the edit
            alice> state.get {"form":"policies","fields":["latest"]}
            release
            alice< {"result":{"revision":2}}
            alice< {"result":{"revision":2,"fields":{"latest":{"value":"b"}}}}
            bob< {"error":{"code":-32003,"data":{"kind":"conflict","fields":{"latest":{"value":"b","revision":2}}}}}
            """#)
    }

    @Test(
        "a commit that fails is unavailable to its authors, unseen by all, and its key may be used again"
    )
    func failedCommit() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice,"idempotencyKey":"create"}
            root< {"result":{"created":true}}
            connect alice
            root> state.subscribe {"form":"ice"}
            root< {"result":{"log":"$log"}}
            hold
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":4}],"idempotencyKey":"k"}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":5}]}
            fail
            alice< {"error":{"code":-32007,"data":{"kind":"unavailable"}}}
            alice< {"error":{"code":-32007}}
            release
            alice> state.get {"form":"ice","fields":["scoops"]}
            alice< {"result":{"revision":1,"fields":{"scoops":{"value":2}}}}
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":4}],"idempotencyKey":"k"}
            alice< {"result":{"revision":2}}
            root< {"params":{"revision":2}}
            # what was answered before the failure stays answered
            root> form.apply {"definition":@ice,"idempotencyKey":"create"}
            root< {"result":{"created":true}}
            # the old log is over
            alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":1}}
            alice< {"result":{"resumed":false,"revision":2}}
            """#)
    }

    @Test("a key that was committed before a failure is known to a new daemon too")
    func keysOutliveRebuild() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"one"}
            root< {"result":{"revision":2}}
            hold
            root> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"two"}
            fail
            root< {"error":{"code":-32007}}
            release
            crash
            connect root
            root> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"one"}
            root< {"result":{"revision":2}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}],"idempotencyKey":"two"}
            root< {"result":{"revision":3,"fields":{"scoops":{"value":4}}}}
            """#)
    }

    @Test("since continues from the ring, from the store, and gives a snapshot for anything else")
    func since() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> form.get {"form":"ice"}
            root< {"result":{"log":"$log","revision":1}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            root< {"result":{"revision":2}}
            root> state.set {"form":"ice","changes":[{"field":"note","value":"n"}]}
            root< {"result":{"revision":3}}
            connect alice
            alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":1}}
            alice< {"result":{"resumed":true,"revision":3,"!fields":0}}
            alice< {"params":{"revision":2}}
            alice< {"params":{"revision":3}}
            # up to date; a second subscription takes the place of the first
            alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":3}}
            alice< {"result":{"resumed":true}}
            # ahead of us; another log
            alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":4}}
            alice< {"result":{"resumed":false,"fields":"*"}}
            alice> state.subscribe {"form":"ice","since":{"log":"other","revision":3}}
            alice< {"result":{"resumed":false}}
            crash
            connect alice
            alice> state.subscribe {"form":"ice","fields":["note"],"since":{"log":"$log","revision":0}}
            alice< {"result":{"resumed":true,"log":"$log"}}
            alice< {"method":"form.changed","params":{"revision":1}}
            alice< {"method":"state.changed","params":{"revision":3}}
            connect root
            root> state.set {"form":"ice","changes":[{"field":"note","value":"m"}]}
            root< {"result":{"revision":4}}
            alice< {"params":{"revision":4,"changes":[{"field":"note","was":"n"}]}}
            """#)
    }

    @Test("pages of a subscription that ended are thrown away, and a client that left harms nobody")
    func abandonedPages() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"log":"*"}}
            """#.replacing(#"{"log":"*"}"#, with: #"{"created":true}"#)
                + #"""

                root> form.get {"form":"ice"}
                root< {"result":{"log":"$log"}}
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                root< {"result":{"revision":2}}
                crash
                connect alice
                connect bob
                alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":0}}
                alice< {"result":{"resumed":true}}
                alice< {"params":{"revision":1}}
                alice< {"params":{"revision":2}}
                hold-fetches
                alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":0}}
                bob> state.subscribe {"form":"ice","since":{"log":"$log","revision":0}}
                fetch
                alice< {"result":{"resumed":true}}
                bob< {"result":{"resumed":true}}
                # a page is on its way to each
                alice> state.unsubscribe {"form":"ice"}
                alice< {"result":{}}
                disconnect bob
                fetch
                alice> ping
                alice< {"result":{}}
                """#)
    }

    @Test("stored revisions come before live ones, though an answer is still waited for")
    func pagesInOrder() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            root> form.get {"form":"ice"}
            root< {"result":{"log":"$log"}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            root< {"result":{"revision":2}}
            crash
            connect root
            connect alice
            hold-fetches
            alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":0}}
            fetch
            alice< {"result":{"resumed":true}}
            hold
            alice> state.set {"form":"policies","changes":[]}
            alice< {"error":{"data":{"kind":"notFound"}}}
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
            commit
            root< {"result":{"revision":3}}
            alice> state.set {"form":"ice","changes":[{"field":"note","value":"x"}]}
            fetch
            alice< {"params":{"revision":1}}
            alice< {"params":{"revision":2}}
            alice< {"params":{"revision":3}}
            release
            alice< {"result":{"revision":4}}
            alice< {"params":{"revision":4}}
            """#)
    }

    @Test("the answer to a subscription comes before its first notification, in a batch too")
    func answerFirst() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice
            hold
            root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            alice>> [{"jsonrpc":"2.0","id":"s","method":"state.subscribe","params":{"form":"ice","presence":true}},{"jsonrpc":"2.0","id":"e","method":"state.set","params":{"form":"ice","changes":[{"field":"scoops","value":4}]}}]
            commit
            root< {"result":{"revision":2}}
            release
            alice< [{"id":"s","result":{"revision":1}},{"id":"e","result":{"revision":3}}]
            alice< {"params":{"revision":2}}
            alice< {"params":{"revision":3}}
            alice< {"method":"presence.changed","params":{"peers":[{"user":"alice","focus":null}]}}
            """#)
    }

    @Test("a form that is created and edited in one batch loses and repeats no revision")
    func createdAndEdited() throws {
        try Conversation.play(
            Conversation.heldCreation + #"""
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]} !
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]} !
                settle
                alice> state.get {"form":"ice"}
                alice< {"error":{"data":{"kind":"notFound"}}}
                release
                root< {"result":{"revision":1}}
                root< {"result":{"revision":2}}
                root< {"result":{"revision":3}}
                alice> state.subscribe {"form":"ice"}
                alice< {"result":{"revision":3,"log":"$log","fields":{"scoops":{"value":4}}}}
                root> state.set {"form":"ice","changes":[{"field":"scoops","value":5}]}
                root< {"result":{"revision":4}}
                alice< {"params":{"revision":4}}
                alice> state.subscribe {"form":"ice","since":{"log":"$log","revision":1}}
                alice< {"result":{"resumed":true}}
                alice< {"params":{"revision":2}}
                alice< {"params":{"revision":3}}
                alice< {"params":{"revision":4}}
                """#)
    }

    @Test("who falls off the change log gets one notification that brings it up to date")
    func coalescing() throws {
        var limits = Limits()
        limits.changeLogBytesMax = 4096
        var talk = try Conversation(host: try EngineHost(limits: limits))
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice
            connect bob
            alice> state.subscribe {"form":"ice"}
            alice< {"result":{"revision":1}}
            bob> state.subscribe {"form":"ice","fields":["flavor"]}
            bob< {"result":{"revision":1}}
            stop alice
            stop bob
            """#)
        for round in 0..<100 {
            try talk.play(
                #"root> state.set {"form":"ice","changes":[{"field":"scoops","value":\#(round % 5 + 1)}]}"#
                    + "\n" + #"root< {"result":"*"}"#)
        }
        try talk.play(
            #"""
            root> state.set {"form":"ice","changes":[{"field":"note","value":"end"}]}
            root< {"result":{"revision":102}}
            read alice
            read bob
            alice< {"method":"state.changed","params":{"revision":102,"coalesced":{"from":2},"changes":[{"field":"scoops","value":5},{"field":"note","value":"end"}]}}
            root> state.set {"form":"ice","changes":[{"field":"flavor","value":"vanilla"}]}
            root< {"result":{"revision":103}}
            alice< {"params":{"revision":103}}
            bob< {"params":{"revision":103}}
            """#)
    }

    @Test(
        "on a clean stop edits under way are answered, then all are told goodbye; later ones are not"
    )
    func goodbye() throws {
        try Conversation.play(
            #"""
            connect root
            root> form.apply {"definition":@ice}
            root< {"result":{"created":true}}
            connect alice
            hold
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
            alice> state.get {"form":"ice"}
            shutdown
            alice> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
            release
            alice< {"result":{"revision":2}}
            alice< {"result":{"revision":2}}
            alice< {"method":"goodbye","params":{"reason":"restart","retryAfterMs":200}}
            root< {"method":"goodbye","params":{"reason":"restart"}}
            closed alice
            closed root
            connect late
            late< {"method":"goodbye","params":{"reason":"restart"}}
            closed late
            """#)
    }

    @Test("no notification is larger than a frame, though a value and the one before it are")
    func largeValues() throws {
        var talk = try Conversation()
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":{"form":"big","fields":[{"id":"t","type":"text","maxLength":40000}]}}
            root< {"result":{"created":true}}
            connect alice
            alice> state.subscribe {"form":"big"}
            alice< {"result":{"revision":1}}
            """#)
        let root = ConnectionID(1)
        for mark in ["\u{301}", "\u{302}"] {
            // 15 bytes a character, 40,000 characters.
            let text = String(
                repeating: "e" + String(repeating: mark, count: 7), count: 40_000)
            let answer = talk.host.ask(
                root,
                #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"big","changes":[{"field":"t","value":"\#(text)"}]}}"#
            )
            #expect(answer.count == 1 && answer[0].contains("result"))
        }
        let told = talk.host.take(ConnectionID(2))
        #expect(told.count == 2)
        #expect(told.allSatisfy { $0.utf8.count <= 1 << 20 })
    }
}
