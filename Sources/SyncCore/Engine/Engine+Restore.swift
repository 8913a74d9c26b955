// Creates the engine's state from the store's rows, and reports it.

extension Engine {
    /// Creates the forms of an image.
    func restore(_ image: StoreImage, newLogs: Bool) throws(EngineStartError) {
        var fields: [FormKey: [FieldRow]] = [:]
        for row in image.fields { fields[row.form, default: []].append(row) }
        let ongoing = Dictionary(grouping: image.ongoing, by: \.form)
        for row in ongoing[0] ?? [] where row.name == Proposal.numberName {
            registry.noteProposalNumber(row)
        }
        link.cursor = ongoing[0]?.first { $0.name == OngoingRow.cursorName }?.state
        do throws(CausalityDecodeError) {
            link.shared = try SharedPatterns(in: ongoing[0] ?? [])
            link.deletedForms = try DeletedForms(
                ongoing[0] ?? [], fleet: configuration.link?.fleet ?? "")
            link.partingForms = try PartingForms(ongoing[0] ?? [])
            link.formFiles = try FormFileMarks(ongoing[0] ?? [])
        } catch { throw EngineStartError("a form that is gone cannot be read: \(error)") }
        for row in image.forms.sorted(by: { $0.key < $1.key }) {
            var rows = ongoing[row.key] ?? []
            let middle = rows.partition(by: SharedOutbox.has)
            let form = try restored(row, fields[row.key] ?? [], Array(rows[..<middle]))
            form.isUndoStored = true
            insert(form)
            connectLink(of: form)
            restoreOutbox(of: form, Array(rows[middle...]))
            restoreHolders(of: form)
            armLeases(of: form)
            armProposals(of: form)
            if newLogs {
                form.log = newLogName()
                link.gathering.withChanges(form) { $0.isWhole = true }
            }
        }
    }

    private func restored(
        _ row: FormRow, _ fields: [FieldRow], _ ongoing: [OngoingRow]
    ) throws(EngineStartError) -> LiveForm {
        let name = row.name.escapedForDisplay()
        let state: FormState
        do {
            let definition = try FormDefinition.parse(
                JSON(stored: row.definition), limits: .accepted, compile: workspace.compile)
            state = FormState(definition, applied: try JSON(stored: row.applied))
            state.context = try CausalContext(decoding: row.context)
        } catch { throw EngineStartError("form \(name) cannot be read: \(error)") }
        state.version = row.version
        state.revision = row.revision
        state.definitionRevision = row.revision
        let form = LiveForm(
            key: row.key, name: row.name, owner: row.owner, log: row.log, state: state,
            existence: .there)
        var hidden: [CausalForm.Field] = []
        for field in fields {
            let key = CausalForm.Key(rowName: field.field)
            let index = state.definition.index(of: field.field)
            if key == nil, index == nil { continue }
            let row: CellRow
            do { row = try CellRow(decoding: field.state) } catch {
                throw EngineStartError(
                    "field \(name)/\(field.field.escapedForDisplay()) cannot be read: \(error)")
            }
            if let key, let store = row.store { hidden[key] = store }
            guard let index else { continue }
            let content = row.content(index, of: state.definition)
            state.cells[index] = Cell(content, revision: row.revision, at: row.at, by: row.by)
        }
        if let kept = SharedDefinition(in: hidden) {
            state.shared = SharedState(
                lives: kept.lives, hidden: hidden, storeIDs: kept.storeIDs(of: state.definition),
                of: state.definition.controls)
        }
        for index in state.cells.indices { checkSecret(index, form, state) }
        state.ongoing = Ongoing(ongoing)
        try restoreRuns(of: form, state)
        try restoreProposals(of: form, state)
        form.committed = state.copy()
        return form
    }

    /// A secret whose key was lost is shown as unset, with a flag.
    private func checkSecret(_ index: Int, _ form: LiveForm, _ state: FormState) {
        let cell = state.cells[index]
        guard case .sealed(let register) = cell.store, let secret = register.secret,
            let bytes = secret.bytes
        else { return }
        var content = cell.content
        let place = Self.place(of: form, state, index, secret.dot)
        content.isUnreadable = environment.open(bytes, place) == nil
        if content.isUnreadable {
            let id = state.definition.controls[index].id
            log(
                .warning,
                "the key that sealed \(form.name)/\(id) is not on this host: it reads as unset "
                    + "until it is set again",
                [.event(.storeFailed), .form(form.name), .field(id)])
        }
        content.resolve(index, of: state.definition)
        state.cells[index] = Cell(content, revision: cell.revision, at: cell.at, by: cell.by)
    }

    /// Applies new limits and options. Existing data is kept.
    func configure(_ configuration: EngineConfiguration) {
        self.configuration = configuration
        for form in forms where form.isEditable { connectLink(of: form) }
        readNewlyShared()
        // No batch may follow that would tell of a form that is shared from now on.
        for form in forms { tellFleet(of: form) }
        if let fleet { makeWaiting(fleet) }
        followFleetAlone()
        decoder.bounds = RequestBounds(configuration.limits)
        for form in forms { form.runs?.desk.reclaimMilliseconds = reclaimMilliseconds }
    }

    // MARK: - Status

    /// One line about the state, for systemd's STATUS=.
    public var statusLine: String {
        let store =
            switch link.state {
            case .idle, .committing: ""
            case .rebuilding: "; the store is being rebuilt"
            case .broken: "; the store cannot be written: \(link.trouble ?? "")"
            }
        let readOnly = readableForms.count { $0.failureReport != nil }
        return "\(readableForms.count) forms, \(connections.count) connections, "
            + "\(scheduler.subscriptionCount) subscriptions\(store)"
            + (readOnly > 0 ? "; \(readOnly) forms accept no edits, see the log" : "")
    }

    func serverStatus(_ call: PendingCall) {
        // The shell reads files for this answer.
        scheduler.spend(Account.contendedUnits, call.connection.account)
        let status = status(for: call.connection.peer)
        answer(call) { $0.value(.object(status)) }
    }

    /// The forms that `form.list` shows to an administrator.
    private var readableForms: [LiveForm] { forms.filter(\.isReadable) }

    private func status(for peer: Peer) -> JSONObject {
        let uptime = now.monotonicNanoseconds &- clocks.startedAt.monotonicNanoseconds
        let started = Timestamp(milliseconds: clocks.startedAt.wallMilliseconds)
        var status = JSONObject([
            ("server", .string(configuration.serverName)), ("protocol", 1),
            ("replica", .string(replica.description)),
            ("startedAt", .string(started.description)),
            ("uptimeMs", .integer(Int64(clamping: uptime / 1_000_000))),
            ("durability", .string(configuration.durability.rawValue)),
            ("writable", .bool(link.isHealthy)),
        ])
        if case .broken = link.state, let reason = link.trouble {
            status["trouble"] = .string(reason.escapedForDisplay())
        }
        let forms = readableForms
        status["forms"] = .object(
            JSONObject([
                ("count", .integer(forms.count)),
                ("readOnly", .integer(forms.count { $0.failureReport != nil })),
                ("fields", .integer(forms.reduce(0) { $0 + $1.committed.cells.count })),
            ]))
        status["connections"] = .object(
            JSONObject([
                ("count", .integer(connections.count)),
                ("users", .integer(scheduler.usersConnected)),
                ("subscriptions", .integer(scheduler.subscriptionCount)),
            ]))
        status["counters"] = .object(
            JSONObject([
                ("connections", .integer(Int64(clamping: counters.connections))),
                ("requests", .integer(Int64(clamping: counters.requests))),
                ("transactions", .integer(Int64(clamping: counters.transactions))),
                ("refused", .integer(Int64(clamping: counters.refused))),
                ("coalesced", .integer(Int64(clamping: counters.coalesced))),
                ("commits", .integer(Int64(clamping: counters.commits))),
                ("commitFailures", .integer(Int64(clamping: counters.commitFailures))),
                ("commitUs", .integer(Int64(clamping: counters.commitNanoseconds / 1_000))),
            ]))
        if let link = fleetStatus(for: peer) { status["link"] = link }
        for (name, value) in environment.shellStatus().members { status[name] = value }
        status["limits"] = .object(
            JSONObject(
                Limits.all.map { ($0.name, .integer(configuration.limits[keyPath: $0.path])) }))
        return status
    }
}
