import EngineTestKit
import SyncCore
import Testing

// Handlers and daemons that are killed (docs/PROTOCOL.md, Runs).

/// A program that handles a button: it works on one press at a time and keeps its tickets.
private final class HandlerProgram {
    private(set) var connection: ConnectionID?
    private(set) var tickets: [(press: String, ticket: String)] = []
    /// The presses that it began, in order.
    private(set) var begun: [String] = []
    private var finishes: [Int64: String] = [:]
    private var nextID: Int64 = 1

    func connect(_ host: EngineHost) {
        let connection = host.connect(uid: 2000, user: "ops")
        self.connection = connection
        let held = tickets.map { "\"\($0.ticket)\"" }.joined(separator: ",")
        host.send(
            connection,
            #"{"jsonrpc":"2.0","id":0,"method":"button.handle","params":"#
                + #"{"form":"deploy","tickets":[\#(held)]}}"#)
    }

    /// The process is gone, with what it knew.
    func die(_ host: EngineHost) {
        if let connection { host.disconnect(connection) }
        connection = nil
        tickets = []
        finishes = [:]
    }

    /// Reads what it got.
    func read(_ host: EngineHost) throws {
        guard let connection else { return }
        for frame in host.take(connection) {
            let json = try JSON(parsing: Array(frame.utf8))
            if json["method"] == "button.assigned", let params = json["params"],
                let press = params["press"]?.stringValue,
                let ticket = params["ticket"]?.stringValue
            {
                begun.append(press)
                tickets.append((press, ticket))
            } else if let held = json["result"]?["tickets"]?.arrayValue?.compactMap(\.stringValue) {
                tickets.removeAll { !held.contains($0.ticket) }
            } else if let id = json["id"]?.integerValue, let press = finishes[id],
                json["error"]?["data"]?["kind"] != "unavailable"
            {
                finishes[id] = nil
                tickets.removeAll { $0.press == press }
            }
        }
    }

    /// Sends the outcome of what it has.
    func finish(_ host: EngineHost) {
        guard let connection else { return }
        for (press, ticket) in tickets where !finishes.values.contains(press) {
            finishes[nextID] = press
            host.send(
                connection,
                #"{"jsonrpc":"2.0","id":\#(nextID),"method":"button.finish","params":"#
                    + #"{"press":"\#(press)","ticket":"\#(ticket)","outcome":"done"}}"#)
            nextID += 1
        }
    }

    /// After a restart of the daemon.
    func reconnect(_ host: EngineHost) {
        finishes = [:]
        connect(host)
    }
}

/// A form with one button, somebody who presses it, and two handlers.
private struct RunWorld {
    let host: EngineHost
    let programs = [HandlerProgram(), HandlerProgram()]
    private(set) var alice: ConnectionID
    /// The presses that were answered.
    private(set) var presses: [String] = []

    init(whenLost: String) throws {
        host = try EngineHost()
        let root = host.connect(uid: 0, user: "root")
        let form = #"""
            {"form":"deploy","access":{"handle":["user:ops"]},"fields":[{"id":"start",
            "type":"button","runs":"queue","whenLost":"\#(whenLost)"}]}
            """#
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":\#(form)}}"#)
        alice = host.connect()
        for program in programs { program.connect(host) }
        host.settle()
    }

    mutating func press() {
        host.send(
            alice,
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"deploy","#
                + #""changes":[{"field":"start","press":true}]}}"#)
    }

    mutating func read() throws {
        for program in programs { try program.read(host) }
        for frame in host.take(alice) {
            let json = try JSON(parsing: Array(frame.utf8))
            let press = json["result"]?["fields"]?["start"]?["press"]?.stringValue
            if let press { presses.append(press) }
        }
    }

    /// What became of each press that was answered.
    mutating func outcomes() throws -> [String: String] {
        var outcomes: [String: String] = [:]
        for press in presses {
            let frame =
                host.ask(
                    alice,
                    #"{"jsonrpc":"2.0","id":1,"method":"button.outcome","params":{"form":"deploy","#
                        + #""press":"\#(press)"}}"#
                ).last ?? ""
            let json = try JSON(parsing: Array(frame.utf8))
            outcomes[press] = json["result"]?["state"]?.stringValue ?? "none"
        }
        return outcomes
    }

    mutating func restart(writesBatch: Bool) throws {
        try host.crash(writesBatch: writesBatch)
        alice = host.connect()
        for program in programs { program.reconnect(host) }
    }

    var begun: [String] { programs.flatMap(\.begun) }
}

@Suite struct RunbookExampleTests {
    @Test("6: a hundred presses, two handlers: each runs once, and both work")
    func hundred() throws {
        var world = try RunWorld(whenLost: "fail")
        for _ in 0..<100 { world.press() }
        for _ in 0..<200 {
            world.host.settle()
            try world.read()
            for program in world.programs { program.finish(world.host) }
        }
        #expect(world.presses.count == 100)
        #expect(Set(try world.outcomes().values) == ["done"])
        #expect(world.begun.sorted() == world.presses.sorted())
        #expect(world.programs.allSatisfy { $0.begun.count > 10 })
    }

    @Test("6: a handler is killed in a run", arguments: ["fail", "again"])
    func killedHandler(whenLost: String) throws {
        var world = try RunWorld(whenLost: whenLost)
        for _ in 0..<100 { world.press() }
        world.host.settle()
        try world.read()
        let victim = try #require(world.programs[0].begun.first)
        world.programs[0].die(world.host)
        for _ in 0..<200 {
            world.programs[1].finish(world.host)
            world.host.settle()
            try world.read()
        }
        world.host.pass(milliseconds: 30_000)
        for _ in 0..<4 {
            try world.read()
            world.programs[1].finish(world.host)
            world.host.settle()
        }
        let outcomes = try world.outcomes()
        #expect(outcomes.count == 100)
        #expect(outcomes[victim] == (whenLost == "fail" ? "lost" : "done"))
        #expect(outcomes.values.count { $0 == "done" } == (whenLost == "fail" ? 99 : 100))
        #expect(world.begun.count { $0 == victim } == (whenLost == "fail" ? 1 : 2))
    }

    @Test("6: the daemon is killed at each line of the table", arguments: ["fail", "again"])
    func killedDaemon(whenLost: String) throws {
        var isDone = false
        for batch in 0..<100 where !isDone {
            for writesBatch in [false, true] {
                isDone = try play(whenLost, killAt: batch, writesBatch: writesBatch)
            }
        }
        #expect(isDone)
    }

    /// Returns whether it ended before that batch.
    private func play(_ whenLost: String, killAt batch: Int, writesBatch: Bool) throws -> Bool {
        var world = try RunWorld(whenLost: whenLost)
        world.host.holdsCommits = true
        var batches = 0
        var wasKilled = false
        for round in 0..<60 {
            if round < 6 { world.press() }
            world.host.settle()
            if world.host.batchUnderWay != nil {
                if batches == batch, !wasKilled {
                    wasKilled = true
                    try world.restart(writesBatch: writesBatch)
                } else {
                    batches += 1
                    world.host.commit()
                }
                world.host.settle()
            }
            try world.read()
            // A program needs some time for its work.
            if round % 3 == 2 { for program in world.programs { program.finish(world.host) } }
        }
        world.host.holdsCommits = false
        world.host.commit()
        world.host.pass(milliseconds: 30_000)
        for _ in 0..<20 {
            try world.read()
            for program in world.programs { program.finish(world.host) }
            world.host.settle()
        }
        let outcomes = try world.outcomes()
        for press in world.presses {
            let times = world.begun.count { $0 == press }
            let outcome = outcomes[press] ?? "none"
            if whenLost == "fail" {
                #expect(["done", "lost"].contains(outcome), "\(press), batch \(batch)")
                #expect(times <= 1)
            } else {
                #expect(outcome == "done", "\(press), batch \(batch)")
            }
            #expect(outcome != "done" || times >= 1)
        }
        return !wasKilled
    }
}
