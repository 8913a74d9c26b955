import EngineTestKit
import SyncCore
import Testing

/// Forms of the largest size, and names that look the same.
@Suite struct HugeFormTests {
    private static func apply(_ fields: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[\#(fields)]}}}"#
    }

    private static func set(_ change: String, key: String? = nil) -> String {
        let key = key.map { #","idempotencyKey":"\#($0)""# } ?? ""
        return
            #"{"jsonrpc":"2.0","id":2,"method":"state.set","params":{"form":"f","changes":[\#(change)]\#(key)}}"#
    }

    private static let toggles = (0..<10_000).map { #"{"id":"t\#($0)","type":"toggle"}"# }
        .joined(separator: ",")

    @Test("10,000 fields are refused where no frame holds them all, with what would help")
    func fieldsRefused() throws {
        let host = try EngineHost(limits: Limits())
        let root = host.connect(uid: 0, user: "root")
        let answer = host.ask(root, Self.apply(Self.toggles)).first ?? ""
        #expect(answer.contains(#""kind":"invalidParams""#), "\(answer.prefix(300))")
        #expect(answer.contains("a snapshot may take"), "\(answer.prefix(300))")
        #expect(answer.contains("fewer controls, or a smaller maxLength"))
        let list = host.ask(root, #"{"jsonrpc":"2.0","id":3,"method":"form.list"}"#)
        #expect(list.first?.contains(#""forms":[]"#) == true)
    }

    @Test("10,000 fields are read, set and followed if they fit in maxFrame")
    func fields() throws {
        var limits = Limits()
        limits.maxFrame = 16 << 20
        let host = try EngineHost(limits: limits)
        let root = host.connect(uid: 0, user: "root")
        let applied = host.ask(root, Self.apply(Self.toggles)).first ?? ""
        try #require(applied.contains(#""result""#), "\(applied.prefix(300))")
        let watcher = host.connect(uid: 8, user: "bob")
        let snapshot = host.ask(
            watcher, #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"}}"#)
        let fields = try JSON(parsing: try #require(snapshot.first))["result"]?["fields"]
        #expect(fields?.objectValue?.count == 10_000)
        _ = host.take(watcher)
        host.ask(root, Self.set(#"{"field":"t0","toggle":true},{"field":"t9999","value":true}"#))
        let told = try #require(host.take(watcher).last)
        let changes = try JSON(parsing: told)["params"]?["changes"]?.arrayValue
        #expect(changes?.compactMap { $0["field"]?.stringValue } == ["t0", "t9999"])
        // One more is one too many.
        let more = host.ask(root, Self.apply(Self.toggles + #",{"id":"u","type":"toggle"}"#))
        #expect(more.first?.contains("at most 10000") == true, "\(more.first?.prefix(300) ?? "")")
    }

    @Test("a picker of 10,000 options is applied, and the last of them is picked")
    func options() throws {
        let host = try EngineHost(limits: Limits())
        let root = host.connect(uid: 0, user: "root")
        let options = (0..<10_000).map { #""o\#($0)""# }.joined(separator: ",")
        let applied =
            host.ask(
                root, Self.apply(#"{"id":"p","type":"picker","options":[\#(options)]}"#)
            ).first ?? ""
        try #require(applied.contains(#""result""#), "\(applied.prefix(300))")
        let picked = host.ask(root, Self.set(#"{"field":"p","value":"o9999"}"#)).first ?? ""
        #expect(picked.contains(#""value":"o9999""#))
        let wrong = host.ask(root, Self.set(#"{"field":"p","value":"o10000"}"#)).first ?? ""
        #expect(wrong.contains(#""kind":"invalidValue""#))
        #expect(wrong.utf8.count < 4_096, "an error lists no 10,000 options")
    }

    /// é as one scalar and as two: Swift considers the strings equal, but their bytes differ.
    private static let twins = ["\u{E9}", "e\u{301}"]

    @Test("keys, options and forms that look the same are different where their bytes are")
    func normalization() throws {
        let host = try EngineHost(limits: Limits())
        let root = host.connect(uid: 0, user: "root")
        host.ask(root, Self.apply(#"{"id":"n","type":"stepper","min":0,"max":9}"#))
        for key in Self.twins {
            let answer = host.ask(root, Self.set(#"{"field":"n","increment":1}"#, key: key))
            #expect(answer.first?.contains(#""result""#) == true)
        }
        let get = #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"f"}}"#
        #expect(host.ask(root, get).first?.contains(#""value":2"#) == true, "two keys, two edits")
        for name in Self.twins {
            let answer = host.ask(
                root,
                #"{"jsonrpc":"2.0","id":1,"method":"state.get","params":{"form":"f","fields":["\#(name)"]}}"#
            )
            #expect(answer.first?.contains(#""kind":"notFound""#) == true)
            let form = host.ask(
                root,
                #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"\#(name)","fields":[{"id":"x","type":"toggle"}]}}}"#
            )
            #expect(form.first?.contains(#""kind":"invalidParams""#) == true)
        }
    }
}
