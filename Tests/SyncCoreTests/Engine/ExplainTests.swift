import EngineTestKit
import SyncCore
import Testing

/// `state.explain`: why a field has its value.
@Suite struct ExplainTests {
    private static let knobs = #"""
        {"form":"knobs","access":{"write":["user:alice","user:bob"]},"fields":[{"id":"traffic","type":"slider","max":100,"default":5},{"id":"mirror","type":"slider","max":100,"binds":"traffic"},{"id":"on","type":"toggle","leaseMax":"4h"},{"id":"also","type":"toggle"},{"id":"both","type":"toggle","sources":["on","also"]},{"id":"note","type":"text","enabledWhen":{"on":true,"traffic":{"atLeast":10}}},{"id":"why","type":"text","message":"required"},{"id":"pin","type":"secure"},{"id":"go","type":"button"},{"id":"says","type":"label","text":"at ${traffic}"}]}
        """#

    private static let begin = #"""
        connect root
        root> form.apply {"definition":@knobs}
        root< {"result":{"created":true}}
        connect alice
        connect bob
        connect eve

        """#

    private func play(
        _ table: String, host: EngineHost? = nil, location: SourceLocation = #_sourceLocation
    ) throws {
        var definitions = Forms.all
        definitions["knobs"] = Self.knobs
        var conversation = try Conversation(definitions, host: host)
        try conversation.play(table, location: location)
    }

    @Test("a default, a set with its message, increments, a reset and an undo")
    func origins() throws {
        try play(
            Self.begin + #"""
                alice> state.explain {"form":"knobs","field":"traffic"}
                alice< {"result":{"form":"knobs","field":"traffic","revision":1,"state":{"value":5,"set":false},"origin":{"kind":"default"},"policy":"latest","!concurrent":0,"may":{"edit":true}}}
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":20}],"message":"INC-231"}
                alice< {"result":{"revision":2}}
                bob> state.explain {"form":"knobs","field":"traffic"}
                bob< {"result":{"revision":2,"state":{"value":20},"origin":{"kind":"set","!base":0},"change":{"revision":2,"kind":"set","message":"INC-231","by":{"user":"alice"},"at":"*","!gone":0}}}
                bob> state.set {"form":"knobs","changes":[{"field":"traffic","increment":3}]}
                bob< {"result":{"revision":3}}
                bob> state.explain {"form":"knobs","field":"traffic"}
                bob< {"result":{"state":{"value":23},"origin":{"kind":"counted","base":{"value":20,"by":{"user":"alice"}}},"change":{"revision":3,"by":{"user":"bob"},"!message":0}}}
                bob> state.undo {"form":"knobs"}
                bob< {"result":{"revision":4}}
                alice> state.explain {"form":"knobs","field":"traffic"}
                alice< {"result":{"state":{"value":20},"origin":{"kind":"set"},"change":{"revision":4,"kind":"undo","undoes":3,"message":"undoes revision 3"}}}
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","reset":true}]}
                alice< {"result":{"revision":5}}
                alice> state.explain {"form":"knobs","field":"traffic"}
                alice< {"result":{"state":{"value":5},"origin":{"kind":"default"},"change":{"revision":5,"kind":"set"}}}
                alice> state.set {"form":"knobs","changes":[{"field":"go","press":true}]}
                alice< {"result":{"revision":6}}
                alice> state.explain {"form":"knobs","field":"go"}
                alice< {"result":{"origin":{"kind":"pressed"},"!policy":0,"change":{"revision":6}}}
                alice> state.explain {"form":"knobs","field":"go","at":6}
                alice< {"result":{"change":{"revision":6}}}
                alice> state.explain {"form":"knobs","field":"go","at":7}
                alice< {"error":{"data":{"kind":"invalidParams","form":"knobs","field":"go","path":"at"}}}
                """#)
    }

    @Test("a binding names what stores its value, sources say what each has")
    func shown() throws {
        try play(
            Self.begin + #"""
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":20},{"field":"on","value":true}],"message":"go"}
                alice< {"result":{"revision":2}}
                bob> state.explain {"form":"knobs","field":"mirror"}
                bob< {"result":{"state":{"value":20},"origin":{"kind":"bound","fields":[{"field":"traffic","value":20,"set":true,"by":{"user":"alice"}}]},"change":{"revision":2,"message":"go"},"dependsOn":{"fields":[{"field":"traffic","how":"binds"}]}}}
                bob> state.explain {"form":"knobs","field":"both"}
                bob< {"result":{"state":{"mixed":true},"origin":{"kind":"sources","fields":[{"field":"on","value":true,"set":true},{"field":"also","value":false,"set":false,"by":{"user":"root"}}],"!more":0},"dependsOn":{"fields":[{"field":"on","how":"sources"},{"field":"also","how":"sources"}]}}}
                bob> state.explain {"form":"knobs","field":"says"}
                bob< {"result":{"origin":{"kind":"label"},"!may":0,"dependsOn":{"fields":[{"field":"traffic","how":"shows"}]}}}
                bob> state.explain {"form":"knobs","field":"traffic"}
                bob< {"result":{"!dependsOn":0,"dependents":{"fields":[{"field":"mirror","how":"binds"},{"field":"says","how":"shows"},{"field":"note","how":"enabledWhen"}]}}}
                """#)
    }

    @Test("whether I may: access, a condition with what is there now, a message, a bound")
    func permission() throws {
        try play(
            Self.begin + #"""
                eve> state.explain {"form":"knobs","field":"traffic"}
                eve< {"result":{"may":{"edit":false,"because":[{"reason":"access","field":"traffic","only":["user:alice","user:bob"],"!more":0}]}}}
                alice> state.explain {"form":"knobs","field":"note"}
                alice< {"result":{"may":{"edit":false,"because":[{"reason":"condition","field":"note","unmet":[[{"field":"on","value":false,"comparison":"equals","operand":true}],[{"field":"traffic","value":5,"comparison":"atLeast","operand":10}]]}]}}}
                alice> state.set {"form":"knobs","changes":[{"field":"note","value":"x"}]}
                alice< {"error":{"data":{"kind":"disabled"}}}
                alice> state.set {"form":"knobs","changes":[{"field":"on","value":true},{"field":"traffic","value":9}]}
                alice< {"result":{"revision":2}}
                alice> state.explain {"form":"knobs","field":"note"}
                alice< {"result":{"may":{"edit":false,"because":[{"unmet":[[{"field":"traffic","value":9}]]}]}}}
                alice> state.explain {"form":"knobs","field":"why"}
                alice< {"result":{"may":{"edit":true,"needs":["message"],"!because":0}}}
                alice> state.explain {"form":"knobs","field":"on"}
                alice< {"result":{"may":{"edit":true,"leaseMax":14400},"origin":{"kind":"lease"}}}
                root> form.apply {"definition":@guarded}
                root< {"result":{"created":true}}
                bob> state.explain {"form":"guarded","field":"fixed"}
                bob< {"result":{"may":{"edit":false,"because":[{"reason":"locked","field":"fixed"}]}}}
                bob> state.explain {"form":"guarded","field":"shadow"}
                bob< {"result":{"may":{"edit":false,"because":[{"reason":"access","field":"name","only":["user:alice"]}]}}}
                eve> state.explain {"form":"guarded","field":"fixed"}
                eve< {"error":{"data":{"kind":"forbidden"}}}
                """#)
    }

    @Test("conditions with any and none: what may become true, what must become false")
    func alternatives() throws {
        var talk = try Conversation([
            "any":
                #"{"form":"any","fields":[{"id":"a","type":"toggle"},{"id":"b","type":"toggle","default":true},{"id":"must","type":"text","required":true},{"id":"x","type":"text","enabledWhen":{"any":[{"a":true},{"b":false}]}},{"id":"y","type":"text","enabledWhen":{"none":[{"b":true},{"a":true}]}},{"id":"z","type":"text","enabledWhen":"complete"}]}"#
        ])
        try talk.play(
            #"""
            connect root
            root> form.apply {"definition":@any}
            root< {"result":{"created":true}}
            root> state.explain {"form":"any","field":"x"}
            root< {"result":{"may":{"because":[{"unmet":[[{"field":"a","!negated":0},{"field":"b","operand":false}]]}]}}}
            root> state.explain {"form":"any","field":"y"}
            root< {"result":{"may":{"because":[{"unmet":[[{"field":"b","operand":true,"value":true,"negated":true}]]}]}}}
            root> state.explain {"form":"any","field":"z"}
            root< {"result":{"may":{"because":[{"unmet":[[{"field":"must","comparison":"set"}]]}]}}}
            """#)
    }

    @Test("example 9: after a conflict under each policy, both authors and the rule")
    func conflicts() throws {
        try play(
            #"""
            connect root
            root> form.apply {"definition":@policies}
            root< {"result":{"created":true}}
            connect mary
            connect peter
            mary> state.get {"form":"policies"}
            mary< {"result":{"context":"$start"}}
            mary> state.set {"form":"policies","changes":[{"field":"latest","value":"b"},{"field":"ask","value":"b"},{"field":"stop","value":true},{"field":"consent","value":false}],"context":"$start"}
            mary< {"result":{"revision":2}}
            pass 1200
            peter> state.set {"form":"policies","changes":[{"field":"latest","value":"c"},{"field":"ask","value":"c"},{"field":"stop","value":false},{"field":"consent","value":true}],"context":"$start"}
            peter< {"result":{"revision":3}}
            mary> state.explain {"form":"policies","field":"latest"}
            mary< {"result":{"policy":"latest","state":{"value":"c","!conflict":0},"concurrent":[{"rule":"latest","lead":1200,"values":[{"value":"c","by":{"user":"peter"}},{"value":"b","by":{"user":"mary"}}]}],"met":{"seen":"$start","stamp":"*","others":[{"dot":"*","stamp":"*"}]}}}
            mary> state.explain {"form":"policies","field":"ask"}
            mary< {"result":{"policy":"ask","state":{"conflict":[{"value":"b"}]},"concurrent":[{"rule":"latest","lead":1200,"values":[{"value":"c"},{"value":"b","by":{"user":"mary"}}]}]}}
            mary> state.explain {"form":"policies","field":"stop"}
            mary< {"result":{"policy":"trueWins","state":{"value":true},"concurrent":[{"rule":"flag","!lead":0,"values":[{"value":true,"by":{"user":"mary"}},{"value":false,"by":{"user":"peter"}}]}]}}
            mary> state.explain {"form":"policies","field":"consent"}
            mary< {"result":{"policy":"falseWins","state":{"value":false},"concurrent":[{"rule":"flag","values":[{"value":false,"by":{"user":"mary"}},{"value":true,"by":{"user":"peter"}}]}]}}
            # a form that becomes stricter keeps what is there
            root> form.apply {"definition":{"form":"policies","fields":[{"id":"ask","type":"picker","options":["a","b","c"],"onConflict":"first"}]}}
            root< {"result":{"revision":4}}
            mary> state.explain {"form":"policies","field":"ask"}
            mary< {"result":{"policy":"first","state":{"value":"b"},"concurrent":[{"rule":"earliest","lead":1200,"values":[{"value":"b","by":{"user":"mary"}},{"value":"c","by":{"user":"peter"}}]}]}}
            mary> state.set {"form":"policies","changes":[{"field":"ask","value":"a"}]}
            mary< {"result":{"revision":5}}
            mary> state.explain {"form":"policies","field":"ask"}
            mary< {"result":{"!concurrent":0,"!met":0,"state":{"value":"a"}}}
            # what the conflict was is in the history
            mary> state.explain {"form":"policies","field":"ask","at":3}
            mary< {"result":{"revision":3,"state":{"value":"c","conflict":[{"value":"b"}]},"concurrent":[{"values":[{"value":"c","by":{"user":"peter"}},{"value":"b","by":{"user":"mary"}}]}],"change":{"revision":3,"by":{"user":"peter"}},"met":{"seen":"$start"},"!may":0}}
            """#)
    }

    @Test("a lease: when it ends, and whose a set ends")
    func lease() throws {
        try play(
            Self.begin + #"""
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":50}]}
                alice< {"result":{"revision":2}}
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":20}],"lease":{"seconds":3600}}
                alice< {"result":{"revision":3}}
                bob> state.set {"form":"knobs","changes":[{"field":"traffic","value":10}],"lease":{"seconds":60}}
                bob< {"result":{"revision":4}}
                bob> state.explain {"form":"knobs","field":"traffic"}
                bob< {"result":{"origin":{"kind":"lease"},"state":{"value":10,"lease":{"by":{"user":"bob"},"then":{"value":20}}},"ends":[{"by":{"user":"bob"},"then":{"value":20}},{"by":{"user":"alice"},"then":{"value":50}}]}}
                pass 60000
                bob> state.explain {"form":"knobs","field":"traffic"}
                bob< {"result":{"state":{"value":20},"change":{"kind":"ended","by":{"user":"bob"}},"ends":[{"by":{"user":"alice"}}]}}
                # with leaseMax a set has a lease too: it suspends another's and replaces one's own
                alice> state.set {"form":"knobs","changes":[{"field":"on","value":true}]}
                alice< {"result":{"revision":6}}
                bob> state.explain {"form":"knobs","field":"on"}
                bob< {"result":{"origin":{"kind":"lease"},"!ends":0}}
                alice> state.explain {"form":"knobs","field":"on"}
                alice< {"result":{"ends":[{"by":{"user":"alice"},"then":{"unset":true}}]}}
                """#)
    }

    @Test("of a secret: who and when, never what or how many")
    func secrets() throws {
        try play(
            Self.begin + #"""
                alice> state.set {"form":"knobs","changes":[{"field":"pin","value":"0000"}]}
                alice< {"result":{"revision":2}}
                bob> state.set {"form":"knobs","changes":[{"field":"pin","value":"1234"}],"context":""}
                bob< {"result":{"revision":3}}
                eve> state.explain {"form":"knobs","field":"pin"}
                eve< {"result":{"state":{"value":null,"secret":{"set":true}},"!concurrent":0,"!met":0,"!policy":0,"change":{"revision":3,"by":{"user":"bob"}}}}
                eve> state.explain {"form":"knobs","field":"pin","at":2}
                eve< {"result":{"state":{"value":null,"secret":{"set":true}},"change":{"revision":2,"by":{"user":"alice"}}}}
                """#)
    }

    @Test("an earlier revision: the last change before it, whatever others did in between")
    func earlier() throws {
        var edits = ""
        for number in 3...1_200 {
            edits += #"""
                alice> state.set {"form":"knobs","changes":[{"field":"why","value":"\#(number)"}],"message":"m"}
                alice< {"result":{"revision":\#(number)}}

                """#
        }
        try play(
            Self.begin + #"""
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":20}],"message":"INC-231"}
                alice< {"result":{"revision":2}}

                """# + edits + #"""
                    bob> state.set {"form":"knobs","changes":[{"field":"traffic","value":30}]}
                    bob< {"result":{"revision":1201}}
                    bob> state.explain {"form":"knobs","field":"traffic","at":1200}
                    bob< {"result":{"revision":1200,"state":{"value":20,"revision":2},"change":{"revision":2,"message":"INC-231"},"origin":{"kind":"set"}}}
                    bob> state.explain {"form":"knobs","field":"traffic","at":1}
                    bob< {"result":{"revision":1,"state":{"value":5},"change":{"revision":1,"kind":"apply"},"origin":{"kind":"default"}}}
                    bob> state.explain {"form":"knobs","field":"traffic","at":0}
                    bob< {"result":{"revision":0,"!state":0,"change":{"revision":0,"gone":true}}}
                    bob> state.explain {"form":"knobs","field":"traffic","at":9000}
                    bob< {"error":{"data":{"kind":"invalidParams","path":"at"}}}
                    """#)
    }

    @Test(
        "history that is gone is said to be gone; the value and its author stay",
        arguments: [Durability.commit, .memory])
    func gone(durability: Durability) throws {
        var limits = Limits()
        limits.historyRevisionsMax = 20
        limits.historyRevisionsPerUser = 1
        let host = try EngineHost(durability: durability, limits: limits)
        try play(
            Self.begin + #"""
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":20}],"message":"INC-231"}
                alice< {"result":{"revision":2}}
                alice> state.set {"form":"knobs","changes":[{"field":"also","value":true}]}
                alice< {"result":{"revision":3}}
                alice> state.explain {"form":"knobs","field":"also"}
                alice< {"result":{"change":{"revision":3,"kind":"set","!gone":0}}}

                """#
                + (4...603).map {
                    #"""
                    bob> state.set {"form":"knobs","changes":[{"field":"why","value":"\#($0)"}],"message":"m"}
                    bob< {"result":{"revision":\#($0)}}

                    """#
                }.joined() + #"""
                    pass 700000
                    bob> state.explain {"form":"knobs","field":"traffic"}
                    bob< {"result":{"state":{"value":20},"change":{"revision":2,"gone":true,"by":{"user":"alice"},"!message":0,"!kind":0}}}
                    bob> state.explain {"form":"knobs","field":"traffic","at":500}
                    bob< {"result":{"revision":500,"!state":0,"change":{"gone":true}}}
                    """#, host: host)
    }

    @Test(
        "what is not in the store yet is explained too", arguments: [Durability.interval, .memory])
    func unsaved(durability: Durability) throws {
        let host = try EngineHost(durability: durability)
        try play(
            Self.begin + #"""
                hold
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":20}],"message":"INC-231"}
                alice< {"result":{"revision":2}}
                alice> state.set {"form":"knobs","changes":[{"field":"also","value":true}]}
                alice< {"result":{"revision":3}}
                bob> state.explain {"form":"knobs","field":"traffic"}
                bob< {"result":{"change":{"revision":2,"message":"INC-231"}}}
                bob> state.explain {"form":"knobs","field":"traffic","at":2}
                bob< {"result":{"state":{"value":20},"change":{"revision":2,"message":"INC-231"}}}
                release
                bob> state.explain {"form":"knobs","field":"traffic"}
                bob< {"result":{"change":{"revision":2,"message":"INC-231"}}}
                """#, host: host)
    }

    @Test("wrong input, and a form that is deleted while the store is read")
    func refusals() throws {
        try play(
            Self.begin + #"""
                bob> state.explain {"form":"knobs","field":"trafic"}
                bob< {"error":{"code":-32001,"message":"~did you mean traffic"}}
                bob> state.explain {"form":"nope","field":"traffic"}
                bob< {"error":{"code":-32001}}
                bob> state.explain {"form":"knobs"}
                bob< {"error":{"code":-32602}}
                bob> state.explain {"form":"knobs","field":"traffic","at":-1}
                bob< {"error":{"code":-32602}}
                alice> state.set {"form":"knobs","changes":[{"field":"traffic","value":20}]}
                alice< {"result":{"revision":2}}
                hold-fetches
                bob> state.explain {"form":"knobs","field":"traffic"} !
                root> form.delete {"form":"knobs"}
                root< {"result":{}}
                fetch
                bob< {"error":{"code":-32001}}
                """#)
    }
}
