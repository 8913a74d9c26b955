// What hosts have under way in one form, and verbs on it from others, from a seed: leases, presses,
// proposals and votes, while messages are lost, doubled and late, hosts are cut off, and daemons
// die.
//
// Oracle: each verb has one answer, and is done at most once by its owner: a lease verb, or a press
// that another host handles, is in one revision if it was answered well, and in none if it was
// refused. A proposal is applied with the
// votes of two people, none of them its proposer. In the end all hosts have the same form, and each
// shows what the others have under way, and nothing else.

internal import EngineTestKit
internal import SeededRandom
internal import SyncCore

/// A run: see the head of this file.
package final class LinkedVerbs {
    /// The steps of a usual run.
    package static let usualSteps = 300

    /// What goes wrong with a seed, and what happened before; `nil`: nothing.
    package static func failure(of seed: UInt64, steps: Int = usualSteps) -> String? {
        func run(_ isTelling: Bool) -> (what: String?, story: [String]) {
            do {
                let verbs = try LinkedVerbs(seed: seed, isTelling: isTelling)
                let what = try verbs.run(steps: steps)
                return (what, verbs.story)
            } catch { return ("\(error)", []) }
        }
        guard run(false).what != nil else { return nil }
        let (what, story) = run(true)
        return "verbs between hosts, seed \(seed), \(steps) steps: \(what ?? "nothing")\n"
            + story.joined(separator: "\n")
    }

    /// A request about what another host has.
    private struct Verb {
        let host: Int
        let connection: ConnectionID
        let owner: String
        let message: String
        /// Whether it makes one revision, which has its message.
        let isOneEdit: Bool
        var answers: [String] = []
        /// Its daemon died before the answer.
        var isLost = false
    }

    private static let fields =
        #"{"id":"level","type":"slider","max":100},"#
        + #"{"id":"two","type":"stepper","max":9,"approval":{"from":["anyone"],"count":2}},"#
        + #"{"id":"go","type":"button","runs":"queue","waitsFor":"10h","#
        + #""access":{"handle":["anyone"]}},"#
        + #"{"id":"far","type":"button","runs":"queue","waitsFor":"10h","handledAt":"h1","#
        + #""access":{"handle":["anyone"]}}"#

    private let world: LinkedFleet
    private let isTelling: Bool
    private var story: [String] = []
    private var verbs: [Verb] = []
    /// How often each message is in a revision of each host.
    private var done: [String: Int] = [:]
    private var fault: String?

    private init(seed: UInt64, isTelling: Bool) throws {
        self.isTelling = isTelling
        world = try LinkedFleet(
            hosts: 3, homes: seed % 3 == 0 ? [0, 1, 1] : nil, seed: seed,
            configure: { $1.users = seed % 2 == 0 ? .same : .apart })
        for host in world.hosts {
            host.payloadMax = 65_536
            let name = "h\(host.index)"
            host.engine.onCommit = { [unowned self] in note($0, of: name) }
        }
    }

    private var hosts: [FleetHost] { world.hosts }
    private func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &world.random) }
    private func tell(_ line: @autoclosure () -> String) { if isTelling { story.append(line()) } }

    private func note(_ batch: Batch, of host: String) {
        for case .appendRevision(let row) in batch.operations {
            let text = String(decoding: row.frame, as: UTF8.self)
            for part in text.split(separator: "\"") where part.hasPrefix("verb-") {
                done["\(host) \(part)", default: 0] += 1
            }
        }
    }

    // MARK: Steps

    private func run(steps: Int) throws -> String? {
        world.apply(Self.fields)
        if let missing = try world.settle() { return missing }
        for _ in 0..<steps where fault == nil { try step() }
        return try fault ?? end()
    }

    private func step() throws {
        let host = hosts[below(hosts.count)]
        switch below(200) {
        case 0..<12: edit(host)
        case 12..<18: propose(host)
        case 18..<21: press(host)
        case 21..<24: pressFar(host)
        case 24..<28: handle(host)
        case 28..<60: verb(host)
        case 60..<130: _ = try world.carry()
        case 130..<165: world.pass(milliseconds: Int64(1 + below(900)))
        case 165..<168:
            tell("h\(host.index) is cut off")
            world.cut(host)
        case 168..<180: if !host.isUp { host.comeUp() }
        case 180, 181:
            tell("h\(host.index) is killed")
            world.sites.disconnected(host.index)
            noteAnswers()
            for place in verbs.indices
            where verbs[place].host == host.index && verbs[place].answers.isEmpty {
                verbs[place].isLost = true
            }
            try host.killDaemon()
        case 182..<187: lose(host)
        case 187..<193:
            if let first = host.fromServer.first(where: \.isEphemeral) {
                host.fromServer.append(first)
            }
        default:
            guard let place = host.fromServer.firstIndex(where: \.isEphemeral) else { break }
            host.fromServer.append(host.fromServer.remove(at: place))
        }
        for host in hosts { try host.takeOrders() }
        noteAnswers()
    }

    private func lose(_ host: FleetHost) {
        if let place = host.fromServer.firstIndex(where: \.isEphemeral) {
            host.fromServer.remove(at: place)
        }
    }

    /// Somebody of a host; each user is on each host.
    private func person(_ host: FleetHost) -> ConnectionID {
        let number = below(4)
        return host.engine.connect(uid: UInt32(1_000 + number), user: "user\(number)")
    }

    private func edit(_ host: FleetHost) {
        let lease: LeaseEnd? = below(3) == 0 ? nil : .seconds(Int64(1 + below(60)))
        let value = Int64(below(100))
        tell("h\(host.index) sets \(value), \(lease.map { "\($0)" } ?? "for ever")")
        host.engine.call(
            person(host),
            .stateSet(
                StateSet(
                    form: "shared", changes: [Change(field: "level", .value(.integer(value)))],
                    lease: lease)))
    }

    private func propose(_ host: FleetHost) {
        tell("h\(host.index) proposes")
        host.engine.ask(
            person(host),
            #"{"jsonrpc":"2.0","id":1,"method":"state.set","params":{"form":"shared","#
                + #""changes":[{"field":"two","value":\#(below(9))}],"propose":true}}"#)
    }

    private func press(_ host: FleetHost) {
        tell("h\(host.index) presses")
        host.engine.call(
            person(host),
            .stateSet(StateSet(form: "shared", changes: [Change(field: "go", .press)])))
    }

    private func pressFar(_ host: FleetHost) {
        let message = "verb-\(verbs.count)"
        let id = person(host)
        tell("h\(host.index) presses what h1 handles: \(message)")
        verbs.append(
            Verb(
                host: host.index, connection: id, owner: "h1", message: message, isOneEdit: true))
        host.engine.call(
            id,
            .stateSet(
                StateSet(
                    form: "shared", changes: [Change(field: "far", .press)], message: message)))
    }

    private func handle(_ host: FleetHost) {
        let fields = host.index == 1 ? #"["go","far"]"# : #"["go"]"#
        let id = host.engine.connect(uid: 1_009, user: "hand")
        host.engine.ask(
            id,
            #"{"jsonrpc":"2.0","id":1,"method":"button.handle","params":{"form":"shared","#
                + #""fields":\#(fields)}}"#)
        if below(2) == 0 { host.engine.disconnect(id) }
    }

    private func elsewhere(_ host: FleetHost) -> [HostUnderWay] {
        let engine = host.engine.engine
        return engine.form(named: "shared").map(engine.underWayElsewhere) ?? []
    }

    private func own(_ host: FleetHost) -> HostUnderWay? {
        let engine = host.engine.engine
        return engine.form(named: "shared").map(engine.underWayHere)
    }

    private func verb(_ host: FleetHost) {
        guard let told = elsewhere(host).randomElement(using: &world.random) else { return }
        let message = "verb-\(verbs.count)"
        let start = #"{"form":"shared","message":"\#(message)","#
        var (method, params) = ("", "")
        switch below(3) {
        case 0:
            guard told.leases.first != nil else { return }
            let how = ["\"end\":true", "\"keep\":true", "\"seconds\":\(1 + below(90))"][below(3)]
            (method, params) = ("state.lease", start + #""field":"level",\#(how)}"#)
        case 1:
            guard let run = told.runs.randomElement(using: &world.random) else { return }
            (method, params) = (
                "button.cancel",
                #"{"form":"shared","field":"go","press":"\#(run.run.press)"}"#
            )
        default:
            guard let proposal = told.proposals.randomElement(using: &world.random) else { return }
            let verb = ["approve", "approve", "approve", "refuse", "withdraw"][below(5)]
            (method, params) = (
                "proposal.\(verb)",
                start + #""proposal":\#(proposal.id),"host":"\#(told.host)"}"#
            )
        }
        let id = person(host)
        // With leases of several hosts on a field, the first is meant; and an own one before.
        let owner =
            method == "state.lease"
            ? elsewhere(host).first { !$0.leases.isEmpty }?.host ?? told.host : told.host
        tell("h\(host.index) to \(owner): \(method) \(params)")
        let isOwn = own(host)?.leases.isEmpty == false
        verbs.append(
            Verb(
                host: host.index, connection: id,
                owner: method == "state.lease" && isOwn ? "h\(host.index)" : owner,
                message: message, isOneEdit: method == "state.lease"))
        host.engine.ask(
            id, #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#)
        if below(10) == 0 {
            host.engine.disconnect(id)
            verbs[verbs.count - 1].isLost = true
        }
    }

    private func noteAnswers() {
        for place in verbs.indices where verbs[place].answers.isEmpty && !verbs[place].isLost {
            let engine = hosts[verbs[place].host].engine
            verbs[place].answers = engine.received[verbs[place].connection] ?? []
            if let answer = verbs[place].answers.first {
                tell("    \(verbs[place].message): \(answer.prefix(160))")
            }
        }
    }

    // MARK: The end

    private func end() throws -> String? {
        tell("the end")
        if let missing = try world.settle() { return missing }
        try world.spend(seconds: 45)
        noteAnswers()
        for place in verbs.indices where !verbs[place].isLost {
            let all = hosts[verbs[place].host].engine.received[verbs[place].connection] ?? []
            verbs[place].answers = all
        }
        for verb in verbs {
            if let wrong = judge(verb) { return "\(verb.message): \(wrong)" }
        }
        for host in hosts { if let wrong = votes(host) { return wrong } }
        // Something may end just now.
        var wrong: String?
        for _ in 0..<8 {
            wrong = shown
            if wrong == nil { break }
            try world.spend(seconds: 2)
        }
        return wrong
    }

    private func judge(_ verb: Verb) -> String? {
        let times = hosts.map { done["h\($0.index) \(verb.message)"] ?? 0 }
        if let most = times.max(), most > 1 { return "it is in \(most) revisions of a host" }
        if verb.isLost { return nil }
        if verb.answers.count != 1 { return "it has \(verb.answers.count) answers" }
        guard verb.isOneEdit else { return nil }
        let isOK = verb.answers[0].contains(#""result""#)
        let isDone = (done["\(verb.owner) \(verb.message)"] ?? 0) > 0
        if isOK, !isDone { return "it was answered well, and \(verb.owner) has not done it" }
        // An answer may be lost, but not a refusal.
        if !isOK, isDone, !verb.answers[0].contains("as far as this host knows") {
            return "it was refused, and is done: \(verb.answers[0])"
        }
        return nil
    }

    /// Whether proposals were applied by two people, none of them the proposer.
    private func votes(_ host: FleetHost) -> String? {
        let answer = host.engine.call(
            host.root, .proposalList(ProposalList(form: "shared", ended: true))
        ).joined()
        guard let json = try? JSON(parsing: Array(answer.utf8)), let result = json["result"],
            let list = try? ProposalListResult(decoding: result)
        else { return "h\(host.index) does not list its proposals: \(answer.prefix(200))" }
        let isSame = host.engine.configuration.link?.users == .same
        func name(_ author: WireAuthor) -> String {
            isSame ? author.user : "\(author.user)@\(author.host ?? "")"
        }
        for proposal in list.proposals where proposal.state == .applied {
            let voters = Set(proposal.votes.map { name($0.by) })
            if voters.count < 2 || voters.count != proposal.votes.count
                || voters.contains(name(proposal.by))
            {
                return "h\(host.index) applied \(proposal.id) of \(name(proposal.by)) by \(voters)"
            }
        }
        return nil
    }

    /// What a host does not show as its owner has it.
    private var shown: String? {
        for owner in hosts {
            guard let own = own(owner) else { continue }
            let leases = own.leases.map(\.lease.id)
            let runs = own.runs.map(\.run.press)
            let proposals = own.proposals.map(\.id)
            for host in hosts where host.index != owner.index {
                let told = elsewhere(host).first { $0.host == "h\(owner.index)" }
                if told?.awaySince != nil { return "h\(owner.index) is away" }
                guard (told?.leases.map(\.lease.id) ?? []) == leases,
                    (told?.runs.map(\.run.press) ?? []) == runs,
                    (told?.proposals.map(\.id) ?? []) == proposals
                else {
                    return "h\(host.index) shows of h\(owner.index): "
                        + "\(told.map { "\($0)" } ?? "nothing"), which has \(leases), \(runs), "
                        + "\(proposals)"
                }
            }
        }
        return nil
    }
}
