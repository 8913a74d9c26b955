// Stories told to an engine in this process, in a time of their own.
//
// The stopwatch that measures what work takes goes on by a random amount at each look, so that
// who may go on when, and for how long, is another matter in each story.

import EngineTestKit
import SeededRandom
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
    private let clock: StoryClock
    private var connections: [Int: ConnectionID] = [:]

    init(seed: UInt64, bounds: StoryModel.Bounds, changeLogBytesMax: Int) throws {
        var limits = Limits()
        limits.subscriptionsPerUserMax = min(bounds.subscriptionsPerUser, 1000)
        limits.formsPerUserMax = min(bounds.formsPerUser, 1000)
        limits.changeLogBytesMax = changeLogBytesMax
        host = try EngineHost(limits: limits, seed: seed)
        clock = StoryClock(seed: seed)
        wind()
    }

    /// A new engine gets the stopwatch.
    private func wind() {
        let clock = clock
        host.engine.stopwatch = { clock.look() }
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
            host.milliseconds += Int64(clock.takeMilliseconds())
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
        wind()
    }

    func kill(writesBatch: Bool) throws {
        host.kill(writesBatch: writesBatch)
        host.holdsCommits = false
    }

    func pass(milliseconds: Int) throws { host.pass(milliseconds: Int64(milliseconds)) }

    func holdCommits() { host.holdsCommits = true }

    func holdFetches() { host.holdsFetches = true }
}

/// A stopwatch that goes on at each look.
// Confined to one story, which is told on one thread.
final class StoryClock: @unchecked Sendable {
    private var random: SplitMix64
    private var nanoseconds: UInt64 = 0
    private var told: UInt64 = 0

    init(seed: UInt64) { random = SplitMix64(seed: seed) }

    func look() -> UInt64 {
        let isLong = Int.random(in: 0..<50, using: &random) == 0
        nanoseconds += UInt64.random(in: 0...(isLong ? 4_000_000 : 60_000), using: &random)
        return nanoseconds
    }

    /// Whole milliseconds that have passed since the last call.
    func takeMilliseconds() -> UInt64 {
        let passed = (nanoseconds - told) / 1_000_000
        told += passed * 1_000_000
        return passed
    }
}
