// Five daemons, each with its engine, store and clock, and clients that move between them. The
// daemons are joined by deltas that are lost, duplicated, reordered and cut off.
//
// A message is what an engine tells the others of one transaction, or of the whole form. The
// receiver joins it while its clients read and edit.

import EngineTestKit
import SeededRandom
import SyncCore

/// One run of a plan.
package final class FleetWorld {
    let plan: FleetPlan
    let isTelling: Bool
    let oracle = FleetOracle()
    let edits = FleetEdits()
    let daemons: [FleetDaemon]
    let clients: [FleetClient]
    var messages: [FleetMessage] = []
    /// Daemons on different sides exchange no messages.
    var side = Array(repeating: false, count: 5)
    /// By daemon that was restored from a backup: the newest epoch of which something may be lost.
    var losses: [Int: UInt32] = [:]
    var random = SplitMix64(seed: 0)
    /// One line for each step, if requested.
    package private(set) var story: [String] = []

    /// The number of writes of a run is below the oracle's limit.
    static let editsMax = 190

    /// A store with the form.
    private static func template() throws -> StoreImage {
        let host = try EngineHost(link: .fleet("template"))
        let root = host.connect(uid: 0, user: "root")
        host.call(root, .formApply(FormApply(definition: .fleetForm)))
        return host.store.image()
    }

    /// The world before the first step of `plan`.
    package init(_ plan: FleetPlan, isTelling: Bool = false) throws {
        self.plan = plan
        self.isTelling = isTelling
        let oracle = oracle
        let edits = edits
        var store = ModelStore()
        let template = try Self.template()
        store.rebuild(template)
        for form in template.forms { oracle.know(try CausalContext(decoding: form.context)) }
        daemons = try (0..<5).map { place in
            try FleetDaemon(
                place, seed: plan.seed, copyOf: store, oracle: oracle, edits: edits,
                fault: plan.fault)
        }
        clients = (0..<5).map { FleetClient($0) }
        for (daemon, offset) in zip(daemons, [0, 0, 5_000, -5_000, 3_600_000] as [Int64]) {
            daemon.host.wallOffset = offset
        }
    }

    /// Runs every step and then exchanges all states.
    ///
    /// - Returns: what went wrong, or `nil`.
    package func run() -> String? {
        do {
            for step in plan.steps {
                random = SplitMix64(seed: step.bits)
                let time = Int64(1 + random.below(40))
                for daemon in daemons { daemon.host.milliseconds += time }
                try perform(step.verb, at: daemons[random.below(daemons.count)])
            }
            try heal()
            return nil
        } catch {
            return "\(error)"
        }
    }

    func tell(_ line: @autoclosure () -> String) {
        if isTelling { story.append(line()) }
    }

    // MARK: - Daemons

    /// All clients of `daemon` read the frames that arrived, and everything is compared with the
    /// oracle.
    func settle(_ daemon: FleetDaemon) throws {
        daemon.host.settle()
        try read(daemon)
        // A batch may wait for clients that are about to have a turn, for 20 ms each at most.
        for _ in 0..<clients.count
        where daemon.host.batchUnderWay == nil && clients.contains(where: { $0.waits(at: daemon) })
        {
            daemon.host.pass(milliseconds: 20)
            try read(daemon)
        }
        try daemon.check()
        for client in clients where client.daemon === daemon { try client.checkAtRest() }
        let entries = daemon.form.context.vector.entries.count
        guard entries <= replicas else {
            throw Violation("\(daemon.name): [\(daemon.form.context)] of \(replicas) epochs")
        }
    }

    /// The number of epochs so far, with that of the daemon that made the form.
    private var replicas: Int { daemons.reduce(1) { $0 + Int($1.host.replica.epoch) } }

    private func read(_ daemon: FleetDaemon) throws {
        if let failure = daemon.failure { throw failure }
        for client in clients where client.daemon === daemon { try client.read() }
    }

    /// Sends an edit of a client to its daemon.
    func send(_ edit: FleetEdit, of client: FleetClient) throws {
        guard let daemon = client.daemon, oracle.count < Self.editsMax else { return }
        // Of two edits of a field in one batch, the store keeps only the timestamp of the later
        // one.
        while !daemon.pendingFields.isDisjoint(with: edit.fields) {
            // Edits may wait for a batch that has not begun.
            if daemon.host.batchUnderWay == nil { daemon.host.pass(milliseconds: 20) }
            if daemon.host.batchUnderWay == nil { daemon.pendingFields = [] }
            daemon.host.commit()
            try settle(daemon)
        }
        daemon.pendingFields.formUnion(edit.fields)
        tell("\(client.name), edit \(edit.number) at \(daemon.name): \(edit.request.line)")
        client.send(edit)
        try settle(daemon)
    }

    func comeBack(_ client: FleetClient, to daemon: FleetDaemon) throws {
        if let old = client.daemon { try leave(client, old) }
        tell("\(client.name) connects to \(daemon.name)")
        client.comeBack(to: daemon)
        try settle(daemon)
        for edit in client.takeQueue(for: daemon.place) {
            // The daemon may have stopped in the meantime, or the oracle's limit may be reached.
            try send(edit, of: client)
        }
    }

    func leave(_ client: FleetClient, _ daemon: FleetDaemon) throws {
        tell("\(client.name) goes offline")
        try read(daemon)
        if let connection = client.connection { daemon.host.disconnect(connection) }
        client.lost()
    }

    /// The daemon stops, and its clients are offline.
    func end(_ daemon: FleetDaemon, isKilled: Bool, writesBatch: Bool) throws {
        if isKilled { try read(daemon) }
        try daemon.end(isKilled: isKilled, writesBatch: writesBatch)
        try read(daemon)
        for client in clients where client.daemon === daemon { client.lost() }
    }

    /// The new writes at `daemon`, or its whole form, are sent.
    func publish(_ daemon: FleetDaemon, whole: Bool) throws {
        tell("\(daemon.name) sends \(whole ? "all" : "what is new")")
        messages += try daemon.takeMessages()
        if whole, let message = try daemon.wholeMessage() { messages.append(message) }
        if messages.count > Self.messagesMax {
            messages.removeFirst(messages.count - Self.messagesMax)
        }
    }

    /// More messages than this are not kept for daemons that do not read them.
    private static let messagesMax = 64

    func take(_ messages: [FleetMessage], at daemon: FleetDaemon) throws {
        for message in messages {
            tell("\(daemon.name) joins \(message.item.summary) of daemon \(message.from)")
            let before = daemon.host.store
            try daemon.take(message)
            try settle(daemon)
            if daemon.spoilsStore {
                try end(daemon, isKilled: true, writesBatch: false)
                try daemon.spoil(before)
                try daemon.start()
                try settle(daemon)
            }
        }
    }

    // MARK: - The end

    /// All clients connect again, then all daemons exchange their states: all must be the same.
    private func heal() throws {
        for daemon in daemons { daemon.mend() }
        for daemon in daemons { try settle(daemon) }
        for client in clients {
            let places = Set(client.unsettled.compactMap(\.place)).sorted()
            for place in places + [random.below(daemons.count)] {
                try comeBack(client, to: daemons[place])
            }
        }
        tell("all daemons exchange their states")
        var all = try daemons.compactMap { try $0.wholeMessage() }
        var whole = CausalForm()
        for daemon in daemons { whole.join(daemon.form) }
        for daemon in daemons {
            all.shuffle(using: &random)
            try take(all, at: daemon)
        }
        for daemon in daemons {
            try daemon.check(isWhole: losses.isEmpty)
            try checkHealed(daemon, whole)
        }
    }

    private func checkHealed(_ daemon: FleetDaemon, _ whole: CausalForm) throws {
        let stored = try daemon.stored()
        guard stored.encoded == whole.encoded else {
            throw Violation("healed: \(daemon.name) is not the join of all")
        }
        guard daemon.knowledge == daemons[0].knowledge else {
            throw Violation("healed: \(daemon.name) knows other edits than \(daemons[0].name)")
        }
        if losses.isEmpty {
            for id in 0..<oracle.count where !daemon.knowledge.events.contains(id) {
                throw Violation("healed: \(oracle.causal.events[id].dot) is lost")
            }
        }
        let (first, own) = (try daemons[0].shown(), try daemon.shown())
        // The token of a daemon may still name writes that a silent write replaced there, for
        // `require: "current"`. Otherwise it names the same writes at every daemon.
        _ = try daemon.tokenSeen(first.context)
        for (one, other) in zip(first.fields, own.fields) {
            let isSame =
                one.state.value == other.state.value && one.state.isSet == other.state.isSet
                && one.state.conflict == other.state.conflict
            if !isSame { throw Violation("healed: two values, \(one) and \(other)") }
        }
        try checkSecret(daemon)
        try checkMetadata(daemon, stored)
    }

    private func checkSecret(_ daemon: FleetDaemon) throws {
        guard let secret = oracle.secret(daemon.knowledge) else { return }
        let texts = daemon.host.call(
            daemon.probe, .stateReveal(StateReveal(form: "fleet", field: FleetField.secret.id)))
        var decoder = ServerMessageDecoder()
        guard let text = texts.last,
            case .result(_, let json)? = try decoder.decode(Array(text.utf8)).first,
            try RevealResult(decoding: json).value == secret
        else { throw Violation("healed: the secret of \(daemon.name) is \(texts)") }
    }

    /// The size of a form is bounded by the number of daemons and their epochs, not by clients or
    /// edits.
    private func checkMetadata(_ daemon: FleetDaemon, _ stored: CausalForm) throws {
        guard stored.context.loose.isEmpty || !losses.isEmpty else {
            throw Violation("healed: \(daemon.name) knows [\(stored.context)]")
        }
        guard stored.encoded.count < 16_000 else {
            throw Violation("healed: a form of \(stored.encoded.count) bytes")
        }
        guard case .presses(let presses) = stored[FleetField.button.key] else { return }
        for (entry, next) in zip(presses.entries, presses.entries.dropFirst())
        where entry.dot.replica == next.dot.replica && !mayHaveLost(entry.dot.replica) {
            throw Violation("healed: \(entry.dot) and \(next.dot) are entries of one replica")
        }
    }

    /// Whether no daemon may know any more what removed an entry of this replica.
    private func mayHaveLost(_ replica: ReplicaID) -> Bool {
        losses.contains { place, epoch in
            daemons[place].host.replica.id == replica.id && replica.epoch <= epoch
        }
    }
}
