// What all clients were shown, and whether it is possible.
//
// The oracle knows the requests, the answers, and the notification of each revision when it first
// became durable (or visible, where the durability allows that earlier). It computes every revision
// again on an `OracleForm`. Each edit has its own number in the name of its client, so that a
// notification tells which request it is of.

import SyncCore

/// A broken promise.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The computed history of the form.
final class Oracle {
    let durability: Durability
    /// By revision. The first is the form before its creation.
    private(set) var forms = [OracleForm()]
    /// The notification of each revision as text; `nil` where no client can have seen it.
    private(set) var frames: [String?] = [nil]
    /// The fields of each revision; `nil` for all.
    private(set) var touched: [Set<String>?] = [nil]
    /// The write of each revision, by line. A line ends where revisions may have been lost.
    private var writes: [[WriteID]] = [[0]]
    private var nextWrite: WriteID = 1
    private(set) var writeOfRequest: [Int: (write: WriteID, revision: Int64)] = [:]
    private var writesOfConnection: [Int64: [WriteID]] = [:]
    let affirmations = OracleAffirmations()
    /// The form at each revision, without the silent writes after it.
    private var plainForms = [OracleForm()]
    /// Every dot that was ever seen.
    private var dots: Set<Dot> = []
    private var context = CausalContext()
    private(set) var edits: [Int: SentEdit] = [:]
    var pending: [(revision: Int64, check: () throws -> Void)] = []
    /// The name of the log that clients know.
    var log: String?
    /// The number of epochs of the replica so far.
    var epochs = 1 {
        didSet { if epochs != oldValue { replicaStart = nextWrite } }
    }
    /// The first write of the daemon's present replica.
    private var replicaStart: WriteID = 0
    /// The start of each secret. It must never be seen.
    static let canary = "CANARY"

    init(durability: Durability) {
        self.durability = durability
    }

    var revision: Int64 { Int64(forms.count) - 1 }
    var line: Int { writes.count - 1 }
    var form: OracleForm { forms[forms.count - 1] }

    // MARK: - Requests

    func sent(_ edit: SentEdit) { edits[edit.number] = edit }

    // MARK: - Revisions

    /// The form was created, with its first revision.
    func created(_ definition: JSON) {
        var form = OracleForm()
        form.redefine(definition)
        form.revision = 1
        for control in form.controls {
            form.touchedAt[control.id] = 1
            form.changedBy[control.id] = 0
        }
        push(form, frame: nil, touched: nil)
    }

    private func push(_ form: OracleForm, frame: String?, touched: Set<String>?) {
        forms.append(form)
        plainForms.append(form)
        frames.append(frame)
        self.touched.append(touched)
        writes[line].append(nextWrite)
        nextWrite += 1
    }

    /// Takes the notification of a revision when it can first be seen.
    func learn(_ text: String) throws {
        var decoder = ServerMessageDecoder()
        guard let message = try? decoder.decode(Array(text.utf8)).first,
            case .notification(let notification) = message
        else { throw Violation("a change cannot be decoded: \(text)") }
        if text.contains(Self.canary) {
            throw Violation("a notification contains a secret: \(text)")
        }
        try runAffirmations()
        switch notification {
        case .stateChanged(let params): try learn(params, text)
        case .formChanged(let params): try learn(params, text)
        default: throw Violation("not a notification of a change: \(text)")
        }
        try runAffirmations()
        try runChecks()
    }

    /// A silent write was done. Its place is between two revisions.
    func affirmed(_ affirmation: Affirmation) throws {
        affirmations.enqueue(affirmation)
        try runAffirmations()
    }

    private func runAffirmations() throws {
        while let next = affirmations.next(upTo: revision) {
            guard let edit = edits[next.edit], case .stateSet(let set) = edit.request else {
                throw Violation("a silent write of an unknown edit: \(next.edit)")
            }
            guard writeOfRequest[next.edit] == nil, !edit.isRefused else {
                throw Violation("edit \(next.edit) was answered, and has dots of a silent write")
            }
            let write = nextWrite
            nextWrite += 1
            let changes = sighted(set, edit, next.connection)
            let outcome = forms[forms.count - 1].apply(changes, write: write, owner: edit.owner)
            guard outcome.written.isEmpty, !outcome.affirmed.isEmpty else {
                throw Violation(
                    "edit \(next.edit) must change \(outcome.written.sorted()), "
                        + "and is a silent write")
            }
            affirmations.note(next, write, changes, edit.owner)
            writesOfConnection[next.connection, default: []].append(write)
        }
    }

    /// The changes of an edit, each with what its sender had seen.
    private func sighted(
        _ set: StateSet, _ edit: SentEdit, _ connection: Int64
    ) -> [(Change, Sight)] {
        let own = writesOfConnection[connection] ?? []
        return zip(set.changes, edit.sights).map { change, glimpses in
            (change, glimpses.map { Sight.only(resolve($0).union(own)) } ?? .everything)
        }
    }

    private func learn(_ params: StateChanged, _ text: String) throws {
        let revision = revision + 1
        guard params.revision == revision, params.coalescedFrom == nil else {
            throw Violation("revision \(revision) was expected, and this came: \(text)")
        }
        guard let by = params.changes.first?.state.by, let edit = edit(by) else {
            throw Violation("revision \(revision) is of an unknown edit: \(text)")
        }
        if let known = writeOfRequest[edit.number] {
            throw Violation(
                "edit \(edit.number) was done twice, as revisions \(known.revision) and \(revision)"
            )
        }
        if edit.isRefused {
            throw Violation("edit \(edit.number) was refused, and is revision \(revision)")
        }
        try learnDots(params.context)
        var form = form
        form.replicaStart = replicaStart
        let write = nextWrite
        let outcome = try work(edit, by, write, params, &form)
        form.revision = revision
        var touched = outcome.written
        for id in outcome.written { touched.formUnion(form.dependents(id)) }
        for id in touched {
            form.touchedAt[id] = revision
            form.changedBy[id] = by.uid
        }
        try compare(params, form, touched, outcome.met)
        push(form, frame: text, touched: touched)
        writeOfRequest[edit.number] = (write, revision)
        writesOfConnection[by.connection, default: []].append(write)
    }

    private func edit(_ by: WireAuthor) -> SentEdit? {
        guard let number = by.client.flatMap({ $0.split(separator: "#").last }) else { return nil }
        return Int(number).flatMap { edits[$0] }
    }

    private func work(
        _ edit: SentEdit, _ by: WireAuthor, _ write: WriteID, _ params: StateChanged,
        _ form: inout OracleForm
    ) throws -> OracleOutcome {
        switch edit.request {
        case .stateSet(let set):
            let changes = sighted(set, edit, by.connection)
            let outcome = form.apply(changes, write: write, owner: edit.owner)
            if let refusal = outcome.refusal {
                throw Violation(
                    "edit \(edit.number) must be refused (\(refusal)), and is revision "
                        + "\(params.revision)")
            }
            return outcome
        case .stateUndo(let undo), .stateRedo(let undo):
            let before = form
            var outcome = OracleOutcome()
            for change in params.changes {
                guard let control = before.control(change.field),
                    before.targets(control.id) == [control.id]
                else { continue }
                let wrong = form.takeBack(
                    change.field, to: change.state, write: write,
                    isRedo: edit.request.method == .stateRedo,
                    scope: undo.scope == .mine ? edit.owner : nil, actor: edit.owner,
                    met: &outcome.met)
                if let wrong {
                    throw Violation(
                        "\(edit.request.method.rawValue) \(edit.number): \(change.field) \(wrong)")
                }
                outcome.written.insert(change.field)
            }
            return outcome
        default: throw Violation("edit \(edit.number) does not cause state.changed")
        }
    }

    private func compare(
        _ params: StateChanged, _ form: OracleForm, _ touched: Set<String>, _ met: Set<String>
    ) throws {
        let told = Set(params.changes.map(\.field))
        guard told == touched, told.count == params.changes.count else {
            throw Violation(
                "revision \(params.revision) has \(told.sorted()), not \(touched.sorted())")
        }
        for change in params.changes {
            let isMet = !met.isDisjoint(with: form.targets(change.field))
            try compare(
                change.state, form.reading(change.field, notifying: isMet), change.field, form,
                "revision \(params.revision)")
            let was = self.form.reading(change.field).value
            let isSecret = form.control(change.field)?.kind == .secret
            if !isSecret, change.was != was {
                throw Violation(
                    "revision \(params.revision): \(change.field) was \(was), "
                        + "not \(String(describing: change.was))")
            }
        }
    }

    private func learn(_ params: FormChanged, _ text: String) throws {
        let revision = revision + 1
        guard params.revision == revision, case .defined(let content) = params.content,
            content.coalescedFrom == nil
        else { throw Violation("revision \(revision) was expected, and this came: \(text)") }
        var form = form
        form.redefine(content.definition)
        form.revision = revision
        for control in form.controls {
            var reads = form.reading(control.id)
            var before = self.form.reading(control.id)
            reads.revision = 0
            before.revision = 0
            let isNew = self.form.control(control.id) == nil
            let isTold = content.changes.contains { $0.field == control.id }
            guard isNew || reads != before || isTold else { continue }
            form.touchedAt[control.id] = revision
            guard isTold else {
                throw Violation("revision \(revision) does not have \(control.id)")
            }
        }
        for change in content.changes { form.changedBy[change.field] = change.state.by?.uid }
        for change in content.changes {
            try compare(
                change.state, form.reading(change.field), change.field, form,
                "revision \(revision)")
        }
        push(form, frame: text, touched: nil)
    }

    private func learnDots(_ token: String) throws {
        guard let now = try? ContextToken.parse(token) else {
            throw Violation("not a token: \(token)")
        }
        guard now.loose.isEmpty, now.vector.entries.count <= epochs else {
            throw Violation("the form's token grows: \(token) after \(epochs) epochs")
        }
        for entry in now.vector.entries {
            let before = context.vector.entries.first { $0.replica == entry.replica }?.counter ?? 0
            guard entry.counter > before else { continue }
            for counter in before + 1...entry.counter {
                guard dots.insert(Dot(entry.replica, counter)).inserted else {
                    throw Violation("\(entry.replica):\(counter) names two writes")
                }
            }
        }
        context = now
    }

    /// The writes that a client had seen and that were not lost.
    private func resolve(_ glimpses: [Glimpse]) -> Set<WriteID> {
        let alive = Set(writes[line]).union(affirmations.writes)
        var seen: Set<WriteID> = []
        for glimpse in glimpses {
            switch glimpse {
            case .upTo(let line, let revision):
                seen.formUnion(writes[line].prefix(Int(revision) + 1))
            case .request(let number):
                if let write = writeOfRequest[number]?.write { seen.insert(write) }
                if let write = affirmations.write(of: number) { seen.insert(write) }
            case .token(let token): seen.formUnion(affirmations.writes(in: token))
            }
        }
        return seen.intersection(alive)
    }

    /// A stop may have lost what was not written. The store continues at `revision`.
    ///
    /// - Parameter stored: The writes that the store names.
    func lost(after revision: Int64, mayLose: Bool, _ stored: CausalContext) throws {
        guard revision <= self.revision else {
            throw Violation(
                "the store is at \(revision); the newest seen is \(self.revision)")
        }
        guard mayLose || revision == self.revision else {
            throw Violation("revision \(self.revision) was seen, and the store ends at \(revision)")
        }
        affirmations.forgetQueue()
        guard mayLose else { return }
        let kept = Int(revision) + 1
        forms = Array(forms.prefix(kept))
        plainForms = Array(plainForms.prefix(kept))
        forms[kept - 1] = plainForms[kept - 1]
        affirmations.redo(in: &forms[kept - 1], keeping: stored)
        frames = Array(frames.prefix(kept))
        touched = Array(touched.prefix(kept))
        writes.append(Array(writes[line].prefix(kept)))
        writeOfRequest = writeOfRequest.filter { $0.value.revision <= revision }
        // A lost edit may be done again, and checks of its revision do not apply.
        pending = []
        context = stored
    }
}
