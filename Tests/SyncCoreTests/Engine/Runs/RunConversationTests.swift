import EngineTestKit
import SyncCore
import Testing

// Buttons with `runs` (docs/PROTOCOL.md, Runs), as conversations.

@Suite struct RunConversationTests {
    /// Who is who: the form belongs to root, `ops` handles.
    private static func form(_ attributes: String) -> String {
        #"""
        {"form":"deploy","access":{"handle":["user:ops"]},"fields":[
        {"id":"version","type":"text"},{"id":"token","type":"secure"},{"id":"plain","type":"button"},
        {"id":"start","type":"button",\#(attributes)}]}
        """#.split(separator: "\n").joined()
    }

    private func play(
        _ attributes: String, _ table: String, location: SourceLocation = #_sourceLocation
    ) throws {
        var conversation = try Conversation(["deploy": Self.form(attributes)])
        try conversation.play(
            """
            connect root
            root> form.apply {"definition":@deploy}
            root< {"result":{"created":true}}
            connect alice
            connect ops uid=2000 user=ops
            \(table)
            """, location: location)
    }

    @Test("a press is committed as running before its handler hears of it, and ends once")
    func life() throws {
        try play(
            #""runs":"queue""#,
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"version","value":"1.2"},{"field":"token","value":"s3cret"}]}
            alice< {"result":"*"}
            ops> button.handle {"form":"deploy"}
            ops< {"result":{"form":"deploy","fields":["start"],"tickets":[]}}
            alice> state.subscribe {"form":"deploy","fields":["start"]}
            alice< {"result":{"fields":{"start":{"runs":{"waiting":0,"running":[]}}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"revision":3,"fields":{"start":{"value":{"presses":1},"press":"$press","runs":{"waiting":1,"running":[]}}}}}
            alice< {"params":{"revision":3,"changes":[{"field":"start","runs":{"waiting":1},"!press":0}]}}
            alice< {"params":{"revision":4,"changes":[{"field":"start","by":{"user":"ops"},"runs":{"waiting":0,"running":[{"press":"$press","state":"running","by":{"user":"alice"},"handler":{"user":"ops"}}]}}]}}
            ops< {"method":"button.assigned","params":{"form":"deploy","field":"start","press":"$press","ticket":"$ticket","by":{"user":"alice"},"values":{"version":"1.2","!token":0,"start":{"presses":1}},"!again":0}}
            ops> button.progress {"press":"$press","ticket":"$ticket","fraction":0.4,"text":"copying"}
            ops< {"result":{}}
            alice< {"method":"button.progress","params":{"form":"deploy","field":"start","press":"$press","fraction":0.4,"text":"copying"}}
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"done","text":"9 files","status":0}
            ops< {"result":{"field":"start","press":"$press","state":"done","text":"9 files","status":0}}
            alice< {"params":{"revision":5,"changes":[{"field":"start","runs":{"waiting":0,"running":[],"last":{"press":"$press","state":"done","text":"9 files"}}}]}}
            # a second outcome
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"failed"}
            ops< {"error":{"code":-32003,"data":{"kind":"conflict","ended":{"run":{"press":"$press","state":"done"}}}}}
            ops> button.progress {"press":"$press","ticket":"$ticket","fraction":1}
            ops< {"error":{"data":{"kind":"conflict"}}}
            alice> button.outcome {"form":"deploy","press":"$press"}
            alice< {"result":{"field":"start","state":"done","by":{"user":"alice"},"handler":{"user":"ops"}}}
            alice> button.cancel {"form":"deploy","field":"start","press":"$press"}
            alice< {"error":{"data":{"kind":"conflict","ended":{"run":{"state":"done"}}}}}
            alice> button.outcome {"form":"deploy","press":"3f9a.1:999"}
            alice< {"error":{"data":{"kind":"notFound"}}}
            # nothing of it is undone
            alice> state.undo {"form":"deploy"}
            alice< {"result":{"fields":{"version":{"set":false}}}}
            alice> state.history {"form":"deploy","limit":3}
            alice< {"result":{"entries":[{"kind":"undo"},{"kind":"run","by":{"user":"ops"}},{"kind":"run"}]}}
            """#)
    }

    @Test("subscribers, late ones too, are told that a handler is away, until it is back")
    func away() throws {
        try play(
            #""runs":"queue""#,
            #"""
            ops> button.handle {"form":"deploy"}
            ops< {"result":"*"}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":"*"}
            ops< {"method":"button.assigned","params":{"press":"$press","ticket":"$ticket"}}
            ops> button.progress {"press":"$press","ticket":"$ticket","fraction":0.4,"text":"copying"}
            ops< {"result":{}}
            alice> state.subscribe {"form":"deploy"}
            alice< {"result":{"fields":{"start":{"runs":{"running":[{"press":"$press"}]}}}}}
            alice< {"method":"button.progress","params":{"fraction":0.4,"!away":0}}
            disconnect ops
            pass 100
            alice< {"method":"button.progress","params":{"form":"deploy","field":"start","press":"$press","fraction":0.4,"text":"copying","away":true}}
            connect eve
            eve> state.subscribe {"form":"deploy"}
            eve< {"result":"*"}
            eve< {"method":"button.progress","params":{"press":"$press","fraction":0.4,"away":true}}
            # away makes no revision
            eve> state.get {"form":"deploy"}
            eve< {"result":{"revision":3}}
            connect again uid=2000 user=ops
            again> button.handle {"form":"deploy","fields":[],"tickets":["$ticket"]}
            again< {"result":{"tickets":["$ticket"]}}
            pass 100
            alice< {"method":"button.progress","params":{"press":"$press","fraction":0.4,"text":"copying","!away":0}}
            eve< {"method":"button.progress","params":{"press":"$press","!away":0}}
            # nobody holds it after a start of the daemon
            crash
            connect bob
            bob> state.subscribe {"form":"deploy"}
            bob< {"result":{"fields":{"start":{"runs":{"running":[{"press":"$press"}]}}}}}
            pass 100
            bob< {"method":"button.progress","params":{"press":"$press","!fraction":0,"away":true}}
            # who sends progress without taking the run again does not hold it
            connect ticket uid=2000 user=ops
            ticket> button.progress {"press":"$press","ticket":"$ticket","fraction":0.5}
            ticket< {"result":{}}
            pass 100
            bob< {"method":"button.progress","params":{"press":"$press","fraction":0.5,"away":true}}
            pass 30000
            bob< {"method":"state.changed","params":{"changes":[{"field":"start","runs":{"running":[],"last":{"state":"lost"}}}]}}
            connect carol
            carol> state.subscribe {"form":"deploy"}
            carol< {"result":"*"}
            pass 100
            """#)
    }

    @Test("each refusal has its sentence")
    func refusals() throws {
        try play(
            #""runs":"one","waitsFor":"10s""#,
            #"""
            ops> button.handle {"form":"deploy","fields":["plain"]}
            ops< {"error":{"message":"~plain has no runs","data":{"kind":"invalidParams"}}}
            ops> button.handle {"form":"deploy","fields":["nothing"]}
            ops< {"error":{"data":{"kind":"notFound"}}}
            alice> button.handle {"form":"deploy"}
            alice< {"error":{"message":"~alice may not handle deploy/start; only user:ops may","data":{"kind":"forbidden"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true},{"field":"start","press":true}]}
            alice< {"error":{"code":-32010,"data":{"kind":"busy"}}}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"error":{"code":-32010,"message":"~start handles one press at a time","data":{"kind":"busy","field":"start","press":"$press"}}}
            ops> button.finish {"press":"$press","ticket":"1-2-3","outcome":"done"}
            ops< {"error":{"code":-32004,"message":"~ticket","data":{"kind":"forbidden"}}}
            ops> button.finish {"press":"$press","ticket":"1-2-3","outcome":"perhaps"}
            ops< {"error":{"data":{"kind":"invalidParams","path":"outcome"}}}
            ops> button.progress {"press":"$press","ticket":"1-2-3","fraction":1.5}
            ops< {"error":{"data":{"kind":"invalidParams","path":"fraction"}}}
            alice> button.cancel {"form":"deploy","field":"plain","press":"$press"}
            alice< {"error":{"data":{"kind":"notFound"}}}
            alice> button.cancel {"form":"deploy","field":"start","press":"$press"}
            alice< {"result":{"press":"$press","state":"cancelled"}}
            """#)
    }

    @Test("without a handler a press ends as unhandled, at once or after waitsFor")
    func unhandled() throws {
        try play(
            #""runs":"queue""#,
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"revision":2,"fields":{"start":{"press":"$press","runs":{"waiting":1}}}}}
            alice> button.outcome {"form":"deploy","press":"$press"}
            alice< {"result":{"revision":3,"state":"unhandled","by":{"user":"alice"}}}
            """#)
        try play(
            #""runs":"queue","waitsFor":"10s""#,
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            pass 9999
            alice> button.outcome {"form":"deploy","press":"$press"}
            alice< {"result":{"state":"waiting"}}
            pass 1
            alice> button.outcome {"form":"deploy","press":"$press"}
            alice< {"result":{"state":"unhandled"}}
            """#)
    }

    @Test("latest: a press replaces those that wait, in its own revision")
    func latest() throws {
        try play(
            #""runs":"latest","waitsFor":"10s""#,
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"revision":2,"fields":{"start":{"press":"$one"}}}}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"revision":3,"fields":{"start":{"press":"$two","runs":{"waiting":1,"last":{"press":"$one","state":"dropped"}}}}}}
            alice> button.outcome {"form":"deploy","press":"$one"}
            alice< {"result":{"revision":3,"state":"dropped"}}
            """#)
    }

    @Test("a cancelled run is ended by its handler, which decides")
    func cancel() throws {
        try play(
            #""runs":"queue""#,
            #"""
            ops> button.handle {"form":"deploy"}
            ops< {"result":"*"}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            ops< {"method":"button.assigned","params":{"ticket":"$ticket"}}
            alice> button.cancel {"form":"deploy","field":"start","press":"$press"}
            alice< {"result":{"press":"$press","state":"running"}}
            ops< {"method":"button.cancelled","params":{"form":"deploy","field":"start","press":"$press","by":{"user":"alice"},"!state":0}}
            # a handler that comes back is told again
            disconnect ops
            connect late uid=2000 user=ops
            late> button.handle {"form":"deploy","tickets":["$ticket"]}
            late< {"result":{"tickets":["$ticket"]}}
            late< {"method":"button.cancelled","params":{"press":"$press"}}
            late> button.finish {"press":"$press","ticket":"$ticket","outcome":"failed"}
            late< {"result":{"state":"cancelled"}}
            """#)
    }

    @Test("a failed batch takes back the end of a run: its handler holds it, cancelled as before")
    func failedEnd() throws {
        try play(
            #""runs":"queue""#,
            #"""
            ops> button.handle {"form":"deploy"}
            ops< {"result":"*"}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            ops< {"method":"button.assigned","params":{"ticket":"$ticket"}}
            alice> button.cancel {"form":"deploy","field":"start","press":"$press"}
            alice< {"result":{"state":"running"}}
            ops< {"method":"button.cancelled","params":{"press":"$press"}}
            hold
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"failed"}
            fail
            ops< {"error":{"data":{"kind":"unavailable"}}}
            release
            pass 60000
            alice> button.outcome {"form":"deploy","press":"$press"}
            alice< {"result":{"state":"running"}}
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"failed"}
            ops< {"result":{"state":"cancelled"}}
            """#)
    }

    @Test("a failed batch takes back an assignment: the press waits, and is assigned again")
    func failedAssignment() throws {
        try play(
            #""runs":"queue","waitsFor":"10s""#,
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            hold
            ops> button.handle {"form":"deploy"}
            ops< {"result":{"fields":["start"]}}
            fail
            release
            ops< {"method":"button.assigned","params":{"press":"$press","ticket":"$ticket"}}
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"done"}
            ops< {"result":{"state":"done"}}
            """#)
    }

    @Test("a failed batch takes back that somebody asked to cancel a run")
    func failedCancel() throws {
        try play(
            #""runs":"queue""#,
            #"""
            ops> button.handle {"form":"deploy"}
            ops< {"result":"*"}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            ops< {"method":"button.assigned","params":{"ticket":"$ticket"}}
            hold
            root> state.set {"form":"deploy","changes":[{"field":"version","value":"2"}]}
            alice> button.cancel {"form":"deploy","field":"start","press":"$press"}
            fail
            root< {"error":{"data":{"kind":"unavailable"}}}
            alice< {"error":{"data":{"kind":"unavailable"}}}
            release
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"failed"}
            ops< {"result":{"state":"failed"}}
            """#)
    }

    @Test("timeout: the daemon ends the run and tells the handler")
    func timeout() throws {
        try play(
            #""runs":"queue","timeout":"60s""#,
            #"""
            ops> button.handle {"form":"deploy"}
            ops< {"result":"*"}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            ops< {"method":"button.assigned","params":{"ticket":"$ticket"}}
            pass 60000
            ops< {"method":"button.cancelled","params":{"press":"$press","state":"timedOut"}}
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"done"}
            ops< {"error":{"data":{"kind":"conflict","ended":{"run":{"state":"timedOut"}}}}}
            """#)
    }

    @Test("a definition without the button cancels its presses and tells the handler")
    func redefined() throws {
        try play(
            #""runs":"queue""#,
            #"""
            ops> button.handle {"form":"deploy"}
            ops< {"result":"*"}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            ops< {"method":"button.assigned","params":{"ticket":"$ticket"}}
            root> form.apply {"definition":{"form":"deploy","fields":[{"id":"go","was":"start","type":"button","runs":"one"}]}}
            root< {"result":"*"}
            ops> button.progress {"press":"$press","ticket":"$ticket","fraction":0}
            ops< {"result":{}}
            root> form.apply {"definition":{"form":"deploy","fields":[{"id":"go","type":"button"}]}}
            root< {"result":"*"}
            ops< {"method":"button.cancelled","params":{"field":"go","press":"$press","state":"cancelled"}}
            ops> button.finish {"press":"$press","ticket":"$ticket","outcome":"done"}
            ops< {"error":{"data":{"kind":"conflict","ended":{"run":{"state":"cancelled"}}}}}
            """#)
    }

    @Test("outcomes follow a button to its new name, and are not those of another button")
    func outcomesOfRenamedButtons() throws {
        try play(
            #""runs":"queue""#,
            #"""
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            root> form.apply {"definition":{"form":"deploy","fields":[{"id":"launch","was":"start","type":"button","runs":"queue"}]}}
            root< {"result":{"created":false}}
            crash
            connect root
            root> button.outcome {"form":"deploy","press":"$press"}
            root< {"result":{"field":"launch","state":"unhandled"}}
            root> state.get {"form":"deploy"}
            root< {"result":{"fields":{"launch":{"runs":{"waiting":0,"last":{"press":"$press"}}}}}}
            root> form.apply {"definition":{"form":"deploy","fields":[{"id":"other","type":"toggle"}]}}
            root< {"result":{"removed":["launch"]}}
            root> form.apply {"definition":{"form":"deploy","fields":[{"id":"launch","type":"button","runs":"queue"}]}}
            root< {"result":{"added":["launch"]}}
            root> state.get {"form":"deploy"}
            root< {"result":{"fields":{"launch":{"runs":{"waiting":0,"!last":0}}}}}
            crash
            connect root
            root> state.get {"form":"deploy"}
            root< {"result":{"fields":{"launch":{"runs":{"waiting":0,"!last":0}}}}}
            root> button.outcome {"form":"deploy","press":"$press"}
            root< {"result":{"field":"launch","state":"unhandled"}}
            """#)
    }

    @Test("progress is told to a subscriber that comes later, and ten times a second")
    func progress() throws {
        try play(
            #""runs":"queue""#,
            #"""
            ops> button.handle {"form":"deploy"}
            ops< {"result":"*"}
            alice> state.set {"form":"deploy","changes":[{"field":"start","press":true}]}
            alice< {"result":{"fields":{"start":{"press":"$press"}}}}
            ops< {"method":"button.assigned","params":{"ticket":"$ticket"}}
            ops> button.progress {"press":"$press","ticket":"$ticket","fraction":0.1}
            ops< {"result":{}}
            alice> state.subscribe {"form":"deploy"}
            alice< {"result":"*"}
            alice< {"method":"button.progress","params":{"fraction":0.1}}
            ops> button.progress {"press":"$press","ticket":"$ticket","fraction":0.2}
            ops< {"result":{}}
            ops> button.progress {"press":"$press","ticket":"$ticket","fraction":0.3}
            ops< {"result":{}}
            pass 100
            alice< {"method":"button.progress","params":{"fraction":0.3}}
            """#)
    }
}
