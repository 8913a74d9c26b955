// Errors that the simulation found, each as the smallest story.

import EngineTestKit
import SyncCore
import Testing

private let form = #"""
    {"form":"f","fields":[
      {"id":"name","type":"text","onConflict":"ask"},
      {"id":"seat","type":"picker","options":["a","b"],"onConflict":"first"},
      {"id":"count","type":"stepper","min":-100,"max":100,"default":0},
      {"id":"days","type":"picker","multiple":true,"options":["mon","tue","wed"],"default":["mon"]},
      {"id":"when","type":"wheels","components":[
        {"id":"month","options":["jan","feb"]},{"id":"year","options":["26","27"]}]}]}
    """#

private func rpc(_ method: String, _ params: String, id: Int = 1) -> String {
    #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":\#(params)}"#
}

/// A host with the form, and the requests of its users.
private struct Story {
    let host: EngineHost
    let root: ConnectionID

    init(durability: Durability = .commit, limits: Limits = Limits()) throws {
        host = try EngineHost(durability: durability, limits: limits)
        root = host.connect(uid: 0, user: "root")
        host.ask(root, rpc("form.apply", #"{"definition":\#(form)}"#))
    }

    @discardableResult
    func set(_ who: ConnectionID, _ changes: String, _ more: String = "") -> [String] {
        host.ask(who, rpc("state.set", #"{"form":"f","changes":[\#(changes)]\#(more)}"#))
    }

    @discardableResult
    func undo(_ who: ConnectionID, _ verb: String = "undo") -> String {
        host.ask(who, rpc("state.\(verb)", #"{"form":"f"}"#)).first ?? ""
    }

    /// The value of a field, as JSON text.
    func value(_ field: String) -> String {
        let answer = host.ask(root, rpc("state.get", #"{"form":"f","fields":["\#(field)"]}"#))
        guard let json = answer.last.flatMap({ try? JSON(parsing: Array($0.utf8)) }),
            let value = json["result"]?["fields"]?[field]?["value"]
        else { return "nothing" }
        var bytes: [UInt8] = []
        value.encode(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

@Test("a transaction that sets a field twice is not a conflict with itself")
func transactionSeesItself() throws {
    let story = try Story()
    let answer = story.set(
        story.root,
        #"{"field":"name","value":"Ada"},{"field":"name","value":"Bo"},{"field":"seat","value":"a"},"#
            + #"{"field":"seat","value":"b"}"#, #","context":"""#)
    #expect(answer[0].contains(#""value":"Bo""#) && !answer[0].contains("conflict"), "\(answer)")
}

@Test("a stepper that was reset reads as unset, whatever increments the reset had not seen")
func resetReadsUnset() throws {
    let story = try Story()
    story.set(story.root, #"{"field":"count","increment":1}"#)
    let other = story.host.connect()
    let answer = story.set(other, #"{"field":"count","reset":true}"#, #","context":"""#)
    #expect(answer[0].contains(#""value":0,"revision":3,"set":false"#), "\(answer)")
}

@Test("a refusal names a field once, though the request named it twice")
func refusalNamesOnce() throws {
    let story = try Story()
    let (one, two) = (story.host.connect(), story.host.connect(uid: 1001, user: "bob"))
    story.set(one, #"{"field":"name","value":"Ada"},{"field":"name","value":"Bo"}"#)
    story.set(two, #"{"field":"name","value":"Cleo"}"#)
    let refusal = story.undo(one)
    #expect(refusal.contains("conflict"))
    #expect(throws: Never.self) { try JSON(parsing: Array(refusal.utf8)) }
}

@Test("with interval, a commit of earlier edits takes nothing back of later ones")
func lateCommitKeepsLaterEdits() throws {
    let story = try Story(durability: .interval)
    story.host.holdsCommits = true
    story.set(story.root, #"{"field":"count","value":1}"#)
    story.host.pass(milliseconds: 200)
    #expect(story.host.batchUnderWay != nil)
    story.set(story.root, #"{"field":"count","value":2}"#)
    story.host.commit()
    story.host.settle()
    #expect(story.value("count") == "2")
}

@Test("undo leaves an increment alone that somebody's set has done away with")
func undoOfOverwrittenIncrement() throws {
    let story = try Story()
    let (one, two) = (story.host.connect(), story.host.connect(uid: 1001, user: "bob"))
    story.set(one, #"{"field":"count","increment":10}"#)
    story.set(two, #"{"field":"count","value":1}"#)
    #expect(story.undo(one).contains("conflict"))
    #expect(story.value("count") == "1")
}

@Test("undo of a set leaves what others counted on top of it, even where nothing can be taken off")
func undoOfSetCountedOn() throws {
    let story = try Story()
    let (one, two) = (story.host.connect(), story.host.connect(uid: 1001, user: "bob"))
    story.set(one, #"{"field":"count","value":0}"#)
    story.set(two, #"{"field":"count","increment":1}"#)
    #expect(story.undo(one).contains("conflict"))
    #expect(story.value("count") == "1")
}

@Test("undo never shows what one transaction set and set again")
func undoSkipsWhatNobodySaw() throws {
    let story = try Story()
    let one = story.host.connect()
    story.set(one, #"{"field":"seat","value":"a"}"#)
    story.host.ask(
        story.root, rpc("form.setOptions", #"{"form":"f","field":"seat","options":["b","c"]}"#))
    story.set(one, #"{"field":"seat","value":"b"},{"field":"seat","value":"c"}"#)
    #expect(story.undo(one).contains("conflict"))
    #expect(story.value("seat") == #""c""#)
}

@Test("undo removes no tag that somebody else has set as well")
func undoLeavesOthersTags() throws {
    let story = try Story()
    let (one, two) = (story.host.connect(), story.host.connect(uid: 1001, user: "bob"))
    story.set(one, #"{"field":"days","add":["wed"]}"#)
    story.set(two, #"{"field":"days","value":["mon","tue","wed"]}"#)
    story.undo(one)
    #expect(story.value("days") == #"["mon","tue","wed"]"#)
}

@Test("undo goes back as many steps as were made, and redo comes all the way again")
func undoAllTheWay() throws {
    let story = try Story()
    let one = story.host.connect()
    story.set(one, #"{"field":"count","increment":1}"#)
    story.set(one, #"{"field":"count","value":5}"#)
    story.set(one, #"{"field":"count","value":7},{"field":"count","increment":2}"#)
    story.undo(one)
    #expect(story.value("count") == "5")
    story.undo(one)
    #expect(story.value("count") == "1")
    story.undo(one)
    #expect(story.value("count") == "0")
    for expected in ["1", "5", "9"] {
        story.undo(one, "redo")
        #expect(story.value("count") == expected)
    }
    for tag in ["tue", "wed"] { story.set(one, #"{"field":"days","add":["\#(tag)"]}"#) }
    story.set(one, #"{"field":"days","remove":["tue"]}"#)
    for expected in [#"["mon","tue","wed"]"#, #"["mon","tue"]"#, #"["mon"]"#] {
        story.undo(one)
        #expect(story.value("days") == expected)
    }
    for name in ["Ada", "Bo", "Cleo"] { story.set(one, #"{"field":"name","value":"\#(name)"}"#) }
    for expected in [#""Bo""#, #""Ada""#, #""""#] {
        story.undo(one)
        #expect(story.value("name") == expected)
    }
    story.set(one, #"{"field":"when","value":{"month":"feb","year":"27"}}"#)
    story.set(one, #"{"field":"when","value":{"year":"26"}}"#)
    story.undo(one)
    #expect(story.value("when") == #"{"month":"feb","year":"27"}"#)
    try story.host.crash()
    let again = story.host.connect()
    story.undo(again)
    let answer = story.host.ask(
        again, rpc("state.get", #"{"form":"f","fields":["when"]}"#))
    #expect(answer[0].contains(#"{"month":"jan","year":"26"}"#), "\(answer)")
}

@Test("an idempotency key outlives a rebuilt store", arguments: Durability.allCases)
func keysOutliveRebuild(durability: Durability) throws {
    let story = try Story(durability: durability)
    let (host, root) = (story.host, story.root)
    host.holdsCommits = true
    let increment = #"{"field":"count","increment":1}"#
    story.set(root, increment, #","idempotencyKey":"early""#)
    host.pass(milliseconds: 20_000)
    host.commit()
    host.settle()
    // Its batch fails: with `commit` it is not done, otherwise it was published and is kept.
    story.set(root, increment, #","idempotencyKey":"late""#)
    host.pass(milliseconds: 20_000)
    host.failCommit(isWritten: true)
    host.holdsCommits = false
    host.settle()
    for key in ["early", "late"] { story.set(root, increment, #","idempotencyKey":"\#(key)""#) }
    #expect(story.value("count") == "2")
    // Below `commit` nothing was written since the store was rebuilt.
    if durability == .commit { host.pass(milliseconds: 20_000) }
    try host.crash()
    let again = host.connect(uid: 0, user: "root")
    for key in ["early", "late"] { story.set(again, increment, #","idempotencyKey":"\#(key)""#) }
    let answer = host.ask(again, rpc("state.get", #"{"form":"f","fields":["count"]}"#))
    #expect(answer[0].contains(#""value":2,"#), "\(answer)")
}

@Test(
    "a wall clock that is set makes no retry look late", arguments: [1, 365, -1, -365] as [Int64])
func leapsAreNoTime(days: Int64) throws {
    let story = try Story(durability: .commit)
    let (host, root) = (story.host, story.root)
    let increment = #"{"field":"count","increment":1}"#
    func count(_ connection: ConnectionID) -> Int64? {
        let answer = host.ask(connection, rpc("state.get", #"{"form":"f","fields":["count"]}"#))
        let json = answer.last.flatMap { try? JSON(parsing: Array($0.utf8)) }
        return json?["result"]?["fields"]?["count"]?["value"]?.integerValue
    }
    func retry(_ connection: ConnectionID) {
        for key in ["early", "late"] {
            story.set(connection, increment, #","idempotencyKey":"\#(key)""#)
        }
    }
    story.set(root, increment, #","idempotencyKey":"early""#)
    host.pass(milliseconds: 20_000)
    host.wallOffset += days * 86_400_000
    // Long enough for a search for expired data.
    host.pass(milliseconds: 2 * 3_600_000)
    story.set(root, increment, #","idempotencyKey":"late""#)
    retry(root)
    #expect(count(root) == 2)
    try host.crash()
    let again = host.connect(uid: 0, user: "root")
    retry(again)
    host.pass(milliseconds: 2 * 3_600_000)
    host.wallOffset = 0
    host.pass(milliseconds: 2 * 3_600_000)
    retry(again)
    #expect(count(again) == 2)
    #expect(host.store.image().keys.count == 2)
    host.pass(milliseconds: 26 * 3_600_000)
    story.set(again, increment)
    #expect(host.store.image().keys.isEmpty, "a day is a day")
    #expect(host.store.image().revisions.count == 4, "a week has not gone by")
    host.pass(milliseconds: 8 * 86_400_000)
    story.set(again, increment)
    #expect(host.store.image().revisions.count == 1, "a week is a week")
}

@Test("a page from the store is not overtaken, nor does it outlive its subscription")
func pagesKeepTheirPlace() throws {
    var limits = Limits()
    limits.changeLogBytesMax = 1
    let story = try Story(limits: limits)
    let (host, root) = (story.host, story.root)
    let log = try #require(
        host.ask(root, rpc("form.get", #"{"form":"f"}"#)).last?
            .firstMatch(of: /"log":"([^"]*)"/)?.1)
    for value in 1...3 { story.set(root, #"{"field":"count","value":\#(value)}"#) }
    try host.crash()
    let (watcher, writer) = (host.connect(), host.connect())
    host.holdsFetches = true
    host.holdsCommits = true
    host.send(
        watcher,
        rpc("state.subscribe", #"{"form":"f","since":{"log":"\#(log)","revision":1}}"#))
    host.answerFetches()
    host.settle()
    // One of its own edits waits for its commit while the page arrives.
    story.set(writer, #"{"field":"name","value":"Ada"}"#)
    story.set(watcher, #"{"field":"count","value":9}"#)
    host.answerFetches()
    host.settle()
    host.commit()
    host.settle()
    host.commit()
    host.settle()
    let told = host.take(watcher).filter { $0.contains("state.changed") }.compactMap {
        $0.firstMatch(of: /"revision":(\d+)/)?.1
    }
    #expect(told == ["2", "3", "4", "5", "6"])
}

@Test("who watches some fields is told of one that has gone since")
func goneFieldsAreTold() throws {
    let story = try Story()
    let (host, root) = (story.host, story.root)
    let log = try #require(
        host.ask(root, rpc("form.get", #"{"form":"f"}"#)).last?
            .firstMatch(of: /"log":"([^"]*)"/)?.1)
    story.set(root, #"{"field":"name","value":"Ada"}"#)
    host.ask(
        root,
        rpc("form.apply", #"{"definition":{"form":"f","fields":[{"id":"go","type":"button"}]}}"#))
    let frames = host.ask(
        host.connect(),
        rpc(
            "state.subscribe",
            #"{"form":"f","fields":["n*"],"since":{"log":"\#(log)","revision":1}}"#))
    #expect(frames.count == 3 && frames[1].contains(#""revision":2"#), "\(frames)")
}

@Test("a press back is seen at once, however far past the end the increments had come")
func pressBackFromBeyondTheEnd() throws {
    let story = try Story()
    story.set(story.root, #"{"field":"count","increment":8}"#)
    // A narrower control leaves a sum beyond its bound, as concurrent increments of several
    // replicas do.
    story.host.ask(
        story.root,
        rpc(
            "form.apply",
            #"{"definition":{"form":"f","fields":["#
                + #"{"id":"count","type":"stepper","min":-100,"max":5,"default":0}]}}"#))
    #expect(story.value("count") == "5")
    story.set(story.root, #"{"field":"count","increment":-2}"#)
    #expect(story.value("count") == "3")
    #expect(story.undo(story.root).contains(#""value":5"#))
}

@Test("what one undid and another did again is the other's, over a restart, too")
func redoneByAnother() throws {
    let story = try Story()
    let (one, two) = (story.host.connect(), story.host.connect(uid: 1001, user: "bob"))
    story.set(one, #"{"field":"name","value":"Ada"}"#)
    story.undo(one)
    story.host.ask(two, rpc("state.redo", #"{"form":"f","scope":"anyone"}"#))
    #expect(story.value("name") == #""Ada""#)
    try story.host.crash()
    let refusal = story.undo(story.host.connect())
    #expect(refusal.contains("nothing to undo"), "\(refusal)")
}
