// The link with a real nats-server, over connections of the test.

import Foundation
import SyncCore
import TestKit
import Testing

@testable import Simulation

/// Hosts of the simulation over a real server.
private final class RealFleet {
    let server: NatsServer
    let hosts: [LinkHost]
    private var wires: [NatsWire?]
    /// Added to the time of the machine, in seconds.
    var later: UInt64 = 0

    init(_ count: Int, authorization: String = "") throws {
        server = try NatsServer(authorization: authorization)
        hosts = (0..<count).map {
            LinkHost(
                index: $0, bug: nil, seed: UInt64.random(in: 0...UInt64.max),
                at: Moment(wallMilliseconds: 0, monotonicNanoseconds: 1))
        }
        wires = Array(repeating: nil, count: count)
        for host in hosts { host.machine.attached(at: now) }
    }

    private var now: Moment {
        let monotonic = Self.monotonicNanoseconds()
        return Moment(
            wallMilliseconds: Int64(Date().timeIntervalSince1970 * 1_000),
            monotonicNanoseconds: monotonic + later * 1_000_000_000)
    }

    private static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    /// What is there to do now, on all hosts.
    func turn() {
        for (index, host) in hosts.enumerated() {
            if wires[index] == nil {
                wires[index] = NatsWire(
                    port: server.port, user: host.name,
                    subjects: ["_INBOX.\(host.name).>"] + LinkSubject.heard(in: "ops"))
                guard wires[index] != nil else { continue }
                host.isUp = true
                host.machine.up(
                    LinkServer(name: "nats", version: "", payloadMax: 1 << 20), at: now)
            }
            for arrival in wires[index]?.receive() ?? [] { host.receive(arrival, at: now) }
            if let deadline = host.machine.deadline, deadline <= now.monotonicNanoseconds {
                host.machine.deadlinePassed(at: now)
            }
            host.work(at: now)
            host.commit(at: now)
            host.work(at: now)
            for message in host.toServer { wires[index]?.publish(message) }
            host.toServer = []
            // A machine that gave up closes; the bridge connects again.
            if wires[index]?.isLost == true || !host.isUp {
                wires[index] = nil
                host.isUp = false
                host.machine.down(at: now)
            }
        }
    }

    func errors(of host: Int) -> [String] { wires[host]?.errors ?? [] }

    /// Runs until a condition is true.
    func run(until what: String, _ condition: () -> Bool) throws {
        try eventually("\(what): \(hosts.map { ($0.machine.phase, $0.durable) })") {
            turn()
            return condition()
        }
    }

    var isSettled: Bool {
        hosts.allSatisfy {
            $0.machine.phase == .live && $0.machine.unsent.transactions == 0
                && $0.durable.forms == hosts[0].durable.forms
        }
    }
}

@Suite("Link: a real nats-server")
struct RealServerTests {
    @Test("two hosts make the stream, share their edits, and go on after the server was killed")
    func sharing() throws {
        let fleet = try RealFleet(2)
        try fleet.run(until: "both are live") { fleet.isSettled }
        for _ in 0..<20 {
            fleet.hosts[0].edit("deploy")
            fleet.hosts[1].edit("deploy")
            fleet.hosts[1].edit("team")
        }
        try fleet.run(until: "both have all") {
            fleet.isSettled && fleet.hosts[0].durable.forms.count == 2
        }
        let before = fleet.hosts[0].durable.forms
        fleet.server.kill()
        try fleet.run(until: "both notice") {
            fleet.hosts.allSatisfy { $0.machine.phase == .down }
        }
        fleet.hosts[0].edit("deploy")
        fleet.hosts[1].edit("team")
        try fleet.server.start()
        try fleet.run(until: "both have what was edited meanwhile") {
            fleet.isSettled && fleet.hosts[0].durable.forms["deploy"] != before["deploy"]
                && fleet.hosts[0].durable.forms["team"] != before["team"]
        }
        #expect(fleet.hosts.allSatisfy { $0.faults.isEmpty })
    }

    @Test("without the permission to make the stream, the machine says which one is missing")
    func permission() throws {
        let fleet = try RealFleet(
            1,
            authorization: """
                authorization { users: [ { user: host0, password: p, permissions: {
                    publish: ["ps.ops.host0.>", "$JS.API.STREAM.INFO.PS_ops"],
                    subscribe: ["_INBOX.host0.>", "ps.ops.*.p.>", "ps.ops.*.b"] } } ] }
                """)
        try fleet.run(until: "the stream is made") { fleet.hosts[0].machine.phase == .creating }
        try fleet.run(until: "the server refuses") {
            fleet.errors(of: 0).contains { $0.contains("$JS.API.STREAM.CREATE.PS_ops") }
        }
        fleet.later = 6
        fleet.turn()
        #expect(
            fleet.hosts[0].machine.refusalReason?.contains("$JS.API.STREAM.CREATE.PS_ops") == true)
    }
}
