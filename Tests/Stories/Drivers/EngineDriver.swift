// Stories told to an engine in this process, in a time of their own.
//
// Each piece of work takes a random time, so in each story other users may continue at other times.

import EngineTestKit
import SyncCore

final class EngineDriver: StoryDriver {
    let users = [
        StoryUser(uid: 0, name: "root", isAdmin: true),
        StoryUser(uid: 900, name: "daemon", isAdmin: true),
        StoryUser(uid: 1000, name: "alice", isAdmin: false),
        StoryUser(uid: 1001, name: "bob", isAdmin: false),
    ]
    let isAnonymous = false
    private let host: EngineHost
    private var connections: [Int: ConnectionID] = [:]

    init(seed: UInt64, bounds: StoryModel.Bounds, changeLogBytesMax: Int) throws {
        var limits = Limits()
        limits.subscriptionsPerUserMax = min(bounds.subscriptionsPerUser, 1000)
        limits.formsPerUserMax = min(bounds.formsPerUser, 1000)
        limits.changeLogBytesMax = changeLogBytesMax
        host = try EngineHost(limits: limits, seed: seed)
        var time = WorkTime(seed: seed)
        host.workTakes = { time.take() }
    }

    func connect(_ user: StoryUser) throws -> Int {
        let id = host.connect(uid: UInt32(user.uid), user: user.name)
        connections[Int(id.number)] = id
        return Int(id.number)
    }

    func disconnect(_ connection: Int) throws {
        if let id = connections.removeValue(forKey: connection) { host.disconnect(id) }
        host.settle()
    }

    func send(_ connection: Int, _ text: String) throws {
        if let id = connections[connection] { host.send(id, text) }
    }

    func settle(answers: [Int: Int]) throws {
        // Who has had too much of the time waits for as long as others may take.
        for turn in 0..<400 {
            host.settle()
            let isAnswered = answers.allSatisfy { connection, count in
                let frames = connections[connection].flatMap { host.received[$0] } ?? []
                return frames.count { !$0.contains(#""method""#) || $0.contains(#""result":"#) }
                    >= count
            }
            if turn == 2 {
                host.holdsFetches = false
                host.answerFetches()
            }
            if isAnswered, turn > 2, !host.engine.schedule.wantsTurn { break }
            if turn > 2 { host.pass(milliseconds: 7) }
        }
    }

    func waitForMore() throws -> Bool { false }

    func take(_ connection: Int) throws -> [JSON] {
        guard let id = connections[connection] else { return [] }
        return try host.take(id).map { text in
            do { return try JSON(parsing: text) } catch {
                throw StoryDifference("connection \(connection) got no JSON: \(text)")
            }
        }
    }

    func stop() throws {
        host.holdsCommits = false
        host.commit()
        guard host.stop() else { throw StoryDifference("the daemon does not stop") }
    }

    func start() throws {
        try host.crash()
        connections = [:]
    }

    func kill(writesBatch: Bool) throws {
        host.kill(writesBatch: writesBatch)
        host.holdsCommits = false
    }

    func pass(milliseconds: Int) throws { host.pass(milliseconds: Int64(milliseconds)) }

    func holdCommits() { host.holdsCommits = true }

    func holdFetches() { host.holdsFetches = true }
}
