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

@Suite("Bounds of the process")
struct ProcessLimitsTests {
    @Test("connections leave descriptors for the daemon's own files, and no user takes all")
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
