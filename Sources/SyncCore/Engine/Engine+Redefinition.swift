// Replaces the definition of a form: the stores of all compatible controls are kept, and
// subscribers get one frame with all changes.

extension Engine {
    /// Applies a definition as one revision (FORM.md, Changing a form that is in use).
    /// - Parameter line: the audit entry, which is written first.
    func carryOut(
        _ change: Redefinition, _ kind: RevisionRecord.Kind, by author: Author, session: String?,
        message: String?, approval: RevisionRecord.Approval? = nil,
        line: (ApplyResult) -> LogEntry
    ) throws(WireError) -> ApplyResult {
        let form = change.form
        try requireWritable(form)
        let plan = change.migration
        if change.isIdle { return change.result(plan, form.working) }
        let stamp = clocks.newStamp()
        let before = form.working
        let frame = try redefine(change, plan, by: author, message, stamp)
        let result = change.result(plan, form.working)
        do throws(WireError) { try audit(form.name, line(result)) } catch {
            form.working = before
            throw error
        }
        if change.isCreation {
            insert(form)
            if let deleted = link.deletedForm(form.name) {
                // A form that is not shared does not say that one was deleted before.
                if form.link == nil, !deleted.isApart,
                    link.deletedForms.inLog[form.name] == nil
                {
                    part(with: deleted, before: form)
                }
                link.gathering.deletedForms.updateValue(nil, forKey: form.name)
            }
        }
        let record = RevisionRecord(
            kind: kind, at: stamp.milliseconds, by: author, session: session,
            .details(.init(touchesAll: true, approval: approval)))
        publishDefinition(
            frame, record, of: form, before: change.isCreation ? nil : before, message)
        if form.link != nil,
            let shared = form.working.sharedChange(since: before, of: replica, stamp)
        {
            gather(shared, record, of: form, message)
        }
        return result
    }

    /// Adds the revision of a new definition to the gathering batch.
    ///
    /// - Parameters:
    ///   - before: The state before; `nil` for a new form.
    ///   - beginsLog: whether subscribers need more than the notification.
    func publishDefinition(
        _ frame: [UInt8], _ record: RevisionRecord, of form: LiveForm, before: FormState?,
        _ message: String?, beginsLog: Bool = false
    ) {
        let state = form.working
        expectSecrets(of: state.definition)
        armLeases(of: form)
        // Nobody subscribes before a form is created.
        if before == nil { form.changeLog.restart(next: state.revision + 1) }
        let row = RevisionRow(
            form: form.key, revision: state.revision, at: clocks.steadyMilliseconds(),
            frame: before == nil ? SharedBytes(frame) : append(frame, touched: nil, to: form),
            record: record)
        if beginsLog { form.nextLog = newLogName() }
        let listing = OpenBatch.Listing(
            frame: form.changed(.defined(state.described()), at: state.revision, message),
            readers: readers(of: form, state), revision: state.revision,
            newLog: beginsLog ? form.nextLog : nil)
        publish(
            before == nil
                ? .created(form, listing: listing)
                : .redefined(form, listing: listing),
            of: form, .whole(removed: before?.idsGone(in: state) ?? []), row)
        guard let before else { return }
        if let shared = before.shared { gather(Set(shared.hidden.map(\.key)), of: form) }
        if form.runs != nil { adoptRuns(of: form, before: before, at: record.at) }
    }

    /// Sets the working state to a new definition and returns the notification for subscribers.
    ///
    /// - Parameter plan: how the values are migrated.
    /// - Throws: if the notification is longer than a frame. No client accepts one, so every
    ///   subscriber would be disconnected. The state is then unchanged.
    func redefine(
        _ change: Redefinition, _ plan: FormMigration, by author: Author, _ message: String?,
        _ stamp: HybridTimestamp
    ) throws(WireError) -> [UInt8] {
        let form = change.form
        let before = form.working
        // A new state. The old state stays unchanged.
        let state = change.isCreation ? before.copy() : migrated(before, to: change, plan, form)
        if let shared = before.shared {
            try share(shared, state, over: before, change, plan, by: author, stamp)
        } else if form.link != nil {
            try beginSharing(state, of: form, by: author, stamp)
        }
        return try adopt(
            state, of: form, isCreation: change.isCreation, by: author, at: stamp.milliseconds,
            message
        ).frame
    }

    /// Makes a state with another definition the working state, and returns the notification for
    /// subscribers.
    ///
    /// - Parameter isJoined: Another host has taken it, so it is not refused for its values: if
    ///   they do not fit, the notification lacks them.
    /// - Throws: as `redefine`.
    func adopt(
        _ state: FormState, of form: LiveForm, isCreation: Bool, by author: Author, at time: Int64,
        _ message: String?, isJoined: Bool = false
    ) throws(WireError) -> (frame: [UInt8], lacksValues: Bool) {
        let before = form.working
        form.working = state
        form.working.revision = before.revision + 1
        form.working.definitionRevision = form.working.revision
        var changes = noteChanges(form, before, isCreation: isCreation, author, at: time)
        do { try requirePatternSteps(form.name) } catch {
            // Values that were computed without all pattern steps must not stay cached.
            for cell in before.cells { cell.forgetShown() }
            form.working = before
            throw error
        }
        let max = configuration.limits.maxFrame
        var frame = notification(of: form, changes, message)
        if frame.count - Frame.headerBytes > max {
            // The earlier values are left out first, as with a long edit.
            for place in changes.indices { changes[place].was = nil }
            frame = notification(of: form, changes, message)
        }
        if frame.count - Frame.headerBytes <= max { return (frame, false) }
        if isJoined {
            let short = notification(of: form, [], message)
            if short.count - Frame.headerBytes <= max { return (short, true) }
        }
        form.working = before
        throw .limit(
            "maxFrame", max: max,
            "the definition and the \(changes.count) values that change with it take "
                + "\(frame.count - Frame.headerBytes) bytes together, and one message has at most "
                + "\(max) (maxFrame); change fewer fields at once, shorten options or labels, "
                + "or make several forms of it", .invalidParams, form: form.name)
    }

    /// What subscribers are told of a new definition.
    private func notification(
        of form: LiveForm, _ changes: [FieldChange], _ message: String?
    ) -> [UInt8] {
        let state = form.working
        let definition = state.described(context: state.token, changes)
        return form.changed(.defined(definition), at: state.revision, message)
    }

    /// The state under the new definition, with the stores of all compatible controls.
    private func migrated(
        _ old: FormState, to change: Redefinition, _ plan: FormMigration, _ form: LiveForm
    ) -> FormState {
        let state = FormState(change.definition, applied: change.applied)
        state.version = old.version + 1
        state.context = old.context
        state.ongoing = old.ongoing
        for (index, origin) in plan.origins.enumerated() {
            switch origin {
            case .new: break
            case .carries(let source):
                let cell = old.cells[source]
                var content = cell.content
                let from = old.definition.controls[source].id
                let to = change.definition.controls[index].id
                // Where the form is shared, it is bound to its store.
                if case .sealed(let register) = content.store, from != to, old.shared == nil {
                    content.store = resealed(register, form, from: from, to: to)
                    content.isUnreadable = content.store == nil || content.isUnreadable
                    content.store = content.store ?? .sealed(register)
                }
                content.resolve(index, of: change.definition)
                state.cells[index] = Cell(
                    content, revision: cell.revision, at: cell.at, by: cell.by,
                    runs: change.definition.controls[index].runs == nil ? nil : cell.runs)
            case .restarts(let source):
                let cell = old.cells[source]
                state.cells[index] = Cell(
                    state.cells[index].content, revision: cell.revision, at: cell.at, by: cell.by)
            }
        }
        return state
    }

    /// A secret is bound to its field, so the secret of a renamed field is encrypted again.
    private func resealed(
        _ register: SealedRegister, _ form: LiveForm, from: String, to: String
    ) -> FieldStore? {
        guard let secret = register.secret, let bytes = secret.bytes else {
            return .sealed(register)
        }
        guard let plain = environment.open(bytes, Self.place(form.name, from, secret.dot)),
            let sealed = environment.seal(plain, Self.place(form.name, to, secret.dot))
        else { return nil }
        return .sealed(
            SealedRegister(
                SealedRegister.Secret(dot: secret.dot, stamp: secret.stamp, bytes: sealed)))
    }

    /// The fields whose value changed. Each is marked as changed by this revision.
    private func noteChanges(
        _ form: LiveForm, _ before: FormState, isCreation: Bool, _ author: Author,
        at time: Int64
    ) -> [FieldChange] {
        var changes: [FieldChange] = []
        let definition = form.working.definition
        // By index: a control has so many attributes that each copy of it takes time.
        for index in definition.controls.indices {
            let id = definition.controls[index].id
            let old = isCreation ? nil : before.definition.index(of: id)
            let was = old.map { before.field($0) }
            let now = form.working.field(index)
            if let was, was.reads(as: now) { continue }
            let cell = Cell(
                form.working.cells[index].content, revision: form.working.revision,
                at: time, by: author, runs: form.working.cells[index].runs)
            // The comparison above has computed this, perhaps from many sources.
            cell.shown = form.working.cells[index].shown
            form.working.cells[index] = cell
            changes.append(
                FieldChange(
                    field: id, state: form.working.field(index),
                    was: definition.types[index] == .secure ? nil : was?.value))
        }
        return changes
    }
}

extension LiveForm {
    /// The notification that the form itself has changed.
    func changed(
        _ content: FormChanged.Content, at revision: UInt64, _ message: String? = nil
    ) -> [UInt8] {
        Answer.frame(
            .formChanged(
                FormChanged(
                    form: name, revision: Revision(clamping: revision), content: content,
                    message: message)))
    }
}

extension FormState {
    /// The definition for a notification. Watchers of the form list get it without values.
    func described(
        context: String? = nil, _ changes: [FieldChange] = [], coalescedFrom: Revision? = nil
    ) -> FormChanged.Definition {
        var described = FormChanged.Definition(
            version: Int64(clamping: version), context: context, definition: definition.json,
            changes: changes, coalescedFrom: coalescedFrom)
        described.definitionText = definition.text
        return described
    }

    /// Fields that do not exist in another state.
    fileprivate func idsGone(in other: FormState) -> [String] {
        definition.controls.map(\.id).filter { other.definition.index(of: $0) == nil }
    }
}

extension FieldState {
    /// Whether readers see the same value, regardless of the author.
    fileprivate func reads(as other: FieldState) -> Bool {
        value == other.value && isSet == other.isSet && isSecretSet == other.isSecretSet
            && isMixed == other.isMixed && isInvalid == other.isInvalid
            && isMissing == other.isMissing && runs == other.runs
            && conflict.count == other.conflict.count
    }
}
