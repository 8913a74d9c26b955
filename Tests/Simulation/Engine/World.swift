// A daemon with its store and its clients. Every event follows from one seed.
//
// Invariant: a step is a verb and 64 random bits and can be done in any state. So steps can be left
// out of a plan. The same plan gives the same run.

import EngineTestKit
import Foundation
import SeededRandom
import SyncCore

/// The kind of a step.
struct Step {
    enum Verb: CaseIterable {
        case edit, burst, increment, toggleWatch, read, undo, redo, present, stopReading, slowDown
        case resumeReading, vanish, comeBack, hold, commit, failCommit, crash, restart, wait
        case jumpClock, redefine, setOptions, holdFetches, breakStore, mendStore, audit
    }

    var verb: Verb
    var bits: UInt64

    /// The weight of each verb.
    private static let weights: [(Verb, Int)] = [
        (.edit, 160), (.burst, 50), (.increment, 60), (.toggleWatch, 40), (.read, 25), (.undo, 25),
        (.redo, 12), (.present, 15), (.stopReading, 15), (.slowDown, 15), (.resumeReading, 25),
        (.vanish, 18), (.comeBack, 40), (.hold, 25), (.commit, 50), (.failCommit, 8), (.crash, 9),
        (.restart, 4), (.wait, 15), (.jumpClock, 6), (.redefine, 6), (.setOptions, 6),
        (.holdFetches, 8), (.breakStore, 2), (.mendStore, 4), (.audit, 6),
    ]

    init(_ random: inout SplitMix64) {
        verb = random.pick(weighted: Self.weights)
        bits = random.next()
    }
}

/// Everything that determines a run.
struct Plan {
    let seed: UInt64
    var durability: Durability
    var limits = Limits()
    var clientCount: Int
    var steps: [Step]
    var faults: HostFaults = []
    /// Whether so few revisions are kept that a client may not be able to resume.
    var forgets = false
    /// Whether work takes time, so that users wait for their turns.
    var takesTime: Bool

    init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        durability = [.commit, .commit, .commit, .interval, .memory].randomElement(using: &random)!
        limits.changeLogBytesMax = [1, 1500, 6000, 4 << 20].randomElement(using: &random)!
        if Int.random(in: 0..<6, using: &random) == 0 {
            limits.historyRevisionsMax = 30
            forgets = true
        }
        clientCount = Int.random(in: 2...5, using: &random)
        let count = Int.random(in: 30...150, using: &random)
        steps = (0..<count).map { _ in Step(&random) }
        takesTime = Bool.random(using: &random)
    }
}

/// A run.
final class World {
    let plan: Plan
    let host: EngineHost
    let oracle: Oracle
    /// The first is notified of everything and always reads. The second may change the form.
    var clients: [SimulatedClient] = []
    private(set) var story: [String] = []
    private var nextEdit = 1
    var random = SplitMix64(seed: 0)
    private var isWatched = false

    var admin: SimulatedClient { clients[1] }

    init(_ plan: Plan) throws {
        self.plan = plan
        host = try EngineHost(durability: plan.durability, limits: plan.limits, seed: plan.seed)
        if plan.takesTime {
            var time = WorkTime(seed: plan.seed)
            host.workTakes = { time.take() }
        }
        oracle = Oracle(durability: plan.durability)
        for number in 0..<plan.clientCount + 2 {
            let client = SimulatedClient(
                number, uid: number < 2 ? 0 : 1000 + UInt32(number % 2),
                session: number % 3 == 0 ? nil : "s\(number)", oracle: oracle)
            // A revision that is not written yet and has left the change log cannot be resumed
            // from.
            client.mayForget =
                plan.forgets
                || plan.durability != .commit && plan.limits.changeLogBytesMax < 1 << 20
            client.logMayChange = { [host, unowned self] in host.rebuildAsked || newLogs }
            clients.append(client)
        }
    }

    /// A stop may have lost revisions that a client has seen, so a new log begins.
    private var newLogs = false

    /// Runs the whole plan.
    func run() throws {
        try begin()
        for step in plan.steps {
            random = SplitMix64(seed: step.bits)
            try perform(step.verb)
            try pump()
        }
        try audit()
        try checkStore()
    }

    /// `PICKERSYNC_SIMULATION_FRAMES`: the report contains every frame.
    nonisolated static let isTelling =
        ProcessInfo.processInfo.environment["PICKERSYNC_SIMULATION_FRAMES"] != nil

    func tell(_ line: String) { story.append(line) }

    // MARK: - Start

    private func begin() throws {
        clients[0].connection = host.connect(uid: 0, user: "root")
        clients[1].connection = host.connect(uid: 0, user: "root")
        let definition = SimulatedForm.definition(variant: 0)
        guard let connection = admin.connection else { return }
        _ = host.call(connection, .formApply(FormApply(definition: definition)))
        _ = host.take(connection)
        oracle.created(definition)
        host.onCommit = { [unowned self] batch in
            if plan.durability == .commit { learn(batch) }
        }
        host.onSilentWrite = { [unowned self] in affirmed(by: $0, at: $1, $2) }
        subscribe(clients[0], globs: nil, presence: false, since: nil)
        host.faults = plan.faults
        for client in clients.dropFirst() { try comeBack(client) }
        try pump()
        isWatched = true
    }

    private var failure: (any Error)?

    /// A batch is durable: its revisions may be seen from now on.
    private func learn(_ batch: Batch) {
        // Edits that waited for their turn are done in the step in which a store was rebuilt.
        oracle.epochs = Int(host.replica.epoch)
        for operation in batch.operations {
            switch operation {
            case .putHead(_, _, let context): learnAffirmations(in: context)
            case .putForm(let row): learnAffirmations(in: row.context)
            default: break
            }
        }
        for case .appendRevision(let row) in batch.operations { learn(row) }
    }

    /// Silent writes that are not durable yet.
    private var unsaidAffirmations: [Affirmation] = []

    /// An edit repeats the present value.
    private func affirmed(by author: Author, at revision: UInt64, _ dots: [Dot]) {
        let number = author.client.flatMap { $0.split(separator: "#").last }.flatMap { Int($0) }
        unsaidAffirmations.append(
            Affirmation(
                edit: number ?? 0, connection: Int64(clamping: author.connection),
                revision: Int64(clamping: revision), dots: dots))
        // Below `commit` it counts at once.
        if plan.durability != .commit { learnAffirmations { _ in true } }
    }

    /// The silent writes whose dots a form's context has are durable.
    private func learnAffirmations(in context: [UInt8]) {
        guard let known = try? CausalContext(decoding: context) else { return }
        learnAffirmations { $0.dots.allSatisfy(known.contains) }
    }

    private func learnAffirmations(where isDurable: (Affirmation) -> Bool) {
        guard failure == nil else { return }
        do {
            let durable = unsaidAffirmations.filter(isDurable)
            unsaidAffirmations.removeAll(where: isDurable)
            for one in durable { try oracle.affirmed(one) }
        } catch {
            failure = error
        }
    }

    private func learn(_ row: RevisionRow) {
        guard failure == nil else { return }
        if Self.isTelling {
            tell("    durable: \(String(decoding: row.frame.dropFirst(4), as: UTF8.self))")
        }
        do {
            try oracle.learn(String(decoding: row.frame.dropFirst(4), as: UTF8.self))
        } catch {
            failure = error
        }
    }

    /// All clients read the frames that arrived.
    func pump() throws {
        if let failure { throw failure }
        oracle.epochs = Int(host.replica.epoch)
        for client in clients {
            guard let connection = client.connection else { continue }
            for text in host.take(connection) {
                if Self.isTelling { tell("    client \(client.number) < \(text)") }
                if client.number == 0, plan.durability != .commit,
                    text.contains(#""method":"state.changed""#)
                        || text.contains(#""method":"form.changed""#)
                {
                    try oracle.learn(text)
                }
                try client.take(text)
            }
        }
        if let failure { throw failure }
    }

    // MARK: - Sending

    /// Sends a request.
    func send(_ client: SimulatedClient, _ request: Request, _ what: Due) {
        guard let connection = client.connection else { return }
        let id = client.nextID
        client.nextID += 1
        client.due.append((id, what))
        if Self.isTelling { tell("    client \(client.number) > \(request.line)") }
        let bytes = request.frame(id: RequestID(id))
        if Int.random(in: 0..<4, using: &random) == 0, bytes.count > 6 {
            // The stream is cut at a random place.
            let cut = Int.random(in: 1..<bytes.count, using: &random)
            host.sendBytes(connection, Array(bytes[..<cut]))
            host.sendBytes(connection, Array(bytes[cut...]))
        } else {
            host.sendBytes(connection, bytes)
        }
    }

    /// Sends an edit with its number as the name of the client.
    func send(_ client: SimulatedClient, _ edit: SentEdit) throws {
        send(
            client,
            .hello(Hello(client: "client\(client.number)#\(edit.number)", session: client.session)),
            .other(.hello))
        send(client, edit.request, .edit(edit))
        if plan.durability != .commit { try settle() }
    }

    /// A new edit of a client.
    func edit(
        _ client: SimulatedClient, sights: [[Glimpse]?] = [], shown: [Glimpse] = [],
        _ request: (_ key: String?) -> Request
    ) throws {
        let number = nextEdit
        nextEdit += 1
        let key = Int.random(in: 0..<3, using: &random) > 0 ? "key\(number)" : nil
        let edit = SentEdit(number, request(key), owner: client.owner, sights: sights)
        client.sights[number] = shown
        oracle.sent(edit)
        tell("client \(client.number), edit \(number): \(edit.request.line)")
        try send(client, edit)
    }

    func settle() throws {
        host.settle()
        try pump()
    }

    func subscribe(
        _ client: SimulatedClient, globs: [String]?, presence: Bool, since: StateSubscribe.Since?
    ) {
        let params = StateSubscribe(form: "sim", fields: globs, since: since, presence: presence)
        send(client, .stateSubscribe(params), .subscription(params))
        host.settle()
    }

    func comeBack(_ client: SimulatedClient) throws {
        if client.connection == nil {
            client.connection = host.connect(
                uid: client.uid, user: client.uid == 0 ? "root" : "user\(client.uid)")
            client.due = []
        }
        if let back = client.wantsBack {
            subscribe(client, globs: back.globs, presence: back.presence, since: back.since)
        }
        let again = client.unsettled
        client.unsettled = []
        for edit in again where !edit.isAnswered || plan.durability == .commit {
            tell("client \(client.number) sends edit \(edit.number) again")
            try send(client, edit)
        }
        try settle()
    }

    // MARK: - Ends of the daemon

    /// Kills the daemon and starts it again.
    func crash(writesBatch: Bool) throws {
        try pump()
        let mayLose = plan.durability != .commit
        newLogs = newLogs || mayLose
        try host.crash(
            newEpoch: mayLose && !plan.faults.contains(.reusesDots), newLogs: mayLose,
            writesBatch: writesBatch)
        try startAgain(mayLose: mayLose)
    }

    /// Stops the daemon and starts it again.
    func restart() throws {
        try mend()
        guard try host.restart() else { throw Violation("the daemon does not stop") }
        try startAgain(mayLose: false)
    }

    private func startAgain(mayLose: Bool) throws {
        // What was written during the stop is durable, whether or not a client has read it.
        try pump()
        for client in clients { client.lost() }
        let context = host.store.forms.values.first?.context ?? []
        if plan.durability == .commit {
            learnAffirmations(in: context)
            for (revision, row) in (host.store.revisions.values.first ?? [:]).sorted(by: {
                $0.key < $1.key
            })
            where revision > oracle.revision {
                learn(row)
            }
        }
        if let failure { throw failure }
        let stored = host.store.forms.values.first?.revision ?? 0
        unsaidAffirmations = []
        try oracle.lost(
            after: Int64(stored), mayLose: mayLose,
            (try? CausalContext(decoding: context)) ?? CausalContext())
        oracle.epochs = Int(host.replica.epoch)
        if mayLose {
            for client in clients {
                client.floor = 0
                client.answered = nil
            }
        }
        try comeBack(clients[0])
        try pump()
    }

    /// The disk works again.
    func mend() throws {
        host.rebuildWorks = true
        host.holdsCommits = false
        host.holdsFetches = false
        host.answerFetches()
        host.commit()
        host.pass(milliseconds: 600)
        for client in clients {
            if let connection = client.connection { host.resumeReading(connection) }
        }
        try settle()
    }

    // MARK: - The end

    /// Nothing is pending any more, and all clients must see the same.
    func audit() throws {
        tell("audit")
        try mend()
        for client in clients { try comeBack(client) }
        // What the first client reads must be the newest state.
        try waitForAnswers()
        send(clients[0], .stateGet(StateGet(form: "sim")), .state(nil))
        send(clients[0], .stateReveal(StateReveal(form: "sim", field: "pin")), .secret)
        send(clients[0], .stateHistory(StateHistory(form: "sim", limit: 1000)), .history)
        try waitForAnswers()
        try oracle.audit()
        for client in clients { try client.checkAtRest() }
        try checkPresence()
    }

    private func waitForAnswers() throws {
        try settle()
        // A batch may wait for clients that are about to have a turn, for 20 ms each at most.
        for turn in 0..<100 where turn == 0 || clients.contains(where: { !$0.due.isEmpty }) {
            host.pass(milliseconds: 20)
            try settle()
        }
    }

    private func checkPresence() throws {
        var there: [Int64: String] = [:]
        for client in clients {
            guard let connection = client.connection, client.watch?.presence ?? false else {
                continue
            }
            there[Int64(connection.number)] = client.focus ?? ""
        }
        for client in clients where client.watch?.presence ?? false {
            guard client.watch?.peers == there else {
                throw Violation(
                    "client \(client.number) has the presence \(client.watch?.peers ?? [:]), not \(there)"
                )
            }
        }
    }

    /// The store has no secret as plain text, and nothing in it grows with edits or clients.
    private func checkStore() throws {
        let canary = Array(Oracle.canary.utf8)
        func check(_ bytes: [UInt8], _ what: String) throws {
            guard bytes.firstRange(of: canary) == nil else {
                throw Violation("the store has a secret as plain text in \(what)")
            }
        }
        for rows in host.store.revisions.values {
            for row in rows.values {
                try check(row.frame, "a revision")
                try check(row.record, "a record")
            }
        }
        for row in host.store.keys.values { try check(row.result, "a key") }
        var bytes = 0
        for row in host.store.fields.values.flatMap(\.values) {
            try check(row.state, "a field")
            bytes += row.state.count
        }
        guard bytes < 24_000 else { throw Violation("the fields take \(bytes) bytes") }
    }
}

extension Request {
    /// The request as one line of the report.
    var line: String {
        String(decoding: frame(id: nil).dropFirst(4), as: UTF8.self)
    }
}
