// Hosts, a server, and everything that can go wrong between them; the order comes from a seed.
//
// Oracle: the cursor never passes a message whose effect is not in the store; nothing leaves an
// outbox that the log has not taken; no message is put together wrongly; and once the faults end,
// all hosts have the same transactions: all that some store or the log had.

package import EngineTestKit
package import SeededRandom
package import SyncCore

/// An error that the simulation must find, as a check of its oracle.
package enum LinkBug: String, CaseIterable, Sendable {
    /// The cursor is saved before the joins are.
    case cursorBeforeJoin
    /// The message at the cursor is not compared.
    case digestNotCompared
    /// The outbox is emptied when a message is sent, not when it is acknowledged.
    case outboxDroppedAtSending
    /// A host skips what was published under its name.
    case ownSkippedByHost
    /// Parts of two wholes are joined.
    case partsMixed
    /// The acknowledgement of one part counts for all.
    case partAcknowledgedAsWhole
    /// A host does not hear that people of another one are gone.
    case departureNotHeard
}

/// A fleet: see the head of this file.
package final class LinkWorld {
    static let forms = ["deploy", "team"]
    /// A context of all writes.
    static let everything = CausalContext(
        VersionVector(
            (0..<8).flatMap { id in
                (0..<16).map { VersionVector.Entry(ReplicaID(id: id, epoch: $0), .max) }
            }))

    private var random: SplitMix64
    private var hosts: [LinkHost] = []
    private var sites: ModelSites
    private var now = Moment(wallMilliseconds: 1_795_511_636_000, monotonicNanoseconds: 1)
    /// Of each stream.
    private var truths: [LinkTruth]
    /// What any log had at some time, by form.
    private var ever: [String: CausalContext] = [:]
    /// The cursor of each host at the last check, which holds as long as it is the same.
    private var checked: [LinkCursor?] = [nil, nil, nil]
    /// What went wrong; the first is the cause.
    package private(set) var faults: [String] = []

    static func digest(_ context: CausalContext) -> UInt64 {
        context.encoded.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }

    /// Steps of a usual run before the faults end.
    package static let usualSteps = 1_000

    /// What goes wrong with a seed; `nil`: nothing.
    package static func failure(of seed: UInt64, steps: Int = usualSteps) -> String? {
        LinkWorld(seed: seed).run(steps: steps).map { "link, seed \(seed), \(steps) steps: \($0)" }
    }

    /// How many of the seeds it takes to find a bug; `nil`: more than these.
    package static func seeds(
        toFind bug: LinkBug, in seeds: Range<UInt64>, steps: Int = usualSteps
    ) -> Int? {
        seeds.firstIndex { LinkWorld(seed: $0, bug: bug).run(steps: steps) != nil }
            .map { seeds.distance(from: seeds.startIndex, to: $0) + 1 }
    }

    /// A fleet of three hosts, with one stream, or with two or three at sites.
    package init(seed: UInt64, bug: LinkBug? = nil) {
        random = SplitMix64(seed: seed)
        let isOld = random.next() % 2 == 0
        let (names, homes) =
            switch seed % 5 {
            case 0: (["hub", "berlin"], [0, 1, 1])
            case 1: (["hub", "berlin", "oslo"], [0, 1, 2])
            default: ([""], [0, 0, 0])
            }
        sites = ModelSites(fleet: "ops", names: names, homes: homes, isOld: isOld)
        truths = names.map { _ in LinkTruth() }
        for index in 0..<3 {
            let host = LinkHost(
                index: index, sites: ModelSites.seen(names, from: homes[index]), bug: bug,
                seed: random.next(), at: now)
            host.machine.attached(at: now)
            hosts.append(host)
        }
    }

    /// Runs steps with faults, then without any until all is quiet.
    /// - Returns: what went wrong first; `nil`: nothing.
    package func run(steps: Int) -> String? {
        for _ in 0..<steps where faults.isEmpty {
            step()
            check()
        }
        guard faults.isEmpty else { return faults.first }
        sites.heal()
        for site in sites.streams.indices { sites.streams[site].findEnd() }
        for host in hosts { host.commit(at: now) }
        let expected = knownAnywhere()
        // To compare all hosts costs as much as to run them, so it is not done after each round.
        for _ in 0..<150 where faults.isEmpty && missing(expected) != nil {
            for _ in 0..<2 where faults.isEmpty {
                settle()
                check()
            }
        }
        if let fault = faults.first ?? missing(expected) { return fault }
        // It takes a minute of their time; one of four schedules has it.
        return Int.random(in: 0..<4, using: &random) == 0 ? shownOfTheDead() : nil
    }

    /// A host dies with people in its forms: who is still shown of it afterwards.
    private func shownOfTheDead() -> String? {
        let dead = hosts.removeLast()
        sites.disconnected(dead.index)
        for _ in 0..<16 { settle() }
        for host in hosts {
            for form in Self.forms where !host.people.shown(of: dead.name, in: form).isEmpty {
                return "\(host.name) shows people of \(dead.name), which is dead"
            }
            for other in host.machine.hosts(sharing: Self.forms[0], at: now)
            where (other.awaySince != nil) != (other.host == dead.name) {
                return "\(host.name) takes \(other.host) for what it is not"
            }
        }
        return faults.first
    }

    /// What is not as it must be in the end.
    private func missing(_ expected: [String: CausalContext]) -> String? {
        // What takes longest comes first, and what is dear to compare last.
        for host in hosts {
            if host.machine.unsent.transactions > 0 { return "\(host.name): unsent" }
            if host.machine.phase != .live || !host.machine.hasReadAll {
                return "\(host.name): \(host.machine.phase)"
            }
        }
        for host in hosts {
            for form in Self.forms {
                let has = host.durable.forms[form] ?? CausalContext()
                let wanted = expected[form] ?? CausalContext()
                if !wanted.isSubset(of: has) {
                    return "\(host.name) lacks of \(form): has \(has), of \(wanted)"
                }
                if has != hosts[0].durable.forms[form] ?? CausalContext() {
                    return "\(host.name) and host0 disagree on \(form)"
                }
            }
        }
        for host in hosts {
            for other in hosts where other !== host {
                for form in Self.forms
                where host.people.shown(of: other.name, in: form)
                    != other.people.expected(in: form)
                {
                    return "\(host.name) does not show the people of \(other.name) in \(form)"
                }
            }
        }
        return nil
    }

    // MARK: Steps

    private func step() {
        let host = hosts[Int.random(in: 0..<hosts.count, using: &random)]
        let choice = random.pick(weighted: [
            (Step.edit, 12), (.delete, 4), (.toServer, 40), (.fromServer, 60), (.commit, 20),
            (.time, 12), (.fail, 1), (.cut, 1), (.restart, 1), (.restore, 1), (.backup, 2),
            (.server, 2), (.end, 1), (.lose, 2), (.double, 2), (.people, 6), (.delay, 2),
            (.site, sites.streams.count == 1 ? 0 : 3),
        ])
        switch choice {
        case .edit: host.edit(Self.forms[Int.random(in: 0..<2, using: &random)])
        case .delete: host.delete(Self.forms[Int.random(in: 0..<2, using: &random)])
        case .toServer: toServer(host)
        case .fromServer: fromServer(host)
        case .commit:
            host.commit(at: now)
            checkCursor(host)
        case .time: passTime(milliseconds: UInt64.random(in: 1...400, using: &random))
        case .fail: host.failBatch(at: now)
        case .cut: cut(host)
        case .restart:
            sites.disconnected(host.index)
            host.restart(from: nil, at: now)
            checkCursor(host)
        case .backup: host.backups.append(host.durable)
        case .restore:
            guard let backup = host.backups.popLast(), host.durable.replica.epoch < 15 else {
                break
            }
            sites.disconnected(host.index)
            host.restart(from: backup, at: now)
        case .server: harmServer()
        case .end: harmEnd()
        case .site: harmSite()
        case .lose: if !host.fromServer.isEmpty { host.fromServer.removeFirst() }
        case .double:
            if let first = host.fromServer.first { host.fromServer.insert(first, at: 0) }
        case .people:
            let form = Self.forms[Int.random(in: 0..<2, using: &random)]
            let (connection, presence) = host.people.step(form, using: &random)
            host.machine.present(
                form, connection, presence, isGone: presence == nil, at: now)
        case .delay: delay(host)
        }
        host.work(at: now)
    }

    private enum Step {
        case edit, delete, toServer, fromServer, commit, time, fail, cut, restart, restore, backup
        case server, end, site, lose, double, people, delay
    }

    /// A message that nobody keeps comes after others.
    private func delay(_ host: LinkHost) {
        guard let place = host.fromServer.firstIndex(where: \.isEphemeral) else { return }
        let message = host.fromServer.remove(at: place)
        let later = Int.random(in: place...host.fromServer.count, using: &random)
        host.fromServer.insert(message, at: later)
    }

    private var anySite: Int {
        sites.streams.count == 1 ? 0 : Int.random(in: sites.streams.indices, using: &random)
    }

    private func harmServer() {
        let site = anySite
        guard sites.streams[site].exists else { return }
        switch Int.random(in: 0..<10, using: &random) {
        case 0...3:
            sites.streams[site].forgetTail(Int.random(in: 1...6, using: &random))
            for host in hosts where sites.isAt(site, host.index) { cut(host) }
        case 4, 5: sites.streams[site].trim(Int.random(in: 1...10, using: &random))
        case 6:
            sites.streams[site].restart()
            for host in hosts where sites.isAt(site, host.index) { cut(host) }
        case 7, 8:
            sites.streams[site].damage(
                Int.random(in: 1...6, using: &random), at: Int.random(in: 0...40, using: &random))
            for host in hosts where sites.isAt(site, host.index) { cut(host) }
        default: sites.streams[site].delete()
        }
    }

    /// The newest messages of a log are damaged, or the server finds that they are.
    private func harmEnd() {
        let site = anySite
        guard Int.random(in: 0..<3, using: &random) == 0 else {
            return sites.streams[site].findEnd()
        }
        sites.streams[site].damageTail(Int.random(in: 1...6, using: &random))
        for host in hosts where sites.isAt(site, host.index) { cut(host) }
    }

    /// A site is cut off, or all are together again.
    private func harmSite() {
        let site = anySite
        if Bool.random(using: &random) {
            sites.cut(site)
        } else {
            sites.heal()
        }
    }

    private func cut(_ host: LinkHost) {
        sites.disconnected(host.index)
        host.toServer = []
        host.fromServer = []
        host.isUp = false
        host.machine.down(at: now)
    }

    private func toServer(_ host: LinkHost) {
        if !host.isUp {
            host.isUp = true
            host.machine.up(
                LinkServer(name: "nats1", version: "2", payloadMax: 1_536), at: now)
            return
        }
        guard !host.toServer.isEmpty else { return }
        let message = host.toServer.removeFirst()
        let answers = sites.receive(
            message, from: host.index, at: now.monotonicNanoseconds)
        host.fromServer += answers.filter { !$0.subject.isEmpty }
        if message.isEphemeral {
            for other in hosts where other.isUp && sites.connects(host.index, other.index) {
                other.fromServer.append(message)
            }
        }
        deliver()
    }

    private func deliver() {
        for (host, arrival) in sites.deliver(at: now.monotonicNanoseconds)
        where hosts[host].isUp {
            hosts[host].fromServer.append(arrival)
        }
    }

    private func fromServer(_ host: LinkHost) {
        guard host.isUp, !host.fromServer.isEmpty else { return }
        host.receive(host.fromServer.removeFirst(), at: now)
    }

    private func passTime(milliseconds: UInt64) {
        now.monotonicNanoseconds += milliseconds * 1_000_000
        now.wallMilliseconds += Int64(milliseconds)
        deliver()
        for host in hosts {
            if let deadline = host.machine.deadline, deadline <= now.monotonicNanoseconds {
                host.machine.deadlinePassed(at: now)
            }
            host.work(at: now)
        }
    }

    /// Two seconds without faults.
    private func settle() {
        for _ in 0..<400 {
            var isQuiet = true
            for host in hosts {
                if !host.isUp || !host.toServer.isEmpty || !host.fromServer.isEmpty {
                    isQuiet = false
                }
                toServer(host)
                host.work(at: now)
                fromServer(host)
                host.work(at: now)
            }
            if isQuiet { break }
        }
        for host in hosts {
            host.commit(at: now)
            host.work(at: now)
        }
        passTime(milliseconds: 2_000)
    }

    // MARK: Oracle

    private func check() {
        readTruths()
        for host in hosts {
            faults += host.faults
            for form in Self.forms where host.machine.unsent(of: form) == 0 {
                guard let told = host.told[form] else { continue }
                if !told.isSubset(of: ever[form] ?? CausalContext()) {
                    faults.append("\(host.name): \(form) left the outbox before the log had it")
                }
            }
        }
    }

    private func readTruths() {
        for site in truths.indices {
            let messages = sites.streams[site].everTaken
            guard messages.count > truths[site].count else { continue }
            truths[site].read(messages)
            ever.merge(truths[site].ever) { $0.union($1) }
        }
    }

    /// The store has the effect of each message up to its cursors, if the log still has that one.
    private func checkCursor(_ host: LinkHost) {
        guard checked[host.index] != host.durable.cursor else { return }
        checked[host.index] = host.durable.cursor
        readTruths()
        for kept in host.durable.cursor?.streams ?? [] {
            for (site, stream) in sites.streams.enumerated()
            where stream.exists && stream.created == kept.created {
                check(kept.place, of: stream, truths[site], host)
            }
        }
    }

    private func check(
        _ place: LinkCursor.Place, of stream: ModelStream, _ truth: LinkTruth, _ host: LinkHost
    ) {
        guard let at = stream.log.first(where: { $0.sequence == place.sequence }),
            LinkCursor.Place(
                of: at.message, sequence: at.sequence, nanoseconds: at.nanoseconds,
                host.machine.keys) == place
        else { return }
        let read = stream.log.prefix { $0.sequence <= place.sequence }.map(\.place)
        for (form, context) in truth.contents(of: read)
        where !context.isSubset(of: host.durable.forms[form] ?? CausalContext()) {
            faults.append("\(host.name): the cursor passed a message of \(form)")
        }
    }

    private func knownAnywhere() -> [String: CausalContext] {
        readTruths()
        var known: [String: CausalContext] = [:]
        for (stream, truth) in zip(sites.streams, truths) where stream.exists {
            known.merge(truth.contents(of: stream.log.map(\.place))) { $0.union($1) }
        }
        for host in hosts {
            known.merge(host.durable.forms) { $0.union($1) }
        }
        return known
    }
}
