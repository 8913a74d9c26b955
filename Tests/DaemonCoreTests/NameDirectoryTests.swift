import EventLoop
import Foundation
import SyncCore
import TestKit
import Testing

@testable import DaemonCore

@Suite("Names of peers")
struct NameDirectoryTests {
    /// Counts what was asked.
    private final class Asked: @unchecked Sendable {
        // Sendable because every use holds the lock.
        private let lock = NSLock()
        private var numbers: [NameDirectory.Number] = []

        func add(_ number: NameDirectory.Number) { lock.withLock { numbers.append(number) } }
        var count: Int { lock.withLock { numbers.count } }
    }

    @Test("a thousand connections of one user ask once, and a name is asked again when it is old")
    func coalescing() throws {
        let asked = Asked()
        try Loop.withLoop { loop in
            var time: UInt64 = 0
            let names = NameDirectory(loop: loop, clock: { time }) { number in
                asked.add(number)
                return number == .user(1) ? "ada" : nil
            }
            var told = 0
            for _ in 0..<1_000 { names.prepare([.user(1), .group(2)], for: 1) { _ in told += 1 } }
            loop.run()
            #expect(told == 1_000)
            #expect(asked.count == 2)
            #expect(names.name(of: .user(1)) == "ada")
            #expect(names.name(of: .group(2)) == nil)
            var isAtOnce = false
            names.prepare([.user(1)], for: 1) { _ in isAtOnce = true }
            #expect(isAtOnce)
            time = NameDirectory.keptNanoseconds + 1
            names.prepare([.user(1)], for: 1) { _ in told += 1 }
            #expect(told == 1_000)
            loop.run()
            #expect(told == 1_001)
            #expect(asked.count == 3)
        }
    }

    @Test("the daemon's own names are asked for before anybody comes, and then not again")
    func own() throws {
        let asked = Asked()
        try Loop.withLoop { loop in
            let names = NameDirectory(loop: loop, clock: { 0 }) { number in
                asked.add(number)
                return "mine"
            }
            names.begin()
            var told = 0
            names.prepare([.user(geteuid()), .group(getegid())], for: geteuid()) { _ in told += 1 }
            loop.run()
            names.prepare([.user(geteuid())], for: geteuid()) { _ in told += 1 }
            #expect(told == 2)
            #expect(asked.count == 2)
            #expect(names.name(of: .user(geteuid())) == "mine")
        }
    }

    @Test("who comes while names are looked up waits for its own")
    func latecomers() throws {
        try Loop.withLoop { loop in
            let names = NameDirectory(loop: loop, clock: { 0 }) { number in
                if case .user(let uid) = number { return "user \(uid)" }
                return nil
            }
            var order: [String] = []
            names.prepare([.user(1)], for: 1) { order.append($0[0] ?? "") }
            names.prepare([.user(2)], for: 2) { order.append($0[0] ?? "") }
            names.prepare([.user(1)], for: 1) { order.append(($0[0] ?? "") + " again") }
            loop.run()
            #expect(order == ["user 1", "user 1 again", "user 2"])
            #expect(names.name(of: .user(2)) == "user 2")
        }
    }

    @Test("a user in many groups keeps nobody else waiting for more than a round")
    func manyGroups() throws {
        try Loop.withLoop { loop in
            let asked = Asked()
            let names = NameDirectory(loop: loop, clock: { 0 }) { number in
                asked.add(number)
                return "\(number)"
            }
            var told: [Int] = []
            let groups = { (first: UInt32) in
                (first..<first + 10_000).map(NameDirectory.Number.group)
            }
            // Connections of one user, each with groups of its own; then another user.
            for connection in 0..<6 {
                names.prepare(groups(UInt32(connection) * 10_000), for: 1) { found in
                    told.append(found.count)
                }
            }
            var askedBefore = 0
            names.prepare([.user(2), .group(2_000_000)], for: 2) { found in
                askedBefore = asked.count
                #expect(found == ["user(2)", "group(2000000)"])
                loop.stop()
            }
            loop.run()
            #expect(askedBefore <= 3 * NameDirectory.roundMax)
            #expect(told.isEmpty)
            // What the cache has lost again is not looked up twice.
            loop.run()
            #expect(told == Array(repeating: 10_000, count: 6))
        }
    }

    @Test("the system's own directory knows root by number and by name")
    func system() {
        #expect(SystemNames.name(of: .user(0)) == "root")
        #expect(SystemNames.name(of: .group(0)) == "root")
        #expect(SystemNames.name(of: .user(4_294_967_290)) == nil)
        #expect(SystemNames.groupNumber("root") == 0)
        #expect(SystemNames.groupNumber("123") == 123)
        #expect(SystemNames.groupNumber("no-such-group-here") == nil)
    }
}
