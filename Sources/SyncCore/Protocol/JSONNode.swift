/// A value on a tape, read where it stands.
///
/// A node borrows the tape and the bytes: it is valid only inside `JSONTape.withRoot`. Asking for
/// what the value is not gives `nil`, never a trap.
public struct JSONNode {
    let base: UnsafePointer<UInt8>
    let entries: UnsafePointer<JSONTape.Entry>
    let index: Int

    /// What a value is.
    public enum Kind: Hashable, Sendable {
        case null, bool, number, string, array, object
    }

    @inline(__always) var entry: JSONTape.Entry { entries[index] }

    /// What this value is.
    public var kind: Kind {
        switch entry.kind {
        case .null: .null
        case .true, .false: .bool
        case .number: .number
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    /// How many elements an array or members an object has; 0 for everything else.
    public var count: Int { Int(entry.count) }

    /// The first byte of the value in the text, for an error.
    public var offset: Int { Int(entry.start) - (entry.kind == .string ? 1 : 0) }

    /// The value as it is written, a string with its quotation marks.
    public var rawBytes: UnsafeRawBufferPointer {
        let marks = entry.kind == .string ? 1 : 0
        let (start, end) = (Int(entry.start) - marks, Int(entry.end) + marks)
        return UnsafeRawBufferPointer(start: base + start, count: end - start)
    }

    /// Whether this is `null`.
    public var isNull: Bool { entry.kind == .null }

    /// The flag; `nil` where this is no boolean.
    public var bool: Bool? {
        switch entry.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// How many bytes of UTF-8 the string has at most, since escapes only shrink; 0 for what is no
    /// string.
    public var stringBytesMax: Int {
        entry.kind == .string ? Int(entry.end - entry.start) : 0
    }

    /// The string with its escapes resolved; `nil` where this is no string.
    public var string: String? {
        guard entry.kind == .string else { return nil }
        let raw = UnsafeBufferPointer(
            start: base + Int(entry.start), count: Int(entry.end - entry.start))
        guard entry.isComplex else { return String(decoding: raw, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(raw.count)
        var unescaped = UnescapedBytes(base: base, entry: entry)
        while let byte = unescaped.next() { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether this is exactly this string (ASCII), without making one.
    @inline(__always)
    public func matches(_ text: StaticString) -> Bool {
        let entry = entry
        guard entry.kind == .string else { return false }
        if entry.isComplex { return matchesUnescaped(text) }
        guard Int(entry.end - entry.start) == text.utf8CodeUnitCount else { return false }
        return areSameBytes(
            base + Int(entry.start), text.utf8Start, count: text.utf8CodeUnitCount)
    }

    private func matchesUnescaped(_ text: StaticString) -> Bool {
        var unescaped = UnescapedBytes(base: base, entry: entry)
        for index in 0..<text.utf8CodeUnitCount
        where unescaped.next() != text.utf8Start[index] {
            return false
        }
        return unescaped.next() == nil
    }

    /// The number; `nil` where this is none. Throws `numberOutOfBounds` where the text is a number
    /// that `DecimalNumber` cannot hold.
    public func number() throws(JSONError) -> DecimalNumber? {
        guard entry.kind == .number else { return nil }
        let text = UnsafeBufferPointer(
            start: base + Int(entry.start), count: Int(entry.end - entry.start))
        guard let number = DecimalNumber(grammatical: text, isInteger: !entry.isComplex) else {
            throw JSONError(offset: offset, reason: .numberOutOfBounds)
        }
        return number
    }

    /// The number where it is whole and fits 64 bits; `nil` for everything else.
    public var integer: Int64? { (try? number())??.integer }

    /// The value as a tree of its own. Throws `numberOutOfBounds` alone.
    public func json() throws(JSONError) -> JSON {
        switch entry.kind {
        case .null: return .null
        case .true: return .bool(true)
        case .false: return .bool(false)
        case .number: return .number(try number() ?? .zero)
        case .string: return .string(string ?? "")
        case .array:
            var values: [JSON] = []
            values.reserveCapacity(count)
            for element in elements { values.append(try element.json()) }
            return .array(values)
        case .object:
            var object = JSONObject()
            object.reserveCapacity(count)
            for (name, value) in members {
                object.append(uniqueName: name.string ?? "", try value.json())
            }
            return .object(object)
        }
    }

    /// The elements of an array; none for everything else.
    public var elements: JSONElements { JSONElements(self) }

    /// The members of an object, in the order in which they were written; none for everything else.
    public var members: JSONMembers { JSONMembers(self) }

    /// The member of an object with this name (ASCII); `nil` for a missing member and for what is
    /// no object.
    public subscript(name: StaticString) -> JSONNode? {
        for (key, value) in members where key.matches(name) { return value }
        return nil
    }

    /// What kind of JSON this is, in words for an error message: `a string`, `an object`, …
    public var kindInWords: String {
        switch kind {
        case .null: "null"
        case .bool: "a boolean"
        case .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

/// The elements of an array on a tape.
public struct JSONElements: Sequence, IteratorProtocol {
    private let node: JSONNode
    private var index: Int
    private let end: Int

    init(_ node: JSONNode) {
        self.node = node
        let isArray = node.entry.kind == .array
        index = node.index + 1
        end = isArray ? Int(node.entry.next) : index
    }

    /// The next element.
    public mutating func next() -> JSONNode? {
        guard index < end else { return nil }
        defer { index = Int(node.entries[index].next) }
        return JSONNode(base: node.base, entries: node.entries, index: index)
    }
}

/// The members of an object on a tape.
public struct JSONMembers: Sequence, IteratorProtocol {
    private let node: JSONNode
    private var index: Int
    private let end: Int

    init(_ node: JSONNode) {
        self.node = node
        let isObject = node.entry.kind == .object
        index = node.index + 1
        end = isObject ? Int(node.entry.next) : index
    }

    /// The next member.
    public mutating func next() -> (name: JSONNode, value: JSONNode)? {
        guard index < end else { return nil }
        defer { index = Int(node.entries[index + 1].next) }
        return (
            JSONNode(base: node.base, entries: node.entries, index: index),
            JSONNode(base: node.base, entries: node.entries, index: index + 1)
        )
    }
}
