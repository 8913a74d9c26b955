import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

/// Each host seals secrets with a key of its own, and others read them all the same.
@Suite("Secrets in a fleet")
struct FleetSecretTests {
    private static let note = #"{"id":"note","type":"text"}"#
    private static func secret(_ members: String) -> String {
        "{\(members),\"type\":\"secure\"},\(note)"
    }

    private func settled(seed: UInt64) throws -> LinkedFleet {
        let world = try LinkedFleet(hosts: 3, seed: seed)
        world.apply(Self.secret(#""id":"key""#))
        world.hosts[0].set(Change(field: "key", .value("hush")))
        #expect(try world.settle() == nil)
        return world
    }

    /// What each host reveals of a field.
    private func revealed(_ field: String, _ world: LinkedFleet) -> [String] {
        world.hosts.map { host in
            let told = host.engine.call(
                host.root, .stateReveal(StateReveal(form: "shared", field: field)))
            return told.first { $0.contains("result") || $0.contains("error") } ?? ""
        }
    }

    @Test("a secret is revealed on every host, also after kills of all daemons")
    func everywhere() throws {
        let world = try settled(seed: 1)
        #expect(revealed("key", world).allSatisfy { $0.contains("hush") })
        for host in world.hosts { try host.killDaemon() }
        #expect(try world.settle() == nil)
        #expect(revealed("key", world).allSatisfy { $0.contains("hush") })
    }

    @Test("a secret of a whole form is revealed, also when a host sends it on that did not set it")
    func wholes() throws {
        let world = try settled(seed: 2)
        world.stream.delete()
        for host in world.hosts { world.cut(host) }
        try world.hosts[0].killDaemon()
        #expect(try world.settle() == nil)
        #expect(revealed("key", world).allSatisfy { $0.contains("hush") })
    }

    @Test("a secret is revealed under another id; one that is reset or set again is so everywhere")
    func lives() throws {
        let world = try settled(seed: 3)
        world.apply(Self.secret(#""id":"token","was":"key""#))
        #expect(try world.settle() == nil)
        #expect(revealed("token", world).allSatisfy { $0.contains("hush") })
        world.hosts[2].set(Change(field: "token", .value("other")))
        #expect(try world.settle() == nil)
        #expect(revealed("token", world).allSatisfy { $0.contains("other") })
        world.hosts[1].set(Change(field: "token", .reset))
        #expect(try world.settle() == nil)
        #expect(
            revealed("token", world).allSatisfy { !$0.contains("other") && $0.contains("null") })
    }

    @Test("a secret that was set before its form left the fleet is revealed on the others")
    func leaving() throws {
        let world = try settled(seed: 5)
        let host = world.hosts[0]
        world.cut(host)
        host.set(Change(field: "key", .value("late")))
        host.engine.call(host.root, .formUnlink(form: "shared"))
        host.comeUp()
        try world.spend(seconds: 10)
        #expect(revealed("key", world).allSatisfy { $0.contains("late") })
    }

    @Test("nothing that is sent has a secret that the host's store or nobody can open")
    func bytes() throws {
        let world = try settled(seed: 4)
        let host = world.hosts[0].engine
        let whole = try #require(host.engine.whole(of: "shared"))
        let sent = host.environment.forFleet(.whole(whole))
        let kept = host.environment.forStore(sent)
        #expect(sent.encoded != SharedItem.whole(whole).encoded)
        #expect(kept.encoded == SharedItem.whole(whole).encoded)
        let clear = Array("hush".utf8)
        for item in [sent, kept] {
            let bytes = item.encoded
            let places = bytes.indices.filter { bytes[$0...].starts(with: clear) }
            #expect(places.isEmpty)
        }
    }
}

extension SharedItem {
    /// Its bytes in a message.
    fileprivate var encoded: [UInt8] {
        switch self {
        case .delta(let delta): delta.encoded
        case .whole(let whole): whole.encoded
        }
    }
}
