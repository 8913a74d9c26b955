import EngineTestKit
import Testing

@Suite("what a reset did is undone and redone, however often")
struct ResetUndoTests {
    /// Each kind of store: its initial value, a set, and the value after it.
    private static let cases: [(field: String, initial: String, edit: String, value: String)] = [
        ("picker", #""x""#, #""value":"y""#, #""y""#),
        ("toggle", "true", #""toggle":true"#, "false"),
        ("count", "2", #""value":5"#, "5"),
        ("count", "2", #""increment":3"#, "5"),
        ("text", #""""#, #""value":"hi""#, #""hi""#),
        ("tags", #"["a"]"#, #""add":["b"]"#, #"["a","b"]"#),
        ("wheels", #"{"one":1,"two":"p"}"#, #""value":{"two":"q"}"#, #"{"one":1,"two":"q"}"#),
    ]

    private static let form = #"""
        {"form":"f","fields":[
          {"id":"picker","type":"picker","options":["x","y"]},
          {"id":"toggle","type":"toggle","default":true},
          {"id":"count","type":"stepper","min":0,"max":9,"default":2},
          {"id":"text","type":"text"},
          {"id":"tags","type":"picker","multiple":true,"options":["a","b"],"default":["a"]},
          {"id":"wheels","type":"wheels","components":[
            {"id":"one","options":[1,2]},{"id":"two","options":["p","q"]}]}]}
        """#

    @Test("set, reset, then undo and redo over both, twice", arguments: cases)
    func chain(field: String, initial: String, edit: String, value: String) throws {
        let host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        func ask(_ method: String, _ params: String) -> String {
            host.ask(
                root,
                #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
            ).joined()
        }
        func change(_ change: String) -> String {
            ask("state.set", #"{"form":"f","changes":[{"field":"\#(field)",\#(change)}]}"#)
        }
        #expect(ask("form.apply", #"{"definition":\#(Self.form)}"#).contains(#""created":true"#))
        #expect(change(edit).contains(#""value":\#(value)"#))
        #expect(change(#""reset":true"#).contains(#""value":\#(initial)"#))
        for _ in 0..<2 {
            for (verb, expected) in [
                ("undo", value), ("redo", initial), ("undo", value), ("undo", initial),
                ("redo", value), ("redo", initial),
            ] {
                let answer = ask("state.\(verb)", #"{"form":"f"}"#)
                #expect(answer.contains(#""value":\#(expected)"#), "\(verb) \(field): \(answer)")
            }
            #expect(ask("state.redo", #"{"form":"f"}"#).contains("nothing to redo"))
        }
    }
}
