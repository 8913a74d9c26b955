import EngineTestKit
import Simulation
import Testing

@testable import SyncCore

private let fields =
    #"{"id":"count","type":"stepper","min":0,"max":100000},{"id":"note","type":"text"}"#

/// Daemons of several hosts over a model of the server.
@Suite("Fleet of engines")
struct FleetTests {
    @Test("a form and its edits cross, also those that were made while cut off")
    func sharing() throws {
        let world = try LinkedFleet(seed: 1)
        world.apply(fields)
        #expect(try world.settle() == nil)
        world.hosts[1].set(Change(field: "note", .value("hello")))
        #expect(try world.settle() == nil)
        #expect(world.hosts[0].value("note") == "hello")
        world.cut(world.hosts[0])
        world.increment(world.hosts[0])
        world.increment(world.hosts[1])
        #expect(try world.settle() == nil)
        #expect(world.hosts[0].value("count") == 2)
    }

    @Test("an edit below `commit` is written for the other hosts at once while the link is up")
    func writeBehind() throws {
        let world = try LinkedFleet(seed: 2, durability: .memory)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let (here, there) = (world.hosts[0], world.hosts[1])
        here.set(Change(field: "note", .value("at once")))
        for _ in 0..<100 where try !world.carry() { break }
        #expect(there.value("note") == "at once")
        world.cut(here)
        here.set(Change(field: "note", .value("later")))
        #expect(here.engine.engine.link.gathering.changes.count == 1, "nobody waits for the disk")
        #expect(try world.settle() == nil)
    }

    @Test("a host that only reads does not wait for its interval to read on")
    func readingBelowCommit() throws {
        let world = try LinkedFleet(seed: 2, durability: .memory)
        world.apply(fields)
        #expect(try world.settle() == nil)
        for _ in 0..<2 * JetStreamTalk.pullMessagesMax {
            world.increment(world.hosts[0])
            try world.rest()
        }
        #expect(world.hosts[1].value("count")?.integerValue == Int64(world.increments))
    }

    @Test("hosts agree after one of them has joined that a write is gone, which it covers already")
    func joinedRemoval() throws {
        let world = try LinkedFleet(seed: 1)
        world.apply(fields)
        world.hosts[0].set(Change(field: "note", .value("hello")))
        #expect(try world.settle() == nil)
        try world.spend(seconds: 15)
        let host = world.hosts[0]
        var whole = try #require(host.engine.engine.whole(of: "shared"))
        whole.stores.removeAll { $0.id == "note" }
        #expect(host.engine.join([.whole(whole)]) == [.joined])
        host.engine.settle()
        try world.spend(seconds: 60)
        for host in world.hosts {
            #expect(host.value("note") == nil || host.value("note") == "")
            let status = host.engine.call(host.root, .serverStatus).joined()
            #expect(status.contains(#""form":"shared","agrees":1,"hosts":1"#), "\(status)")
        }
    }

    @Test("an edit costs one commit: the cursor behind one's own message waits for the next")
    func commits() throws {
        let world = try LinkedFleet(seed: 2)
        world.apply(fields)
        #expect(try world.settle() == nil)
        var commits = 0
        world.hosts[0].engine.onCommit = { _ in commits += 1 }
        world.increment(world.hosts[0])
        while try world.carry() {}
        #expect(commits == 1)
        world.pass(milliseconds: 300)
        #expect(commits == 2, "the cursor is not kept for ever")
    }

    @Test("only the bridge's user may be the bridge, and may be nothing else")
    func access() throws {
        let world = try LinkedFleet(hosts: 1, seed: 3)
        let host = world.hosts[0]
        let alice = host.engine.connect(uid: 1000, user: "alice")
        #expect(host.engine.call(alice, .linkAttach).first?.contains("forbidden") == true)
        let early = host.engine.connect(uid: FleetHost.bridgeUID, user: "pickersync-link")
        let message = Request.linkMessage(LinkTransfer(subject: "x", data: []))
        #expect(host.engine.call(early, message).first?.contains("link.attach first") == true)
        host.connectBridge()
        let bridge = try #require(host.bridge)
        for request in [Request.formList, .serverStatus, .stateGet(StateGet(form: "shared"))] {
            #expect(host.engine.call(bridge, request).first?.contains("forbidden") == true)
        }
        let plain =
            #"{"jsonrpc":"2.0","id":7,"method":"state.get","params":{"form":"shared","#
            + #""fields":["count"]}}"#
        #expect(host.engine.ask(bridge, plain).first?.contains("forbidden") == true)
    }

    @Test("a second bridge is refused while there is one, and the first stays")
    func twoBridges() throws {
        let world = try LinkedFleet(seed: 6)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let host = world.hosts[0]
        let second = host.engine.connect(uid: FleetHost.bridgeUID, user: "pickersync-link")
        let refused = host.engine.call(second, .linkAttach).joined()
        #expect(refused.contains("conflict") && refused.contains("stop one of the two"))
        world.increment(host)
        #expect(try world.settle() == nil)
        host.killBridge()
        #expect(host.engine.call(second, .linkAttach).joined().contains(#""fleet":"ops""#))
    }

    @Test("the link pays for its bridge, of any user, unless that connection watches a form")
    func account() throws {
        let world = try LinkedFleet(hosts: 1, seed: 7)
        world.apply(fields)
        let host = world.hosts[0]
        host.killBridge()
        let bridge = host.engine.connect(uid: 0, user: "root")
        let scheduler = host.engine.engine.scheduler
        let root = try #require(scheduler.accounts[0])
        let (connections, subscriptions) = (root.connections, root.subscriptions)
        host.engine.call(bridge, .stateSubscribe(StateSubscribe(form: "shared")))
        host.engine.call(bridge, .linkAttach)
        #expect(root.connections == connections && root.subscriptions == subscriptions + 1)
        host.engine.call(bridge, .stateUnsubscribe(form: "shared"))
        #expect(root.connections == connections - 1 && root.subscriptions == subscriptions)
        host.engine.call(bridge, .stateSubscribe(StateSubscribe(form: "shared")))
        let link = try #require(scheduler.link)
        #expect(link.connections == 1 && link.subscriptions == 1)
        #expect(scheduler.subscriptionCount == subscriptions + 1)
        host.engine.disconnect(bridge)
        #expect(link.connections == 0 && link.subscriptions == 0 && link.heldBytes == 0)
        #expect(root.heldBytes == 0)
    }

    @Test("a bridge that sends on before its answer waits for no turn of an account that is gone")
    func eagerBridge() throws {
        let host = try LinkedFleet(hosts: 1, seed: 7).hosts[0]
        host.killBridge()
        let bridge = host.engine.connect(uid: FleetHost.bridgeUID, user: "pickersync-link")
        let users: [UInt32] = [1000, 1001]
        for user in users.map({ host.engine.connect(uid: $0, user: "u\($0)") }) {
            host.engine.call(user, .ping)
        }
        #expect(host.engine.engine.schedule.isContended)
        let pings = 3 * Account.contendedUnits
        let requests = [Request.linkAttach] + (1...pings).map { _ in Request.ping }
        host.engine.sendBytes(bridge, requests.flatMap { $0.frame(id: RequestID(1)) })
        host.engine.settle()
        #expect(host.engine.take(bridge).count { $0.contains(#""id":1"#) } == pings + 1)
        let connection = try #require(host.engine.engine.connections[bridge])
        #expect(connection.account.isLink && !connection.isAwaitingTurn)
    }

    @Test("a message that nobody of the fleet sealed is counted and changes nothing")
    func forged() throws {
        let world = try LinkedFleet(seed: 4)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let before = world.hosts[1].engine.engine.digest(of: "shared")
        let stored = try #require(world.stream.log.last?.message)
        let headers = try LinkHeaders(stored.headers)
        var forged = stored
        forged.payload[forged.payload.count - 1] ^= 1
        // Counters that nobody knows yet, so that the message is opened.
        forged.headers =
            LinkHeaders(
                replica: headers.replica, counters: 900...900, run: headers.run,
                number: headers.number, part: headers.part, key: headers.key
            ).wire
        world.hosts[0].toServer.append(forged)
        #expect(try world.settle() == nil)
        #expect(world.hosts[1].engine.engine.digest(of: "shared") == before)
        #expect(world.hosts[1].engine.engine.fleet?.counters.refused["notAuthentic"] == 1)
    }

    @Test("an edit of a form that is not here waits for the whole, which may not have the edit")
    func earlyEdit() throws {
        let world = try LinkedFleet(hosts: 3, seed: 5)
        let (a, b, c) = (world.hosts[0], world.hosts[1], world.hosts[2])
        world.apply(fields)
        for host in [a, b] { host.comeUp() }
        try world.rest()
        world.cut(b)
        world.increment(a)
        try world.rest()
        // The log has forgotten all but the edit.
        world.stream.trim(world.stream.log.count - 1)
        c.comeUp()
        try world.rest()
        #expect(c.engine.engine.form(named: "shared") == nil)
        // The first whole is by a host that does not have it.
        b.engine.call(b.root, .linkRepair(form: "shared"))
        b.comeUp()
        try world.rest()
        #expect(c.value("count") == 1)
        #expect(try world.settle() == nil)
    }

    @Test("a test of the link times each part; it fails at the part that does not come")
    func probe() throws {
        let world = try LinkedFleet(seed: 8)
        world.apply(fields)
        let host = world.hosts[0]
        let early = host.engine.call(host.root, .linkTest).joined()
        #expect(early.contains("unavailable"), "\(early)")
        #expect(try world.settle() == nil)
        let digest = world.hosts[1].engine.engine.digest(of: "shared")
        host.engine.call(host.root, .linkTest)
        try world.rest()
        let status = host.engine.call(host.root, .serverStatus).joined()
        for part in LinkProbe.Part.allCases {
            #expect(status.contains("\"\(part.rawValue)\":"), "\(status)")
        }
        #expect(status.contains(#""running":false"#) && !status.contains("failedAt"))
        #expect(try world.settle() == nil)
        #expect(world.hosts[1].engine.engine.digest(of: "shared") == digest)
        #expect(world.hosts[1].engine.engine.fleet?.counters.refused.isEmpty == true)

        world.pass(milliseconds: 2_000)
        host.engine.call(host.root, .linkTest)
        world.cut(host)
        let cut = host.engine.call(host.root, .serverStatus).joined()
        #expect(cut.contains(#""failedAt":"server""#), "\(cut)")
        let alice = host.engine.connect(uid: 1000, user: "alice")
        #expect(host.engine.call(alice, .linkTest).joined().contains("forbidden"))
    }

    @Test("so many forms wait that no more are remembered: the log is not read on")
    func manyWait() throws {
        let world = try LinkedFleet(seed: 7)
        world.apply(fields)
        #expect(try world.settle() == nil)
        let host = world.hosts[1]
        for index in 0..<LinkMachine.heldMax + 1 {
            let place = LinkCursor.Place(sequence: UInt64(index), digest: 1)
            let delivery = LinkDelivery(
                order: 1_000, form: "f\(index)", host: "h0", milliseconds: 0, items: [],
                before: place)
            let fleet = try #require(host.engine.engine.fleet)
            let waits = fleet.machine.holdUntilWhole(delivery, at: host.engine.engine.now)
            #expect(waits == (index < LinkMachine.heldMax / 2))
            if !waits { fleet.machine.hold(delivery, at: host.engine.engine.now) }
        }
        #expect(host.phase == .refused)
        #expect(
            host.engine.engine.fleet?.machine.readers[0].place.sequence
                == UInt64(LinkMachine.heldMax))
        world.increment(host)
        #expect(host.value("count") == 1, "edits go on here")
    }

    @Test(
        "kills, cuts, failed commits and a log that forgets: in the end all have every increment",
        arguments: 1...30)
    func random(seed: UInt64) throws {
        let homes = seed % 3 == 0 ? [0, 1, 1] : seed % 3 == 1 ? [0, 1, 2] : nil
        let world = try LinkedFleet(hosts: 3, homes: homes, seed: seed)
        world.apply(fields)
        #expect(try world.settle() == nil, "seed \(seed)")
        for _ in 0..<250 { try world.step() }
        let missing = try world.settle()
        #expect(missing == nil, "seed \(seed)")
        #expect(
            world.hosts[0].value("count") == .integer(world.increments), "seed \(seed)")
    }
}
