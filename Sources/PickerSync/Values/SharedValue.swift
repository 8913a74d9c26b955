// What a shared property may be of, and how it travels: to JSON and back, each way in one place.

public import SyncCore

/// A type that a control's value can have.
///
/// Conforming types are values of one control each: a `Bool` is a toggle's, a number a slider's, a
/// ``PickerTag`` a picker's. `Optional` of one stands for a control that may be empty.
///
/// - Invariant: decoding what was encoded gives an equal value.
public protocol SharedValue: Equatable, Sendable {
    /// The value that JSON stands for; `nil` where it stands for none.
    init?(fieldValue: JSON)

    /// The value as the daemon keeps it (docs/PROTOCOL.md, Reading).
    var fieldValue: JSON { get }

    /// The value that a field shows; `nil` where it shows none of this type.
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

/// What people put into a ``SecureField``: written, never read back.
///
/// The daemon seals it and tells everybody only whether one is there. Whoever may reveal it asks
/// for it by name: ``FormClient/reveal(_:)``.
public struct Secret: SharedValue, ExpressibleByStringLiteral {
    private let text: String?
    /// Whether a secret is there.
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

    /// A secret is never told: there is none in JSON that was read.
    public init?(fieldValue: JSON) {
        guard fieldValue.isNull else { return nil }
        text = nil
        isSet = false
    }

    /// Whether a secret is there, as the field says.
    public init?(field: FieldState) {
        text = nil
        isSet = field.isSecretSet ?? false
    }

    /// What is to be written; `null` for one that was read.
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
