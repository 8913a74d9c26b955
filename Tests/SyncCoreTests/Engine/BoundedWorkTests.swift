import EngineTestKit
import Testing

@testable import SyncCore

/// Limits on the work of one request. `make check-cost` counts its cost in instructions.
@Suite struct BoundedWorkTests {
    private func host(
        _ fields: String, limits: Limits = Limits(),
        compile: @escaping PatternCompiler = { _ in .success(PatternMatcher { _ in true }) }
    ) throws -> (EngineHost, ConnectionID) {
        let host = try EngineHost(limits: limits, compile: compile)
        let root = host.connect(uid: 0, user: "root")
        let answer = host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[\#(fields)]}}}"#
        )
        #expect(answer.first?.contains(#""result""#) == true, "\(answer)")
        return (host, root)
    }

    private func set(_ changes: [String], _ more: String = "") -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f"\#(more),"changes":[\#(changes.joined(separator: ","))]}}"#
    }

    private func take(_ method: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"state.\#(method)","params":{"form":"f"}}"#
    }

    private func value(_ host: EngineHost, _ id: String) -> JSON? {
        let form = host.engine.form(named: "f")
        return form?.committed.definition.index(of: id).map { form?.committed.value($0) ?? .null }
    }

    // MARK: - Definitions

    @Test("options are compared with those of sources up to a bound", arguments: [2, 40])
    func comparedOptions(controls: Int) throws {
        var limits = Limits()
        limits.optionsMax = 40_000
        let host = try EngineHost(limits: limits)
        let options = (0..<400).map { "\($0)" }.joined(separator: ",")
        let sources = (0..<controls).map { #""a\#($0)""# }.joined(separator: ",")
        let fields = (0..<controls).flatMap { number in
            [
                #"{"id":"a\#(number)","type":"picker","options":[\#(options)]}"#,
                #"{"id":"s\#(number)","type":"picker","options":[\#(options)],"sources":[\#(sources)]}"#,
            ]
        }
        let answer = host.ask(
            host.connect(uid: 0, user: "root"),
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[\#(fields.joined(separator: ","))]}}}"#
        )
        // 640,000 options would be looked for, of which 500,000 may be.
        let isRefused = answer.first?.contains("too many options are compared") == true
        #expect(isRefused == (controls == 40), "\(answer.description.prefix(300))")
    }

    // MARK: - One step a field

    @Test(
        "what one transaction did to a field many times is one step to take back, and back again",
        arguments: [
            (#"{"id":"x","type":"text","maxLength":9}"#, #""value":"a""#, #""value":"b""#),
            (#"{"id":"x","type":"stepper","min":0,"max":9}"#, #""increment":2"#, #""increment":3"#),
            (#"{"id":"x","type":"stepper","min":0,"max":9}"#, #""increment":2"#, #""value":7"#),
            (#"{"id":"x","type":"stepper","min":0,"max":9}"#, #""value":4"#, #""increment":3"#),
            (#"{"id":"x","type":"stepper","min":0,"max":9}"#, #""reset":true"#, #""increment":3"#),
            (
                #"{"id":"x","type":"picker","multiple":true,"options":["a","b","c"]}"#,
                #""add":["a"]"#, #""add":["c"]"#
            ),
            (
                #"{"id":"x","type":"picker","multiple":true,"options":["a","b","c"]}"#,
                #""value":["a","b"]"#, #""remove":["a"]"#
            ),
            (
                #"{"id":"x","type":"wheels","components":[{"id":"u","options":["1","2"]},{"id":"v","options":["3","4"]}]}"#,
                #""value":{"u":"2"}"#, #""value":{"v":"4"}"#
            ),
        ])
    func merged(field: String, first: String, second: String) throws {
        for isSetBefore in [false, true] {
            let (host, root) = try host(field)
            if isSetBefore {
                // First both alone, by another user, so that there is an earlier value.
                let other = host.connect(uid: 0, user: "root")
                host.ask(other, set([#"{"field":"x",\#(first)}"#]))
            }
            let before = value(host, "x")
            let edits = (0..<6).map {
                #"{"field":"x",\#($0.isMultiple(of: 2) ? first : second)}"#
            }
            host.ask(root, set(edits))
            let after = value(host, "x")
            let steps = host.engine.form(named: "f")?.undo.newest(.undo, owner: nil, field: nil)?
                .steps.count
            guard after != before else { continue }
            #expect(steps == 1, "\(field) \(first) \(second)")
            host.ask(root, take("undo"))
            #expect(value(host, "x") == before, "\(field) \(first) \(second), undone")
            host.ask(root, take("redo"))
            #expect(value(host, "x") == after, "\(field) \(first) \(second), redone")
            host.ask(root, take("undo"))
            #expect(value(host, "x") == before, "\(field) \(first) \(second), undone again")
        }
    }

    @Test("what is counted up and down again leaves nothing to take back")
    func upAndDown() throws {
        let (host, root) = try host(#"{"id":"x","type":"stepper","min":0,"max":9}"#)
        host.ask(
            root, set([#"{"field":"x","increment":1}"#, #"{"field":"x","increment":-1}"#]))
        #expect(host.engine.form(named: "f")?.undo.count == 0)
    }

    @Test("the merged step of tags survives a restart")
    func storedTags() throws {
        let (host, root) = try host(
            #"{"id":"x","type":"picker","multiple":true,"options":["a","b","c"]}"#)
        host.ask(root, set([#"{"field":"x","add":["a"]}"#, #"{"field":"x","add":["c"]}"#]))
        try host.crash()
        let again = host.connect(uid: 0, user: "root")
        host.ask(again, take("undo"))
        #expect(value(host, "x") == [])
        host.ask(again, take("redo"))
        #expect(value(host, "x") == ["a", "c"])
    }

    // MARK: - What is seen

    @Test("of a transaction's sets of one field with a token the last alone stands")
    func ownWrites() throws {
        let (host, root) = try host(
            #"{"id":"x","type":"text","maxLength":9,"onConflict":"ask"}"#)
        let other = host.connect(uid: 0, user: "root")
        host.ask(other, set([#"{"field":"x","value":"theirs"}"#]))
        host.ask(
            root,
            set((0..<50).map { #"{"field":"x","value":"\#($0)"}"# }, #","context":"""#))
        let store = host.engine.form(named: "f")?.committed.cells[0].store
        #expect(store?.dots.count == 2, "the other's and the last of ours")
        host.ask(root, set([#"{"field":"x","value":"last"}"#], #","context":"""#))
        let after = host.engine.form(named: "f")?.committed.cells[0].store
        #expect(after?.dots.count == 2, "a connection has seen what it wrote itself")
    }

    // MARK: - Values

    @Test("a transaction that writes more values than it may is refused and changes nothing")
    func values() throws {
        var limits = Limits()
        limits.valuesMax = 1_000
        let fields = (0..<100).map { #"{"id":"a\#($0)","type":"toggle"}"# }.joined(separator: ",")
        let sources = (0..<100).map { #""a\#($0)""# }.joined(separator: ",")
        let (host, root) = try host(
            fields + #",{"id":"s","type":"toggle","sources":[\#(sources)]}"#, limits: limits)
        let changes = (0..<11).map { #"{"field":"s","value":\#($0.isMultiple(of: 2))}"# }
        let refused = host.ask(root, set(changes))
        #expect(refused.first?.contains(#""limit":"valuesMax""#) == true, "\(refused)")
        #expect(host.engine.form(named: "f")?.committed.revision == 1)
        let taken = host.ask(root, set(Array(changes.prefix(10))))
        #expect(taken.first?.contains(#""result""#) == true, "\(taken)")
    }

    // MARK: - Patterns

    private static let costly: PatternCompiler = { _ in
        .success(
            PatternMatcher(compiledBytes: 100) {
                PatternMatcher.Outcome(isMatch: true, steps: $0.utf8.count * 100)
            })
    }

    @Test("the steps of patterns are bounded for each transaction, and charged")
    func patternSteps() throws {
        var limits = Limits()
        limits.patternStepsMax = 10_000
        let (host, root) = try host(
            #"{"id":"x","type":"text","maxLength":99,"pattern":"p"}"#, limits: limits,
            compile: Self.costly)
        let long = String(repeating: "x", count: 60)
        let answer = host.ask(
            root, set([1, 2].map { #"{"field":"x","value":"\#(long)\#($0)"}"# }))
        #expect(answer.first?.contains(#""limit":"patternStepsMax""#) == true, "\(answer)")
        #expect(host.engine.form(named: "f")?.committed.revision == 1)
        let one = host.ask(root, set([#"{"field":"x","value":"\#(long)"}"#]))
        #expect(one.first?.contains(#""result""#) == true, "\(one)")
        #expect(host.engine.workspace.patternMeter.used >= 6_000)
    }

    @Test("a definition whose patterns take too long on the values there are is refused")
    func patternsOfDefinition() throws {
        var limits = Limits()
        limits.patternStepsMax = 10_000
        let text = String(repeating: "x", count: 90)
        let plain = (0..<3).map { #"{"id":"x\#($0)","type":"text","maxLength":99}"# }
        let (host, root) = try host(
            plain.joined(separator: ","), limits: limits, compile: Self.costly)
        for number in 0..<3 {
            host.ask(root, set([#"{"field":"x\#(number)","value":"\#(text)"}"#]))
        }
        let with = plain.map { $0.dropLast() + #","pattern":"p"}"# }.joined(separator: ",")
        let answer = host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[\#(with)]}}}"#
        )
        #expect(answer.first?.contains(#""limit":"patternStepsMax""#) == true, "\(answer)")
        let state = host.ask(root, take("get"))
        #expect(state.first?.contains(#""invalid""#) == false)
        #expect(host.engine.form(named: "f")?.committed.version == 1)
    }
}
