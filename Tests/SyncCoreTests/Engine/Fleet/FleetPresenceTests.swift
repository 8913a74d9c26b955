import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields =
    #"{"id":"count","type":"stepper","min":0,"max":100},{"id":"note","type":"text"},"#
    + #"{"id":"code","type":"secure"}"#

/// People of one host as those of another see them.
@Suite("Presence between hosts")
struct FleetPresenceTests {
    private let world: LinkedFleet
    private let ann: ConnectionID
    private let bob: ConnectionID
    private var watcher = PresenceWatcher()

    init() throws {
        var limits = Limits()
        limits.draftsPerSecondMax = 1_000
        world = try LinkedFleet(seed: 40, limits: limits)
        world.apply(fields)
        let missing = try world.settle()
        #expect(missing == nil)
        ann = world.hosts[0].engine.connect(uid: 1000, user: "ann")
        bob = world.hosts[1].engine.connect(uid: 1000, user: "bob")
        world.hosts[0].engine.call(
            ann, .hello(Hello(client: "pickerctl/1", tty: "pts/3")))
        let subscribe = Request.stateSubscribe(StateSubscribe(form: "shared", presence: true))
        world.hosts[0].engine.call(ann, subscribe)
        world.hosts[1].engine.call(bob, subscribe)
        try world.spend(seconds: 15)
        watcher.take(world.hosts[1], bob)
    }

    private func move(_ focus: String?, draft: JSON? = nil) {
        world.hosts[0].engine.call(
            ann, .presenceUpdate(PresenceUpdate(form: "shared", focus: focus, draft: draft)))
    }

    @Test("who has the form open on another host is shown with it, and where")
    mutating func shown() throws {
        let seen = try #require(watcher.of("h0").first)
        #expect(seen.user == "ann" && seen.client == "pickerctl/1" && seen.tty == "pts/3")
        #expect(seen.focus == nil && seen.host == "h0")
        #expect(seen.connection >= Int64(PresenceRoster.firstConnection))
        #expect(watcher.hosts == [PresenceChanged.Host("h0", awaySince: nil)])
        move("count", draft: 7)
        try world.spend(seconds: 1)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").map(\.focus) == ["count"])
        #expect(watcher.of("h0").map(\.draft) == [7])
        #expect(watcher.of("h0").map(\.connection) == [seen.connection])
        world.hosts[0].engine.disconnect(ann)
        try world.spend(seconds: 1)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").isEmpty)
    }

    @Test("a draft that is dragged is told at most twenty times a second, and its end always")
    mutating func coalesced() throws {
        var words = 0
        for step in 0..<200 {
            move("count", draft: .integer(Int64(step % 50)))
            world.pass(milliseconds: 10)
            try world.hosts[0].takeOrders()
            words += world.hosts[0].toServer.filter { $0.isPresence }.count
            _ = try world.carry()
        }
        #expect(words <= 41 && words >= 30)
        try world.spend(seconds: 1)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").map(\.draft) == [.integer(199 % 50)])
    }

    @Test("people are gone thirty seconds after the last word; the host is away since then")
    mutating func cutOff() throws {
        world.cut(world.hosts[0])
        try world.spend(seconds: 25)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").count == 1)
        let before = world.hosts[1].engine.engine.now.wallMilliseconds
        try world.spend(seconds: 10)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").isEmpty)
        let since = try #require(watcher.hosts?.first?.awaySince)
        #expect(before - since.milliseconds >= 20_000 && before - since.milliseconds < 40_000)
        var theirs = PresenceWatcher()
        theirs.take(world.hosts[0], ann)
        #expect(theirs.of("h1").isEmpty)
        world.hosts[0].comeUp()
        try world.spend(seconds: 6)
        watcher.take(world.hosts[1], bob)
        theirs.take(world.hosts[0], ann)
        #expect(watcher.of("h0").map(\.user) == ["ann"])
        #expect(theirs.of("h1").map(\.user) == ["bob"])
        #expect(watcher.hosts == [PresenceChanged.Host("h0", awaySince: nil)])
    }

    @Test("a daemon that stops says goodbye: its people are gone and it is away at once")
    mutating func goodbye() throws {
        try world.spend(seconds: 8)
        world.hosts[0].engine.run(.stop(.shutdown))
        world.hosts[0].engine.settle()
        try world.spend(seconds: 2)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").isEmpty)
        #expect(watcher.hosts?.first?.awaySince != nil)
        // Its last word says how late it is there, not how late it was at the beacon before.
        let clock = world.hosts[1].engine.engine.fleet?.machine.agreement.host(named: "h0")
        #expect(abs(try #require(clock).clockMilliseconds) < 1_000)
    }

    @Test("a daemon that was killed and is there again has none of its former people")
    mutating func killed() throws {
        try world.hosts[0].killDaemon()
        world.hosts[0].comeUp()
        try world.spend(seconds: 5)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").isEmpty)
        #expect(watcher.hosts == [PresenceChanged.Host("h0", awaySince: nil)])
    }

    @Test("what the form does not take is left out: a draft of a secret, an unknown field")
    mutating func refused() throws {
        let host = world.hosts[1].engine.engine
        func say(_ focus: String, _ draft: [UInt8]?) {
            host.take([
                RemotePeer(
                    form: "shared", host: "h0", connection: 1 << 53,
                    presence: LinkPresence.Peer.Presence(
                        user: "eve", focus: focus, draft: draft))
            ])
            world.hosts[1].engine.settle()
            watcher.take(world.hosts[1], bob)
        }
        func seen() -> PresenceChanged.Peer? { watcher.of("h0").first { $0.user == "eve" } }
        say("count", Array("7".utf8))
        #expect(seen()?.draft == 7)
        for (focus, draft) in [("code", "\"x\""), ("count", "\"x\""), ("count", "[[[")] {
            say(focus, Array(draft.utf8))
            #expect(seen()?.focus == focus && seen()?.draft == nil)
        }
        say("gone", Array("1".utf8))
        #expect(seen()?.focus == nil && seen()?.draft == nil)
    }

    @Test("words of nobody of the fleet, of an earlier start and repeated ones change nothing")
    mutating func replayed() throws {
        move("count", draft: 1)
        let old = try world.spend(seconds: 1, keeping: \.isPresence)
        move("count", draft: 2)
        try world.spend(seconds: 1)
        watcher.take(world.hosts[1], bob)
        for message in old {
            world.hosts[1].receive(message)
            var forged = message
            forged.payload[30] ^= 1
            world.hosts[1].receive(forged)
        }
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").map(\.draft) == [2])
        try world.hosts[0].killDaemon()
        world.hosts[0].comeUp()
        try world.spend(seconds: 5)
        for message in old { world.hosts[1].receive(message) }
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").isEmpty)
    }

    @Test("of a host no more people are told and kept than the bound")
    mutating func bounded() throws {
        let host = world.hosts[0].engine
        let subscribe = Request.stateSubscribe(StateSubscribe(form: "shared", presence: true))
        for _ in 0..<LinkPresence.peersMax + 40 {
            host.call(host.connect(uid: 1000, user: "ann"), subscribe)
        }
        try world.spend(seconds: 15)
        watcher.take(world.hosts[1], bob)
        #expect(watcher.of("h0").count == LinkPresence.peersMax)
    }
}

/// What a subscriber was told of people and hosts.
private struct PresenceWatcher {
    private var peers: [Int64: PresenceChanged.Peer] = [:]
    private(set) var hosts: [PresenceChanged.Host]?
    private var decoder = ServerMessageDecoder()

    /// The people of a host.
    func of(_ host: String?) -> [PresenceChanged.Peer] {
        peers.values.filter { $0.host == host }.sorted { $0.connection < $1.connection }
    }

    mutating func take(_ host: FleetHost, _ connection: ConnectionID) {
        for text in host.engine.take(connection) {
            let messages = (try? decoder.decode(Array(text.utf8))) ?? []
            for case .notification(.presenceChanged(let change)) in messages {
                for peer in change.peers { peers[peer.connection] = peer.isGone ? nil : peer }
                hosts = change.hosts ?? hosts
            }
        }
    }
}
