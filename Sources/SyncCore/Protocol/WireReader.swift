/// Why a client could not parse a message of the daemon.
public enum DecodeError: Error, Hashable, Sendable {
    /// The frame is not valid JSON.
    case json(JSONError)
    /// The member at `path` has the wrong type.
    case shape(path: String, expected: String)
}

extension DecodeError: CustomStringConvertible {
    /// One line for people.
    public var description: String {
        switch self {
        case .json(let error): "not JSON: \(error)"
        case .shape(let path, let expected): "\(path) should be \(expected)"
        }
    }
}

extension DecodeError {
    /// The error with the path of what contains the value before its own.
    func within(_ path: String) -> DecodeError {
        switch self {
        case .json: self
        case .shape(let inner, let expected): .shape(path: path + inner, expected: expected)
        }
    }
}

/// A value of a message: a tree, or a node on a tape, of which only what is needed becomes a tree.
protocol WireValue {
    var isObject: Bool { get }
    var stringValue: String? { get }
    var integerValue: Int64? { get }
    var boolValue: Bool? { get }
    /// The elements of an array; `nil` for other kinds.
    var list: [Self]? { get }
    /// The number of members of an object.
    var memberCount: Int { get }
    func member(_ name: StaticString) -> Self?
    func tree() throws(DecodeError) -> JSON
}

extension JSON: WireValue {
    var isObject: Bool { objectValue != nil }
    var list: [JSON]? { arrayValue }
    var memberCount: Int { objectValue?.count ?? 0 }
    func member(_ name: StaticString) -> JSON? {
        objectValue?.members.first { $0.name.matches(name) }?.value
    }
    func tree() throws(DecodeError) -> JSON { self }
}

extension JSONNode: WireValue {
    var isObject: Bool { kind == .object }
    var stringValue: String? { string }
    var integerValue: Int64? { integer }
    var boolValue: Bool? { bool }
    var list: [JSONNode]? { kind == .array ? Array(elements) : nil }

    var memberCount: Int { count }
    func member(_ name: StaticString) -> JSONNode? { self[name] }

    func tree() throws(DecodeError) -> JSON {
        do {
            return try json()
        } catch {
            throw .json(error)
        }
    }
}

/// Reads the members of an object from a daemon: it ignores unknown members and requires the
/// others.
struct MemberReader<Value: WireValue> {
    private let object: Value
    let path: String

    init(_ value: Value, _ path: String) throws(DecodeError) {
        guard value.isObject else { throw .shape(path: path, expected: "an object") }
        object = value
        self.path = path
    }

    /// The number of members, known here or not.
    var count: Int { object.memberCount }

    subscript(name: StaticString) -> Value? { object.member(name) }

    func mistyped(_ name: StaticString, _ expected: String) -> DecodeError {
        .shape(path: "\(path).\(name)", expected: expected)
    }

    func value(_ name: StaticString) throws(DecodeError) -> JSON {
        guard let value = self[name] else { throw mistyped(name, "there") }
        return try value.tree()
    }

    func string(_ name: StaticString) throws(DecodeError) -> String {
        guard let value = self[name]?.stringValue else { throw mistyped(name, "a string") }
        return value
    }

    func integer(_ name: StaticString) throws(DecodeError) -> Int64 {
        guard let value = self[name]?.integerValue else {
            throw mistyped(name, "an integer of 64 bits")
        }
        return value
    }

    func bool(_ name: StaticString) throws(DecodeError) -> Bool {
        guard let value = self[name]?.boolValue else { throw mistyped(name, "a boolean") }
        return value
    }

    /// An integer that fits in the requested type.
    func exactly<Number: FixedWidthInteger>(
        _ name: StaticString, as: Number.Type = Number.self
    ) throws(DecodeError) -> Number {
        guard let value = Number(exactly: try integer(name)) else {
            throw mistyped(name, "an integer of \(Number.bitWidth) bits")
        }
        return value
    }

    func array(_ name: StaticString) throws(DecodeError) -> [Value] {
        guard let value = self[name]?.list else { throw mistyped(name, "an array") }
        return value
    }

    /// A member as a tree; `nil` if it is missing.
    func tree(_ name: StaticString) throws(DecodeError) -> JSON? { try self[name]?.tree() }
}

/// Reads an object that is a tree.
typealias WireReader = MemberReader<JSON>

extension WireReader {
    /// The strings of an array; empty if it is missing.
    func strings(_ name: StaticString) throws(DecodeError) -> [String] {
        guard let value = self[name] else { return [] }
        let strings = value.arrayValue?.compactMap(\.stringValue)
        guard let strings, strings.count == value.arrayValue?.count else {
            throw mistyped(name, "an array of strings")
        }
        return strings
    }

    /// Decodes each element of an array with `body`, which gets its path.
    func each<Element>(
        _ name: StaticString, _ body: (JSON, String) throws(DecodeError) -> Element
    ) throws(DecodeError) -> [Element] {
        var decoded: [Element] = []
        for (index, element) in try array(name).enumerated() {
            decoded.append(try body(element, "\(path).\(name)[\(index)]"))
        }
        return decoded
    }
}

// MARK: - Writing members

extension JSONWriter {
    /// A member with a string; nothing for `nil`.
    @inline(__always)
    mutating func member(_ name: StaticString, _ text: String?) {
        guard let text else { return }
        key(name)
        string(text)
    }

    /// A member with an integer; nothing for `nil`.
    @inline(__always)
    mutating func member(_ name: StaticString, _ value: Int64?) {
        guard let value else { return }
        key(name)
        integer(value)
    }

    @inline(__always)
    mutating func member(_ name: StaticString, _ flag: Bool) {
        key(name)
        bool(flag)
    }

    /// A member with a tree.
    mutating func member(_ name: StaticString, _ json: JSON) {
        key(name)
        value(json)
    }

    /// A member with a tree; nothing for `nil`.
    mutating func member(_ name: StaticString, _ json: JSON?) {
        if let json { member(name, json) }
    }

    /// A member with an array of strings; nothing for `nil`.
    mutating func member(_ name: StaticString, _ texts: [String]?) {
        guard let texts else { return }
        key(name)
        beginArray()
        for text in texts { string(text) }
        endArray()
    }

    /// A member with a timestamp; nothing for `nil`.
    mutating func member(_ name: StaticString, _ moment: Timestamp?) {
        guard let moment else { return }
        key(name)
        timestamp(moment)
    }
}
