import EngineTestKit
import SyncCore
import Testing

/// `history.redact`: a message that should not have been written.
@Suite struct RedactionTests {
    private static let note = #"""
        {"form":"note","fields":[{"id":"text","type":"text"},{"id":"go","type":"button","runs":"queue"},{"id":"plain","type":"button"}]}
        """#

    private static let begin = #"""
        connect root
        root> form.apply {"definition":@note,"message":"hunter2 is the password"}
        root< {"result":{"created":true}}
        connect alice
        connect eve

        """#

    private func play(
        _ table: String, host: EngineHost? = nil, location: SourceLocation = #_sourceLocation
    ) throws {
        var conversation = try Conversation(["note": Self.note], host: host)
        try conversation.play(table, location: location)
    }

    @Test(
        "the message is overwritten in history and for who resumes, and a revision says who did so",
        arguments: [Durability.commit, .interval, .memory])
    func overwritten(durability: Durability) throws {
        let host = try EngineHost(durability: durability)
        try play(
            Self.begin + #"""
                alice> state.subscribe {"form":"note"}
                alice< {"result":{"revision":1}}
                root> state.set {"form":"note","changes":[{"field":"text","value":"a"}],"message":"hunter2"}
                root< {"result":{"revision":2}}
                alice< {"method":"state.changed","params":{"revision":2,"message":"hunter2"}}
                root> history.redact {"form":"note","revision":2,"message":"a password"}
                root< {"result":{"form":"note","revision":3}}
                alice< {"method":"state.changed","params":{"revision":3,"changes":[],"redacts":2,"message":"a password"}}
                root> history.redact {"form":"note","revision":1}
                root< {"result":{"revision":4}}
                alice< {"method":"state.changed","params":{"revision":4,"redacts":1,"!message":0}}
                alice> state.history {"form":"note"}
                alice< {"result":{"entries":[{"revision":4,"kind":"redact","redacts":1,"by":{"user":"root"},"changes":[]},{"revision":3,"redacts":2,"message":"a password"},{"revision":2,"kind":"set","message":"redacted","changes":[{"field":"text","value":"a"}],"!redacts":0},{"revision":1,"kind":"apply","message":"redacted"}]}}
                alice> state.explain {"form":"note","field":"text"}
                alice< {"result":{"change":{"revision":2,"message":"redacted"}}}
                """#, host: host)
        let events = host.auditLog.entries.compactMap { entry in
            entry.fields.first { $0.name == .event }?.value
        }
        #expect(events == ["applied", "redacted", "redacted"])
    }

    @Test(
        "a page of history that is being collected loses the message too",
        arguments: [Durability.commit, .interval, .memory])
    func collectedPage(durability: Durability) throws {
        let host = try EngineHost(durability: durability)
        // The first read of the store finds the message, and the page takes several more.
        let press = #"""
            root> state.set {"form":"note","changes":[{"field":"plain","press":true}]}
            root< {"result":"*"}

            """#
        try play(
            Self.begin + String(repeating: press, count: 1_000) + #"""
                root> state.set {"form":"note","changes":[{"field":"text","value":"a"}],"message":"hunter2"}
                root< {"result":{"revision":1002}}
                pass 20000
                hold-fetches
                alice> state.history {"form":"note","field":"text"}
                fetch
                root> history.redact {"form":"note","revision":1002}
                fetch
                root< {"result":{"form":"note","revision":1003}}

                """# + String(repeating: "fetch\npass 500\n", count: 20) + #"""
                    alice< {"result":{"entries":[{"revision":1002,"message":"redacted"},{"revision":1}]}}
                    """#, host: host)
    }

    @Test("a retry of a proposal does not have the message")
    func retriedProposal() throws {
        let guarded = #"""
            {"form":"note","fields":[{"id":"on","type":"toggle","approval":{"from":["user:eve"]}}]}
            """#
        let host = try EngineHost()
        var conversation = try Conversation(["note": guarded], host: host)
        try conversation.play(
            Self.begin + #"""
                alice> state.set {"form":"note","changes":[{"field":"on","value":true}],"propose":true,"message":"hunter3","idempotencyKey":"k"}
                alice< {"result":{"proposal":{"id":1,"message":"hunter3"}}}
                eve> proposal.approve {"form":"note","proposal":1}
                eve< {"result":{"proposal":{"state":"applied","message":"hunter3"}}}
                root> history.redact {"form":"note","revision":2}
                root< {"result":{"revision":3}}
                alice> state.set {"form":"note","changes":[{"field":"on","value":true}],"propose":true,"message":"hunter3","idempotencyKey":"k"}
                alice< {"result":{"proposal":{"id":1,"!message":0}}}
                """#)
        let kept = host.store.keys.values.map { String(decoding: $0.result, as: UTF8.self) }
        #expect(kept.count == 1 && !kept.contains { $0.contains("hunter3") })
    }

    @Test("a redaction waits for the edits that its connection sent before it")
    func pipelined() throws {
        try play(
            Self.begin + #"""
                hold
                root> state.set {"form":"note","changes":[{"field":"text","value":"a"}],"message":"hunter2"} !
                root> history.redact {"form":"note","revision":2} !
                settle
                release
                root< {"result":{"revision":2}}
                root< {"result":{"form":"note","revision":3}}
                root> state.history {"form":"note","limit":2}
                root< {"result":{"entries":[{"redacts":2},{"revision":2,"message":"redacted"}]}}
                """#)
    }

    @Test("the redaction of a form that was deleted meanwhile does not touch the one in its place")
    func anotherForm() throws {
        try play(
            Self.begin + #"""
                root> state.set {"form":"note","changes":[{"field":"text","value":"a"}],"message":"hunter2"}
                root< {"result":{"revision":2}}
                connect other uid=0 user=root
                hold-fetches
                root> history.redact {"form":"note","revision":2}
                other> form.delete {"form":"note"}
                other< {"result":{}}
                other> form.apply {"definition":@note}
                other< {"result":{"created":true}}
                other> state.set {"form":"note","changes":[{"field":"text","value":"b"}],"message":"new"}
                other< {"result":{"revision":2}}
                fetch
                root< {"error":{"data":{"kind":"notFound"}}}
                other> state.history {"form":"note","limit":1}
                fetch
                other< {"result":{"entries":[{"revision":2,"message":"new","changes":[{"value":"b"}]}]}}
                """#)
    }

    @Test("only an admin redacts, and only a message that is there")
    func refused() throws {
        try play(
            Self.begin + #"""
                root> state.set {"form":"note","changes":[{"field":"text","value":"a"}]}
                root< {"result":{"revision":2}}
                alice> history.redact {"form":"note","revision":1}
                alice< {"error":{"data":{"kind":"forbidden"}}}
                root> history.redact {"form":"note","revision":2}
                root< {"error":{"message":"revision 2 of note has no message; see pickerctl history note/","data":{"kind":"notFound"}}}
                root> history.redact {"form":"note","revision":3}
                root< {"error":{"message":"the history of note does not have revision 3; see pickerctl history note/","data":{"kind":"notFound"}}}
                root> history.redact {"form":"nothing","revision":3}
                root< {"error":{"data":{"kind":"notFound"}}}
                root> state.get {"form":"note"}
                root< {"result":{"revision":2}}
                """#)
    }

    @Test("undo, and what is set next, do not notice it")
    func undo() throws {
        try play(
            Self.begin + #"""
                root> state.set {"form":"note","changes":[{"field":"text","value":"a"}],"message":"x"}
                root< {"result":{"revision":2}}
                root> history.redact {"form":"note","revision":2}
                root< {"result":{"revision":3}}
                root> state.undo {"form":"note"}
                root< {"result":{"revision":4,"fields":{"text":{"value":""}}}}
                root> state.redo {"form":"note"}
                root< {"result":{"revision":5,"fields":{"text":{"value":"a"}}}}
                """#)
    }
}
