import EngineTestKit
import SyncCore
import Testing

/// Messages: why something is changed.
@Suite struct MessageTests {
    private static let shared = #"""
        {"form":"shared","fields":[{"id":"traffic","type":"slider","max":100,"step":5,"message":"required"},{"id":"mirror","type":"slider","max":100,"step":5,"binds":"traffic"},{"id":"note","type":"text"},{"id":"color","type":"picker","options":["red","blue"]}]}
        """#
    private static let strict = #"""
        {"form":"strict","message":"required","fields":[{"id":"note","type":"text"},{"id":"go","type":"button"}]}
        """#

    private func play(
        _ table: String, host: EngineHost? = nil, location: SourceLocation = #_sourceLocation
    ) throws {
        var conversation = try Conversation(
            ["shared": Self.shared, "strict": Self.strict], host: host)
        try conversation.play(table, location: location)
    }

    @Test("every method that changes something tells its message once, and history keeps it")
    func everyMethod() throws {
        try play(
            #"""
            connect root
            connect bob
            root> form.apply {"definition":@shared,"message":"first day"}
            root< {"result":{"created":true}}
            bob> form.watch {}
            bob< {"result":{"forms":[{"form":"shared"}]}}
            bob> state.subscribe {"form":"shared"}
            bob< {"result":{"revision":1}}
            root> state.set {"form":"shared","changes":[{"field":"note","value":"a"},{"field":"traffic","value":5}],"message":"INC-231 🚀"}
            root< {"result":{"revision":2,"!message":0}}
            bob< {"method":"state.changed","params":{"revision":2,"message":"INC-231 🚀","changes":[{"field":"traffic","!message":0},{"!message":0},{"!message":0}]}}
            root> state.set {"form":"shared","changes":[{"field":"note","value":"b"}]}
            root< {"result":{"revision":3}}
            bob< {"params":{"revision":3,"!message":0}}
            root> state.undo {"form":"shared"}
            root< {"result":{"revision":4}}
            bob< {"params":{"revision":4,"message":"undoes revision 3"}}
            root> state.redo {"form":"shared","message":"b it is"}
            root< {"result":{"revision":5}}
            bob< {"params":{"revision":5,"message":"b it is"}}
            root> form.setOptions {"form":"shared","field":"color","options":["red","green"],"message":"no blue"}
            root< {"result":{"revision":6}}
            bob< {"method":"form.changed","params":{"revision":6,"message":"no blue","context":"*"}}
            bob< {"method":"form.changed","params":{"revision":6,"message":"no blue","!context":0}}
            bob> state.history {"form":"shared"}
            bob< {"result":{"entries":[{"message":"no blue"},{"message":"b it is"},{"message":"undoes revision 3"},{"!message":0},{"message":"INC-231 🚀"},{"message":"first day"}]}}
            root> form.delete {"form":"shared","message":"moved"}
            root< {"result":{}}
            bob< {"method":"form.changed","params":{"deleted":true,"message":"moved"}}
            bob< {"method":"form.changed","params":{"deleted":true,"message":"moved"}}
            """#)
    }

    @Test("where a message is required, an edit, a press and an edit through a binding need one")
    func required() throws {
        try play(
            #"""
            connect root
            root> form.apply {"definition":@shared}
            root< {"result":{"created":true}}
            root> form.apply {"definition":@strict}
            root< {"result":{"created":true}}
            root> state.set {"form":"shared","changes":[{"field":"note","value":"a"},{"field":"traffic","value":5}]}
            root< {"error":{"code":-32602,"message":"~traffic is changed only with a message","data":{"kind":"invalidParams","needs":"message","form":"shared","field":"traffic"}}}
            root> state.set {"form":"shared","changes":[{"field":"mirror","increment":5}]}
            root< {"error":{"data":{"needs":"message","field":"mirror"}}}
            root> state.set {"form":"strict","changes":[{"field":"go","press":true}]}
            root< {"error":{"data":{"needs":"message","field":"go"}}}
            root> state.set {"form":"strict","changes":[{"field":"go","press":true}],"message":"now"}
            root< {"result":{"revision":2}}
            root> state.set {"form":"strict","changes":[{"field":"note","value":"x"}],"message":"why"}
            root< {"result":{"revision":3}}
            root> state.undo {"form":"strict"}
            root< {"result":{"revision":4}}
            """#)
    }

    @Test(
        "a message that is not one short line is refused with a sentence",
        arguments: [
            (#""""#, "is empty"), (#""  ""#, "is empty"), (#""two\nlines""#, "control"),
            (#""\u001b[31m""#, "control"), (#""\u202eover""#, "direction"),
            ("7", "should be one line"),
            ("\"" + String(repeating: "é", count: 201) + "\"", "has 201 characters"),
            ("\"" + String(repeating: "x", count: 513) + "\"", "has 513 bytes"),
        ])
    func invalid(_ message: String, _ fault: String) throws {
        try play(
            #"""
            connect root
            root> form.apply {"definition":@strict}
            root< {"result":{"created":true}}
            root> state.set {"form":"strict","changes":[{"field":"note","value":"x"}],"message":MESSAGE}
            root< {"error":{"message":"~FAULT","data":{"kind":"invalidParams","path":"message"}}}
            """#.replacing("MESSAGE", with: message).replacing("FAULT", with: fault))
    }

    @Test("a message is in no line of the log, and survives a kill")
    func kept() throws {
        let host = try EngineHost()
        try play(
            #"""
            connect root
            root> form.apply {"definition":@strict,"message":"needle"}
            root< {"result":{"created":true}}
            root> state.set {"form":"strict","changes":[{"field":"note","value":"x"}],"message":"needle"}
            root< {"result":{"revision":2}}
            root> state.set {"form":"strict","changes":[{"field":"note","value":7}],"message":"needle"}
            root< {"error":{"data":{"kind":"invalidValue"}}}
            crash
            connect bob
            bob> state.history {"form":"strict"}
            bob< {"result":{"entries":[{"message":"needle"},{"message":"needle"}]}}
            """#, host: host)
        #expect(!host.log.isEmpty && !host.log.contains { "\($0)".contains("needle") })
    }
}
