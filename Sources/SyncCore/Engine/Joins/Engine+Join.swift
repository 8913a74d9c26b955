// Joins: what other hosts did to a shared form becomes a revision here.
//
// A join goes the way of an edit: it changes the working state, the batch makes it durable, and
// then it is read and notified. It does not ask who may edit, because the host where the edit was
// made has judged that, and one that refused what another took would never agree with it.

/// What became of an item of another host.
public enum JoinOutcome: Equatable, Sendable {
    /// It was joined. Its effect is in the gathering batch, or before it.
    case joined
    /// Everything in it was known.
    case known
    /// The form must wait, and the cursor with it.
    case held(String)
    /// It can never be joined here.
    case refused(String)
    /// The store takes no edits at present. Give the item again later.
    case notNow
}

/// Why an item cannot be joined now.
struct JoinProblem: Error {
    let why: String

    init(_ why: String) { self.why = why }

    /// A definition with these issues.
    static func unreadable(_ issues: FormIssues?) -> JoinProblem {
        JoinProblem(
            "another host's definition cannot be read: "
                + (issues?.issues.first?.message ?? "it is not valid")
                + "; if that host is newer, upgrade this daemon")
    }
}

/// The stores of a form after a join.
struct JoinedStores {
    /// The new stores of controls, by index.
    var cells: [Int: FieldStore] = [:]
    /// All stores that no control shows.
    var hidden: [CausalForm.Field]
    /// The keys of those that changed.
    var hiddenKeys: Set<CausalForm.Key> = []
    var context: CausalContext

    var isEmpty: Bool { cells.isEmpty && hiddenKeys.isEmpty }

    /// The join of an item with a state.
    ///
    /// - Parameter dropsOwn: whether the state counts as emptied before. Secrets stay, because a
    ///   join would bring a removed one back.
    init(_ item: SharedItem, with state: FormState, dropsOwn: Bool = false) {
        self.init(
            item, with: state, hidden: state.shared?.hidden ?? [], state.context,
            dropsOwn: dropsOwn)
    }

    /// The join of an item with stores of which a state shows some.
    init(
        _ item: SharedItem, with state: FormState?, hidden own: [CausalForm.Field],
        _ known: CausalContext, dropsOwn: Bool
    ) {
        let theirs = item.fields
        let contexts = JoinContexts(own: known, other: item.context)
        let places = state?.controlsByStore ?? [:]
        hidden = own
        context = known.union(item.context)
        func join(_ key: CausalForm.Key, _ their: FieldStore) {
            let place = places[key]
            let own =
                place.map { state?.cells[$0].store ?? FieldStore(key.kind) } ?? hidden[key]
            var store = dropsOwn && key.kind != .sealed ? FieldStore(key.kind) : own
            store.join(their, contexts: contexts)
            if store == own { return }
            if let place {
                cells[place] = store
            } else {
                hidden[key] = store
                hiddenKeys.insert(key)
            }
        }
        for field in theirs { join(field.key, field.store) }
        guard case .whole = item else { return }
        // A whole that lacks a store has seen its removal.
        var missing = Set(own.map(\.key))
        if let state { missing.formUnion(state.stores.keys) }
        missing.subtract(theirs.map(\.key))
        for key in missing { join(key, FieldStore(key.kind)) }
    }
}

extension Engine {
    /// Joins what other hosts did.
    ///
    /// - Parameter cursor: How far their log is read with these items. It becomes durable in the
    ///   batch of the joins, and only if none of them has to wait.
    /// - Returns: what became of each item.
    public func join(
        _ items: [SharedItem], cursor: [UInt8]?, at now: Moment, into shell: inout [Effect]
    ) -> [JoinOutcome] {
        defer { effects.drain(into: &shell) }
        advance(to: now)
        guard link.isHealthy, lifecycle == .serving else { return items.map { _ in .notNow } }
        // The origin has limited the steps of patterns.
        workspace.patternMeter.begin(.max)
        defer { workspace.patternMeter.end() }
        let outcomes = items.map { link.isHealthy ? join($0) : .notNow }
        let waits = outcomes.contains {
            switch $0 {
            case .held, .notNow: true
            case .joined, .known, .refused: false
            }
        }
        if let cursor, !waits { link.gathering.cursor = cursor }
        return outcomes
    }

    /// Whether a form of that name is shared.
    func isShared(_ name: String) -> Bool {
        guard configuration.link?.forms.matches(name) ?? false else { return false }
        return form(named: name).map { !$0.isEditable || $0.link != nil } ?? true
    }

    func join(_ item: SharedItem) -> JoinOutcome {
        guard isShared(item.form) else {
            return .refused("form \(item.form) is not shared here")
        }
        do {
            if case .whole(let whole) = item, whole.isApart { return .refused("it has no life") }
            guard let form = form(named: item.form), form.isEditable else {
                if fleet?.refusedForms.contains(item.form) ?? false { return .notNow }
                return try joinAbsent(item)
            }
            guard form.failureReport == nil, let own = form.working.shared else { return .notNow }
            guard
                item.context.highestCounter(of: replica)
                    <= form.working.context.highestCounter(of: replica)
            else { return leaveReplica() }
            guard own.lives.isSame(as: item.lives) else { return try meet(item, form) }
            clocks.hybrid.observe(item.greatestStamp, at: self.now.wallMilliseconds)
            return try join(item, into: form)
        } catch {
            return .held("form \(item.form): \(error.why)")
        }
    }

    func join(
        _ item: SharedItem, into form: LiveForm
    ) throws(JoinProblem) -> JoinOutcome {
        let state = form.working
        if let shared = state.shared {
            // An edit that waits may be of a life that only a whole says.
            let lives = shared.lives.joined(item.lives)
            if lives != shared.lives {
                state.shared = shared.with(lives: lives, hidden: shared.hidden)
            }
        }
        let joined = JoinedStores(item, with: state)
        if joined.isEmpty, item.context.isSubset(of: state.context) { return .known }
        let author = item.author ?? remote
        if let shared = state.shared, !joined.hiddenKeys.isEmpty {
            defer { reportMet(since: shared.hidden, form) }
            var lives = shared.lives
            if joined.hidden[SharedDefinition.key].isEmpty {
                delete(form, leaving: joined, lives)
                return .joined
            }
            if let said = SharedDefinition(in: joined.hidden) { lives = said.lives.joined(lives) }
            if let (said, definition) = try definition(saidBy: joined.hidden, over: state) {
                let next = self.state(said, definition, joined, over: state, lives)
                try adopt(next, of: form, before: state, by: author, item)
                return .joined
            }
            state.shared = shared.with(lives: lives, hidden: joined.hidden)
        }
        let result = join(joined, into: form, by: author, item)
        if result.record != nil { publish(result, item.message) }
        gather(joined.hiddenKeys, of: form)
        gather(result.silent, of: form)
        return .joined
    }

    /// Changes the cells of a form to what was joined, as one revision if anything is read of it.
    private func join(
        _ joined: JoinedStores, into form: LiveForm, by author: Author, _ item: SharedItem
    ) -> Transaction {
        let state = form.working
        let definition = state.definition
        let record = item.record
        let time = record?.at ?? now.wallMilliseconds
        let result = Transaction(
            form, author: author, stamp: HybridTimestamp(milliseconds: time),
            reading: clocks.read())
        result.revision = state.revision
        var contents: [Int: CellContent] = [:]
        var (written, silent, concurrent) = ([Int](), [Int](), [Int]())
        var lost = JSONObject()
        for (index, store) in joined.cells.sorted(by: { $0.key < $1.key }) {
            let before = state.cells[index].content
            var content = before.joined(store, index, of: definition)
            openSecret(&content, index, form)
            contents[index] = content
            let siblings = content.siblings(index, of: definition, listedOnly: false)
            let known = before.siblings(index, of: definition, listedOnly: false)
            let reads =
                before.value == content.value && before.isSet == content.isSet
                && before.isUnreadable == content.isUnreadable && siblings == known
                && (before.leases == nil) == (content.leases == nil)
            if reads, item.isSilent(state.storeKey(index)) {
                silent.append(index)
            } else {
                written.append(index)
                if !siblings.isEmpty, siblings != known { concurrent.append(index) }
                if record != nil {
                    lost[definition.controls[index].id] = content.lost(
                        { !state.context.contains($0) }, index, of: definition)
                }
            }
        }
        state.context = joined.context
        for index in silent {
            if let content = contents[index] {
                state.cells[index] = state.cells[index].withSilentWrites(content)
            }
        }
        result.silent = Few(silent)
        if written.isEmpty { return result }
        result.revision += 1
        let order = definition.withDependents(Few(written))
        let approval = approval(of: item, state.guardsMet(joining: contents, order), form)
        result.before = order.mapped { state.cellAsShown($0) }
        for place in order.indices {
            let index = order[place]
            let old = state.cells[index]
            let last = item.lastChange(
                of: state.storeKey(index), contents[index] ?? old.content,
                definition.controls[index].conflictPolicy)
            state.cells[index] = Cell(
                contents[index] ?? old.content, revision: result.revision,
                at: last?.at ?? now.wallMilliseconds, by: last?.by ?? author, runs: old.runs)
        }
        state.revision = result.revision
        result.touched = order
        result.concurrent = definition.withDependents(Few(concurrent))
        let details = record?.details
        func ids(_ indexes: some Sequence<Int>) -> [String] {
            indexes.map { definition.controls[$0].id }
        }
        result.record = RevisionRecord(
            kind: record?.kind ?? .sync, at: time, by: author, session: record?.session,
            isJoined: true,
            .details(
                RevisionRecord.Details(
                    derived: ids(order.filter { !written.contains($0) }),
                    concurrent: ids(result.concurrent), lost: lost,
                    undo: Few(
                        (details?.undo ?? []).filter { definition.index(of: $0.field) != nil }),
                    touched: Few(ids(order)), approval: approval)))
        return result
    }

    /// How what is joined was approved. Guards are judged where an edit is made, so one of these
    /// may apply here that did not apply there.
    private func approval(
        of item: SharedItem, _ guards: [Int], _ form: LiveForm
    ) -> RevisionRecord.Approval? {
        let record = item.record
        // What a lease ends with was judged when it was taken.
        if guards.isEmpty || record?.kind == .ended { return record?.details.approval }
        if let approval = record?.details.approval { return approval }
        let ids = guards.map { form.working.definition.controls[$0].id }
        let author = item.author.map { " of " + ($0.host ?? $0.user) } ?? ""
        log(
            .warning,
            "form \(form.name): an edit\(author) is joined without the approval that "
                + "\(ids.joined(separator: ", ")) asks for here; pickerctl history shows it",
            [.form(form.name), .field(ids[0])])
        return .missing
    }

    /// Makes a joined state with another definition a revision.
    func adopt(
        _ state: FormState, of form: LiveForm, before: FormState?, by author: Author,
        _ item: SharedItem
    ) throws(JoinProblem) {
        for index in state.cells.indices {
            guard case .sealed = state.cells[index].store else { continue }
            let cell = state.cells[index]
            var content = cell.content
            openSecret(&content, index, form, state)
            state.cells[index] = Cell(content, revision: cell.revision, at: cell.at, by: cell.by)
        }
        let record = item.record
        let time = record?.at ?? now.wallMilliseconds
        let told: (frame: [UInt8], lacksValues: Bool)
        do {
            told = try adopt(
                state, of: form, isCreation: before == nil, by: author, at: time, item.message,
                isJoined: true)
        } catch { throw JoinProblem(error.message) }
        publishDefinition(
            told.frame,
            RevisionRecord(
                kind: record?.kind ?? .sync, at: time, by: author, session: record?.session,
                isJoined: true,
                .details(.init(touchesAll: true, approval: record?.details.approval))),
            of: form, before: before, item.message,
            beginsLog: told.lacksValues && before != nil)
    }

    /// Another life of this store has made writes under our name, which we do not know: the store
    /// was put back to an earlier state, or copied. No dot may name two writes, so a replica with a
    /// new id continues.
    @discardableResult
    func leaveReplica() -> JoinOutcome {
        if link.leavesReplica || !link.isHealthy { return .notNow }
        log(
            .warning,
            "another store has written as \(replica), this one's replica: it was copied or put "
                + "back to an earlier state, and takes another replica id",
            [.event(.storeRestored)])
        link.leavesReplica = true
        return .notNow
    }

    private func openSecret(
        _ content: inout CellContent, _ index: Int, _ form: LiveForm, _ state: FormState? = nil
    ) {
        let state = state ?? form.working
        guard case .sealed(let register) = content.store else { return }
        content.isUnreadable =
            register.secret.map { secret in
                let place = Self.place(of: form, state, index, secret.dot)
                return secret.bytes.map { environment.open($0, place) == nil } ?? false
            } ?? false
        content.resolve(index, of: state.definition)
    }

    /// The author of what is joined from nobody in particular.
    var remote: Author {
        Author(
            user: "pickersyncd", uid: configuration.daemonUID, client: configuration.serverName,
            connection: 0, replica: replica, host: configuration.link?.host
        ).withText()
    }
}

extension CellContent {
    /// The content with a joined store. A lease whose value is gone has ended.
    func joined(_ store: FieldStore, _ index: Int, of definition: FormDefinition) -> CellContent {
        var content = self
        content.store = store
        content.forgetGoneSilentWrites()
        if let stack = content.leases, !content.holds(stack.top) { content.leases = nil }
        content.resolve(index, of: definition)
        return content
    }
}
