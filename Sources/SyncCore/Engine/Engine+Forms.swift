// The methods of `form`. Engine+Redefinition.swift replaces a definition.

extension Engine {
    // MARK: - Reading

    func formGet(_ name: String, _ call: PendingCall) throws(WireError) {
        let form = try readableForm(name, call.peer)
        let state = form.committed
        var link = sharedState(of: form)
        link?.underWay = underWayElsewhere(form)
        let result = FormResult(
            form: form.name, version: Int64(clamping: state.version), log: form.log,
            revision: Revision(clamping: state.revision), definition: state.definition.json,
            link: link)
        answer(call) { result.encode(into: &$0) }
    }

    // MARK: - Applying

    func formApply(_ params: FormApply, _ call: PendingCall) throws(WireError) {
        workspace.patternMeter.begin(configuration.limits.patternStepsMax)
        defer { workspace.patternMeter.end() }
        let change = try plan(params, by: call.connection.peer)
        if params.isDryRun, params.guarded == .refused {
            let author = call.connection.author(of: change.form, replica: replica)
            let guards = try guardsMet(by: change, author, params.message)
            if !guards.isEmpty { throw approvalNeeded(guards, change.form) }
        }
        guard !params.isDryRun else {
            if !change.isIdle {
                let before = change.form.working
                let author = call.connection.author(of: change.form, replica: replica)
                _ = try redefine(
                    change, change.migration, by: author,
                    params.message, clocks.hybrid.last)
                change.form.working = before
            }
            let result = change.result
            answer(call) { result.encode(into: &$0) }
            return
        }
        let peer = call.connection.peer
        let verdict = try judge(
            change, params.guarded, params.message, .definition(params.definition), call)
        if case .proposed = verdict { return }
        let result = try carryOut(
            change, .apply, by: call.connection.author(of: change.form, replica: replica),
            session: call.connection.session, message: params.message, approval: verdict.approval
        ) { Self.applied($0, "by \(peer.whom)", peer.logFields) }
        endProposals(verdict, of: change.form)
        answerEdit(call, of: change.form) { result.encode(into: &$0) }
    }

    /// Applies a form file of the daemon itself. To a form that hosts share it is applied only if
    /// it is another one than was applied last: others may have a newer one.
    func apply(_ definition: JSON, file: String) {
        let shared = definition["form"]?.stringValue.flatMap { isShared($0) ? $0 : nil }
        if let shared, link.formFiles.has(definition, of: shared) {
            log(.info, "form file \(file) is as it was applied last", [.form(shared)])
            return
        }
        let peer = Peer(pid: 0, uid: configuration.daemonUID, gid: 0, user: "pickersyncd")
        do {
            let change = try plan(FormApply(definition: definition), by: peer)
            let author = Author(
                user: peer.user, uid: peer.uid, client: configuration.serverName, tty: nil,
                connection: 0, replica: replica, host: change.form.link?.host)
            // A user who may write the daemon's own files needs no approval. It is a record.
            let guards = try guardsMet(by: change, author, nil)
            if !guards.isEmpty {
                let ids = guards.map { change.form.working.definition.controls[$0].id }
                log(
                    .warning,
                    "form file \(file) changes \(change.form.name)/\(ids.joined(separator: ", ")) "
                        + "without approval",
                    [.event(.brokenGlass), .form(change.form.name)] + ids.map { .field($0) })
            }
            _ = try carryOut(
                change, .apply, by: author, session: nil, message: nil,
                approval: guards.isEmpty ? nil : .brokenGlass
            ) { Self.applied($0, "from \(file)") }
            if let shared {
                let mark = link.formFiles.note(
                    definition, of: shared, in: link.gathering.number)
                link.gathering.chores.append(mark)
            }
        } catch {
            log(.error, "form file \(file) refused: \(error.message)")
            for problem in error.problems {
                log(.error, "\(file): \(problem.path): \(problem.message)")
            }
        }
    }

    private static func applied(
        _ result: ApplyResult, _ how: String, _ whom: [LogEntry.Field] = []
    ) -> LogEntry {
        LogEntry(
            .info,
            "form \(result.form) applied \(how): version \(result.version), "
                + "revision \(result.revision)",
            [
                .event(.applied), .form(result.form), LogEntry.Field(.version, "\(result.version)"),
                LogEntry.Field(.revision, "\(result.revision)"),
            ] + whom)
    }

    func formSetOptions(_ params: FormSetOptions, _ call: PendingCall) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        workspace.patternMeter.begin(configuration.limits.patternStepsMax)
        defer { workspace.patternMeter.end() }
        let change = try plan(
            params.options, of: params.field, form, by: call.connection.peer)
        let verdict = try judge(
            change, params.guarded, params.message,
            .options(field: params.field, params.options), call)
        if case .proposed = verdict { return }
        let result = try carryOut(
            change, .options, by: call.connection.author(of: form, replica: replica),
            session: call.connection.session, message: params.message, approval: verdict.approval
        ) { result in
            LogEntry(
                .info,
                "options of \(form.name)/\(params.field) set by \(call.connection.peer.whom): "
                    + "revision \(result.revision)",
                [
                    .event(.options), .form(form.name), .field(params.field),
                    LogEntry.Field(.revision, "\(result.revision)"),
                ] + call.connection.peer.logFields)
        }
        endProposals(verdict, of: form)
        answerEdit(call, of: form) { result.encode(into: &$0) }
    }

    /// The definition with other options of a picker.
    func plan(
        _ options: [JSON], of field: String, _ form: LiveForm, by peer: Peer
    ) throws(WireError) -> Redefinition {
        let state = form.working
        try require(.admin, form, state, nil, peer)
        let control = try index(of: field, form, state)
        var definition: FormDefinition
        do {
            definition = try state.definition.settingOptions(
                of: control, to: .array(options), applied: state.applied,
                limits: FormLimits(configuration.limits), compile: workspace.compile)
        } catch {
            try requirePatternSteps(form.name)
            throw WireError(
                issues: error, .invalidValue, form: form.name, field: field, at: "options")
        }
        // The options are within the limits. The rest is as every other host makes it, whatever
        // its limits are.
        if let shared = state.shared,
            let file = try? FormDefinition.parse(
                state.applied, limits: .accepted, reusing: state.definition,
                compile: workspace.compile)
        {
            definition = self.definition(
                of: file, over: state, shared, options: (control, .array(options)),
                limits: .accepted)
        }
        return Redefinition(
            form: form, definition: definition, applied: state.applied, isCreation: false,
            isIdle: definition.json == state.definition.json,
            options: (state.definition.controls[control].id, .array(options)))
    }

    func formDelete(_ params: FormDelete, _ call: PendingCall) throws(WireError) {
        let form = try editableForm(params.form, call.connection)
        try require(.admin, form, form.working, nil, call.connection.peer)
        try requireOwnEdits(of: form)
        // Otherwise a form that is created again would have neither guards nor guarded values.
        let guards = form.working.definition.guards
        if !guards.isEmpty {
            guard params.breaksGlass else {
                throw approvalNeeded(
                    guards, form, "propose a definition without approval, then delete the form")
            }
            try requireBreakGlass(guards, form, params.message, call.connection.peer)
        }
        try audit(
            form.name,
            LogEntry(
                .notice, "form \(form.name) deleted by \(call.connection.peer.whom)",
                [.event(.deleted), .form(form.name)] + call.connection.peer.logFields))
        try rememberDeleted(form)
        remove(form, params.message)
        answerEdit(call, of: form) { EmptyResult().encode(into: &$0) }
    }

    /// Removes a form with the gathering batch.
    func remove(_ form: LiveForm, _ message: String?) {
        let wasThere = form.existence == .there
        form.existence = .deleting
        form.working.revision += 1
        let listing = OpenBatch.Listing(
            frame: form.changed(.deleted, at: form.working.revision, message),
            readers: readers(of: form, form.working), revision: form.working.revision)
        append(listing.frame, touched: nil, to: form)
        if wasThere || waitsForCommits {
            publish(.deleted(form, listing: listing), of: form, .deletion, nil)
        }
    }

    // MARK: - Planning

    /// A definition that will replace another or create a form.
    struct Redefinition {
        let form: LiveForm
        let definition: FormDefinition
        let applied: JSON
        let isCreation: Bool
        /// Whether applying it changes nothing.
        let isIdle: Bool
        /// The run-time options that it sets; `nil` if a definition is applied.
        var options: (field: String, value: JSON)?

        var migration: FormMigration {
            if isCreation {
                var plan = FormMigration()
                plan.added = definition.controls.map(\.id)
                plan.origins = definition.controls.map { _ in .new }
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

    func plan(_ params: FormApply, by peer: Peer) throws(WireError) -> Redefinition {
        let limits = FormLimits(configuration.limits)
        let name = params.definition["form"]?.stringValue
        try requirePlanner(of: name, by: peer)
        let previous = name.flatMap(form(named:))?.working.definition
        let file: FormDefinition
        do {
            file = try FormDefinition.parse(
                params.definition, limits: limits, reusing: previous, compile: workspace.compile)
        } catch {
            try requirePatternSteps(nil)
            throw WireError(
                issues: error, .invalidParams, form: name, field: nil, at: "definition")
        }
        if let form = form(named: file.name), form.isEditable {
            if form.link != nil { try requireNames(in: file) }
            let state = form.working
            try requireVersion(params.ifVersion, Int64(clamping: state.version), file.name)
            let definition =
                state.shared.map { self.definition(of: file, over: state, $0, limits: limits) }
                ?? FormDefinition.keepingRuntimeOptions(
                    file: file, applied: state.applied, inForce: state.definition,
                    limits: limits, compile: workspace.compile)
            return Redefinition(
                form: form, definition: definition, applied: file.json, isCreation: false,
                isIdle: file.json == state.applied && state.otherDefinitions.isEmpty)
        }
        try requireFormLimits(peer)
        try requireVersion(params.ifVersion, 0, file.name)
        let form = LiveForm(
            key: registry.nextKey, name: file.name, owner: peer.uid, log: newLogName(),
            state: FormState(file, applied: file.json), existence: .creating)
        form.link = configuration.link.flatMap {
            $0.forms.matches(form.name) ? FormLink($0) : nil
        }
        if let deleted = link.deletedForm(form.name) {
            form.working.context = deleted.context
            form.working.shared = SharedState(
                lives: deleted.isApart ? FormLives(present: environment.random()) : deleted.lives,
                hidden: deleted.fields, storeIDs: file.controls.map(\.id), of: file.controls)
        }
        if form.link != nil { try requireNames(in: file) }
        return Redefinition(
            form: form, definition: file, applied: file.json, isCreation: true, isIdle: false)
    }

    /// Checks permission before the definition is examined, because examining it takes time.
    private func requirePlanner(of name: String?, by peer: Peer) throws(WireError) {
        if let name, let form = form(named: name), form.isEditable {
            try require(.admin, form, form.working, nil, peer)
        } else {
            try requireCreator(peer, name)
        }
    }

    /// Rejects a request if matching its values against patterns took too many steps.
    func requirePatternSteps(_ form: String?) throws(WireError) {
        guard workspace.patternMeter.hasRunOut || workspace.patternMeter.left <= 0 else { return }
        let max = configuration.limits.patternStepsMax
        throw .limit(
            "patternStepsMax", max: max,
            "the patterns take more than \(max) steps on these values; write simpler patterns, "
                + "or set fewer values at once")
    }

    private func requireVersion(
        _ wanted: Int64?, _ version: Int64, _ name: String
    ) throws(WireError) {
        guard let wanted, wanted != version else { return }
        throw WireError(
            .conflict,
            "form \(name) is at version \(version), not \(wanted); read it and apply again",
            form: name, expected: "ifVersion \(version)")
    }

    /// Root, the daemon's own uid and the members of its group may create forms.
    private func requireCreator(_ peer: Peer, _ name: String?) throws(WireError) {
        let isInGroup = configuration.creatorsGID.map { peer.gid == $0 || peer.groups.contains($0) }
        guard peer.uid == 0 || peer.uid == configuration.daemonUID || isInGroup ?? false else {
            throw forbidden(
                peer, name.map { "create form \($0)" } ?? "create forms", nil, name, nil,
                because: "root, the daemon's user and the members of its --group may")
        }
    }

    private func requireFormLimits(_ peer: Peer) throws(WireError) {
        let limits = configuration.limits
        // A form that is being deleted no longer counts.
        let present = forms.filter { $0.existence != .deleting }
        guard present.count < limits.formsMax else {
            throw .limit(
                "formsMax", max: limits.formsMax,
                "there are \(limits.formsMax) forms already; delete one first")
        }
        let user = environment.accountUID(peer.uid)
        let owned = present.count { environment.accountUID($0.owner) == user }
        guard owned < limits.formsPerUserMax else {
            throw .limit(
                "formsPerUserMax", max: limits.formsPerUserMax,
                "you have \(limits.formsPerUserMax) forms already; delete one first")
        }
    }
}

extension WireError {
    /// A rejected definition with all its problems.
    init(issues: FormIssues, _ kind: ErrorKind, form: String?, field: String?, at member: String) {
        let first = issues.issues.first
        let more = issues.issues.count - 1
        let line = first.map { "\($0.pathText.isEmpty ? "" : $0.pathText + ": ")\($0.message)" }
        self.init(
            kind,
            (line ?? "the definition was refused").escapedForDisplay()
                + (more > 0 ? "; and \(more) more" : ""), form: form, field: field,
            path: first.map { $0.path.isEmpty ? member : "\(member).\($0.pathText)" },
            expected: first?.expected)
        problems = issues.issues.prefix(100).map { issue in
            WireProblem(
                path: issue.pathText,
                message: Wording.refusal(issue.message, expected: issue.expected)
                    .escapedForDisplay())
        }
    }
}
