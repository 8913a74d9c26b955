// What stays of shared forms that were deleted: the writes that are known of the name, so that old
// messages have no effect and a form that is made again continues above them.

/// The deleted forms of a fleet, by name.
///
///     (a form) ─delete, or a join that empties its definition─▶ in a batch ─committed─▶ durable
///     durable ─apply, or a join that brings a definition─▶ in a batch ─committed─▶ (a form)
///
/// Each is a whole without a definition, in a row of the store that belongs to no form. What was
/// written elsewhere at the same time as the deletion waits in it, as in an attic.
struct DeletedForms {
    private static let rowKind = "deleted"
    private static let inLogKind = "deletedInLog"
    /// More that were never here are not kept.
    static let countMax = 16_384

    /// As they are in the store.
    private(set) var durable: [String: WholeForm] = [:]
    /// Since when the log of the fleet has what is known of each (milliseconds since 1970).
    private(set) var inLog: [String: Int64] = [:]
    /// Those that other hosts must be told of.
    private var untold: Set<String> = []

    /// No form was deleted.
    init() {}

    /// What the store has, in rows that belong to no form. What the log of this fleet does not have
    /// is told.
    init(_ rows: [OngoingRow], fleet: String) throws(CausalityDecodeError) {
        for row in rows where row.name.kind == Self.rowKind {
            durable[row.name.id] = try WholeForm(decoding: row.state)
        }
        for row in rows where row.name.kind == Self.inLogKind && durable[row.name.id] != nil {
            var reader = try CausalityReader(versioned: row.state)
            if try reader.string() == fleet { inLog[row.name.id] = try reader.signed() }
        }
        untold = Set(names).subtracting(inLog.keys)
    }

    /// The names of those that other hosts may be told of, in ascending order.
    var names: [String] { durable.filter { !$0.value.isApart }.keys.sorted() }

    /// What other hosts may be told of a deleted form; `nil` if there is nothing.
    func told(_ name: String) -> WholeForm? { durable[name].flatMap { $0.isApart ? nil : $0 } }

    /// All rows.
    var rows: [OngoingRow] {
        durable.sorted { $0.key < $1.key }.map { Self.row($0, $1) }
    }

    /// Removes and returns those that other hosts must be told of.
    mutating func takeUntold() -> [WholeForm] {
        defer { untold = [] }
        return untold.sorted().compactMap { durable[$0] }
    }

    /// A batch is durable, or will be written with the whole store. `nil`: the name has a form.
    mutating func keep(_ changes: [String: WholeForm?]) {
        for (name, whole) in changes {
            durable[name] = whole
            inLog[name] = nil
            if whole?.isApart == false { untold.insert(name) } else { untold.remove(name) }
        }
    }

    /// What a batch writes.
    static func steps(_ changes: [String: WholeForm?]) -> [StoreOperation] {
        changes.sorted { $0.key < $1.key }.flatMap { name, whole -> [StoreOperation] in
            let forgotten = StoreOperation.removeOngoing(
                form: 0, name: OngoingName(kind: inLogKind, id: name))
            guard let whole else {
                let gone = OngoingName(kind: rowKind, id: name)
                return [forgotten, .removeOngoing(form: 0, name: gone)]
            }
            return [forgotten, .putOngoing(row(name, whole))]
        }
    }

    /// The log of a fleet has a whole of a form. Returns what a batch writes.
    mutating func noteInLog(
        _ name: String, of fleet: String, covering context: CausalContext, at milliseconds: Int64
    ) -> [StoreOperation] {
        guard let known = told(name), known.context.isSubset(of: context) else { return [] }
        inLog[name] = milliseconds
        let state = CausalityWriter.versioned { writer in
            writer.string(fleet)
            writer.signed(milliseconds)
        }
        return [
            .putOngoing(
                OngoingRow(form: 0, name: OngoingName(kind: Self.inLogKind, id: name), state: state)
            )
        ]
    }

    private static func row(_ name: String, _ whole: WholeForm) -> OngoingRow {
        OngoingRow(form: 0, name: OngoingName(kind: rowKind, id: name), state: whole.encoded)
    }
}

extension StoreLink {
    /// What is known of a deleted form, durable or not; `nil` if it is there, or never was.
    func deletedForm(_ name: String) -> WholeForm? {
        gathering.deletedForms[name] ?? underWay?.deletedForms[name] ?? deletedForms.durable[name]
    }
}

// MARK: - Deleting

extension Engine {
    /// A form is deleted here: what must be remembered of it goes into the gathering batch.
    ///
    /// - Throws: `unavailable` if the replica has no dot left with which others hear of it.
    func rememberDeleted(_ form: LiveForm) throws(WireError) {
        guard let shared = form.working.shared else { return }
        let state = form.working.copy()
        var (lives, stores) = (shared.lives, [CausalForm.Field]())
        let dot = try state.takeDot(of: replica)
        if form.link != nil {
            let stamp = clocks.newStamp()
            for (key, store) in state.stores.sorted(by: { $0.key < $1.key }) {
                // A secret is reset, because a join would bring a removed one back.
                guard case .sealed(var register) = store else { continue }
                if register.isSet {
                    register.write(nil, dot: try state.takeDot(of: replica), stamp: stamp)
                }
                stores[key] = .sealed(register)
            }
        } else {
            // The others keep theirs, and do not hear of this. No dot is given twice.
            lives = .none
            state.context = CausalContext(dots: [dot])
            readLogAgain()
        }
        link.gathering.deletedForms[form.name] = WholeForm(
            form: form.name, lives: lives, context: state.context, stores: stores.map(\.asWhole))
    }

    /// Deletes a form because another host has, and nobody has applied a definition meanwhile.
    func delete(_ form: LiveForm, leaving joined: JoinedStores, _ lives: FormLives) {
        let state = form.working
        var stores = joined.hidden
        for (key, place) in state.controlsByStore {
            stores[key] = joined.cells[place] ?? state.cells[place].store ?? FieldStore(key.kind)
        }
        link.gathering.deletedForms[form.name] = WholeForm(
            form: form.name, lives: lives, context: joined.context, stores: stores.map(\.asWhole))
        log(
            .notice, "form \(form.name) was deleted on another host",
            [.event(.deleted), .form(form.name)])
        remove(form, nil)
    }

    // MARK: - Joining what is not here

    /// Joins what concerns a form that is not here: one that was deleted, or never was.
    func joinAbsent(_ item: SharedItem) throws(JoinProblem) -> JoinOutcome {
        let known = link.deletedForm(item.form)
        let own = known?.context ?? CausalContext()
        guard
            item.context.highestCounter(of: replica) <= own.highestCounter(of: replica)
        else { return leaveReplica() }
        if needsWhole(item) { throw JoinProblem("it is not here; the whole form must come first") }
        clocks.hybrid.observe(item.greatestStamp, at: now.wallMilliseconds)
        // Of two forms of one name, one of them deleted, the other is the one from here on.
        var isOther = known.map { !$0.isApart && !$0.lives.isSame(as: item.lives) } ?? false
        if isOther, let known, case .whole(let whole) = item {
            isOther = !known.sharesWrites(with: whole)
        }
        var joined = JoinedStores(
            item, with: nil, hidden: known?.fields ?? [], own, dropsOwn: isOther)
        if isOther, configuration.link?.mode == .both,
            known?.fields.contains(where: { $0.isDropped(notIn: item.context) }) ?? false
        {
            // Others have what is dropped, and a context that they know would not tell them.
            _ = try newDot(in: &joined)
        }
        var lives = item.lives
        if let known, !known.isApart { lives = known.lives.joined(lives) }
        guard !joined.hidden[SharedDefinition.key].isEmpty else {
            if let known, joined.isEmpty, item.context.isSubset(of: own), lives == known.lives {
                return .known
            }
            // A host may delete without end; of a form that never was here nothing need be kept.
            guard known != nil || link.deletedForms.durable.count < DeletedForms.countMax else {
                return .refused("too many forms were deleted")
            }
            link.gathering.deletedForms[item.form] = WholeForm(
                form: item.form, lives: lives, context: joined.context,
                stores: joined.hidden.map(\.asWhole))
            return .joined
        }
        if let said = SharedDefinition(in: joined.hidden) {
            let all = said.lives.joined(lives)
            // A follower writes nothing; others do.
            if all != said.lives, configuration.link?.mode == .both {
                try write(all, into: &joined)
            }
            lives = all
        }
        try create(item, joined, lives)
        if known != nil { link.gathering.deletedForms.updateValue(nil, forKey: item.form) }
        return .joined
    }

    /// Whether an item can be joined only after the whole form.
    func needsWhole(_ item: SharedItem) -> Bool {
        guard case .delta = item, isShared(item.form), form(named: item.form)?.isEditable != true
        else { return false }
        return link.deletedForm(item.form).map { !$0.lives.isSame(as: item.lives) } ?? true
    }

    /// Makes a form of stores that were joined and have a definition.
    private func create(
        _ item: SharedItem, _ joined: JoinedStores, _ lives: FormLives
    ) throws(JoinProblem) {
        guard let said = SharedDefinition(in: joined.hidden) else { throw .unreadable(nil) }
        guard forms.count < configuration.limits.formsMax else {
            fleet?.beyondFormsMax.insert(item.form)
            throw JoinProblem(
                "there are \(configuration.limits.formsMax) forms already; delete one first")
        }
        let file: FormDefinition
        do {
            file = try FormDefinition.parse(
                said.file, limits: .accepted, compile: workspace.compile)
        } catch { throw .unreadable(error) }
        let start = FormState(file, applied: said.file)
        start.version = 0
        let form = LiveForm(
            key: registry.nextKey, name: item.form, owner: LiveForm.nobody, log: newLogName(),
            state: start, existence: .creating)
        guard let (_, definition) = try definition(saidBy: joined.hidden, over: start) else {
            throw JoinProblem("it has no definition")
        }
        form.link = configuration.link.map { FormLink($0) }
        let next = state(said, definition, joined, over: start, lives)
        insert(form)
        do throws(JoinProblem) {
            try adopt(next, of: form, before: nil, by: item.author ?? remote, item)
        } catch {
            registry.remove(form)
            throw error
        }
    }
}

extension CausalForm.Field {
    /// Whether it counts as emptied by a join of another form, and the other form has not seen all
    /// of it.
    fileprivate func isDropped(notIn context: CausalContext) -> Bool {
        key.kind != .sealed && !store.dots.allSatisfy { context.contains($0) }
    }

    /// The store without the last change of a control.
    fileprivate var asWhole: WholeForm.Store {
        WholeForm.Store(id: key.id, store: store, at: 0, by: nil)
    }
}

extension LiveForm {
    /// The owner of a form that was made on another host. Nobody has this uid.
    static let nobody = UInt32.max
}
