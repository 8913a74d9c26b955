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

/// Reads the members of an object from a daemon: it ignores unknown members and requires the
/// others.
struct WireReader {
    private let object: JSONObject
    let path: String

    init(_ json: JSON, _ path: String) throws(DecodeError) {
        guard let object = json.objectValue else {
            throw .shape(path: path, expected: "an object")
        }
        self.object = object
        self.path = path
    }

    subscript(name: String) -> JSON? { object[name] }

    func mistyped(_ name: String, _ expected: String) -> DecodeError {
        .shape(path: "\(path).\(name)", expected: expected)
    }

    func value(_ name: String) throws(DecodeError) -> JSON {
        guard let value = object[name] else { throw mistyped(name, "there") }
        return value
    }

    func string(_ name: String) throws(DecodeError) -> String {
        guard let value = object[name]?.stringValue else { throw mistyped(name, "a string") }
        return value
    }

    func integer(_ name: String) throws(DecodeError) -> Int64 {
        guard let value = object[name]?.integerValue else {
            throw mistyped(name, "an integer of 64 bits")
        }
        return value
    }

    func bool(_ name: String) throws(DecodeError) -> Bool {
        guard let value = object[name]?.boolValue else { throw mistyped(name, "a boolean") }
        return value
    }

    /// An integer that fits in the requested type.
    func exactly<Number: FixedWidthInteger>(
        _ name: String, as: Number.Type = Number.self
    ) throws(DecodeError) -> Number {
        guard let value = Number(exactly: try integer(name)) else {
            throw mistyped(name, "an integer of \(Number.bitWidth) bits")
        }
        return value
    }

    func array(_ name: String) throws(DecodeError) -> [JSON] {
        guard let value = object[name]?.arrayValue else { throw mistyped(name, "an array") }
        return value
    }

    /// The strings of an array; empty if it is missing.
    func strings(_ name: String) throws(DecodeError) -> [String] {
        guard let value = object[name] else { return [] }
        let strings = value.arrayValue?.compactMap(\.stringValue)
        guard let strings, strings.count == value.arrayValue?.count else {
            throw mistyped(name, "an array of strings")
        }
        return strings
    }

    /// Decodes each element of an array with `body`, which gets its path.
    func each<Element>(
        _ name: String, _ body: (JSON, String) throws(DecodeError) -> Element
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

    /// A member with a flag.
    @inline(__always)
    mutating func member(_ name: StaticString, _ flag: Bool) {
        key(name)
        bool(flag)
    }

    /// A member with a tree; nothing for `nil`.
    mutating func member(_ name: StaticString, _ json: JSON?) {
        guard let json else { return }
        key(name)
        value(json)
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
