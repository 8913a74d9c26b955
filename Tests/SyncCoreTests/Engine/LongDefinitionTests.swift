import EngineTestKit
import Testing

@testable import SyncCore

/// The notification of a new definition contains all values that it changes, in one frame.
@Suite struct LongDefinitionTests {
    /// A form whose definition and values together do not fit in a frame.
    private static func apply(
        _ version: String, dryRun: Bool = false, fields: Int = 76
    ) -> String {
        let label = String(repeating: "l", count: 330)
        let fields = (0..<fields).map {
            #"{"id":"\#(version)\#($0)","type":"toggle","label":"\#(label)"}"#
        }
        return
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"dryRun":\#(dryRun),"definition":{"form":"f","fields":[\#(fields.joined(separator: ","))]}}}"#
    }

    @Test("a definition that no frame holds with its values is refused before anybody is told")
    func refused() throws {
        var limits = Limits()
        limits.maxFrame = 36_000
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        #expect(host.ask(root, Self.apply("a", fields: 20)).first?.contains(#""result""#) == true)
        let watcher = host.connect(uid: 8, user: "bob")
        host.ask(
            watcher,
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"}}"#)
        let get = #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"f"}}"#
        let before = host.ask(watcher, get)
        _ = host.take(watcher)
        for dryRun in [true, false] {
            let answer = host.ask(root, Self.apply("b", dryRun: dryRun)).first ?? ""
            #expect(answer.contains(#""kind":"invalidParams""#), "\(answer.prefix(300))")
            #expect(answer.contains(#""limit":"maxFrame""#))
            #expect(answer.contains("change fewer fields at once"))
        }
        #expect(host.take(watcher).isEmpty, "nobody is told of what is not done")
        #expect(host.ask(watcher, get) == before)
        // The corrected definition is accepted, and notified as the next revision.
        #expect(host.ask(root, Self.apply("c", fields: 20)).first?.contains(#""result""#) == true)
        #expect(host.take(watcher).last?.contains(#""revision":2,"#) == true)
    }

    @Test("a new form that no frame holds with its values is refused, and its name is free")
    func refusedCreation() throws {
        var limits = Limits()
        limits.maxFrame = 36_000
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        let answer = host.ask(root, Self.apply("b")).first ?? ""
        #expect(answer.contains(#""limit":"maxFrame""#), "\(answer.prefix(300))")
        let list = host.ask(root, #"{"jsonrpc":"2.0","id":1,"method":"form.list"}"#)
        #expect(list.first?.contains(#""forms":[]"#) == true)
        #expect(host.ask(root, Self.apply("c", fields: 20)).first?.contains(#""result""#) == true)
    }
}
