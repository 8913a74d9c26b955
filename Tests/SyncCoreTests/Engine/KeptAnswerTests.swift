import EngineTestKit
import Testing

@testable import SyncCore

@Test("an answer kept for a retry has no bytes of what was asked or told before it")
func keptAnswers() throws {
    let host = try EngineHost()
    let root = host.connect(uid: 0, user: "root")
    host.ask(
        root,
        #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[{"id":"s","type":"secure","maxLength":5000}]}}}"#
    )
    let secret = String(repeating: "canary", count: 700)
    let answer = host.ask(
        root,
        #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[{"field":"s","value":"\#(secret)"}],"idempotencyKey":"k"}}"#
    )
    #expect(answer.first?.contains(#""result""#) == true)
    let knowledge = host.engine.link.keys.lookUp(host.engine.link.keys.id(0, "k"))
    guard case .answered(let kept, _, _) = knowledge else {
        Issue.record("the key is not known")
        return
    }
    #expect(!kept.isEmpty && kept.capacity < kept.count + 256, "\(kept.capacity) bytes are kept")
}
