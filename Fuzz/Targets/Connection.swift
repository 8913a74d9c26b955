internal import EngineTestKit
internal import SyncCore

// Several users against an engine: what they send, when the disk answers, who stops reading.
//
// The bytes are steps: one that says what is done and by whom, then, for what is sent, one or two
// that say how much of what follows. So libFuzzer's mutations move whole steps about.

private let definition = #"""
    {"form":"f","fields":[{"id":"p","type":"picker","options":["a","b","c"],"onConflict":"ask"},{"id":"n","type":"stepper","min":0,"max":10},{"id":"m","type":"picker","multiple":true,"options":["x","y"]},{"id":"t","type":"text","maxLength":40},{"id":"s","type":"secure"},{"id":"w","type":"wheels","components":[{"id":"u","options":["1","2"]},{"id":"v","options":["3","4"]}]},{"id":"b","type":"button"},{"id":"d","type":"date"},{"id":"k","type":"toggle","onConflict":"first"},{"id":"c","type":"text","binds":"t"}]}
    """#

/// Whatever users send, nothing traps, answers come, a bystander is served and the store stays
/// readable.
func fuzzConnection(_ bytes: [UInt8]) {
    var limits = Limits()
    limits.maxFrame = 16 << 10
    limits.answerBytesMax = 8 << 10
    limits.inboxBytesMax = 8 << 10
    limits.changeLogBytesMax = 8 << 10
    guard
        let host = try? EngineHost(
            durability: bytes.count % 5 == 0 ? .interval : .commit, limits: limits)
    else { return law(false, "an engine starts over nothing") }
    let root = host.connect(uid: 0, user: "root")
    host.ask(
        root,
        #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(definition)}}"#)
    let bystander = host.connect(uid: 7, user: "bystander")
    var clients = (0..<3).map { host.connect(uid: 1000 + UInt32($0 % 2), user: "u\($0 % 2)") }
    var rest = bytes[...]
    while let step = rest.popFirst() {
        let place = Int(step >> 4) % clients.count
        act(Int(step & 0x0F), place, &clients, host, &rest)
    }
    for client in clients { host.resumeReading(client) }
    host.holdsCommits = false
    host.commit()
    host.holdsFetches = false
    host.answerFetches()
    host.pass(milliseconds: 1000)
    let pong = host.ask(bystander, #"{"jsonrpc":"2.0","id":"still","method":"ping"}"#)
    law(
        pong.contains { $0.contains(#""id":"still","result""#) }, "a bystander is served")
    let read = #"{"jsonrpc":"2.0","id":2,"method":"state.get","params":{"form":"f"}}"#
    let before = host.ask(bystander, read)
    guard (try? host.crash()) != nil else { return law(false, "the store cannot be read again") }
    let after = host.ask(host.connect(uid: 7, user: "bystander"), read)
    law(
        before.first?.contains(#""result""#) != true || before == after,
        "what was durable reads otherwise after a crash")
}

private func act(
    _ kind: Int, _ place: Int, _ clients: inout [ConnectionID], _ host: EngineHost,
    _ rest: inout ArraySlice<UInt8>
) {
    let client = clients[place]
    switch kind {
    case 0: host.holdsCommits = true
    case 1:
        host.holdsCommits = false
        host.commit()
    case 2: host.failCommit(isWritten: rest.count.isMultiple(of: 2))
    case 3: host.pass(milliseconds: 700)
    case 4: host.stopped.insert(client)
    case 5: host.resumeReading(client)
    case 6:
        host.disconnect(client)
        clients[place] = host.connect(uid: 1000 + UInt32(place % 2), user: "u\(place % 2)")
    case 7: host.run(.endOfStream(client))
    case 8: host.holdsFetches = true
    case 9:
        host.holdsFetches = false
        host.answerFetches()
    case 10:
        // Raw bytes: half frames, lengths that lie.
        let count = min(Int(rest.popFirst() ?? 0), rest.count)
        host.sendBytes(client, Array(rest.prefix(count)))
        rest = rest.dropFirst(count)
    default:
        // A frame of what follows, to the end of the line.
        let line = rest.prefix { $0 != 0x0A }
        rest = rest.dropFirst(line.count + 1)
        if !line.isEmpty { host.sendBytes(client, Frame.encode(text: Array(line))) }
        if kind != 15 { host.settle() }
    }
}
