// The types of shared properties, and their conversion to JSON and back.

public import SyncCore

/// A type that a control's value can have.
///
/// Each conforming type is for one kind of control: `Bool` for a toggle, a number for a slider, a
/// ``PickerTag`` for a picker. An `Optional` is for a control that may be empty.
///
/// - Invariant: decoding what was encoded gives an equal value.
public protocol SharedValue: Equatable, Sendable {
    /// The value for a JSON value; `nil` if there is none.
    init?(fieldValue: JSON)

    /// The value as the daemon keeps it (docs/PROTOCOL.md, Reading).
    var fieldValue: JSON { get }

    /// The value of a field; `nil` if it does not fit this type.
    ///
    /// By default ``init(fieldValue:)`` of what is shown; a ``Secret`` shows only whether it is
    /// set.
    init?(field: FieldState)
}

extension SharedValue {
    /// The value that a field shows, by its JSON alone.
    public init?(field: FieldState) {
        self.init(fieldValue: field.value)
    }
}

extension Bool: SharedValue {
    /// `true` or `false`, nothing else.
    public init?(fieldValue: JSON) {
        guard case .bool(let value) = fieldValue else { return nil }
        self = value
    }

    /// The boolean itself.
    public var fieldValue: JSON { .bool(self) }
}

extension String: SharedValue {
    /// Any string, byte for byte.
    public init?(fieldValue: JSON) {
        guard case .string(let value) = fieldValue else { return nil }
        self = value
    }

    /// The string itself.
    public var fieldValue: JSON { .string(self) }
}

extension Optional: SharedValue where Wrapped: SharedValue {
    /// `null` is `nil`; anything else must be a wrapped value.
    public init?(fieldValue: JSON) {
        if fieldValue.isNull {
            self = .none
        } else {
            guard let wrapped = Wrapped(fieldValue: fieldValue) else { return nil }
            self = .some(wrapped)
        }
    }

    /// `null` for `nil`.
    public var fieldValue: JSON { self?.fieldValue ?? .null }
}

/// The content of a ``SecureField``: it can be written and not read.
///
/// The daemon encrypts it and shows only whether it is set. A permitted user reads it with
/// ``FormClient/reveal(_:)``.
public struct Secret: SharedValue, ExpressibleByStringLiteral {
    private let text: String?
    /// Whether a secret is set.
    public let isSet: Bool

    /// A secret to be written.
    public init(_ text: String) {
        self.text = text
        isSet = true
    }

    /// A secret to be written.
    public init(stringLiteral value: String) {
        self.init(value)
    }

    /// JSON from the daemon never contains a secret.
    public init?(fieldValue: JSON) {
        guard fieldValue.isNull else { return nil }
        text = nil
        isSet = false
    }

    /// Takes from the field whether a secret is set.
    public init?(field: FieldState) {
        text = nil
        isSet = field.isSecretSet ?? false
    }

    /// The secret to write; `null` for one that was read.
    public var fieldValue: JSON { text.map { .string($0) } ?? .null }
}

/// How often a ``Button`` was pressed, by anybody, since its form was made.
public struct Presses: SharedValue, Comparable {
    /// The number of presses, at least 0.
    public let count: Int64

    /// A number of presses.
    public init(_ count: Int64 = 0) {
        self.count = count
    }

    /// `{"presses": n}`.
    public init?(fieldValue: JSON) {
        guard let count = fieldValue["presses"]?.integerValue else { return nil }
        self.init(count)
    }

    /// `{"presses": n}`.
    public var fieldValue: JSON { ["presses": .integer(count)] }

    /// Fewer presses come before more.
    public static func < (left: Presses, right: Presses) -> Bool { left.count < right.count }
}
