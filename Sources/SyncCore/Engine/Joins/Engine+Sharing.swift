// What the engine tells the other hosts of shared forms.

extension Engine {
    // MARK: - For the link

    /// The names of the shared forms, in order of creation.
    public var sharedForms: [String] {
        forms.filter { $0.link != nil && $0.isReadable }.map(\.name)
    }

    /// Removes and returns what has become durable in shared forms since the last call: the changes
    /// of each form in order, or the whole form, after a start for example.
    ///
    /// Nothing that is not durable is in it, whatever the durability is.
    public func takeShared() -> [SharedItem] {
        forms.filter(\.isReadable).flatMap(takeShared)
    }

    /// The same of one form.
    func takeShared(of form: LiveForm) -> [SharedItem] {
        form.link?.take { durable(form).flatMap(form.whole(of:)) } ?? []
    }

    /// The durable state of a shared form; `nil` while the form in memory is ahead of the store.
    public func whole(of name: String) -> WholeForm? {
        sharedForm(name).flatMap { form in durable(form).flatMap(form.whole(of:)) }
    }

    /// The writes of a shared form that readers see.
    public func sharedContext(of name: String) -> CausalContext? {
        sharedForm(name)?.committed.context
    }

    /// A digest of what readers see of a shared form, the same on hosts that know the same writes.
    /// Secrets count by their dots.
    public func digest(of name: String) -> UInt64? { sharedForm(name)?.committed.digest }

    /// How far the log of the other hosts was read, as it is in the store: see `join`.
    public var linkCursor: [UInt8]? { link.cursor }

    /// A form that is shared and can be read.
    func sharedForm(_ name: String) -> LiveForm? {
        form(named: name).flatMap { $0.link != nil && $0.isReadable ? $0 : nil }
    }

    private func durable(_ form: LiveForm) -> FormState? {
        if configuration.durability == .commit { return form.committed }
        return link.isCommitting || link.gathering.changes.contains { $0.form === form }
            ? nil : form.committed
    }

    // MARK: - From transactions

    /// Adds the change of a transaction to what other hosts will be told.
    func gather(
        _ change: SharedChange, _ record: RevisionRecord?, of form: LiveForm, _ message: String?
    ) {
        guard let link = form.link, let shared = form.working.shared else { return }
        link.gather(
            FormDelta(
                form: form.name, life: shared.life, replica: change.replica,
                counters: change.counters, stamp: change.stamp, context: change.context,
                stores: change.stores, record: record, message: message))
    }

    /// The rows of these stores that no control shows must be written, or removed.
    func gather(_ hidden: Set<CausalForm.Key>, of form: LiveForm) {
        link.gathering.withChanges(form) { changes in
            let shared = changes.shared ?? SharedBatch()
            shared.hidden.formUnion(hidden)
            changes.shared = shared
        }
    }

    /// Shares a form with other hosts, or not, as the configuration says.
    func connectLink(of form: LiveForm) {
        guard let shared = configuration.link, shared.forms.matches(form.name) else {
            if form.link != nil {
                form.link = nil
                notifyPresence(of: form)
            }
            return
        }
        if form.link?.host != shared.host { form.link = FormLink(host: shared.host) }
        guard form.working.shared == nil else { return }
        guard shared.mode == .both else {
            log(
                .warning,
                "form \(form.name) is not shared: it was made here, and this host follows",
                [.form(form.name)])
            form.link = nil
            return
        }
        let author = Author(
            user: "pickersyncd", uid: configuration.daemonUID, client: configuration.serverName,
            connection: 0, replica: replica, host: shared.host)
        do throws(WireError) {
            try requireNames(in: form.working.definition)
            try beginSharing(form.working, of: form, by: author, clocks.newStamp())
        } catch {
            log(
                .error, "form \(form.name) is not shared: \(error.message)", [.form(form.name)])
            form.link = nil
            return
        }
        link.gathering.withChanges(form) { $0.isWhole = true }
        if configuration.durability != .commit { form.committed = form.working.copy() }
    }

    /// Gives a form that was not shared before the register of its definition.
    func beginSharing(
        _ state: FormState, of form: LiveForm, by author: Author, _ stamp: HybridTimestamp
    ) throws(WireError) {
        let dot = try state.takeDot(of: author.replica)
        let ids = state.definition.controls.map(\.id)
        let life = environment.random()
        var hidden: [CausalForm.Field] = []
        hidden.write(
            SharedDefinition(
                life: life, file: state.applied, controls: state.definition.controls,
                storeIDs: ids, owner: SharedOwner(author, of: form)
            ).json, SharedDefinition.key, dot: dot, stamp: stamp, by: author)
        for control in state.definition.controls {
            guard let options = state.definition.runtimeOptions(of: control.id, over: state.applied)
            else { continue }
            hidden.write(
                options, SharedDefinition.optionsKey(control.id),
                dot: try state.takeDot(of: author.replica), stamp: stamp, by: author)
        }
        state.shared = SharedState(life: life, hidden: hidden, storeIDs: ids)
    }
}

extension LiveForm {
    /// A state of a shared form for other hosts; `nil` if it is not shared.
    func whole(of state: FormState) -> WholeForm? {
        guard let shared = state.shared else { return nil }
        let controls = state.controlsByStore
        let stores = state.stores.sorted { $0.key < $1.key }.map { key, store in
            let cell = controls[key].map { state.cells[$0] }
            return WholeForm.Store(id: key.id, store: store, at: cell?.at ?? 0, by: cell?.by)
        }
        return WholeForm(
            form: name, life: shared.life, context: state.context, stores: stores)
    }
}

extension FormState {
    /// A digest of all stores and the context.
    var digest: UInt64 {
        let fields = stores.sorted { $0.key < $1.key }.map { key, store in
            CausalForm.Field(id: key.id, store: store.withoutSecretBytes)
        }
        var hash = KeyHash(KeyHash.Secret(first: 0, second: 0))
        let bytes = CausalityWriter.versioned { writer in
            context.write(to: &writer)
            writer.list(fields)
        }
        for byte in bytes { hash.add(byte) }
        return hash.finish()
    }
}

extension FieldStore {
    /// The store with only the dot of a secret.
    fileprivate var withoutSecretBytes: FieldStore {
        guard case .sealed(let register) = self, let secret = register.secret else { return self }
        return .sealed(
            SealedRegister(
                SealedRegister.Secret(
                    dot: secret.dot, stamp: secret.stamp, bytes: secret.bytes.map { _ in [] })))
    }
}

extension SharedState {
    /// The rows of stores that no control shows: those with these keys, or all, and the keys that
    /// are gone.
    func steps(
        _ changed: Set<CausalForm.Key>, isWhole: Bool, of form: LiveForm
    ) -> [StoreOperation] {
        let written = hidden.filter { isWhole || changed.contains($0.key) }
        let gone = changed.filter { hidden[$0].isEmpty }.sorted()
        return gone.map { .removeField(form: form.key, field: $0.rowName) }
            + written.map { .putField(form.row(hidden: $0)) }
    }
}

extension OngoingRow {
    /// The name of the row with the cursor, which belongs to no form.
    static let cursorName = OngoingName(kind: "link", id: "cursor")

    /// How far the log of the other hosts was read.
    static func cursor(_ bytes: [UInt8]) -> OngoingRow {
        OngoingRow(form: 0, name: cursorName, state: bytes)
    }
}
