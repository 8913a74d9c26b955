// The lives of one form on several hosts, from a seed: it is deleted and made again, leaves the
// fleet and comes back, two forms of its name meet and somebody decides, hosts die and the log
// forgets.
//
// Oracle: each edit adds a value of its own. An edit that was answered stays, unless a deletion or
// a decision on a host that knew of it removed it, and then it is gone everywhere. In the end all
// hosts have one form, or none. Of a form that was deleted, what the deletion did not know waits for
// the same form to be made again; it may go with it if another form takes the name.

internal import EngineTestKit
internal import SeededRandom
internal import SyncCore

/// A run: see the head of this file.
package final class LinkedLives {
    /// The steps of a usual run.
    package static let usualSteps = 400

    /// What goes wrong with a seed, and what happened before; `nil`: nothing.
    ///
    /// - Parameters:
    ///   - writesLater: Daemons have the durability `memory`.
    ///   - hasSlowDisks: Commits take their time, and all else happens meanwhile.
    package static func failure(
        of seed: UInt64, steps: Int = usualSteps, writesLater: Bool = false,
        hasSlowDisks: Bool = false
    ) -> String? {
        let durability = writesLater ? Durability.memory : .commit
        func run(_ isTelling: Bool) -> (what: String?, story: [String]) {
            do {
                // A third of the fleets has two sites.
                let lives = try LinkedLives(
                    seed: seed, homes: seed % 3 == 0 ? [0, 1, 1] : nil, durability,
                    isTelling: isTelling)
                lives.hasSlowDisks = hasSlowDisks
                let what = try lives.run(
                    steps: steps, isHarmed: seed % 2 == 0, hasOneLife: seed % 4 > 1)
                return (what, lives.story.lines)
            } catch { return ("\(error)", []) }
        }
        guard run(false).what != nil else { return nil }
        let (what, story) = run(true)
        return "lives of a form, seed \(seed), \(steps) steps, durability \(durability.rawValue)"
            + "\(hasSlowDisks ? ", slow disks" : ""): \(what ?? "nothing")\n"
            + story.joined(separator: "\n")
    }

    private let world: LinkedFleet
    private let isTelling: Bool
    private var story = LivesStory()
    /// What must be there in the end, and what must not.
    private var kept: Set<String> = []
    /// The lives of the form in which each edit was made, and those that were deleted.
    private var livesOf: [String: Set<UInt64>] = [:]
    private var deletedLives: Set<UInt64> = []
    private var gone: Set<String> = []
    private var edits = 0
    private var isHarmed = false
    private var hasSlowDisks = false
    /// What was asked and is not answered.
    private var asked = AskedOfHosts()
    /// Nobody makes another form of the name.
    private var hasOneLife = false

    private static let editsMax = 100
    private static let definitions: [String] = {
        let options = (0..<editsMax).map { "\"t\($0)\"" }.joined(separator: ",")
        let tags = #"{"id":"tags","type":"picker","multiple":true,"options":[\#(options)]}"#
        let note = #"{"id":"note","type":"text"}"#
        let count = #"{"id":"count","type":"stepper","min":0,"max":100000}"#
        let secret = #"{"id":"secret","type":"secure"}"#
        return [
            [tags, note, count, secret], [tags, note], [tags, count],
            [note, secret, tags, #"{"id":"more","type":"text"}"#],
        ].map { $0.joined(separator: ",") }
    }()

    private init(
        seed: UInt64, homes: [Int]?, _ durability: Durability, isTelling: Bool
    ) throws {
        self.isTelling = isTelling
        world = try LinkedFleet(hosts: 3, homes: homes, seed: seed, durability: durability)
    }

    private var hosts: [FleetHost] { world.hosts }
    private func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &world.random) }
    private func tell(_ line: @autoclosure () -> String) {
        if isTelling { story.lines.append(line()) }
    }

    // MARK: Steps

    /// Runs steps, then without faults until all is quiet; returns what is wrong.
    private func run(steps: Int, isHarmed: Bool, hasOneLife: Bool) throws -> String? {
        self.isHarmed = isHarmed
        self.hasOneLife = hasOneLife
        apply(hosts[0], 0)
        for _ in 0..<steps { try step() }
        return try end()
    }

    private func step() throws {
        let host = hosts[below(hosts.count)]
        switch below(200) {
        case 0..<44: edit(host)
        case 44..<48: delete(host)
        case 48..<60: makeAgain(host)
        case 60..<63: if host.form != nil { apply(host, below(Self.definitions.count)) }
        case 63..<66: unlink(host)
        case 66..<72: link(host)
        case 72..<74: configure(host, forms: [])
        case 74..<78: configure(host, forms: [Glob("shared")])
        case 78..<84: decide(host)
        case 84..<150: _ = try world.carry()
        case 150..<170: world.pass(milliseconds: Int64(1 + below(400)))
        case 170..<172:
            tell("h\(host.index) is cut off")
            world.cut(host)
        case 172..<182: if !host.isUp { host.comeUp() }
        case 182..<184:
            world.sites.disconnected(host.index)
            host.killBridge()
        case 184..<187: try kill(host)
        case 187, 188: fail(host)
        case 189: if isHarmed, !host.fromServer.isEmpty { host.fromServer.removeFirst() }
        case 190: if let first = host.fromServer.first { host.fromServer.append(first) }
        case 191..<194: if isHarmed { harm() }
        default: hold(host)
        }
        for host in hosts where host.engine.holdsCommits && below(4) == 0 {
            endCommit(host, isLast: below(3) > 0)
        }
        for host in hosts { try host.takeOrders() }
        asked.takeAnswers(of: hosts)
        if isTelling { story.note(hosts) }
    }

    private func kill(_ host: FleetHost) throws {
        tell("h\(host.index) is killed")
        world.sites.disconnected(host.index)
        // Below `commit` the newest edits may be lost then, which is not what is looked for here.
        if host.engine.configuration.durability != .commit {
            endCommit(host)
            host.engine.pass(milliseconds: 20_000)
        }
        asked.forget(host)
        host.engine.holdsCommits = false
        try host.killDaemon()
    }

    private func edit(_ host: FleetHost) {
        guard edits < Self.editsMax, let form = host.form else { return }
        let tag = "t\(edits)"
        edits += 1
        let lives = form.allLives
        let change = Change(field: "tags", .add([.string(tag)]))
        let request = Request.stateSet(StateSet(form: "shared", changes: [change]))
        ask(host, request, "adds \(tag)\(form.link == nil ? ", apart" : "")") { [self] in
            kept.insert(tag)
            livesOf[tag] = lives
        }
    }

    private func apply(_ host: FleetHost, _ number: Int) {
        tell("h\(host.index) applies \(number)")
        world.apply(Self.definitions[number], on: host.index)
    }

    private func makeAgain(_ host: FleetHost) {
        guard host.form == nil,
            !hasOneLife || host.engine.engine.whole(of: "shared") != nil
        else { return }
        apply(host, below(Self.definitions.count))
    }

    private func delete(_ host: FleetHost) {
        guard let form = host.form else { return }
        let isShared = form.link != nil
        if hasOneLife, !isShared { return }
        let lives = form.allLives
        let known = host.tagsKnown
        let request = Request.formDelete(FormDelete(form: "shared"))
        ask(host, request, "deletes\(isShared ? "" : " apart") \(known.sorted())") { [self] in
            kept.subtract(known)
            guard isShared else {
                // What this host alone knew of earlier deletions is gone if the log forgets them.
                if isHarmed { gone = [] }
                return
            }
            gone.formUnion(known)
            deletedLives.formUnion(lives)
        }
    }

    /// Asks a host, and does what follows once it agrees.
    private func ask(
        _ host: FleetHost, _ request: Request, _ what: String, then: @escaping () -> Void
    ) {
        tell("h\(host.index) \(what)")
        asked.ask(host, request) { [self] isOK in
            if isOK { then() } else { tell("    h\(host.index) refuses: \(what)") }
        }
    }

    private func unlink(_ host: FleetHost) {
        guard host.form?.link != nil else { return }
        ask(host, .formUnlink(form: "shared"), "unlinks") {}
    }

    private func link(_ host: FleetHost) {
        guard let form = host.form, form.link == nil else { return }
        ask(host, .formLink(FormLinking(form: "shared")), "links") {}
    }

    private func configure(_ host: FleetHost, forms: [Glob]) {
        guard host.engine.configuration.link?.forms.count != forms.count else { return }
        tell("h\(host.index) shares \(forms.count) patterns")
        host.share(forms)
    }

    private func decide(_ host: FleetHost) {
        guard host.form?.link != nil,
            let whole = host.engine.engine.fleet?.otherForms["shared"]?.whole
        else { return }
        let how = FormLinking.How.allCases[below(3)]
        let (own, theirs) = (host.tagsKnown, whole.tags)
        let lost =
            switch how {
            case .merge: Set<String>()
            case .ours: theirs.subtracting(own)
            case .theirs: own.subtracting(theirs)
            }
        let what = "decides \(how), own \(own.sorted()), theirs \(theirs.sorted())"
        ask(host, .formLink(FormLinking(form: "shared", how: how)), what) { [self] in
            kept.subtract(lost)
            gone.formUnion(lost)
        }
    }

    /// An action fails in the store, and did not happen.
    private func fail(_ host: FleetHost) {
        tell("h\(host.index) has a full disk")
        host.engine.storeFails = true
        switch below(4) {
        case 0: delete(host)
        case 1: makeAgain(host)
        case 2: decide(host)
        default: edit(host)
        }
        _ = try? world.carry()
        endCommit(host)
        host.engine.storeFails = false
        host.engine.pass(milliseconds: 1_000)
    }

    /// What is done gathers while a batch is being written.
    private func hold(_ host: FleetHost) {
        host.engine.holdsCommits = true
        if hasSlowDisks { return tell("h\(host.index) writes slowly") }
        _ = try? world.carry()
        endCommit(host)
    }

    /// The batch that is being written is durable, or fails; the next one may take long as well.
    private func endCommit(_ host: FleetHost, isLast: Bool = true) {
        host.engine.holdsCommits = !isLast
        host.engine.commit()
        host.engine.settle()
    }

    private func harm() {
        if world.sites.streams.count > 1, below(2) == 0 {
            tell(world.harmSite())
        } else if let what = world.harmServer() {
            tell(what)
        }
    }

    // MARK: The end

    private func end() throws -> String? {
        for host in hosts { endCommit(host) }
        asked.takeAnswers(of: hosts)
        tell("the end")
        defer { for host in hosts { tell(host.description) } }
        for host in hosts { configure(host, forms: [Glob("shared")]) }
        for host in hosts { link(host) }
        var isWritten = false
        for round in 0..<8 {
            guard let missing = try settle() else {
                if isWritten || hosts.contains(where: { $0.form != nil }) { break }
                // The last whole of a form that is not shared any more may not be written yet.
                isWritten = true
                try world.spend(seconds: 12)
                continue
            }
            guard let host = hosts.first(where: { $0.other != nil }) else { return missing }
            if round == 7 { return "decisions do not end: \(missing)" }
            decide(host)
        }
        if hosts.allSatisfy({ $0.form == nil }) {
            apply(hosts[below(hosts.count)], 0)
            if let missing = try settle() { return "made again: \(missing)" }
        }
        for host in hosts { edit(host) }
        if let missing = try settle() { return "last edits: \(missing)" }
        let has = hosts.map(\.tags)
        if !hasOneLife {
            kept = kept.filter { deletedLives.isDisjoint(with: livesOf[$0] ?? []) }
        }
        if Set(has).count > 1 { return "values differ: \(has.map { $0.sorted() })" }
        let (lost, back) = (kept.subtracting(has[0]), gone.intersection(has[0]))
        if !lost.isEmpty { return "lost: \(lost.sorted())" }
        if !back.isEmpty { return "came back: \(back.sorted())" }
        for host in hosts {
            guard let counters = host.engine.engine.fleet?.counters else { continue }
            if counters.forks > 0 { return "h\(host.index) says that there are two of a replica" }
            if !isHarmed, counters.disagreements > 0 {
                return "h\(host.index) says that hosts disagree"
            }
        }
        return nil
    }

    private var taken: Int { world.sites.streams.reduce(0) { $0 + $1.everTaken.count } }

    /// Lets time pass without faults until all have the same, or wait for a decision.
    private func settle() throws -> String? {
        var missing: String?
        world.sites.heal()
        let length = taken
        // Hosts can compare what they have once they have forgotten a message of which the log lost
        // a part.
        let waits = Int(PartCollector.ageMax / 500_000_000)
        for turn in 0..<(waits + 200) {
            for host in hosts where !host.isUp { host.comeUp() }
            for _ in 0..<200 {
                if try !world.carry() { break }
                if isTelling { story.note(hosts) }
            }
            if taken > length + 4_000 { return "messages without end" }
            missing = world.missing
            if missing == nil { return nil }
            if turn > 60, hosts.contains(where: { $0.other != nil }) { return missing }
            world.pass(milliseconds: 500)
        }
        return missing
    }
}
