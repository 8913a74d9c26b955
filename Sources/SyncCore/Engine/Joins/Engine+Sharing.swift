// What the engine tells the other hosts of shared forms.

extension Engine {
    // MARK: - For the link

    /// The names of the shared forms, in order of creation.
    public var sharedForms: [String] {
        forms.filter { $0.link != nil && $0.isReadable }.map(\.name)
    }

    /// Removes and returns what has become durable in shared forms since the last call: the changes
    /// of each form in order, or the whole form, after it was made for example.
    ///
    /// Nothing that is not durable is in it, whatever the durability is.
    public func takeShared() throws(CausalityDecodeError) -> [SharedItem] {
        var items: [SharedItem] = []
        for form in forms where form.isReadable {
            for change in takeChanges(of: form) { items.append(try change.item) }
        }
        return items + link.deletedForms.takeUntold().map(SharedItem.whole)
    }

    /// The same of one form.
    func takeChanges(of form: LiveForm) -> [OutgoingChange] {
        form.link?.take { durable(form).flatMap(form.whole(of:)) } ?? []
    }

    /// The durable state of a shared form, or of one that was deleted; `nil` while the form in
    /// memory is ahead of the store.
    public func whole(of name: String) -> WholeForm? {
        guard let form = sharedForm(name) else { return link.deletedForms.told(name) }
        return durable(form).flatMap(form.whole(of:))
    }

    /// The writes that readers see of a shared form, or that are known of one that was deleted.
    public func sharedContext(of name: String) -> CausalContext? {
        sharedForm(name)?.committed.context ?? link.deletedForms.told(name)?.context
    }

    /// A digest of what readers see of a shared form, or of what is known of one that was deleted:
    /// the same on hosts that know the same writes. Secrets count by their dots.
    public func digest(of name: String) -> UInt64? {
        if let form = sharedForm(name) { return form.committed.digest }
        return link.deletedForms.told(name).map { FormState.digest($0.context, $0.fields) }
    }

    /// How far the log of the other hosts was read, as it is in the store: see `join`.
    public var linkCursor: [UInt8]? { link.cursor }

    /// A form that is shared and can be read.
    func sharedForm(_ name: String) -> LiveForm? {
        form(named: name).flatMap { $0.link != nil && $0.isReadable ? $0 : nil }
    }

    /// A form as the store has it; `nil` while it is not known what that is.
    func durable(_ form: LiveForm) -> FormState? {
        if configuration.durability == .commit { return form.committed }
        return link.isCommitting || link.gathering.changes.contains { $0.form === form }
            ? nil : form.committed
    }

    // MARK: - From transactions

    /// Adds the change of a transaction to what other hosts will be told.
    func gather(
        _ change: SharedChange, _ record: RevisionRecord?, of form: LiveForm, _ message: String?
    ) {
        guard let hosts = form.link, let shared = form.working.shared else { return }
        link.gathering.isForFleet = true
        hosts.gather(
            FormDelta(
                form: form.name, life: shared.lives.present, replica: change.replica,
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
        guard let shared = configuration.link, shared.forms.matches(form.name),
            form.working.ongoing[.unlinked] == nil
        else {
            if form.link != nil {
                part(with: form)
                form.link = nil
                notifyPresence(of: form)
            }
            return
        }
        if form.link?.host != shared.host {
            form.link = FormLink(shared, apartThrough: link.newestBatch(of: form))
        }
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

    /// A form is not shared any more. What was answered before and the link does not have goes to
    /// the others all the same, in a last whole.
    private func part(with form: LiveForm) {
        guard let fleet, let link = form.link, form.isEditable, !follows(form),
            link.hasUntold || self.link.isCommitting || fleet.machine.unsent(of: form.name) > 0,
            let whole = form.whole(of: form.working)
        else { return }
        part(with: whole, before: form)
    }

    /// Keeps the last whole of a form until the fleet has it.
    private func keepParting(_ whole: WholeForm, for fleet: String) {
        link.gathering.chores.append(link.partingForms.keep(whole, for: fleet))
    }

    /// The same of what a form was until now, or of the deleted one before it. It is told once it
    /// is durable.
    func part(with whole: WholeForm, before form: LiveForm) {
        guard let fleet = configuration.link?.fleet else { return }
        keepParting(whole, for: fleet)
        link.gathering.withChanges(form) { changes in
            let shared = changes.shared ?? SharedBatch()
            shared.parting = whole
            changes.shared = shared
        }
    }

    /// Forms that were shared when the daemon stopped have left: what it did not send is not known.
    /// What is done while there is no link concerns nobody else.
    func partWithFormerForms() {
        guard let former = link.shared else { return }
        let patterns = former.forms.map { Glob($0) }
        for form in forms
        where form.link == nil && patterns.matches(form.name)
            && form.working.ongoing[.unlinked] == nil
        {
            if let whole = form.whole(of: form.working) { keepParting(whole, for: former.fleet) }
        }
        guard configuration.link?.fleet != former.fleet else { return }
        // The same of deletions that the fleet may not have: no other fleet is told of them.
        for name in link.deletedForms.names where !isShared(name) {
            guard let whole = link.deletedForms.told(name) else { continue }
            keepParting(whole, for: former.fleet)
            let apart = WholeForm(
                form: name, lives: .none, context: whole.context, stores: whole.stores)
            link.gathering.deletedForms[name] = apart
            // Nobody may be told before that is durable.
            link.deletedForms.keep([name: apart])
        }
        guard configuration.link == nil else { return }
        link.shared = nil
        link.gathering.chores.append(.removeOngoing(form: 0, name: former.row.name))
    }

    /// Gives a form that was not shared before the register of its definition.
    func beginSharing(
        _ state: FormState, of form: LiveForm, by author: Author, _ stamp: HybridTimestamp
    ) throws(WireError) {
        let dot = try state.takeDot(of: author.replica)
        let ids = state.definition.controls.map(\.id)
        let lives = FormLives(present: environment.random())
        var hidden: [CausalForm.Field] = []
        hidden.write(
            SharedDefinition(
                lives: lives, file: state.applied, controls: state.definition.controls,
                storeIDs: ids, owner: SharedOwner(author, of: form)
            ).json, SharedDefinition.key, dot: dot, stamp: stamp, by: author)
        for control in state.definition.controls {
            guard let options = state.definition.runtimeOptions(of: control.id, over: state.applied)
            else { continue }
            hidden.write(
                options, SharedDefinition.optionsKey(control.id),
                dot: try state.takeDot(of: author.replica), stamp: stamp, by: author)
        }
        state.shared = SharedState(
            lives: lives, hidden: hidden, storeIDs: ids, of: state.definition.controls)
    }
}

extension LiveForm {
    /// Which form of its name it is for edits; `nil` if it was never shared.
    package var lives: FormLives? { working.shared?.lives }

    /// A state of a shared form for other hosts; `nil` if it is not shared.
    func whole(of state: FormState) -> WholeForm? {
        guard let shared = state.shared else { return nil }
        let controls = state.controlsByStore
        let stores = state.stores.sorted { $0.key < $1.key }.map { key, store in
            let cell = controls[key].map { state.cells[$0] }
            return WholeForm.Store(id: key.id, store: store, at: cell?.at ?? 0, by: cell?.by)
        }
        return WholeForm(
            form: name, lives: shared.lives, context: state.context, stores: stores)
    }
}

extension FormState {
    /// A digest of all stores and the context.
    var digest: UInt64 {
        Self.digest(
            context,
            stores.sorted { $0.key < $1.key }.map { CausalForm.Field(id: $0.id, store: $1) })
    }

    /// The digest of these stores, which are in ascending order.
    static func digest(_ context: CausalContext, _ stores: [CausalForm.Field]) -> UInt64 {
        let fields = stores.map {
            CausalForm.Field(id: $0.key.id, store: $0.store.replacingSecret { _, _ in [] })
        }
        return KeyHash.unkeyed(
            CausalityWriter.versioned { writer in
                context.write(to: &writer)
                writer.list(fields)
            })
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
