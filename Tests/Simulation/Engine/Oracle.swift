// What everybody was told, and whether it can be true.
//
// The oracle knows the requests that were sent, what was answered, and each revision's notification
// as it first became durable (or visible, where the durability allows that earlier). It works every
// revision out again on an `OracleForm`. Each edit carries its own number in the client's name, so
// that a notification says which request it is of.

import SyncCore

/// A promise that was broken, in words.
struct Violation: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// What happened, worked out again.
final class Oracle {
    let durability: Durability
    /// By revision; the first is the form that does not exist yet.
    private(set) var forms = [OracleForm()]
    /// The notification of each revision, as text; `nil` where nobody can have seen it.
    private(set) var frames: [String?] = [nil]
    /// The fields of each revision; `nil` for all.
    private(set) var touched: [Set<String>?] = [nil]
    /// The write of each revision, line by line: a line ends where revisions may have been lost.
    private var writes: [[WriteID]] = [[0]]
    private var nextWrite: WriteID = 1
    private(set) var writeOfRequest: [Int: (write: WriteID, revision: Int64)] = [:]
    private var writesOfConnection: [Int64: [WriteID]] = [:]
    let affirmations = OracleAffirmations()
    /// The form at each revision, before it was said again what it was.
    private var plainForms = [OracleForm()]
    /// Every dot that was ever seen.
    private var dots: Set<Dot> = []
    private var context = CausalContext()
    private(set) var edits: [Int: SentEdit] = [:]
    var pending: [(revision: Int64, check: () throws -> Void)] = []
    /// Names of the present line of revisions that somebody was told.
    var log: String?
    /// Replica epochs so far.
    var epochs = 1
    /// A secret that must never be seen begins with this.
    static let canary = "CANARY"

    init(durability: Durability) {
        self.durability = durability
    }

    var revision: Int64 { Int64(forms.count) - 1 }
    var line: Int { writes.count - 1 }
    var form: OracleForm { forms[forms.count - 1] }

    // MARK: - What is sent

    func sent(_ edit: SentEdit) { edits[edit.number] = edit }

    // MARK: - What becomes true

    /// The form is there, at its first revision.
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

    /// A revision's notification, the first time that it can be seen.
    func learn(_ text: String) throws {
        var decoder = ServerMessageDecoder()
        guard let message = try? decoder.decode(Array(text.utf8)).first,
            case .notification(let notification) = message
        else { throw Violation("a change cannot be decoded: \(text)") }
        if text.contains(Self.canary) { throw Violation("a secret is told: \(text)") }
        try runAffirmations()
        switch notification {
        case .stateChanged(let params): try learn(params, text)
        case .formChanged(let params): try learn(params, text)
        default: throw Violation("no change: \(text)")
        }
        try runAffirmations()
        try runChecks()
    }

    /// An edit was done that says what is there already: it stands behind a revision, and before
    /// the next.
    func affirmed(_ affirmation: Affirmation) throws {
        affirmations.enqueue(affirmation)
        try runAffirmations()
    }

    private func runAffirmations() throws {
        while let next = affirmations.next(upTo: revision) {
            guard let edit = edits[next.edit], case .stateSet(let set) = edit.request else {
                throw Violation("a write that nobody is told of is nobody's: \(next.edit)")
            }
            guard writeOfRequest[next.edit] == nil, !edit.isRefused else {
                throw Violation("edit \(next.edit) was done or refused, and took dots as well")
            }
            let write = nextWrite
            nextWrite += 1
            let changes = sighted(set, edit, next.connection)
            let outcome = forms[forms.count - 1].apply(changes, write: write, owner: edit.owner)
            guard outcome.written.isEmpty, !outcome.affirmed.isEmpty else {
                throw Violation(
                    "edit \(next.edit) was to change \(outcome.written.sorted()), "
                        + "and took dots and told nobody")
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
            throw Violation("revision \(revision) is due, and this comes: \(text)")
        }
        guard let by = params.changes.first?.state.by, let edit = edit(by) else {
            throw Violation("revision \(revision) is nobody's: \(text)")
        }
        if let known = writeOfRequest[edit.number] {
            throw Violation(
                "edit \(edit.number) is done twice, as revisions \(known.revision) and \(revision)")
        }
        if edit.isRefused {
            throw Violation("edit \(edit.number) was refused and is done as revision \(revision)")
        }
        try learnDots(params.context)
        var form = form
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
                    "edit \(edit.number) had to be refused (\(refusal)) and is revision "
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
        default: throw Violation("edit \(edit.number) makes no state.changed")
        }
    }

    private func compare(
        _ params: StateChanged, _ form: OracleForm, _ touched: Set<String>, _ met: Set<String>
    ) throws {
        let told = Set(params.changes.map(\.field))
        guard told == touched, told.count == params.changes.count else {
            throw Violation(
                "revision \(params.revision) tells of \(told.sorted()), not of \(touched.sorted())")
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
        else { throw Violation("revision \(revision) is due, and this comes: \(text)") }
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
                throw Violation("revision \(revision) does not tell of \(control.id)")
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
            throw Violation("no token: \(token)")
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

    /// What a client had seen, as the writes that are still there.
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

    /// A stop may have lost what was not written: the store goes on at `revision`.
    ///
    /// - Parameter stored: The writes that the store names.
    func lost(after revision: Int64, mayLose: Bool, _ stored: CausalContext) throws {
        guard revision <= self.revision else {
            throw Violation(
                "the store is at \(revision); nobody heard of more than \(self.revision)")
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
        // What was lost may be done again, and checks on it are moot.
        pending = []
        context = stored
    }
}
