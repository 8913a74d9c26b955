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
    var facts: Explanation
    var before: UInt64
    /// Whether only one revision is wanted, the one before `before`.
    let isExact: Bool
    var isFound = false
    /// The history has a gap before the revision was found.
    var isGone = false
}

extension Engine {
    func explain(_ params: StateExplain, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(params.form, call.peer)
        let state = form.committed
        let index = try index(of: params.field, form, state)
        guard params.at ?? 0 <= Revision(clamping: state.revision) else {
            throw WireError(
                .invalidParams,
                "form \(form.name) has no revision \(params.at ?? 0) yet; the newest is "
                    + "\(state.revision)", form: form.name, field: params.field,
                path: "at")
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
        facts.ends += leasesElsewhere(index, form)
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
        var search = search
        let isCut = try look(through: rows, for: &search, call)
        // Each record is parsed as JSON: one unit for every 128 bytes.
        scheduler.spend(
            rows.reduce(0) { $0 + $1.record.count } >> 7, call.connection.account)
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
}

extension ExplainSearch: RevisionSearch {
    /// Adds what the next older revision knows.
    mutating func take(_ row: RevisionRow) -> Bool {
        // Before a gap, revisions that changed the field may be gone: what is older would be wrong.
        if isFound || isGone || row.revision + 1 != before {
            isGone = true
            return false
        }
        before = row.revision
        guard let record = RevisionRecord(row.record) else { return true }
        let details = record.details
        guard details.touchesAll || details.touched.contains(where: { $0.isSameBytes(as: field) })
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
        last.undoes = details.undoes.map { Revision(clamping: $0) }
        facts.change = last
        facts.met = details.met.first { $0.field.isSameBytes(as: root ?? field) }?.meeting
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
