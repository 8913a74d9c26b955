import EngineTestKit
import SyncCore
import Testing

@Suite("Audit lines")
struct AuditTests {
    @Test("what changes a form or shows a secret is told with who did it")
    func told() throws {
        var talk = try Conversation()
        try talk.play(Self.acts())
        let lines = talk.host.auditLog.entries
        let events = lines.compactMap { $0.fields.first { $0.name == .event }?.value }
        #expect(events == ["applied", "options", "revealed", "deleted"])
        #expect(lines.allSatisfy { $0.message.contains("root (uid 0, pid ") })
        #expect(lines.allSatisfy { line in line.fields.contains { $0.name == .uid } })
    }

    @Test("an act whose line cannot be written is refused, and nothing of it is done")
    func refused() throws {
        var talk = try Conversation()
        try talk.play(Self.acts(upTo: "form.setOptions"))
        let store = talk.host.store
        talk.host.auditLog.isFull = true
        try talk.play(
            #"""
            root> form.setOptions {"form":"vault","field":"size","options":["s","xl"]}
            root< {"error":{"code":-32007,"data":{"kind":"unavailable","form":"vault"}}}
            root> state.reveal {"form":"vault","field":"code"}
            root< {"error":{"code":-32007}}
            root> form.delete {"form":"vault"}
            root< {"error":{"code":-32007}}
            root> form.apply {"definition":{"form":"vault","fields":[{"id":"code","type":"secure"}]}}
            root< {"error":{"code":-32007}}
            root> form.apply {"definition":{"form":"other","fields":[{"id":"a","type":"toggle"}]}}
            root< {"error":{"code":-32007}}
            root> form.get {"form":"other"}
            root< {"error":{"data":{"kind":"notFound"}}}
            root> form.get {"form":"vault"}
            root< {"result":{"version":1,"revision":1}}
            """#)
        #expect(talk.host.store.forms == store.forms)
        // What leaves no audit line is done all the same.
        try talk.play(
            #"""
            root> state.set {"form":"vault","changes":[{"field":"size","value":"m"}]}
            root< {"result":{"fields":{"size":{"value":"m"}}}}
            """#)
        talk.host.auditLog.isFull = false
        try talk.play(
            #"""
            root> form.delete {"form":"vault"}
            root< {"result":{}}
            """#)
    }

    private static func acts(upTo end: String? = nil) -> String {
        let acts = #"""
            connect root
            root> form.apply {"definition":{"form":"vault","fields":[{"id":"code","type":"secure"},{"id":"size","type":"picker","options":["s","m"]}]}}
            root< {"result":{"created":true}}
            root> form.setOptions {"form":"vault","field":"size","options":["s","m","l"]}
            root< {"result":{"version":2}}
            root> state.reveal {"form":"vault","field":"code"}
            root< {"result":{"value":null}}
            root> form.delete {"form":"vault"}
            root< {"result":{}}
            """#
        let lines = acts.split(separator: "\n")
        return lines.prefix { end == nil || !$0.contains(end!) }.joined(separator: "\n")
    }
}
