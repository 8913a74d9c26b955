// One daemon of the fleet: its engine, its store, and the events that its store contains.
//
// Invariant: `form` is the durable state of the store, and `knowledge` its events. Both change when
// a batch is durable, before the engine knows that and can answer.

import EngineTestKit
import SyncCore

/// A delta or the whole form of one daemon, sent to others.
struct FleetMessage {
    let form: CausalForm
    let knowledge: CausalKnowledge
    let from: Int
}

/// An edit that a client makes.
final class FleetEdit {
    let number: Int
    let request: Request
    let owner: Owner
    let fields: Set<FleetField>
    /// What the client had seen; `nil`: the present state.
    let seen: EventSet?
    /// The daemon that it was sent to. If it was not answered, it is sent again only to this
    /// daemon.
    var place: Int?
    var isRefused = false

    init(
        _ number: Int, _ request: Request, owner: Owner, fields: Set<FleetField>, seen: EventSet?
    ) {
        self.number = number
        self.request = request
        self.owner = owner
        self.fields = fields
        self.seen = seen
    }

    var hasKey: Bool { request.idempotencyKey != nil }
}

final class FleetDaemon {
    let place: Int
    let host: EngineHost
    let oracle: FleetOracle
    /// The edits of all clients, by number.
    let edits: FleetEdits
    private(set) var form = CausalForm()
    private(set) var knowledge = CausalKnowledge()
    var outbox = CausalForm()
    var outboxKnowledge = CausalKnowledge()
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
            copyOf: store)
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
            if rows.isEmpty, !affirmations.areSome(in: context) { return }
            let after = try CausalForm.fleet(context) { stores[$0] ?? form[$0.key] }
            try learn(rows, after)
        } catch {
            failure = error
        }
    }

    /// Records what was written, and what is to be sent to other daemons.
    private func learn(_ rows: [RevisionRow], _ after: CausalForm) throws {
        let before = form
        var counter = before.context.highestCounter(of: host.replica)
        for row in rows {
            try learnAffirmations(after, &counter)
            try learn(row, after, &counter)
        }
        try learnAffirmations(after, &counter)
        form = after
        seenAt[revision, default: []].append(try tokenSeen(form.token))
        outbox.join(try .fleetDelta(from: before, to: after, by: host.replica))
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
        outboxKnowledge.learn(told.told)
        for field in told.written { changedBy[field] = uid }
        if params != nil { revision += 1 }
        done[edit.number] = (revision, told.events)
        own[connection, default: EventSet()].formUnion(told.events)
    }

    private func learn(
        _ row: RevisionRow, _ after: CausalForm, _ counter: inout UInt64
    ) throws {
        let text = String(decoding: row.frame.dropFirst(4), as: UTF8.self)
        var decoder = ServerMessageDecoder()
        let message = try decoder.decode(Array(text.utf8)).first
        guard case .notification(.stateChanged(let params))? = message,
            let by = params.changes.first?.state.by, let edit = edits[by.client]
        else { throw Violation("\(name): not a known change: \(text)") }
        guard params.revision == revision + 1 else {
            throw Violation(
                "\(name): revision \(revision + 1) was expected, and this came: \(text)")
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
        outbox = CausalForm()
        outboxKnowledge = CausalKnowledge()
        try start(over: backup.store, newEpoch: fault != .reusedEpoch, newLogs: true)
    }

    // MARK: - Joining

    /// The store of the stopped daemon joins the state of others, and the daemon starts with new
    /// logs, as revisions no longer describe all changes.
    func take(_ messages: [FleetMessage]) throws {
        var store = fault == .lostCommit ? previous ?? host.store : host.store
        var image = store.image()
        guard var row = image.forms.first else { throw Violation("\(name) has no form") }
        let before = fault == .lostCommit && previous != nil ? try old(image) : form
        var joined = before
        let wall = host.milliseconds + host.wallOffset
        var clock = HybridLogicalClock(after: SteadyClock.stamp(in: image.clock))
        for message in messages {
            knowledge.learn(message.knowledge)
            clock.observe(message.form.greatestStamp, at: wall)
            switch fault {
            case .skippedJoin: joined.join(message.form.withoutLastField(of: joined))
            case .alteredStamp: joined.join(message.form.withStamps(upTo: wall + 1_000))
            default: joined.join(message.form)
            }
        }
        row.revision += 1
        row.context = joined.context.encoded
        image.forms = [row]
        for index in image.fields.indices {
            guard let field = FleetField(id: image.fields[index].field),
                joined[field.key] != before[field.key]
            else { continue }
            var cell = try CellRow(decoding: image.fields[index].state)
            cell.store = joined[field.key]
            cell.revision = row.revision
            image.fields[index] = FieldRow(form: row.key, field: field.id, state: cell.encoded)
        }
        image.clock = SteadyClock(
            at: Moment(wallMilliseconds: wall, monotonicNanoseconds: 0), kept: image.clock
        ).kept(with: clock.last)
        store.rebuild(image)
        if fault == .silentJoin {
            revision += 1
            try start(over: store, newEpoch: false, newLogs: false)
        } else {
            try start(over: store, newEpoch: false, newLogs: true)
        }
    }

    private func old(_ image: StoreImage) throws -> CausalForm {
        let context = try CausalContext(decoding: image.forms.first?.context ?? [])
        return try .fleet(context) { field in
            let row = image.fields.first { $0.field == field.id }
            return try row.flatMap { try CellRow(decoding: $0.state).store }
                ?? FieldStore(field.kind)
        }
    }
}

/// The edits of all clients by their numbers, which are in the names of their clients.
final class FleetEdits {
    private var edits: [FleetEdit] = []

    /// The number of the next one.
    var next: Int { edits.count }

    func append(_ edit: FleetEdit) { edits.append(edit) }

    subscript(client: String?) -> FleetEdit? {
        guard let number = client?.split(separator: "#").last.flatMap({ Int($0) }),
            edits.indices.contains(number)
        else { return nil }
        return edits[number]
    }
}
