// The changes of a transaction: from an action on a control to writes of stores.

extension Transaction {
    /// Adds a change of a control by an author who had seen `seen`.
    ///
    /// - Parameter sealer: encrypts a secret.
    func apply(
        _ action: Change.Action, to control: Int, seen: Seen, sealer: Engine
    ) throws(WireError) {
        let definition = definition
        for target in definition.targets[control] { try spend(on: target) }
        let own: StoredEdit?
        var edits: [FieldEdit] = []
        do {
            own = try definition.ownEdit(for: action, control: control) { value($0) }
            if case nil = own {
                edits = try definition.edits(for: action, control: control) { value($0) }
            }
        } catch {
            throw WireError(invalid: error, form: form.name)
        }
        named.append(control)
        if let own {
            try write(own, to: control, extended(seen, of: control), sealer)
            return noteAccepted(own, control)
        }
        for edit in edits {
            try write(
                reaching(edit).edit, to: edit.target, extended(seen, of: edit.target), sealer)
        }
    }

    /// A text that was just admitted is what readers see; it need not be checked again for them.
    private func noteAccepted(_ edit: StoredEdit, _ control: Int) {
        guard case .set = edit, definition.types[control] == .text,
            !definition.controls[control].isRequired
        else { return }
        let cell = cell(control)
        if case .unknown = cell.shown, case .register(let register) = cell.content.store,
            register.siblings.count == 1
        {
            cell.shown = .value
        }
    }

    /// Counts the values that a write of a control visits, because the number of changes alone does
    /// not limit the work of a transaction.
    func spend(on target: Int) throws(WireError) {
        switch definition.types[target] {
        case .picker where definition.controls[target].isMultiple:
            var tags = 1
            if case .tags(let set) = content(target).store { tags = max(tags, set.entries.count) }
            valuesLeft -= 1 + tags
        case .wheels:
            if case .wheels(let wheels) = definition.controls[target].kind {
                valuesLeft -= wheels.weight
            }
        case .button where definition.controls[target].runs != nil:
            valuesLeft -= RunRules.pressWeight
        default: valuesLeft -= 1
        }
        guard valuesLeft < 0 else { return }
        throw .limit(
            "valuesMax", max: valuesMax,
            "this transaction writes or visits more than \(valuesMax) values; "
                + "split it into several")
    }

    /// An increment that reaches the value that was computed for it. Concurrent increments can move
    /// the sum beyond a bound; without this correction, steps back would have no effect until they
    /// had made up for the excess. The sum differs from the shown number only at a bound.
    private func reaching(_ edit: FieldEdit) -> FieldEdit {
        guard case .increment(let difference, let result) = edit.edit, difference != .zero
        else { return edit }
        let content = content(edit.target)
        guard case .counter(let counter) = content.store, let shown = content.value.numberValue,
            let domain = definition.controls[edit.target].numberDomain,
            shown == domain.min || shown == domain.max
        else { return edit }
        let control = definition.controls[edit.target]
        let sum = counter.value(
            control.conflictPolicy, default: control.defaultValue.numberValue ?? .zero)
        guard let sum, let past = shown.subtracting(sum), past != .zero,
            let whole = difference.adding(past)
        else { return edit }
        return FieldEdit(
            target: edit.target, edit: .increment(difference: whole, result: result))
    }

    /// The writes of a control that the author has seen: those of the token, of the author's
    /// connection, and of this transaction, so that the second of two sets of a field replaces the
    /// first. Only dots of the cell are added, so the cost does not depend on other fields.
    func extended(_ seen: Seen, for cell: Cell) -> Seen {
        guard case .context(var context) = seen else { return seen }
        let ownContext = connection?.ownContext(of: form.key)
        func add(_ dot: Dot) {
            if context.contains(dot) { return }
            if isOwn(dot) || ownContext?.contains(dot) ?? false { context.insert(dot) }
        }
        if case .register(let register) = cell.content.store, cell.content.silentWrites.isEmpty {
            // Nearly always, and then no list has to be made.
            for sibling in register.siblings { add(sibling.dot) }
        } else {
            cell.content.heldDots.forEach(add)
        }
        return .context(context)
    }

    private func extended(_ seen: Seen, of target: Int) -> Seen {
        if case .present = seen { return seen }
        return extended(seen, for: cell(target))
    }
}

// MARK: - Writes of stores

extension Transaction {
    /// Executes a write of a control's store by an author who had seen `seen`.
    ///
    /// - Parameter sealer: encrypts a secret; `nil` in an undo, which sets none.
    func write(
        _ edit: StoredEdit, to target: Int, _ seen: Seen, _ sealer: Engine?
    ) throws(WireError) {
        let definition = definition
        if definition.controls[target].leaseMax != nil, let set = leased(edit) {
            return try write(set, to: target, seen, sealer)
        }
        let before = cell(target)
        let end = leaseEnd(of: edit, target, before)
        let hasLease = end != nil || before.content.leases != nil
        // A write of the same value makes a leased value permanent.
        if !hasLease, isIdle(edit, before) {
            if allowsSilentWrites { writeSilently(edit, target) }
            return
        }
        guard let store = before.content.store else { return }
        if definition.controls[target].conflictPolicy == .first, !store.isCurrent(for: seen) {
            throw conflict([target], "somebody was first")
        }
        if case .presses = store { try admitPress(target) }
        guard let dot = context.nextDot(for: author.replica) else {
            throw .counterUsedUp
        }
        let now: FieldStore
        switch store {
        case .register(let register): now = write(register, edit, target, dot, seen)
        case .components(let components): now = write(components, edit, target, dot, seen)
        case .tags(let tags):
            now = write(tags, edit, shown: before.value.arrayValue ?? [], dot, seen)
        case .counter(let counter): now = try write(counter, edit, target, dot, seen)
        case .presses(var counter):
            counter.press(dot: dot)
            now = .presses(counter)
            if definition.controls[target].runs != nil {
                let rare = rareOrNew
                let presses = rare.runPresses ?? RunPresses()
                presses.add(dot, of: target)
                rare.runPresses = presses
            }
        case .sealed(var register):
            guard let bytes = sealed(edit, target, dot, sealer) else {
                throw WireError(
                    .unavailable, "no key to seal secrets with; see the daemon's log",
                    form: form.name, field: definition.controls[target].id)
            }
            register.write(bytes.value, dot: dot, stamp: stamp)
            now = .sealed(register)
        }
        // The content is completed in its cell, because a copy retains each of its parts.
        let cell = newCell(
            CellContent(
                store: now, value: .null, silentWrites: before.content.silentWrites,
                leases: before.content.leases), target)
        if case .addTags(_, let again) = edit, !again.isEmpty, isSetOfTags(store) {
            renew(again, in: &cell.content, target, dot)
        }
        cell.content.forgetGoneSilentWrites()
        cell.content.resolve(target, of: definition)
        if hasLease {
            cell.content.leases = leases(
                after: edit, end, target, before: before.content, now: cell.content, dot, seen)
        }
        note(cell, target, dot)
        if case .increment(let difference, _) = edit { noteSum(difference, target) }
    }

    /// Whether an edit would change nothing that is read.
    private func isIdle(_ edit: StoredEdit, _ cell: Cell) -> Bool {
        // Nearly every edit sets another value, and then no store is copied.
        if case .set(let value) = edit, cell.value != value, value.arrayValue == nil {
            return false
        }
        return switch (edit, cell.content.store) {
        case (.set(let value), .register(let register)):
            cell.isSet && cell.value == value && register.siblings.count == 1
        case (.set(let value), .counter(let counter)):
            cell.isSet && cell.value == value && counter.bases.count < 2
        case (.set(let value), .tags(let set)):
            cell.isSet
                && set.holdsOnly(value.arrayValue ?? [], reading: cell.value.arrayValue ?? [])
        case (.setRows(let rows), .components(let components)):
            rows.members.allSatisfy { id, tag in
                let siblings = components[id].siblings
                return siblings.count == 1 && siblings[0].payload.value == tag
            }
        case (.increment(let difference, _), _): difference == .zero
        case (.addTags(let tags, _), _): tags.isEmpty && cell.isSet
        case (.removeTags(let tags), _): tags.isEmpty
        case (.unset, .register(let register)): !cell.isSet && register.siblings.count < 2
        case (.unset, .counter(let counter)): !cell.isSet && counter.bases.count < 2
        case (.unset, .sealed(let register)): !register.isSet
        case (.unset, _): !cell.isSet
        default: false
        }
    }

    private func write(
        _ register: MultiValueRegister<Written>, _ edit: StoredEdit, _ target: Int, _ dot: Dot,
        _ seen: Seen
    ) -> FieldStore {
        var register = register
        var value: JSON?
        if case .set(let new) = edit { value = new }
        let fate = register.write(
            Written(value: value, author: author), dot: dot, stamp: stamp, seen: seen,
            policy: definition.controls[target].conflictPolicy)
        note(fate, target, seen)
        return .register(register)
    }

    private func write(
        _ components: ComponentMap, _ edit: StoredEdit, _ target: Int, _ dot: Dot, _ seen: Seen
    ) -> FieldStore {
        var components = components
        var rows: [(String, JSON?)] = []
        switch edit {
        case .setRows(let object): rows = object.members.map { ($0.name, $0.value) }
        case .unset: rows = components.components.map { ($0.id, nil) }
        default: break
        }
        for (id, tag) in rows {
            let fate = components.write(
                Written(value: tag, author: author), component: id, dot: dot, stamp: stamp,
                seen: seen, policy: definition.controls[target].conflictPolicy)
            note(fate, target, seen)
        }
        return .components(components)
    }

    private func write(
        _ tags: AddWinsSet, _ edit: StoredEdit, shown: [JSON], _ dot: Dot, _ seen: Seen
    ) -> FieldStore {
        var tags = tags
        func list(_ json: [JSON]) -> [AddWinsSet.Tag] { json.compactMap { AddWinsSet.Tag($0) } }
        switch edit {
        case .set(let value): tags.assign(list(value.arrayValue ?? []), dot: dot, seen: seen)
        // A field that nobody has set shows its default, so the edit changes the default's tags.
        case .addTags(let added, _) where tags.isEmpty:
            tags.assign(list(shown + added), dot: dot, seen: seen)
        case .removeTags(let removed) where tags.isEmpty:
            let removed = Set(removed)
            tags.assign(list(shown.filter { !removed.contains($0) }), dot: dot, seen: seen)
        case .addTags(let added, _): tags.edit(add: list(added), remove: [], dot: dot, seen: seen)
        case .removeTags(let removed):
            tags.edit(add: [], remove: list(removed), dot: dot, seen: seen)
        default: tags.reset(seen: seen)
        }
        return .tags(tags)
    }

    private func write(
        _ counter: EpochCounter, _ edit: StoredEdit, _ target: Int, _ dot: Dot, _ seen: Seen
    ) throws(WireError) -> FieldStore {
        var counter = counter
        let policy = definition.controls[target].conflictPolicy
        switch edit {
        case .increment(let difference, _):
            let base = policy.current(counter.bases)
            guard counter.increment(by: difference, base: base, dot: dot) else {
                throw WireError(
                    .invalidValue, "\(definition.controls[target].id): the sum is out of range",
                    form: form.name, field: definition.controls[target].id,
                    expected: definition.expectedDescription(of: target))
            }
        default:
            var value: DecimalNumber?
            if case .set(let new) = edit { value = new.numberValue }
            let fate = counter.set(
                value, author: author, dot: dot, stamp: stamp, seen: seen, policy: policy)
            note(fate, target, seen)
        }
        return .counter(counter)
    }

    /// A secret's bytes. `value: nil` is a reset. The result is `nil` if it cannot be encrypted.
    private func sealed(
        _ edit: StoredEdit, _ target: Int, _ dot: Dot, _ sealer: Engine?
    ) -> (value: [UInt8]?, Void)? {
        guard case .seal(let secret) = edit else { return (nil, ()) }
        return sealer?.seal(secret, form, target, dot).map { ($0, ()) }
    }
}

extension WireError {
    /// A replica has no dot left for a write.
    static let counterUsedUp = WireError(
        .unavailable, "the replica's counter is used up; start with --new-replica")
}
