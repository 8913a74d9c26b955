import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// What small limits of a host do to its link.
@Suite("Limits in a fleet")
struct FleetLimitsTests {
    private func limits(_ name: String, _ value: Int) throws -> Limits {
        var limits = Limits()
        let description = try #require(Limits.all.first { $0.name == name })
        limits[keyPath: description.path] = value
        return limits
    }

    @Test(
        "a limit on what a client sends or holds does not end the bridge",
        arguments: [("maxFrame", 16 << 10), ("heldBytesPerUserMax", 64 << 10)])
    func largeMessages(limit: (name: String, bytes: Int)) throws {
        let world = try LinkedFleet(seed: 1, limits: limits(limit.name, limit.bytes))
        for host in world.hosts { host.payloadMax = 1 << 20 }
        world.apply(#"{"id":"note","type":"text","maxLength":100}"#)
        #expect(try world.settle() == nil)
        let (host, other) = (world.hosts[0], world.hosts[1])
        world.cut(host)
        for number in 1_000...1_600 {
            let text = String(repeating: "\(number)", count: 25)
            host.set(Change(field: "note", .value(.string(text))))
        }
        #expect(try world.settle(seconds: 60) == nil)
        #expect(world.stream.log.contains { $0.message.payload.count > 50_000 })
        #expect(try other.value("note") == #require(host.value("note")))
        for host in world.hosts { #expect(host.engine.closed.isEmpty) }
    }

    @Test("half a message of the bridge is within the limit on incomplete frames")
    func halfMessage() throws {
        let world = try LinkedFleet(seed: 2, limits: limits("unfinishedBytesPerUserMax", 4_096))
        #expect(try world.settle() == nil)
        let host = world.hosts[0]
        let bridge = try #require(host.bridge)
        let message = LinkTransfer(
            subject: "ps.ops.h7.d.shared", reply: nil, headers: [],
            data: Array(repeating: 0, count: LinkMessage.payloadMax))
        let frame = Request.linkMessage(message).frame(id: nil)
        host.engine.sendBytes(bridge, Array(frame.dropLast(1_000)))
        host.engine.settle()
        host.engine.sendBytes(bridge, Array(frame.suffix(1_000)))
        host.engine.settle()
        #expect(host.engine.closed.isEmpty)
        #expect(host.phase == .live)
    }
}
