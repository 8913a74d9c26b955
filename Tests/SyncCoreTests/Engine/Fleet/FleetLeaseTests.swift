import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// A value that ends by itself on the host where it was set, while another host is cut off.
@Suite("Leases in a fleet")
struct FleetLeaseTests {
    private func fields(_ policy: String) -> String {
        #"{"id":"target","type":"picker","options":["test","prod","lab"],"onConflict":"\#(policy)"},"#
            + #"{"id":"level","type":"slider","max":100,"onConflict":"\#(policy)"}"#
    }

    private func set(_ host: FleetHost, _ target: String, _ level: Int, seconds: Int? = nil) {
        host.engine.call(
            host.root,
            .stateSet(
                StateSet(
                    form: "shared",
                    changes: [
                        Change(field: "target", .value(.string(target))),
                        Change(field: "level", .value(.integer(Int64(level)))),
                    ], lease: seconds.map { .seconds(Int64($0)) })))
    }

    @Test(
        "what another host has set since stays when the lease ends without having heard of it",
        arguments: [("latest", "prod"), ("latest", "lab"), ("first", "lab")])
    func end(policy: String, value: String) throws {
        let world = try LinkedFleet(seed: 71)
        let (one, two) = (world.hosts[0], world.hosts[1])
        world.apply(fields(policy))
        set(one, "test", 1)
        #expect(try world.settle() == nil)
        set(one, "prod", 20, seconds: 5)
        try world.rest()
        #expect(two.value("target") == "prod" && two.value("level") == 20)
        world.cut(one)
        world.pass(milliseconds: 100)
        set(two, value, 60)
        world.pass(milliseconds: 6_000)
        #expect(one.value("target") == "test" && one.value("level") == 1)
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(host.value("target") == .string(value), "\(policy)")
            #expect(host.value("level") == 60, "\(policy)")
        }
    }

    @Test("a lease ends on all hosts, and nothing of it stays")
    func plain() throws {
        let world = try LinkedFleet(seed: 72)
        world.apply(fields("ask"))
        set(world.hosts[0], "test", 1)
        #expect(try world.settle() == nil)
        set(world.hosts[0], "prod", 20, seconds: 5)
        try world.spend(seconds: 6)
        #expect(try world.settle() == nil)
        for host in world.hosts {
            #expect(host.value("target") == "test" && host.value("level") == 1)
        }
    }
}
