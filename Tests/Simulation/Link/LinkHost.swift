// A host of the simulated fleet: a link machine over a store that commits in batches.
//
// A form is a set of transactions, each a dot and a few bytes that follow from the dot. So what two
// hosts must agree on is a set, and a message that was put together wrongly is seen at once.

internal import EngineTestKit
internal import SeededRandom
package import SyncCore

/// What a host keeps over a crash.
struct LinkStore {
    var replica: ReplicaID
    var forms: [String: CausalContext] = [:]
    var cursor: LinkCursor?
    /// The newest write of the replica in each form.
    var counters: [String: UInt64] = [:]
    /// The counters of transactions by form that the log may not have, in ascending order.
    var outbox: [String: [UInt64]] = [:]
    /// The newest change of a form that the log may not have and only a whole tells; 0: all of it.
    var untold: [String: UInt64] = [:]

    /// The log has what a whole covers.
    mutating func told(_ form: String, _ context: CausalContext) {
        let replica = replica
        outbox[form]?.removeAll { context.contains(Dot(replica, $0)) }
        if let newest = untold[form], newest == 0 || context.contains(Dot(replica, newest)) {
            untold[form] = nil
        }
    }
}

/// How a transaction and a whole look in this simulation.
enum LinkContent {
    private static func value(of dot: Dot, _ form: String) -> UInt64 {
        dot.replica.id &* 31 &+ dot.counter &* 0x9e37 &+ UInt64(form.utf8.count)
    }

    static func transaction(_ dot: Dot, of form: String) -> [UInt8] {
        var writer = CausalityWriter()
        dot.write(to: &writer)
        writer.unsigned(value(of: dot, form))
        return writer.bytes
    }

    static func whole(_ context: CausalContext, number: UInt64) -> [UInt8] {
        var writer = CausalityWriter()
        writer.unsigned(number)
        context.write(to: &writer)
        // Long enough for several parts; each byte says to which whole it belongs.
        writer.blob([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 3_000))
        return writer.bytes
    }

    /// The dots of an item; `nil` if it is none that a host wrote of the form.
    static func dots(_ item: LinkItem, of form: String) -> CausalContext? {
        var reader = CausalityReader(item.bytes)
        do {
            if item.kind == .transaction {
                let dot = try Dot(from: &reader)
                guard try reader.unsigned() == value(of: dot, form) else { return nil }
                try reader.expectEnd()
                return CausalContext(dots: [dot])
            }
            let number = try reader.unsigned()
            let context = try CausalContext(from: &reader)
            let filling = try reader.blob()
            try reader.expectEnd()
            return filling.allSatisfy { $0 == UInt8(truncatingIfNeeded: number) }
                ? context : nil
        } catch {
            return nil
        }
    }
}

/// A host: see the head of this file.
final class LinkHost {
    let index: Int
    let name: String
    var run: UInt64
    var machine: LinkMachine
    var durable: LinkStore
    var working: LinkStore
    /// Transactions of this host in the batch that is being written.
    var unwritten: [LinkTransaction] = []
    /// Forms with a change in that batch that others hear of in a whole alone: deletions.
    private var unwrittenWholes: Set<String> = []
    var takenOrder: UInt64 = 0
    var isUp = false
    var toServer: [LinkPublication] = []
    var fromServer: [LinkArrival] = []
    /// What the machine was given to publish in this run.
    var told: [String: CausalContext] = [:]
    var backups: [LinkStore] = []
    var wholeNumber: UInt64 = 0
    var faults: [String] = []
    var people = LinkPeople()
    let bug: LinkBug?
    private let sites: [String]
    private var random: SplitMix64

    init(index: Int, sites: [String] = [""], bug: LinkBug?, seed: UInt64, at now: Moment) {
        self.index = index
        self.sites = sites
        self.bug = bug
        name = "host\(index)"
        random = SplitMix64(seed: seed)
        durable = LinkStore(replica: ReplicaID(id: UInt64(index + 1), epoch: 0))
        run = random.next()
        working = durable
        machine = Self.machine(name, sites, run, durable, bug, random.next(), now)
    }

    private static func machine(
        _ name: String, _ sites: [String], _ run: UInt64, _ store: LinkStore, _ bug: LinkBug?,
        _ seed: UInt64,
        _ now: Moment
    ) -> LinkMachine {
        var keys = LinkKeys.forTests()
        if bug == .digestNotCompared { keys.digest = { _ in 1 } }
        if bug == .partsMixed { keys = .checkingNothing() }
        let random = SharedRandom(seed: seed)
        var options = LinkMachine.Configuration(
            fleet: "ops", host: name, run: run, replica: store.replica, version: "1")
        options.sites = sites
        for (form, context) in store.forms {
            options.counters[form] = context.highestCounter(of: store.replica)
        }
        return LinkMachine(
            options, keys: keys, cursor: store.cursor, random: { random.next() }, at: now)
    }

    /// The process dies and starts again with what is durable, or with a backup.
    func restart(from backup: LinkStore?, at now: Moment) {
        if var backup {
            backup.replica = ReplicaID(id: durable.replica.id, epoch: durable.replica.epoch + 1)
            backup.counters = [:]
            backup.outbox = [:]
            backup.untold = backup.forms.mapValues { _ in 0 }
            durable = backup
        }
        unwritten = []
        unwrittenWholes = []
        takenOrder = 0
        told = [:]
        people = LinkPeople()
        run = random.next()
        working = durable
        machine = Self.machine(name, sites, run, durable, bug, random.next(), now)
        machine.attached(at: now)
        isUp = false
        toServer = []
        fromServer = []
        for form in LinkWorld.forms {
            if durable.untold[form] != nil { machine.share(form, at: now) }
            for counter in durable.outbox[form] ?? [] {
                tell(transaction(form, Dot(durable.replica, counter)), at: now)
            }
        }
    }

    private func transaction(_ form: String, _ dot: Dot) -> LinkTransaction {
        LinkTransaction(
            form: form, replica: dot.replica, counters: dot.counter...dot.counter,
            bytes: LinkContent.transaction(dot, of: form))
    }

    private func tell(_ transaction: LinkTransaction, at now: Moment) {
        told[transaction.form, default: CausalContext()].insert(
            Dot(transaction.replica, transaction.counters.lowerBound))
        machine.add(transaction, at: now)
    }

    func edit(_ form: String) {
        let dot = nextDot(of: form)
        working.outbox[form, default: []].append(dot.counter)
        unwritten.append(transaction(form, dot))
    }

    /// The form is deleted, or made again: in this simulation a dot that no transaction has.
    func delete(_ form: String) {
        working.untold[form] = nextDot(of: form).counter
        unwrittenWholes.insert(form)
    }

    private func nextDot(of form: String) -> Dot {
        working.counters[form, default: 0] += 1
        let dot = Dot(working.replica, working.counters[form] ?? 1)
        working.forms[form, default: CausalContext()].insert(dot)
        return dot
    }

    func commit(at now: Moment) {
        durable = working
        let written = unwritten
        unwritten = []
        defer { unwrittenWholes = [] }
        machine.saved(through: takenOrder, at: now)
        for transaction in written { tell(transaction, at: now) }
        for form in unwrittenWholes.sorted() { machine.share(form, at: now) }
        machine.knows(durable.forms.map { ($0.key, $0.value) }.sorted { $0.0 < $1.0 })
    }

    func failBatch(at now: Moment) {
        working = durable
        unwritten = []
        unwrittenWholes = []
        let replica = durable.replica
        machine.fellBack(
            to: durable.cursor,
            counters: durable.forms.mapValues { $0.highestCounter(of: replica) }, at: now)
    }

    /// Carries out what the machine asks for.
    func work(at now: Moment) {
        while let action = machine.takeAction() {
            switch action {
            case .report(.fork), .report(.otherLife):
                faults.append("\(name) says that two machines write as one replica")
            case .subscribe, .report, .hostsChanged, .hear: break
            case .wholeTaken(let form, let context): working.told(form, context)
            case .transactionsTaken(let form, let newest):
                if newest.replica == working.replica {
                    working.outbox[form]?.removeAll { $0 <= newest.counter }
                }
            case .present(let peers):
                people.take(peers.filter { bug != .departureNotHeard || $0.presence != nil })
            case .publish(let message): publish(message, now)
            case .close:
                // The bridge connects again at once.
                toServer = []
                fromServer = []
                isUp = false
            case .take(let delivery): take(delivery)
            case .makeWhole(let form, _):
                wholeNumber += 1
                let context = durable.forms[form] ?? CausalContext()
                told[form, default: CausalContext()].formUnion(context)
                machine.wholeMade(
                    form,
                    (LinkContent.whole(context, number: run &+ wholeNumber), context), at: now)
            case .makeBeacon:
                machine.beaconMade(
                    LinkWorld.forms.compactMap { form in
                        durable.forms[form].map { (form, LinkWorld.digest($0)) }
                    }, at: now)
            }
        }
    }

    private func publish(_ message: LinkPublication, _ now: Moment) {
        guard isUp else { return }
        if message.isPresence, let fault = people.count(message, at: now) { faults.append(fault) }
        toServer.append(message)
        let isPart = message.reply?.contains(".p.") == true
        guard isPart, let reply = message.reply else { return }
        switch bug {
        case .outboxDroppedAtSending:
            fromServer.append(Self.acknowledgement(reply))
        case .partAcknowledgedAsWhole where reply.hasSuffix(".0"):
            for part in 1..<8 {
                fromServer.append(Self.acknowledgement(reply.dropLast(1) + "\(part)"))
            }
        default: break
        }
    }

    private static func acknowledgement(_ reply: String) -> LinkArrival {
        LinkArrival(subject: reply, payload: Array(#"{"stream":"PS_ops","seq":1}"#.utf8))
    }

    private func take(_ delivery: LinkDelivery) {
        takenOrder = delivery.order
        for item in delivery.items {
            guard let dots = LinkContent.dots(item, of: delivery.form) else {
                faults.append("\(name): a message was put together wrongly")
                continue
            }
            working.forms[delivery.form, default: CausalContext()].formUnion(dots)
            if item.kind == .whole {
                machine.sawWhole(
                    of: delivery.form, covering: dots, at: delivery.milliseconds)
            }
        }
        if let cursor = delivery.cursor {
            working.cursor = cursor
            if bug == .cursorBeforeJoin { durable.cursor = cursor }
        }
    }

    /// A message arrives from the server.
    func receive(_ arrival: LinkArrival, at now: Moment) {
        var arrival = arrival
        var isSkipped = false
        if bug == .ownSkippedByHost, LinkSubject(arrival.subject)?.host == name {
            arrival.set("Ps-R", "\(working.replica)")
            arrival.set("Ps-Start", run.hexDigits)
            isSkipped = true
        }
        if bug == .partsMixed { arrival.makeAlike() }
        machine.received(
            arrival,
            contexts: { form in
                isSkipped ? LinkWorld.everything : self.working.forms[form]
            }, at: now)
    }
}

extension LinkArrival {
    fileprivate mutating func set(_ name: String, _ value: String) {
        for index in headers.indices where headers[index].name == name {
            headers[index].value = value
        }
    }

    /// Gives a part of a whole the identity of every other whole of its host.
    fileprivate mutating func makeAlike() {
        guard case .whole? = LinkSubject(subject)?.content else { return }
        let zeros = String(repeating: "0", count: 16)
        set("Ps-Start", zeros)
        for header in headers where header.name == "Nats-Msg-Id" {
            var fields = header.value.split(separator: ":").map(String.init)
            fields[2] = zeros
            set(header.name, fields.joined(separator: ":"))
        }
    }
}
