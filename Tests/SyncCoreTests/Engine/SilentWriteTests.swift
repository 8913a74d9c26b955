import EngineTestKit
import SyncCore
import Testing

/// Setting the current value again is a write, and nobody is notified.
@Suite struct EngineAffirmationTests {
    /// A watcher, and a token of what all clients have seen of `days` and of `ask`.
    private static let beginning = #"""
        connect root
        connect alice
        connect bob
        root> form.apply {"definition":@ice}
        root< {"result":{"created":true}}
        root> form.apply {"definition":@policies}
        root< {"result":{"created":true}}
        alice> state.set {"form":"ice","changes":[{"field":"days","value":["mon","tue"]}]}
        alice< {"result":{"revision":2}}
        alice> state.set {"form":"policies","changes":[{"field":"ask","value":"a"},{"field":"first","value":"a"},{"field":"stop","value":true}]}
        alice< {"result":{"revision":2}}
        bob> state.get {"form":"ice"}
        bob< {"result":{"context":"$days","revision":2}}
        bob> state.get {"form":"policies"}
        bob< {"result":{"context":"$ask","revision":2}}
        root> state.subscribe {"form":"ice"}
        root< {"result":{"revision":2,"log":"$log"}}
        root> state.subscribe {"form":"policies"}
        root< {"result":{"revision":2}}

        """#

    @Test("a tag that is there and is added outlives a removal that had not seen the addition")
    func addWins() throws {
        try Conversation.play(
            Self.beginning + #"""
                alice> state.set {"form":"ice","context":"$days","changes":[{"field":"days","add":["tue"]}]}
                alice< {"result":{"revision":2,"context":"$own","fields":{"days":{"revision":2}}}}
                bob> state.set {"form":"ice","context":"$days","changes":[{"field":"days","remove":["mon","tue"]}]}
                bob< {"result":{"revision":3,"fields":{"days":{"value":["tue"]}}}}
                root< {"method":"state.changed","params":{"form":"ice","revision":3}}
                alice> state.history {"form":"ice"}
                alice< {"result":{"entries":[{"revision":3},{"revision":2},{"revision":1}]}}
                # a user who has seen the addition removes the tag
                bob> state.set {"form":"ice","context":"$own","changes":[{"field":"days","remove":["tue"]}]}
                bob< {"result":{"revision":4,"fields":{"days":{"value":[]}}}}
                root< {"method":"state.changed","params":{"form":"ice","revision":4}}
                """#)
    }

    @Test("what is added beside a new tag counts too")
    func addedBeside() throws {
        try Conversation.play(
            Self.beginning + #"""
                alice> state.set {"form":"ice","context":"$days","changes":[{"field":"days","add":["tue","wed"]}]}
                alice< {"result":{"revision":3}}
                bob> state.set {"form":"ice","context":"$days","changes":[{"field":"days","remove":["tue"]}]}
                bob< {"result":{"revision":4,"fields":{"days":{"value":["mon","tue","wed"]}}}}
                root< {"params":{"revision":3}}
                root< {"params":{"revision":4}}
                """#)
    }

    @Test("so does a set of the tags that are there")
    func setOfTags() throws {
        try Conversation.play(
            Self.beginning + #"""
                alice> state.set {"form":"ice","context":"$days","changes":[{"field":"days","value":["tue","mon"]}]}
                alice< {"result":{"revision":2}}
                bob> state.set {"form":"ice","context":"$days","changes":[{"field":"days","remove":["tue"]}]}
                bob< {"result":{"revision":3,"fields":{"days":{"value":["mon","tue"]}}}}
                root< {"params":{"revision":3}}
                """#)
    }

    @Test("a value that is set again meets another that had not seen it")
    func registers() throws {
        try Conversation.play(
            Self.beginning + #"""
                alice> state.set {"form":"policies","context":"$ask","changes":[{"field":"ask","value":"a"},{"field":"stop","value":true}]}
                alice< {"result":{"revision":2,"fields":{"ask":{"value":"a","revision":2}}}}
                bob> state.set {"form":"policies","context":"$ask","changes":[{"field":"ask","value":"b"},{"field":"stop","value":false}]}
                bob< {"result":{"revision":3,"fields":{"ask":{"value":"b","conflict":[{"value":"a"}]},"stop":{"value":true}}}}
                root< {"method":"state.changed","params":{"revision":3,"changes":[{"field":"ask","conflict":[{"value":"a"}]},{"field":"stop","value":true}]}}
                """#)
    }

    @Test("under first it has no effect: a writer who has seen the value replaces it")
    func first() throws {
        try Conversation.play(
            Self.beginning + #"""
                alice> state.set {"form":"policies","context":"$ask","changes":[{"field":"first","value":"a"}]}
                alice< {"result":{"revision":2}}
                bob> state.set {"form":"policies","context":"$ask","changes":[{"field":"first","value":"b"}]}
                bob< {"result":{"revision":3,"fields":{"first":{"value":"b"}}}}
                root< {"params":{"revision":3}}
                """#)
    }

    @Test("require current refuses nothing that reads as before")
    func requireCurrent() throws {
        for restart in ["", "crash\nconnect alice\nconnect bob\n"] {
            try Conversation.play(
                Self.beginning + #"""
                    alice> state.set {"form":"policies","context":"$ask","changes":[{"field":"ask","value":"a"}]}
                    alice< {"result":{"revision":2}}
                    bob> state.set {"form":"policies","context":"$ask","changes":[{"field":"ask","value":"a"}]}
                    bob< {"result":{"revision":2}}
                    bob> state.set {"form":"ice","context":"$days","changes":[{"field":"days","add":["tue"]}]}
                    bob< {"result":{"revision":2}}

                    """# + restart + #"""
                        alice> state.set {"form":"ice","context":"$days","require":"current","changes":[{"field":"days","add":["wed"]}]}
                        alice< {"result":{"revision":3,"fields":{"days":{"value":["mon","tue","wed"]}}}}
                        bob> state.set {"form":"ice","context":"$days","require":"current","changes":[{"field":"days","add":["wed"]}]}
                        bob< {"error":{"code":-32003,"data":{"fields":{"days":{"value":["mon","tue","wed"]}}}}}
                        alice> state.set {"form":"policies","context":"$ask","require":"current","changes":[{"field":"ask","value":"c"}]}
                        alice< {"result":{"revision":3,"fields":{"ask":{"value":"c","conflict":[{"value":"a"}]}}}}
                        bob> state.set {"form":"policies","context":"$ask","require":"current","changes":[{"field":"ask","value":"b"}]}
                        bob< {"error":{"code":-32003,"data":{"fields":{"ask":{"value":"c"}}}}}
                        # a user who reads again may continue
                        bob> state.get {"form":"policies"}
                        bob< {"result":{"context":"$fresh","revision":3}}
                        bob> state.set {"form":"policies","context":"$fresh","require":"current","changes":[{"field":"ask","value":"b"}]}
                        bob< {"result":{"revision":4,"fields":{"ask":{"value":"b","!conflict":0}}}}

                        """#
                    + (restart.isEmpty
                        ? #"""
                        root< {"params":{"form":"ice","revision":3}}
                        root< {"params":{"form":"policies","revision":3}}
                        root< {"params":{"form":"policies","revision":4}}
                        """# : ""))
        }
    }

    @Test("require current refuses a count that was not seen, though a set says it again")
    func requireCurrentOfNumbers() throws {
        try Conversation.play(
            Self.beginning + #"""
                alice> state.set {"form":"ice","changes":[{"field":"scoops","value":3}]}
                alice< {"result":{"revision":3}}
                alice> state.get {"form":"ice"}
                alice< {"result":{"context":"$three"}}
                bob> state.set {"form":"ice","changes":[{"field":"scoops","increment":1}]}
                bob< {"result":{"revision":4}}
                alice> state.get {"form":"ice"}
                alice< {"result":{"context":"$four"}}
                bob> state.set {"form":"ice","changes":[{"field":"scoops","value":4}]}
                bob< {"result":{"revision":4}}
                alice> state.set {"form":"ice","context":"$three","require":"current","changes":[{"field":"scoops","value":5}]}
                alice< {"error":{"code":-32003,"data":{"fields":{"scoops":{"value":4}}}}}
                alice> state.set {"form":"ice","context":"$four","require":"current","changes":[{"field":"scoops","value":1}]}
                alice< {"result":{"revision":5,"fields":{"scoops":{"value":1}}}}
                root< {"params":{"revision":3}}
                root< {"params":{"revision":4}}
                root< {"params":{"revision":5}}
                """#)
    }

    @Test("it is answered when it is durable, and is there after a kill")
    func durable() throws {
        try Conversation.play(
            Self.beginning + #"""
                hold
                alice> state.set {"form":"ice","context":"$days","changes":[{"field":"days","add":["tue"]}]}
                settle
                alice> ping
                commit
                alice< {"result":{"revision":2}}
                alice< {"result":{}}
                release
                crash
                connect root
                connect bob
                root> state.subscribe {"form":"ice","since":{"log":"$log","revision":2}}
                root< {"result":{"resumed":true,"revision":2}}
                bob> state.set {"form":"ice","context":"$days","changes":[{"field":"days","remove":["tue"]}]}
                bob< {"result":{"revision":3,"fields":{"days":{"value":["mon","tue"]}}}}
                root< {"params":{"revision":3}}
                """#)
    }

    @Test("a kill before it is durable leaves what was there")
    func lost() throws {
        try Conversation.play(
            Self.beginning + #"""
                hold
                alice> state.set {"form":"ice","context":"$days","changes":[{"field":"days","add":["tue"]}]}
                crash
                release
                connect bob
                bob> state.set {"form":"ice","context":"$days","changes":[{"field":"days","remove":["tue"]}]}
                bob< {"result":{"revision":3,"fields":{"days":{"value":["mon"]}}}}
                """#)
    }

    @Test("undo takes back what was said twice by its author, also after a start")
    func undo() throws {
        for restart in ["", "crash\nconnect alice uid=1001"] {
            try Conversation.play(
                Self.beginning + #"""
                    alice> state.set {"form":"ice","changes":[{"field":"days","add":["tue"]},{"field":"days","value":["mon","tue"]}]}
                    alice< {"result":{"revision":2}}
                    alice> state.set {"form":"policies","changes":[{"field":"ask","value":"a"}]}
                    alice< {"result":{"revision":2}}

                    """# + restart + #"""

                        alice> state.undo {"form":"ice"}
                        alice< {"result":{"revision":3,"fields":{"days":{"value":["mon"],"set":false}}}}
                        alice> state.undo {"form":"policies","field":"ask"}
                        alice< {"result":{"revision":3,"fields":{"ask":{"set":false}}}}
                        """#
                    + (restart.isEmpty
                        ? "\nroot< {\"params\":{\"revision\":3}}\nroot< {\"params\":{\"revision\":3}}"
                        : ""))
        }
    }

    @Test("what somebody else says too is theirs, and is not undone")
    func undoOfAnother() throws {
        try Conversation.play(
            Self.beginning + #"""
                bob> state.set {"form":"policies","changes":[{"field":"ask","value":"a"}]}
                bob< {"result":{"revision":2}}
                alice> state.undo {"form":"policies","field":"ask"}
                alice< {"error":{"code":-32003}}
                """#)
    }

    @Test("below commit it counts at once")
    func memory() throws {
        try Conversation.play(
            Self.beginning + #"""
                alice> state.set {"form":"ice","context":"$days","changes":[{"field":"days","add":["tue"]}]}
                alice< {"result":{"revision":2}}
                bob> state.set {"form":"ice","context":"$days","changes":[{"field":"days","remove":["tue"]}]}
                bob< {"result":{"revision":3,"fields":{"days":{"value":["mon","tue"]}}}}
                root< {"params":{"revision":3}}
                """#, host: EngineHost(durability: .memory))
    }

    @Test("a field that is said again many times keeps one write")
    func flat() throws {
        let host = try EngineHost()
        var table = Self.beginning
        for _ in 0..<50 {
            table += #"""
                connect alice uid=1001
                alice> state.set {"form":"ice","context":"","changes":[{"field":"days","add":["tue"]}]}
                alice< {"result":{"revision":2}}

                """#
        }
        try Conversation.play(table, host: host)
        let rows = host.store.fields.values.flatMap(\.values).map(\.state.count)
        #expect((rows.max() ?? 0) < 400)
    }
}
