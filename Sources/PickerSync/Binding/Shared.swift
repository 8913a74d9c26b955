// `@Shared`: a property whose value everybody shares who has the form open.

internal import SyncCore

/// A property that is bound to a control of a form that the daemon holds.
///
///     struct IceCream: SharedForm {
///         @Shared var flavor = Flavor.chocolate
///         @Shared var note: String
///         …
///     }
///
/// Its id in the form is its name, unless another is given: `@Shared("deploy-target")`. Before the
/// form is opened it is an ordinary variable; the value that it has then is the control's default.
/// From then on it follows what others set, and what is written to it is sent, with the context of
/// what this program had read of it.
///
/// - Note: Reading and writing are safe from any thread, and never wait for the daemon.
@propertyWrapper
public struct Shared<Value: SharedValue>: Sendable {
    let field: SharedField<Value>

    /// A property with a value of its own to begin with, which is the control's default.
    ///
    /// - Parameters:
    ///   - wrappedValue: the value to begin with.
    ///   - id: the control's id where it is not the property's name.
    public init(wrappedValue: Value, _ id: String? = nil) {
        field = SharedField(id: id, initial: wrappedValue)
    }

    /// A property whose first value is the form's; it cannot be read before the form is open.
    ///
    /// - Parameter id: the control's id where it is not the property's name.
    public init(_ id: String? = nil) {
        field = SharedField(id: id, initial: nil)
    }

    /// The value: what this program wrote last while that is on its way, otherwise what the daemon
    /// tells. Where that is no `Value` — an option that went away, sources that differ — it stays
    /// what it was last; ``Binding/state`` tells.
    public var wrappedValue: Value {
        get { field.value }
        nonmutating set { field.set(newValue) }
    }

    /// The binding that controls, conditions and texts are made of.
    public var projectedValue: Binding<Value> { Binding(field: field) }
}

/// A property wrapper that a form finds in its declaration.
protocol SharedProperty {
    var identity: any FieldIdentity { get }
}

extension Shared: SharedProperty {
    var identity: any FieldIdentity { field }
}
