/// A JSON value as a tree: what control values, definitions and parameters are made of.
///
/// Strings are kept byte for byte and compared byte for byte (Swift's `String ==` compares by
/// canonical equivalence, SQLite and every peer compare by bytes). Numbers are exact decimals.
/// Members of an object keep the order in which they were written.
public enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(DecimalNumber)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

/// An ordered list of members whose names are distinct as bytes.
///
/// Objects on the wire are small, so a linear search beats a hash table; a lookup compares bytes.
public struct JSONObject: Sendable {
    /// The members in the order in which they were written.
    public private(set) var members: [(name: String, value: JSON)]

    /// An empty object.
    public init() {
        members = []
    }

    /// An object of the given members. A later member of an equal name replaces an earlier one.
    public init(_ members: [(String, JSON)]) {
        self.members = []
        self.members.reserveCapacity(members.count)
        for (name, value) in members { self[name] = value }
    }

    /// Makes room for so many members.
    public mutating func reserveCapacity(_ count: Int) {
        members.reserveCapacity(count)
    }

    /// Adds a member that is known not to be there yet.
    ///
    /// For decoders, which have refused duplicate names already.
    public mutating func append(uniqueName name: String, _ value: JSON) {
        members.append((name, value))
    }

    /// The value of the member called `name`; setting `nil` removes it.
    public subscript(name: String) -> JSON? {
        get { index(of: name).map { members[$0].value } }
        set {
            switch (index(of: name), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// How many members there are.
    public var count: Int { members.count }

    /// Whether there is no member.
    public var isEmpty: Bool { members.isEmpty }

    private func index(of name: String) -> Int? {
        members.firstIndex { $0.name.isSameBytes(as: name) }
    }
}

extension String {
    /// Whether both strings are the same UTF-8 bytes, canonical equivalence left aside.
    public func isSameBytes(as other: String) -> Bool {
        // Native strings are contiguous; one by one costs fifty instructions a byte.
        let same = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                guard left.count == right.count else { return false }
                guard let left = left.baseAddress, let right = right.baseAddress else {
                    return true
                }
                return areSameBytes(left, right, count: other.utf8.count)
            }
        }
        if case .some(.some(let isSame)) = same { return isSame }
        return utf8.elementsEqual(other.utf8)
    }
}

extension JSON: Hashable {
    /// Equality of values: numbers by value (`1` is `1.0`), strings by bytes, objects as sets of
    /// members.
    public static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.string(let left), .string(let right)): left.isSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let flag): hasher.combine(flag)
        case .number(let number): hasher.combine(number)
        case .string(let string):
            var text = string
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .array(let elements): hasher.combine(elements)
        case .object(let object): hasher.combine(object)
        }
    }
}

extension JSONObject: Hashable {
    /// Equality as sets of members: order is presentation.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        if zip(left.members, right.members).allSatisfy({ $0.name.isSameBytes(as: $1.name) }) {
            return zip(left.members, right.members).allSatisfy { $0.value == $1.value }
        }
        // Sorted, since a linear search for each of a hostile object's names would be quadratic.
        return zip(left.sortedByName, right.sortedByName).allSatisfy {
            $0.name.isSameBytes(as: $1.name) && $0.value == $1.value
        }
    }

    /// The members in the order of their names' bytes.
    private var sortedByName: [(name: String, value: JSON)] {
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Hashes what `==` compares: the count alone, since members have no order here.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
    }
}

// There is no `nil` literal: where `JSON?` is meant, `condition ? value : nil` would silently be
// null.
extension JSON: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .number(DecimalNumber(value)) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(elements))
    }
}

extension JSON {
    /// A whole number as JSON.
    public static func integer(_ value: some BinaryInteger) -> JSON {
        .number(DecimalNumber(Int64(value)))
    }

    /// The string, or `nil` where this is something else.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The flag, or `nil` where this is something else.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number, or `nil` where this is something else.
    public var numberValue: DecimalNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number where it is whole and fits 64 bits.
    public var integerValue: Int64? { numberValue?.integer }

    /// The elements, or `nil` where this is something else.
    public var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }

    /// The object, or `nil` where this is something else.
    public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// Whether this is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The member called `name` of an object; `nil` for a missing member and for everything else.
    public subscript(name: String) -> JSON? { objectValue?[name] }

    /// What kind of JSON this is, in words for an error message: `a string`, `an object`, …
    public var kindInWords: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}
