import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields =
    #"{"id":"count","type":"stepper","min":0,"max":100000},{"id":"note","type":"text"}"#

/// What a host says of what it cannot take; edits go on here.
@Suite("Refusals in a fleet")
struct FleetRefusalTests {
    private func settled(seed: UInt64) throws -> LinkedFleet {
        let world = try LinkedFleet(seed: seed)
        world.apply(fields)
        world.increment(world.hosts[0])
        #expect(try world.settle() == nil)
        // The server drops what comes twice in two minutes.
        try world.spend(seconds: 130)
        return world
    }

    private func status(_ host: FleetHost) -> String {
        host.engine.call(host.root, .serverStatus).joined()
    }

    private func logged(_ host: FleetHost, _ text: String) -> Bool {
        host.engine.log.contains { $0.message.contains(text) }
    }

    /// Content as some host would publish it.
    private func message(
        _ items: [LinkItem], as content: LinkSubject.Content, key: UInt64 = 1,
        version: UInt64 = LinkHeaders.version
    ) throws -> LinkPublication {
        let subject = try #require(LinkSubject(fleet: "ops", host: "h7", content))
        var headers = LinkHeaders(
            replica: ReplicaID(id: 7, epoch: 1),
            counters: content == .whole(form: "shared") ? nil : 1...1, run: 7, number: 7, key: key)
        headers.version = version
        let sealed = try #require(
            LinkMessage.seal(
                LinkItem.encode(items), as: headers, to: subject, payloadMax: 1 << 20,
                with: .forTests([key])))
        return LinkPublication(
            subject: subject.text, headers: sealed[0].headers.wire, payload: sealed[0].body)
    }

    @Test(
        "a message that was changed, cut, moved or sealed with another key is not taken, and said",
        arguments: ["changed", "cut", "moved", "other key"])
    func dropped(what: String) throws {
        let world = try settled(seed: 1)
        let host = world.hosts[1]
        let before = host.engine.engine.digest(of: "shared")
        var forged = try #require(
            world.stream.log.last { $0.message.subject == "ps.ops.h0.d.shared" }
        ).message
        var sentence = "it was changed on its way, or it is another host's message"
        switch what {
        case "changed": forged.payload[forged.payload.count - 1] ^= 1
        case "cut": forged.payload.removeLast(12)
        case "moved": forged.subject = "ps.ops.h9.d.shared"
        default:
            forged = try message([], as: .bundles(form: "shared"), key: 2)
            sentence = "sealed with the fleet key 0000000000000002, which this host does not have"
        }
        world.hosts[0].toServer.append(forged)
        try world.spend(seconds: 1)
        #expect(host.engine.engine.digest(of: "shared") == before)
        #expect(status(host).contains(sentence), "\(status(host))")
        #expect(logged(host, sentence))
        world.increment(host)
        #expect(try world.settle() == nil)
    }

    @Test("a message that comes a second time changes nothing")
    func replayed() throws {
        let world = try settled(seed: 2)
        let host = world.hosts[1]
        let before = host.engine.engine.digest(of: "shared")
        let messages = world.stream.log.map(\.message)
        world.hosts[0].toServer += messages
        try world.spend(seconds: 1)
        #expect(world.stream.log.count >= 2 * messages.count)
        #expect(host.engine.engine.digest(of: "shared") == before)
        #expect(!status(host).contains("dropped"))
        #expect(host.value("count") == 1)
    }

    @Test("a whole of a form that is not shared here is refused, and leaves nothing")
    func notShared() throws {
        let world = try settled(seed: 6)
        let context = CausalContext(dots: [Dot(ReplicaID(id: 7, epoch: 1), 1)])
        let whole = WholeForm(
            form: "apart", lives: FormLives(present: 1), context: context, stores: [])
        world.hosts[0].toServer.append(
            try message([LinkItem(.whole, whole.encoded)], as: .whole(form: "apart")))
        try world.spend(seconds: 1)
        for host in world.hosts {
            let fleet = try #require(host.engine.engine.fleet)
            #expect(fleet.counters.refused["notShared"] == 1)
            let isKept = fleet.machine.hasWhole(of: "apart", covering: CausalContext())
            #expect(!isKept)
        }
    }

    @Test("a message of a newer version: its form waits, which is said, and edits go on here")
    func newer() throws {
        let world = try settled(seed: 3)
        let host = world.hosts[1]
        world.hosts[0].toServer.append(
            try message([], as: .bundles(form: "shared"), version: LinkHeaders.version + 1))
        try world.spend(seconds: 1)
        #expect(
            status(host).contains(#""held":"it has version 2, and this daemon reads up to 1; "#))
        #expect(logged(host, "form shared waits: it has version 2"))
        world.increment(host)
        #expect(host.value("count") == 2)
    }

    @Test(
        "a definition that this daemon cannot parse: its form waits, here already or not, and said",
        arguments: [true, false])
    func unreadable(isHere: Bool) throws {
        let source = try settled(seed: 4)
        let world = isHere ? source : try LinkedFleet(seed: 5)
        let host = world.hosts[1]
        host.comeUp()
        let made = try #require(source.hosts[0].engine.engine.whole(of: "shared"))
        var (stores, context) = (made.fields, made.context)
        let said = try #require(SharedDefinition(in: stores))
        let file = try JSON(
            parsing: #"{"form":"shared","fields":[{"id":"x","type":"hologram"}]}"#)
        let replica = ReplicaID(id: 7, epoch: 1)
        context.insert(Dot(replica, 1))
        stores.write(
            SharedDefinition(
                lives: said.lives, file: file, controls: [], storeIDs: [], owner: nil
            ).json, SharedDefinition.key, dot: Dot(replica, 1),
            stamp: HybridTimestamp(milliseconds: 1_995_000_000_000),
            by: Author(
                user: "root", uid: 0, client: "test", connection: 1, replica: replica, host: "h7"))
        let whole = WholeForm(
            form: made.form, lives: made.lives, context: context,
            stores: stores.map {
                WholeForm.Store(id: $0.key.id, store: $0.store, at: 0, by: nil)
            })
        let sent = try message(
            [LinkItem(.whole, whole.encoded)], as: .whole(form: "shared"))
        world.hosts[0].comeUp()
        try world.spend(seconds: 1)
        world.hosts[0].toServer.append(sent)
        try world.spend(seconds: 1)
        let sentence = "another host's definition cannot be read: "
        #expect(status(host).contains(#""form":"shared""#), "\(status(host))")
        #expect(status(host).contains(sentence), "\(status(host))")
        #expect(status(host).contains("if that host is newer, upgrade this daemon"))
        #expect(logged(host, sentence))
        let anybody = host.engine.connect(uid: 1_234, user: "mallory")
        #expect(
            host.engine.call(anybody, .serverStatus).joined().contains(sentence) == isHere,
            "the name of a form that is not here is for those who run the daemon")
        guard isHere else { return }
        world.increment(host)
        #expect(host.value("count") == 2)
    }
}
