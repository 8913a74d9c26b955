import EngineTestKit
import Testing

@testable import SyncCore

/// Which changes ask for approval.
@Suite struct GuardTests {
    static let form = #"""
        {"form":"deploy","fields":[{"id":"environment","type":"picker","options":["staging","production"]},{"id":"traffic","type":"slider","max":100,"step":5,"approval":{"from":["user:erin","user:dave"],"within":"30m","when":{"environment":"production","traffic":{"atLeast":20}}},"breakGlass":["user:dave"]},{"id":"mirror","type":"slider","max":100,"step":5,"binds":"traffic"},{"id":"ask","type":"slider","max":100,"onConflict":"ask","approval":{"from":["user:erin"]}},{"id":"a","type":"toggle","approval":{"from":["user:erin"]}},{"id":"b","type":"toggle"},{"id":"both","type":"toggle","sources":["a","b"]},{"id":"note","type":"text"},{"id":"size","type":"picker","options":["s","m"],"approval":{"from":["user:erin"]}},{"id":"go","type":"button","approval":{"from":["user:erin"]}},{"id":"pin","type":"secure"}]}
        """#
    private static let begin = #"""
        connect root
        connect alice
        connect bob
        root> form.apply {"definition":@deploy}
        root< {"result":{"created":true}}

        """#

    private func play(
        _ table: String, _ form: String = Self.form, location: SourceLocation = #_sourceLocation
    ) throws {
        let later = form.replacing(
            #"["staging","production"]"#, with: #"["staging","production"],"default":"production""#)
        var conversation = try Conversation(["deploy": form, "later": later])
        try conversation.play(Self.begin + table, location: location)
    }

    @Test("example 8: a condition that becomes true is guarded, and so is the guard itself")
    func example8() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":80}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"}]}
            alice< {"error":{"code":-32009,"data":{"kind":"approvalNeeded","form":"deploy","field":"traffic","fields":["traffic"],"approval":{"traffic":{"from":["user:erin","user:dave"],"count":1,"within":1800}}}}}
            root> form.apply {"definition":{"form":"deploy","fields":[{"id":"environment","type":"picker","options":["staging","production"]},{"id":"traffic","type":"slider","max":100,"step":5}]}}
            root< {"error":{"code":-32009,"data":{"kind":"approvalNeeded"}}}
            # the same with the parts in any order, and together with what is harmless
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"},{"field":"note","value":"x"},{"field":"traffic","value":20}]}
            alice< {"error":{"data":{"kind":"approvalNeeded"}}}
            # a whole transaction is judged by its end
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"},{"field":"traffic","value":15}]}
            alice< {"result":{"revision":3}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","increment":5}]}
            alice< {"error":{"data":{"kind":"approvalNeeded"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","increment":-5}]}
            alice< {"result":{"revision":4,"fields":{"traffic":{"value":10}}}}
            alice> state.get {"form":"deploy","fields":["traffic","note","environment"]}
            alice< {"result":{"revision":4,"fields":{"traffic":{"value":10},"note":{"value":""},"environment":{"value":"production"}}}}
            """#)
    }

    @Test("a form with guards is deleted by those whom each guard lets break the glass")
    func deletion() throws {
        try play(
            #"""
            connect dave
            root> form.delete {"form":"deploy"}
            root< {"error":{"code":-32009,"message":"~then delete the form","data":{"fields":["t","u"]}}}
            root> form.delete {"form":"deploy","breakGlass":true,"message":"now"}
            root< {"error":{"data":{"kind":"forbidden","field":"t"}}}
            dave> form.delete {"form":"deploy","breakGlass":true}
            dave< {"error":{"data":{"kind":"invalidParams","needs":"message"}}}
            dave> form.delete {"form":"deploy","breakGlass":true,"message":"now"}
            dave< {"result":{}}
            """#,
            #"""
            {"form":"deploy","access":{"admin":["user:root","user:dave"]},"fields":[{"id":"t","type":"toggle","approval":{"from":["user:erin"]},"breakGlass":["user:dave"]},{"id":"u","type":"toggle","approval":{"from":["user:erin"]},"breakGlass":["user:dave"]}]}
            """#)
    }

    @Test("explain names the guards that refuse every change, and those that refuse some values")
    func explained() throws {
        try play(
            #"""
            alice> state.explain {"form":"deploy","field":"ask"}
            alice< {"result":{"may":{"edit":false,"because":[{"reason":"approval","field":"ask","only":["user:erin"],"count":1}],"!asks":0}}}
            alice> state.explain {"form":"deploy","field":"mirror"}
            alice< {"result":{"may":{"edit":true,"!because":0,"asks":[{"reason":"approval","field":"traffic","only":["user:erin","user:dave"],"count":1}]}}}
            alice> state.explain {"form":"deploy","field":"environment"}
            alice< {"result":{"may":{"edit":true,"asks":[{"field":"traffic"}]}}}
            # a set of both may leave the guarded one as it is
            alice> state.explain {"form":"deploy","field":"both"}
            alice< {"result":{"may":{"edit":true,"asks":[{"field":"a"}]}}}
            alice> state.explain {"form":"deploy","field":"go"}
            alice< {"result":{"may":{"edit":false,"because":[{"reason":"approval","field":"go"}]}}}
            alice> state.explain {"form":"deploy","field":"note"}
            alice< {"result":{"may":{"edit":true,"!because":0,"!asks":0}}}
            """#)
    }

    @Test("explain leaves out a guard whose condition is false whatever the field has")
    func explainedCondition() throws {
        try play(
            #"""
            alice> state.explain {"form":"deploy","field":"x"}
            alice< {"result":{"may":{"edit":false,"because":[{"reason":"approval","field":"x"}],"!asks":0}}}
            alice> state.set {"form":"deploy","changes":[{"field":"on","value":true}]}
            alice< {"result":{"revision":2}}
            alice> state.explain {"form":"deploy","field":"x"}
            alice< {"result":{"may":{"edit":true,"!because":0,"!asks":0}}}
            """#,
            #"""
            {"form":"deploy","fields":[{"id":"on","type":"toggle"},{"id":"x","type":"toggle","approval":{"from":["user:erin"],"when":{"on":false}}}]}
            """#)
    }

    @Test("a control is concerned by its own guard, by that of what it shows, and by conditions")
    func concerned() throws {
        let definition = try FormDefinition.parse(
            try JSON(parsing: Array(Self.form.utf8)), limits: FormLimits(),
            compile: { _ in .success(PatternMatcher { _ in true }) })
        func guards(_ id: String) throws -> [String] {
            let index = try #require(definition.index(of: id))
            return definition.guards(concerning: index).map { definition.controls[$0].id }
        }
        #expect(try guards("environment") == ["traffic"])
        #expect(try guards("mirror") == ["traffic"])
        #expect(try guards("both") == ["a"])
        #expect(try guards("go") == ["go"])
        #expect(try guards("note") == [])
    }

    @Test("neither binds, sources, undo nor redo goes round a guard")
    func ways() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":80}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"},{"field":"traffic","value":10}]}
            alice< {"result":{"revision":3}}
            alice> state.set {"form":"deploy","changes":[{"field":"mirror","value":50}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["traffic"]}}}
            alice> state.set {"form":"deploy","changes":[{"field":"both","value":true}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["a"]}}}
            alice> state.set {"form":"deploy","changes":[{"field":"a","toggle":true}]}
            alice< {"error":{"data":{"kind":"approvalNeeded"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"size","move":"next"}]}
            alice< {"error":{"data":{"kind":"approvalNeeded"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"go","press":true}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["go"]}}}
            # undo goes back to staging and 80, which nobody guards; redo to production with 10
            alice> state.undo {"form":"deploy"}
            alice< {"result":{"revision":4,"fields":{"traffic":{"value":80}}}}
            alice> state.redo {"form":"deploy"}
            alice< {"result":{"revision":5}}
            alice> state.undo {"form":"deploy","field":"traffic"}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["traffic"]}}}
            # a refused undo can be tried again
            alice> state.undo {"form":"deploy"}
            alice< {"result":{"revision":6,"fields":{"traffic":{"value":80}}}}
            """#)
    }

    @Test("a value that is written again changes nothing, and is not guarded")
    func sameValue() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"ask","value":0},{"field":"size","reset":true}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["ask"]}}}
            alice> state.set {"form":"deploy","changes":[{"field":"size","reset":true}]}
            alice< {"result":{"revision":1}}
            """#)
    }

    @Test("a lease is extended and kept only with approval; anybody may end or shorten it")
    func leases() throws {
        let leased = #"""
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":80}],"lease":{"seconds":600}}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"deploy","changes":[{"field":"b","value":true}]}
            alice< {"result":{"revision":3}}

            """#
        // The guard applies as soon as traffic is 20 at least.
        let form = Self.form.replacing(
            #""environment":"production","traffic""#, with: #""b":true,"traffic""#)
        var guarded = try Conversation(["deploy": form])
        try guarded.play(
            Self.begin
                + leased.replacing(
                    "alice< {\"result\":{\"revision\":3}}",
                    with: #"""
                        alice< {"error":{"data":{"kind":"approvalNeeded","fields":["traffic"]}}}
                        """#))
        let always = Self.form.replacing(
            #""id":"b","type":"toggle"}"#,
            with: #""id":"b","type":"toggle","approval":{"from":["user:erin"],"when":{"b":true}}}"#)
        var conversation = try Conversation(["deploy": always])
        try conversation.play(
            Self.begin + #"""
                alice> state.set {"form":"deploy","changes":[{"field":"b","value":true}]}
                alice< {"error":{"data":{"kind":"approvalNeeded","fields":["b"]}}}
                connect erin
                alice> state.set {"form":"deploy","changes":[{"field":"b","value":true}],"lease":{"seconds":600},"propose":true}
                alice< {"result":{"proposal":{"id":1,"lease":{"seconds":600}}}}
                pass 60000
                erin> proposal.approve {"form":"deploy","proposal":1}
                erin< {"result":{"proposal":{"state":"applied"}}}
                alice> state.lease {"form":"deploy","field":"b","seconds":3600}
                alice< {"error":{"data":{"kind":"approvalNeeded","fields":["b"]}}}
                alice> state.lease {"form":"deploy","field":"b","keep":true}
                alice< {"error":{"data":{"kind":"approvalNeeded","fields":["b"]}}}
                # a write of the same value would keep it too
                alice> state.set {"form":"deploy","changes":[{"field":"b","value":true}]}
                alice< {"error":{"data":{"kind":"approvalNeeded","fields":["b"]}}}
                # the value with its new end can be proposed
                alice> state.set {"form":"deploy","changes":[{"field":"b","value":true}],"lease":{"seconds":7200},"propose":true}
                alice< {"result":{"proposal":{"id":2,"changes":[{"field":"b","value":true,"was":true}],"lease":{"seconds":7200}}}}
                erin> proposal.approve {"form":"deploy","proposal":2}
                erin< {"result":{"proposal":{"state":"applied","ended":{"revision":3}}}}
                pass 3600000
                alice> state.get {"form":"deploy","fields":["b"]}
                alice< {"result":{"revision":3,"fields":{"b":{"value":true,"lease":{"then":{"unset":true}}}}}}
                # an earlier end needs nobody
                alice> state.lease {"form":"deploy","field":"b","seconds":60}
                alice< {"result":{"revision":4,"fields":{"b":{"value":true,"lease":"*"}}}}
                alice> state.set {"form":"deploy","changes":[{"field":"b","value":true}],"propose":true}
                alice< {"result":{"proposal":{"id":3}}}
                erin> proposal.approve {"form":"deploy","proposal":3}
                erin< {"result":{"proposal":{"state":"applied","ended":{"revision":5}}}}
                pass 61000
                alice> state.get {"form":"deploy","fields":["b"]}
                alice< {"result":{"revision":5,"fields":{"b":{"value":true,"!lease":0}}}}
                """#)
    }

    @Test("what the end of a lease would bring back is guarded too")
    func beneathLeases() throws {
        try play(
            #"""
            # a guarded value waits beneath a lease for its condition
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":80}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":0}],"lease":{"seconds":3}}
            alice< {"result":{"revision":3}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["traffic"]}}}
            # the condition waits beneath a lease for the value
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":0}]}
            alice< {"result":{"revision":4}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"}]}
            alice< {"result":{"revision":5}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"staging"}],"lease":{"seconds":3}}
            alice< {"result":{"revision":6}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":85}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["traffic"]}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":85}],"lease":{"seconds":60}}
            alice< {"error":{"data":{"kind":"approvalNeeded"}}}
            alice> state.explain {"form":"deploy","field":"traffic"}
            alice< {"result":{"may":{"edit":true,"asks":[{"field":"traffic"}]}}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":15},{"field":"note","value":"x"}]}
            alice< {"result":{"revision":7}}
            # a lease of one condition beneath that of another user
            connect carol
            carol> state.set {"form":"deploy","changes":[{"field":"environment","value":"staging"}]}
            carol< {"result":{"revision":8}}
            carol> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"}],"lease":{"seconds":9}}
            carol< {"result":{"revision":9}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"staging"}],"lease":{"seconds":3}}
            alice< {"result":{"revision":10}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":20}]}
            alice< {"error":{"data":{"kind":"approvalNeeded"}}}
            # a definition that brings another value back
            alice> state.set {"form":"deploy","changes":[{"field":"environment","reset":true},{"field":"traffic","value":80}]}
            alice< {"result":{"revision":11}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"staging"}],"lease":{"seconds":3}}
            alice< {"result":{"revision":12}}
            root> form.apply {"definition":@later}
            root< {"error":{"data":{"kind":"approvalNeeded","fields":["traffic"]}}}
            """#)
    }

    @Test("a value that was approved comes back after a lease, and lasts no longer than approved")
    func approvedBeneathLeases() throws {
        try play(
            #"""
            connect erin
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"}]}
            alice< {"result":{"revision":2}}
            alice> state.set {"form":"deploy","changes":[{"field":"traffic","value":80}],"lease":{"seconds":600},"propose":true}
            alice< {"result":{"proposal":{"id":1}}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"applied"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"environment","value":"staging"}],"lease":{"seconds":60}}
            alice< {"result":{"revision":4}}
            alice> state.lease {"form":"deploy","field":"traffic","seconds":9000}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["traffic"]}}}
            alice> state.lease {"form":"deploy","field":"traffic","keep":true}
            alice< {"error":{"data":{"kind":"approvalNeeded"}}}
            alice> state.lease {"form":"deploy","field":"traffic","seconds":300}
            alice< {"result":{"revision":5}}
            alice> state.lease {"form":"deploy","field":"environment","seconds":120}
            alice< {"result":{"revision":6}}
            pass 121000
            alice> state.get {"form":"deploy","fields":["environment","traffic"]}
            alice< {"result":{"fields":{"environment":{"value":"production"},"traffic":{"value":80}}}}
            """#)
    }

    @Test("a concurrent value beside a guarded one, and the choice between both, are guarded")
    func conflicts() throws {
        try play(
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"ask","value":5}]}
            alice< {"result":{"revision":2}}
            bob> state.set {"form":"deploy","changes":[{"field":"ask","value":9}],"context":""}
            bob< {"result":{"revision":3,"fields":{"ask":{"value":9,"conflict":[{"value":5}]}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"b","value":true}],"propose":true}
            alice< {"result":{"proposal":{"id":1,"fields":["ask"]}}}
            connect erin
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"applied"}}}
            # the value that is shown, and the other one
            alice> state.set {"form":"deploy","changes":[{"field":"ask","value":9}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["ask"]}}}
            alice> state.set {"form":"deploy","changes":[{"field":"ask","value":5}]}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["ask"]}}}
            alice> state.set {"form":"deploy","changes":[{"field":"ask","value":7}],"context":""}
            alice< {"error":{"data":{"kind":"approvalNeeded","fields":["ask"]}}}
            """#,
            Self.form.replacing(
                #""onConflict":"ask","approval":{"from":["user:erin"]}"#,
                with: #""onConflict":"ask","approval":{"from":["user:erin"],"when":{"b":true}}"#))
    }

    @Test("options, defaults, types and names of guarded fields are changed with approval only")
    func definitions() throws {
        func apply(_ old: String, _ new: String) -> String {
            precondition(Self.form.contains(old))
            return "root> form.apply {\"definition\":" + Self.form.replacing(old, with: new) + "}\n"
        }
        let refused = "root< {\"error\":{\"code\":-32009}}\n"
        try play(
            apply(#","approval":{"from":["user:erin"]}},{"id":"b""#, #"},{"id":"b""#) + refused
                + apply(
                    #""max":100,"onConflict":"ask""#, #""max":100,"default":7,"onConflict":"ask""#)
                + refused
                + apply(
                    #"{"id":"size","type":"picker","options":["s","m"],"approval":{"from":["user:erin"]}},"#,
                    "")
                + refused
                + apply(
                    #""id":"size","type":"picker","options":["s","m"]"#,
                    #""id":"size","type":"text""#)
                + refused + apply(#""breakGlass":["user:dave"]"#, #""breakGlass":["anyone"]"#)
                + refused
                + apply(#""within":"30m""#, #""within":"60m""#) + refused
                    + #"""
                    root> form.apply {"definition":@deploy,"dryRun":true}
                    root< {"result":{"version":1}}
                    root> form.setOptions {"form":"deploy","field":"size","options":["m","s"]}
                    root< {"error":{"code":-32009,"data":{"fields":["size"]}}}
                    root> form.setOptions {"form":"deploy","field":"size","options":["s","m","l"]}
                    root< {"result":{"version":2}}
                    root> form.delete {"form":"deploy"}
                    root< {"error":{"code":-32009}}

                    """#
                + apply(#"{"id":"size""#, #"{"id":"large","was":"size""#)
                + "root< {\"result\":{\"version\":3}}\n"
                + apply(
                    #"{"id":"note","type":"text"}"#, #"{"id":"note","type":"text","maxLength":9}"#)
                + refused)
    }
}
