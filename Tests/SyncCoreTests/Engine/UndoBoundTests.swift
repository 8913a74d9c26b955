import EngineTestKit
import SyncCore
import Testing

@Test("large texts fall out of undo by their bytes, the newest never")
func undoIsBoundedInBytes() throws {
    let host = try EngineHost()
    let root = host.connect(uid: 0, user: "root")
    let definition = #"{"form":"f","fields":[{"id":"note","type":"text","maxLength":30000}]}"#
    host.ask(
        root,
        #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(definition)}}"#)
    for round in 0..<200 {
        let text = String(
            repeating: Character(Unicode.Scalar(UInt8(97 + round % 26))), count: 30_000)
        host.call(
            root,
            .stateSet(StateSet(form: "f", changes: [Change(field: "note", .value(.string(text)))])))
    }
    var undone = 0
    while host.call(root, .stateUndo(StateUndo(form: "f")))[0].contains("revision") { undone += 1 }
    // A record holds the 30 kB that were there before; 4 MiB hold about 139 of them.
    #expect((100..<150).contains(undone), "\(undone)")
}

@Test("the log names who connected, greeting or not, and what was refused, never the value")
func logOfRefusals() throws {
    let host = try EngineHost()
    let one = host.connect(uid: 1000, user: "alice")
    host.ask(one, #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"CANARY"}}"#)
    let lines = host.log.filter { $0.priority == .info }.map(\.message)
    #expect(lines.contains { $0.hasPrefix("connection 1: alice (uid 1000") }, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("refused notFound at CANARY: alice") }, "\(lines)")
}
