import EngineTestKit
import Testing

@testable import SyncCore

/// The disk, long answers and many subscribers, shared by user. The test moves the clock, so
/// figures are the same on every machine.
@Suite struct CommitShareTests {
    private static let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#

    private static func edit(_ value: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"f","changes":[{"field":"t","value":"\#(value)"}]}}"#
    }

    private static func host(_ durability: Durability = .commit) throws -> EngineHost {
        let host = try EngineHost(durability: durability)
        let root = host.connect(uid: 0, user: "root")
        host.ask(
            root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":{"form":"f","fields":[{"id":"t","type":"text","maxLength":4000}]}}}"#
        )
        return host
    }

    /// A disk whose commits take ten milliseconds, a user who edits a millisecond after each
    /// answer, and optionally another user who floods.
    private final class Disk {
        static let commit = 10
        let host: EngineHost
        let writer: ConnectionID
        let flooders: [ConnectionID]
        var writerIsThere = true
        private(set) var edits = 0
        private(set) var floodEdits = 0
        /// The milliseconds of each rest of the disk.
        private(set) var rests: [Int] = []
        private var rest = 0
        private var left = 0
        private var sendsAt: Int64
        private var values = 0

        init(flooders: Int, isMeasured: Bool) throws {
            let host = try CommitShareTests.host()
            self.host = host
            writer = host.connect(uid: 8, user: "bob")
            self.flooders = (0..<flooders).map { _ in host.connect(uid: 7, user: "mallory") }
            sendsAt = host.milliseconds + 1
            host.holdsCommits = true
            if isMeasured {
                host.engine.stopwatch = { [unowned host] in
                    UInt64(host.milliseconds - 1_790_000_000_000) * 1_000_000
                }
            }
            for flooder in self.flooders { flood(flooder, 20) }
        }

        private func flood(_ id: ConnectionID, _ count: Int) {
            for _ in 0..<count { edit(id) }
        }

        /// An edit that changes something.
        func edit(_ id: ConnectionID) {
            values += 1
            host.send(id, CommitShareTests.edit("\(values)"))
        }

        func pass(milliseconds: Int) {
            for _ in 0..<milliseconds { step() }
        }

        private func step() {
            host.milliseconds += 1
            if writerIsThere, host.milliseconds == sendsAt {
                edit(writer)
            }
            if host.batchUnderWay != nil {
                left -= 1
                if left == 0 { host.commit() }
            }
            let wasIdle = host.batchUnderWay == nil
            for _ in 0..<4 { host.iterate() }
            if wasIdle, host.batchUnderWay != nil {
                left = Self.commit
                rests.append(rest)
                rest = 0
            } else if wasIdle {
                rest += 1
            }
            let answered = host.take(writer).count
            edits += answered
            if answered > 0 { sendsAt = host.milliseconds + 1 }
            for flooder in flooders {
                let done = host.take(flooder).count
                floodEdits += done
                flood(flooder, done)
            }
        }
    }

    @Test("who waits for each answer keeps its pace beside a flood of edits, which travel with it")
    func closedLoop() throws {
        let alone = try Disk(flooders: 0, isMeasured: true)
        alone.pass(milliseconds: 1000)
        let beside = try Disk(flooders: 4, isMeasured: true)
        beside.pass(milliseconds: 1000)
        #expect(alone.edits >= 80)
        #expect(
            beside.edits * 10 >= alone.edits * 9, "\(beside.edits) edits instead of \(alone.edits)")
        #expect(beside.floodEdits >= beside.edits, "the flood had \(beside.floodEdits)")
    }

    @Test("a commit waits for who may come back no longer than a commit takes, and once")
    func nobodyComesBack() throws {
        let disk = try Disk(flooders: 4, isMeasured: false)
        disk.pass(milliseconds: 200)
        #expect(disk.rests.contains(1), "the writer was waited for")
        let before = disk.rests.count
        disk.writerIsThere = false
        disk.pass(milliseconds: 300)
        let rests = disk.rests.dropFirst(before)
        #expect(rests.count >= 20)
        #expect(rests.count { $0 > 0 } <= 2, "\(rests)")
        #expect(rests.allSatisfy { $0 <= Disk.commit }, "\(rests)")
        // When the user is back, commits wait for it again.
        disk.writerIsThere = true
        disk.edit(disk.writer)
        let edits = disk.edits
        disk.pass(milliseconds: 600)
        #expect(disk.edits - edits >= 40)
    }

    @Test("a user who comes back later than a commit takes is not waited for")
    func slowWriter() throws {
        let disk = try Disk(flooders: 4, isMeasured: false)
        disk.writerIsThere = false
        for _ in 0..<10 {
            disk.edit(disk.writer)
            disk.pass(milliseconds: 60)
        }
        #expect(disk.edits == 10)
        #expect(disk.rests.count { $0 > 0 } <= 3, "\(disk.rests)")
    }

    @Test("who is alone is never made to wait for anybody")
    func alone() throws {
        let disk = try Disk(flooders: 4, isMeasured: true)
        disk.writerIsThere = false
        disk.pass(milliseconds: 300)
        #expect(disk.rests.allSatisfy { $0 == 0 })
        #expect(disk.floodEdits >= 10 * 80)
    }

    @Test("who waits for a long commit is at work meanwhile, and others get short turns")
    func contentionDuringCommit() throws {
        let host = try Self.host()
        let writer = host.connect(uid: 8, user: "bob")
        let other = host.connect(uid: 7, user: "mallory")
        host.holdsCommits = true
        host.ask(other, Self.edit("a"))
        host.ask(writer, Self.edit("b"))
        for _ in 0..<20 {
            host.milliseconds += 10
            host.send(other, Self.ping)
            host.iterate()
            #expect(host.engine.schedule.isContended)
        }
        host.commit()
        host.holdsCommits = false
        host.commit()
        for _ in 0..<4 { host.pass(milliseconds: 10) }
        #expect(!host.engine.schedule.isContended)
    }

    @Test(
        "a long page of history is read in pieces while others are at work, and is the same page",
        arguments: [Durability.commit, .memory])
    func history(_ durability: Durability) throws {
        let host = try Self.host(durability)
        let reader = host.connect(uid: 7, user: "mallory")
        let other = host.connect(uid: 8, user: "bob")
        for number in 0..<200 { host.ask(reader, Self.edit("\(number)")) }

        let text =
            #"{"jsonrpc":"2.0","id":1,"method":"state.history","params":{"form":"f","limit":1000}}"#
        host.pass(milliseconds: 1000)
        #expect(!host.engine.schedule.isContended)
        let whole = host.ask(reader, text)
        #expect(whole.count == 1)
        host.ask(other, Self.ping)
        host.ask(reader, Self.ping)
        #expect(host.engine.schedule.isContended)
        host.holdsFetches = true
        host.send(reader, text)
        for id in [reader, other] { _ = host.take(id) }
        var pieces = 0
        var page: String?
        while page == nil, pieces < 200 {
            pieces += 1
            host.send(other, Self.ping)
            host.settle()
            #expect(host.take(other).count == 1)
            host.answerFetches()
            host.settle()
            page = host.take(reader).first { $0.contains(#""entries""#) }
        }
        #expect(page == whole.first)
        #expect(pieces >= 8, "\(pieces) pieces")
    }

    @Test("some of a crowd of subscribers are marked in each turn, and nobody is passed over")
    func marking() throws {
        let host = try Self.host()
        let subscribe =
            #"{"jsonrpc":"2.0","id":1,"method":"state.subscribe","params":{"form":"f"}}"#
        let crowd = (0..<600).map { _ in host.connect(uid: 7, user: "mallory") }
        for id in crowd { host.ask(id, subscribe) }
        let other = host.connect(uid: 8, user: "bob")
        host.ask(other, Self.ping)
        for id in crowd { _ = host.take(id) }
        host.send(other, Self.edit("news"))
        host.iterate()
        let audience = try #require(host.engine.scheduler.accounts[7]?.audiences.first)
        #expect(audience.unvisited == 600)
        host.iterate()
        #expect(audience.unvisited == 600 - Account.contendedMarks)
        // Whether marked or not: those who leave do not affect the marking of others.
        let gone = [0, 1, 127, 128, 129, 300, 598, 599].map { crowd[$0] }
        for id in gone { host.disconnect(id) }
        host.settle()
        for id in crowd where !gone.contains(id) {
            #expect(host.take(id).count == 1, "\(id) of \(crowd[0]) to \(crowd[599])")
        }
    }
}
