// Daemons of several hosts that share one form over a log, all from one seed: edits, definitions,
// kills, and a log that doubles, reorders, forgets its end, gives its numbers again and is cut off.
//
// The oracle is the causal core alone: each host has a *shadow*, a `CausalForm` that only joins
// what hosts told each other. After each step the engine's stores must be the shadow's. In the end
// all hosts must have the join of everything, the same definition and the same values.

import EngineTestKit
import SeededRandom
import SyncCore

/// One run.
package final class JoinWorld {
    /// The steps of a usual run.
    package static let usualSteps = 120

    /// What goes wrong with a seed, and what happened before; `nil`: nothing.
    package static func failure(
        of seed: UInt64, _ fault: JoinFault? = nil, steps: Int = usualSteps
    ) -> String? {
        do {
            let world = try JoinWorld(seed: seed, fault: fault)
            do { try world.run(steps: steps) } catch {
                return "hosts that join, seed \(seed), \(steps) steps: \(error)\n"
                    + world.story.joined(separator: "\n")
            }
            return nil
        } catch { return "hosts that join, seed \(seed): \(error)" }
    }

    /// Whether one of the seeds finds a bug.
    package static func finds(_ fault: JoinFault, in seeds: Range<UInt64>) -> Bool {
        seeds.contains { failure(of: $0, fault) != nil }
    }

    let seed: UInt64
    let fault: JoinFault?
    private(set) var story: [String] = []
    private var random: SplitMix64
    private let hosts: [JoinHost]
    private var log: [(from: Int, item: SharedItem)] = []
    /// The join of everything that any host has told.
    private var truth = CausalForm()
    private var edits = 0
    private var side: [Bool]

    init(seed: UInt64, fault: JoinFault? = nil) throws {
        self.seed = seed
        self.fault = fault
        random = SplitMix64(seed: seed)
        hosts = try (0..<3 + Int(seed % 3)).map { try JoinHost($0, seed: seed) }
        side = hosts.map { _ in false }
    }

    /// Runs a number of steps, and then everybody hears everything.
    func run(steps: Int) throws {
        hosts[0].tellsNews = true
        try hosts[0].readFile()
        try publish(hosts[0])
        for _ in 0..<steps {
            let one = hosts[below(hosts.count)]
            try step(one)
            try check(one)
        }
        try heal()
    }

    private func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    private func chance(_ percent: Int) -> Bool { below(100) < percent }

    private func tell(_ line: String) { story.append(line) }

    // MARK: - Steps

    private func step(_ one: JoinHost) throws {
        switch below(100) {
        case 0..<38: edit(one)
        case 38..<46: apply(JoinForms.all[below(JoinForms.all.count)], at: one)
        case 46..<48: setOptions(one)
        case 48: delete(one)
        case 49..<62: try publish(one)
        case 62..<88: try deliver(one)
        case 88..<92: try kill(one)
        case 92..<94:
            for place in side.indices { side[place] = chance(50) }
        case 94..<96: try forgetTail()
        default: one.host.pass(milliseconds: Int64(below(2_000)))
        }
    }

    private func edit(_ one: JoinHost) {
        guard let definition = one.definition else { return }
        let client = one.host.connect(uid: UInt32(1000 + below(2)))
        defer { one.host.disconnect(client) }
        var changes: [Change] = []
        for _ in 0..<1 + below(2) {
            edits += 1
            guard let change = JoinForms.change(of: definition, edits, &random) else { continue }
            changes.append(change)
        }
        if changes.isEmpty { return }
        let token = chance(30) ? "" : nil
        tell("h\(one.place) sets \(changes.map(\.field))")
        one.host.call(
            client, .stateSet(StateSet(form: "shared", changes: changes, context: token)))
        if chance(10) {
            one.host.call(
                client, .stateUndo(StateUndo(form: "shared", field: nil, scope: .anyone)))
        }
    }

    private func apply(_ text: String, at one: JoinHost) {
        guard let definition = try? JSON(parsing: Array(text.utf8)),
            one.stores != nil || log.isEmpty
        else { return }
        tell("h\(one.place) applies \(text)")
        one.tellsNews = one.row == nil
        one.host.call(one.watcher, .formApply(FormApply(definition: definition)))
    }

    private func delete(_ one: JoinHost) {
        guard one.row != nil else { return }
        tell("h\(one.place) deletes")
        one.host.call(one.watcher, .formDelete(FormDelete(form: "shared")))
        one.tellsNews = true
    }

    private func setOptions(_ one: JoinHost) {
        guard one.definition?.index(of: "pick") != nil else { return }
        let options = (0..<1 + below(3)).map { JSON.string("o\($0)") }
        tell("h\(one.place) sets options")
        one.host.call(
            one.watcher,
            .formSetOptions(FormSetOptions(form: "shared", field: "pick", options: options)))
    }

    /// What is new at a host goes into the log.
    private func publish(_ one: JoinHost) throws {
        for item in try one.host.engine.takeShared() {
            let item = try item.travelled
            guard let delta = item.causalForm else {
                throw Violation("an item that is not a form: \(item)")
            }
            if case .whole = item, !one.shadow.context.isEmpty, delta != one.shadow,
                !one.tellsNews
            {
                throw Violation(
                    "h\(one.place) after a start: \(difference(delta, one.shadow))")
            }
            one.tellsNews = false
            one.shadow.join(delta)
            truth.join(delta)
            log.append((one.place, try faulty(item).travelled))
            tell("h\(one.place) publishes \(log.count - 1): [\(item.context)]")
        }
    }

    private func cursor(_ one: JoinHost) -> Int {
        let bytes = one.host.engine.linkCursor ?? []
        return min(Int(String(decoding: bytes, as: UTF8.self)) ?? 0, log.count)
    }

    /// A host reads from its cursor, or something out of order.
    private func deliver(_ one: JoinHost) throws {
        if log.isEmpty { return }
        var next = cursor(one)
        if next == log.count || chance(25) {
            let place = below(log.count)
            if side[log[place].from] == side[one.place] {
                try join([place], at: one, cursor: nil, mayDie: true)
            }
            return
        }
        var places: [Int] = []
        for _ in 0..<1 + below(4) where next < log.count {
            if side[log[next].from] != side[one.place] { break }
            places.append(next)
            next += 1
        }
        if places.isEmpty { return }
        let bytes = Array(String(next).utf8)
        if fault == .cursorBeforeJoin, chance(50) {
            _ = one.host.join([], cursor: bytes)
            one.host.settle()
            return
        }
        try join(places, at: one, cursor: bytes, mayDie: true)
    }

    private func join(
        _ places: [Int], at one: JoinHost, cursor: [UInt8]?, mayDie: Bool = false
    ) throws {
        // What is not told yet would be missing in the shadow.
        try publish(one)
        let dies = mayDie && chance(20)
        one.host.holdsCommits = dies
        let outcomes = one.host.join(places.map { log[$0].item }, cursor: cursor)
        one.host.settle()
        tell("h\(one.place) joins \(places): \(outcomes)\(dies ? ", and dies" : "")")
        if dies {
            let isWritten = chance(50)
            if !isWritten || one.host.batchUnderWay == nil { return try restart(one, false) }
            try restart(one, true)
        }
        for (place, outcome) in zip(places, outcomes) {
            switch outcome {
            case .joined, .known:
                guard let form = log[place].item.causalForm else { continue }
                one.shadow.join(form)
            case .held, .notNow: break
            case .refused(let why): throw Violation("refused: \(why)")
            }
        }
        if fault == .droppedStores, dropAttic(of: one) { try restart(one, false) }
    }

    private func kill(_ one: JoinHost) throws {
        try publish(one)
        tell("h\(one.place) is killed")
        if fault == .forgottenDeletion { one.forgetDeletion() }
        try restart(one, false)
    }

    private func restart(_ one: JoinHost, _ writesBatch: Bool) throws {
        one.host.holdsCommits = false
        if fault == .fileAtEveryStart { one.forgetFile() }
        try one.host.crash(writesBatch: writesBatch)
        one.host.settle()
        if one.place == 0 {
            // Others may have a newer definition: the same file changes nothing.
            let stores = one.stores
            try one.readFile()
            guard one.stores == stores else {
                throw Violation("h0 has applied its form file again")
            }
        }
        one.watcher = one.host.connect(uid: 0, user: "root")
        one.isWatching = false
    }

    /// The log loses its end and gives its numbers again. Hosts that read further begin again, and
    /// somebody's whole brings what was lost.
    private func forgetTail() throws {
        let count = min(log.count, 1 + below(5))
        log.removeLast(count)
        tell("the log forgets \(count)")
        for one in hosts where cursor(one) >= log.count {
            _ = one.host.join([], cursor: Array("0".utf8))
            one.host.settle()
        }
        for one in hosts { try appendWhole(of: one) }
    }

    private func appendWhole(of one: JoinHost) throws {
        try publish(one)
        guard let whole = one.host.engine.whole(of: "shared") else { return }
        log.append((one.place, try faulty(.whole(whole)).travelled))
    }

    // MARK: - Checks

    private func check(_ one: JoinHost) throws {
        try publish(one)
        guard let stores = one.stores else { return }
        guard stores == one.shadow else {
            throw Violation(
                "h\(one.place): \(difference(stores, one.shadow))")
        }
        try watch(one)
    }

    private func difference(_ own: CausalForm, _ shadow: CausalForm) -> String {
        let keys = Set((own.fields + shadow.fields).map(\.key)).sorted()
        let lines = keys.filter { own[$0] != shadow[$0] }.map {
            "\($0.id): \(own[$0].dots), not \(shadow[$0].dots)"
        }
        return lines.joined(separator: "; ") + " of [\(shadow.context)]"
    }

    /// A watcher gets each revision once, in order.
    private func watch(_ one: JoinHost) throws {
        guard one.row != nil else {
            _ = one.host.take(one.watcher)
            one.isWatching = false
            return
        }
        if !one.isWatching {
            let texts = one.host.call(
                one.watcher, .stateSubscribe(StateSubscribe(form: "shared", since: nil)))
            one.isWatching = true
            one.watched = Int64(one.row?.revision ?? 0)
            if texts.isEmpty { throw Violation("no snapshot") }
            _ = one.host.take(one.watcher)
            return
        }
        for text in one.host.take(one.watcher) {
            var decoder = ServerMessageDecoder()
            for message in try decoder.decode(Array(text.utf8)) {
                let revision: Int64
                switch message {
                case .notification(.stateChanged(let changed)): revision = changed.revision
                case .notification(.formChanged(let changed)):
                    revision = changed.revision
                    // Deleted and made again: the subscription has ended.
                    if case .deleted = changed.content { one.isWatching = false }
                default: continue
                }
                guard revision == one.watched + 1 else {
                    throw Violation(
                        "h\(one.place) notifies \(revision) after \(one.watched)")
                }
                one.watched = revision
                if !one.isWatching { return }
            }
        }
        guard one.watched == Int64(one.row?.revision ?? 0) else {
            throw Violation("h\(one.place) did not notify all revisions")
        }
    }

    private func heal() throws {
        side = hosts.map { _ in false }
        tell("everybody hears everything")
        for one in hosts { try publish(one) }
        // Two rounds of wholes: a host without the form takes part from the second on.
        for _ in 0..<2 {
            for one in hosts {
                // What the log says is read to its end first, because a cursor promises it.
                let places = Array(cursor(one)..<log.count)
                if places.isEmpty { continue }
                try join(places, at: one, cursor: Array(String(log.count).utf8))
                try check(one)
            }
            if fault == nil || fault == .noAttic {
                for one in hosts { try appendWhole(of: one) }
            }
        }
        if fault != .cursorBeforeJoin {
            for _ in 0..<2 {
                for one in hosts {
                    try join(Array(log.indices), at: one, cursor: nil)
                    try check(one)
                }
            }
        }
        for one in hosts {
            guard let own = one.stores, own == truth else {
                throw Violation(
                    "h\(one.place) lacks: "
                        + difference(one.stores ?? CausalForm(), truth))
            }
            try compare(one, hosts[0])
        }
    }

    private func compare(_ one: JoinHost, _ other: JoinHost) throws {
        if let own = one.stores, own[CausalForm.Key("$definition", .register)].isEmpty {
            guard one.row == nil, other.row == nil else {
                throw Violation("h\(one.place) or h\(other.place) has a form that was deleted")
            }
            return
        }
        guard let own = one.stores, let theirs = other.stores, let row = one.row,
            let first = other.row
        else { throw Violation("h\(one.place) or h\(other.place) has no form") }
        guard own == theirs,
            one.host.engine.digest(of: "shared") == other.host.engine.digest(of: "shared")
        else {
            throw Violation(
                "h\(one.place) and h\(other.place): \(difference(own, theirs))")
        }
        guard try JSON(parsing: row.definition) == JSON(parsing: first.definition) else {
            throw Violation("h\(one.place) has another definition")
        }
        for (own, theirs) in try zip(one.snapshot().fields, other.snapshot().fields) {
            let (mine, yours) = (own.state, theirs.state)
            guard own.id == theirs.id, mine.value == yours.value, mine.isSet == yours.isSet,
                mine.conflict == yours.conflict, mine.isInvalid == yours.isInvalid
            else { throw Violation("two values: \(mine) and \(yours)") }
        }
    }
}
