// Tags of options are typed, usually an enum.

public import SyncCore

/// A type whose values identify the options of a picker.
///
/// An enum only needs to declare the conformance. Its raw value is the tag if that is a string or
/// an integer, otherwise the name of the case.
///
///     enum Flavor: String, CaseIterable, Identifiable, PickerTag {
///         case chocolate, vanilla, strawberry
///         var id: Self { self }
///     }
public protocol PickerTag: Hashable, PickerSelection where Tag == Self {}

/// What a picker selects: a tag, an optional one, or a set of them.
///
/// `Flavor` selects one option, `Flavor?` one or none, `Set<Flavor>` any number.
public protocol PickerSelection: SharedValue {
    /// The type of the options' tags.
    associatedtype Tag: PickerTag

    /// How many options may be selected at once.
    static var selectionCount: PickerSelectionCount { get }
}

/// How many options of a picker may be selected.
public enum PickerSelectionCount: Hashable, Sendable {
    /// Always one.
    case one
    /// One or none: `optional: true` of a form file.
    case oneOrNone
    /// Any number: `multiple: true` of a form file.
    case any
}

extension PickerTag {
    /// A tag by itself selects one option.
    public static var selectionCount: PickerSelectionCount { .one }
}

extension PickerTag where Self: RawRepresentable, RawValue: PickerTag {
    /// The case with the raw value.
    public init?(fieldValue: JSON) {
        guard let raw = RawValue(fieldValue: fieldValue) else { return nil }
        self.init(rawValue: raw)
    }

    /// The raw value.
    public var fieldValue: JSON { rawValue.fieldValue }
}

extension PickerTag where Self: CaseIterable {
    /// The case of that name.
    public init?(fieldValue: JSON) {
        guard case .string(let name) = fieldValue,
            let match = Self.allCases.first(where: { String(describing: $0) == name })
        else { return nil }
        self = match
    }

    /// The case's name.
    public var fieldValue: JSON { .string(String(describing: self)) }
}

extension PickerTag where Self: CaseIterable & RawRepresentable, RawValue: PickerTag {
    /// The case with the raw value.
    public init?(fieldValue: JSON) {
        guard let raw = RawValue(fieldValue: fieldValue) else { return nil }
        self.init(rawValue: raw)
    }

    /// The raw value.
    public var fieldValue: JSON { rawValue.fieldValue }
}

extension String: PickerTag {}

extension Bool: PickerTag {}

extension Int: PickerTag {}
extension Int8: PickerTag {}
extension Int16: PickerTag {}
extension Int32: PickerTag {}
extension Int64: PickerTag {}
extension UInt: PickerTag {}
extension UInt8: PickerTag {}
extension UInt16: PickerTag {}
extension UInt32: PickerTag {}
extension UInt64: PickerTag {}

extension Optional: PickerSelection where Wrapped: PickerTag {
    /// The tags are the wrapped type's.
    public typealias Tag = Wrapped

    /// One option or none.
    public static var selectionCount: PickerSelectionCount { .oneOrNone }
}

extension Set: SharedValue where Element: PickerTag {
    /// An array of tags, each of which must be one.
    public init?(fieldValue: JSON) {
        guard case .array(let tags) = fieldValue else { return nil }
        self.init()
        for tag in tags {
            guard let element = Element(fieldValue: tag) else { return nil }
            insert(element)
        }
    }

    /// The tags as an array, in the order of their text, so that equal sets are equal bytes.
    public var fieldValue: JSON {
        .array(map(\.fieldValue).sorted { $0.encodedText < $1.encodedText })
    }
}

extension Set: PickerSelection where Element: PickerTag {
    /// The tags are the elements.
    public typealias Tag = Element

    /// Any number of options.
    public static var selectionCount: PickerSelectionCount { .any }
}
