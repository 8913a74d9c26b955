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
