// The edits of a binding, each in a synchronous and an asynchronous form.

internal import SyncCore

extension Binding {
    /// Sets the value and waits until the edit is durable.
    ///
    /// - Parameters:
    ///   - value: the new value.
    ///   - timeout: how long to wait; by default ``ConnectionOptions/answerSeconds``.
    /// - Throws: ``FormError/refused(_:)`` if the daemon refuses it.
    public func set(_ value: Value, timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.value(value.fieldValue), timeout)
    }

    /// Resets the field to its default, as if nobody had set it.
    public func reset() {
        edit(.reset) { _ in nil }
    }

    /// Resets the field to its default, as if nobody had set it, and waits until the edit is
    /// durable.
    public func reset(timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.reset, timeout)
    }

    private func edit(_ action: Change.Action, _ change: (Value) -> Value?) {
        field.edit(action, change)
    }
}

extension Binding where Value: NumberValue {
    /// Adds to the daemon's value, within the bounds of the control. A negative number subtracts.
    public func increment(by amount: Value) {
        guard let action = Self.increment(amount) else {
            preconditionFailure("an increment is a number of at most 15 digits")
        }
        edit(action) { value in
            guard let sum = value.decimal.flatMap({ old in amount.decimal.flatMap(old.adding) })
            else { return nil }
            return Value(decimal: sum)
        }
    }

    /// Adds to the daemon's value, within the bounds of the control, and waits until the edit is
    /// durable.
    public func increment(by amount: Value, timeout: Duration? = nil) async throws(FormError) {
        guard let action = Self.increment(amount) else {
            preconditionFailure("an increment is a number of at most 15 digits")
        }
        try await field.perform(action, timeout)
    }

    private static func increment(_ amount: Value) -> Change.Action? {
        amount.decimal.map { .increment($0) }
    }
}

extension Binding where Value: NumberValue & ExpressibleByIntegerLiteral & SignedNumeric {
    /// Adds one to the daemon's value, within the bounds of the control.
    public func increment() {
        increment(by: 1)
    }

    /// Adds one to the daemon's value, within the bounds of the control, and waits until the edit
    /// is durable.
    public func increment(timeout: Duration? = nil) async throws(FormError) {
        try await increment(by: 1, timeout: timeout)
    }

    /// Subtracts one from the daemon's value, within the bounds of the control.
    public func decrement() {
        increment(by: -1)
    }

    /// Subtracts one from the daemon's value, within the bounds of the control, and waits until the
    /// edit is durable.
    public func decrement(timeout: Duration? = nil) async throws(FormError) {
        try await increment(by: -1, timeout: timeout)
    }
}

extension Binding where Value == Bool {
    /// Inverts the daemon's value.
    public func toggle() {
        edit(.toggle) { !$0 }
    }

    /// Inverts the daemon's value, and waits until the edit is durable.
    public func toggle(timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.toggle, timeout)
    }
}

extension Binding where Value: PickerSelection {
    /// Selects the next option that is not disabled; after the last, the first one if `wraps`.
    public func next(wraps: Bool = false) {
        edit(.move(.next, wraps: wraps)) { _ in nil }
    }

    /// Selects the next option, and waits until the edit is durable.
    public func next(wraps: Bool = false, timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.move(.next, wraps: wraps), timeout)
    }

    /// Selects the previous option that is not disabled; before the first, the last one if `wraps`.
    public func previous(wraps: Bool = false) {
        edit(.move(.previous, wraps: wraps)) { _ in nil }
    }

    /// Selects the previous option, and waits until the edit is durable.
    public func previous(wraps: Bool = false, timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.move(.previous, wraps: wraps), timeout)
    }
}

extension Binding {
    /// Adds an option to the selection of a multiple picker. Options that others add stay.
    public func insert<Element: PickerTag>(_ tag: Element) where Value == Set<Element> {
        edit(.add([tag.fieldValue])) { $0.union([tag]) }
    }

    /// Adds an option to the selection of a multiple picker, and waits until the edit is durable.
    public func insert<Element: PickerTag>(
        _ tag: Element, timeout: Duration? = nil
    ) async throws(FormError) where Value == Set<Element> {
        try await field.perform(.add([tag.fieldValue]), timeout)
    }

    /// Removes an option from the selection of a multiple picker. Options that others add stay.
    public func remove<Element: PickerTag>(_ tag: Element) where Value == Set<Element> {
        edit(.remove([tag.fieldValue])) { $0.subtracting([tag]) }
    }

    /// Removes an option from the selection of a multiple picker, and waits until the edit is
    /// durable.
    public func remove<Element: PickerTag>(
        _ tag: Element, timeout: Duration? = nil
    ) async throws(FormError) where Value == Set<Element> {
        try await field.perform(.remove([tag.fieldValue]), timeout)
    }
}

extension Binding where Value == Presses {
    /// Presses the button.
    public func press() {
        edit(.press) { _ in nil }
    }

    /// Presses the button, and waits until the edit is durable.
    public func press(timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.press, timeout)
    }
}

extension Binding where Value: WheelSelection {
    /// Turns one wheel; the other wheels keep their values.
    public func turn<Tag: PickerTag>(_ wheel: WritableKeyPath<Value, Tag>, to tag: Tag) {
        edit(Self.turn(wheel, tag)) { value in
            var turned = value
            turned[keyPath: wheel] = tag
            return turned
        }
    }

    /// Turns one wheel; the other wheels keep their values, and waits until the edit is durable.
    public func turn<Tag: PickerTag>(
        _ wheel: WritableKeyPath<Value, Tag>, to tag: Tag, timeout: Duration? = nil
    ) async throws(FormError) {
        try await field.perform(Self.turn(wheel, tag), timeout)
    }

    private static func turn<Tag: PickerTag>(
        _ wheel: WritableKeyPath<Value, Tag>, _ tag: Tag
    ) -> Change.Action {
        .value(.object(JSONObject([(Value.wheelID(of: wheel), tag.fieldValue)])))
    }
}
