// Engines of several hosts, each with a bridge, over a model of the server: the whole way of an
// edit but for sockets and the network. Each run is replayable from its seed.

package import EngineTestKit
package import SeededRandom
package import SyncCore

/// A host of the world.
package final class FleetHost {
    package let index: Int
    package let engine: EngineHost
    package private(set) var root: ConnectionID
    package private(set) var bridge: ConnectionID?
    package var isUp = false
    package var toServer: [LinkPublication] = []
    package var fromServer: [LinkArrival] = []
    /// The largest message of its server.
    package var payloadMax: Int64 = 1_536
    private var decoder = ServerMessageDecoder()

    package static let bridgeUID: UInt32 = 77
    package static let creatorsGID: UInt32 = 50

    package init(
        _ index: Int, seed: UInt64, durability: Durability = .commit, limits: Limits = Limits(),
        backup: ModelStore? = nil,
        compile: @escaping PatternCompiler = { _ in .success(PatternMatcher { _ in true }) },
        configure: (inout LinkConfiguration) -> Void = { _ in }
    ) throws {
        self.index = index
        var link = LinkConfiguration(
            fleet: "ops", host: "h\(index)", forms: [Glob("shared")], bridgeUID: Self.bridgeUID)
        configure(&link)
        engine = try EngineHost(
            durability: durability, limits: limits, seed: seed,
            replica: ReplicaID(id: UInt64((backup == nil ? 0xa : 0xf00a) + index), epoch: 1),
            copyOf: backup, creatorsGID: Self.creatorsGID, link: link, compile: compile)
        root = engine.connect(uid: 0, user: "root")
    }

    /// A bridge connects, and the server is there.
    package func connectBridge() {
        let id = engine.connect(uid: Self.bridgeUID, user: "pickersync-link")
        bridge = id
        engine.call(id, .linkAttach)
        engine.call(
            id, .linkUp(LinkUp(server: "nats", version: "", maxPayload: payloadMax, rttUs: 1)))
        isUp = true
    }

    /// The bridge has no server.
    package func goDown() {
        toServer = []
        fromServer = []
        isUp = false
        if let bridge { engine.call(bridge, .linkDown(LinkDown(reason: "cut"))) }
    }

    package func comeUp() {
        guard let bridge else { return connectBridge() }
        engine.call(
            bridge, .linkUp(LinkUp(server: "nats", version: "", maxPayload: payloadMax, rttUs: 1)))
        isUp = true
    }

    /// kill -9 of the bridge.
    package func killBridge() {
        if let bridge { engine.disconnect(bridge) }
        (bridge, isUp, toServer, fromServer) = (nil, false, [], [])
    }

    /// kill -9 of the daemon; it starts again, or the disk is put back to a backup before.
    package func killDaemon(over backup: ModelStore? = nil) throws {
        engine.kill()
        try engine.start(over: backup)
        (bridge, isUp, toServer, fromServer) = (nil, false, [], [])
        root = engine.connect(uid: 0, user: "root")
    }

    /// A message arrives from the server.
    package func receive(_ arrival: LinkArrival) {
        guard let bridge else { return }
        engine.sendBytes(bridge, Request.linkMessage(LinkTransfer(arrival)).frame(id: nil))
        engine.settle()
    }

    /// Takes what the daemon has told its bridge.
    package func takeOrders() throws {
        guard let bridge else { return }
        for text in engine.take(bridge) {
            for case .notification(.linkDo(let order)) in try decoder.decode(Array(text.utf8)) {
                switch order {
                case .subscribe: break
                case .publish(let transfer): if isUp { toServer.append(transfer.arrival) }
                case .close: goDown()
                }
            }
        }
    }

    @discardableResult
    package func set(_ change: Change) -> [String] {
        engine.call(root, .stateSet(StateSet(form: "shared", changes: [change])))
    }

    @discardableResult
    package func delete() -> [String] { engine.call(root, .formDelete(FormDelete(form: "shared"))) }

    /// A reload: other forms are shared.
    package func share(_ forms: [Glob]) {
        engine.configuration.link?.forms = forms
        engine.run(.configure(engine.configuration))
        engine.settle()
    }

    /// The value of a field that readers see.
    package func value(_ id: String) -> JSON? {
        guard let form = engine.engine.form(named: "shared")?.committed else { return nil }
        return form.definition.index(of: id).map { form.value($0) }
    }

    /// The state of the link, as `server.status` has it.
    package var phase: LinkPhase? { engine.engine.fleet?.machine.phase }
    package var unsent: Int { engine.engine.fleet?.machine.unsent.transactions ?? 0 }
}

/// Hosts and a server.
package final class LinkedFleet {
    package private(set) var hosts: [FleetHost]
    package var sites: ModelSites
    /// The stream of a fleet that has one, or the hub's.
    package var stream: ModelStream {
        get { sites.streams[0] }
        set { sites.streams[0] = newValue }
    }
    package var random: SplitMix64
    private var now: UInt64 = 1_000_000_000
    /// Increments that were answered.
    package private(set) var increments = 0

    /// A fleet of hosts.
    ///
    /// - Parameter homes: the site of each host, if there are several; the hub is the first.
    package init(
        hosts count: Int = 2, homes: [Int]? = nil, seed: UInt64,
        durability: Durability = .commit, limits: Limits = Limits(),
        compile: @escaping PatternCompiler = { _ in .success(PatternMatcher { _ in true }) },
        configure: (Int, inout LinkConfiguration) -> Void = { _, _ in }
    ) throws {
        var random = SplitMix64(seed: seed)
        let isOld = random.next() % 2 == 0
        let names = homes?.max().map { Array(Self.siteNames[...$0]) }
        sites = ModelSites(
            fleet: "ops", names: names ?? [""],
            homes: homes ?? Array(repeating: 0, count: count), isOld: isOld)
        hosts = try (0..<count).map { index in
            try FleetHost(
                index, seed: random.next(), durability: durability, limits: limits,
                compile: compile,
                configure: { link in
                    if let names, let homes {
                        link.streams = ModelSites.seen(names, from: homes[index])
                    }
                    configure(index, &link)
                })
        }
        self.random = random
    }

    private static let siteNames = ["hub", "berlin", "oslo"]

    /// Applies a definition on a host, the first one unless another is named.
    package func apply(_ fields: String, on place: Int = 0) {
        hosts[place].engine.ask(
            hosts[place].root,
            #"{"jsonrpc":"2.0","id":1,"method":"form.apply","params":{"definition":"#
                + #"{"form":"shared","fields":[\#(fields)]}}}"#)
    }

    package func increment(_ host: FleetHost) {
        let answers = host.set(Change(field: "count", .increment(DecimalNumber(1))))
        if answers.contains(where: { $0.contains(#""result""#) }) { increments += 1 }
    }

    // MARK: The network

    /// Carries what is on its way, once; returns whether anything was.
    package func carry() throws -> Bool {
        var moved = false
        for host in hosts {
            try host.takeOrders()
            let messages = host.toServer
            host.toServer = []
            for message in messages {
                moved = true
                host.fromServer += sites.receive(message, from: host.index, at: now)
                    .filter { !$0.subject.isEmpty }
                if message.isEphemeral {
                    for other in hosts
                    where other.isUp && sites.connects(host.index, other.index) {
                        other.fromServer.append(message)
                    }
                }
            }
        }
        for (index, arrival) in sites.deliver(at: now) where hosts[index].isUp {
            hosts[index].fromServer.append(arrival)
        }
        for host in hosts {
            let arrivals = host.fromServer
            host.fromServer = []
            for arrival in arrivals where host.isUp {
                moved = true
                host.receive(arrival)
                try host.takeOrders()
            }
        }
        return moved
    }

    /// Carries until nothing is on its way; no time passes.
    package func rest() throws { while try carry() {} }

    package func pass(milliseconds: Int64) {
        now += UInt64(milliseconds) * 1_000_000
        for host in hosts { host.engine.pass(milliseconds: milliseconds) }
    }

    /// The disk of a host is put back to a backup: another replica, with an id of its own.
    package func restore(_ place: Int, from backup: ModelStore) throws {
        sites.disconnected(place)
        hosts[place] = try FleetHost(place, seed: random.next(), backup: backup)
    }

    /// Lets time pass without faults; returns the messages that were published and match.
    @discardableResult
    package func spend(
        seconds: Int, keeping isWanted: (LinkPublication) -> Bool = { _ in false }
    ) throws -> [LinkPublication] {
        var kept: [LinkPublication] = []
        for _ in 0..<4 * seconds {
            pass(milliseconds: 250)
            for host in hosts {
                try host.takeOrders()
                kept += host.toServer.filter(isWanted)
            }
            try rest()
        }
        return kept
    }

    package func cut(_ host: FleetHost) {
        sites.disconnected(host.index)
        host.goDown()
    }

    /// Runs without faults until all hosts have the same; returns what is missing otherwise.
    package func settle(seconds: Int = 600) throws -> String? {
        sites.heal()
        for _ in 0..<2 * seconds {
            for host in hosts where !host.isUp { host.comeUp() }
            for _ in 0..<200 where try !carry() { break }
            if missing == nil { return nil }
            pass(milliseconds: 500)
        }
        return missing
    }

    /// What is not as it must be in the end.
    package var missing: String? {
        let digests = hosts.map { $0.engine.engine.digest(of: "shared") }
        // Where nobody has the form, a deletion of it is told when it is made again.
        let isThere = hosts.contains { $0.engine.engine.form(named: "shared") != nil }
        if isThere, digests.contains(nil) || Set(digests).count != 1 {
            return "digests: \(digests)"
        }
        for host in hosts {
            if host.phase != .live || host.engine.engine.fleet?.machine.hasReadAll != true {
                return "h\(host.index) is \(String(describing: host.phase))"
            }
            if host.unsent > 0 { return "h\(host.index) has \(host.unsent) unsent" }
        }
        return nil
    }

    // MARK: Faults

    /// One step of a random run.
    ///
    /// - Parameter definition: what hosts apply now and then, if they delete the form as well.
    package func step(deletingAndApplying definition: String? = nil) throws {
        let host = hosts[Int.random(in: 0..<hosts.count, using: &random)]
        if let definition, Int.random(in: 0..<20, using: &random) == 0 {
            if Bool.random(using: &random) {
                host.delete()
            } else if host.engine.engine.whole(of: "shared") != nil {
                apply(definition, on: host.index)
            }
        }
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: increment(host)
        case 25..<35:
            let value = Int64.random(in: 0...9, using: &random)
            host.set(Change(field: "note", .value(.string("n\(value)"))))
        case 35..<75: _ = try carry()
        case 75..<85: pass(milliseconds: Int64.random(in: 1...400, using: &random))
        case 85: cut(host)
        case 86..<90: if !host.isUp { host.comeUp() }
        case 90:
            sites.disconnected(host.index)
            host.killBridge()
        case 91:
            sites.disconnected(host.index)
            try host.killDaemon()
        case 92:
            host.engine.storeFails = true
            increment(host)
            host.engine.storeFails = false
            host.engine.pass(milliseconds: 1_000)
        case 93, 94: if !host.fromServer.isEmpty { host.fromServer.removeFirst() }
        case 95: if let first = host.fromServer.first { host.fromServer.append(first) }
        case 96,
            97 where sites.streams.count > 1:
            harmSite()
        default: harmServer()
        }
        try host.takeOrders()
    }

    /// The server of a site loses something, and its hosts the connection; returns what.
    @discardableResult
    package func harmServer() -> String? {
        let site = anySite
        guard sites.streams[site].exists else { return nil }
        defer { for host in hosts where host.isUp && sites.isAt(site, host.index) { cut(host) } }
        switch Int.random(in: 0..<6, using: &random) {
        case 0, 1:
            let count = Int.random(in: 1...4, using: &random)
            sites.streams[site].forgetTail(count)
            return "log \(site) forgets \(count)"
        case 2:
            let count = Int.random(in: 1...6, using: &random)
            sites.streams[site].trim(count)
            return "log \(site) is trimmed by \(count)"
        case 3:
            sites.streams[site].delete()
            return "log \(site) is deleted"
        default:
            sites.streams[site].restart()
            return "server \(site) starts again"
        }
    }

    private var anySite: Int {
        sites.streams.count == 1 ? 0 : Int.random(in: sites.streams.indices, using: &random)
    }

    /// A site is cut off, or all are together again; returns what.
    @discardableResult
    package func harmSite() -> String {
        if sites.hasCut {
            sites.heal()
            return "all sites are together"
        }
        let site = anySite
        sites.cut(site)
        return "site \(site) is cut off"
    }
}
