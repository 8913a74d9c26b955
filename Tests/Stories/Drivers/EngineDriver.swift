// Stories with an engine in this process and a simulated clock.
//
// Each piece of work takes a random time, so the scheduler shares out the time differently in each
// story.

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
    private let durability: StoryDurability
    private var connections: [Int: ConnectionID] = [:]
    /// Whether the next start is one after an unclean stop below `commit`. The store notices that.
    private var losesLogs = false

    /// The time of the engine's last iteration.
    private var iterated = 0

    init(
        seed: UInt64, bounds: StoryModel.Bounds, changeLogBytesMax: Int,
        durability: StoryDurability
    ) throws {
        var limits = Limits()
        limits.subscriptionsPerUserMax = min(bounds.subscriptionsPerUser, 1000)
        limits.formsPerUserMax = min(bounds.formsPerUser, 1000)
        limits.changeLogBytesMax = changeLogBytesMax
        limits.reclaimSeconds = 1_000_000
        self.durability = durability
        host = try EngineHost(
            durability: Durability(rawValue: durability.rawValue) ?? .commit, limits: limits,
            seed: seed)
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
        settleHost()
    }

    private func settleHost() {
        iterated = Int(host.milliseconds)
        host.settle()
    }

    func send(_ connection: Int, _ text: String) throws {
        if let id = connections[connection] { host.send(id, text) }
    }

    func settle(answers: [Int: Int]) throws {
        // A user who has used too much time waits while others may work.
        for turn in 0..<400 {
            settleHost()
            let isAnswered = answers.allSatisfy { connection, count in
                let frames = connections[connection].flatMap { host.received[$0] } ?? []
                return frames.count { !Self.isNotification($0) } >= count
            }
            if turn == 2 {
                release()
            }
            if isAnswered, turn > 2, !host.engine.schedule.wantsTurn { break }
            if turn > 2 { pass(milliseconds: 7) }
        }
    }

    private static func isNotification(_ frame: String) -> Bool {
        frame.utf8.starts(with: #"{"jsonrpc":"2.0","method""#.utf8)
    }

    private func release() {
        host.holdsFetches = false
        host.holdsCommits = false
        host.answerFetches()
        host.commit()
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

    func stop() throws -> Bool {
        release()
        guard host.stop() else { throw StoryDifference("the daemon does not stop") }
        losesLogs = host.isStoreBroken && durability != .commit
        return !host.isStoreBroken
    }

    func start() throws {
        host.storeFails = false
        try host.crash(newEpoch: losesLogs, newLogs: losesLogs)
        connections = [:]
    }

    func kill(writesBatch: Bool) throws {
        settleHost()
        host.kill(writesBatch: writesBatch)
        host.holdsCommits = false
        losesLogs = durability != .commit
    }

    func pass(milliseconds: Int) {
        host.pass(milliseconds: Int64(milliseconds))
        iterated = Int(host.milliseconds)
    }

    // The host counts the work of the last iteration later; it takes less than 100 ms.
    var times: (now: Int, written: Int?) { (Int(host.milliseconds) + 100, iterated) }

    func holdCommits() { host.holdsCommits = true }

    func holdFetches() { host.holdsFetches = true }

    func breakStore(writesBatch: Bool) -> Bool {
        host.writesFailedBatches = writesBatch
        host.storeFails = true
        return true
    }

    func mendStore() throws {
        host.storeFails = false
        // The longest pause between two attempts, and the period of `memory`.
        for _ in 0..<2 { pass(milliseconds: 31_000) }
        if host.isStoreBroken { throw StoryDifference("the store is not rebuilt") }
    }
}
