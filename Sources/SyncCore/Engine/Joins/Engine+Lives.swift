// Two forms of one name that were made on two hosts before these were linked. They must not become
// one by a line in a configuration, so each host keeps its own until somebody decides.

extension Engine {
    /// Another host has another form of a name that a form here has.
    func meet(_ item: SharedItem, _ form: LiveForm) throws(JoinProblem) -> JoinOutcome {
        guard case .whole(let other) = item, other.isDeleted else {
            return .held(
                "another host has another form of that name; see pickerctl link form --help")
        }
        let isSame = form.whole(of: form.working)?.sharesWrites(with: other) ?? false
        if isSame, JoinedStores(item, with: form.working).hidden[SharedDefinition.key].isEmpty {
            return try join(item, into: form)
        }
        // A follower writes nothing; a host that does tells it.
        guard configuration.link?.mode == .both else { return .known }
        // The other one was deleted, so this one is the only one.
        do throws(WireError) {
            try unite(form, with: other, isSame ? .merge : .ours, by: remote)
        } catch {
            throw JoinProblem(error.message)
        }
        return .joined
    }

    /// `form.link`: shares a form that was not, and decides what becomes of two of one name.
    func formLink(_ params: FormLinking, _ call: PendingCall) throws(WireError) {
        let form = try formToLink(params.form, call)
        // What was another form may have become this one, by a join that the store then refused.
        if let fleet, let other = fleet.otherForms[form.name],
            form.working.shared?.lives.isSame(as: other.lives) ?? false
        {
            fleet.endWaiting(form.name, at: now)
        }
        guard params.how == nil || fleet?.otherForms[form.name] != nil else {
            throw WireError(
                .invalidParams,
                "no other host has another form of the name \(form.name), so there is nothing to "
                    + "decide", form: form.name)
        }
        if form.working.ongoing[.unlinked] != nil {
            note(nil, as: .unlinked, of: form)
            connectLink(of: form)
            // The others have made edits that were skipped.
            readLogAgain()
            log(
                .notice, "form \(form.name) is shared again: \(call.connection.peer.whom) said so",
                [.form(form.name)] + call.connection.peer.logFields)
        }
        guard form.link != nil else { throw .notShared(form) }
        if let other = fleet?.otherForms[form.name] {
            guard let how = params.how else {
                throw WireError(
                    .conflict,
                    "another host has another form of the name \(form.name); say which one stays, "
                        + "or merge both", form: form.name, expected: "merge, theirs or ours")
            }
            guard let whole = other.whole else {
                throw WireError(
                    .unavailable,
                    "the other form of the name \(form.name) was not read yet; try again when the "
                        + "link is up", form: form.name)
            }
            try unite(form, byRequestWith: whole, how, call.connection)
            fleet?.endWaiting(form.name, at: now)
        }
        answerDefinition(call, of: form)
    }

    /// `form.unlink`: the form stays here, and what others do with theirs does not concern it.
    func formUnlink(_ name: String, _ call: PendingCall) throws(WireError) {
        let form = try formToLink(name, call)
        guard form.link != nil else { throw .notShared(form) }
        note([], as: .unlinked, of: form)
        connectLink(of: form)
        fleet?.endWaiting(name, at: now)
        log(
            .notice,
            "form \(name) is not shared any more: \(call.connection.peer.whom) said so",
            [.form(name)] + call.connection.peer.logFields)
        answerDefinition(call, of: form)
    }

    private func formToLink(_ name: String, _ call: PendingCall) throws(WireError) -> LiveForm {
        guard configuration.link != nil else { throw .noLink }
        guard link.isHealthy else { throw .storeUnavailable(link.trouble ?? "") }
        let form = try editableForm(name, call.connection)
        try require(.admin, form, form.working, nil, call.connection.peer)
        try requireWritable(form)
        return form
    }

    private func answerDefinition(_ call: PendingCall, of form: LiveForm) {
        let state = form.working
        let result = FormResult(
            form: form.name, version: Int64(clamping: state.version), log: form.log,
            revision: Revision(clamping: state.revision), definition: state.definition.json)
        answerEdit(call, of: form) { result.encode(into: &$0) }
        followFleetAlone()
    }

    private func unite(
        _ form: LiveForm, byRequestWith other: WholeForm, _ how: FormLinking.How,
        _ connection: Connection
    ) throws(WireError) {
        let guards = form.working.definition.guards
        guard guards.isEmpty else {
            throw approvalNeeded(guards, form, "propose a definition without approval first")
        }
        let author = connection.author(of: form, replica: replica)
        try unite(form, with: other, how, as: environment.random(), by: author)
        log(
            .notice,
            "form \(form.name) and that of another host are one: \(connection.peer.whom) said "
                + "\(how.rawValue)", [.form(form.name)] + connection.peer.logFields)
    }

    /// Makes one form of two, as a revision; other hosts get the whole.
    ///
    /// - Parameter life: the life of the one form. Under one of the two, a host that has deleted
    ///   that form would take an edit of the one form for an edit of the deleted one.
    private func unite(
        _ form: LiveForm, with other: WholeForm, _ how: FormLinking.How, as life: UInt64? = nil,
        by author: Author
    ) throws(WireError) {
        let state = form.working
        guard let own = state.shared else { return }
        let lives = own.lives.all.union(other.lives.all)
        guard lives.count <= FormLives.formerMax else {
            throw WireError(
                .invalidParams,
                "form \(form.name) has become one with \(FormLives.formerMax) others already; give "
                    + "it another name, or delete one of the two", form: form.name)
        }
        var theirs = other
        // Without their stores, all that they have counts as removed.
        if how == .ours { theirs.stores.removeAll { $0.store.kind != .sealed } }
        let item = SharedItem.whole(theirs)
        clocks.hybrid.observe(item.greatestStamp, at: now.wallMilliseconds)
        var joined = JoinedStores(item, with: state, dropsOwn: how == .theirs)
        do throws(JoinProblem) {
            try write(
                FormLives(present: life ?? own.lives.present, former: lives), into: &joined,
                by: author)
            if how == .ours { try overwriteNumbers(of: other, in: &joined, state, by: author) }
            guard
                let (said, definition) = try definition(
                    saidBy: joined.hidden, over: state, evenIfSame: true)
            else { return }
            let next = self.state(said, definition, joined, over: state, said.lives)
            try adopt(next, of: form, before: state, by: author, item)
        } catch {
            throw WireError(.invalidParams, error.why, form: form.name)
        }
        form.link?.gatherWhole()
    }

    /// Sets each number that the other form has to the one of this form.
    ///
    /// The other hosts may increment theirs at this moment. A host's increments are one sum, which
    /// would come back as a whole.
    private func overwriteNumbers(
        of other: WholeForm, in joined: inout JoinedStores, _ state: FormState, by author: Author
    ) throws(JoinProblem) {
        let counted = other.stores.filter { $0.store.kind == .counter && !$0.store.isEmpty }
        for key in counted.map({ CausalForm.Field(id: $0.id, store: $0.store).key }) {
            guard let place = state.controlsByStore[key],
                case .counter(var counter) = joined.cells[place] ?? state.cells[place].store
            else { continue }
            let control = state.definition.controls[place]
            let initial = control.defaultValue.numberValue ?? .zero
            let value =
                counter.isEmpty
                ? nil : counter.value(control.conflictPolicy, default: initial)
            counter.set(
                value, author: author, dot: try newDot(in: &joined), stamp: clocks.newStamp(),
                seen: .context(joined.context), policy: control.conflictPolicy)
            joined.cells[place] = .counter(counter)
        }
    }

    /// The next write of this replica in joined stores.
    func newDot(in joined: inout JoinedStores) throws(JoinProblem) -> Dot {
        guard let dot = joined.context.nextDot(for: replica) else {
            throw JoinProblem(WireError.counterUsedUp.message)
        }
        joined.context.insert(dot)
        return dot
    }

    /// Writes to the definition of joined stores that their form has had these lives.
    func write(
        _ lives: FormLives, into joined: inout JoinedStores, by author: Author? = nil
    ) throws(JoinProblem) {
        guard let said = SharedDefinition(in: joined.hidden) else { throw .unreadable(nil) }
        joined.hidden.write(
            said.with(lives.joined(said.lives)).json, SharedDefinition.key,
            dot: try newDot(in: &joined), stamp: clocks.newStamp(), by: author ?? remote)
    }
}

extension OngoingName {
    /// The row of a form that stays on this host, although the configuration shares it.
    static let unlinked = OngoingName(kind: "link", id: "unlinked")
}

extension WireError {
    /// A method of the link on a form that is not shared.
    static func notShared(_ form: LiveForm) -> WireError {
        WireError(
            .invalidParams,
            "form \(form.name) is not shared with other hosts; see link.forms in "
                + "pickersyncd.yaml", form: form.name, path: "link")
    }
}
