import EngineTestKit
import SyncCore
import Testing

/// Values that end by themselves.
@Suite struct LeaseTests {
    static let form = #"""
        {"form":"deploy","fields":[{"id":"maintenance","type":"toggle"},{"id":"traffic","type":"slider","max":100,"step":5},{"id":"load","type":"slider","max":100,"step":5},{"id":"mirror","type":"slider","max":100,"step":5,"binds":"traffic"},{"id":"ask","type":"slider","max":100,"onConflict":"ask"},{"id":"first","type":"slider","max":100,"onConflict":"first"},{"id":"color","type":"picker","options":["red","blue"],"onConflict":"ask"},{"id":"note","type":"text"},{"id":"days","type":"picker","multiple":true,"options":["mon","tue"]},{"id":"pin","type":"secure"},{"id":"go","type":"button"},{"id":"a","type":"toggle"},{"id":"b","type":"toggle"},{"id":"both","type":"toggle","sources":["a","b"]},{"id":"short","type":"slider","max":100,"leaseMax":"1h"}]}
        """#
    private static let begin = #"""
        connect root
        connect alice
        connect bob
        root> form.apply {"definition":@deploy}
        root< {"result":{"created":true}}

        """#

    /// Root sets a value to 50, and a lease of alice sets it to 20: revisions 2 and 3.
    private static func leased(_ field: String, seconds: Int) -> String {
        #"""
        root> state.set {"form":"deploy","changes":[{"field":"\#(field)","value":50}]}
        root< {"result":{"revision":2}}
        alice> state.set {"form":"deploy","changes":[{"field":"\#(field)","value":20}],"lease":{"seconds":\#(seconds)}}
        alice< {"result":{"revision":3,"fields":{"\#(field)":{"lease":{"then":{"value":50}}}}}}

        """#
    }

    private func play(
        _ table: String, host: EngineHost? = nil, location: SourceLocation = #_sourceLocation
    ) throws {
        var conversation = try Conversation(["deploy": Self.form], host: host)
        try conversation.play(Self.begin + table, location: location)
    }

    @Test("example 1: what somebody has set since stays, also the same value")
    func example1() throws {
        try play(
            #"""
            bob> state.subscribe {"form":"deploy","fields":["maintenance"]}
            bob< {"result":{"revision":1}}
            alice> state.set {"form":"deploy","changes":[{"field":"maintenance","value":true}],"lease":{"seconds":3600}}
            alice< {"result":{"fields":{"maintenance":{"value":true,"lease":{"id":"$id","until":"*","!while":0,"by":{"user":"alice"},"then":{"unset":true}}}}}}
            bob< {"params":{"revision":2,"changes":[{"value":true,"lease":{"id":"$id"}}]}}
            pass 600000
            bob> state.set {"form":"deploy","changes":[{"field":"maintenance","value":false}]}
            bob< {"result":{"revision":3,"fields":{"maintenance":{"value":false,"!lease":0}}}}
            bob< {"params":{"revision":3}}
            bob> state.set {"form":"deploy","changes":[{"field":"maintenance","value":true}]}
            bob< {"result":{"revision":4,"fields":{"maintenance":{"!lease":0}}}}
            bob< {"params":{"revision":4}}
            pass 3600000
            bob> state.get {"form":"deploy","fields":["maintenance"]}
            bob< {"result":{"revision":4,"fields":{"maintenance":{"value":true,"by":{"user":"bob"}}}}}
            # the same value makes a leased one permanent, and is told
            alice> state.set {"form":"deploy","changes":[{"field":"maintenance","value":false}],"lease":{"seconds":60}}
            alice< {"result":{"revision":5}}
            bob< {"params":{"revision":5}}
            bob> state.set {"form":"deploy","changes":[{"field":"maintenance","value":false}]}
            bob< {"result":{"revision":6,"fields":{"maintenance":{"value":false,"!lease":0}}}}
            bob< {"params":{"revision":6,"changes":[{"!lease":0}]}}
            pass 120000
            """#)
    }

    @Test("example 2: leases over leases; the one beneath comes back, or has left the stack")
    func example2() throws {
        try play(
            Self.leased("load", seconds: 3_600) + #"""
                bob> state.set {"form":"deploy","changes":[{"field":"load","value":10}],"lease":{"seconds":300}}
                bob< {"result":{"revision":4,"fields":{"load":{"lease":{"by":{"user":"bob"},"then":{"value":20}}}}}}
                root> state.subscribe {"form":"deploy","fields":["load"]}
                root< {"result":{"revision":4}}
                pass 299999
                pass 1
                root< {"params":{"revision":5,"changes":[{"value":20,"was":10,"by":{"user":"bob","client":"pickersyncd","connection":0},"lease":{"by":{"user":"alice"},"then":{"value":50}}}]}}
                pass 3300000
                root< {"params":{"revision":6,"changes":[{"value":50,"was":20,"by":{"user":"alice","client":"pickersyncd"},"!lease":0}]}}
                root> state.history {"form":"deploy","limit":2}
                root< {"result":{"entries":[{"kind":"ended","by":{"user":"alice","client":"pickersyncd"}},{"kind":"ended"}]}}
                # bob's outlasts alice's
                alice> state.set {"form":"deploy","changes":[{"field":"load","value":20}],"lease":{"seconds":3600}}
                alice< {"result":{"revision":7}}
                root< {"params":{"revision":7}}
                bob> state.set {"form":"deploy","changes":[{"field":"load","value":10}],"lease":{"seconds":7200}}
                bob< {"result":{"revision":8}}
                root< {"params":{"revision":8,"changes":[{"lease":{"then":{"value":20}}}]}}
                pass 3600000
                root< {"params":{"revision":9,"changes":[{"value":10,"was":10,"lease":{"by":{"user":"bob"},"then":{"value":50}}}]}}
                pass 3600000
                root< {"params":{"revision":10,"changes":[{"value":50,"!lease":0}]}}
                """#)
    }

    @Test("example 3: what fell due while the daemon was away ends before anybody is answered")
    func example3() throws {
        let host = try EngineHost()
        var conversation = try Conversation(["deploy": Self.form], host: host)
        try conversation.play(
            Self.begin + Self.leased("traffic", seconds: 3_600) + #"""
                bob> state.set {"form":"deploy","changes":[{"field":"traffic","value":10}],"lease":{"seconds":300}}
                bob< {"result":{"revision":4}}
                pass 180000
                """#)
        host.kill()
        host.milliseconds += 87 * 60_000
        host.holdsCommits = true
        try host.start()
        try conversation.play(
            #"""
            connect carol
            carol> hello {"protocol":1,"client":"x"}
            carol> state.get {"form":"deploy","fields":["traffic"]}
            commit
            carol< {"result":{"protocol":1}}
            carol< {"result":{"revision":5,"fields":{"traffic":{"value":50,"by":{"client":"pickersyncd"},"!lease":0}}}}
            carol> state.history {"form":"deploy","limit":2}
            carol< {"result":{"entries":[{"revision":5,"kind":"ended"},{"revision":4,"kind":"set"}]}}
            """#)
    }

    @Test(
        "example 4: what was set concurrently stays",
        arguments: ["traffic", "ask"])
    func example4(_ field: String) throws {
        try play(
            #"""
            root> state.set {"form":"deploy","changes":[{"field":"FIELD","value":50}]}
            root< {"result":{"revision":2}}
            root> state.get {"form":"deploy"}
            root< {"result":{"context":"$known"}}
            alice> state.set {"form":"deploy","changes":[{"field":"FIELD","value":20}],"context":"$known","lease":{"seconds":3600}}
            alice< {"result":{"revision":3}}
            bob> state.set {"form":"deploy","changes":[{"field":"FIELD","value":60}],"context":"$known"}
            bob< {"result":{"revision":4,"fields":{"FIELD":{"value":60,"lease":{"by":{"user":"alice"},"then":{"value":60}}}}}}
            pass 3600000
            bob> state.get {"form":"deploy","fields":["FIELD"]}
            bob< {"result":{"revision":5,"fields":{"FIELD":{"value":60,"!lease":0,"!conflict":0}}}}
            """#.replacing("FIELD", with: field))
    }

    @Test("example 4: under first the later edit is refused; on a counter the increment stays")
    func example4Others() throws {
        try play(
            #"""
            root> state.set {"form":"deploy","changes":[{"field":"first","value":50},{"field":"ask","value":50}]}
            root< {"result":{"revision":2}}
            root> state.get {"form":"deploy"}
            root< {"result":{"context":"$known"}}
            alice> state.set {"form":"deploy","changes":[{"field":"first","value":20},{"field":"ask","value":20}],"context":"$known","lease":{"seconds":3600}}
            alice< {"result":{"revision":3}}
            bob> state.set {"form":"deploy","changes":[{"field":"first","value":60}],"context":"$known"}
            bob< {"error":{"data":{"kind":"conflict"}}}
            bob> state.set {"form":"deploy","changes":[{"field":"ask","increment":3}],"context":"$known"}
            bob< {"result":{"fields":{"ask":{"value":23,"lease":{"then":{"value":53}}}}}}
            pass 3600000
            bob> state.get {"form":"deploy","fields":["first","ask"]}
            bob< {"result":{"fields":{"first":{"value":50,"!lease":0},"ask":{"value":53,"!lease":0}}}}
            # an increment that knows the lease ends it, and its result stays
            alice> state.set {"form":"deploy","changes":[{"field":"ask","value":20}],"lease":{"seconds":60}}
            alice< {"result":{"fields":{"ask":{"value":20}}}}
            bob> state.set {"form":"deploy","changes":[{"field":"ask","increment":3}]}
            bob< {"result":{"fields":{"ask":{"value":23,"!lease":0}}}}
            pass 60000
            """#)
    }

    @Test("a lease ends, is moved, and becomes permanent by state.lease")
    func requests() throws {
        try play(
            #"""
            alice> state.lease {"form":"deploy","field":"traffic","keep":true}
            alice< {"error":{"code":-32003,"data":{"kind":"conflict","ended":{"what":"lease"}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":20}],"lease":{"seconds":60}}
            alice< {"result":{"revision":2}}
            bob> state.lease {"form":"deploy","field":"mirror","seconds":120}
            bob< {"result":{"revision":3,"fields":{"mirror":{"value":20,"lease":{"by":{"user":"alice"}}}}}}
            pass 60000
            bob> state.lease {"form":"deploy","field":"traffic","until":"2026-11-18T12:00:00Z"}
            bob< {"result":{"revision":4,"fields":{"traffic":{"lease":{"until":"2026-11-18T12:00:00.000Z"}}}}}
            bob> state.lease {"form":"deploy","field":"traffic","until":"2001-11-18T12:00:00Z"}
            bob< {"error":{"message":"~over already","data":{"kind":"invalidParams","path":"until"}}}
            bob> state.lease {"form":"deploy","field":"traffic","end":true}
            bob< {"result":{"revision":5,"fields":{"traffic":{"value":0,"set":false,"!lease":0,"by":{"user":"bob"}}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":20}],"lease":{"seconds":60}}
            alice< {"result":{"revision":6}}
            bob> state.lease {"form":"deploy","field":"traffic","keep":true,"message":"it is good"}
            bob< {"result":{"revision":7,"fields":{"traffic":{"value":20,"!lease":0}}}}
            pass 60000
            bob> state.history {"form":"deploy","limit":3}
            bob< {"result":{"entries":[{"kind":"lease","message":"it is good"},{"kind":"set"},{"kind":"ended"}]}}
            """#)
    }

    @Test("a wall time follows the clock that is set, in both directions; seconds do not")
    func clocks() throws {
        let host = try EngineHost()
        var conversation = try Conversation(["deploy": Self.form], host: host)
        try conversation.play(
            Self.begin + #"""
                alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":20}],"lease":{"until":"2026-11-18T12:06:40Z"}}
                alice< {"result":{"revision":2}}
                alice> state.set {"form":"deploy","changes":[{"field":"ask","value":20}],"lease":{"seconds":3600}}
                alice< {"result":{"revision":3}}
                """#)
        host.wallOffset = -7_200_000
        try conversation.play(
            #"""
            pass 3599999
            bob> state.get {"form":"deploy","fields":["ask","traffic"]}
            bob< {"result":{"revision":3,"fields":{"ask":{"value":20},"traffic":{"value":20}}}}
            pass 1
            bob> state.get {"form":"deploy","fields":["ask","traffic"]}
            bob< {"result":{"revision":4,"fields":{"ask":{"value":0},"traffic":{"value":20}}}}
            """#)
        host.wallOffset = 86_400_000
        try conversation.play(
            #"""
            pass 1
            bob> state.get {"form":"deploy","fields":["traffic"]}
            bob< {"result":{"revision":5,"fields":{"traffic":{"value":0,"!lease":0}}}}
            """#)
    }

    @Test("ends that fall due together are one revision of a form; sources make a lease each")
    func together() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"both","value":true},{"field":"note","value":"x"}],"lease":{"seconds":60}}
            alice< {"result":{"revision":2,"fields":{"both":{"value":true,"!lease":0},"a":{"lease":"*"},"b":{"lease":"*"}}}}
            bob> state.set {"form":"deploy","changes":[{"field":"color","value":"blue"}],"lease":{"seconds":60}}
            bob< {"result":{"revision":3}}
            bob> state.subscribe {"form":"deploy"}
            bob< {"result":{"revision":3}}
            pass 60000
            bob< {"params":{"revision":4,"changes":[{"field":"color","value":"red","by":{"user":"bob"}},{"field":"note","value":"","by":{"user":"alice"}},{"field":"a","value":false},{"field":"b","value":false},{"field":"both","value":false}]}}
            """#)
    }

    @Test("eight deep: a ninth drops the suspended one that ends first; one lease a user")
    func depth() throws {
        var table = ""
        for number in 1...9 {
            table += """
                connect u\(number) uid=\(2000 + number)
                u\(number)> state.set {"form":"deploy","changes":[{"field":"load","value":\(number * 5)}],"lease":{"seconds":\(number * 100)}}
                u\(number)< {"result":{"fields":{"load":{"lease":{"then":"*"}}}}}

                """
        }
        try play(
            table + #"""
                # the first one is gone, so nothing is told at its time
                bob> state.subscribe {"form":"deploy","fields":["load"]}
                bob< {"result":{"revision":10}}
                pass 100000
                # a new lease of a user replaces the old one, which ended at 900
                u9> state.set {"form":"deploy","changes":[{"field":"load","value":100}],"lease":{"seconds":10}}
                u9< {"result":{"fields":{"load":{"lease":{"then":{"value":40}}}}}}
                bob< {"params":{"revision":11}}
                pass 10000
                bob< {"params":{"revision":12,"changes":[{"value":40,"lease":{"by":{"user":"u8"},"then":{"value":35}}}]}}
                """#)
    }

    @Test("undo brings a lease back with its old deadline; an end is nobody's edit")
    func undo() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"note","value":"mine"}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":20}],"lease":{"seconds":100}}
            alice< {"result":{"revision":3}}
            # of a leased set: the lease goes with it
            alice> state.undo {"form":"deploy"}
            alice< {"result":{"revision":4,"fields":{"traffic":{"value":0,"!lease":0}}}}
            alice> state.redo {"form":"deploy"}
            alice< {"result":{"revision":5,"fields":{"traffic":{"value":20,"lease":{"by":{"user":"alice"}}}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":25}],"lease":{"seconds":100}}
            alice< {"result":{"revision":6}}
            # of a set that ended a lease: both come back
            bob> state.set {"form":"deploy","changes":[{"field":"traffic","value":60}]}
            bob< {"result":{"revision":7,"fields":{"traffic":{"!lease":0}}}}
            bob> state.undo {"form":"deploy"}
            bob< {"result":{"revision":8,"fields":{"traffic":{"value":25,"lease":{"by":{"user":"alice"},"then":{"unset":true}}}}}}
            pass 100000
            alice> state.get {"form":"deploy","fields":["traffic"]}
            alice< {"result":{"revision":9,"fields":{"traffic":{"value":0,"!lease":0}}}}
            # u passes over the end; undo of the field takes it back, without a lease
            alice> state.undo {"form":"deploy","field":"traffic"}
            alice< {"result":{"revision":10,"fields":{"traffic":{"value":25,"!lease":0}}}}
            """#)
    }

    @Test("an undo after the deadline writes what lies beneath")
    func lateUndo() throws {
        try play(
            Self.leased("traffic", seconds: 100) + #"""
                bob> state.set {"form":"deploy","changes":[{"field":"traffic","value":60}]}
                bob< {"result":{"revision":4}}
                pass 100000
                bob> state.undo {"form":"deploy"}
                bob< {"result":{"revision":5,"fields":{"traffic":{"value":50,"!lease":0}}}}
                """#)
    }

    @Test(
        "leaseMax: a set without a lease gets it, a longer one is refused, what lies beneath none")
    func leaseMax() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"short","value":20}]}
            alice< {"result":{"revision":2,"fields":{"short":{"lease":{"until":"2026-11-18T12:06:40.000Z","then":{"unset":true}}}}}}
            alice> state.lease {"form":"deploy","field":"short","keep":true}
            alice< {"error":{"code":-32005,"data":{"kind":"limit","limit":"leaseMax","max":3600,"field":"short"}}}
            alice> state.lease {"form":"deploy","field":"short","seconds":3601}
            alice< {"error":{"data":{"limit":"leaseMax"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"short","value":25}],"lease":{"seconds":3601}}
            alice< {"error":{"data":{"limit":"leaseMax"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"short","increment":5}]}
            alice< {"result":{"revision":3,"fields":{"short":{"value":25,"lease":{"then":{"unset":true}}}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"short","value":0}]}
            alice< {"result":{"revision":4,"fields":{"short":{"value":0,"!lease":0}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"short","value":5}],"lease":{"seconds":10}}
            alice< {"result":{"revision":5}}
            alice> state.set {"form":"deploy","changes":[{"field":"short","reset":true}]}
            alice< {"result":{"revision":6,"fields":{"short":{"set":false,"!lease":0}}}}
            """#)
    }

    @Test("while: connection ends 30 s after its connection, unless another one resumes it")
    func held() throws {
        try play(
            #"""
            connect holder uid=1001
            holder> state.set {"form":"deploy","changes":[{"field":"maintenance","value":true}],"lease":{"while":"connection"}}
            holder< {"result":{"revision":2,"fields":{"maintenance":{"lease":{"id":"$id","while":"connection","!until":0}}}}}
            bob> state.subscribe {"form":"deploy","fields":["maintenance"]}
            bob< {"result":{"revision":2}}
            pass 25000
            holder> ping {}
            holder< {"result":{}}
            pass 25000
            disconnect holder
            pass 29999
            bob> state.lease {"form":"deploy","field":"maintenance","resume":"$id"}
            bob< {"error":{"data":{"kind":"forbidden"}}}
            alice> state.lease {"form":"deploy","field":"maintenance","resume":"nobody"}
            alice< {"error":{"data":{"kind":"conflict","ended":{"what":"lease"}}}}
            alice> state.lease {"form":"deploy","field":"maintenance","resume":"$id"}
            alice< {"result":{"revision":2,"fields":{"maintenance":{"value":true}}}}
            pass 25000
            alice> ping {}
            alice< {"result":{}}
            # silence counts as a connection that is gone
            pass 59999
            pass 1
            bob< {"params":{"revision":3,"changes":[{"value":false,"by":{"user":"holder","client":"pickersyncd"},"!lease":0}]}}
            """#)
    }

    @Test("example 5: a restart leaves a held lease to its holder for 30 s")
    func restarted() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"maintenance","value":true}],"lease":{"while":"connection"}}
            alice< {"result":{"fields":{"maintenance":{"lease":{"id":"$id"}}}}}
            crash
            connect again uid=1001
            pass 20000
            again> state.lease {"form":"deploy","field":"maintenance","resume":"$id"}
            again< {"result":{"fields":{"maintenance":{"value":true,"lease":{"id":"$id"}}}}}
            pass 20000
            again> ping {}
            again< {"result":{}}
            disconnect again
            pass 30000
            connect carol
            carol> state.get {"form":"deploy","fields":["maintenance"]}
            carol< {"result":{"fields":{"maintenance":{"value":false,"!lease":0}}}}
            """#)
    }

    @Test(
        "a lease where none can be is refused with a sentence",
        arguments: [
            (#"{"field":"go","press":true}"#, "go is a button"),
            (#"{"field":"pin","value":"x"}"#, "pin is a secure field, whose value cannot end"),
            (#"{"field":"days","add":["mon"]}"#, "several tags"),
            (#"{"field":"traffic","increment":5}"#, "an increment of traffic cannot end"),
        ])
    func misuse(_ change: String, _ why: String) throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[CHANGE],"lease":{"seconds":5}}
            alice< {"error":{"code":-32602,"message":"~WHY","data":{"kind":"invalidParams","path":"lease"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":5}],"lease":{"seconds":0}}
            alice< {"error":{"data":{"kind":"invalidParams","path":"lease.seconds"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":5}],"lease":{}}
            alice< {"error":{"data":{"kind":"invalidParams","path":"lease"}}}
            """#.replacing("CHANGE", with: change).replacing("WHY", with: why))
    }

    @Test("a failed batch takes the end back; it comes again when the store is there")
    func failed() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":20}],"lease":{"seconds":60}}
            alice< {"result":{"revision":2}}
            hold
            pass 60000
            fail
            release
            settle
            bob> state.get {"form":"deploy","fields":["traffic"]}
            bob< {"result":{"revision":3,"fields":{"traffic":{"value":0,"!lease":0}}}}
            """#)
    }

    @Test("a value that is not valid any more comes back as the default; a renamed field keeps it")
    func redefined() throws {
        let other = Self.form.replacing(
            #""id":"color","type":"picker","options":["red","blue"]"#,
            with: #""id":"hue","was":"color","type":"picker","options":["green","red"]"#)
        try play(
            #"""
            root> state.set {"form":"deploy","changes":[{"field":"color","value":"blue"}]}
            root< {"result":{"revision":2}}
            root> state.set {"form":"deploy","changes":[{"field":"color","value":"red"}],"lease":{"seconds":60}}
            root< {"result":{"revision":3}}
            root> form.apply {"definition":OTHER}
            root< {"result":{"revision":4}}
            pass 60000
            bob> state.get {"form":"deploy","fields":["hue"]}
            bob< {"result":{"revision":5,"fields":{"hue":{"value":"green","set":false,"!lease":0}}}}
            """#.replacing("OTHER", with: other))
    }
}
