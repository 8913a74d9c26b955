import EventLoop
import Foundation
import SyncCore
import TestKit
import Testing

@testable import DaemonCore

@Suite("The service manager")
struct ServiceManagerTests {
    @Test("it hears readiness, status, reload, life and the end")
    func words() throws {
        let folder = try TemporaryFolder()
        let socket = try ListeningSocket(folder("notify"), .datagrams)
        let manager = ServiceManager(
            ProcessEnvironment(["NOTIFY_SOCKET": folder("notify")]), pid: getpid())
        #expect(manager.isThere)
        manager.ready(status: "serving\nNOTHING=1")
        #expect(socket.datagram() == "READY=1\nSTATUS=serving\\u{A}NOTHING=1")
        manager.status("serving\nNOTHING=1")
        #expect(socket.datagram() == nil, "the same status is not said twice")
        manager.status("2 connections")
        #expect(socket.datagram() == "STATUS=2 connections")
        manager.reloading()
        let reloading = try #require(socket.datagram())
        #expect(reloading.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
        manager.isAlive()
        #expect(socket.datagram() == "WATCHDOG=1")
        manager.stopping()
        #expect(socket.datagram()?.hasPrefix("STOPPING=1\n") == true)
    }

    @Test("a manager that is not there, or that does not listen, costs nothing")
    func silence() throws {
        let folder = try TemporaryFolder()
        let none = ServiceManager(ProcessEnvironment([:]), pid: getpid())
        #expect(!none.isThere)
        none.ready(status: "")
        let gone = ServiceManager(
            ProcessEnvironment(["NOTIFY_SOCKET": folder("gone")]), pid: getpid())
        gone.ready(status: "")
        let odd = ServiceManager(ProcessEnvironment(["NOTIFY_SOCKET": "vsock:1"]), pid: getpid())
        #expect(!odd.isThere)
    }

    @Test(
        "signs of life come twice as often as the manager asks, if it asks this process",
        arguments: [
            ([:], nil), (["WATCHDOG_USEC": "3000000"], 1_500),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "42"], 1_500),
            (["WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "41"], nil),
            (["WATCHDOG_USEC": "soon"], nil), (["WATCHDOG_USEC": "0"], nil),
        ] as [([String: String], Int?)])
    func watchdog(environment: [String: String], milliseconds: Int?) {
        let manager = ServiceManager(ProcessEnvironment(environment), pid: 42)
        #expect(manager.watchdogInterval == milliseconds.map { .milliseconds($0) })
    }
}

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
            for _ in 0..<1_000 { names.prepare([.user(1), .group(2)]) { told += 1 } }
            loop.run()
            #expect(told == 1_000)
            #expect(asked.count == 2)
            #expect(names.name(of: .user(1)) == "ada")
            #expect(names.name(of: .group(2)) == nil)
            var isAtOnce = false
            names.prepare([.user(1)]) { isAtOnce = true }
            #expect(isAtOnce)
            time = NameDirectory.keptNanoseconds + 1
            names.prepare([.user(1)]) { told += 1 }
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
            names.prepare([.user(geteuid()), .group(getegid())]) { told += 1 }
            loop.run()
            names.prepare([.user(geteuid())]) { told += 1 }
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
            names.prepare([.user(1)]) { order.append("1") }
            names.prepare([.user(2)]) { order.append("2") }
            names.prepare([.user(1)]) { order.append("1 again") }
            loop.run()
            #expect(order == ["1", "1 again", "2"])
            #expect(names.name(of: .user(2)) == "user 2")
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

@Suite("Bounds of the process")
struct ProcessLimitsTests {
    @Test("connections leave room for the daemon's own files, and nobody takes every place")
    func bounds() {
        let few = ProcessLimits.bounded(Limits(), descriptors: 64)
        #expect(few.connectionsMax == 64 - ProcessLimits.reserve - ProcessLimits.refusals)
        #expect(few.connectionsPerUserMax < few.connectionsMax)
        #expect(few.connectionsPerUserMax > 0)
        let none = ProcessLimits.bounded(Limits(), descriptors: 8)
        #expect(none.connectionsMax == 1)
        let many = ProcessLimits.bounded(Limits(), descriptors: 1 << 20)
        #expect(many == Limits())
    }

    @Test("what changes only at the next start is named")
    func changes() {
        var old = Configuration(
            socket: "/a", stateDirectory: "/b", durability: .commit, group: nil, forms: [],
            idleExitSeconds: nil, logLevel: .info, limits: Limits(), file: nil)
        let before = old
        old.logLevel = .debug
        old.limits.formsMax = 1
        #expect(ServiceLifecycle.changesForNextStart(before, old).isEmpty)
        old.socket = "/c"
        old.durability = .memory
        #expect(ServiceLifecycle.changesForNextStart(before, old) == ["socket", "durability"])
    }
}
