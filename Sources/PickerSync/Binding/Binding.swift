// What `$flavor` is: the way to a shared value, and everything that can be asked of it.

public import SyncCore

/// A reference to a ``Shared`` property, which controls are made with and through which more can
/// be asked and done than reading and setting a value.
///
/// Relative edits — ``increment(by:)``, ``toggle()``, ``next(wraps:)``, ``insert(_:)`` — say what
/// is meant and are worked out by the daemon on what is there then: two people's +1 make +2.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value: SharedValue>: Sendable {
    let field: SharedField<Value>

    init(field: SharedField<Value>) {
        self.field = field
    }

    /// A binding to the same property, for a view that is handed `$flavor`.
    public init(projectedValue: Binding<Value>) {
        self = projectedValue
    }

    /// The property's value.
    public var wrappedValue: Value {
        get { field.value }
        nonmutating set { field.set(newValue) }
    }

    /// The binding itself, to be handed on.
    public var projectedValue: Binding<Value> { self }

    /// The id of the control in its form; `nil` while the property belongs to no form.
    public var id: String? { field.id }

    /// What the daemon tells of the field: its value as JSON, who set it and when, siblings of a
    /// conflict, whether it is mixed, invalid or missing. `nil` before the form is open.
    ///
    /// Looking at it counts as having seen it.
    public var state: FieldState? {
        guard let session = field.session, let id = field.id else { return nil }
        return session.read(id)
    }

    /// Whether something was written that the daemon has not answered yet.
    public var isPending: Bool {
        guard let session = field.session, let id = field.id else { return false }
        return session.hasDraft(of: id)
    }

    /// The property's values, the present one first, then each new one; a reader that is slow gets
    /// the newest and misses what lay between.
    public var values: FieldValues<Value> { FieldValues(self) }

    /// Back to the default, as if nobody had set it.
    public func reset() {
        edit(.reset)
    }

    /// One wheel of a ``WheelSelection``, to be named in a text: `Text("\($source.name)")`.
    public subscript<Part>(dynamicMember property: WritableKeyPath<Value, Part>) -> WheelReference
    where Value: WheelSelection {
        WheelReference(field: field, component: Value.wheelID(of: property))
    }

    func edit(_ action: Change.Action) {
        guard let session = field.session, let id = field.id else {
            preconditionFailure("@Shared \(field.id ?? "property"): its form is not open")
        }
        session.write(id, action)
    }
}

/// One wheel of several, as a text names it.
public struct WheelReference: Sendable {
    let field: any FieldIdentity
    let component: String
}

extension Binding where Value: NumberValue {
    /// Adds to what is there, within the control's bounds; a negative number subtracts.
    public func increment(by amount: Value) {
        guard let decimal = amount.decimal else {
            preconditionFailure("an increment is a number of at most 15 digits")
        }
        edit(.increment(decimal))
    }
}

extension Binding where Value == Int {
    /// Adds one to what is there, within the control's bounds.
    public func increment() {
        increment(by: 1)
    }

    /// Takes one from what is there, within the control's bounds.
    public func decrement() {
        increment(by: -1)
    }
}

extension Binding where Value == Bool {
    /// Turns what is there around.
    public func toggle() {
        edit(.toggle)
    }
}

extension Binding where Value: PickerSelection {
    /// Moves the selection to the option behind, which is not disabled; at the end to the first
    /// one if it `wraps`.
    public func next(wraps: Bool = false) {
        edit(.move(.next, wraps: wraps))
    }

    /// Moves the selection to the option before, which is not disabled; at the start to the last
    /// one if it `wraps`.
    public func previous(wraps: Bool = false) {
        edit(.move(.previous, wraps: wraps))
    }
}

extension Binding {
    /// Selects one more option of a picker of many; others' selections stay.
    public func insert<Element: PickerTag>(_ tag: Element) where Value == Set<Element> {
        edit(.add([tag.fieldValue]))
    }

    /// Selects an option of a picker of many no longer; what others add meanwhile stays.
    public func remove<Element: PickerTag>(_ tag: Element) where Value == Set<Element> {
        edit(.remove([tag.fieldValue]))
    }
}

extension Binding where Value == Presses {
    /// Presses the button.
    public func press() {
        edit(.press)
    }
}

extension Binding where Value: WheelSelection {
    /// Turns one wheel and leaves the others to whoever turns them.
    public func turn<Tag: PickerTag>(_ wheel: WritableKeyPath<Value, Tag>, to tag: Tag) {
        let id = Value.wheelID(of: wheel)
        edit(.value(.object(JSONObject([(id, tag.fieldValue)]))))
    }
}

// MARK: - Waiting for the daemon

extension Binding {
    /// Sets the value and waits until that is durable.
    ///
    /// - Throws: ``FormError/refused(_:)`` with what the daemon has against it.
    public func set(_ value: Value) async throws(FormError) {
        guard let session = field.session, let id = field.id else { throw .notOpen }
        try await session.perform(id, .value(value.fieldValue))
    }
}
