// `state.explain`: why a field has its value. The state has most facts; the message of the last
// change, and everything about an earlier revision, is in the history.

/// An explanation that lacks facts of the history.
struct ExplainSearch {
    /// Revisions that are searched at once for the one before `at` that changed the field.
    static let rowsMax = 512

    let form: LiveForm
    let field: String
    /// The control that stores its value, if it is one.
    let root: String?
    /// What is known.
    var facts: Explanation
    /// Only revisions before this one.
    var before: UInt64
    /// Whether only one revision is wanted, the one before `before`.
    let isExact: Bool
    var isFound = false
    /// The history has a gap before the revision was found.
    var isGone = false
}

extension Engine {
    func explain(_ params: StateExplain, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.connection)
        let state = form.committed
        guard let index = state.definition.index(of: params.field) else {
            throw noField(params.field, form, state)
        }
        // The definition is searched for references.
        scheduler.spend(2 + state.cells.count >> 4, call.connection.account)
        let root = state.definition.targets[index].first.map { state.definition.controls[$0].id }
        if let at = params.at, at < Revision(clamping: state.revision) {
            let facts = Explanation(form: form.name, field: params.field, revision: at)
            return ask(
                ExplainSearch(
                    form: form, field: params.field, root: root, facts: facts,
                    before: UInt64(clamping: at) + 1, isExact: false), call)
        }
        var facts = state.explanation(
            of: index, form: form.name, for: call.connection.peer.uid)
        facts.permission = permission(of: index, form, call.connection.peer)
        guard let change = facts.change else { return answer(call, facts) }
        ask(
            ExplainSearch(
                form: form, field: params.field, root: root, facts: facts,
                before: UInt64(clamping: change.revision) + 1, isExact: true), call)
    }

    private func answer(_ call: PendingCall, _ facts: Explanation) {
        answer(call) { facts.encode(into: &$0) }
    }

    private func ask(_ search: ExplainSearch, _ call: PendingCall) {
        let query = StoreQuery.history(
            form: search.form.key, before: search.before,
            rowsMax: search.isExact ? 1 : ExplainSearch.rowsMax, bytesMax: HistorySearch.bytesMax)
        fetch(query, for: .explain(call, search), call.connection)
    }

    func continueExplaining(
        _ search: ExplainSearch, _ rows: [RevisionRow], _ call: PendingCall
    ) throws(WireError) {
        // The peer's permission may have changed during the read.
        guard try readableForm(search.form.name, call.connection) === search.form else {
            throw noForm(search.form.name, call.connection.peer)
        }
        var search = search
        let account = call.connection.account
        let isCut = scanUnsaved(
            of: search.form, after: rows.first?.revision ?? 0, before: search.before, account
        ) { search.take($0) }
        if search.isExact || !isCut {
            for row in rows where !search.take(row) { break }
        }
        // Each record is parsed as JSON: one unit for every 128 bytes.
        scheduler.spend(rows.reduce(0) { $0 + $1.record.count } >> 7, account)
        let isOpen = !search.isFound && !search.isGone && !search.isExact
        if isOpen, isCut || !rows.isEmpty, search.before > 1 {
            return ask(search, call)
        }
        if !search.isFound {
            var change =
                search.facts.change ?? Explanation.Change(revision: search.facts.revision)
            change.isGone = true
            search.facts.change = change
        }
        answer(call, search.facts)
    }

    // MARK: - Permission

    /// Whether a peer may change a field: the checks of `state.set`, without an edit. `nil` for a
    /// label.
    private func permission(
        of index: Int, _ form: LiveForm, _ peer: Peer
    ) -> Explanation.Permission? {
        let state = form.committed
        let definition = state.definition
        let control = definition.controls[index]
        if case .none = control.storage { return nil }
        var refusals: [Explanation.Refusal] = []
        let action: FormAction = control.type == .button ? .press : .write
        for place in [index] + definition.targets[index].filter({ $0 != index }) {
            let id = definition.controls[place].id
            if !isPermitted(action, form, state, place, peer) {
                var refusal = Explanation.Refusal(.access, field: id)
                let principals = definition.rule(of: action, control: place).principals
                refusal.only = principals.prefix(Self.namedPrincipalsMax).map(\.description)
                refusal.more = principals.count - refusal.only.count
                refusals.append(refusal)
            }
            if definition.controls[place].isLocked, !isPermitted(.admin, form, state, nil, peer) {
                refusals.append(Explanation.Refusal(.locked, field: id))
            }
            // A form may have many sources, and one reason is enough.
            if refusals.count >= Self.namedPrincipalsMax { break }
        }
        if definition.mayBeDisabled(index) {
            let judge = ConditionEvaluator(definition) { state.value($0) }
            if control.isDisabled {
                refusals.append(Explanation.Refusal(.disabled, field: control.id))
            } else if let condition = control.enabledWhen, !judge.holds(condition) {
                var refusal = Explanation.Refusal(.condition, field: control.id)
                refusal.unmet = judge.unmet(condition)
                refusals.append(refusal)
            }
        }
        if form.failureReport != nil {
            refusals.append(Explanation.Refusal(.store, field: control.id))
        }
        let approvals = state.approvals(of: index)
        var permission = Explanation.Permission(refusals + approvals.always)
        permission.asks = approvals.forSome
        permission.needsMessage = definition.needsMessage(index)
        permission.leaseMax = definition.targets[index].compactMap {
            definition.controls[$0].leaseMax
        }.min()
        return permission
    }
}

extension ExplainSearch {
    /// Adds what the next older revision knows. Returns whether the search continues.
    fileprivate mutating func take(_ row: RevisionRow) -> Bool {
        // Before a gap, revisions that changed the field may be gone: what is older would be wrong.
        if isFound || isGone || row.revision + 1 != before {
            isGone = true
            return false
        }
        before = row.revision
        guard let record = RevisionRecord(row.record),
            record.touchesAll || record.touched.contains(where: { $0.isSameBytes(as: field) })
        else { return true }
        let told = HistoryPage.Entry.told(in: row.frame)
        let change = told.changes.first { $0.field.isSameBytes(as: field) }
        // A new definition touches every subscriber, not every field.
        if change == nil, !isExact { return true }
        isFound = true
        var last = Explanation.Change(revision: Revision(clamping: row.revision))
        last.at = Timestamp(milliseconds: record.at)
        last.by = change?.state.by ?? record.by.wire
        last.kind = record.kind.rawValue
        last.message = told.message
        last.undoes = record.undoes.map { Revision(clamping: $0) }
        facts.change = last
        facts.met = record.met.first { $0.field.isSameBytes(as: root ?? field) }?.meeting
        if !isExact, let change { facts.describe(change.state) }
        return false
    }
}

extension Explanation {
    /// Adds what was told of an earlier revision.
    fileprivate mutating func describe(_ told: FieldState) {
        state = told
        origin = Origin(told.lease != nil ? .lease : told.isSet ? .set : .initial)
        guard !told.conflict.isEmpty else { return }
        let current = Sibling(value: told.value, by: told.by, at: told.at)
        concurrent = [
            Siblings(component: nil, rule: .latest, lead: nil, values: [current] + told.conflict)
        ]
    }
}
