// `@Shared`: a property that all users of the form share.

internal import SyncCore

/// A property that is bound to a control of a form on the daemon.
///
///     struct IceCream: SharedForm {
///         @Shared var flavor = Flavor.chocolate
///         @Shared var note: String
///         …
///     }
///
/// Its id in the form is its name, unless another is given: `@Shared("deploy-target")`. Before the
/// form is opened it is an ordinary variable; the value that it has then is the control's default.
/// From then on it shows what others set, and an assignment is sent with the causal context of what
/// this program has read.
///
/// - Note: Reading and writing are safe from any thread, and never wait for the daemon.
@propertyWrapper
public struct Shared<Value: SharedValue>: Sendable {
    let field: SharedField<Value>

    /// A property with an initial value, which is the control's default.
    ///
    /// - Parameters:
    ///   - wrappedValue: the initial value.
    ///   - id: the id of the control, if it is not the name of the property.
    public init(wrappedValue: Value, _ id: String? = nil) {
        field = SharedField(id: id, initial: wrappedValue)
    }

    /// A property without an initial value: it cannot be read before the form is open.
    ///
    /// - Parameter id: the id of the control, if it is not the name of the property.
    public init(_ id: String? = nil) {
        field = SharedField(id: id, initial: nil)
    }

    /// The value: what this program has written and the daemon has not answered, otherwise the
    /// daemon's value. If the daemon's value does not fit the type (an option that was removed,
    /// sources that differ), it is the last value that did; ``Binding/state`` has the daemon's.
    public var wrappedValue: Value {
        get { field.value }
        nonmutating set { field.set(newValue) }
    }

    /// The binding for controls, conditions and texts.
    public var projectedValue: Binding<Value> { Binding(field: field) }
}

/// A property wrapper in the declaration of a form.
protocol SharedProperty {
    var identity: any FieldIdentity { get }
}

extension Shared: SharedProperty {
    var identity: any FieldIdentity { field }
}
