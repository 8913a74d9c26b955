// The edits of a binding: each once for synchronous code and once to be awaited.

internal import SyncCore

extension Binding {
    /// Sets the value and waits until that is durable.
    ///
    /// - Parameters:
    ///   - value: the new value.
    ///   - timeout: how long to wait; by default as long as the client's options say.
    /// - Throws: ``FormError/refused(_:)`` with what the daemon has against it.
    public func set(_ value: Value, timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.value(value.fieldValue), timeout)
    }

    /// Back to the default, as if nobody had set it.
    public func reset() {
        edit(.reset) { _ in nil }
    }

    /// Back to the default, as if nobody had set it; ends when that is durable.
    public func reset(timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.reset, timeout)
    }

    private func edit(_ action: Change.Action, _ change: (Value) -> Value?) {
        field.edit(action, change)
    }
}

extension Binding where Value: NumberValue {
    /// Adds to what is there, within the control's bounds; a negative number subtracts.
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

    /// Adds to what is there, within the control's bounds; ends when that is durable.
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
    /// Adds one to what is there, within the control's bounds.
    public func increment() {
        increment(by: 1)
    }

    /// Adds one to what is there, within the control's bounds; ends when that is durable.
    public func increment(timeout: Duration? = nil) async throws(FormError) {
        try await increment(by: 1, timeout: timeout)
    }

    /// Takes one from what is there, within the control's bounds.
    public func decrement() {
        increment(by: -1)
    }

    /// Takes one from what is there, within the control's bounds; ends when that is durable.
    public func decrement(timeout: Duration? = nil) async throws(FormError) {
        try await increment(by: -1, timeout: timeout)
    }
}

extension Binding where Value == Bool {
    /// Turns what is there around.
    public func toggle() {
        edit(.toggle) { !$0 }
    }

    /// Turns what is there around; ends when that is durable.
    public func toggle(timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.toggle, timeout)
    }
}

extension Binding where Value: PickerSelection {
    /// Moves the selection to the option behind, which is not disabled; at the end to the first
    /// one if it `wraps`.
    public func next(wraps: Bool = false) {
        edit(.move(.next, wraps: wraps)) { _ in nil }
    }

    /// Moves the selection to the option behind; ends when that is durable.
    public func next(wraps: Bool = false, timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.move(.next, wraps: wraps), timeout)
    }

    /// Moves the selection to the option before, which is not disabled; at the start to the last
    /// one if it `wraps`.
    public func previous(wraps: Bool = false) {
        edit(.move(.previous, wraps: wraps)) { _ in nil }
    }

    /// Moves the selection to the option before; ends when that is durable.
    public func previous(wraps: Bool = false, timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.move(.previous, wraps: wraps), timeout)
    }
}

extension Binding {
    /// Selects one more option of a picker of many; others' selections stay.
    public func insert<Element: PickerTag>(_ tag: Element) where Value == Set<Element> {
        edit(.add([tag.fieldValue])) { $0.union([tag]) }
    }

    /// Selects one more option of a picker of many; ends when that is durable.
    public func insert<Element: PickerTag>(
        _ tag: Element, timeout: Duration? = nil
    ) async throws(FormError) where Value == Set<Element> {
        try await field.perform(.add([tag.fieldValue]), timeout)
    }

    /// Selects an option of a picker of many no longer; what others add meanwhile stays.
    public func remove<Element: PickerTag>(_ tag: Element) where Value == Set<Element> {
        edit(.remove([tag.fieldValue])) { $0.subtracting([tag]) }
    }

    /// Selects an option of a picker of many no longer; ends when that is durable.
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

    /// Presses the button; ends when that is durable.
    public func press(timeout: Duration? = nil) async throws(FormError) {
        try await field.perform(.press, timeout)
    }
}

extension Binding where Value: WheelSelection {
    /// Turns one wheel and leaves the others to whoever turns them.
    public func turn<Tag: PickerTag>(_ wheel: WritableKeyPath<Value, Tag>, to tag: Tag) {
        edit(Self.turn(wheel, tag)) { value in
            var turned = value
            turned[keyPath: wheel] = tag
            return turned
        }
    }

    /// Turns one wheel and leaves the others to whoever turns them; ends when that is durable.
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
