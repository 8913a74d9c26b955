// The selection of several wheels: a struct with one tag for each wheel.

public import SyncCore

/// What ``Wheels`` select: a struct with a property for each wheel.
///
///     struct IncomeOrigin: WheelSelection {
///         var name = IncomeSource.salary
///         var tax = IncomeTax.fixed
///         static var wheels: [WheelKey<Self>] { [.init("name", \.name), .init("tax", \.tax)] }
///     }
///
/// An edit of one wheel contains only that wheel, so two people can turn two wheels at the same
/// time.
public protocol WheelSelection: SharedValue {
    /// A selection to fill with the daemon's value.
    init()

    /// The wheels from left to right, by id and property.
    static var wheels: [WheelKey<Self>] { get }
}

/// One wheel of a ``WheelSelection``: the id of its component, and the property that it turns.
public struct WheelKey<Root>: Sendable {
    let id: String
    let tag: @Sendable (Root) -> JSON
    let set: @Sendable (inout Root, JSON) -> Bool
    let isOf: @Sendable (AnyKeyPath) -> Bool

    /// A wheel that turns a property; `id` is what the form calls it.
    public init<Value: PickerTag>(
        _ id: String, _ property: any WritableKeyPath<Root, Value> & Sendable
    ) {
        self.id = id
        tag = { $0[keyPath: property].fieldValue }
        set = { root, json in
            guard let value = Value(fieldValue: json) else { return false }
            root[keyPath: property] = value
            return true
        }
        isOf = { $0 == property }
    }
}

extension WheelSelection {
    /// An object of one tag a wheel, all of them there.
    public init?(fieldValue: JSON) {
        guard case .object(let object) = fieldValue else { return nil }
        self.init()
        for wheel in Self.wheels {
            guard let tag = object[wheel.id], wheel.set(&self, tag) else { return nil }
        }
    }

    /// An object of one tag a wheel.
    public var fieldValue: JSON {
        .object(JSONObject(Self.wheels.map { ($0.id, $0.tag(self)) }))
    }

    /// The id of the wheel that turns a property; a property that no wheel turns is a mistake of
    /// the program.
    static func wheelID(of property: PartialKeyPath<Self>) -> String {
        guard let wheel = wheels.first(where: { $0.isOf(property) }) else {
            preconditionFailure("\(Self.self).wheels has no wheel for this property")
        }
        return wheel.id
    }
}
