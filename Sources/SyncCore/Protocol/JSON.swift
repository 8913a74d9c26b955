/// A JSON value as a tree, for control values, definitions and parameters.
///
/// Strings are compared byte by byte, as SQLite and all peers do (Swift's `String ==` uses
/// canonical equivalence). Numbers are exact decimals. Members of an object keep their order.
public enum JSON: Sendable {
    case null
    case bool(Bool)
    case number(DecimalNumber)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

/// An ordered list of members with distinct names, compared as bytes.
///
/// Objects in the protocol are small, so a linear search is faster than a hash table.
public struct JSONObject: Sendable {
    /// The members in document order.
    public private(set) var members: [(name: String, value: JSON)]

    /// An empty object.
    public init() {
        members = []
    }

    /// An object with these members. A later member replaces an earlier one of the same name.
    public init(_ members: [(String, JSON)]) {
        self.members = []
        self.members.reserveCapacity(members.count)
        // A few names are compared with each other. For many, a dictionary is faster.
        guard members.count > 16 else {
            for (name, value) in members { self[name] = value }
            return
        }
        var places: [[UInt8]: Int] = [:]
        for (name, value) in members {
            let place = places[Array(name.utf8), default: self.members.count]
            places[Array(name.utf8)] = place
            if place == self.members.count {
                self.members.append((name, value))
            } else {
                self.members[place].value = value
            }
        }
    }

    /// Reserves capacity for this many members.
    public mutating func reserveCapacity(_ count: Int) {
        members.reserveCapacity(count)
    }

    /// Appends a member whose name must be new.
    ///
    /// For decoders, which have already rejected duplicate names.
    public mutating func append(uniqueName name: String, _ value: JSON) {
        members.append((name, value))
    }

    /// The value of the member `name`; setting `nil` removes it.
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

    /// Sets a member that is nearly always at `place`.
    mutating func set(_ value: JSON, of name: String, at place: Int?) {
        if let place, place < members.count, members[place].name.isSameBytes(as: name) {
            members[place].value = value
        } else {
            self[name] = value
        }
    }

    /// An object of members with distinct names.
    init(distinct members: [(String, JSON)]) {
        self.members = members.map { (name: $0.0, value: $0.1) }
    }

    /// The number of members.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    private func index(of name: String) -> Int? {
        members.firstIndex { $0.name.isSameBytes(as: name) }
    }
}

extension String {
    /// Whether this is exactly this string (ASCII).
    func matches(_ text: StaticString) -> Bool {
        guard utf8.count == text.utf8CodeUnitCount else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { bytes in
            bytes.baseAddress.map { areSameBytes($0, text.utf8Start, count: bytes.count) } ?? true
        }
        return isSame ?? (self == "\(text)")
    }

    /// Whether both strings are the same UTF-8 bytes, without canonical equivalence.
    public func isSameBytes(as other: String) -> Bool {
        // Most names that are compared differ in length.
        guard utf8.count == other.utf8.count else { return false }
        // Native strings are contiguous; comparing them byte by byte through an iterator is slow.
        let same = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
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
    /// Equality of values: numbers by value (`1` is `1.0`), strings by bytes, objects without
    /// regard to order.
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
    /// Equality without regard to order.
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        guard left.count == right.count else { return false }
        if zip(left.members, right.members).allSatisfy({ $0.name.isSameBytes(as: $1.name) }) {
            return zip(left.members, right.members).allSatisfy { $0.value == $1.value }
        }
        // Sorted, because a linear search for each name of a hostile object would be quadratic.
        return zip(left.sortedByName, right.sortedByName).allSatisfy {
            $0.name.isSameBytes(as: $1.name) && $0.value == $1.value
        }
    }

    /// The members sorted by the bytes of their names.
    private var sortedByName: [(name: String, value: JSON)] {
        members.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Hashes only the count, because the order does not matter.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
    }
}

// There is no `nil` literal: for a `JSON?`, `condition ? value : nil` would silently become JSON
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
    /// An integer as JSON.
    public static func integer(_ value: some BinaryInteger) -> JSON {
        .number(DecimalNumber(Int64(value)))
    }

    /// The string; `nil` for other kinds.
    public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

    /// The boolean; `nil` for other kinds.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

    /// The number; `nil` for other kinds.
    public var numberValue: DecimalNumber? {
        if case .number(let value) = self { value } else { nil }
    }

    /// The number if it is an integer of 64 bits.
    public var integerValue: Int64? { numberValue?.integer }

    /// Whether a string in it has too many combining marks in a row.
    var hasTooManyMarks: Bool {
        switch self {
        case .null, .bool, .number: false
        case .string(let text): text.hasTooManyMarks
        case .array(let elements): elements.contains(where: \.hasTooManyMarks)
        case .object(let object):
            object.members.contains { $0.name.hasTooManyMarks || $0.value.hasTooManyMarks }
        }
    }

    /// The elements; `nil` for other kinds.
    public var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }

    /// The object; `nil` for other kinds.
    public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// Whether this is `null`.
    public var isNull: Bool { if case .null = self { true } else { false } }

    /// The member `name` of an object; `nil` if it is missing or this is not an object.
    public subscript(name: String) -> JSON? { objectValue?[name] }

    /// The kind of value for an error message: `a string`, `an object`, …
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
