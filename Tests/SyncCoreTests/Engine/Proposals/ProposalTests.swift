import EngineTestKit
import SyncCore
import Testing

/// Proposals and votes.
@Suite struct ProposalTests {
    static let form = #"""
        {"form":"deploy","fields":[{"id":"environment","type":"picker","options":["staging","production"]},{"id":"traffic","type":"slider","max":100,"step":5,"approval":{"from":["user:erin","user:frank"],"within":"30m","when":{"traffic":{"atLeast":20}}},"breakGlass":["user:dave"]},{"id":"two","type":"stepper","max":9,"approval":{"from":["anyone"],"count":2}},{"id":"note","type":"text"},{"id":"go","type":"button","approval":{"from":["user:erin"]}},{"id":"days","type":"picker","multiple":true,"options":["mon","tue"],"approval":{"from":["user:erin"]}},{"id":"pin","type":"secure"}]}
        """#
    private static let begin = #"""
        connect root
        connect carol uid=1010
        connect dave uid=1011
        connect erin uid=1012
        connect frank uid=1013
        root> form.apply {"definition":@deploy}
        root< {"result":{"created":true}}

        """#

    private func play(
        _ table: String, host: EngineHost? = nil, location: SourceLocation = #_sourceLocation
    ) throws {
        var conversation = try Conversation(["deploy": Self.form], host: host)
        try conversation.play(Self.begin + table, location: location)
    }

    @Test("example 7: after a broken glass nothing is applied, and sudo is not a second person")
    func example7() throws {
        try play(
            #"""
            erin> state.subscribe {"form":"deploy"}
            erin< {"result":{"revision":1,"proposals":[]}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true,"message":"INC-231"}
            carol< {"result":{"form":"deploy","proposal":{"id":1,"state":"waits","by":{"user":"carol","uid":1010},"message":"INC-231","changes":[{"field":"traffic","value":50,"was":0}],"fields":["traffic"],"needs":1,"votes":[],"!ended":0}}}
            erin< {"method":"proposal.changed","params":{"form":"deploy","proposal":{"id":1,"state":"waits"}}}
            connect sudo uid=0 user=root login=1010
            sudo> proposal.approve {"form":"deploy","proposal":1}
            sudo< {"error":{"data":{"kind":"forbidden"}}}
            # a process that handed its socket on and ended may have been anybody's
            connect gone uid=1012 user=dave login=?
            gone> proposal.approve {"form":"deploy","proposal":1}
            gone< {"error":{"message":"~has ended, so the user who logged in is not known","data":{"kind":"forbidden"}}}
            gone> state.set {"form":"deploy","changes":[{"field":"traffic","value":40}],"propose":true,"message":"x"}
            gone< {"error":{"data":{"kind":"forbidden"}}}
            carol> proposal.approve {"form":"deploy","proposal":1}
            carol< {"error":{"message":"~carol proposed deploy/1","data":{"kind":"forbidden"}}}
            # without a message the glass stays whole, and so it does for those who may not break it
            dave> state.set {"form":"deploy","changes":[{"field":"traffic","value":30}],"breakGlass":true}
            dave< {"error":{"data":{"kind":"invalidParams","needs":"message"}}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":30}],"breakGlass":true,"message":"now"}
            carol< {"error":{"message":"~only user:dave","data":{"kind":"forbidden"}}}
            dave> state.set {"form":"deploy","changes":[{"field":"traffic","value":30}],"breakGlass":true,"message":"now"}
            dave< {"result":{"revision":2,"fields":{"traffic":{"value":30}}}}
            erin< {"method":"state.changed","params":{"revision":2,"message":"now"}}
            erin< {"method":"proposal.changed","params":{"proposal":{"id":1,"state":"stale","ended":{"by":{"user":"dave"},"why":"dave set traffic to 30"}}}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"error":{"code":-32003,"message":"~dave set traffic to 30","data":{"kind":"conflict","ended":{"what":"proposal","how":"stale","by":"dave"}}}}
            erin> state.get {"form":"deploy","fields":["traffic"]}
            erin< {"result":{"revision":2,"fields":{"traffic":{"value":30,"by":{"user":"dave"}}}}}
            erin> state.history {"form":"deploy","limit":1}
            erin< {"result":{"entries":[{"revision":2,"breakGlass":true,"message":"now","by":{"user":"dave"}}]}}
            """#)
    }

    @Test("the last vote applies it: by the proposer, in one revision, with who approved")
    func applied() throws {
        try play(
            #"""
            carol> state.subscribe {"form":"deploy","fields":["traffic"]}
            carol< {"result":{"revision":1}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","increment":10},{"field":"traffic","increment":15},{"field":"note","value":"x"}],"propose":true,"message":"INC-231"}
            carol< {"result":{"proposal":{"id":1,"changes":[{"field":"traffic","value":25},{"field":"note","value":"x"}]}}}
            carol< {"method":"proposal.changed"}
            carol> state.get {"form":"deploy","fields":["note","traffic"]}
            carol< {"result":{"revision":1,"fields":{"note":{"value":""},"traffic":{"value":0}}}}
            dave> proposal.approve {"form":"deploy","proposal":1}
            dave< {"error":{"message":"~only user:erin, user:frank","data":{"kind":"forbidden"}}}
            root> proposal.approve {"form":"deploy","proposal":1}
            root< {"error":{"data":{"kind":"forbidden"}}}
            erin> proposal.approve {"form":"deploy","proposal":1,"message":"looks good"}
            erin< {"result":{"proposal":{"id":1,"state":"applied","needs":0,"votes":[{"by":{"user":"erin"},"message":"looks good"}],"ended":{"revision":2,"by":{"user":"erin"}}}}}
            carol< {"method":"state.changed","params":{"revision":2,"message":"INC-231","changes":[{"field":"traffic","value":25,"by":{"user":"carol"}},{"field":"note","value":"x"}]}}
            carol< {"method":"proposal.changed","params":{"proposal":{"state":"applied"}}}
            erin> state.history {"form":"deploy","limit":1}
            erin< {"result":{"entries":[{"revision":2,"kind":"set","by":{"user":"carol"},"proposal":1,"approvedBy":[{"user":"erin"}],"message":"INC-231"}]}}
            frank> proposal.approve {"form":"deploy","proposal":1}
            frank< {"error":{"data":{"kind":"conflict","ended":{"what":"proposal","how":"applied","by":"erin"}}}}
            frank> proposal.approve {"form":"deploy","proposal":2}
            frank< {"error":{"data":{"kind":"notFound"}}}
            # what nobody guards is applied at once
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":5}],"propose":true}
            carol< {"result":{"revision":3,"fields":{"traffic":{"value":5}}}}
            carol< {"params":{"revision":3}}
            """#)
    }

    @Test("two votes of two people; root and the daemon's user are not anyone")
    func twoVotes() throws {
        try play(
            #"""
            carol> state.set {"form":"deploy","changes":[{"field":"two","value":5}],"propose":true}
            carol< {"result":{"proposal":{"id":1,"needs":2}}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"waits","needs":1,"votes":[{"by":{"user":"erin"}}]}}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"waits","needs":1,"votes":[{"by":{"user":"erin"}}]}}}
            root> proposal.approve {"form":"deploy","proposal":1}
            root< {"error":{"message":"root may not approve or refuse proposal deploy/1; approval.from does not name root, and anyone is everybody but root and the daemon's user","data":{"kind":"forbidden"}}}
            connect daemon uid=900
            daemon> proposal.approve {"form":"deploy","proposal":1}
            daemon< {"error":{"message":"~approval.from does not name","data":{"kind":"forbidden"}}}
            # erin again, as another user
            connect other uid=1099 login=1012
            other> proposal.approve {"form":"deploy","proposal":1}
            other< {"result":{"proposal":{"state":"waits","needs":1}}}
            crash
            connect frank uid=1013
            frank> proposal.list {}
            frank< {"result":{"proposals":[{"id":1,"form":"deploy","needs":1,"votes":[{"by":{"user":"erin"}}]}]}}
            frank> proposal.approve {"form":"deploy","proposal":1}
            frank< {"result":{"proposal":{"state":"applied","ended":{"revision":2}}}}
            frank> proposal.list {}
            frank< {"result":{"proposals":[]}}
            frank> proposal.list {"ended":true,"form":"deploy"}
            frank< {"result":{"proposals":[{"id":1,"state":"applied"}]}}
            """#)
    }

    @Test("subscribers are told at once, also while one user alone is active")
    func toldAtOnce() throws {
        var conversation = try Conversation(["deploy": Self.form])
        try conversation.play(
            #"""
            connect root
            connect other uid=0 user=root
            root> form.apply {"definition":@deploy}
            root< {"result":{"created":true}}
            other> state.subscribe {"form":"deploy","fields":["traffic"]}
            other< {"result":{"revision":1,"proposals":[]}}
            root> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            root< {"result":{"proposal":{"id":1}}}
            other< {"method":"proposal.changed","params":{"proposal":{"id":1,"state":"waits"}}}
            crash
            connect root
            connect other uid=0 user=root
            other> state.subscribe {"form":"deploy"}
            other< {"result":{"revision":1,"proposals":[{"id":1}]}}
            root> proposal.withdraw {"form":"deploy","proposal":1}
            root< {"result":{"proposal":{"state":"withdrawn"}}}
            other< {"method":"proposal.changed","params":{"proposal":{"id":1,"state":"withdrawn"}}}
            """#)
    }

    @Test("anyone may break the glass where the form says so, root too")
    func anyoneBreaks() throws {
        try play(
            #"""
            root> form.apply {"definition":{"form":"open","fields":[{"id":"n","type":"stepper","approval":{"from":["user:erin"]},"breakGlass":["anyone"]},{"id":"m","type":"stepper","approval":{"from":["user:erin"]},"breakGlass":["user:dave"]}]}}
            root< {"result":{"created":true}}
            root> state.set {"form":"open","changes":[{"field":"n","value":1}],"breakGlass":true,"message":"now"}
            root< {"result":{"revision":2}}
            carol> state.set {"form":"open","changes":[{"field":"n","value":2}],"breakGlass":true,"message":"now"}
            carol< {"result":{"revision":3}}
            root> state.set {"form":"open","changes":[{"field":"m","value":1}],"breakGlass":true,"message":"now"}
            root< {"error":{"message":"~only user:dave may","data":{"kind":"forbidden"}}}
            """#)
    }

    @Test("what it is based on has changed: stale, with who did it")
    func stale() throws {
        try play(
            #"""
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50},{"field":"note","value":"x"}],"propose":true}
            carol< {"result":{"proposal":{"id":1}}}
            dave> state.set {"form":"deploy","changes":[{"field":"note","value":"y"}]}
            dave< {"result":{"revision":2}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"stale","ended":{"by":{"user":"dave"},"why":"dave set note to y","at":"*"}}}}
            # a field that it does not depend on changes nothing, nor does a press
            carol> state.set {"form":"deploy","changes":[{"field":"days","add":["tue"]},{"field":"go","press":true}],"propose":true}
            carol< {"result":{"proposal":{"id":2,"changes":[{"field":"go","press":1},{"field":"days","value":["tue"]}]}}}
            dave> state.set {"form":"deploy","changes":[{"field":"environment","value":"production"}]}
            dave< {"result":{"revision":3}}
            erin> proposal.approve {"form":"deploy","proposal":2}
            erin< {"result":{"proposal":{"state":"applied","ended":{"revision":4}}}}
            erin> state.get {"form":"deploy","fields":["go","days"]}
            erin< {"result":{"fields":{"go":{"value":{"presses":1}},"days":{"value":["tue"]}}}}
            # the proposer had not seen dave's note
            carol> state.set {"form":"deploy","changes":[{"field":"note","value":"z"},{"field":"two","value":1}],"context":"","propose":true}
            carol< {"error":{"data":{"kind":"conflict"}}}
            """#)
    }

    @Test("refused, withdrawn and expired proposals; their numbers are never used again")
    func ends() throws {
        try play(
            #"""
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            carol< {"result":{"proposal":{"id":1}}}
            dave> proposal.refuse {"form":"deploy","proposal":1}
            dave< {"error":{"data":{"kind":"forbidden"}}}
            erin> proposal.withdraw {"form":"deploy","proposal":1}
            erin< {"error":{"data":{"kind":"forbidden"}}}
            erin> proposal.refuse {"form":"deploy","proposal":1,"message":"not today"}
            erin< {"result":{"proposal":{"state":"refused","ended":{"by":{"user":"erin"},"message":"not today"}}}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            carol< {"result":{"proposal":{"id":2}}}
            carol> proposal.withdraw {"form":"deploy","proposal":2}
            carol< {"result":{"proposal":{"state":"withdrawn"}}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            carol< {"result":{"proposal":{"id":3}}}
            crash
            connect erin uid=1012
            pass 1799000
            erin> form.list {}
            erin< {"result":{"forms":[{"form":"deploy","proposals":1}]}}
            pass 2000
            erin> proposal.approve {"form":"deploy","proposal":3}
            erin< {"error":{"data":{"kind":"conflict","ended":{"what":"proposal","how":"expired"}}}}
            erin> proposal.list {"ended":true}
            erin< {"result":{"proposals":[{"id":3,"state":"expired"},{"id":2,"state":"withdrawn"},{"id":1,"state":"refused"}]}}
            erin> form.list {}
            erin< {"result":{"forms":[{"proposals":0}]}}
            connect carol uid=1010
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            carol< {"result":{"proposal":{"id":4}}}
            pass 1801000
            pass 700000000
            erin> proposal.list {"ended":true}
            erin< {"result":{"proposals":[]}}
            """#)
    }

    @Test("rights, domains and conditions are judged when it is applied")
    func rights() throws {
        try play(
            #"""
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50},{"field":"note","value":"x"}],"propose":true}
            carol< {"result":{"proposal":{"id":1}}}
            root> form.apply {"definition":@locked}
            root< {"result":{"version":2}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"stale","ended":{"why":"~locked"}}}}
            """#.replacing(
                "@locked",
                with: Self.form.replacing(
                    #""id":"note","type":"text""#, with: #""id":"note","type":"text","locked":true"#
                )))
    }

    @Test("no secret lies in a proposal; a lease of a connection neither")
    func unfit() throws {
        try play(
            #"""
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50},{"field":"pin","value":"1234"}],"propose":true}
            carol< {"error":{"data":{"kind":"invalidParams","field":"pin"}}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"lease":{"while":"connection"},"propose":true}
            carol< {"error":{"data":{"kind":"invalidParams","path":"lease"}}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"breakGlass":true,"propose":true}
            carol< {"error":{"data":{"kind":"invalidParams","path":"breakGlass"}}}
            """#)
    }

    @Test("a definition that removes a guard is proposed, approved and applied like a value")
    func definition() throws {
        let other = #"{"form":"deploy","fields":[{"id":"traffic","type":"slider","max":100}]}"#
        try play(
            #"""
            root> form.apply {"definition":@other,"propose":true,"message":"simpler"}
            root< {"result":{"proposal":{"id":1,"definition":{"form":"deploy"},"fields":["traffic","two","go","days"],"needs":2}}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"waits","needs":1}}}
            carol> proposal.approve {"form":"deploy","proposal":1}
            carol< {"result":{"proposal":{"state":"applied","ended":{"revision":2}}}}
            carol> form.get {"form":"deploy"}
            carol< {"result":{"version":2,"definition":@other}}
            carol> state.history {"form":"deploy","limit":1}
            carol< {"result":{"entries":[{"kind":"apply","by":{"user":"root"},"proposal":1,"message":"simpler"}]}}
            root> form.delete {"form":"deploy"}
            root< {"result":{}}
            root> form.apply {"definition":@deploy}
            root< {"result":{"created":true}}
            root> form.setOptions {"form":"deploy","field":"days","options":["mon"],"propose":true}
            root< {"result":{"version":2}}
            root> form.setOptions {"form":"deploy","field":"days","options":["mon"],"propose":true}
            root< {"result":{"version":2}}
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            carol< {"result":{"proposal":{"id":2}}}
            """#.replacing("@other", with: other))
    }

    @Test("limits of proposals")
    func limits() throws {
        var limits = Limits()
        limits.proposalsMax = 3
        limits.proposalsPerUserMax = 2
        limits.proposalBytesMax = 4_096
        let propose = #"""
            state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            """#
        try play(
            """
            carol> \(propose)
            carol< {"result":{"proposal":{"id":1}}}
            carol> \(propose)
            carol< {"result":{"proposal":{"id":2}}}
            carol> \(propose)
            carol< {"error":{"data":{"kind":"limit","limit":"proposalsPerUserMax","max":2}}}
            dave> state.set {"form":"deploy","changes":[{"field":"note","value":"\(String(repeating: "x", count: 4_000))"},{"field":"traffic","value":50}],"propose":true}
            dave< {"error":{"data":{"kind":"limit","limit":"proposalBytesMax"}}}
            dave> \(propose)
            dave< {"result":{"proposal":{"id":"*"}}}
            root> \(propose)
            root< {"error":{"data":{"kind":"limit","limit":"proposalsMax","max":3}}}
            """, host: EngineHost(limits: limits))
    }

    @Test("nobody is told of a vote that is not durable, and a failed commit takes it back")
    func failedCommit() throws {
        try play(
            #"""
            carol> state.set {"form":"deploy","changes":[{"field":"traffic","value":50}],"propose":true}
            carol< {"result":{"proposal":{"id":1}}}
            frank> state.subscribe {"form":"deploy"}
            frank< {"result":{"proposals":[{"id":1}]}}
            hold
            erin> proposal.approve {"form":"deploy","proposal":1} !
            settle
            dave> proposal.list {}
            dave< {"result":{"proposals":[{"id":1,"state":"waits","votes":[]}]}}
            fail
            erin< {"error":{"data":{"kind":"unavailable"}}}
            release
            dave> proposal.list {}
            dave< {"result":{"proposals":[{"id":1,"state":"waits","votes":[]}]}}
            erin> proposal.approve {"form":"deploy","proposal":1}
            erin< {"result":{"proposal":{"state":"applied","ended":{"revision":2}}}}
            frank< {"method":"state.changed"}
            frank< {"method":"proposal.changed","params":{"proposal":{"state":"applied"}}}
            """#)
    }
}
