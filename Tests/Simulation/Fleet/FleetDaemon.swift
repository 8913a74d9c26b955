// One daemon of the fleet: its engine, its store, and the events that its store contains.
//
// Invariant: `form` is the durable state of the store, and `knowledge` its events. Both change when
// a batch is durable, before the engine knows that and can answer.

import EngineTestKit
import SyncCore

final class FleetDaemon {
    let place: Int
    let host: EngineHost
    let oracle: FleetOracle
    /// The edits of all clients, by number.
    let edits: FleetEdits
    private(set) var form = CausalForm()
    private(set) var knowledge = CausalKnowledge()
    /// What the transactions that are not sent yet tell others, in their order.
    private var outbox: [CausalKnowledge] = []
    /// The message that is being joined.
    private var joining: FleetMessage?
    private(set) var revision: Int64 = 0
    /// The notification of each revision of this log, and the tokens that its state may have had: a
    /// silent write changes the token.
    private(set) var frames: [Int64: String] = [:]
    private var seenAt: [Int64: [EventSet]] = [:]
    /// Edits that were done here, with their revision and events.
    private(set) var done: [Int: (revision: Int64, events: EventSet)] = [:]
    /// The events of each connection.
    private var own: [Int64: EventSet] = [:]
    private var affirmations = FleetAffirmations()
    /// The user who changed a field last, according to the notifications of this daemon.
    private(set) var changedBy: [FleetField: UInt32] = [:]
    /// Fields of edits that may not be durable yet.
    var pendingFields: Set<FleetField> = []
    /// A connection that reads what the daemon shows.
    private(set) var probe: ConnectionID
    /// What it showed when it was read last.
    var lastShown: [NamedField] = []
    private(set) var failure: (any Error)?
    private var backup: Backup?
    private let fault: FleetFault?
    /// The store after its last commit, and before it (`FleetFault.lostCommit`).
    private var latest: ModelStore?
    private var previous: ModelStore?

    private struct Backup {
        let store: ModelStore
        let knowledge: CausalKnowledge
        let done: [Int: (revision: Int64, events: EventSet)]
        let changedBy: [FleetField: UInt32]
    }

    /// A daemon whose store is a copy of a store with the form.
    init(
        _ place: Int, seed: UInt64, copyOf store: ModelStore, oracle: FleetOracle,
        edits: FleetEdits, fault: FleetFault?
    ) throws {
        self.place = place
        self.oracle = oracle
        self.edits = edits
        self.fault = fault
        host = try EngineHost(
            seed: seed &+ UInt64(place), replica: ReplicaID(id: UInt64(place + 0xa), epoch: 1),
            copyOf: store, link: .fleet("h\(place)"))
        host.settle()
        probe = host.connect(uid: 0, user: "root")
        try refresh()
        host.faults = fault?.ofHosts ?? []
        host.onCommit = { [unowned self] batch in learn(batch) }
        host.onSilentWrite = { [unowned self] author, revision, dots in
            affirmations.append(
                FleetAffirmation(author: author, revision: Int64(revision), dots: dots))
        }
    }

    var name: String { "daemon \(host.replica)" }
    var row: FormRow? { host.store.forms.values.first }

    // MARK: - Commits

    private func learn(_ batch: Batch) {
        guard failure == nil else { return }
        do {
            var rows: [RevisionRow] = []
            var context = form.context
            var stores: [FleetField: FieldStore] = [:]
            for operation in batch.operations {
                switch operation {
                case .putHead(_, _, let bytes): context = try CausalContext(decoding: bytes)
                case .putField(let row):
                    guard let field = FleetField(id: row.field) else { continue }
                    stores[field] = try CellRow(decoding: row.state).store
                case .appendRevision(let row): rows.append(row)
                default: break
                }
            }
            if let message = joining {
                joining = nil
                let after = try CausalForm.fleet(context) { stores[$0] ?? form[$0.key] }
                return try learn(message, rows, after)
            }
            if rows.isEmpty, !affirmations.areSome(in: context) { return }
            let after = try CausalForm.fleet(context) { stores[$0] ?? form[$0.key] }
            try learn(rows, after)
        } catch {
            failure = error
        }
    }

    /// Records what was written, and what is to be sent to other daemons.
    private func learn(_ rows: [RevisionRow], _ after: CausalForm) throws {
        var counter = form.context.highestCounter(of: host.replica)
        for row in rows {
            try learnAffirmations(after, &counter)
            try learn(row, after, &counter)
        }
        try learnAffirmations(after, &counter)
        form = after
        seenAt[revision, default: []].append(try tokenSeen(form.token))
        if fault == .lostCommit { (previous, latest) = (latest, host.store) }
    }

    /// Records the silent writes before the next revision.
    private func learnAffirmations(_ after: CausalForm, _ counter: inout UInt64) throws {
        for one in affirmations.take(upTo: revision, in: after.context) {
            guard let edit = edits[one.author.client] else {
                throw Violation("\(name): writes of an unknown edit, \(one.dots)")
            }
            try checkNew(edit)
            guard one.revision == revision, one.dots.map(\.counter).first == counter + 1 else {
                throw Violation("\(name): \(one.dots) after revision \(one.revision)")
            }
            counter += UInt64(one.dots.count)
            try note(
                edit, nil, one.dots, after, uid: one.author.uid,
                connection: Int64(clamping: one.author.connection))
        }
    }

    private func checkNew(_ edit: FleetEdit) throws {
        if let known = done[edit.number] {
            throw Violation(
                "\(name): edit \(edit.number) was done twice, first as \(known.revision)")
        }
        if edit.isRefused {
            throw Violation("\(name): edit \(edit.number) was refused and was done")
        }
    }

    /// Records what a transaction did. `params` is its notification.
    private func note(
        _ edit: FleetEdit, _ params: StateChanged?, _ dots: [Dot], _ after: CausalForm,
        uid: UInt32, connection: Int64
    ) throws {
        let told = FleetTransaction(
            daemon: self, edit: edit, dots: dots, after: after,
            own: own[connection] ?? EventSet())
        try told.work(params, &knowledge)
        outbox.append(told.told)
        for field in told.written { changedBy[field] = uid }
        if params != nil { revision += 1 }
        done[edit.number] = (revision, told.events)
        own[connection, default: EventSet()].formUnion(told.events)
    }

    private func learn(
        _ row: RevisionRow, _ after: CausalForm, _ counter: inout UInt64
    ) throws {
        let (text, params) = try nextChange(row)
        guard let by = params.changes.first?.state.by, let edit = edits[by.client] else {
            throw Violation("\(name): not a known edit: \(text)")
        }
        try checkNew(edit)
        let token = try ContextToken.parse(params.context)
        let last = token.highestCounter(of: host.replica)
        guard last >= counter else { throw Violation("\(name): counters decreased: \(text)") }
        let dots = (counter..<last).map { Dot(host.replica, $0 + 1) }
        counter = last
        try note(edit, params, dots, after, uid: by.uid, connection: by.connection)
        frames[revision] = text
        seenAt[revision] = [try tokenSeen(params.context)]
    }

    /// The notification of the next revision.
    private func nextChange(_ row: RevisionRow) throws -> (text: String, StateChanged) {
        let text = String(decoding: row.frame.dropFirst(4), as: UTF8.self)
        var decoder = ServerMessageDecoder()
        let message = try decoder.decode(Array(text.utf8)).first
        guard case .notification(.stateChanged(let params))? = message else {
            throw Violation("\(name): not a change: \(text)")
        }
        guard params.revision == revision + 1 else {
            throw Violation(
                "\(name): revision \(revision + 1) was expected, and this came: \(text)")
        }
        return (text, params)
    }

    /// Records what a join did: at most one revision, with every field that reads otherwise.
    private func learn(
        _ message: FleetMessage, _ rows: [RevisionRow], _ after: CausalForm
    ) throws {
        let before = FleetField.allCases.map { oracle.reading($0, knowledge) }
        knowledge.learn(message.knowledge)
        form = after
        guard rows.count < 2 else { throw Violation("\(name): \(rows.count) revisions of a join") }
        var told: Set<String> = []
        for row in rows {
            let (text, params) = try nextChange(row)
            for change in params.changes {
                told.insert(change.field)
                if let wrong = oracle.difference(change.state, change.field, knowledge) {
                    throw Violation("\(name) joins and notifies of \(change.field): \(wrong)")
                }
                guard let field = FleetField(id: change.field) else { continue }
                changedBy[field] = change.state.by?.uid
            }
            revision += 1
            frames[revision] = text
            seenAt[revision] = [try tokenSeen(params.context)]
        }
        for (field, was) in zip(FleetField.allCases, before)
        where oracle.reading(field, knowledge) != was && !told.contains(field.id) {
            throw Violation("\(name) joins \(field) and does not notify of it")
        }
        seenAt[revision, default: []].append(try tokenSeen(form.token))
        if fault == .lostCommit { (previous, latest) = (latest, host.store) }
    }

    /// The events that the token of the present state names: only events that the daemon knows, and
    /// all that have a current value.
    func tokenSeen(_ token: String) throws -> EventSet {
        let seen = try oracle.events(of: token)
        for event in oracle.causal.events where event.keys != 0 {
            let isKnown = knowledge.events.contains(event.id)
            let stands = isKnown && event.keys & ~knowledge.removedKeys(of: event.id) != 0
            if seen.contains(event.id) ? !isKnown : stands {
                throw Violation(
                    "\(name): the token \(token) says \(seen.contains(event.id)) of \(event.dot), "
                        + "which is known: \(isKnown)")
            }
        }
        return seen
    }

    /// Whether a token that names these events was shown at a revision.
    ///
    /// A silent write extends the token that was shown before, which then still names writes that
    /// were replaced since. A token that is computed from the stores does not. Nothing depends on
    /// the difference.
    func showed(_ seen: EventSet, at revision: Int64) -> Bool {
        (seenAt[revision] ?? []).contains { known in
            known.isSubset(of: seen)
                && oracle.causal.events.allSatisfy { event in
                    !seen.contains(event.id) || known.contains(event.id)
                        || knowledge.events.contains(event.id)
                            && event.keys & ~knowledge.removedKeys(of: event.id) == 0
                }
        }
    }

    // MARK: - Stops and starts

    /// Does all pending work.
    func mend() {
        host.rebuildWorks = true
        host.holdsCommits = false
        host.commit()
        host.pass(milliseconds: 600)
        pendingFields = []
    }

    /// Ends, by a kill or a stop.
    func end(isKilled: Bool, writesBatch: Bool) throws {
        if !isKilled {
            mend()
            guard host.stop() else { throw Violation("\(name) does not stop") }
        }
        host.kill(writesBatch: writesBatch)
        pendingFields = []
        // What was written during the stop is durable, whether or not a client was notified.
        let rows = (host.store.revisions.values.first ?? [:]).values
            .filter { Int64($0.revision) > revision }.sorted { $0.revision < $1.revision }
        let after = try stored()
        if failure == nil, !rows.isEmpty || affirmations.areSome(in: after.context) {
            try learn(rows, after)
        }
        affirmations = FleetAffirmations()
        if let failure { throw failure }
    }

    /// Starts with the contents of the store.
    func start() throws {
        try start(over: nil, newEpoch: false, newLogs: false)
    }

    private func start(over store: ModelStore?, newEpoch: Bool, newLogs: Bool) throws {
        host.holdsCommits = false
        if newLogs {
            frames = [:]
            seenAt = [:]
        }
        try host.start(over: store, newEpoch: newEpoch, newLogs: newLogs)
        own = [:]
        host.settle()
        probe = host.connect(uid: 0, user: "root")
        let before = revision
        try refresh()
        guard newLogs || revision == before else {
            throw Violation(
                "\(name): revision \(before) was shown, and the store ends at \(revision)")
        }
    }

    private func refresh() throws {
        form = try stored()
        revision = Int64(row?.revision ?? 0)
        seenAt[revision, default: []].append(try tokenSeen(form.token))
        if fault == .lostCommit { (previous, latest) = (nil, host.store) }
    }

    /// The form in the store.
    func stored() throws -> CausalForm {
        let rows = host.store.fields.values.first ?? [:]
        var stores: [FleetField: FieldStore] = [:]
        for field in FleetField.allCases {
            stores[field] = try rows[field.id].flatMap { try CellRow(decoding: $0.state).store }
        }
        return try .fleet(try CausalContext(decoding: row?.context ?? [])) {
            stores[$0] ?? FieldStore($0.kind)
        }
    }

    /// Copies the store, unless it contains a failed commit, whose contents nobody knows.
    func backUp() {
        guard Int64(row?.revision ?? 0) == revision, row?.context == form.context.encoded else {
            return
        }
        backup = Backup(
            store: host.store, knowledge: knowledge, done: done, changedBy: changedBy)
    }

    var hasBackup: Bool { backup != nil }

    /// The store of the stopped daemon is restored from its backup.
    func restore() throws {
        guard let backup else { return }
        knowledge = backup.knowledge
        done = backup.done
        changedBy = backup.changedBy
        outbox = []
        try start(over: backup.store, newEpoch: fault != .reusedEpoch, newLogs: true)
    }

    // MARK: - Joining

    /// Removes and returns what the daemon has to tell others.
    func takeMessages() throws -> [FleetMessage] {
        try host.engine.takeShared().map { item in
            switch item {
            case .whole(let whole):
                outbox = []
                return try message(whole)
            case .delta(let delta):
                guard !outbox.isEmpty else { throw Violation("\(name) tells too much") }
                return FleetMessage(
                    item: .delta(try FormDelta(decoding: delta.encoded)),
                    knowledge: outbox.removeFirst(), from: place)
            }
        }
    }

    /// Everything that the daemon knows; `nil` if it has nothing that is durable.
    func wholeMessage() throws -> FleetMessage? {
        try host.engine.whole(of: "fleet").map(message)
    }

    private func message(_ whole: WholeForm) throws -> FleetMessage {
        FleetMessage(
            item: .whole(try WholeForm(decoding: whole.encoded)), knowledge: knowledge,
            from: place)
    }

    /// The daemon joins what another sent, while it goes on.
    func take(_ message: FleetMessage) throws {
        // Of a batch that has edits too, nobody could tell which revision is whose.
        mend()
        if fault == .silentJoin { host.faults.insert(.withholdsChanges) }
        joining = message
        let outcome = host.join([message.item])
        host.settle()
        // Its batch may wait for the users of the last commit.
        if joining != nil { host.pass(milliseconds: 20) }
        joining = nil
        host.faults.remove(.withholdsChanges)
        switch outcome.first {
        case .joined, .known: break
        default: throw Violation("\(name) does not join: \(outcome)")
        }
        if let failure { throw failure }
        if outcome.first == .known { knowledge.learn(message.knowledge) }
    }

    /// Whether the fault changes the store behind the engine's back.
    var spoilsStore: Bool {
        switch fault {
        case .skippedJoin, .lostCommit, .alteredStamp: true
        default: false
        }
    }

    /// The store of the stopped daemon gets the fault, after a join into `before`.
    func spoil(_ before: ModelStore) throws {
        guard let key = row?.key else { return }
        let old = (fault == .lostCommit ? previous ?? before : before).fields[key] ?? [:]
        let rows = (host.store.fields[key] ?? [:]).sorted { $0.key < $1.key }.map(\.value)
        var changed = rows.filter { old[$0.field] != $0 && FleetField(id: $0.field) != nil }
        switch fault {
        case .skippedJoin: changed = changed.suffix(1).compactMap { old[$0.field] }
        case .lostCommit: changed = changed.compactMap { old[$0.field] }
        case .alteredStamp:
            let bound = host.milliseconds + host.wallOffset + 1_000
            changed = try changed.map { row in
                var cell = try CellRow(decoding: row.state)
                cell.store = cell.store?.withStamps(upTo: bound)
                return FieldRow(form: key, field: row.field, state: cell.encoded)
            }
        default: return
        }
        host.edit { $0.commit(Batch(number: 0, operations: changed.map { .putField($0) })) }
    }
}

extension LinkConfiguration {
    /// A host of the fleet.
    static func fleet(_ host: String) -> LinkConfiguration {
        LinkConfiguration(host: host, forms: [Glob("fleet")])
    }
}
