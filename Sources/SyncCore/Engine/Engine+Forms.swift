// Forms come, change and go: the methods of `form`.

extension Engine {
    // MARK: - Reading

    func formList(_ call: PendingCall) {
        let peer = call.connection.peer
        spend(forms.count >> 2, call.connection.account)
        let summaries = forms.filter { $0.isReadable && mayRead($0, peer) }.map { form in
            FormList.Summary(
                form: form.name, title: form.committed.definition.title,
                version: Int64(clamping: form.committed.version),
                revision: Revision(clamping: form.committed.revision),
                fields: Int64(form.committed.cells.count),
                subscribers: Int64(form.subscriptionCount))
        }
        let list = FormList(forms: summaries)
        answer(call) { list.encode(into: &$0) }
    }

    func formWatch(_ call: PendingCall) {
        let connection = call.connection
        if connection.catalogCursor == nil { catalogWatchers.append(connection) }
        connection.catalogCursor = catalog.next
        formList(call)
    }

    func formGet(_ name: String, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(name, call.connection)
        let state = form.committed
        let result = FormResult(
            form: form.name, version: Int64(clamping: state.version), log: form.log,
            revision: Revision(clamping: state.revision), definition: state.definition.json)
        answer(call) { result.encode(into: &$0) }
    }

    // MARK: - Applying

    func formApply(
        _ params: FormApply, _ call: PendingCall, _ effects: inout [Effect]
    ) throws(WireError) {
        let change = try plan(params, by: call.connection.peer)
        guard !params.isDryRun else {
            if !change.isIdle {
                let before = change.form.working
                _ = try redefine(change, by: call.connection.author(replica: replica), clock.last)
                change.form.working = before
            }
            let result = change.result
            answer(call) { result.encode(into: &$0) }
            return
        }
        let result = try carryOut(
            change, .apply, by: call.connection.author(replica: replica),
            session: call.connection.session, &effects)
        if !change.isIdle {
            logApplied(
                result, "by \(call.connection.peer.whom)", &effects, call.connection.peer.logFields)
        }
        settle(call) { result.encode(into: &$0) }
    }

    /// Applies a form file for the daemon itself.
    func apply(_ definition: JSON, file: String, _ effects: inout [Effect]) {
        let peer = Peer(
            pid: 0, uid: configuration.daemonUID, gid: 0, user: "pickersyncd")
        do {
            let change = try plan(FormApply(definition: definition), by: peer)
            let author = Author(
                user: peer.user, uid: peer.uid, client: configuration.serverName, tty: nil,
                connection: 0, replica: replica)
            let result = try carryOut(change, .apply, by: author, session: nil, &effects)
            logApplied(result, "from \(file)", &effects)
        } catch {
            log(.error, "form file \(file) refused: \(error.message)", &effects)
            for problem in error.problems {
                log(.error, "\(file): \(problem.path): \(problem.message)", &effects)
            }
        }
        flushRefusals(&effects)
    }

    private func logApplied(
        _ result: ApplyResult, _ how: String, _ effects: inout [Effect],
        _ whom: [LogEntry.Field] = []
    ) {
        log(
            .info,
            "form \(result.form) applied \(how): version \(result.version), "
                + "revision \(result.revision)", &effects,
            [
                .event(.applied), .form(result.form),
                LogEntry.Field(.version, "\(result.version)"),
                LogEntry.Field(.revision, "\(result.revision)"),
            ] + whom)
    }

    func formSetOptions(
        _ params: FormSetOptions, _ call: PendingCall, _ effects: inout [Effect]
    ) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        let state = form.working
        try require(.admin, form, state, nil, call.connection.peer)
        guard let control = state.definition.index(of: params.field) else {
            throw noField(params.field, form, state)
        }
        let definition: FormDefinition
        do {
            definition = try state.definition.settingOptions(
                of: control, to: .array(params.options), applied: state.applied,
                limits: FormLimits(configuration.limits), compile: environment.compile)
        } catch {
            throw WireError(
                issues: error, .invalidValue, form: form.name, field: params.field, at: "options")
        }
        let change = Redefinition(
            form: form, definition: definition, applied: state.applied, isCreation: false,
            isIdle: definition.json == state.definition.json)
        let result = try carryOut(
            change, .options, by: call.connection.author(replica: replica),
            session: call.connection.session, &effects)
        settle(call) { result.encode(into: &$0) }
    }

    func formDelete(
        _ params: FormDelete, _ call: PendingCall, _ effects: inout [Effect]
    ) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        try require(.admin, form, form.working, nil, call.connection.peer)
        let wasThere = form.existence == .there
        form.existence = .deleting
        form.working.revision += 1
        let gone = FormChanged(
            form: form.name, revision: Revision(clamping: form.working.revision),
            content: .deleted)
        let event = BatchQueue.Event.deleted(form, frame: Answer.frame(.formChanged(gone)))
        log(
            .notice, "form \(form.name) deleted by \(call.connection.peer.whom)", &effects,
            [.event(.deleted), .form(form.name)] + call.connection.peer.logFields)
        if wasThere || configuration.durability == .commit {
            publish(event, of: form, .deletion, nil, &effects)
        }
        settle(call) { EmptyResult().encode(into: &$0) }
    }

    // MARK: - Planning

    /// A definition that is to take another's place, or to be a form's first.
    struct Redefinition {
        let form: LiveForm
        let definition: FormDefinition
        let applied: JSON
        let isCreation: Bool
        /// Applying it changes nothing.
        let isIdle: Bool

        /// What becomes of the values.
        var migration: FormMigration {
            if isCreation {
                var plan = FormMigration()
                plan.added = definition.controls.map(\.id)
                return plan
            }
            let old = form.working
            return FormMigration.plan(from: old.definition, to: definition) { index in
                old.cells[index].isSet ? old.cells[index].value : nil
            }
        }

        /// What a dry run answers.
        var result: ApplyResult { result(migration, form.working) }

        func result(_ plan: FormMigration, _ state: FormState) -> ApplyResult {
            ApplyResult(
                form: form.name, version: Int64(clamping: isCreation ? 1 : state.version),
                revision: Revision(clamping: state.revision), isCreated: isCreation,
                added: plan.added, kept: plan.kept, invalid: plan.invalid, reset: plan.reset,
                removed: plan.removed)
        }
    }

    private func plan(_ params: FormApply, by peer: Peer) throws(WireError) -> Redefinition {
        let limits = FormLimits(configuration.limits)
        try requirePlanner(of: params.definition["form"]?.stringValue, by: peer)
        let file: FormDefinition
        do {
            file = try FormDefinition.parse(
                params.definition, limits: limits, compile: environment.compile)
        } catch {
            throw WireError(
                issues: error, .invalidParams, form: params.definition["form"]?.stringValue,
                field: nil, at: "definition")
        }
        if let form = form(named: file.name), form.existence != .deleting {
            let state = form.working
            try requireVersion(params.ifVersion, Int64(clamping: state.version), file.name)
            let definition = FormDefinition.keepingRuntimeOptions(
                file: file, applied: state.applied, inForce: state.definition.json,
                limits: limits, compile: environment.compile)
            return Redefinition(
                form: form, definition: definition, applied: file.json, isCreation: false,
                isIdle: file.json == state.applied)
        }
        try requireRoomForForm(peer)
        try requireVersion(params.ifVersion, 0, file.name)
        let form = LiveForm(
            key: nextFormKey, name: file.name, owner: peer.uid, log: newLogName(),
            state: FormState(file, applied: file.json), existence: .creating)
        return Redefinition(
            form: form, definition: file, applied: file.json, isCreation: true, isIdle: false)
    }

    /// Who may not apply is refused before the definition is looked at: a look is work.
    private func requirePlanner(of name: String?, by peer: Peer) throws(WireError) {
        if let name, let form = form(named: name), form.existence != .deleting {
            try require(.admin, form, form.working, nil, peer)
        } else {
            try requireCreator(peer, name)
        }
    }

    private func requireVersion(
        _ wanted: Int64?, _ version: Int64, _ name: String
    ) throws(WireError) {
        guard let wanted, wanted != version else { return }
        throw WireError(
            .conflict,
            "form \(name) is at version \(version), not \(wanted); look at it and apply again",
            form: name, expected: "ifVersion \(version)")
    }

    /// Root, the daemon's own uid and the members of its group may create forms.
    private func requireCreator(_ peer: Peer, _ name: String?) throws(WireError) {
        let isInGroup = configuration.creatorsGID.map {
            peer.gid == $0 || peer.groups.contains($0)
        }
        guard peer.uid == 0 || peer.uid == configuration.daemonUID || isInGroup ?? false else {
            refusals.append(
                LogEntry(
                    .warning, "forbidden: \(peer.whom) may not create form \(name ?? "")",
                    [.event(.forbidden), .form(name ?? "")] + peer.logFields))
            throw WireError(
                .forbidden,
                "\(peer.user.escapedForDisplay()) may not create forms; "
                    + "root, the daemon's user and the members of its --group may", form: name)
        }
    }

    private func requireRoomForForm(_ peer: Peer) throws(WireError) {
        let limits = configuration.limits
        guard forms.count < limits.formsMax else {
            throw .limit(
                "formsMax", max: Int64(limits.formsMax),
                "there are \(limits.formsMax) forms already; delete one first")
        }
        guard forms.count(where: { $0.owner == peer.uid }) < limits.formsPerUserMax else {
            throw .limit(
                "formsPerUserMax", max: Int64(limits.formsPerUserMax),
                "you have \(limits.formsPerUserMax) forms already; delete one first")
        }
    }

    // MARK: - Carrying out

    /// Puts a definition in force as one revision (FORM.md, Changing a form that is in use).
    private func carryOut(
        _ change: Redefinition, _ kind: RevisionRecord.Kind, by author: Author, session: String?,
        _ effects: inout [Effect]
    ) throws(WireError) -> ApplyResult {
        let form = change.form
        let plan = change.migration
        if change.isIdle { return change.result(plan, form.working) }
        let stamp = clock.now(at: now.wallMilliseconds)
        let before = form.working
        let frame = try redefine(change, by: author, stamp)
        if change.isCreation {
            nextFormKey += 1
            insert(form)
        } else {
            expectSecrets(of: change.definition)
        }
        let state = form.working
        let record = RevisionRecord(
            kind: kind, at: stamp.milliseconds, by: author, session: session, touchesAll: true)
        let row = RevisionRow(
            form: form.key, revision: state.revision, at: stamp.milliseconds, frame: frame,
            record: record)
        let listing = listing(of: form, state)
        publish(
            change.isCreation
                ? .created(form, listing: listing)
                : .redefined(form, frame: frame, listing: listing),
            of: form, .whole(removed: before.idsGone(in: state)), row, &effects)
        return change.result(plan, state)
    }

    /// Makes the working state that of a new definition and gives what subscribers are told.
    ///
    /// - Throws: where that takes more than a frame, which no client would take and every
    ///   subscriber be cut off by; the state is then as it was.
    private func redefine(
        _ change: Redefinition, by author: Author, _ stamp: HybridTimestamp
    ) throws(WireError) -> [UInt8] {
        let form = change.form
        let before = form.working
        // In place of the state before, which stays as it was.
        form.working =
            change.isCreation
            ? before.copy() : migrated(before, to: change, change.migration, form)
        form.working.revision = before.revision + 1
        form.working.definitionRevision = form.working.revision
        var changes = noteChanges(form, before, isCreation: change.isCreation, author, stamp)
        let max = configuration.limits.maxFrame
        var frame = notification(of: form, changes)
        if frame.count - Frame.headerBytes > max {
            // What was there before is the first to go, as with a long edit.
            for place in changes.indices { changes[place].was = nil }
            frame = notification(of: form, changes)
        }
        guard frame.count - Frame.headerBytes > max else { return frame }
        form.working = before
        var error = WireError(
            .invalidParams,
            "the definition and the \(changes.count) values that change with it take "
                + "\(frame.count - Frame.headerBytes) bytes together, and one message has at most "
                + "\(max) (maxFrame); change fewer fields at once, shorten options or labels, "
                + "or make several forms of it", form: form.name)
        error.limit = "maxFrame"
        error.max = Int64(max)
        throw error
    }

    /// What subscribers are told of a new definition.
    private func notification(of form: LiveForm, _ changes: [FieldChange]) -> [UInt8] {
        let state = form.working
        return Answer.frame(
            .formChanged(
                FormChanged(
                    form: form.name, revision: Revision(clamping: state.revision),
                    content: .defined(
                        FormChanged.Definition(
                            version: Int64(clamping: state.version), context: state.token,
                            definition: state.definition.json, changes: changes)))))
    }

    /// The state under the new definition: every store that can be carried, as it is.
    private func migrated(
        _ old: FormState, to change: Redefinition, _ plan: FormMigration, _ form: LiveForm
    ) -> FormState {
        let state = FormState(change.definition, applied: change.applied)
        state.version = old.version + 1
        state.context = old.context
        for (index, origin) in plan.origins.enumerated() {
            switch origin {
            case .new: break
            case .carries(let source):
                let cell = old.cells[source]
                var content = cell.content
                let from = old.definition.controls[source].id
                let to = change.definition.controls[index].id
                if case .sealed(let register) = content.store, from != to {
                    content.store = resealed(register, form, from: from, to: to)
                    content.isUnreadable = content.store == nil || content.isUnreadable
                    content.store = content.store ?? .sealed(register)
                }
                content.resolve(index, of: change.definition)
                state.cells[index] = Cell(
                    content, revision: cell.revision, at: cell.at, by: cell.by)
            case .restarts(let source):
                let cell = old.cells[source]
                state.cells[index] = Cell(
                    state.cells[index].content, revision: cell.revision, at: cell.at, by: cell.by)
            }
        }
        return state
    }

    /// A secret is sealed for its place: a renamed field's is sealed anew.
    private func resealed(
        _ register: SealedRegister, _ form: LiveForm, from: String, to: String
    ) -> FieldStore? {
        guard let secret = register.secret, let bytes = secret.bytes else {
            return .sealed(register)
        }
        guard let plain = environment.open(bytes, Self.place(of: form, from, secret.dot)),
            let sealed = environment.seal(plain, Self.place(of: form, to, secret.dot))
        else { return nil }
        return .sealed(
            SealedRegister(
                SealedRegister.Secret(dot: secret.dot, stamp: secret.stamp, bytes: sealed)))
    }

    /// Which fields read otherwise than before; each is marked as changed by this revision.
    private func noteChanges(
        _ form: LiveForm, _ before: FormState, isCreation: Bool, _ author: Author,
        _ stamp: HybridTimestamp
    ) -> [FieldChange] {
        var changes: [FieldChange] = []
        let definition = form.working.definition
        for (index, control) in definition.controls.enumerated() {
            let old = isCreation ? nil : before.definition.index(of: control.id)
            let was = old.map { before.field($0) }
            let now = form.working.field(index)
            if let was, was.reads(as: now) { continue }
            form.working.cells[index] = Cell(
                form.working.cells[index].content, revision: form.working.revision,
                at: stamp.milliseconds, by: author)
            changes.append(
                FieldChange(
                    field: control.id, state: form.working.field(index),
                    was: control.type == .secure ? nil : was?.value))
        }
        return changes
    }

    /// What those who watch the list of forms are told: the definition without values.
    func listing(of form: LiveForm, _ state: FormState) -> [UInt8] {
        Answer.frame(
            .formChanged(
                FormChanged(
                    form: form.name, revision: Revision(clamping: state.revision),
                    content: .defined(
                        FormChanged.Definition(
                            version: Int64(clamping: state.version), context: nil,
                            definition: state.definition.json, changes: [])))))
    }
}

extension FormState {
    /// Fields that another state does not have.
    fileprivate func idsGone(in other: FormState) -> [String] {
        definition.controls.map(\.id).filter { other.definition.index(of: $0) == nil }
    }
}

extension FieldState {
    /// Whether a reader sees the same, whoever made it.
    fileprivate func reads(as other: FieldState) -> Bool {
        value == other.value && isSet == other.isSet && isSecretSet == other.isSecretSet
            && isMixed == other.isMixed && isInvalid == other.isInvalid
            && isMissing == other.isMissing && conflict.count == other.conflict.count
    }
}

extension WireError {
    /// A definition that was refused, with all that is wrong with it.
    init(
        issues: FormIssues, _ kind: ErrorKind, form: String?, field: String?, at member: String
    ) {
        let first = issues.issues.first
        let more = issues.issues.count - 1
        let line = first.map { "\($0.pathText.isEmpty ? "" : $0.pathText + ": ")\($0.message)" }
        self.init(
            kind,
            (line ?? "the definition was refused").escapedForDisplay()
                + (more > 0 ? "; and \(more) more" : ""),
            form: form, field: field,
            path: first.map { $0.path.isEmpty ? member : "\(member).\($0.pathText)" },
            expected: first?.expected)
        problems = issues.issues.prefix(100).map { issue in
            WireProblem(
                path: issue.pathText,
                message: (issue.message
                    + (issue.expected.isEmpty ? "" : "; expected " + issue.expected))
                    .escapedForDisplay())
        }
    }
}
