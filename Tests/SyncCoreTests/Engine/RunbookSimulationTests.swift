import EngineTestKit
import SyncCore
import TestKit
import Testing

// Random lives of a form with values that end, buttons that answer, and values that take two:
// clocks that jump, handlers that vanish, votes that cross, and kills between any two effects. The
// history is the judge, so the test needs to know nothing of what the kills have lost.

/// A daemon with such a form, its users, and what they were told.
private struct RunbookWorld {
    private static let form = #"""
        {"form":"deploy","access":{"handle":["user:ops"]},"fields":[
        {"id":"a","type":"slider","max":1000000},{"id":"b","type":"slider","max":1000000},
        {"id":"two","type":"slider","max":1000000,
         "approval":{"from":["user:erin","user:frank"],"count":2,"within":"1h"},
         "breakGlass":["user:dave"]},
        {"id":"fail","type":"button","runs":"queue","waitsFor":"1h"},
        {"id":"again","type":"button","runs":"queue","waitsFor":"1h","whenLost":"again"}]}
        """#
    private static let users = ["alice", "bob", "erin", "frank", "dave"]
    private static let handlers = 2
    /// The longest lease in seconds.
    private static let leaseMax: Int64 = 900

    let host: EngineHost
    private var random: SplitMix64
    private var users: [ConnectionID] = []
    private var handlers: [ConnectionID?] = [nil, nil]
    /// The tickets of each handler.
    private var held: [[(press: String, ticket: String)]] = [[], []]
    private var number: Int64 = 1

    /// Each value is written once, so it names its write.
    private var value = 0
    /// The values that were written with a lease, also in requests whose answer was lost.
    private(set) var leased: Set<Int64> = []
    /// How often each press was given to a handler.
    private(set) var assigned: [String: Int] = [:]
    /// The proposals that were told of, with their values.
    private(set) var proposed: [Int64: Int64] = [:]
    private var waiting: [Int64] = []

    init(seed: UInt64) throws {
        host = try EngineHost(seed: seed)
        random = SplitMix64(seed: seed)
        let root = host.connect(uid: 0, user: "root")
        let answer = host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(Self.form)}}"#
        )
        #expect(answer.contains { $0.contains(#""created":true"#) }, "\(answer)")
        connect()
    }

    private mutating func connect() {
        users = Self.users.enumerated().map { host.connect(uid: 1_000 + UInt32($0), user: $1) }
        for handler in 0..<Self.handlers { join(handler) }
        host.settle()
    }

    // MARK: - Steps

    mutating func step() throws {
        switch Int.random(in: 0..<100, using: &random) {
        case ..<22: set(isLeased: true)
        case ..<34: set(isLeased: false)
        case ..<42: lease()
        case ..<56: host.pass(milliseconds: .random(in: 1_000...120_000, using: &random))
        case ..<60: host.wallOffset = .random(in: -3_600_000...3_600_000, using: &random)
        case ..<70: press()
        case ..<80: try handle()
        case ..<87: propose()
        case ..<94: vote()
        default: try kill()
        }
        // Sometimes several requests are on their way together, and votes cross.
        if Bool.random(using: &random) { host.settle() }
        try read()
    }

    private mutating func send(_ user: Int, _ method: String, _ params: String) {
        number += 1
        host.send(
            users[user],
            #"{"jsonrpc":"2.0","id":\#(number),"method":"\#(method)","params":{"form":"deploy",\#(params)}}"#
        )
    }

    private mutating func writer() -> Int { .random(in: 0...1, using: &random) }

    private mutating func knob() -> String { Bool.random(using: &random) ? "a" : "b" }

    private mutating func end() -> String {
        let seconds = Int64.random(in: 1...Self.leaseMax, using: &random)
        if Bool.random(using: &random) { return #""seconds":\#(seconds)"# }
        let wall = host.milliseconds + host.wallOffset + seconds * 1_000
        return #""until":"\#(Timestamp(milliseconds: wall))""#
    }

    private mutating func set(isLeased: Bool) {
        value += 1
        if isLeased { leased.insert(Int64(value)) }
        let lease = isLeased ? #","lease":{\#(end())}"# : ""
        send(
            writer(), "state.set",
            #""changes":[{"field":"\#(knob())","value":\#(value)}]\#(lease)"#)
    }

    private mutating func lease() {
        send(
            writer(), "state.lease",
            #""field":"\#(knob())",\#(Bool.random(using: &random) ? #""end":true"# : end())"#)
    }

    private mutating func press() {
        let button = Bool.random(using: &random) ? "fail" : "again"
        send(writer(), "state.set", #""changes":[{"field":"\#(button)","press":true}]"#)
    }

    private mutating func propose() {
        value += 1
        let change = #""changes":[{"field":"two","value":\#(value)}]"#
        if Int.random(in: 0..<5, using: &random) == 0 {
            // Dave may, the others may not.
            send(
                .random(in: 0..<users.count, using: &random), "state.set",
                change + #","breakGlass":true,"message":"now""#)
        } else {
            send(writer(), "state.set", change + #","propose":true"#)
        }
    }

    private mutating func vote() {
        guard let proposal = waiting.suffix(3).randomElement(using: &random) else { return }
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let verb = Int.random(in: 0..<8, using: &random) == 0 ? "refuse" : "approve"
            send(
                .random(in: 0..<users.count, using: &random), "proposal.\(verb)",
                #""proposal":\#(proposal)"#)
        }
    }

    // MARK: - Handlers

    private mutating func join(_ handler: Int) {
        let connection = host.connect(uid: 2_000, user: "ops")
        handlers[handler] = connection
        let tickets = held[handler].map { "\"\($0.ticket)\"" }.joined(separator: ",")
        host.send(
            connection,
            #"{"jsonrpc":"2.0","id":0,"method":"button.handle","params":{"form":"deploy","tickets":[\#(tickets)]}}"#
        )
    }

    private mutating func handle() throws {
        let handler = Int.random(in: 0..<Self.handlers, using: &random)
        guard let connection = handlers[handler] else { return join(handler) }
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            host.disconnect(connection)
            handlers[handler] = nil
            // Killed, it forgets its tickets; otherwise it comes back with them, perhaps too late.
            if Bool.random(using: &random) { held[handler] = [] }
        default: finish(handler)
        }
    }

    private mutating func finish(_ handler: Int) {
        guard let connection = handlers[handler] else { return }
        for (press, ticket) in held[handler] {
            number += 1
            host.send(
                connection,
                #"{"jsonrpc":"2.0","id":\#(number),"method":"button.finish","params":{"press":"\#(press)","ticket":"\#(ticket)","outcome":"done"}}"#
            )
        }
    }

    // MARK: - The daemon

    private mutating func kill() throws {
        host.holdsCommits = Bool.random(using: &random)
        for _ in 0..<Int.random(in: 0...3, using: &random) { host.iterate() }
        try read()
        host.kill(writesBatch: Bool.random(using: &random))
        host.holdsCommits = false
        host.milliseconds += .random(in: 0...200_000, using: &random)
        try host.start()
        connect()
    }

    mutating func read() throws {
        for (handler, connection) in handlers.enumerated() {
            guard let connection else { continue }
            for frame in host.take(connection) {
                let json = try JSON(parsing: Array(frame.utf8))
                if json["method"] == "button.assigned", let params = json["params"],
                    let press = params["press"]?.stringValue,
                    let ticket = params["ticket"]?.stringValue
                {
                    assigned[press, default: 0] += 1
                    held[handler].append((press, ticket))
                } else if let list = json["result"]?["tickets"]?.arrayValue {
                    let kept = list.compactMap(\.stringValue)
                    // The answer to `button.handle` comes before presses that follow it.
                    held[handler].removeAll { !kept.contains($0.ticket) }
                } else if let press = json["result"]?["press"]?.stringValue {
                    held[handler].removeAll { $0.press == press }
                }
            }
        }
        for connection in users {
            for frame in host.take(connection) {
                let proposal = try JSON(parsing: Array(frame.utf8))["result"]?["proposal"]
                guard let id = proposal?["id"]?.integerValue else { continue }
                let isWaiting = proposal?["state"] == "waits"
                waiting.removeAll { $0 == id }
                if isWaiting { waiting.append(id) }
                proposed[id] =
                    proposal?["changes"]?.arrayValue?.first?["value"]?.integerValue
            }
        }
    }

    /// Until nothing waits or runs, and no lease is left.
    mutating func rest() throws {
        host.wallOffset = 0
        for handler in 0..<Self.handlers where handlers[handler] == nil { join(handler) }
        for _ in 0..<400 {
            host.pass(milliseconds: 31_000)
            try read()
            for handler in 0..<Self.handlers { finish(handler) }
            host.settle()
        }
        try read()
    }

    /// The answer to a request.
    mutating func ask(_ method: String, _ params: String) throws -> JSON {
        _ = host.take(users[0])
        send(0, method, params)
        host.settle()
        let frames = try host.take(users[0]).map { try JSON(parsing: Array($0.utf8)) }
        return try #require(frames.first { $0["id"]?.integerValue == number }?["result"])
    }

    /// All revisions, oldest first.
    mutating func history() throws -> [JSON] {
        var entries: [JSON] = []
        var before = ""
        while true {
            let page = try ask("state.history", #""limit":200\#(before)"#)
            let found = page["entries"]?.arrayValue ?? []
            entries += found
            guard page["more"] == true, let last = found.last?["revision"]?.integerValue else {
                return entries.reversed()
            }
            before = #","before":\#(last)"#
        }
    }
}

@Suite("Runbooks under random time and kills")
struct RunbookSimulationTests {
    @Test("leases, runs and proposals", arguments: 1...24)
    func lives(seed: Int) throws {
        var world = try RunbookWorld(seed: UInt64(seed))
        for _ in 0..<300 { try world.step() }
        try world.rest()
        let history = try world.history()
        try leases(history, &world)
        runs(history, world)
        try approvals(history, world)
    }

    /// An end changes nothing that was not its own, and every lease ends.
    private func leases(_ history: [JSON], _ world: inout RunbookWorld) throws {
        var present: [String: JSON] = [:]
        var written: [String: Set<JSON>] = ["a": [0], "b": [0]]
        for entry in history {
            for change in entry["changes"]?.arrayValue ?? [] {
                guard let field = change["field"]?.stringValue, written[field] != nil,
                    let value = change["value"]
                else { continue }
                if entry["kind"] == "ended" {
                    let was = present[field] ?? 0
                    #expect(
                        change["was"] == was && world.leased.contains(was.integerValue ?? -1)
                            || value == was,
                        "an end replaced \(was): \(entry.encodedText)")
                    #expect(
                        written[field]?.contains(value) ?? false,
                        "an end wrote what nobody had set: \(entry.encodedText)")
                }
                present[field] = value
                written[field]?.insert(value)
            }
        }
        let fields = try world.ask("state.get", #""fields":["a","b"]"#)["fields"]
        for field in ["a", "b"] {
            let state = try #require(fields?[field])
            #expect(state["lease"] == nil, "\(field) keeps its lease: \(state.encodedText)")
            #expect(state["value"] == present[field] ?? 0)
        }
    }

    /// One outcome a press; `fail` at most once, `again` at least once.
    private func runs(_ history: [JSON], _ world: RunbookWorld) {
        var outcomes: [String: [String]] = [:]
        var buttons: [String: String] = [:]
        for entry in history {
            for change in entry["changes"]?.arrayValue ?? [] {
                guard let run = change["run"], let press = run["press"]?.stringValue,
                    let state = run["state"]?.stringValue
                else { continue }
                buttons[press] = change["field"]?.stringValue
                let isFinal = !["waiting", "running"].contains(state)
                outcomes[press, default: []] += isFinal ? [state] : []
            }
        }
        for (press, states) in outcomes {
            #expect(states.count == 1, "\(press) has the outcomes \(states)")
            let isAgain = buttons[press] == "again"
            let count = world.assigned[press] ?? 0
            if isAgain {
                #expect(states != ["lost"], "\(press) is lost")
                #expect(states != ["done"] || count >= 1, "\(press) is done by nobody")
            } else {
                #expect(count <= 1, "\(press) was given \(count) times")
            }
        }
        #expect(world.assigned.keys.allSatisfy { outcomes[$0] != nil })
    }

    /// No guarded value changes without its approvals, or for another value than the proposed one.
    private func approvals(_ history: [JSON], _ world: RunbookWorld) throws {
        var applied: Set<Int64> = []
        for entry in history.dropFirst() {
            let change = entry["changes"]?.arrayValue?.first { $0["field"] == "two" }
            guard let change else { continue }
            if entry["breakGlass"] == true {
                #expect(entry["by"]?["user"] == "dave", "\(entry.encodedText)")
                continue
            }
            let id = try #require(entry["proposal"]?.integerValue, "\(entry.encodedText)")
            #expect(!applied.contains(id), "\(id) is applied twice")
            applied.insert(id)
            if let value = world.proposed[id] { #expect(change["value"]?.integerValue == value) }
            let voters = (entry["approvedBy"]?.arrayValue ?? []).compactMap {
                $0["user"]?.stringValue
            }
            #expect(voters.sorted() == ["erin", "frank"], "\(entry.encodedText)")
        }
    }
}
