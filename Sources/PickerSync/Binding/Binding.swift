// What `$flavor` is: the way to a shared value, and everything that can be asked of it.

public import SyncCore

/// A reference to a ``Shared`` property, which controls are made with and through which more can
/// be asked and done than reading and setting a value.
///
/// Relative edits — ``increment(by:)``, ``toggle()``, ``next(wraps:)``, ``insert(_:)`` — say what
/// is meant and are worked out by the daemon on what is there then: two people's +1 make +2.
///
/// Each edit comes twice: in synchronous code it returns at once, and what becomes of it is told by
/// ``FormSession/events``; in a task it is awaited, ends when the edit is durable, and throws what
/// the daemon has against it. Before the form is open the property is an ordinary variable: an edit
/// that needs no daemon changes it, another does nothing, and one that is awaited throws
/// ``FormError/notOpen``.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value: SharedValue>: Sendable {
    let field: SharedField<Value>

    init(field: SharedField<Value>) {
        self.field = field
    }

    /// A binding to a value that never changes: a control with it shows the value, read-only.
    public static func constant(_ value: Value) -> Binding<Value> {
        Binding(field: SharedField(id: nil, initial: value, isConstant: true))
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
        guard let attachment = field.attachment, let id = field.id else { return nil }
        return attachment.read(id)
    }

    /// Whether something was written that the daemon has not answered yet.
    public var isPending: Bool {
        guard let attachment = field.attachment, let id = field.id else { return false }
        return attachment.draft(of: id) != nil
    }

    /// The property's values, the present one first, then each new one; a reader that is slow gets
    /// the newest and misses what lay between.
    public var values: FieldValues<Value> { FieldValues(self) }

    /// One wheel of a ``WheelSelection``, to be named in a text: `Text("\($source.name)")`.
    public subscript<Part>(dynamicMember property: WritableKeyPath<Value, Part>) -> WheelReference
    where Value: WheelSelection {
        WheelReference(field: field, component: Value.wheelID(of: property))
    }
}

/// One wheel of several, as a text names it.
public struct WheelReference: Sendable {
    let field: any FieldIdentity
    let component: String
}
