// Converts a change to writes on the current values: relative edits are computed, bindings
// resolved.

/// One write to one control that stores a value.
public struct FieldEdit: Hashable, Sendable {
    /// The control that is written.
    public var target: Int
    public var edit: StoredEdit

    /// A write.
    public init(target: Int, edit: StoredEdit) {
        self.target = target
        self.edit = edit
    }
}

/// A write to a control's store.
public enum StoredEdit: Hashable, Sendable {
    /// Sets a register, a counter or all tags of a multiple picker to a canonical value.
    case set(JSON)
    /// Sets only these components of wheels.
    case setRows(JSONObject)
    /// Adds `difference` to a counter, which results in `result`.
    case increment(difference: DecimalNumber, result: DecimalNumber)
    /// Adds these tags, which are not in the set yet. `again` are the added tags that are in the
    /// set already. Either may be empty.
    case addTags([JSON], again: [JSON] = [])
    /// Removes these tags, which are in the set. May be empty.
    case removeTags([JSON])
    /// Encrypts and stores a secret.
    case seal(String)
    /// Counts a press.
    case press
    /// Resets to the default.
    case unset
}

/// The result of an increment.
public struct IncrementResult: Hashable, Sendable {
    /// The new value in canonical form.
    public var value: DecimalNumber
    /// The difference to the current value: zero for a press at a bound.
    public var difference: DecimalNumber
}

extension FormDefinition {
    /// The writes of a change to a control, computed from the current values.
    ///
    /// One write to each of the control's `targets`. The caller checks whether the control is
    /// enabled and whether the peer has permission.
    public func edits(
        for action: Change.Action, control: Int, values: (Int) -> JSON
    ) throws(InvalidValue) -> [FieldEdit] {
        switch action {
        case .value(let proposed):
            return try assignments(of: proposed, control: control, values: values)
        case .increment(let amount):
            let result = try increment(control, by: amount, values: values)
            return targets[control].map {
                FieldEdit(
                    target: $0,
                    edit: .increment(difference: result.difference, result: result.value))
            }
        case .toggle:
            let flag = try toggled(control, values: values)
            return try assignments(of: .bool(flag), control: control, values: values)
        case .move(let direction, let wraps):
            let tag = try moved(control, direction, wraps: wraps, values: values)
            return try assignments(of: tag, control: control, values: values)
        case .reset:
            try checkResettable(control)
            return targets[control].map { FieldEdit(target: $0, edit: .unset) }
        case .press:
            guard case .button = controls[control].kind else { throw unfit("pressed", control) }
            return targets[control].map { FieldEdit(target: $0, edit: .press) }
        case .add(let tags):
            let added = try tagsToAdd(tags, control: control, values: values)
            let again = tagsThere(tags, control: control, values: values)
            return targets[control].map {
                FieldEdit(target: $0, edit: .addTags(added, again: again))
            }
        case .remove(let tags):
            let removed = try tagsToRemove(tags, control: control, values: values)
            return targets[control].map { FieldEdit(target: $0, edit: .removeTags(removed)) }
        }
    }

    /// The write of a new value if it is a single write to the control itself, which is nearly
    /// always so; otherwise `nil`, and `edits` returns the list.
    func ownEdit(
        for action: Change.Action, control: Int, values: (Int) -> JSON
    ) throws(InvalidValue) -> StoredEdit? {
        guard case .value(let proposed) = action, targets[control].count == 1,
            targets[control][0] == control
        else { return nil }
        return storedEdit(try admit(proposed, control: control, values: values), control)
    }

    private func assignments(
        of proposed: JSON, control: Int, values: (Int) -> JSON
    ) throws(InvalidValue) -> [FieldEdit] {
        let admitted = try admit(proposed, control: control, values: values)
        var edits: [FieldEdit] = []
        for target in targets[control] {
            // Each target stores the bytes of its own option's tag.
            let value =
                target == control
                ? admitted : try admit(admitted, control: target, values: values)
            edits.append(FieldEdit(target: target, edit: storedEdit(value, target)))
        }
        return edits
    }

    private func storedEdit(_ value: JSON, _ target: Int) -> StoredEdit {
        switch (controls[target].kind, value) {
        case (.wheels, .object(let rows)): .setRows(rows)
        case (.secure, .string(let secret)): .seal(secret)
        default: .set(value)
        }
    }

    /// The error for an edit that the control's type does not have.
    private func unfit(_ participle: String, _ control: Int) -> InvalidValue {
        InvalidValue(
            field: controls[control].id,
            message: "\(controls[control].type.withArticle) cannot be \(participle)",
            expected: Self.actions(of: controls[control]))
    }

    private static func actions(of control: Control) -> String {
        switch control.kind {
        case .picker(let picker) where picker.isMultiple: "value, add, remove or reset"
        case .picker: "value, move or reset"
        case .wheels, .date, .text, .secure: "value or reset"
        case .toggle: "value, toggle or reset"
        case .slider, .stepper, .gauge: "value, increment or reset"
        case .button: "press"
        case .label: "no edit at all"
        }
    }

    private func checkResettable(_ control: Int) throws(InvalidValue) {
        switch controls[control].kind {
        case .button, .label: throw unfit("reset", control)
        default: break
        }
    }
}

// MARK: - Numbers and toggles

extension FormDefinition {
    /// The result of an increment of a slider, stepper or gauge.
    ///
    /// It stops at the bounds, or continues at the other bound if a stepper wraps. On a slider with
    /// a step, a result between two steps is rounded away from the start, so every increment has an
    /// effect, except at a bound.
    public func increment(
        _ control: Int, by amount: DecimalNumber, values: (Int) -> JSON
    ) throws(InvalidValue) -> IncrementResult {
        guard let domain = controls[control].numberDomain else {
            throw unfit("incremented", control)
        }
        guard case .number(let present) = shown(control, values: values).value,
            let sum = present.adding(amount)
        else { throw refusal(control, "the sum is out of range") }
        var value: DecimalNumber?
        switch controls[control].kind {
        case .slider:
            let rounding: NumberDomain.Rounding = amount >= .zero ? .up : .down
            value =
                amount == .zero ? present : domain.snapped(domain.clamped(sum), rounding)
        case .stepper(let stepper):
            value = stepper.wraps ? domain.wrapped(sum) : domain.clamped(sum)
        default: value = domain.clamped(sum)
        }
        guard let value, let difference = value.subtracting(present) else {
            throw refusal(control, "the sum is out of range")
        }
        return IncrementResult(value: domain.withPrecision(value), difference: difference)
    }

    /// The new state of a toggle: the opposite one, or true if it is mixed.
    public func toggled(_ control: Int, values: (Int) -> JSON) throws(InvalidValue) -> Bool {
        guard case .toggle = controls[control].kind else { throw unfit("toggled", control) }
        return !(shown(control, values: values).value.boolValue ?? false)
    }
}

extension NumberDomain {
    /// The number, or the opposite bound if it is beyond one (UIStepper's `wraps`).
    fileprivate func wrapped(_ number: DecimalNumber) -> DecimalNumber {
        guard let min, let max else { return clamped(number) }
        if number > max { return min }
        return number < min ? max : number
    }
}

// MARK: - Pickers

extension FormDefinition {
    /// The tag that the selection of a picker moves to. Disabled options are skipped.
    ///
    /// If no option is picked (null, mixed, or removed), `next` moves to the first and `previous`
    /// to the last. At the end it stays, or continues at the other end with `wraps`.
    public func moved(
        _ control: Int, _ direction: Change.Direction, wraps: Bool, values: (Int) -> JSON
    ) throws(InvalidValue) -> JSON {
        guard case .picker(let picker) = controls[control].kind, !picker.isMultiple else {
            throw unfit("moved", control)
        }
        let options = picker.options.options
        let enabled = picker.options.enabled
        guard let first = enabled.first, let last = enabled.last else {
            throw refusal(control, "all its options are disabled")
        }
        let present = picker.options.index(of: shown(control, values: values).value)
        let place: Int
        switch (direction, present) {
        case (.first, _), (.next, nil): place = first
        case (.last, _), (.previous, nil): place = last
        case (.next, let present?):
            let after = enabled.partitionIndex { $0 > present }
            let next = after < enabled.count ? enabled[after] : nil
            place =
                next ?? (wraps || options[present].isDisabled ? (wraps ? first : last) : present)
        case (.previous, let present?):
            let before = enabled.partitionIndex { $0 >= present }
            let previous = before > 0 ? enabled[before - 1] : nil
            place =
                previous
                ?? (wraps || options[present].isDisabled ? (wraps ? last : first) : present)
        }
        return options[place].tag
    }

    /// The tags that an addition adds to the current ones, in option order.
    public func tagsToAdd(
        _ tags: [JSON], control: Int, values: (Int) -> JSON
    ) throws(InvalidValue) -> [JSON] {
        guard case .picker(let picker) = controls[control].kind, picker.isMultiple else {
            throw unfit("added to", control)
        }
        let present = presentTags(control, picker, values)
        var added: Set<Int> = []
        for tag in tags {
            // A tag that is already picked may be named although its option was disabled later.
            if let place = picker.options.index(of: tag), present.known.contains(place) { continue }
            added.insert(try optionIndex(tag, of: picker, control))
        }
        return added.sorted().map { picker.options.options[$0].tag }
    }

    /// The tags of an addition that are in the set already, in option order.
    private func tagsThere(_ tags: [JSON], control: Int, values: (Int) -> JSON) -> [JSON] {
        guard case .picker(let picker) = controls[control].kind else { return [] }
        let present = presentTags(control, picker, values).known
        let places = Set(tags.compactMap(picker.options.index(of:))).intersection(present)
        return places.sorted().map { picker.options.options[$0].tag }
    }

    /// The tags of a removal that are in the set, in option order. A tag whose option was removed
    /// from the form can be removed too.
    public func tagsToRemove(
        _ tags: [JSON], control: Int, values: (Int) -> JSON
    ) throws(InvalidValue) -> [JSON] {
        guard case .picker(let picker) = controls[control].kind, picker.isMultiple else {
            throw unfit("removed from", control)
        }
        let present = presentTags(control, picker, values)
        var known: Set<Int> = []
        var gone: Set<JSON> = []
        for tag in tags {
            if let place = picker.options.index(of: tag) {
                if present.known.contains(place) { known.insert(place) }
            } else if present.gone.contains(tag) {
                gone.insert(tag)
            } else {
                throw refusal(control, "\(Self.quoted(tag)) is not an option")
            }
        }
        return picker.options.ordered(known.map { picker.options.options[$0].tag } + Array(gone))
    }

    /// The picked options by index, and picked tags whose options have been removed.
    func presentTags(
        _ control: Int, _ picker: PickerAttributes, _ values: (Int) -> JSON
    ) -> (known: Set<Int>, gone: Set<JSON>) {
        var known: Set<Int> = []
        var gone: Set<JSON> = []
        for tag in shown(control, values: values).value.arrayValue ?? [] {
            if let place = picker.options.index(of: tag) {
                known.insert(place)
            } else {
                gone.insert(tag)
            }
        }
        return (known, gone)
    }
}
