import EngineTestKit
import SyncCore
import Testing

private let iceCream = #"""
    {"form":"ice-cream","fields":[
      {"id":"flavor","type":"picker","options":["chocolate","vanilla","strawberry"],"onConflict":"ask"},
      {"id":"scoops","type":"stepper","min":1,"max":5,"default":2},
      {"id":"days","type":"picker","multiple":true,"options":["mon","tue","wed"],"default":["mon"]},
      {"id":"secret","type":"secure"},
      {"id":"go","type":"button"}]}
    """#

private func rpc(_ method: String, _ params: String, id: Int = 1) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
}

@Test("an edit is answered and told to everybody, in the same bytes")
func editIsTold() throws {
    let host = try EngineHost()
    let root = host.connect(uid: 0, user: "root")
    let created = host.ask(root, rpc("form.apply", #"{"definition":\#(iceCream)}"#))
    #expect(created.count == 1)
    #expect(created[0].contains(#""created":true"#), "\(created)")
    let (one, two) = (host.connect(), host.connect(uid: 1001, user: "bob"))
    for id in [one, two] { host.ask(id, rpc("state.subscribe", #"{"form":"ice-cream"}"#)) }
    _ = (host.take(one), host.take(two))
    let answer = host.ask(
        one,
        rpc(
            "state.set",
            #"{"form":"ice-cream","changes":[{"field":"flavor","value":"vanilla"},{"field":"scoops","increment":1}]}"#
        ))
    #expect(answer.count == 2)
    #expect(answer[0].contains(#""revision":2"#), "\(answer)")
    #expect(answer[0].contains(#""value":3"#), "\(answer)")
    #expect(host.take(two) == [answer[1]])
    #expect(answer[1].contains("state.changed"))
}

@Test("nobody hears of an edit before its batch is committed")
func durableBeforeVisible() throws {
    let host = try EngineHost()
    let root = host.connect(uid: 0, user: "root")
    host.ask(root, rpc("form.apply", #"{"definition":\#(iceCream)}"#))
    let watcher = host.connect()
    host.ask(watcher, rpc("state.subscribe", #"{"form":"ice-cream"}"#))
    _ = host.take(watcher)
    host.holdsCommits = true
    let answer = host.ask(
        root, rpc("state.set", #"{"form":"ice-cream","changes":[{"field":"scoops","value":4}]}"#))
    #expect(answer.isEmpty)
    let read = host.ask(watcher, rpc("state.get", #"{"form":"ice-cream","fields":["scoops"]}"#))
    #expect(read.count == 1 && read[0].contains(#""value":2"#), "\(read)")
    host.commit()
    host.settle()
    #expect(host.take(watcher).last?.contains(#""value":4"#) ?? false)
    #expect(host.take(root).last?.contains(#""revision":2"#) ?? false)
}

@Test("after a crash a subscriber goes on where it was")
func resumesAfterCrash() throws {
    let host = try EngineHost()
    let root = host.connect(uid: 0, user: "root")
    host.ask(root, rpc("form.apply", #"{"definition":\#(iceCream)}"#))
    for value in [3, 4, 5] {
        host.ask(
            root,
            rpc(
                "state.set",
                #"{"form":"ice-cream","changes":[{"field":"scoops","value":\#(value)}]}"#))
    }
    let log = try #require(
        host.ask(root, rpc("form.get", #"{"form":"ice-cream"}"#)).last?
            .firstMatch(of: /"log":"([^"]*)"/)?.1)
    try host.crash()
    let again = host.connect()
    let frames = host.ask(
        again,
        rpc("state.subscribe", #"{"form":"ice-cream","since":{"log":"\#(log)","revision":2}}"#))
    #expect(frames.count == 3, "\(frames)")
    #expect(frames[0].contains(#""resumed":true"#))
    #expect(frames[1].contains(#""revision":3"#) && frames[2].contains(#""revision":4"#))
}

@Test("tags added to an unset picker come on top of its default")
func addToDefault() throws {
    let host = try EngineHost()
    let root = host.connect(uid: 0, user: "root")
    host.ask(root, rpc("form.apply", #"{"definition":\#(iceCream)}"#))
    let answer = host.ask(
        root, rpc("state.set", #"{"form":"ice-cream","changes":[{"field":"days","add":["wed"]}]}"#))
    #expect(answer[0].contains(#""value":["mon","wed"]"#), "\(answer)")
    let undone = host.ask(root, rpc("state.undo", #"{"form":"ice-cream"}"#))
    #expect(
        undone[0].contains(#""value":["mon"]"#) && undone[0].contains(#""set":false"#), "\(undone)")
}

@Test("applying what was applied last changes nothing and keeps every field")
func applyTwice() throws {
    let host = try EngineHost()
    let root = host.connect(uid: 0, user: "root")
    let apply = rpc("form.apply", #"{"definition":\#(iceCream)}"#)
    host.ask(root, apply)
    let again = host.ask(root, apply)
    #expect(again[0].contains(#""version":1,"revision":1,"created":false"#), "\(again)")
    #expect(again[0].contains(#""invalid":[],"reset":[],"removed":[]"#), "\(again)")
}
