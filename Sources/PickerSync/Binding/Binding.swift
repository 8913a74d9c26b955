// `$flavor`: a reference to a shared value.

public import SyncCore

/// A reference to a ``Shared`` property. Controls take one, and it has more operations than reading
/// and setting the value.
///
/// Relative edits — ``increment(by:)``, ``toggle()``, ``next(wraps:)``, ``insert(_:)`` — are
/// applied by the daemon to its current value: two users who add 1 add 2 together.
///
/// Each edit has two forms. The synchronous one returns at once, and ``FormSession/events`` reports
/// a refusal. The asynchronous one waits until the edit is durable, and throws if the daemon
/// refuses it. Before the form is open the property is an ordinary variable: a synchronous edit
/// changes it if the new value is known without the daemon, and an asynchronous edit throws
/// ``FormError/notOpen``.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value: SharedValue>: Sendable {
    let field: SharedField<Value>

    init(field: SharedField<Value>) {
        self.field = field
    }

    /// A binding to a constant: a control with it is read-only.
    public static func constant(_ value: Value) -> Binding<Value> {
        Binding(field: SharedField(id: nil, initial: value, isConstant: true))
    }

    /// A binding to the same property, for a view that takes `$flavor`.
    public init(projectedValue: Binding<Value>) {
        self = projectedValue
    }

    /// The property's value.
    public var wrappedValue: Value {
        get { field.value }
        nonmutating set { field.set(newValue) }
    }

    /// The binding itself, to pass it on.
    public var projectedValue: Binding<Value> { self }

    /// The id of the control in its form; `nil` if the property does not belong to a form.
    public var id: String? { field.id }

    /// The daemon's state of the field: its value as JSON, who set it and when, siblings of a
    /// conflict, whether it is mixed, invalid or missing. `nil` before the form is open.
    ///
    /// Reading it counts as having seen the field.
    public var state: FieldState? {
        guard let attachment = field.attachment, let id = field.id else { return nil }
        return attachment.read(id)
    }

    /// Whether an assignment has no answer yet.
    public var isPending: Bool {
        guard let attachment = field.attachment, let id = field.id else { return false }
        return attachment.draft(of: id) != nil
    }

    /// The values of the property: the present one, then each new one. A slow reader gets only the
    /// newest.
    public var values: FieldValues<Value> { FieldValues(self) }

    /// One wheel of a ``WheelSelection``, for use in a text: `Text("\($source.name)")`.
    public subscript<Part>(dynamicMember property: WritableKeyPath<Value, Part>) -> WheelReference
    where Value: WheelSelection {
        WheelReference(field: field, component: Value.wheelID(of: property))
    }
}

/// A reference to one wheel in a text.
public struct WheelReference: Sendable {
    let field: any FieldIdentity
    let component: String
}
