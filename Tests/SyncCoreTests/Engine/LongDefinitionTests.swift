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

    @Test("who falls off the change log when a frame cannot bring it up to date comes again")
    func coalesced() throws {
        var limits = Limits()
        limits.maxFrame = 36_000
        limits.changeLogBytesMax = 1
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        func apply(fields: Int) {
            let answer = host.ask(root, Self.apply("a", fields: fields))
            #expect(answer.first?.contains(#""result""#) == true, "\(answer)")
        }
        apply(fields: 66)
        let watcher = host.connect(uid: 8, user: "bob")
        let snapshot = host.ask(
            watcher,
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"}}"#)
        let log = try #require(snapshot.last?.firstMatch(of: /"log":"([^"]*)"/)?.1)
        host.stopped.insert(watcher)
        // Every value gets an author with a longer name than it had.
        let writer = host.connect(uid: 9, user: String(repeating: "w", count: 60))
        for field in 0..<66 {
            let change = Change(field: "a\(field)", .value(.bool(true)))
            host.call(writer, .stateSet(StateSet(form: "f", changes: [change])))
        }
        // One more field: only its value changes with the definition.
        apply(fields: 67)
        host.resumeReading(watcher)
        let told = host.take(watcher)
        #expect(told.allSatisfy { $0.utf8.count <= limits.maxFrame })
        #expect(told.last?.contains(#""reason":"restart""#) == true, "\(told)")
        let again = host.connect(uid: 8, user: "bob")
        let rest = host.ask(
            again,
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f","#
                + #""since":{"log":"\#(log)","revision":1}}}"#)
        #expect(rest.first?.contains(#""resumed":true"#) == true && rest.count == 68)
        #expect(rest.last?.contains(#""revision":68,"#) == true)
    }
}
